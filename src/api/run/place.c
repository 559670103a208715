/* place.c -- see place.h. */
#include "api/run/place.h"

#include "api/pipeline/clean_plan.h"
#include "api/pipeline/pipeline.h"
#include "base/context.h"
#include "plan/placed/placed.h"

#include <stdio.h>

#define EFFORT 24000000u

/* The addresses must be right for the moves: what nothing has checked is not handed out. */
static pb_status check(pb_context *ctx, const pb_game *game, const pbi_placed *made, uint64_t align, pb_arena *result,
                       pb_packing *packing)
{
    pb_lifetimes lives;
    bool good = false;
    uint32_t a, b;
    *packing = (pb_packing){.offset = made->offset, .size = made->size};
    pb_status status = pb_lifetimes_make(ctx, game, &made->moves, align, result, &lives);
    if (status == PB_OK && lives.count == made->count)
        status = pb_packing_check(ctx, &lives, packing, &good, &a, &b);
    if (status == PB_OK && (!good || made->size > game->cap))
        status = pbi_fail(ctx, PB_EBUG, "a plan was placed at addresses that overlap");
    return status;
}

/* The result as the game's own: `optimal` only if it costs what an optimal plan does. */
static void present(const pbi_place_options *o, const pbi_certified *c, pb_game *game, pb_plan_result *p)
{
    pb_schedule *s = &p->schedule;
    bool same = o->first->has_metrics && pb_u128_compare(o->first->metrics.cost, c->metrics.cost) == 0;
    p->game = game;
    p->certificate = c->verdict.certificate;
    s->cap = game->cap;
    s->metrics = c->metrics;
    s->metrics_stated = 0;
    s->outcome = o->first->outcome == PB_OPTIMAL && same ? PB_OPTIMAL : PB_FOUND;
    s->bound_kind = o->first->bound_kind;
    s->lower_bound = o->first->lower_bound;
    s->has_cost_bound = o->first->has_cost_bound;
    s->cost_bound = o->first->cost_bound;
    s->metrics.gap = s->bound_kind == PB_BOUND_NONE ? -1 : pb_metrics_gap(s->metrics.makespan, s->lower_bound);
}

/* What the addresses cost. */
static pb_status set_note(const pbi_place_options *o, pb_arena *result, pb_schedule *s)
{
    char text[200];
    double sums = 100 * o->first->metrics.overhead, placed = 100 * s->metrics.overhead;
    int length =
        s->metrics.makespan == o->first->metrics.makespan
            ? snprintf(text, sizeof text, "placed in a block of the cap, without extra work")
            : snprintf(text, sizeof text,
                       "placed in a block of the cap: as sums of sizes %.3g %% overhead is enough, gaps between "
                       "addresses make it %.3g %%",
                       sums, placed);
    s->note = pb_arena_text(result, text, (size_t)length);
    return s->note ? PB_OK : PB_ENOMEM;
}

static pb_status certify(pb_context *ctx, const pbi_place_options *o, const pb_plan_result *base, pbi_placed *made,
                         pb_arena *result, pbi_placed_plan *out)
{
    pbi_certified c;
    pb_game *game = pb_arena_alloc(result, 1, sizeof *game);
    pb_moves *moves = pb_arena_alloc(result, 1, sizeof *moves);
    if (!game || !moves)
        return PB_ENOMEM;
    *game = *o->game;
    *moves = made->moves;
    pb_status status = check(ctx, game, made, o->align, result, &out->packing);
    if (status == PB_OK)
        status = pbi_certify_as_made(ctx, game, moves, result, &c);
    if (status == PB_OK && !c.verdict.certificate)
        status =
            pbi_fail(ctx, PB_EBUG, "a plan became illegal when it was placed [rule %s]", pb_rule_name(c.verdict.rule));
    if (status == PB_OK)
        status = pbi_result_copy(ctx, base, result, &out->planned);
    if (status != PB_OK)
        return status;
    out->planned.schedule.moves = *moves;
    present(o, &c, game, &out->planned);
    out->packing.lower_bound = c.metrics.peak;
    out->packing.minimal = out->packing.size == c.metrics.peak;
    out->count = made->count;
    out->any = true;
    return set_note(o, result, &out->planned.schedule);
}

pb_status pbi_place_plan(pb_context *ctx, const pb_plan_result *base, const pbi_place_options *options,
                         pb_arena *result, pbi_placed_plan *out)
{
    pbi_placed made;
    pbi_placed_options how = {.align = options->align, .seed = options->seed, .effort = EFFORT, .below = UINT64_MAX};
    *out = (pbi_placed_plan){.any = false};
    if (!base->certificate || !pbi_placed_applies(options->game) || !pbi_placed_applies(base->game))
        return PB_OK;
    ctx->ticks = 0; /* the limit applies to each plan */
    pb_status status = pbi_placed_search(ctx, options->game, &base->schedule.moves, &how, result, &made);
    if (status == PB_OK && made.any) {
        pbi_held held = pbi_hold(ctx);
        status = certify(ctx, options, base, &made, result, out);
        pbi_resume(ctx, held);
    }
    return status;
}
