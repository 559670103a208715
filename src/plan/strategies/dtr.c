/* dtr.c -- dynamic tensor rematerialization: evict as the program runs, by cost, size and staleness.
 *
 * Problem     keep a running program within a cap without having seen it before.
 * Idea        follow program order; when the cap would be exceeded, evict the value with the smallest h = cost /
 *             (size * staleness), and recompute an evicted value when it is read. The cost includes what was evicted
 *             around the value, counted in one of the ways of evict/dtr.h. auto tries three of them and keeps the
 *             cheapest plan that fits.
 * Invariants  inputs of the node being computed cannot be evicted (evict/demand); equal seed, equal plan.
 * Cost        each eviction examines all candidates up to 1,024 of them, and a sample of 256 beyond; above 5,000
 *             nodes 256 and 64, above 200,000 nodes 256 and 16. `full` searches the evicted neighbourhood of each, so
 *             auto leaves it out there.
 * Source      Kirisame et al., "Dynamic tensor rematerialization", ICLR 2021.
 * Limits      no look-ahead: a larger cap may give a worse plan or none; near the least cap the work may grow without
 *             bound, and `limit` stops it.
 */
#include "plan/evict/dtr.h"
#include "base/context.h"
#include "plan/evict/demand.h"
#include "plan/sequence/sequence.h"

#include <string.h>

enum {
    SMALL = 5000,        /* nodes up to which auto tries the full neighbourhood */
    LARGE_ALL = 256,     /* above that, an eviction examines all candidates up to this many, */
    LARGE_SAMPLE = 64,   /* or a sample of this size */
    HUGE_GRAPH = 200000, /* nodes above which auto tries only the score by classes, */
    HUGE_SAMPLE = 16     /* and a sample is smaller: each candidate is a cache miss */
};

typedef struct result {
    pb_arena arena;
    pbi_sequence s;
    pbi_figures f;
    pbi_dtr_score score;
    bool fits;
} result;

typedef struct trial {
    pb_context *ctx;
    const pb_game *game;
    uint64_t seed, limit;
    result best;
    pbi_plan why; /* of the last failure */
} trial;

static pb_status try_score(trial *t, pbi_dtr_score score)
{
    result now = {.score = score};
    pbi_dtr dtr;
    bool stuck = false;
    pb_game fast = *t->game; /* the method does not use slow memory */
    fast.kind = PB_GAME_REMAT;
    pb_arena_init(&now.arena, t->ctx);
    pbi_sequence_init(&now.s, &now.arena);
    pb_status status = pbi_dtr_init(&dtr, t->game->graph, score, &now.arena);
    pbi_demand_options options = {.policy = PBI_PRIORITY, .seed = t->seed, .limit = t->limit, .scorer = &dtr.scorer};
    if (t->game->graph->node_count > SMALL) {
        dtr.scorer.all = LARGE_ALL;
        dtr.scorer.sample = t->game->graph->node_count > HUGE_GRAPH ? HUGE_SAMPLE : LARGE_SAMPLE;
    }
    if (status == PB_OK)
        status = pbi_demand_sequence(t->ctx, &fast, &options, &now.s, &t->why, &stuck);
    if (status == PB_OK && !stuck)
        status = pbi_sequence_emit(t->ctx, &fast, &now.s, NULL, &now.f);
    now.fits = status == PB_OK && !stuck && now.f.fits && !now.f.overflow;
    bool better = now.fits && (!t->best.fits || pbi_figures_better(t->game, &now.f, &t->best.f));
    result worse = better ? t->best : now;
    if (better)
        t->best = now;
    if (worse.arena.ctx)
        pb_arena_release(&worse.arena);
    return status;
}

static bool out_of_ticks(const pb_context *ctx) { return ctx->tick_limit && ctx->ticks > ctx->tick_limit; }

static pb_status try_all(trial *t, int asked)
{
    pb_status status = PB_OK;
    bool cut = false;
    if (asked >= 0)
        return try_score(t, (pbi_dtr_score)asked);
    for (int score = PBI_DTR_LOCAL; score >= PBI_DTR_FULL && status == PB_OK; score--) {
        uint32_t nodes = t->game->graph->node_count;
        if ((score == PBI_DTR_FULL && nodes > SMALL) || (score == PBI_DTR_LOCAL && nodes > HUGE_GRAPH))
            continue;
        status = try_score(t, (pbi_dtr_score)score);
        if (status == PB_ELIMIT && !out_of_ticks(t->ctx)) {
            status = PB_OK; /* too many computations with this score: try another */
            cut = true;
        }
        if (t->best.fits && t->best.f.time == t->game->graph->needed_cost)
            break; /* no evicted value was read again: all scores give the same plan */
    }
    return status == PB_OK && cut && !t->best.fits ? PB_ELIMIT : status;
}

static pb_status conclude(trial *t, int asked, pb_status status, pbi_plan *plan)
{
    if (t->best.fits && (status == PB_OK || status == PB_ELIMIT || status == PB_ECANCELLED)) {
        pbi_held held = pbi_hold(t->ctx); /* also after a stop: write the best plan so far */
        status = pbi_sequence_emit(t->ctx, t->game, &t->best.s, plan, NULL);
        pbi_resume(t->ctx, held);
    } else if (status == PB_OK) {
        plan->failed_step = t->why.failed_step;
        plan->failed_node = t->why.failed_node;
        plan->failed_need = t->why.failed_need;
        status = pbi_plan_give_up(
            plan, "%s", t->why.reason ? t->why.reason : "the work of this plan exceeds 2^64; use a coarser cost unit");
    }
    if (t->best.arena.ctx)
        pb_arena_release(&t->best.arena);
    if (status == PB_OK && (t->best.fits || asked >= 0))
        status =
            pbi_plan_record(plan, "score", pbi_dtr_score_name(t->best.fits ? t->best.score : (pbi_dtr_score)asked));
    return status == PB_OK ? pbi_plan_record_number(plan, "limit", t->limit) : status;
}

static pb_status read_score(pb_context *ctx, const pbi_plan_options *options, int *out)
{
    const char *text = pbi_option_find(options, "score");
    *out = -1;
    if (!text || strcmp(text, "auto") == 0)
        return PB_OK;
    for (int i = 0; i < PBI_DTR_SCORES; i++)
        if (strcmp(text, pbi_dtr_score_name((pbi_dtr_score)i)) == 0)
            *out = i;
    if (*out < 0)
        return pbi_fail(ctx, PB_EINVAL, "score must be auto, full, eq, local, lru or size, not \"%.40s\"", text);
    return PB_OK;
}

pb_status pbi_plan_dtr(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    int asked;
    trial t = {.ctx = ctx, .game = game, .seed = options->seed};
    pb_status status = read_score(ctx, options, &asked);
    uint64_t n = game->graph->node_count, few = 10 * n + 100000, many = 2 * n + 2000000;
    t.limit = few < many ? few : many;
    if (status == PB_OK)
        status = pbi_option_number(ctx, options, "limit", 1, UINT32_MAX, &t.limit);
    if (status != PB_OK)
        return status;
    for (pb_node v = 0; v < game->graph->node_count; v++)
        if (game->graph->flags[v] & PB_NODE_GIVEN_SLOW)
            return pbi_plan_give_up(plan, "does not apply: a given value starts in slow memory");
    pb_arena texts;
    pb_arena_init(&texts, ctx);
    pbi_plan_reset(&t.why, &texts);
    status = conclude(&t, asked, try_all(&t, asked), plan);
    pb_arena_release(&texts);
    return status;
}
