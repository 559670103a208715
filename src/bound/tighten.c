/* tighten.c -- bounds that take more than linear time. */
#include "bound/first_bound.h"

#include "base/checked.h"
#include "bound/raise_work.h"
#include "bound/reversible_bound.h"

/* The default: EFFORT_SMALL steps and EFFORT_EACH per node and edge, up to EFFORT_MAX; but never below EFFORT_MIN_EACH
 * per node and edge, which it takes to find the best price at one node of the largest graphs. */
#define EFFORT_SMALL UINT64_C(50000000)
#define EFFORT_EACH UINT64_C(20000)
#define EFFORT_MAX UINT64_C(200000000)
#define EFFORT_MIN_EACH UINT64_C(250)

#define EFFORT_TICK UINT64_C(10) /* per tick of a limit on planning */

/* The same for several moments together, which pay off only on graphs that are not too large. */
#define SEVERAL_TIMES UINT64_C(3) /* times the effort for one moment */
#define SEVERAL_EACH UINT64_C(200000)
#define SEVERAL_MAX UINT64_C(500000000)
enum { SEVERAL_NODES = 5000 };

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The default effort for single moments. */
static uint64_t default_single(const pb_graph *g)
{
    uint64_t parts = (uint64_t)g->node_count + g->edge_count,
             effort = smaller(EFFORT_SMALL + EFFORT_EACH * parts, EFFORT_MAX);
    return effort > EFFORT_MIN_EACH * parts ? effort : EFFORT_MIN_EACH * parts;
}

static uint64_t default_several(const pb_game *game)
{
    const pb_graph *g = game->graph;
    uint64_t parts = (uint64_t)g->node_count + g->edge_count;
    if (game->kind != PB_GAME_REMAT || pb_game_recipes(game) || g->node_count > SEVERAL_NODES)
        return 0; /* a second moment assumes that a value comes back only with its maker */
    return smaller(SEVERAL_TIMES * default_single(g), smaller(SEVERAL_EACH * parts, SEVERAL_MAX));
}

uint64_t pb_bounds_effort(const pb_context *ctx, const pb_game *game)
{
    uint64_t effort = default_single(game->graph) + default_several(game);
    bool limited = ctx->tick_limit && ctx->tick_limit < effort / EFFORT_TICK;
    return limited ? ctx->tick_limit * EFFORT_TICK : effort;
}

uint64_t pb_bounds_effort_in(double seconds) { return seconds < 1e6 ? (uint64_t)(seconds * 4e7) + 1 : UINT64_MAX; }

static void add_extra(const pb_game *game, uint64_t extra, pb_node at, pb_bounds *b)
{
    uint64_t makespan;
    pb_u128 cost = b->cost;
    if (!extra || !pbi_add(b->makespan, extra, &makespan))
        return;
    b->makespan = makespan;
    b->makespan_at = at;
    b->has_cost = b->has_cost && pbi_u128_add(&cost, pbi_u128_product(game->weights.gamma, extra));
    b->cost = cost;
}

void pbi_bounds_raise_work(const pb_game *game, uint64_t makespan, pb_node at, pb_bounds *b)
{
    if (makespan > b->makespan)
        add_extra(game, makespan - b->makespan, at, b);
}

static pb_status tighten_reversible(pb_context *ctx, const pb_game *game, uint64_t effort, pb_bounds *b)
{
    pbi_reversible_extra extra;
    pb_status status = pbi_reversible_bound(ctx, game, effort, &extra);
    if (status != PB_OK)
        return status;
    add_extra(game, extra.work, extra.at, b);
    b->over = extra.over;
    b->over_at = extra.over_at;
    return PB_OK;
}

pb_status pb_bounds_tighten(pb_context *ctx, const pb_game *game, uint64_t effort, pb_bounds *bounds)
{
    const pb_graph *g = game->graph;
    uint64_t program_peak;
    pbi_first first;
    if (bounds->impossible || game->borrow || bounds->attained || game->cap < bounds->least_cap)
        return PB_OK;
    if (game->kind == PB_GAME_REVERSIBLE)
        return tighten_reversible(ctx, game, effort ? effort : pb_bounds_effort(ctx, game), bounds);
    pb_status status = pb_graph_program_peak(ctx, g, &program_peak);
    if (status != PB_OK)
        return status == PB_ECANCELLED ? PB_OK : status;
    if (game->cap >= program_peak && game->cap != PB_UNLIMITED) /* program order fits, and recomputes nothing */
        return PB_OK;
    effort = effort ? effort : pb_bounds_effort(ctx, game);
    double single = (double)default_single(g), several = (double)default_several(game);
    uint64_t later = (uint64_t)((double)effort * (several / (single + several)));
    status = pbi_first_bound(ctx, game, bounds->least_cap, effort - smaller(later, effort), later, &first);
    if (status != PB_OK)
        return status;
    add_extra(game, first.extra, first.at, bounds);
    if (first.least_cap > bounds->least_cap) {
        bounds->least_cap = first.least_cap;
        bounds->least_at = first.least_at;
        bounds->least_why = "lasting set";
    }
    bounds->over = first.over;
    bounds->over_at = first.over_at;
    return PB_OK;
}
