/* tiered.c -- the strategy `exact` in the tiered game: see tiered.h. */
#include "plan/statespace/tiered.h"

#include "base/checked.h"
#include "base/context.h"
#include "game/price.h"

#include <inttypes.h>

/* What a legal schedule needs and costs. */
typedef struct tally {
    const pb_game *game;
    bool *there;
    uint64_t memory, peak, cost;
} tally;

static void add_value(tally *t, pb_node v)
{
    t->memory += t->there[v] ? 0 : t->game->graph->size[v];
    t->there[v] = true;
}

static void remove_value(tally *t, pb_node v)
{
    t->memory -= t->there[v] ? t->game->graph->size[v] : 0;
    t->there[v] = false;
}

static void play_compute(tally *t, const pb_moves *moves, pb_step k)
{
    const pb_graph *g = t->game->graph;
    pb_way way = pb_moves_way(moves, g, k);
    pb_node v = moves->move[k].node, over = pb_moves_over(moves, k);
    uint32_t count;
    const pb_node *also = pb_moves_also(moves, k, &count);
    if (over != PB_NO_NODE)
        remove_value(t, over);
    add_value(t, v);
    for (uint32_t i = 0; i < count; i++)
        add_value(t, also[i]);
    uint64_t shrinks = over != PB_NO_NODE && g->size[over] > g->size[v] ? g->size[over] - g->size[v] : 0;
    uint64_t during = pbi_add_saturated(t->memory, pbi_add_saturated(shrinks, way.workspace));
    t->peak = during > t->peak ? during : t->peak;
    t->cost = pbi_add_saturated(t->cost, way.cost);
}

static void play(tally *t, const pb_moves *moves, pb_step k)
{
    const pb_move *m = &moves->move[k];
    const pb_tier *tier = &t->game->tiers[m->tier ? m->tier - 1 : 0];
    uint64_t size = t->game->graph->size[m->node];
    switch (m->op) {
    case PB_COMPUTE: play_compute(t, moves, k); break;
    case PB_FREE: remove_value(t, m->node); break;
    case PB_STORE: t->cost = pbi_add_saturated(t->cost, pbi_store_price(tier, size)); break;
    case PB_LOAD:
        add_value(t, m->node);
        t->cost = pbi_add_saturated(t->cost, pbi_load_price(tier, size));
        break;
    default: break;
    }
    t->peak = t->memory > t->peak ? t->memory : t->peak;
}

/* Work and io of the plan to start from, if that fits. Not with weights on memory: among plans of equal time it may
 * be the best known for its time, not for its cost. */
static pb_status use_start(pb_context *ctx, const pb_game *game, const pb_moves *start, uint64_t *known)
{
    const pb_graph *g = game->graph;
    pb_arena scratch;
    tally t = {.game = game, .memory = g->fixed_size};
    *known = PBI_TIER_NEVER;
    if (!start || game->weights.alpha || game->weights.beta)
        return PB_OK;
    pb_arena_init(&scratch, ctx);
    t.there = pb_arena_zero(&scratch, g->node_count, sizeof *t.there);
    for (pb_node v = 0; t.there && v < g->node_count; v++)
        if ((g->flags[v] & PB_NODE_GIVEN) && !(g->flags[v] & PB_NODE_GIVEN_SLOW))
            add_value(&t, v);
    t.peak = t.memory;
    for (pb_step k = 0; t.there && k < start->count; k++)
        play(&t, start, k);
    pb_arena_release(&scratch);
    if (t.there && t.peak <= game->cap && t.cost < PBI_TIER_NEVER - 1)
        *known = t.cost;
    return t.there ? PB_OK : PB_ENOMEM;
}

static pb_status copy_moves(const pb_moves *from, pb_moves *to)
{
    pb_status status = PB_OK;
    for (pb_step k = 0; k < from->count && status == PB_OK; k++)
        status = pb_moves_add_copy(to, from, k);
    return status;
}

static pb_status conclude(pb_context *ctx, const pb_game *game, const pbi_plan_options *options,
                          const pbi_tier_answer *a, pbi_plan *plan)
{
    const pb_weights *w = &game->weights;
    if (a->end == PBI_TIER_INFEASIBLE && a->overflow)
        return pbi_fail(ctx, PB_ERANGE, "the work of every plan found exceeds 2^64; use a coarser cost unit");
    if (a->end == PBI_TIER_INFEASIBLE) {
        pb_status status = pbi_plan_give_up(plan, "an exhaustive search found that no plan fits the cap");
        plan->outcome = PB_INFEASIBLE;
        return status;
    }
    plan->lower_bound = a->bound;
    if (a->cost == PBI_TIER_NEVER && a->status != PB_OK)
        return a->status;
    if (a->cost == PBI_TIER_NEVER)
        return pbi_fail(ctx, PB_ELIMIT, "limit hit: no plan among the first %" PRIu64 " states; raise its option limit",
                        a->states);
    pb_status status = a->own ? PB_OK : copy_moves(options->start, &plan->moves);
    plan->outcome = PB_FOUND;
    if (status != PB_OK || a->end != PBI_TIER_PROVED)
        return status;
    if (!w->alpha && !w->beta)
        plan->outcome = PB_OPTIMAL;
    return pbi_plan_note(plan, "no plan has less work%s (proved in %" PRIu64 " state%s)",
                         game->kind == PB_GAME_TIERED ? " and io" : "", a->states, a->states == 1 ? "" : "s");
}

pb_status pbi_plan_exact_tiered(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, uint64_t limit,
                                pbi_plan *plan)
{
    pbi_tier_model m;
    pbi_tier_answer answer;
    pbi_search_limits limits = {.bound = options->bounds->makespan, .bytes = limit};
    if (!pbi_tier_model_init(&m, game))
        return pbi_plan_give_up(plan, "too large: more than %d values, or a node with more than %d by-products",
                                PBI_TIER_BITS, PBI_TIER_PARTS);
    pb_status status = use_start(ctx, game, options->start, &limits.known);
    if (status == PB_OK)
        status = pbi_tier_solve(ctx, &m, &limits, &plan->moves, &answer);
    if (status == PB_OK)
        status = conclude(ctx, game, options, &answer, plan);
    return status == PB_OK ? pbi_plan_record_number(plan, "limit", limit) : status;
}
