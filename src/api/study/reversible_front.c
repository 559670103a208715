/* reversible_front.c -- the minimum work of a small reversible game for every amount of memory.
 *
 * From the largest cap down: what `exact` proves at one cap is valid down to the peak of its plan, and the next cap
 * is one below that. Every point is a verified plan. It ends when a cap is proved infeasible, or when the effort is
 * spent.
 */
#include "api/pipeline/pipeline.h"

#include "base/arena.h"
#include "base/context.h"
#include "plan/strategy.h"

#include <string.h>

typedef struct tracer {
    pbi_job job;
    pb_game game;
    pbi_spec spec;
    pb_arena *result;
    pb_front front;
    size_t room;
    uint64_t left; /* ticks */
} tracer;

/* What was proved at one cap. */
static pb_status add_point(tracer *t, const pb_plan_result *p)
{
    const pb_metrics *m = &p->schedule.metrics;
    pb_front *f = &t->front;
    pb_front_point point = {m->peak, m->work, m->moves};
    f->settled_from = m->peak;
    if (f->count && f->point[f->count - 1].work == m->work) {
        f->point[f->count - 1] = point; /* as good in less memory */
        return PB_OK;
    }
    void *points = f->point;
    if (!pbi_arena_reserve(t->result, &points, &t->room, (size_t)f->count + 1, sizeof *f->point))
        return PB_ENOMEM;
    f->point = points;
    f->point[f->count++] = point;
    return PB_OK;
}

/* Solves t->game.cap; *more: continue below it. */
static pb_status solve_cap(tracer *t, bool *more)
{
    pb_context *ctx = t->job.ctx;
    pb_arena scratch;
    pb_plan_result planned;
    *more = false;
    ctx->tick_limit = t->left;
    pb_arena_init(&scratch, ctx);
    pb_status status = pbi_plan_row(&t->job, &t->game, &t->spec, &scratch, &planned);
    t->left = ctx->ticks < t->left ? t->left - ctx->ticks : 0;
    if (status == PB_OK && planned.schedule.outcome == PB_INFEASIBLE) {
        t->front.complete = true;
    } else if (status == PB_OK && planned.schedule.outcome == PB_OPTIMAL) {
        status = add_point(t, &planned);
        t->front.complete = planned.schedule.metrics.peak == 0;
        *more = status == PB_OK && !t->front.complete && t->left;
        t->game.cap = planned.schedule.metrics.peak - 1;
    }
    pb_arena_release(&scratch);
    return status;
}

static void turn_round(pb_front *f)
{
    for (uint32_t i = 0; i < f->count / 2; i++) {
        pb_front_point point = f->point[i];
        f->point[i] = f->point[f->count - 1 - i];
        f->point[f->count - 1 - i] = point;
    }
}

pb_status pb_reversible_front(pb_context *ctx, const pb_graph *g, uint64_t effort, pb_arena *result, pb_front *out)
{
    pb_request request = PB_REQUEST_DEFAULT;
    tracer t = {.result = result, .left = effort ? effort : UINT64_MAX};
    uint64_t limit = ctx->tick_limit;
    bool more = true;
    t.game = (pb_game){.graph = g, .kind = PB_GAME_REVERSIBLE, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    t.spec.row = pbi_strategy_with(PB_GAME_REVERSIBLE, PB_EXACT, PB_TRAIT_EXHAUSTIVE, PB_TRAIT_SOLVER);
    ctx->stopped = PB_GO_ON;
    pb_status status = pbi_job_init(&t.job, ctx, g, &request);
    while (status == PB_OK && more)
        status = solve_cap(&t, &more);
    ctx->tick_limit = limit;
    if (status == PB_ECANCELLED)
        status = PB_OK; /* the points so far are proved */
    if (status != PB_OK)
        return status;
    turn_round(&t.front);
    *out = t.front;
    return PB_OK;
}

const pb_front_point *pb_front_at(const pb_front *front, uint64_t memory)
{
    const pb_front_point *best = NULL;
    if (memory < front->settled_from && !front->complete)
        return NULL;
    for (uint32_t i = 0; i < front->count && front->point[i].peak <= memory; i++)
        best = &front->point[i];
    return best;
}
