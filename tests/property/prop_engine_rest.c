/* prop_engine_rest.c -- runs whose predictions turn out wrong: a kernel that needs more workspace, a cap that is lowered. They end with
 * the right bits within the cap, or with a sentence; never with an overrun. */
#include "base/rng.h"
#include "pebble/api.h"
#include "support/engine_case.h"
#include "support/law.h"

#include <inttypes.h>
#include <string.h>

enum { TICKS = 2000, BYTES = 37 };

static uint64_t went_on, stopped, untouched;

static pb_status plan_rest(void *state, pb_context *ctx, const pb_game *rest, pb_arena *result,
                           const pb_certificate **out)
{
    pb_plan_result p;
    (void)state;
    ctx->tick_limit = TICKS;
    pb_status status = pb_plan(ctx, rest, &PB_REQUEST_DEFAULT, result, &p);
    ctx->tick_limit = 0;
    if (status == PB_OK)
        *out = p.certificate;
    return status;
}

static void scale(small_game *s)
{
    for (pb_node v = 0; v < s->node_count; v++) {
        s->size[v] *= BYTES;
        s->workspace[v] *= BYTES;
    }
    s->fixed_size *= BYTES;
    s->cap = s->cap < UINT64_MAX / BYTES ? s->cap * BYTES : s->cap;
    for (uint32_t t = 0; t < s->tier_count; t++)
        s->tiers[t].cap = s->tiers[t].cap < UINT64_MAX / BYTES ? s->tiers[t].cap * BYTES : s->tiers[t].cap;
}

static bool judge(law_bench *b, engine_case *c, pb_engine *e, const pb_certificate *plan)
{
    const pb_game *game = pb_certificate_game(plan);
    pb_measured m;
    pb_status status = pb_engine_run(e, &m);
    if (c->faults)
        return law_broken(b, "%s", c->why);
    if (status == PB_ELIMIT && b->ctx.error.message[0]) {
        stopped++;
        return false;
    }
    if (status != PB_OK)
        return law_broken(b, "%s: %s", pb_status_text(status), b->ctx.error.message);
    if (!engine_case_right(c, e))
        return law_broken(b, "after %" PRIu64 " new plans: %s", m.replanned, c->why);
    if (m.peak > game->cap)
        return law_broken(b, "peak %" PRIu64 " above the cap %" PRIu64, m.peak, game->cap);
    if (!m.replanned && !m.more_bytes && m.peak != pb_certificate_totals(plan)->peak)
        return law_broken(b, "peak %" PRIu64 " is not the plan's", m.peak);
    *(m.replanned ? &went_on : &untouched) += 1;
    /* The next run begins from the start, with nothing in its way. */
    c->more_node = PB_NO_NODE;
    c->lower_after = UINT64_MAX;
    if (pb_engine_run(e, &m) != PB_OK || !engine_case_right(c, e) || m.peak != pb_certificate_totals(plan)->peak)
        return law_broken(b, "the run after it: %s", b->ctx.error.message);
    return false;
}

static bool moves_slow_memory(const pb_moves *moves)
{
    for (pb_step k = 0; k < moves->count; k++)
        if (moves->move[k].op == PB_STORE || moves->move[k].op == PB_LOAD)
            return true;
    return false;
}

static bool run_plan(law_bench *b, const pb_certificate *plan, uint64_t seed)
{
    pbi_rng rng = {seed};
    engine_case c;
    pb_engine *e;
    const pb_game *game = pb_certificate_game(plan);
    const pb_graph *g = game->graph;
    uint64_t peak = pb_certificate_totals(plan)->peak;
    engine_case_open(&c, g, pbi_rng_below(&rng, 2));
    if (pbi_rng_below(&rng, 2)) {
        c.more_node = (pb_node)pbi_rng_below(&rng, g->node_count);
        c.more_bytes = 1 + pbi_rng_below(&rng, 3 * BYTES);
    }
    if (c.more_node == PB_NO_NODE || pbi_rng_below(&rng, 4) == 0) {
        c.lower_after = pbi_rng_below(&rng, pb_certificate_totals(plan)->compute_count + 1);
        c.lower_to = peak - pbi_rng_below(&rng, peak / 3 + 1);
    }
    pb_engine_options o = {.align = pbi_rng_below(&rng, 2) ? 1 : 64,
                           .check = c.lower_after == UINT64_MAX && pbi_rng_below(&rng, 4) == 0,
                           .slow_path = {"."},
                           .no_overlap = pbi_rng_below(&rng, 4) == 0,
                           .replan = pbi_rng_below(&rng, 8) ? plan_rest : NULL};
    if (!pb_certificate_totals(plan)->io && !moves_slow_memory(pb_certificate_moves(plan)))
        o.slow_path[0] = NULL; /* a plan that does without needs no file; another one must, too */
    pb_status status = pb_engine_new(&b->ctx, plan, &c.kernels, &o, &e);
    bool broken = true;
    if (status != PB_OK) {
        law_broken(b, "%s: %s", pb_status_text(status), b->ctx.error.message);
    } else {
        c.engine = e;
        broken = judge(b, &c, e, plan);
        pb_engine_free(e);
    }
    engine_case_close(&c);
    return broken;
}

static bool fails(law_bench *b)
{
    small_game s = *b->small;
    pb_game game;
    pb_plan_result p;
    scale(&s);
    if (!small_game_build(&b->ctx, &s, &b->arena, &game))
        return false;
    b->ctx.tick_limit = TICKS;
    pb_status status = pb_plan(&b->ctx, &game, &(pb_request){.seed = s.seed}, &b->arena, &p);
    b->ctx.tick_limit = 0;
    if (status != PB_OK)
        return law_broken(b, "%s: %s", pb_status_text(status), b->ctx.error.message);
    return p.certificate && game.graph->node_count && run_plan(b, p.certificate, s.seed);
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 2000);
    law_run("wrong predictions end well", fails, PB_GAME_REMAT | PB_GAME_TIERED, cases);
    law_run_large("in larger games too", fails, PB_GAME_ALL, cases / 2 + 1);
    int code = law_finish();
    printf("%" PRIu64 " went on with another plan, %" PRIu64 " with the same, %" PRIu64 " stopped\n", went_on,
           untouched, stopped);
    return went_on > cases / 20 && stopped > cases / 50 ? code : 1;
}
