/* least_bound.c -- the proven minimum of a game's cap; see api.h.
 *
 * If a graph is so small that all plans can be searched, we search at caps between the bound and a cap that is known to
 * work. Low caps come first, because they have the fewest states. One limit on effort covers all these searches.
 */
#include "api/pipeline/pipeline.h"

#include "base/checked.h"
#include "base/context.h"
#include "bound/quick_bounds.h"
#include "game/untimed.h"
#include "plan/strategy.h"

enum { SHORT = 50000 }; /* nodes plus edges of graphs whose first bounds take milliseconds */
enum { MOST_NODES = 64, MOST_REVERSIBLE = 36, MOST_SHAPED = 20, MOST_LOOKS = 40 };
#define REMAT_TICKS UINT64_C(60000)
#define REVERSIBLE_TICKS UINT64_C(300000) /* more, because graphs are smaller and a tick is shorter */

/* A cap that certainly works. */
static pb_status certain_cap(pb_context *ctx, const pb_game *game, uint64_t *cap)
{
    const pb_graph *g = game->graph;
    uint64_t all = g->fixed_size, space = 0;
    if (game->kind != PB_GAME_REVERSIBLE)
        return pb_graph_program_peak(ctx, g, cap);
    for (pb_node v = 0; v < g->node_count; v++) {
        all = pbi_add_saturated(all, g->size[v]);
        space = g->workspace[v] > space ? g->workspace[v] : space;
    }
    *cap = pbi_add_saturated(all, space);
    return PB_OK;
}

/* Searches for a plan within this cap. Raises *low if there is none, lowers *high if there is one. *open: the search
 * did not decide. */
static pb_status look(const pbi_job *job, const pb_game *game, uint64_t cap, uint64_t *low, uint64_t *high, bool *open)
{
    pb_game at = *game;
    pbi_spec spec = {.row = pbi_strategy_with((unsigned)game->kind, PB_EXACT, PB_TRAIT_EXHAUSTIVE, PB_TRAIT_SOLVER)};
    pb_plan_result now;
    pb_arena arena;
    at.cap = cap;
    pb_arena_init(&arena, job->ctx);
    pb_status status = pbi_plan_row(job, &at, &spec, &arena, &now);
    *open = true;
    if (status == PB_OK && now.schedule.outcome == PB_INFEASIBLE) {
        *low = cap + 1;
        *open = false;
    } else if (status == PB_OK && now.certificate) {
        *high = now.schedule.metrics.peak;
        *open = false;
    }
    pb_arena_release(&arena);
    return status == PB_ENOMEM || status == PB_EBUG ? PB_OK : status; /* what is proved so far still holds */
}

/* Is the graph small enough to search all plans? In the reversible game a search takes longer. There, chains and trees
 * of equal sizes have an exact answer from their ranks. */
static bool is_small(const pb_game *game)
{
    const pb_graph *g = game->graph;
    uint32_t most = game->kind == PB_GAME_REMAT                                  ? MOST_NODES
                    : g->shape == PB_SHAPE_CHAIN || g->shape == PB_SHAPE_IN_TREE ? MOST_SHAPED
                                                                                 : MOST_REVERSIBLE;
    return game->kind != PB_GAME_TIERED && !game->borrow && g->needed_count <= most;
}

static void raise_to(uint64_t cap, pb_bounds *b)
{
    b->least_cap = cap;
    b->least_at = PB_NO_NODE;
    b->least_why = "exhaustive search";
}

static pb_status look_at_all(pb_context *ctx, const pb_game *game, pb_bounds *b)
{
    uint64_t low = b->least_cap, high = low, limit = ctx->tick_limit;
    uint64_t left = game->kind == PB_GAME_REMAT ? REMAT_TICKS : REVERSIBLE_TICKS;
    pb_bounds quick = *b;
    pb_request request = PB_REQUEST_DEFAULT;
    pbi_job job;
    bool open = false;
    pb_status status = certain_cap(ctx, game, &high);
    if (status == PB_OK)
        status = pbi_job_init(&job, ctx, game->graph, &request);
    quick.has_cost = false; /* that bound is for other weights */
    job.quick = &quick;
    left = limit && limit < left ? limit : left;
    for (int i = 0; i < MOST_LOOKS && status == PB_OK && !open && low < high && left; i++) {
        ctx->tick_limit = left;
        status = look(&job, game, i ? low + (high - low) / 4 : low, &low, &high, &open);
        left -= ctx->ticks < left ? ctx->ticks : left;
    }
    ctx->tick_limit = limit;
    if (low > b->least_cap)
        raise_to(low, b);
    return status == PB_ECANCELLED || status == PB_ELIMIT ? PB_OK : status;
}

/* The bounds that need no search. After a stop, small graphs still get the bounds of pb_bounds_make, and larger ones
 * those that take linear time, so that there is always some bound. */
static pb_status first_bounds(pb_context *ctx, const pb_game *game, pb_bounds *bounds)
{
    const pb_graph *g = game->graph;
    pb_status status = pb_bounds_make(ctx, game, bounds);
    if (status == PB_OK && !game->borrow)
        status = pb_bounds_tighten(ctx, game, 0, bounds); /* keeps what it proved before a stop */
    if (status != PB_ECANCELLED)
        return status;
    pbi_held held = pbi_hold(ctx);
    status = (uint64_t)g->node_count + g->edge_count <= SHORT ? pb_bounds_make(ctx, game, bounds)
                                                              : pbi_bounds_quick(ctx, game, bounds);
    pbi_resume(ctx, held);
    return status;
}

pb_status pb_least_bound(pb_context *ctx, const pb_game *game, pb_bounds *out)
{
    pb_status untimed = pbi_untimed(ctx, game, "the lower bound of the cap");
    return untimed != PB_OK ? untimed : pbi_least_bound(ctx, game, 0, out);
}

pb_status pbi_least_bound(pb_context *ctx, const pb_game *game, uint64_t known, pb_bounds *out)
{
    pb_game any = *game;
    pb_bounds bounds;
    uint64_t ticks = ctx->ticks;
    any.cap = PB_UNLIMITED;
    pb_status status = first_bounds(ctx, &any, &bounds);
    if (status == PB_OK && known > bounds.least_cap)
        raise_to(known, &bounds);
    any.weights = PB_WEIGHTS_DEFAULT;
    if (status == PB_OK && !bounds.impossible && !bounds.attained && is_small(&any))
        status = look_at_all(ctx, &any, &bounds);
    ctx->ticks = ticks;
    if (status == PB_OK)
        *out = bounds;
    return status;
}
