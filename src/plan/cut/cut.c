/* cut.c -- see cut.h. */
#include "plan/cut/cut.h"

#include "base/context.h"

#include <string.h>

#define NOWHERE UINT32_MAX
#define MAX_WORK 0x1p52 /* limit for the sum of all scaled work */

static uint32_t needed_vertex(pb_node v) { return 2 * v; }
static uint32_t recomputed_vertex(pb_node v) { return 2 * v + 1; }

static bool given(const pb_graph *g, pb_node v) { return g->flags[v] & PB_NODE_GIVEN; }
static bool needed(const pb_graph *g, pb_node v) { return g->flags[v] & PB_NODE_NEEDED; }

/* Is it a needed value that is given, or computed before the split? By-products that only a recipe may read count. */
static bool in_front(const pbi_cutter *c, pb_node v)
{
    const pb_graph *g = c->game->graph;
    return given(g, v) ? needed(g, v) : c->place[v] < c->split;
}

/* What is recomputed to have the value v: itself, or the node that it is a by-product of. */
static pb_node maker_of(const pbi_cutter *c, pb_node v) { return c->by[v] ? v : pb_graph_maker(c->game->graph, v); }

/* How v is recomputed behind the split: v is a node, or a value with a recipe. */
static pb_way way_of(const pbi_cutter *c, pb_node v) { return pb_graph_way(c->game->graph, v, c->by[v]); }

/* Is it there from the start, and never comes back? */
static bool lasts(const pbi_cutter *c, pb_node v) { return given(c->game->graph, v) && !c->by[v]; }

/* May the value v be dropped in front, and come back? */
static bool may_repeat(const pbi_cutter *c, pb_node v)
{
    const pb_graph *g = c->game->graph;
    pb_node maker = pb_graph_maker(g, v);
    if (c->fixed[maker] || c->stuck[maker_of(c, v)])
        return false;
    return c->by[v] || (!(g->flags[maker] & (PB_NODE_GIVEN | PB_NODE_ONCE)) && !c->by[maker]);
}

/* ---- the split ---- */

static void find_places(pbi_cutter *c)
{
    const pb_graph *g = c->game->graph;
    memset(c->place, 0xff, g->node_count * sizeof *c->place);
    for (uint32_t i = 0; i < g->order_count; i++)
        if (needed(g, g->order[i]))
            c->place[g->order[i]] = i;
    for (pb_node v = 0; v < g->node_count && g->owner; v++)
        if (g->flags[v] & PB_NODE_BYPRODUCT)
            c->place[v] = c->place[g->owner[v]];
}

/* The place after which program order has most memory in use. */
static void find_split(pbi_cutter *c)
{
    const pb_graph *g = c->game->graph;
    uint32_t *left = c->stack; /* readers still to come */
    uint64_t held = 0, max = 0;
    memset(left, 0, g->node_count * sizeof *left);
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node y = g->order[i];
        for (uint32_t k = g->in_start[y]; k < g->in_start[y + 1] && needed(g, y); k++)
            left[g->in[k]]++;
    }
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node v = g->order[i];
        if (!needed(g, v))
            continue;
        held += g->size[v];
        for (uint32_t k = 0; (g->flags[v] & PB_NODE_HAS_PARTS) && k < g->part_start[v + 1] - g->part_start[v]; k++) {
            pb_node part = g->part[g->part_start[v] + k];
            held += left[part] ? g->size[part] : 0;
        }
        if (held + g->workspace[v] >= max) {
            max = held + g->workspace[v];
            c->split = i + 1;
        }
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = g->in[k];
            if (--left[u] == 0 && !(g->flags[u] & (PB_NODE_GIVEN | PB_NODE_KEEP)))
                held -= g->size[u];
        }
        held -= left[v] || (g->flags[v] & PB_NODE_KEEP) ? 0 : g->size[v];
    }
}

static void find_asked(pbi_cutter *c)
{
    const pb_graph *g = c->game->graph;
    for (pb_node v = 0; v < g->node_count; v++)
        c->asked[v] = in_front(c, v) && (g->flags[v] & PB_NODE_KEEP) != 0;
    for (uint32_t i = c->split; i < g->order_count; i++) {
        pb_node y = g->order[i];
        for (uint32_t k = g->in_start[y]; k < g->in_start[y + 1] && needed(g, y); k++)
            c->asked[g->in[k]] |= in_front(c, g->in[k]);
    }
}

/* ---- anchors ---- */

/* Anchors: a place in front of the split is crossed by this value alone, so all computations between that place and the
 * split need nothing else from before it. Values that cannot be recomputed are ignored: they are resident anyway. */
static void find_anchors(pbi_cutter *c)
{
    const pb_graph *g = c->game->graph;
    uint32_t *left = c->stack;             /* readers in front still to come */
    uint64_t sum = 0, count = 0, cost = 0; /* of the values that cross: if there is one, the sum identifies it */
    memset(left, 0, g->node_count * sizeof *left);
    for (uint32_t i = 0; i < c->split; i++) {
        pb_node y = g->order[i];
        for (uint32_t k = g->in_start[y]; k < g->in_start[y + 1] && needed(g, y); k++)
            left[g->in[k]]++;
    }
    for (uint32_t i = 0; i < c->split; i++) {
        pb_node y = g->order[i];
        if (!needed(g, y))
            continue;
        cost += g->cost[y];
        for (uint32_t k = g->in_start[y]; k < g->in_start[y + 1]; k++) {
            pb_node u = g->in[k], maker = pb_graph_maker(g, u);
            if (--left[u] == 0 && !(g->flags[maker] & (PB_NODE_GIVEN | PB_NODE_ONCE))) {
                sum -= u;
                count--;
            }
        }
        uint32_t parts = g->flags[y] & PB_NODE_HAS_PARTS ? g->part_start[y + 1] - g->part_start[y] : 0;
        for (uint32_t k = 0; k <= parts && !(g->flags[y] & PB_NODE_ONCE); k++) {
            pb_node u = k ? g->part[g->part_start[y] + k - 1] : y;
            sum += left[u] ? u : 0;
            count += left[u] != 0;
        }
        pb_node last = c->anchor_count ? c->anchor[c->anchor_count - 1] : PB_NO_NODE;
        if (count == 1 && sum != last) {
            c->anchor[c->anchor_count] = (pb_node)sum;
            c->anchor_cost[c->anchor_count++] = cost;
            cost = 0;
        }
    }
}

void pbi_cutter_anchor(pbi_cutter *c, uint32_t every)
{
    const pb_graph *g = c->game->graph;
    memset(c->fixed, 0, g->node_count);
    for (uint32_t i = 0; every && i < c->anchor_count; i += every) {
        uint32_t best = i;
        double value = -1;
        for (uint32_t k = i; k < i + every && k < c->anchor_count; k++) {
            double now = (double)c->anchor_cost[k] / ((double)g->size[c->anchor[k]] + 1);
            if (now > value) {
                value = now;
                best = k;
            }
        }
        c->fixed[pb_graph_maker(g, c->anchor[best])] = 1;
    }
}

/* ---- recipes ---- */

/* Can the recipe be used behind the split, whatever comes later? */
static bool is_usable(const pbi_cutter *c, const pb_recipe *r)
{
    const pb_graph *g = c->game->graph;
    for (uint32_t k = 0; k < r->in_count; k++)
        if (!in_front(c, r->in[k]) || (g->flags[r->in[k]] & PB_NODE_GIVEN_SLOW))
            return false;
    return true;
}

/* Must the node itself run for a by-product, whatever brings its value? */
static bool has_needed_parts(const pb_graph *g, pb_node v)
{
    bool any = false;
    if (g->flags[v] & PB_NODE_HAS_PARTS)
        for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
            any |= needed(g, g->part[k]);
    return any;
}

static void choose_recipes(pbi_cutter *c, pbi_cutter_recipes which)
{
    const pb_graph *g = c->game->graph;
    for (pb_node v = 0; v < g->node_count; v++) {
        uint32_t count = in_front(c, v) && !(g->flags[v] & PB_NODE_GIVEN_SLOW) ? pb_graph_recipes(g, v) : 0;
        bool repeats = !(g->flags[pb_graph_maker(g, v)] & (PB_NODE_GIVEN | PB_NODE_ONCE));
        if (repeats && (which == PBI_CUTTER_FEW_RECIPES || has_needed_parts(g, v)))
            continue;
        const pb_recipe *own = count ? &g->recipe[g->recipe_start[v]] : NULL, *best = NULL;
        for (uint32_t i = 0; i < count; i++)
            if (is_usable(c, &own[i]) && (!best || own[i].cost < best->cost)) {
                best = &own[i];
                c->by[v] = (uint8_t)(i + 1);
            }
    }
}

/* Values that come back from one another would never come back: one value of each cycle is kept. A walk over what
 * each needs, depth first; c->done: 1 on the stack, 2 finished. */
static void break_cycles(pbi_cutter *c)
{
    const pb_graph *g = c->game->graph;
    memset(c->done, 0, g->node_count);
    for (pb_node v = 0; v < g->node_count; v++) {
        uint32_t count = 0;
        if (in_front(c, v) && may_repeat(c, v) && !c->done[maker_of(c, v)])
            c->stack[count++] = maker_of(c, v);
        if (count) {
            c->next[c->stack[0]] = 0;
            c->done[c->stack[0]] = 1;
        }
        while (count) {
            pb_node y = c->stack[count - 1];
            pb_way way = way_of(c, y);
            bool open = c->next[y] < way.in_count && !c->stuck[y];
            pb_node u = open ? way.in[c->next[y]++] : PB_NO_NODE;
            pb_node m = open ? maker_of(c, u) : PB_NO_NODE;
            if (!open) {
                c->done[y] = 2;
                count--;
            } else if (may_repeat(c, u) && c->done[m] == 1) {
                c->stuck[y] = 1;
            } else if (may_repeat(c, u) && !c->done[m]) {
                c->done[m] = 1;
                c->next[m] = 0;
                c->stack[count++] = m;
            }
        }
    }
}

/* ---- the network ---- */

typedef struct wiring {
    pbi_cutter *c;
    uint32_t *fill; /* next slot of each vertex; NULL while counting */
} wiring;

static uint32_t pair(wiring *w, uint32_t u, uint32_t v, int64_t ahead)
{
    uint32_t e = pbi_flow_join(&w->c->flow, w->fill, u, v);
    if (w->fill)
        w->c->base[e] = ahead;
    return e;
}

static void wire(wiring *w)
{
    pbi_cutter *c = w->c;
    const pb_graph *g = c->game->graph;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (!in_front(c, v) || lasts(c, v))
            continue;
        pb_way way = way_of(c, v);
        c->keep_arc[v] = pair(w, needed_vertex(v), recomputed_vertex(maker_of(c, v)), 0);
        for (uint32_t k = 0; k < way.in_count; k++)
            pair(w, recomputed_vertex(v), needed_vertex(way.in[k]), PBI_FLOW_INF);
    }
}

static uint64_t count_arcs(const pbi_cutter *c)
{
    const pb_graph *g = c->game->graph;
    uint64_t count = 0;
    for (pb_node v = 0; v < g->node_count; v++)
        if (in_front(c, v) && !lasts(c, v))
            count += 2 + 2 * (uint64_t)way_of(c, v).in_count;
    return count;
}

static pb_status build(pbi_cutter *c)
{
    const pb_graph *g = c->game->graph;
    pb_arena *arena = c->arena;
    uint64_t arcs = count_arcs(c), vertices = 2 * (uint64_t)g->node_count;
    if (arcs >= UINT32_MAX || vertices >= UINT32_MAX)
        return pbi_fail(c->ctx, PB_ELIMIT, "cut takes graphs of at most 2^30 nodes and edges; use another strategy");
    c->base = pb_arena_zero(arena, (size_t)arcs, sizeof *c->base);
    if (!c->base || !pbi_flow_alloc(&c->flow, arena, (uint32_t)vertices, (uint32_t)arcs, g->node_count))
        return PB_ENOMEM;
    wiring w = {.c = c};
    wire(&w);
    for (uint32_t u = 0; u < vertices; u++)
        c->flow.start[u + 1] += c->flow.start[u];
    w.fill = c->flow.next; /* not in use yet */
    memcpy(w.fill, c->flow.start, (size_t)vertices * sizeof *w.fill);
    wire(&w);
    return pbi_poll(c->ctx);
}

pb_status pbi_cutter_init(pb_context *ctx, pbi_cutter *c, const pb_game *game, pb_arena *arena)
{
    const pb_graph *g = game->graph;
    size_t n = g->node_count;
    *c = (pbi_cutter){.ctx = ctx, .game = game, .arena = arena};
    c->by = pb_arena_zero(arena, n, 1);
    c->stuck = pb_arena_zero(arena, n, 1);
    c->place = pb_arena_alloc(arena, n, sizeof *c->place);
    c->keep_arc = pb_arena_zero(arena, n, sizeof *c->keep_arc);
    c->anchor = pb_arena_alloc(arena, g->order_count, sizeof *c->anchor);
    c->anchor_cost = pb_arena_alloc(arena, g->order_count, sizeof *c->anchor_cost);
    c->fixed = pb_arena_zero(arena, n, 1);
    c->asked = pb_arena_zero(arena, n, 1);
    c->kept = pb_arena_zero(arena, n, 1);
    c->done = pb_arena_zero(arena, n, 1);
    c->at_peak = pb_arena_zero(arena, n, 1);
    c->stack = pb_arena_alloc(arena, n, sizeof *c->stack);
    c->next = pb_arena_alloc(arena, n, sizeof *c->next);
    if (!c->by || !c->stuck || !c->place || !c->keep_arc || !c->anchor || !c->anchor_cost || !c->fixed || !c->asked ||
        !c->kept || !c->done || !c->at_peak || !c->stack || !c->next)
        return PB_ENOMEM;
    find_places(c);
    find_split(c);
    find_asked(c);
    find_anchors(c);
    if (c->split) {
        pb_node z = g->order[c->split - 1];
        c->at_peak[z] = 1;
        for (uint32_t k = g->in_start[z]; k < g->in_start[z + 1]; k++)
            c->at_peak[g->in[k]] = 1;
    }
    return PB_OK;
}

pb_status pbi_cutter_use(pbi_cutter *c, pbi_cutter_recipes which)
{
    const pb_graph *g = c->game->graph;
    double work = (double)g->needed_cost + 1;
    if (pb_game_recipes(c->game)) {
        choose_recipes(c, which);
        break_cycles(c);
    }
    for (pb_node v = 0; v < g->node_count; v++)
        work += c->by[v] ? (double)way_of(c, v).cost : 0;
    c->scale = MAX_WORK / work;
    return build(c);
}

/* ---- one price ---- */

static int64_t price_of(const pbi_cutter *c, pb_node v, double price, double tilt)
{
    const pb_graph *g = c->game->graph;
    if (c->at_peak[v])
        return 0;
    double early = c->place[v] == NOWHERE ? 1 : 1 - (double)c->place[v] / c->split;
    double all = price * c->scale * (double)g->size[v] * (1 + tilt * early);
    return all < 2 * MAX_WORK ? (int64_t)all : (int64_t)(2 * MAX_WORK);
}

static void set_prices(pbi_cutter *c, double price, double tilt)
{
    const pb_graph *g = c->game->graph;
    pbi_flow *f = &c->flow;
    pbi_flow_forget(f);
    memcpy(f->room, c->base, f->arc_count * sizeof *f->room);
    memset(f->drain, 0, f->vertex_count * sizeof *f->drain);
    f->root_count = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (!in_front(c, v))
            continue;
        int64_t keep = price_of(c, v, price, tilt);
        bool repeat = may_repeat(c, v);
        if (c->asked[v])
            f->root[f->root_count++] = needed_vertex(v);
        if (!lasts(c, v))
            f->room[c->keep_arc[v]] = repeat ? keep : 0;
        /* a value that is needed behind the split is kept at any price, so the price does not matter */
        if (!repeat && !c->asked[v])
            f->drain[needed_vertex(v)] = keep;
        if (repeat && maker_of(c, v) == v)
            f->drain[recomputed_vertex(v)] = (int64_t)((double)way_of(c, v).cost * c->scale);
    }
}

static bool comes_back(const pbi_cutter *c, pb_node v)
{
    return may_repeat(c, v) && pbi_flow_reached(&c->flow, recomputed_vertex(maker_of(c, v)));
}

pb_status pbi_cutter_run(pbi_cutter *c, double price, double tilt, bool *done)
{
    const pb_graph *g = c->game->graph;
    const pbi_flow *f = &c->flow;
    int64_t total = 0;
    set_prices(c, price, tilt);
    pbi_flow_end end = pbi_flow_run(c->ctx, &c->flow, UINT64_MAX, &total);
    *done = end == PBI_FLOW_FULL;
    if (end == PBI_FLOW_STOPPED)
        return PB_ECANCELLED;
    for (pb_node v = 0; v < g->node_count; v++)
        c->kept[v] = in_front(c, v) && (lasts(c, v) || (pbi_flow_reached(f, needed_vertex(v)) && !comes_back(c, v)));
    return pbi_poll(c->ctx);
}

/* Marks v as needed behind the split: kept if it must be, else the inputs of its producer are needed too. */
static void mark_needed(pbi_cutter *c, pb_node v, uint32_t *count)
{
    pb_node maker = maker_of(c, v);
    c->kept[v] = c->at_peak[v] || !may_repeat(c, v);
    if (c->kept[v] || c->done[maker])
        return;
    c->done[maker] = 1;
    c->stack[(*count)++] = maker;
}

void pbi_cutter_drop(pbi_cutter *c)
{
    const pb_graph *g = c->game->graph;
    uint32_t count = 0;
    memset(c->kept, 0, g->node_count);
    memset(c->done, 0, g->node_count); /* here it means: seen */
    for (pb_node v = 0; v < g->node_count; v++) {
        if (c->asked[v])
            mark_needed(c, v, &count);
        while (count) {
            pb_way way = way_of(c, c->stack[--count]);
            for (uint32_t k = 0; k < way.in_count; k++)
                mark_needed(c, way.in[k], &count);
        }
    }
}

/* ---- the computations ---- */

static bool is_resident(const pbi_cutter *c, pb_node v)
{
    bool behind = c->place[v] >= c->split && !c->by[v];
    return c->kept[v] || behind || c->done[maker_of(c, v)];
}

/* Recomputes v, after the inputs that it needs. */
static pb_status recompute(pbi_cutter *c, pb_node v, pbi_sequence *out)
{
    uint32_t count = 1;
    pb_status status = PB_OK;
    c->stack[0] = v;
    c->next[v] = 0;
    while (count && status == PB_OK) {
        pb_node y = c->stack[count - 1];
        pb_way way = way_of(c, y);
        uint32_t k = c->next[y];
        while (k < way.in_count && is_resident(c, way.in[k]))
            k++;
        c->next[y] = k;
        if (k < way.in_count) {
            pb_node m = maker_of(c, way.in[k]);
            if (count == c->game->graph->node_count)
                return pbi_fail(c->ctx, PB_EBUG, "cut lets values come back from one another");
            c->stack[count++] = m;
            c->next[m] = 0;
            continue;
        }
        c->done[y] = 1;
        count--;
        status = c->by[y] ? pbi_sequence_add_recipe(out, y, c->by[y]) : pbi_sequence_add(out, y);
    }
    return status;
}

pb_status pbi_cutter_replay(pbi_cutter *c, pbi_sequence *out)
{
    const pb_graph *g = c->game->graph;
    pb_status status = PB_OK;
    out->count = 0;
    c->front_events = SIZE_MAX;
    memset(c->done, 0, g->node_count);
    for (uint32_t i = 0; i < g->order_count && status == PB_OK; i++) {
        pb_node y = g->order[i];
        if (i == c->split)
            c->front_events = out->count;
        if (!needed(g, y))
            continue;
        for (uint32_t k = g->in_start[y]; i >= c->split && k < g->in_start[y + 1] && status == PB_OK; k++)
            if (!is_resident(c, g->in[k]))
                status = recompute(c, maker_of(c, g->in[k]), out);
        if (status == PB_OK)
            status = pbi_sequence_add(out, y);
        if ((i & 0xffff) == 0 && status == PB_OK)
            status = pbi_poll(c->ctx);
    }
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++)
        if ((g->flags[v] & PB_NODE_KEEP) && in_front(c, v) && !is_resident(c, v))
            status = recompute(c, maker_of(c, v), out);
    return status;
}
