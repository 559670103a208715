/* prove.c -- see prove.h.
 *
 * An exhaustive strategy proves something about the game, not only about its own plan. So it runs whichever strategy
 * was chosen, and its answer is a bound like others. Weights do not matter: the bound is on work and io.
 */
#include "api/pipeline/prove.h"

#include "base/checked.h"
#include "base/context.h"
#include "bound/raise_work.h"
#include "plan/chain/chain.h"
#include "plan/reversible/line/best_cuts.h"
#include "plan/strategy.h"

#include <string.h>

enum { MOST_NODES = 64 }; /* limit of the strategy `exact` */

/* Does a plan that computes everything once fit? Then nothing is left to prove. */
static bool fits_all(pb_context *ctx, const pb_game *game)
{
    const pb_graph *g = game->graph;
    uint64_t written, all = g->fixed_size, space = 0;
    if (game->kind != PB_GAME_REVERSIBLE)
        return pb_graph_program_peak(ctx, g, &written) == PB_OK && game->cap >= written;
    for (pb_node v = 0; v < g->node_count; v++) {
        all = pbi_add_saturated(all, g->flags[v] & (PB_NODE_NEEDED | PB_NODE_GIVEN) ? g->size[v] : 0);
        space = g->workspace[v] > space ? g->workspace[v] : space;
    }
    return game->cap >= pbi_add_saturated(all, space);
}

/* For chains of equal steps, a table proves its plans. */
static bool is_equal_chain(const pb_graph *g, pb_arena *scratch)
{
    pbi_chain chain;
    const char *why;
    pb_status status = PB_OK;
    return g->shape == PB_SHAPE_ADJOINT_CHAIN && pbi_chain_find(g, scratch, &chain, &why, &status) &&
           pbi_chain_equal(g, &chain);
}

static bool was_tried(const pb_strategy *row, uint64_t tried)
{
    uint32_t count;
    return tried >> (row - pb_strategies(&count)) & 1;
}

/* Raises the bounds by the proof of the exact strategy with this trait. *settled: nothing is left to prove. */
static void ask(const pbi_job *job, const pb_game *game, unsigned trait, uint64_t tried, pb_bounds *b, bool *settled)
{
    pb_arena arena;
    pb_plan_result now;
    pb_request request = *job->request;
    pbi_job own = *job;
    pb_game work = *game;
    pb_bounds known = *b;
    pbi_spec spec = {.row = pbi_strategy_with((unsigned)game->kind, PB_EXACT, trait, PB_TRAIT_SOLVER)};
    if (!spec.row || was_tried(spec.row, tried))
        return;
    request.handler = NULL;
    request.start = NULL;
    request.time_ns = 0;
    request.patient = false;
    own.request = &request;
    own.cache = NULL;
    known.has_cost = false; /* that bound is for other weights */
    own.quick = &known;
    own.no_proofs = true;
    work.weights = PB_WEIGHTS_DEFAULT;
    pb_arena_init(&arena, job->ctx);
    if (pbi_plan_row(&own, &work, &spec, &arena, &now) == PB_OK) {
        *settled = now.schedule.outcome == PB_OPTIMAL || now.schedule.outcome == PB_INFEASIBLE;
        if (now.schedule.outcome == PB_INFEASIBLE)
            b->over = true;
        else
            pbi_bounds_raise_work(game, now.schedule.lower_bound, PB_NO_NODE, b);
    }
    pb_arena_release(&arena);
}

/* For chains of the reversible game: counts the least work without a plan. */
static void count_line(const pbi_job *job, const pb_game *game, pb_arena *scratch, pb_bounds *b, bool *settled)
{
    pbi_plan unused;
    pbi_line line;
    pbi_best_cuts knill;
    bool is_line;
    uint64_t work;
    pbi_plan_reset(&unused, scratch);
    if (game->kind != PB_GAME_REVERSIBLE || game->graph->shape != PB_SHAPE_CHAIN ||
        pbi_line_read(game, scratch, &unused, &line, &is_line) != PB_OK || !is_line || !line.count ||
        pbi_best_cuts_init(job->ctx, &knill, &line, 1, scratch) != PB_OK || !knill.proved)
        return;
    uint64_t least = pbi_best_cuts_min_memory(&knill);
    if (least == UINT64_MAX)
        return;
    uint64_t moves = pbi_best_cuts_moves(&knill, line.budget);
    *settled = moves != UINT64_MAX && pbi_mul(moves, line.cost, &work);
    if (*settled)
        pbi_bounds_raise_work(game, work, PB_NO_NODE, b);
}

pb_status pbi_prove(const pbi_job *job, const pb_game *game, uint64_t tried, pb_bounds *b)
{
    pb_context *ctx = job->ctx;
    bool settled = b->impossible || b->over || game->cap < b->least_cap || game->borrow || fits_all(ctx, game);
    pb_arena scratch;
    if (settled || pbi_poll(ctx) != PB_OK)
        return PB_OK;
    uint64_t ticks = ctx->ticks;
    pb_stop stopped = ctx->stopped;
    pb_arena_init(&scratch, ctx);
    count_line(job, game, &scratch, b, &settled);
    if (!settled && game->kind != PB_GAME_REVERSIBLE && is_equal_chain(game->graph, &scratch))
        ask(job, game, PB_TRAIT_CHAINS, tried, b, &settled);
    if (!settled && game->graph->needed_count <= MOST_NODES)
        ask(job, game, PB_TRAIT_EXHAUSTIVE, tried, b, &settled);
    pb_arena_release(&scratch);
    ctx->ticks = ticks;
    if (ctx->stopped == PB_STOP_TIME)
        ctx->stopped = stopped;
    return PB_OK;
}
