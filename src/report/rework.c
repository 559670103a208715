/* rework.c -- see rework.h. Follows absent ancestors of the value, with an explicit stack. */
#include "report/rework.h"

#include "base/checked.h"
#include "game/price.h"

#include <string.h>

pb_status pbi_rework_init(pbi_rework *r, const pb_game *game, uint64_t visits, pb_arena *scratch)
{
    const pb_graph *g = game->graph;
    *r = (pbi_rework){.game = game, .visits = visits};
    r->seen = pb_arena_zero(scratch, g->node_count, sizeof *r->seen);
    r->stack = pb_arena_alloc(scratch, (size_t)g->node_count + 1, sizeof *r->stack);
    r->copies = pb_arena_zero(scratch, g->node_count, sizeof *r->copies);
    if (!r->seen || !r->stack || !r->copies)
        return PB_ENOMEM;
    for (pb_node v = 0; v < g->node_count && game->kind == PB_GAME_TIERED; v++)
        if (g->flags[v] & PB_NODE_GIVEN_SLOW)
            r->copies[v] = 1;
    return PB_OK;
}

void pbi_rework_note(pbi_rework *r, const pb_move *move)
{
    unsigned bit = move->tier ? 1u << (move->tier - 1) : 1u;
    if (move->op == PB_STORE)
        r->copies[move->node] = (uint8_t)(r->copies[move->node] | bit);
    else if (move->op == PB_DROP)
        r->copies[move->node] = (uint8_t)(r->copies[move->node] & ~bit);
}

/* The cheapest load of a value that is in a slow tier. */
static uint64_t load_cost(const pbi_rework *r, pb_node v)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t t = 0; t < r->game->tier_count; t++) {
        if (!(r->copies[v] >> t & 1))
            continue;
        uint64_t cost = pbi_load_price(&r->game->tiers[t], r->game->graph->size[v]);
        if (cost < least)
            least = cost;
    }
    return least;
}

/* The cheapest recipe of u that needs nothing else; NULL if there is none, or if its own inputs are resident and it
 * costs no more by itself. */
static const pb_recipe *ready_recipe(const pbi_rework *r, const bool *resident, pb_node u)
{
    const pb_graph *g = r->game->graph;
    const pb_recipe *best = NULL;
    bool own = pb_graph_is_computed(g, u) && !(g->flags[u] & PB_NODE_ONCE);
    for (uint32_t k = g->in_start[u]; k < g->in_start[u + 1]; k++)
        own = own && resident[g->in[k]];
    for (uint32_t i = pb_game_recipes(r->game) ? pb_graph_recipes(g, u) : 0; i > 0; i--) {
        const pb_recipe *now = &g->recipe[g->recipe_start[u] + i - 1];
        bool ready = !(own && g->cost[u] <= now->cost);
        for (uint32_t k = 0; k < now->in_count; k++)
            ready = ready && resident[now->in[k]];
        if (ready && (!best || now->cost < best->cost))
            best = now;
    }
    return best;
}

pbi_rework_cost pbi_rework_of(pbi_rework *r, const bool *resident, pb_node v)
{
    const pb_graph *g = r->game->graph;
    pbi_rework_cost sum = {.complete = true, .possible = true};
    uint32_t depth = 0;
    if (++r->round == 0) { /* the round counter wrapped around: forget all visits */
        memset(r->seen, 0, g->node_count * sizeof *r->seen);
        r->round = 1;
    }
    r->stack[depth++] = v;
    r->seen[v] = r->round;
    while (depth > 0) {
        pb_node u = r->stack[--depth];
        if (r->visits == 0) {
            sum.complete = false;
            break;
        }
        r->visits--;
        if (r->copies[u]) {
            sum.work = pbi_add_saturated(sum.work, load_cost(r, u));
            continue;
        }
        const pb_recipe *recipe = ready_recipe(r, resident, u);
        if (recipe) {
            sum.work = pbi_add_saturated(sum.work, recipe->cost);
            continue;
        }
        pb_node maker = g->owner && g->owner[u] != PB_NO_NODE ? g->owner[u] : u;
        if (g->flags[maker] & (PB_NODE_GIVEN | PB_NODE_ONCE)) {
            sum.possible = false;
            break;
        }
        if (maker != u) {
            if (r->seen[maker] == r->round)
                continue; /* its computation is already counted */
            r->seen[maker] = r->round;
        }
        sum.work = pbi_add_saturated(sum.work, g->cost[maker]);
        for (uint32_t i = g->in_start[maker]; i < g->in_start[maker + 1]; i++) {
            pb_node input = g->in[i];
            if (!resident[input] && r->seen[input] != r->round) {
                r->seen[input] = r->round;
                r->stack[depth++] = input;
            }
        }
    }
    return sum;
}
