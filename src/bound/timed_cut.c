/* timed_cut.c -- see timed_cut.h; docs/bounds.md has the proof.
 *
 * Let z start for the first time at t. Time before t is at least a * (computing) + (1 - a) * (copying out), time after
 * t at least b * (computing) + (1 - b) * (copying in). A value that is read after t and was made before is in memory at
 * t, or was copied out before and is copied in after, or is computed after. What is in memory fits; with a price l per
 * unit of memory, the cheapest choice of each value is a minimum cut: vertices "computed after" and "read after" of
 * each node. Every a, b and l gives a bound; they are improved one after the other. All prices are integers, rounded
 * down.
 */
#include "bound/timed_cut.h"

#include "base/checked.h"
#include "base/context.h"
#include "bound/cut_flow.h"

#include <math.h>
#include <string.h>

enum {
    SHARE = 1 << 14,
    MOST_HALVINGS = 11,
    PRICE_STEPS = 14,
    RAISE_STEPS = 60,
    MOMENTS = 400,
    CLOSER = 12,
    ROUNDS = 4
};

/* Prices of memory end here, so that the flow cannot exceed its limit by one of them alone. */
#define MOST_PRICE ((uint64_t)PBI_FLOW_INF / 2)

/* Computed after, fetched and so on: what is known about a node at one moment. */
enum { OTHER, BEFORE, AFTER, READ_NOW };

typedef struct cutter {
    pb_context *ctx;
    const pb_graph *g;
    const pb_timing *t;
    const uint64_t *duration;
    uint64_t cap; /* what values may take */
    uint32_t memory;
    bool links;                   /* values can leave memory and come back */
    uint64_t *out_time, *in_time; /* by node, shared out over the lanes of these directions */
    pbi_flow flow;
    uint32_t *from_root, *to_computed,
        *to_read;    /* arcs: root to computed; read to computed; by edge, computed to read */
    uint8_t *role;   /* by node, at the moment */
    bool *read;      /* by node: by z or what depends on it */
    uint64_t *price; /* by node: of being there when it is read */
    bool *kept;      /* by node: the price is that of memory */
    pb_node *stack;
    uint64_t effort;
    double guess;      /* the last best price of memory */
    int before, after; /* the last best shares, as numbers of share_of */
} cutter;

/* A moment and the weights: the price of memory is number / 2^shift, in 1 / SHARE of a time unit. */
typedef struct weights {
    uint32_t before, after; /* in 1 / SHARE */
    uint64_t number;
    uint32_t shift;
} weights;

typedef struct moment {
    pb_node z;
    uint64_t room; /* for values that are kept across it */
    uint64_t fixed_before, fixed_after;
} moment;

/* ---- setting up ---- */

static uint32_t computed(pb_node v) { return 1 + 2 * v; }
static uint32_t read_after(pb_node v) { return 2 + 2 * v; }

static void join_all(cutter *c, uint32_t *fill)
{
    const pb_graph *g = c->g;
    for (pb_node v = 0; v < g->node_count; v++) {
        uint32_t a = pbi_flow_join(&c->flow, fill, 0, computed(v)),
                 b = pbi_flow_join(&c->flow, fill, read_after(v), computed(v));
        if (fill) {
            c->from_root[v] = a;
            c->to_computed[v] = b;
        }
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            uint32_t e = pbi_flow_join(&c->flow, fill, computed(v), read_after(g->in[k]));
            if (fill)
                c->to_read[k] = e;
        }
    }
}

static bool build(cutter *c, pb_arena *arena)
{
    const pb_graph *g = c->g;
    size_t n = (size_t)g->node_count + 1;
    uint32_t vertices = 1 + 2 * g->node_count;
    uint32_t *fill = pb_arena_alloc(arena, (size_t)vertices + 1, sizeof *fill);
    c->from_root = pb_arena_alloc(arena, n, sizeof *c->from_root);
    c->to_computed = pb_arena_alloc(arena, n, sizeof *c->to_computed);
    c->to_read = pb_arena_alloc(arena, (size_t)g->edge_count + 1, sizeof *c->to_read);
    c->out_time = pb_arena_zero(arena, n, sizeof *c->out_time);
    c->in_time = pb_arena_zero(arena, n, sizeof *c->in_time);
    c->role = pb_arena_alloc(arena, n, 1);
    c->read = pb_arena_alloc(arena, n, sizeof *c->read);
    c->price = pb_arena_alloc(arena, n, sizeof *c->price);
    c->kept = pb_arena_alloc(arena, n, sizeof *c->kept);
    c->stack = pb_arena_alloc(arena, n, sizeof *c->stack);
    if (!pbi_flow_alloc(&c->flow, arena, vertices, 4 * g->node_count + 2 * g->edge_count, vertices) || !fill ||
        !c->from_root || !c->to_computed || !c->to_read || !c->out_time || !c->in_time || !c->role || !c->read ||
        !c->price || !c->kept || !c->stack)
        return false;
    join_all(c, NULL);
    for (uint32_t i = 0; i < vertices; i++)
        c->flow.start[i + 1] += c->flow.start[i];
    memcpy(fill, c->flow.start, vertices * sizeof *fill);
    join_all(c, fill);
    return true;
}

/* The shortest copy of each value from or to the memory, shared out over the lanes that could do it. */
static uint64_t copy_share(const cutter *c, bool out, uint64_t size)
{
    const pb_machine *m = c->t->machine;
    uint64_t least = UINT64_MAX;
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < m->link_count; i++) {
        bool ours = out ? m->links[i].from == c->memory : m->links[i].to == c->memory, known = false;
        uint64_t time = ours ? pb_machine_copy_time(m, &m->links[i], size) : UINT64_MAX;
        for (uint32_t k = 0; ours && k < i; k++)
            known |=
                c->t->lane[k] == c->t->lane[i] && (out ? m->links[k].from == c->memory : m->links[k].to == c->memory);
        lanes += ours && !known;
        least = time < least ? time : least;
    }
    return lanes ? least / lanes : UINT64_MAX;
}

static void set_copies(cutter *c)
{
    for (pb_node v = 0; v < c->g->node_count; v++) {
        uint32_t start = c->t->start[v];
        uint64_t out = copy_share(c, true, c->g->size[v]), in = copy_share(c, false, c->g->size[v]);
        bool outside = start != UINT32_MAX && start != c->memory;
        c->out_time[v] = outside ? 0 : out;
        c->in_time[v] = in;
        c->links |= in != UINT64_MAX && c->out_time[v] != UINT64_MAX;
    }
}

/* ---- one moment ---- */

/* Marks everything that is reached from z through inputs, or through readers. */
static void mark(cutter *c, pb_node z, bool inputs, uint8_t role)
{
    const pb_graph *g = c->g;
    const uint32_t *start = inputs ? g->in_start : g->out_start;
    const pb_node *next = inputs ? g->in : g->out;
    uint32_t depth = 0;
    c->stack[depth++] = z;
    while (depth) {
        pb_node v = c->stack[--depth];
        for (uint32_t k = start[v]; k < start[v + 1]; k++)
            if (c->role[next[k]] == OTHER && (g->flags[next[k]] & PB_NODE_NEEDED)) {
                c->role[next[k]] = role;
                c->stack[depth++] = next[k];
            }
    }
}

/* Room in addition to z, its workspace and its inputs; false if z does not fit. */
static bool find_room(cutter *c, moment *at)
{
    const pb_graph *g = c->g;
    pb_node z = at->z;
    uint64_t used = g->size[z] + g->workspace[z], saved = 0;
    for (uint32_t k = g->in_start[z]; k < g->in_start[z + 1]; k++)
        used += g->size[g->in[k]];
    for (uint32_t k = g->inplace_start ? g->inplace_start[z] : 0; g->inplace_start && k < g->inplace_start[z + 1];
         k++) {
        uint64_t both = g->size[g->inplace[k]] < g->size[z] ? g->size[g->inplace[k]] : g->size[z];
        saved = both > saved ? both : saved;
    }
    at->room = c->cap - (used - saved);
    return c->cap >= used - saved;
}

static bool set_moment(cutter *c, pb_node z, moment *at)
{
    const pb_graph *g = c->g;
    *at = (moment){.z = z};
    if (!find_room(c, at))
        return false;
    memset(c->role, OTHER, g->node_count);
    memset(c->read, 0, g->node_count * sizeof *c->read);
    c->role[z] = AFTER;
    mark(c, z, false, AFTER);
    mark(c, z, true, BEFORE);
    for (pb_node v = 0; v < g->node_count; v++) {
        if (!(g->flags[v] & PB_NODE_NEEDED))
            continue;
        uint64_t work = pb_graph_is_computed(g, v) ? c->duration[v] : 0;
        at->fixed_before += c->role[v] == BEFORE ? work : 0;
        at->fixed_after += c->role[v] == AFTER ? work : 0;
        for (uint32_t k = g->in_start[v]; c->role[v] == AFTER && k < g->in_start[v + 1]; k++)
            c->read[g->in[k]] = true;
    }
    for (uint32_t k = g->in_start[z]; k < g->in_start[z + 1]; k++)
        c->role[g->in[k]] = READ_NOW; /* in memory at the moment: it costs nothing to read it later */
    return true;
}

static uint64_t scaled(uint64_t share, uint64_t time) { return share * time; }

/* Rounded down, and at most MOST_PRICE. */
static uint64_t memory_price(const weights *w, uint64_t size)
{
    pb_u128 x = pbi_u128_product(w->number, size);
    uint64_t low = w->shift >= 64 ? x.high >> (w->shift - 64)
                   : w->shift     ? x.high << (64 - w->shift) | x.low >> w->shift
                                  : x.low;
    bool fits = w->shift >= 64 || (w->shift ? x.high >> w->shift == 0 : x.high == 0);
    return fits && low < MOST_PRICE ? low : MOST_PRICE;
}

/* The price of having v when it is read after the moment, if it is not computed after it. */
static void price_node(cutter *c, pb_node v, const weights *w)
{
    uint64_t memory = memory_price(w, c->g->size[v]), fetch = UINT64_MAX;
    if (c->out_time[v] != UINT64_MAX && c->in_time[v] != UINT64_MAX)
        fetch = scaled(SHARE - w->before, c->out_time[v]) + scaled(SHARE - w->after, c->in_time[v]);
    c->kept[v] = memory <= fetch;
    c->price[v] = memory < fetch ? memory : fetch;
}

/* Fills in the flow; returns what every choice pays. */
static uint64_t fill_flow(cutter *c, const moment *at, const weights *w)
{
    const pb_graph *g = c->g;
    pbi_flow *f = &c->flow;
    uint64_t all = scaled(w->before, at->fixed_before) + scaled(w->after, at->fixed_after);
    pbi_flow_forget(f);
    memset(c->kept, 0, g->node_count * sizeof *c->kept);
    memset(f->room, 0, f->arc_count * sizeof *f->room);
    memset(f->drain, 0, f->vertex_count * sizeof *f->drain);
    f->root[0] = 0;
    f->root_count = 1;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (!(g->flags[v] & PB_NODE_NEEDED) || c->role[v] == AFTER || c->role[v] == READ_NOW)
            continue;
        bool made = pb_graph_is_computed(g, v), again = made && !(c->role[v] == BEFORE && (g->flags[v] & PB_NODE_ONCE));
        uint64_t work = made ? c->duration[v] : 0, before = scaled(w->before, work), after = scaled(w->after, work);
        price_node(c, v, w);
        if (c->role[v] == BEFORE || !made) {
            f->drain[computed(v)] = again ? (int64_t)after : PBI_FLOW_INF;
        } else { /* before or after, but not neither */
            all += before < after ? before : after;
            f->room[c->from_root[v]] = before > after ? (int64_t)(before - after) : 0;
            f->drain[computed(v)] = after > before ? (int64_t)(after - before) : 0;
        }
        f->room[c->to_computed[v]] = (int64_t)c->price[v];
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            f->room[c->to_read[k]] = c->role[g->in[k]] == READ_NOW ? 0 : PBI_FLOW_INF;
        if (c->read[v])
            f->root[f->root_count++] = read_after(v);
    }
    return all;
}

/* The size of what the best choice keeps in memory. */
static double kept_size(const cutter *c)
{
    double size = 0;
    for (pb_node v = 0; v < c->g->node_count; v++)
        if (c->kept[v] && pbi_flow_reached(&c->flow, read_after(v)) && !pbi_flow_reached(&c->flow, computed(v)))
            size += (double)c->g->size[v];
    return size;
}

/* One bound on SHARE * makespan; `slope`: how it changes with the price of memory. False after a stop. */
static bool bound_at(cutter *c, const moment *at, const weights *w, uint64_t *bound, double *slope)
{
    int64_t total = 0;
    uint64_t room = memory_price(w, at->room) + 1, all;
    if (w->number == 0)
        room = 0;
    if (room > MOST_PRICE) { /* too little would be subtracted: this price is too high to prove anything */
        *bound = 0;
        *slope = -1;
        return true;
    }
    all = fill_flow(c, at, w);
    pbi_flow_end end = pbi_flow_run(c->ctx, &c->flow, c->effort, &total);
    if (end == PBI_FLOW_STOPPED || end == PBI_FLOW_HUGE || end == PBI_FLOW_UNLIMITED)
        return false;
    *bound = all + (uint64_t)total > room ? all + (uint64_t)total - room : 0;
    *slope = kept_size(c) - (double)at->room;
    return true;
}

static void set_price(weights *w, double price)
{
    int exponent;
    frexp(price, &exponent);
    int shift = 32 - exponent;
    shift = shift < 0 ? 0 : shift > 120 ? 120 : shift;
    w->shift = (uint32_t)shift;
    w->number = (uint64_t)ldexp(price, shift);
}

/* The best price of memory for these shares: the bound is concave in it. */
static bool best_price(cutter *c, const moment *at, weights *w, uint64_t *best)
{
    double low = 0, high = 0, low_value = 0, high_value = 0, low_slope = 0, high_slope = 0, slope;
    uint64_t value;
    *best = 0;
    set_price(w, 0);
    w->number = 0;
    if (!bound_at(c, at, w, &value, &slope))
        return false;
    *best = value;
    if (slope <= 0)
        return true;
    low_value = (double)value;
    low_slope = slope;
    double price = c->guess;
    for (int i = 0; i < RAISE_STEPS + PRICE_STEPS; i++) {
        set_price(w, price);
        if (!bound_at(c, at, w, &value, &slope))
            return i > 0;
        if (value > *best) {
            *best = value;
            c->guess = price;
        }
        if (slope > 0) {
            low = price, low_value = (double)value, low_slope = slope;
        } else {
            high = price, high_value = (double)value, high_slope = slope;
        }
        if (high == 0 && i < RAISE_STEPS && price < 1e18) {
            price *= 4;
            continue;
        }
        if (high == 0 || i > RAISE_STEPS)
            break;
        double cross = (high_value - low_value + low_slope * low - high_slope * high) / (low_slope - high_slope);
        if (!(cross > low * (1 + 1e-6)) || !(cross < high * (1 - 1e-6)))
            break;
        price = cross;
    }
    return true;
}

/* ---- the best shares, and the best moment ---- */

/* The best bound at a node so far, on SHARE * makespan. */
typedef struct found {
    uint64_t value;
    pb_node z;
    weights w;
} found;

static bool try_shares(cutter *c, const moment *at, uint32_t before, uint32_t after, found *best)
{
    weights w = {.before = before, .after = after};
    uint64_t value;
    if (!best_price(c, at, &w, &value))
        return false;
    if (value > best->value) {
        best->value = value;
        best->w = w;
    }
    return true;
}

/* A share close to 1 is changed by a factor of what it leaves for copies. */
static uint32_t nearer(uint32_t share, double factor)
{
    double rest = (SHARE - share) * factor;
    return rest < 1 ? SHARE - 1 : rest > SHARE ? 0 : SHARE - (uint32_t)lround(rest);
}

/* Improves the shares in turn, by ever smaller factors. */
static bool best_shares(cutter *c, const moment *at, found *best)
{
    static const double factors[] = {1.6, 1.25, 1.1, 1.04};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        for (int turn = 0, idle = 0; turn < 48 && idle < 6; turn++, idle++) {
            uint64_t before = best->value;
            double factor = turn & 1 ? factors[i] : 1 / factors[i];
            uint32_t a = best->w.before, b = best->w.after;
            uint32_t first = turn % 3 != 1 ? nearer(a, factor) : a, last = turn % 3 != 0 ? nearer(b, factor) : b;
            if (!try_shares(c, at, first, last, best))
                return false;
            if (best->value > before)
                idle = -1;
        }
    return true;
}

/* Shares to begin with: 0, then 1 - 2^-k, then 1. */
static uint32_t share_of(int k) { return k > MOST_HALVINGS ? SHARE : SHARE - (SHARE >> k); }

/* Climbs in one share while that helps; *best keeps the shares that gave it. */
static bool climb(cutter *c, const moment *at, bool first, found *best, bool *better)
{
    int *own = first ? &c->before : &c->after;
    for (int way = -1; way <= 1; way += 2)
        for (int k = *own + way; k >= 0 && k <= MOST_HALVINGS + 1; k += way) {
            uint64_t value = best->value;
            if (!try_shares(c, at, share_of(first ? k : c->before), share_of(first ? c->after : k), best))
                return false;
            if (best->value <= value)
                break;
            *own = k;
            *better = true;
        }
    return true;
}

/* The bound at one node, and among the best so far. The best shares of neighboring moments are alike. */
static bool look_at(cutter *c, pb_node z, found list[CLOSER])
{
    moment at;
    found one = {.z = z};
    bool better = true;
    if (!set_moment(c, z, &at))
        return true;
    if (!c->links && !try_shares(c, &at, SHARE, SHARE, &one))
        return false;
    if (c->links && !try_shares(c, &at, share_of(c->before), share_of(c->after), &one))
        return false;
    for (int turn = 0; turn < ROUNDS && c->links && better; turn++) {
        better = false;
        if (!climb(c, &at, true, &one, &better) || !climb(c, &at, false, &one, &better))
            return false;
    }
    for (int i = 0; i < CLOSER; i++)
        if (one.value > list[i].value) {
            found other = list[i];
            list[i] = one;
            one = other;
        }
    return true;
}

static bool search(cutter *c, found list[CLOSER])
{
    const pb_graph *g = c->g;
    uint32_t step = g->order_count / MOMENTS + 1;
    for (uint32_t i = 0; i < g->order_count; i += step)
        if ((g->flags[g->order[i]] & PB_NODE_NEEDED) && !look_at(c, g->order[i], list))
            return false;
    for (int i = 0; i < CLOSER && list[i].value; i++) {
        moment at;
        if (set_moment(c, list[i].z, &at) && !best_shares(c, &at, &list[i]))
            return false;
    }
    return true;
}

/* Whether sums of scaled times stay far below the limit of the flow. */
static bool in_range(const cutter *c)
{
    double sum = 0;
    for (pb_node v = 0; v < c->g->node_count; v++) {
        sum += pb_graph_is_computed(c->g, v) && c->duration[v] != PB_NO_TIME ? (double)c->duration[v] : 0;
        if (c->out_time[v] != UINT64_MAX && c->in_time[v] != UINT64_MAX)
            sum += (double)c->out_time[v] + (double)c->in_time[v];
    }
    return sum * SHARE < (double)PBI_FLOW_INF / 16;
}

static bool applies(const pb_game *game)
{
    const pb_graph *g = game->graph;
    const pb_timing *t = game->timing;
    bool fine = t->machine->processor_count == 1 && !t->recipe_count && g->node_count < UINT32_MAX / 8 &&
                g->edge_count < UINT32_MAX / 4;
    for (pb_node v = 0; v < g->node_count && fine; v++)
        if (g->flags[v] & PB_NODE_NEEDED)
            fine = !(g->flags[v] & PB_NODE_BYPRODUCT) && (!pb_graph_is_computed(g, v) || t->duration[v] != PB_NO_TIME);
    return fine;
}

pb_status pbi_timed_cut(pb_context *ctx, const pb_game *game, uint64_t effort, uint64_t *makespan, pb_node *at)
{
    if (!applies(game))
        return PB_OK;
    const pb_timing *t = game->timing;
    cutter c = {.ctx = ctx,
                .g = game->graph,
                .t = t,
                .duration = t->duration,
                .effort = effort,
                .guess = 1,
                .before = 4,
                .after = 4};
    c.memory = t->machine->processors[0].memory;
    uint64_t cap = c.memory ? t->machine->memories[c.memory].cap : game->cap;
    if (cap == PB_UNLIMITED || cap < t->fixed[c.memory])
        return PB_OK;
    c.cap = cap - t->fixed[c.memory];
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    found list[CLOSER] = {{.value = 0}};
    pb_status status = build(&c, &scratch) ? PB_OK : PB_ENOMEM;
    if (status == PB_OK) {
        set_copies(&c);
        if (in_range(&c))
            search(&c, list); /* what it has found until a stop is proved */
    }
    pb_arena_release(&scratch);
    for (int i = 0; i < CLOSER; i++)
        if ((list[i].value + SHARE - 1) / SHARE > *makespan) {
            *makespan = (list[i].value + SHARE - 1) / SHARE;
            *at = list[i].z;
        }
    return status;
}
