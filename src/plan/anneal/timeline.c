/* timeline.c -- see timeline.h. */
#include "plan/anneal/timeline.h"

#include "base/arena.h"
#include "game/price.h"

#include <string.h>

enum { SPARE = 64 }; /* slots for short sequences */

static bool is_load(uint32_t event) { return pbi_event_is_load(event); }
static pb_node node_of(const pbi_timeline *t, uint32_t event) { return pbi_event_node(&t->events, event); }

/* What an event produces: n = 0 is its own value, the others are by-products. */
static pb_node made_by(const pbi_timeline *t, uint32_t event, uint32_t n)
{
    return n ? t->g->part[t->g->part_start[event] + n - 1] : node_of(t, event);
}

static uint32_t makes(const pbi_timeline *t, uint32_t event) { return 1 + pbi_event_parts(&t->events, event); }

/* ---- where events sit ---- */

static uint64_t cost_of(const pbi_timeline *t, uint32_t event)
{
    if (!is_load(event))
        return pbi_event_way(&t->events, event).cost;
    pb_node v = event & ~PBI_LOAD_EVENT;
    const pb_tier *tier = &t->tiers[t->tier[v] - 1];
    return pbi_load_price(tier, t->g->size[v]);
}

static uint64_t store_cost(const pbi_timeline *t, pb_node v)
{
    const pb_tier *tier = &t->tiers[t->tier[v] - 1];
    return pbi_store_price(tier, t->g->size[v]);
}

uint64_t pbi_timeline_load_cost(const pbi_timeline *t, pb_node v)
{
    return pbi_add_saturated(cost_of(t, v | PBI_LOAD_EVENT), t->loads[v] ? 0 : store_cost(t, v));
}

static void occupy(pbi_timeline *t, uint32_t slot, uint32_t event)
{
    t->event[slot] = event;
    pbi_slots_use(&t->profile, slot, (double)cost_of(t, event));
    t->index[slot] = t->filled;
    t->where[t->filled++] = slot;
}

static void vacate(pbi_timeline *t, uint32_t slot)
{
    pbi_slots_empty(&t->profile, slot);
    t->event[slot] = PBI_EMPTY;
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
    uint32_t before = copies_before(&t->copy[v], slot);
    return before ? before - 1 : PBI_EMPTY;
}

static bool loaded_at(const pbi_timeline *t, uint32_t slot)
{
    return t->tier && t->event[slot] != PBI_EMPTY && is_load(t->event[slot]);
}

/* Is the copy in this slot a load, or computed by recipe? */
static bool fetched_at(const pbi_timeline *t, uint32_t slot)
{
    return t->fetches && t->event[slot] != PBI_EMPTY && t->event[slot] >= t->g->node_count;
}

/* The last slot between `from` and `to`, both excluded, that reads v; `otherwise` if there is none. */
static uint32_t last_read(const pbi_timeline *t, pb_node v, uint32_t from, uint32_t to, uint32_t otherwise)
{
    uint32_t last = from;
    for (uint32_t k = 0, readers = pbi_event_readers(&t->events, v); k < readers; k++) {
        uint32_t reader = pbi_event_reader(&t->events, v, k);
        const pbi_copies *c = &t->copy[node_of(t, reader)];
        uint32_t before = copies_before(c, to);
        while (before && t->fetches && t->event[c->slot[before - 1]] != reader) /* it came in another way */
            before--;
        if (before && c->slot[before - 1] > last)
            last = c->slot[before - 1];
    }
    return last > from ? last : otherwise;
}

/* Must copy i have been in memory, although nothing may read it? It is stored for the first load, if that comes next;
 * or the first recipe comes next, and works only for values that have existed. */
static bool must_exist(const pbi_timeline *t, pb_node v, uint32_t i)
{
    const pbi_copies *c = &t->copy[v];
    if (!t->fetches || i + 1 >= c->count || !fetched_at(t, c->slot[i + 1]))
        return false;
    bool load = loaded_at(t, c->slot[i + 1]);
    for (uint32_t k = 0; k <= i; k++)
        if (fetched_at(t, c->slot[k]) && (!load || loaded_at(t, c->slot[k])))
            return false;
    return true;
}

/* The last slot of a copy that nothing reads. A by-product is then not computed at all, unless it must have existed. */
static uint32_t unread_last(const pbi_timeline *t, pb_node v, uint32_t i)
{
    uint32_t slot = t->copy[v].slot[i];
    bool part = (t->g->flags[v] & PB_NODE_BYPRODUCT) && !fetched_at(t, slot);
    return part && !must_exist(t, v, i) ? slot - 1 : slot;
}

/* By-products that are targets but never read: computed once, and freed. Counted with every computation. */
static int32_t unread_targets(const pbi_timeline *t, uint32_t event)
{
    const pb_graph *g = t->g;
    int32_t sum = 0;
    for (uint32_t n = 0, parts = pbi_event_parts(&t->events, event); n < parts; n++) {
        pb_node w = g->part[g->part_start[event] + n];
        bool read = false;
        for (uint32_t k = g->out_start[w]; k < g->out_start[w + 1]; k++)
            read |= (g->flags[g->out[k]] & PB_NODE_NEEDED) != 0;
        sum += !read && (g->flags[w] & (PB_NODE_TARGET | PB_NODE_KEEP)) == PB_NODE_TARGET ? t->size[w] : 0;
    }
    return sum;
}

/* Workspace of a computation, minus what it overwrites: the largest input that may be overwritten and is read for
 * the last time. */
static int32_t extra_of(const pbi_timeline *t, uint32_t event, uint32_t slot)
{
    if (is_load(event))
        return 0;
    pb_way way = pbi_event_way(&t->events, event);
    int32_t extra = pbi_timeline_units(t, way.workspace) + unread_targets(t, event), overwritten = 0;
    if (!way.inplace_count)
        return extra;
    for (uint32_t k = 0; k < way.inplace_count; k++) {
        pb_node u = way.inplace[k];
        uint32_t i = pbi_timeline_copy(t, u, slot);
        if (i != PBI_EMPTY && t->copy[u].last[i] == slot && t->size[u] > overwritten)
            overwritten = t->size[u];
    }
    int32_t size = t->size[node_of(t, event)];
    return extra - (overwritten < size ? overwritten : size);
}

static void refresh_extra(pbi_timeline *t, uint32_t slot, pb_node u)
{
    uint32_t event = slot < t->profile.slots ? t->event[slot] : PBI_EMPTY;
    if (event == PBI_EMPTY || node_of(t, event) == u)
        return;
    int32_t now = extra_of(t, event, slot), was = t->extra[slot];
    t->extra[slot] = now;
    pbi_slots_add_at(&t->profile, slot, now - was);
}

/* Copy i of v is read last at `last` from now on: updates the memory in between. */
static void set_last(pbi_timeline *t, pb_node v, uint32_t i, uint32_t last)
{
    uint32_t was = t->copy[v].last[i], last_slot = t->profile.slots - 1;
    if (was == last)
        return;
    t->copy[v].last[i] = last;
    uint32_t high = was > last ? was : last, low = was > last ? last : was;
    pbi_slots_add(&t->profile, low + 1, high < last_slot ? high : last_slot, last > was ? t->size[v] : -t->size[v]);
    if (t->events.overwrites) {
        refresh_extra(t, was, v);
        refresh_extra(t, last, v);
    }
}

/* After a change of its loads and recipes: an unread copy of a by-product is computed only if it must have existed. */
static void update_unread(pbi_timeline *t, pb_node v)
{
    const pbi_copies *c = &t->copy[v];
    for (uint32_t i = 0; t->fetches && (t->g->flags[v] & PB_NODE_BYPRODUCT) && i < c->count; i++)
        if (c->last[i] <= c->slot[i])
            set_last(t, v, i, unread_last(t, v, i));
}

static bool make_room(pbi_timeline *t, pb_node v)
{
    pbi_copies *c = &t->copy[v];
    if (c->count < c->room)
        return true;
    uint32_t room = c->room ? 2 * c->room : 4;
    uint32_t *slot = pb_arena_alloc(t->arena, 2 * (size_t)room, sizeof *slot);
    if (!slot) {
        t->failed = true;
        return false;
    }
    if (c->count) {
        memcpy(slot, c->slot, c->count * sizeof *slot);
        memcpy(slot + room, c->last, c->count * sizeof *slot);
    }
    c->slot = slot;
    c->last = slot + room;
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

/* A new copy of v in `slot`; `resident`: it is in memory even if nothing reads it. Later readers use it. */
static void enter_copy(pbi_timeline *t, pb_node v, uint32_t slot, bool resident)
{
    pbi_copies *c = &t->copy[v];
    uint32_t i = copies_before(c, slot);
    open_at(c->slot, c->count, i, slot);
    open_at(c->last, c->count++, i, resident ? slot : slot - 1);
    if (resident)
        pbi_slots_add_at(&t->profile, slot, t->size[v]);
    if (!i || c->last[i - 1] <= slot)
        return;
    set_last(t, v, i, c->last[i - 1]);
    set_last(t, v, i - 1, last_read(t, v, c->slot[i - 1], slot, unread_last(t, v, i - 1)));
}

static void leave_copy(pbi_timeline *t, pb_node v, uint32_t slot, bool resident)
{
    pbi_copies *c = &t->copy[v];
    uint32_t i = copies_before(c, slot), last = c->last[i];
    if (last > slot)
        set_last(t, v, i - 1, last);
    set_last(t, v, i, resident ? slot : slot - 1);
    if (resident)
        pbi_slots_add_at(&t->profile, slot, -t->size[v]);
    close_at(c->last, c->count, i);
    close_at(c->slot, c->count--, i);
    if (t->events.overwrites && i) /* readers of the removed copy now read the one before */
        refresh_extra(t, c->last[i - 1], v);
}

/* ---- changes ---- */

/* Are all inputs of the event resident, and has the list of copies room for its results? */
static bool may_insert(pbi_timeline *t, uint32_t event, uint32_t slot)
{
    pb_node v = node_of(t, event);
    pb_way way = pbi_event_way(&t->events, event);
    uint64_t cost = is_load(event) ? pbi_timeline_load_cost(t, v) : way.cost;
    if (cost > UINT64_MAX / 4 - t->work) /* not a useful plan */
        return false;
    if (event != v && pbi_timeline_copy(t, v, slot) == PBI_EMPTY) /* a load, or a recipe */
        return false;
    for (uint32_t k = 0; k < way.in_count; k++)
        if (pbi_timeline_copy(t, way.in[k], slot) == PBI_EMPTY)
            return false;
    for (uint32_t n = 0, count = makes(t, event); n < count; n++)
        if (!make_room(t, made_by(t, event, n)))
            return false;
    return true;
}

static void insert_load(pbi_timeline *t, pb_node v, uint32_t slot)
{
    t->work += pbi_timeline_load_cost(t, v);
    t->loads[v]++;
    occupy(t, slot, v | PBI_LOAD_EVENT); /* before its copy: this marks it as a load */
    enter_copy(t, v, slot, true);
    update_unread(t, v);
}

bool pbi_timeline_insert(pbi_timeline *t, uint32_t event, uint32_t slot)
{
    pb_node v = node_of(t, event);
    if (!may_insert(t, event, slot))
        return false;
    if (is_load(event)) {
        insert_load(t, v, slot);
        return true;
    }
    pb_way way = pbi_event_way(&t->events, event);
    if (event != v) /* before its copy: this marks it as a recipe */
        occupy(t, slot, event);
    for (uint32_t n = 0, count = makes(t, event); n < count; n++)
        enter_copy(t, made_by(t, event, n), slot, n == 0);
    for (uint32_t k = 0; k < way.in_count; k++) {
        uint32_t copy = pbi_timeline_copy(t, way.in[k], slot);
        if (t->copy[way.in[k]].last[copy] < slot)
            set_last(t, way.in[k], copy, slot);
    }
    int32_t was = t->extra[slot];
    t->extra[slot] = extra_of(t, event, slot);
    pbi_slots_add_at(&t->profile, slot, t->extra[slot] - was);
    if (event == v)
        occupy(t, slot, event);
    for (uint32_t n = event == v, count = makes(t, event); n < count; n++)
        update_unread(t, made_by(t, event, n));
    t->work += way.cost;
    return true;
}

/* Would every reader, load and recipe still find what it needs without this computation? */
static bool is_spare(const pbi_timeline *t, pb_node v, uint32_t slot)
{
    for (uint32_t n = 0, count = makes(t, v); n < count; n++) {
        const pbi_copies *c = &t->copy[made_by(t, v, n)];
        if (c->slot[0] != slot)
            continue;
        if (c->last[0] > slot || c->count < 2 || fetched_at(t, c->slot[1]))
            return false;
    }
    return true;
}

static void remove_load(pbi_timeline *t, pb_node v, uint32_t slot)
{
    leave_copy(t, v, slot, true);
    vacate(t, slot);
    t->loads[v]--;
    t->work -= pbi_timeline_load_cost(t, v);
    update_unread(t, v);
}

/* The computation in `slot` no longer reads u. */
static void end_read(pbi_timeline *t, pb_node u, uint32_t slot)
{
    uint32_t copy = pbi_timeline_copy(t, u, slot);
    if (t->copy[u].last[copy] == slot)
        set_last(t, u, copy, last_read(t, u, t->copy[u].slot[copy], slot, unread_last(t, u, copy)));
}

bool pbi_timeline_remove(pbi_timeline *t, uint32_t slot)
{
    uint32_t event = t->event[slot];
    if (is_load(event)) {
        remove_load(t, event & ~PBI_LOAD_EVENT, slot);
        return true;
    }
    if (event < t->g->node_count && !is_spare(t, event, slot))
        return false;
    pb_way way = pbi_event_way(&t->events, event);
    vacate(t, slot);
    pbi_slots_add_at(&t->profile, slot, -t->extra[slot]);
    t->extra[slot] = 0;
    for (uint32_t n = 0, count = makes(t, event); n < count; n++) {
        leave_copy(t, made_by(t, event, n), slot, n == 0);
        update_unread(t, made_by(t, event, n));
    }
    for (uint32_t k = 0; k < way.in_count; k++)
        end_read(t, way.in[k], slot);
    t->work -= way.cost;
    return true;
}

bool pbi_timeline_is_read(const pbi_timeline *t, uint32_t slot)
{
    uint32_t event = t->event[slot];
    for (uint32_t n = 0, count = makes(t, event); n < count; n++) {
        pb_node w = made_by(t, event, n);
        if (t->copy[w].last[copies_before(&t->copy[w], slot)] > slot)
            return true;
    }
    return false;
}

/* ---- the whole ---- */

/* Slot 0 is the start: given values are created there, and count. */
static bool load_start(pbi_timeline *t)
{
    const pb_graph *g = t->g;
    for (pb_node v = 0; v < g->node_count; v++) {
        t->copy[v].count = 0;
        if (t->loads)
            t->loads[v] = 0;
        if (!(g->flags[v] & PB_NODE_GIVEN))
            continue;
        if (!make_room(t, v))
            return false;
        t->copy[v].slot[t->copy[v].count++] = 0;
    }
    return true;
}

/* The last reader of each copy, and the memory from that. */
static void find_lasts(pbi_timeline *t)
{
    const pb_graph *g = t->g;
    for (pb_node v = 0; v < g->node_count; v++) {
        const pbi_copies *c = &t->copy[v];
        for (uint32_t i = 0; i < c->count; i++) {
            uint32_t next = i + 1 < c->count ? c->slot[i + 1] : t->profile.slots;
            c->last[i] = last_read(t, v, c->slot[i], next, unread_last(t, v, i));
            if (i + 1 == c->count && (g->flags[v] & PB_NODE_KEEP))
                c->last[i] = t->profile.slots; /* to the end */
        }
    }
}

static void find_memory(pbi_timeline *t)
{
    const pb_graph *g = t->g;
    int32_t *memory = t->profile.memory, sum = pbi_timeline_units(t, g->fixed_size);
    uint32_t slots = t->profile.slots;
    for (pb_node v = 0; v < g->node_count; v++) /* as changes, summed up below */
        for (uint32_t i = 0; i < t->copy[v].count; i++) {
            uint32_t slot = t->copy[v].slot[i], end = t->copy[v].last[i] + 1;
            if (end <= slot)
                continue;
            memory[slot] += t->size[v];
            if (end < slots)
                memory[end] -= t->size[v];
        }
    for (uint32_t s = 0; s < slots; s++) {
        sum += memory[s];
        memory[s] = sum;
    }
    for (uint32_t n = 0; n < t->filled; n++) {
        uint32_t slot = t->where[n];
        t->extra[slot] = extra_of(t, t->event[slot], slot);
        memory[slot] += t->extra[slot];
        if (t->profile.time)
            t->profile.time[slot] = (double)cost_of(t, t->event[slot]);
    }
}

static bool place(pbi_timeline *t, uint32_t event, uint32_t slot)
{
    if (is_load(event)) {
        t->work += pbi_timeline_load_cost(t, event & ~PBI_LOAD_EVENT);
        t->loads[event & ~PBI_LOAD_EVENT]++;
    } else {
        t->work += pbi_event_way(&t->events, event).cost;
    }
    for (uint32_t n = 0, count = makes(t, event); n < count; n++) {
        pb_node w = made_by(t, event, n);
        if (!make_room(t, w))
            return false;
        t->copy[w].slot[t->copy[w].count++] = slot;
    }
    t->event[slot] = event;
    t->index[slot] = t->filled;
    t->where[t->filled++] = slot;
    return true;
}

bool pbi_timeline_load(pbi_timeline *t, const uint32_t *events, uint32_t count)
{
    pbi_slots_clear(&t->profile, 2 * count + SPARE); /* every second one is empty */
    uint32_t slots = t->profile.slots;
    memset(t->event, 0xff, slots * sizeof *t->event);
    memset(t->extra, 0, slots * sizeof *t->extra);
    t->filled = 0;
    t->work = 0;
    if (!load_start(t))
        return false;
    for (uint32_t e = 0; e < count; e++)
        if (!place(t, events[e], (uint32_t)(1 + (uint64_t)e * (slots - 1) / count)))
            return false;
    find_lasts(t);
    find_memory(t);
    pbi_slots_rebuild(&t->profile, t->event);
    return true;
}

void pbi_timeline_read(const pbi_timeline *t, uint32_t *events)
{
    uint32_t n = 0;
    for (uint32_t s = 1; s < t->profile.slots; s++)
        if (t->event[s] != PBI_EMPTY)
            events[n++] = t->event[s];
}

uint64_t pbi_timeline_peak(const pbi_timeline *t) { return (uint64_t)pbi_slots_peak(&t->profile) * t->unit; }
