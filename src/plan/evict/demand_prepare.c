/* demand_prepare.c -- the order that demand-driven planning follows, and who reads what in it. */
#include "plan/evict/demand_state.h"

#include "base/arena.h"

static void add_place(pbi_demand *d, uint32_t event) { d->order[d->order_count++] = event; }

/* The order as a list of events. */
static pb_status list_order(pbi_demand *d)
{
    const pb_graph *g = d->g;
    const pb_moves *follow = d->options->follow;
    size_t room = follow ? 2 * (size_t)follow->count : g->order_count;
    d->order = pb_arena_alloc(&d->scratch, room, sizeof *d->order);
    if (!d->order)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < g->order_count && !follow; i++)
        if (pbi_demand_reads(g, g->order[i]))
            add_place(d, g->order[i]);
    for (pb_step k = 0; follow && k < follow->count; k++) {
        const pb_move *m = &follow->move[k];
        pb_node over = m->op == PB_COMPUTE ? pb_moves_over(follow, k) : PB_NO_NODE;
        if (m->op == PB_COMPUTE && !m->by &&
            pbi_demand_reads(g, m->node)) /* what recipes recover comes back on pbi_demand */
            add_place(d, m->node);
        if (m->op == PB_FREE || over != PB_NO_NODE)
            add_place(d, (m->op == PB_FREE ? m->node : over) | PBI_DEMAND_REMOVED);
    }
    return PB_OK;
}

static pb_status count_readers(pbi_demand *d)
{
    const pb_graph *g = d->g;
    pb_status status = list_order(d);
    for (size_t i = 0; i < d->order_count && status == PB_OK; i++) {
        pb_node v = d->order[i];
        if (v & PBI_DEMAND_REMOVED)
            continue;
        bool first = d->left[v]++ == 0;
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            d->uses[g->in[k]]++;
            d->open[g->in[k]] += first;
        }
    }
    if (status != PB_OK)
        return status;
    for (pb_node v = 0; v < g->node_count; v++)
        for (uint32_t i = d->back.first[v]; pbi_demand_reads(g, v) && i < d->back.first[v + 1]; i++)
            d->open[d->back.in[i]]++;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (d->open[v] && !(g->flags[v] & PB_NODE_KEEP))
            d->alive[pb_graph_maker(g, v)]++;
        bool slow = g->flags[v] & PB_NODE_GIVEN_SLOW;
        d->placed[v] = d->existed[v] = (g->flags[v] & PB_NODE_GIVEN) != 0;
        if ((g->flags[v] & PB_NODE_GIVEN) && !slow) {
            d->resident[v] = 1;
            d->memory += g->size[v];
        } else if (slow && d->tier) {
            d->tier[v] = 1;
            d->slow_used[0] += g->size[v];
        }
    }
    return PB_OK;
}

pb_status pbi_demand_prepare(pbi_demand *d)
{
    size_t n = d->g->node_count;
    pb_arena *a = &d->scratch;
    d->memory = d->g->fixed_size;
    d->resident = pb_arena_zero(a, n, sizeof *d->resident);
    d->pins = pb_arena_zero(a, n, sizeof *d->pins);
    d->existed = pb_arena_zero(a, n, sizeof *d->existed);
    d->waiting = pb_arena_zero(a, n, sizeof *d->waiting);
    d->seen = pb_arena_zero(a, n, sizeof *d->seen);
    d->uses = pb_arena_zero(a, n, sizeof *d->uses);
    d->open = pb_arena_zero(a, n, sizeof *d->open);
    d->alive = pb_arena_zero(a, n, sizeof *d->alive);
    d->placed = pb_arena_zero(a, n, sizeof *d->placed);
    d->parked = pb_arena_zero(a, n, sizeof *d->parked);
    d->left = pb_arena_zero(a, n, sizeof *d->left);
    d->requested = pb_arena_zero(a, n, sizeof *d->requested);
    d->stack = pb_arena_alloc(a, n + 1, sizeof *d->stack);
    d->to_retire = pb_arena_alloc(a, n + 1, sizeof *d->to_retire);
    bool tiers = d->game->kind == PB_GAME_TIERED && d->game->tier_count;
    d->tier = tiers ? pb_arena_zero(d->s.arena, n, sizeof *d->tier) : NULL; /* lives as long as the sequence */
    if (!d->resident || !d->pins || !d->existed || !d->waiting || !d->seen || !d->uses || !d->open || !d->alive ||
        !d->placed || !d->parked || !d->left || !d->requested || !d->stack || !d->to_retire || (tiers && !d->tier))
        return PB_ENOMEM;
    pb_status status = pbi_evict_init(&d->e, d->g, d->options->policy, d->options->seed, d->resident, &d->scratch);
    d->e.scorer = d->options->scorer;
    d->e.recipes = d->options->recipes && pb_game_recipes(d->game);
    if (status == PB_OK)
        status = pbi_comebacks_find(&d->back, d->g, d->e.recipes, &d->scratch);
    if (status != PB_OK)
        return status;
    d->held = pb_arena_zero(a, (size_t)d->g->edge_count + d->back.first[n], sizeof *d->held);
    return d->held ? count_readers(d) : PB_ENOMEM;
}
