/* cut_network.c -- see cut_network.h. */
#include "bound/cut_network.h"

#include "base/checked.h"
#include "base/context.h"
#include "game/price.h"

#include <string.h>

/* A node that may be computed on either side of z; z or its ancestor; its descendant. */
enum { APART, BEFORE, AFTER };
enum { SCALED_BITS = 58, LINKED_BITS = 44 }; /* tolls of 2^13 values are added up */

static uint32_t there(pb_node v) { return 3 * v; }
static uint32_t again(pb_node v) { return 3 * v + 1; }
static uint32_t fresh(pb_node v) { return 3 * v + 2; }
static uint32_t link_root(const pbi_cut_network *net, pb_node v) { return 3 * net->game->graph->node_count + v; }

/* ---- building ---- */

static bool needed(const pb_graph *g, pb_node v) { return g->flags[v] & PB_NODE_NEEDED; }
static bool computed(const pb_graph *g, pb_node v) { return needed(g, v) && pb_graph_is_computed(g, v); }
static bool given(const pb_graph *g, pb_node v) { return g->flags[v] & PB_NODE_GIVEN; }

typedef struct wiring {
    pbi_cut_network *net;
    uint32_t *fill; /* next slot of each vertex; NULL while counting */
} wiring;

/* The pair u -> v with room `ahead`, v -> u with room `back`; returns the first one's index in the second pass. */
static uint32_t pair(wiring *w, uint32_t u, uint32_t v, int64_t ahead, int64_t back)
{
    uint32_t e = pbi_flow_join(&w->net->flow, w->fill, u, v);
    if (w->fill) {
        w->net->base[e] = ahead;
        w->net->base[w->net->flow.twin[e]] = back;
    }
    return e;
}

static void wire(wiring *w)
{
    pbi_cut_network *net = w->net;
    const pb_graph *g = net->game->graph;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (net->link_arc && needed(g, v))
            net->link_arc[v] = pair(w, link_root(net, v), there(v), 0, 0);
        if (!needed(g, v) || given(g, v))
            continue;
        net->keep_arc[v] = pair(w, there(v), again(pb_graph_maker(g, v)), 0, PBI_FLOW_INF);
        if (!computed(g, v))
            continue;
        net->work_arc[v] = pair(w, again(v), fresh(v), 0, PBI_FLOW_INF);
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = g->in[k];
            pair(w, again(v), there(u), PBI_FLOW_INF, 0);
            if (!given(g, u))
                pair(w, fresh(pb_graph_maker(g, u)), fresh(v), PBI_FLOW_INF, 0);
        }
    }
}

/* Work is scaled up as far as sums allow, because the prices of memory are whole numbers: they are then more exact.
 * It is scaled down only if the costs themselves are too large; rounding them down weakens the bound but keeps it
 * valid. */
static int scale_of(uint64_t total, int most)
{
    int bits = 0;
    while (bits < 64 && total >> bits)
        bits++;
    return most - bits;
}

static int64_t scaled(const pbi_cut_network *net, uint64_t work)
{
    return net->shift < 0 ? (int64_t)(work >> -net->shift) : (int64_t)(work << net->shift);
}

/* The least cost of a recipe of x; UINT64_MAX: it has none. */
static uint64_t least_recipe(const pb_game *game, pb_node x)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t by = pb_game_recipes(game) ? pb_graph_recipes(game->graph, x) : 0; by > 0; by--) {
        uint64_t cost = pb_graph_way(game->graph, x, by).cost;
        least = cost < least ? cost : least;
    }
    return least;
}

/* The minimum cost of having x again without keeping it or running its maker: a recipe or, if there is slow memory, a
 * store and a load. UINT64_MAX: not possible. */
static uint64_t least_return(const pb_game *game, pb_node x)
{
    uint64_t least = least_recipe(game, x), size = game->graph->size[x];
    if (game->kind != PB_GAME_TIERED)
        return least;
    if (game->graph->flags[x] & PB_NODE_GIVEN_SLOW)
        return 0; /* its one load, or a recipe instead, may be this one */
    for (uint32_t t = 0; t < game->tier_count; t++) {
        const pb_tier *tier = &game->tiers[t];
        uint64_t both = pbi_add_saturated(pbi_store_price(tier, size), pbi_load_price(tier, size));
        least = both < least ? both : least;
    }
    return least;
}

static int64_t return_price(const pbi_cut_network *net, pb_node x)
{
    uint64_t least = least_return(net->game, x);
    return least == UINT64_MAX ? PBI_FLOW_INF : scaled(net, least);
}

/* Do labellings pay for more than computations? */
static bool has_returns(const pb_game *game) { return game->kind == PB_GAME_TIERED || pb_game_recipes(game); }

/* The total of work and io that a labelling can need. */
static uint64_t total_price(const pb_game *game)
{
    uint64_t total = game->graph->needed_cost;
    for (pb_node v = 0; v < game->graph->node_count && has_returns(game); v++) {
        uint64_t price = needed(game->graph, v) ? least_return(game, v) : 0;
        total = pbi_add_saturated(total, price == UINT64_MAX ? 0 : price);
    }
    return total;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void scale_work(pbi_cut_network *net)
{
    const pb_graph *g = net->game->graph;
    uint64_t unit = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (!computed(g, v))
            continue;
        bool once = g->flags[v] & PB_NODE_ONCE;
        net->work[v] = once ? PBI_FLOW_INF : scaled(net, g->cost[v]);
        net->total_work += once ? 0 : net->work[v];
        unit = once ? unit : common_divisor(unit, g->cost[v]);
    }
    /* Prices of loads and recipes are not multiples of the costs' divisor, and are not included in the sum. */
    if (has_returns(net->game)) {
        unit = 1;
        net->total_work = PBI_FLOW_INF;
    }
    net->unit = net->shift < 0 ? 1 : unit ? scaled(net, unit) : INT64_C(1) << net->shift;
}

static bool alloc(pbi_cut_network *net, pb_arena *arena, uint32_t vertices, uint32_t arcs, size_t roots)
{
    size_t n = net->game->graph->node_count;
    net->keep_arc = pb_arena_zero(arena, n, sizeof *net->keep_arc);
    net->work_arc = pb_arena_zero(arena, n, sizeof *net->work_arc);
    net->base = pb_arena_zero(arena, arcs, sizeof *net->base);
    net->work = pb_arena_zero(arena, n, sizeof *net->work);
    net->settled = pb_arena_zero(arena, n, sizeof *net->settled);
    net->side = pb_arena_zero(arena, n, sizeof *net->side);
    net->within = pb_arena_zero(arena, n, sizeof *net->within);
    net->stack = pb_arena_zero(arena, n, sizeof *net->stack);
    return net->keep_arc && net->work_arc && net->base && net->work && net->settled && net->side && net->within &&
           net->stack && pbi_flow_alloc(&net->flow, arena, vertices, arcs, (uint32_t)roots);
}

static bool alloc_links(pbi_cut_network *net, pb_arena *arena)
{
    size_t n = net->game->graph->node_count;
    net->link_arc = pb_arena_zero(arena, n, sizeof *net->link_arc);
    net->toll = pb_arena_zero(arena, n, sizeof *net->toll);
    net->bounty = pb_arena_zero(arena, n, sizeof *net->bounty);
    return net->link_arc && net->toll && net->bounty;
}

static pb_status build(pb_context *ctx, pbi_cut_network *net, pb_arena *arena, const pb_game *game, bool linked)
{
    const pb_graph *g = game->graph;
    uint64_t arcs = 4 * ((uint64_t)g->node_count + g->edge_count), vertices = 3 * (uint64_t)g->node_count;
    *net = (pbi_cut_network){
        .game = game, .z = PB_NO_NODE, .until = PB_NO_NODE, .bits = linked ? LINKED_BITS : SCALED_BITS};
    net->shift = scale_of(total_price(game), net->bits);
    vertices += linked ? g->node_count : 0;
    arcs += linked ? 2 * (uint64_t)g->node_count : 0;
    if (arcs >= UINT32_MAX ||
        !alloc(net, arena, (uint32_t)vertices, (uint32_t)arcs, (linked ? 3 : 1) * (size_t)g->node_count) ||
        (linked && !alloc_links(net, arena)))
        return PB_ENOMEM;
    wiring w = {.net = net};
    wire(&w);
    for (uint32_t u = 0; u < net->flow.vertex_count; u++)
        net->flow.start[u + 1] += net->flow.start[u];
    net->flow.arc_count = net->flow.start[vertices];
    w.fill = net->flow.next; /* not in use yet */
    memcpy(w.fill, net->flow.start, (size_t)vertices * sizeof *w.fill);
    wire(&w);
    scale_work(net);
    return pbi_poll(ctx);
}

pb_status pbi_cut_network_init(pb_context *ctx, pbi_cut_network *net, pb_arena *arena, const pb_game *game)
{
    return build(ctx, net, arena, game, false);
}

pb_status pbi_cut_network_init_linked(pb_context *ctx, pbi_cut_network *net, pb_arena *arena, const pb_game *game)
{
    return build(ctx, net, arena, game, true);
}

/* ---- for z ---- */

/* Marks z and the nodes that it depends on. */
static void mark_before(pbi_cut_network *net)
{
    const pb_graph *g = net->game->graph;
    uint32_t count = 0;
    net->side[net->z] = BEFORE;
    net->stack[count++] = net->z;
    while (count) {
        pb_node v = net->stack[--count];
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = pb_graph_maker(g, g->in[k]);
            if (given(g, u) || net->side[u] == BEFORE)
                continue;
            net->side[u] = BEFORE;
            net->stack[count++] = u;
        }
    }
}

static void push_readers(pbi_cut_network *net, pb_node value, uint32_t *count)
{
    const pb_graph *g = net->game->graph;
    for (uint32_t k = g->out_start[value]; k < g->out_start[value + 1]; k++) {
        pb_node y = g->out[k];
        if (!computed(g, y) || net->side[y] == AFTER)
            continue;
        net->side[y] = AFTER;
        net->stack[(*count)++] = y;
    }
}

static void push_all_readers(pbi_cut_network *net, pb_node v, uint32_t *count)
{
    const pb_graph *g = net->game->graph;
    push_readers(net, v, count);
    if (g->part_start)
        for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
            push_readers(net, g->part[k], count);
}

/* Marks the nodes that depend on z. */
static void mark_after(pbi_cut_network *net)
{
    uint32_t count = 0;
    push_all_readers(net, net->z, &count);
    while (count)
        push_all_readers(net, net->stack[--count], &count);
}

/* Marks `until` and the nodes that it depends on. The others that z does not depend on may stay uncomputed, or be
 * computed without use: as if they came after z and needed nothing. */
static void mark_within(pbi_cut_network *net)
{
    const pb_graph *g = net->game->graph;
    uint32_t count = 0;
    memset(net->within, 0, g->node_count);
    net->within[net->until] = 1;
    net->stack[count++] = net->until;
    while (count) {
        pb_node v = net->stack[--count];
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = pb_graph_maker(g, g->in[k]);
            if (given(g, u) || net->within[u])
                continue;
            net->within[u] = 1;
            net->stack[count++] = u;
        }
    }
    for (pb_node v = 0; v < g->node_count; v++)
        if (computed(g, v) && !net->within[v])
            net->side[v] = AFTER;
}

/* Whether the value is needed after z in every schedule: it is final, or a node that depends on z reads it. */
static bool is_needed(const pbi_cut_network *net, pb_node x)
{
    const pb_graph *g = net->game->graph;
    bool all = net->until == PB_NO_NODE;
    if (all && (g->flags[x] & PB_NODE_KEEP))
        return true;
    for (uint32_t k = g->out_start[x]; k < g->out_start[x + 1]; k++)
        if (net->side[g->out[k]] == AFTER && (all || net->within[g->out[k]]))
            return true;
    return false;
}

/* z itself and its inputs are resident, and paid for. */
static void fix_operands(pbi_cut_network *net)
{
    const pb_game *game = net->game;
    const pb_graph *g = game->graph;
    pb_node z = net->z;
    uint64_t used = g->fixed_size + g->size[z] + g->workspace[z];
    net->saved = 0;
    memset(net->settled, PBI_CUT_OPEN, g->node_count);
    net->settled[z] = PBI_CUT_HELD;
    for (uint32_t k = g->in_start[z]; k < g->in_start[z + 1]; k++) {
        net->settled[g->in[k]] = PBI_CUT_HELD;
        used += g->size[g->in[k]];
    }
    if (g->inplace_start)
        for (uint32_t k = g->inplace_start[z]; k < g->inplace_start[z + 1]; k++) {
            uint64_t size = g->size[g->inplace[k]] < g->size[z] ? g->size[g->inplace[k]] : g->size[z];
            net->saved = size > net->saved ? size : net->saved;
        }
    used -= net->saved;
    net->fits = used <= game->cap;
    net->free_size = net->fits ? game->cap - used : 0;
    for (pb_node v = 0; v < g->node_count; v++)
        if (net->settled[v] == PBI_CUT_OPEN && g->size[v] > net->free_size)
            net->settled[v] = PBI_CUT_GONE;
}

void pbi_cut_network_at(pbi_cut_network *net, pb_node z)
{
    const pb_graph *g = net->game->graph;
    pbi_flow *f = &net->flow;
    net->z = z;
    fix_operands(net);
    memset(net->side, APART, g->node_count);
    mark_before(net);
    mark_after(net);
    if (net->until != PB_NO_NODE)
        mark_within(net);
    memset(f->level, 0, f->vertex_count * sizeof *f->level);
    memset(f->drain, 0, f->vertex_count * sizeof *f->drain);
    f->queue_count = f->root_count = 0;
    net->required_size = 0;
    f->work += f->arc_count;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (!needed(g, v))
            continue;
        pb_node maker = pb_graph_maker(g, v);
        if (computed(g, v) && net->side[v] == BEFORE)
            f->drain[fresh(v)] = PBI_FLOW_INF;
        if (!given(g, v) && net->side[maker] == AFTER)
            f->level[there(v)] = f->level[again(maker)] = f->level[fresh(maker)] = PBI_FLOW_SHUT;
        else if (is_needed(net, v) && v != z) {
            f->root[f->root_count++] = there(v);
            net->required_size += net->settled[v] == PBI_CUT_HELD ? 0 : g->size[v];
        }
        if (net->link_arc)
            f->root[f->root_count++] = link_root(net, v);
    }
}

bool pbi_cut_network_after(const pbi_cut_network *net, pb_node v) { return net->side[v] == AFTER; }

bool pbi_cut_network_before(const pbi_cut_network *net, pb_node v) { return v != net->z && net->side[v] == BEFORE; }

void pbi_cut_network_mark_needed(pbi_cut_network *net, uint8_t *marks)
{
    const pb_graph *g = net->game->graph;
    uint32_t count = 0;
    for (pb_node x = 0; x < g->node_count; x++) {
        pb_node y = pb_graph_maker(g, x);
        marks[x] =
            needed(g, x) && (given(g, x) || net->side[y] != AFTER) && (is_needed(net, x) || net->side[y] == APART);
        if (marks[x])
            net->stack[count++] = x;
    }
    while (count) {
        pb_node y = pb_graph_maker(g, net->stack[--count]);
        if (given(g, y))
            continue;
        for (uint32_t k = g->in_start[y]; k < g->in_start[y + 1]; k++)
            if (!marks[g->in[k]]) {
                marks[g->in[k]] = 1;
                net->stack[count++] = g->in[k];
            }
    }
}

bool pbi_cut_network_chooses(const pbi_cut_network *net, pb_node x)
{
    const pb_graph *g = net->game->graph;
    return needed(g, x) && net->settled[x] != PBI_CUT_HELD && (given(g, x) || net->side[pb_graph_maker(g, x)] != AFTER);
}

void pbi_cut_network_require(pbi_cut_network *net, pb_node x) { net->flow.root[net->flow.root_count++] = there(x); }

bool pbi_cut_network_there(const pbi_cut_network *net, pb_node x) { return pbi_flow_reached(&net->flow, there(x)); }

/* The minimum price of having x after z without its maker. */
static int64_t keep_price(const pbi_cut_network *net, pb_node x, pbi_rate rate)
{
    if (net->settled[x] == PBI_CUT_HELD)
        return 0;
    int64_t back = return_price(net, x);
    if (net->settled[x] == PBI_CUT_GONE)
        return back;
    int64_t keep = pbi_rate_times(rate, net->game->graph->size[x], false), most = INT64_C(1) << net->bits;
    keep = keep < most ? keep : most;
    keep += net->toll ? net->toll[x] : 0;
    return keep < back ? keep : back;
}

void pbi_cut_network_price(pbi_cut_network *net, pbi_rate rate)
{
    const pb_graph *g = net->game->graph;
    pbi_flow *f = &net->flow;
    memcpy(f->room, net->base, f->arc_count * sizeof *f->room);
    f->work += f->arc_count / 4;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (!needed(g, v))
            continue;
        if (net->link_arc)
            f->room[net->link_arc[v]] = net->bounty[v];
        if (given(g, v)) {
            f->drain[there(v)] = keep_price(net, v, rate);
            continue;
        }
        f->room[net->keep_arc[v]] = keep_price(net, v, rate);
        if (computed(g, v))
            f->room[net->work_arc[v]] = net->work[v];
    }
}

void pbi_cut_network_weigh(pbi_cut_network *net, unsigned size_shift)
{
    const pb_graph *g = net->game->graph;
    pbi_flow *f = &net->flow;
    memcpy(f->room, net->base, f->arc_count * sizeof *f->room);
    for (pb_node v = 0; v < g->node_count; v++) {
        bool free = net->settled[v] == PBI_CUT_HELD || least_recipe(net->game, v) != UINT64_MAX;
        int64_t size = free ? 0 : (int64_t)(g->size[v] >> size_shift);
        if (!needed(g, v))
            continue;
        if (given(g, v)) {
            f->drain[there(v)] = size;
            continue;
        }
        f->room[net->keep_arc[v]] = size;
        if (computed(g, v))
            f->room[net->work_arc[v]] = g->flags[v] & PB_NODE_ONCE ? PBI_FLOW_INF : 0;
    }
}

void pbi_cut_network_raise(pbi_cut_network *net, pbi_rate from, pbi_rate to)
{
    const pb_graph *g = net->game->graph;
    pbi_flow *f = &net->flow;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (!needed(g, v) || net->settled[v] != PBI_CUT_OPEN)
            continue;
        int64_t more = keep_price(net, v, to) - keep_price(net, v, from);
        if (given(g, v))
            f->drain[there(v)] += more;
        else
            f->room[net->keep_arc[v]] += more;
    }
}

void pbi_cut_network_read(const pbi_cut_network *net, pbi_rate rate, pbi_cut *cut, uint8_t *kept)
{
    const pb_graph *g = net->game->graph;
    const pbi_flow *f = &net->flow;
    cut->work = 0;
    cut->size = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        bool keeps = false;
        if (needed(g, v) && net->settled[v] != PBI_CUT_HELD && pbi_flow_reached(f, there(v)) &&
            (given(g, v) || !pbi_flow_reached(f, again(pb_graph_maker(g, v))))) {
            int64_t back = return_price(net, v);
            keeps = net->settled[v] == PBI_CUT_OPEN && pbi_rate_times(rate, g->size[v], false) <= back;
            cut->size += keeps ? g->size[v] : 0;
            cut->work += keeps ? 0 : back;
        }
        if (cut->work > PBI_FLOW_INF) /* returns that are far too expensive */
            cut->work = PBI_FLOW_INF;
        if (computed(g, v) && pbi_flow_reached(f, again(v)) && !pbi_flow_reached(f, fresh(v)))
            cut->work += net->work[v];
        kept[v] = keeps;
    }
}

int64_t pbi_cut_network_round(const pbi_cut_network *net, int64_t scaled)
{
    int64_t rest = scaled > 0 ? scaled % net->unit : 0;
    return rest ? scaled + (net->unit - rest) : scaled;
}

uint64_t pbi_cut_network_work(const pbi_cut_network *net, int64_t scaled)
{
    if (scaled <= 0)
        return 0;
    if (net->shift < 0)
        return (uint64_t)scaled << -net->shift;
    uint64_t unit = UINT64_C(1) << net->shift;
    return ((uint64_t)scaled + unit - 1) >> net->shift;
}
