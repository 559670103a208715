/* method_timeline.c -- see method_timeline.h. */
#include "plan/method_timeline.h"

#include "base/arena.h"

#include <string.h>

enum { BLOCK = 64 };

/* Memory is counted in units so large that a block's sums stay in 32 bits. */
#define MOST_UNITS ((uint64_t)1 << 24)
#define ABSENT (INT32_C(1) << 28)     /* taken from slots without a computation: never over the cap */
#define NOTHING (-(INT32_C(1) << 30)) /* below any memory */

#if defined(__x86_64__) && defined(__GNUC__)
#define WIDE_LANES __attribute__((target_clones("avx2", "default")))
#else
#define WIDE_LANES
#endif

/* ---- memory over slots ---- */

static int32_t above(int32_t x) { return x > 0 ? x : 0; }

/* Adds to the slots of one block; returns the change of excess. */
WIDE_LANES static int32_t add_here(int32_t *memory, uint32_t n, int32_t add, int32_t room, int32_t *highest)
{
    int32_t change = 0, top = *highest;
    for (uint32_t i = 0; i < n; i++) {
        int32_t was = memory[i], now = was + add;
        change += above(now - room) - above(was - room);
        top = now > top ? now : top;
        memory[i] = now;
    }
    *highest = top;
    return change;
}

/* One slot. */
static void add_at(pbi_timeline *t, uint32_t slot, int32_t add)
{
    uint32_t b = slot / BLOCK;
    int32_t was = t->memory[slot], now = was + add, room = t->cap - t->shift[b];
    t->memory[slot] = now;
    t->excess += (uint64_t)(int64_t)(above(now - room) - above(was - room));
    t->highest[b] = now > t->highest[b] ? now : t->highest[b];
}

/* Adds to slots from .. to, both included. */
static void add_range(pbi_timeline *t, uint32_t from, uint32_t to, int32_t add)
{
    if (from > to || !add)
        return;
    for (uint32_t b = from / BLOCK, end = to / BLOCK; b <= end; b++) {
        uint32_t first = b * BLOCK, last = first + BLOCK - 1;
        int32_t room = t->cap - t->shift[b];
        if (from > first || to < last) {
            uint32_t low = from > first ? from : first, high = to < last ? to : last;
            t->excess += (uint64_t)(int64_t)add_here(t->memory + low, high - low + 1, add, room, &t->highest[b]);
        } else if (t->highest[b] + above(add) <= room) {
            t->shift[b] += add;
        } else {
            t->highest[b] = NOTHING; /* found anew */
            t->excess += (uint64_t)(int64_t)add_here(t->memory + first, BLOCK, add, room, &t->highest[b]);
        }
    }
}

static int32_t memory_at(const pbi_timeline *t, uint32_t slot) { return t->memory[slot] + t->shift[slot / BLOCK]; }

static uint64_t excess_at(const pbi_timeline *t, uint32_t slot) { return (uint64_t)above(memory_at(t, slot) - t->cap); }

static void occupy(pbi_timeline *t, uint32_t slot, pb_node v)
{
    t->event[slot] = v;
    t->memory[slot] += ABSENT;
    t->excess += excess_at(t, slot);
    if (t->memory[slot] > t->highest[slot / BLOCK])
        t->highest[slot / BLOCK] = t->memory[slot];
    t->index[slot] = t->filled;
    t->where[t->filled++] = slot;
}

static void vacate(pbi_timeline *t, uint32_t slot)
{
    t->excess -= excess_at(t, slot);
    t->event[slot] = PBI_EMPTY;
    t->memory[slot] -= ABSENT;
    uint32_t moved = t->where[--t->filled];
    t->where[t->index[slot]] = moved;
    t->index[moved] = t->index[slot];
}

/* ---- copies of values ---- */

static uint32_t copies_before(const pbi_copies *c, uint32_t slot)
{
    uint32_t i = c->count;
    while (i > 0 && c->slot[i - 1] >= slot)
        i--;
    return i;
}

uint32_t pbi_timeline_copy(const pbi_timeline *t, pb_node v, uint32_t slot)
{
    uint32_t before = copies_before(&t->copy[pb_graph_maker(t->g, v)], slot);
    return before ? before - 1 : PBI_EMPTY;
}

/* The last slot between `from` and `to`, both excluded, that reads v; `otherwise` if there is none. */
static uint32_t last_read(const pbi_timeline *t, pb_node v, uint32_t from, uint32_t to, uint32_t otherwise)
{
    uint32_t last = from;
    for (uint32_t k = t->g->out_start[v]; k < t->g->out_start[v + 1]; k++) {
        const pbi_copies *c = &t->copy[t->g->out[k]];
        uint32_t before = copies_before(c, to);
        if (before && c->slot[before - 1] > last)
            last = c->slot[before - 1];
    }
    return last > from ? last : otherwise;
}

static uint32_t parts_of(const pb_graph *g, pb_node v)
{
    return g->flags[v] & PB_NODE_HAS_PARTS ? g->part_start[v + 1] - g->part_start[v] : 0;
}

static int32_t scaled_up(const pbi_timeline *t, uint64_t size)
{
    return (int32_t)(size / t->unit + (size % t->unit != 0));
}

/* By-products that are wanted but never read: made once, and let go. Counted with every computation. */
static int32_t unread_targets(const pbi_timeline *t, pb_node v)
{
    const pb_graph *g = t->g;
    int32_t sum = 0;
    for (uint32_t n = 0, parts = parts_of(g, v); n < parts; n++) {
        pb_node w = g->part[g->part_start[v] + n];
        bool read = false;
        for (uint32_t k = g->out_start[w]; k < g->out_start[w + 1]; k++)
            read |= (g->flags[g->out[k]] & PB_NODE_NEEDED) != 0;
        sum += !read && (g->flags[w] & (PB_NODE_TARGET | PB_NODE_KEEP)) == PB_NODE_TARGET ? t->size[w] : 0;
    }
    return sum;
}

/* Workspace of a computation, less what it overwrites: the largest input that may be and is read for the last time. */
static int32_t extra_of(const pbi_timeline *t, pb_node v, uint32_t slot)
{
    const pb_graph *g = t->g;
    int32_t extra = scaled_up(t, g->workspace[v]) + unread_targets(t, v), most = 0;
    if (!g->inplace_start)
        return extra;
    for (uint32_t k = g->inplace_start[v]; k < g->inplace_start[v + 1]; k++) {
        pb_node u = g->inplace[k];
        uint32_t i = pbi_timeline_copy(t, u, slot);
        if (i != PBI_EMPTY && t->copy[u].last[i] == slot && t->size[u] > most)
            most = t->size[u];
    }
    return extra - (most < t->size[v] ? most : t->size[v]);
}

static void refresh_extra(pbi_timeline *t, uint32_t slot, pb_node u)
{
    pb_node v = slot < t->slots ? t->event[slot] : PBI_EMPTY;
    if (v == PBI_EMPTY || v == u)
        return;
    int32_t now = extra_of(t, v, slot), was = t->extra[slot];
    t->extra[slot] = now;
    add_at(t, slot, now - was);
}

/* Copy i of v is read last at `last` from now on: memory changes between. */
static void set_last(pbi_timeline *t, pb_node v, uint32_t i, uint32_t last)
{
    uint32_t was = t->copy[v].last[i], most = t->slots - 1;
    if (was == last)
        return;
    t->copy[v].last[i] = last;
    uint32_t high = was > last ? was : last, low = was > last ? last : was;
    add_range(t, low + 1, high < most ? high : most, last > was ? t->size[v] : -t->size[v]);
    if (t->g->inplace_start) {
        refresh_extra(t, was, v);
        refresh_extra(t, last, v);
    }
}

static bool make_room(pbi_timeline *t, pb_node v, bool own_slots)
{
    pbi_copies *c = &t->copy[v];
    if (c->count < c->room)
        return true;
    uint32_t room = c->room ? 2 * c->room : 4;
    uint32_t *slot = own_slots ? pb_arena_alloc(t->arena, room, sizeof *slot) : NULL;
    uint32_t *last = pb_arena_alloc(t->arena, room, sizeof *last);
    if (!last || (own_slots && !slot)) {
        t->failed = true;
        return false;
    }
    if (c->count && own_slots)
        memcpy(slot, c->slot, c->count * sizeof *slot);
    if (c->count)
        memcpy(last, c->last, c->count * sizeof *last);
    c->slot = slot;
    c->last = last;
    c->room = room;
    return true;
}

static void open_at(uint32_t *row, uint32_t count, uint32_t i, uint32_t value)
{
    memmove(row + i + 1, row + i, (count - i) * sizeof *row);
    row[i] = value;
}

static void close_at(uint32_t *row, uint32_t count, uint32_t i)
{
    memmove(row + i, row + i + 1, (count - i - 1) * sizeof *row);
}

/* Value w (v itself or a by-product of it) of the new copy i in `slot`. The slot is in v's list already. */
static void enter_value(pbi_timeline *t, pb_node w, pb_node v, uint32_t i, uint32_t slot)
{
    pbi_copies *c = &t->copy[w];
    const pbi_copies *owner = &t->copy[v];
    uint32_t none = w == v ? slot : slot - 1; /* a node's own value is there while it is computed */
    open_at(c->last, w == v ? c->count - 1 : c->count, i, none);
    if (w != v)
        c->count++;
    if (w == v)
        add_at(t, slot, t->size[w]);
    if (!i || c->last[i - 1] <= slot)
        return;
    uint32_t last = c->last[i - 1], before = owner->slot[i - 1];
    set_last(t, w, i, last); /* later readers take the new copy */
    set_last(t, w, i - 1, last_read(t, w, before, slot, w == v ? before : before - 1));
}

static void leave_value(pbi_timeline *t, pb_node w, pb_node v, uint32_t i, uint32_t slot)
{
    pbi_copies *c = &t->copy[w];
    uint32_t none = w == v ? slot : slot - 1, last = c->last[i];
    if (last > slot) {
        set_last(t, w, i - 1, last);
        set_last(t, w, i, none);
    }
    if (w == v)
        add_at(t, slot, -t->size[w]);
    close_at(c->last, c->count, i);
    if (w != v)
        c->count--;
}

bool pbi_timeline_insert(pbi_timeline *t, pb_node v, uint32_t slot)
{
    const pb_graph *g = t->g;
    pbi_copies *c = &t->copy[v];
    uint32_t parts = parts_of(g, v);
    if (g->cost[v] > UINT64_MAX / 4 - t->work) /* no plan that anybody wants */
        return false;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        if (pbi_timeline_copy(t, g->in[k], slot) == PBI_EMPTY)
            return false;
    if (!make_room(t, v, true))
        return false;
    for (uint32_t n = 0; n < parts; n++)
        if (!make_room(t, g->part[g->part_start[v] + n], false))
            return false;
    uint32_t i = copies_before(c, slot);
    open_at(c->slot, c->count++, i, slot);
    enter_value(t, v, v, i, slot);
    for (uint32_t n = 0; n < parts; n++)
        enter_value(t, g->part[g->part_start[v] + n], v, i, slot);
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        uint32_t copy = pbi_timeline_copy(t, g->in[k], slot);
        if (t->copy[g->in[k]].last[copy] < slot)
            set_last(t, g->in[k], copy, slot);
    }
    t->extra[slot] = extra_of(t, v, slot);
    add_at(t, slot, t->extra[slot]);
    occupy(t, slot, v);
    t->work += g->cost[v];
    return true;
}

/* Would every reader still find what it reads without copy i of v? */
static bool is_spare(const pbi_timeline *t, pb_node v, uint32_t i, uint32_t slot)
{
    if (i)
        return true;
    if (t->copy[v].last[0] > slot)
        return false;
    for (uint32_t n = 0, parts = parts_of(t->g, v); n < parts; n++)
        if (t->copy[t->g->part[t->g->part_start[v] + n]].last[0] >= slot)
            return false;
    return t->copy[v].count > 1;
}

bool pbi_timeline_remove(pbi_timeline *t, uint32_t slot)
{
    const pb_graph *g = t->g;
    pb_node v = t->event[slot];
    pbi_copies *c = &t->copy[v];
    uint32_t i = copies_before(c, slot);
    if (!is_spare(t, v, i, slot))
        return false;
    vacate(t, slot);
    add_at(t, slot, -t->extra[slot]);
    t->extra[slot] = 0;
    leave_value(t, v, v, i, slot);
    uint32_t parts = parts_of(g, v);
    for (uint32_t n = 0; n < parts; n++)
        leave_value(t, g->part[g->part_start[v] + n], v, i, slot);
    close_at(c->slot, c->count--, i);
    if (g->inplace_start && i) /* who read the copy that went reads the one before */
        for (uint32_t n = 0; n <= parts; n++) {
            pb_node w = n ? g->part[g->part_start[v] + n - 1] : v;
            refresh_extra(t, t->copy[w].last[i - 1], w);
        }
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        pb_node u = g->in[k];
        uint32_t copy = pbi_timeline_copy(t, u, slot);
        if (t->copy[u].last[copy] != slot)
            continue;
        uint32_t made = t->copy[pb_graph_maker(g, u)].slot[copy];
        set_last(t, u, copy, last_read(t, u, made, slot, g->flags[u] & PB_NODE_BYPRODUCT ? made - 1 : made));
    }
    t->work -= g->cost[v];
    return true;
}

/* ---- the whole ---- */

static bool take_memory(pbi_timeline *t)
{
    size_t blocks = t->slots / BLOCK;
    t->event = pb_arena_alloc(t->arena, t->slots, sizeof *t->event);
    t->memory = pb_arena_alloc(t->arena, t->slots, sizeof *t->memory);
    t->extra = pb_arena_alloc(t->arena, t->slots, sizeof *t->extra);
    t->shift = pb_arena_alloc(t->arena, blocks, sizeof *t->shift);
    t->highest = pb_arena_alloc(t->arena, blocks, sizeof *t->highest);
    t->where = pb_arena_alloc(t->arena, t->slots, sizeof *t->where);
    t->index = pb_arena_alloc(t->arena, t->slots, sizeof *t->index);
    t->copy = pb_arena_zero(t->arena, t->g->node_count, sizeof *t->copy);
    t->size = pb_arena_alloc(t->arena, t->g->node_count, sizeof *t->size);
    return t->event && t->memory && t->extra && t->shift && t->highest && t->where && t->index && t->copy && t->size;
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

/* Sizes of tensors share a factor: without it they mostly fit as they are. */
static void choose_unit(pbi_timeline *t)
{
    const pb_graph *g = t->g;
    uint64_t unit = g->fixed_size, work = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        unit = common_divisor(g->size[v], unit);
        unit = common_divisor(g->workspace[v], unit);
        work = g->workspace[v] > work ? g->workspace[v] : work;
    }
    t->unit = unit ? unit : 1;
    while (g->total_size / t->unit > MOST_UNITS || g->fixed_size / t->unit > MOST_UNITS || work / t->unit > MOST_UNITS)
        t->unit *= 2;
}

bool pbi_timeline_init(pbi_timeline *t, pb_context *ctx, const pb_game *game, uint64_t cap, pb_arena *arena,
                       uint32_t most)
{
    const pb_graph *g = game->graph;
    *t = (pbi_timeline){.ctx = ctx, .g = g, .arena = arena};
    choose_unit(t);
    t->slots = (most + 2 + BLOCK - 1) / BLOCK * BLOCK;
    if (!take_memory(t))
        return false;
    for (pb_node v = 0; v < g->node_count; v++)
        t->size[v] = scaled_up(t, g->size[v]);
    pbi_timeline_set_cap(t, cap);
    return true;
}

static void find_excess(pbi_timeline *t)
{
    t->excess = 0;
    for (uint32_t b = 0; b < t->slots / BLOCK; b++)
        t->highest[b] = NOTHING;
    for (uint32_t s = 0; s < t->slots; s++) {
        t->excess += excess_at(t, s);
        int32_t *top = &t->highest[s / BLOCK];
        *top = t->memory[s] > *top ? t->memory[s] : *top;
    }
}

void pbi_timeline_set_cap(pbi_timeline *t, uint64_t cap)
{
    uint64_t most = 4 * MOST_UNITS, scaled = cap / t->unit;
    t->cap = (int32_t)(scaled < most ? scaled : most);
    if (t->filled)
        find_excess(t);
}

/* Slot 0 holds the start: what is given is made there, and counts. */
static bool load_start(pbi_timeline *t)
{
    const pb_graph *g = t->g;
    for (pb_node v = 0; v < g->node_count; v++) {
        t->copy[v].count = 0;
        if (!(g->flags[v] & PB_NODE_GIVEN))
            continue;
        if (!make_room(t, v, true))
            return false;
        t->copy[v].slot[0] = t->copy[v].last[0] = 0;
        t->copy[v].count = 1;
    }
    return true;
}

/* Fills the lists of copies and their last readers, and the memory from them. */
static void find_lasts(pbi_timeline *t)
{
    const pb_graph *g = t->g;
    for (pb_node v = 0; v < g->node_count; v++) {
        const pbi_copies *own = &t->copy[pb_graph_maker(g, v)];
        bool part = g->flags[v] & PB_NODE_BYPRODUCT;
        for (uint32_t i = 0; i < own->count; i++) {
            uint32_t slot = own->slot[i], next = i + 1 < own->count ? own->slot[i + 1] : t->slots;
            uint32_t last = last_read(t, v, slot, next, part ? slot - 1 : slot);
            if (i + 1 == own->count && (g->flags[v] & PB_NODE_KEEP))
                last = t->slots; /* to the end */
            t->copy[v].last[i] = last;
        }
        t->copy[v].count = own->count;
    }
}

static void find_memory(pbi_timeline *t)
{
    const pb_graph *g = t->g;
    for (uint32_t s = 0; s < t->slots; s++)
        t->memory[s] = 0;
    for (pb_node v = 0; v < g->node_count; v++) /* as changes, summed up below */
        for (uint32_t i = 0; i < t->copy[v].count; i++) {
            uint32_t slot = t->copy[pb_graph_maker(g, v)].slot[i], end = t->copy[v].last[i] + 1;
            if (end <= slot)
                continue;
            t->memory[slot] += t->size[v];
            if (end < t->slots)
                t->memory[end] -= t->size[v];
        }
    int32_t sum = scaled_up(t, g->fixed_size);
    for (uint32_t s = 0; s < t->slots; s++) {
        sum += t->memory[s];
        t->memory[s] = sum;
    }
    for (uint32_t n = 0; n < t->filled; n++) {
        uint32_t slot = t->where[n];
        if (!slot)
            continue;
        t->extra[slot] = extra_of(t, t->event[slot], slot);
        t->memory[slot] += t->extra[slot];
    }
    for (uint32_t s = 1; s < t->slots; s++) /* the start counts, but is no computation that could be moved */
        t->memory[s] -= t->event[s] == PBI_EMPTY ? ABSENT : 0;
}

bool pbi_timeline_load(pbi_timeline *t, const pb_node *events, uint32_t count)
{
    const pb_graph *g = t->g;
    memset(t->event, 0xff, t->slots * sizeof *t->event);
    memset(t->extra, 0, t->slots * sizeof *t->extra);
    memset(t->shift, 0, t->slots / BLOCK * sizeof *t->shift);
    t->filled = 0;
    t->work = 0;
    if (!load_start(t))
        return false;
    for (uint32_t e = 0; e < count; e++) {
        uint32_t slot = (uint32_t)(1 + (uint64_t)e * (t->slots - 1) / count);
        pb_node v = events[e];
        if (!make_room(t, v, true))
            return false;
        t->copy[v].slot[t->copy[v].count++] = slot;
        for (uint32_t n = 0, parts = parts_of(g, v); n < parts; n++) {
            pb_node w = g->part[g->part_start[v] + n];
            if (!make_room(t, w, false))
                return false;
            t->copy[w].count++;
        }
        t->event[slot] = v;
        t->index[slot] = t->filled;
        t->where[t->filled++] = slot;
        t->work += g->cost[v];
    }
    find_lasts(t);
    find_memory(t);
    find_excess(t);
    return true;
}

void pbi_timeline_read(const pbi_timeline *t, pb_node *events)
{
    uint32_t n = 0;
    for (uint32_t s = 1; s < t->slots; s++)
        if (t->event[s] != PBI_EMPTY)
            events[n++] = t->event[s];
}

uint64_t pbi_timeline_peak(const pbi_timeline *t)
{
    int32_t peak = 0;
    for (uint32_t s = 0; s < t->slots; s++)
        peak = memory_at(t, s) > peak ? memory_at(t, s) : peak;
    return (uint64_t)peak * t->unit;
}
