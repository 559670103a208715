/* propose.c -- see propose.h.
 *
 * The proposals make sense for memory: a value is recomputed right before a reader, together with inputs that would
 * otherwise have to be kept for it; a recomputation is removed, with what was only computed for it; a computation
 * moves in time, together with what is in its way.
 */
#include "plan/anneal/propose.h"

#include "base/arena.h"

#include <string.h>

enum {
    NEAR = 96, /* slots that are searched for an empty one */
    DEEP = 24, /* max computations in one proposal */
    GROUP = 10 /* max events that move together */
};

static uint32_t random_below(pbi_anneal *a, uint32_t bound) { return (uint32_t)pbi_rng_below(&a->rng, bound); }

/* ---- carrying out and undoing ---- */

static bool log_step(pbi_anneal *a, uint32_t slot, uint32_t event, bool inserted)
{
    void *items = a->log;
    if (!pbi_arena_reserve(a->t.arena, &items, &a->log_room, a->log_count + 1, sizeof *a->log)) {
        a->t.failed = true;
        return false;
    }
    a->log = items;
    a->log[a->log_count++] = (pbi_step_log){slot, event, inserted};
    return true;
}

static bool insert(pbi_anneal *a, uint32_t event, uint32_t slot)
{
    return a->log_count < DEEP && pbi_timeline_insert(&a->t, event, slot) && log_step(a, slot, event, true);
}

static bool remove_event(pbi_anneal *a, uint32_t slot)
{
    uint32_t event = a->t.event[slot];
    return a->log_count < DEEP && pbi_timeline_remove(&a->t, slot) && log_step(a, slot, event, false);
}

void pbi_propose_undo(pbi_anneal *a)
{
    while (a->log_count) {
        pbi_step_log step = a->log[--a->log_count];
        if (step.inserted)
            pbi_timeline_remove(&a->t, step.slot);
        else
            pbi_timeline_insert(&a->t, step.event, step.slot);
    }
}

/* ---- slots ---- */

/* An empty slot above `low` and below `high`, as high as possible; PBI_EMPTY if none is near. */
static uint32_t free_below(const pbi_anneal *a, uint32_t low, uint32_t high)
{
    uint32_t end = high > NEAR + low ? high - NEAR : low + 1;
    for (uint32_t s = high - 1; s >= end && s > low; s--)
        if (a->t.event[s] == PBI_EMPTY)
            return s;
    return PBI_EMPTY;
}

/* An empty slot between, at random. */
static uint32_t free_between(pbi_anneal *a, uint32_t low, uint32_t high)
{
    if (high <= low + 1)
        return PBI_EMPTY;
    uint32_t s = low + 1 + random_below(a, high - low - 1);
    for (uint32_t n = 0; n < NEAR && s + n < high; n++)
        if (a->t.event[s + n] == PBI_EMPTY)
            return s + n;
    return free_below(a, low, s);
}

static bool is_load(uint32_t event) { return pbi_event_is_load(event); }

static pb_node node_of(const pbi_anneal *a, uint32_t event) { return pbi_event_node(&a->t.events, event); }

static bool can_repeat(const pb_graph *g, pb_node v) { return !(g->flags[v] & (PB_NODE_GIVEN | PB_NODE_ONCE)); }

/* May this computation be removed without another that makes its value exist? */
static bool is_again(const pbi_anneal *a, uint32_t event)
{
    return is_load(event) || pbi_event_is_recipe(&a->t.events, event) || a->t.copy[event].count > 1;
}

/* ---- proposals; each returns false when it leads nowhere ---- */

/* One of the computations that bring u back, at random; PBI_EMPTY if there is none. */
static uint32_t some_way(pbi_anneal *a, pb_node u)
{
    const pb_graph *g = a->t.g;
    pb_node maker = pb_graph_maker(g, u);
    uint32_t own = can_repeat(g, maker), recipes = a->t.events.recipes ? pb_graph_recipes(g, u) : 0;
    if (!recipes)
        return own ? maker : PBI_EMPTY;
    uint32_t by = random_below(a, own + recipes) + !own;
    return by ? pbi_event_of(g, u, by) : maker;
}

/* Computes `event` before `reader`, and with it, at random, inputs that are not resident then. `more`: the cost of
 * what will be computed after it. */
static bool repeat_before(pbi_anneal *a, uint32_t event, uint32_t reader, double more)
{
    pb_node v = node_of(a, event);
    pb_way way = pbi_event_way(&a->t.events, event);
    uint32_t copy = pbi_timeline_copy(&a->t, v, reader);
    more += a->gamma * (double)way.cost;
    a->left -= a->left > 0;
    if (copy == PBI_EMPTY || pbi_anneal_cost(a) + more > a->max_cost)
        return false;
    uint32_t slot = free_below(a, a->t.copy[v].slot[copy], reader);
    if (slot == PBI_EMPTY)
        return false;
    for (uint32_t k = 0; k < way.in_count; k++) {
        pb_node u = way.in[k];
        uint32_t i = pbi_timeline_copy(&a->t, u, slot), again;
        if (i == PBI_EMPTY)
            return false;
        if (a->t.copy[u].last[i] >= slot)
            continue;
        again = some_way(a, u);
        if (again != PBI_EMPTY && a->left && !random_below(a, a->further) && !repeat_before(a, again, slot, more))
            return false;
    }
    return insert(a, event, slot);
}

static bool load_before(pbi_anneal *a, pb_node u, uint32_t reader)
{
    uint32_t copy = pbi_timeline_copy(&a->t, u, reader);
    if (copy == PBI_EMPTY || pbi_anneal_cost(a) + a->gamma * (double)pbi_timeline_load_cost(&a->t, u) > a->max_cost)
        return false;
    uint32_t slot = free_below(a, a->t.copy[u].slot[copy], reader);
    return slot != PBI_EMPTY && insert(a, u | PBI_LOAD_EVENT, slot);
}

static bool propose_repeat(pbi_anneal *a)
{
    uint32_t reader = a->t.where[random_below(a, a->t.filled)];
    pb_way way = pbi_event_way(&a->t.events, a->t.event[reader]);
    if (!way.in_count) /* also a load */
        return false;
    pb_node u = way.in[random_below(a, way.in_count)];
    a->left = 1u << random_below(a, 5); /* long chains take long, and are seldom useful */
    uint32_t again = some_way(a, u);
    bool load = a->loads && (!a->repeats || again == PBI_EMPTY || random_below(a, 2));
    return load ? load_before(a, u, reader) : a->repeats && again != PBI_EMPTY && repeat_before(a, again, reader, 0);
}

/* Copies of inputs that nothing reads any more are removed as well. */
static void drop_unread(pbi_anneal *a, uint32_t removed, uint32_t slot)
{
    pb_way way = pbi_event_way(&a->t.events, removed);
    for (uint32_t k = 0; k < way.in_count; k++) {
        uint32_t i = pbi_timeline_copy(&a->t, way.in[k], slot);
        uint32_t at = i == PBI_EMPTY ? 0 : a->t.copy[way.in[k]].slot[i];
        if (!at || pbi_timeline_is_read(&a->t, at))
            continue;
        uint32_t event = a->t.event[at];
        bool own = event < a->t.g->node_count;
        if (is_again(a, event) && (!own || can_repeat(a->t.g, event)) && remove_event(a, at))
            drop_unread(a, event, at);
    }
}

static bool drop_at(pbi_anneal *a, uint32_t slot)
{
    uint32_t event = a->t.event[slot];
    if (!remove_event(a, slot))
        return false;
    drop_unread(a, event, slot);
    return true;
}

static bool propose_drop(pbi_anneal *a)
{
    for (int tries = 0; tries < 8; tries++) {
        uint32_t slot = a->t.where[random_below(a, a->t.filled)];
        if (is_again(a, a->t.event[slot]))
            return drop_at(a, slot);
    }
    return false;
}

/* The slots between which an event can be moved: behind the producers of its inputs, before its readers. */
static void limits(const pbi_anneal *a, uint32_t slot, uint32_t *low, uint32_t *high)
{
    uint32_t event = a->t.event[slot];
    pb_node v = node_of(a, event);
    pb_way way = pbi_event_way(&a->t.events, event);
    const pbi_copies *c = &a->t.copy[v];
    uint32_t i = pbi_timeline_copy(&a->t, v, slot + 1);
    *low = i ? c->slot[i - 1] : 0;
    *high = i + 1 < c->count ? c->slot[i + 1] : a->t.profile.slots;
    for (uint32_t k = 0; k < way.in_count; k++) {
        uint32_t made = a->t.copy[way.in[k]].slot[pbi_timeline_copy(&a->t, way.in[k], slot)];
        *low = made > *low ? made : *low;
    }
}

/* The values that an event makes: n = 0 is its own. */
static pb_node made_by(const pbi_anneal *a, uint32_t event, uint32_t n)
{
    return n ? a->t.g->part[a->t.g->part_start[event] + n - 1] : node_of(a, event);
}

/* The first slot after `slot` and before `end` that reads a result of its event. */
static uint32_t first_read(const pbi_anneal *a, uint32_t slot, uint32_t end)
{
    const pbi_event_space *s = &a->t.events;
    uint32_t event = a->t.event[slot];
    for (uint32_t n = 0, parts = pbi_event_parts(s, event); n <= parts; n++) {
        pb_node w = made_by(a, event, n);
        for (uint32_t k = 0, readers = pbi_event_readers(s, w); k < readers; k++) {
            uint32_t reader = pbi_event_reader(s, w, k);
            const pbi_copies *c = &a->t.copy[node_of(a, reader)];
            for (uint32_t i = 0; i < c->count; i++)
                if (c->slot[i] > slot && c->slot[i] < end && a->t.event[c->slot[i]] == reader)
                    end = c->slot[i];
        }
    }
    return end;
}

static bool move_to(pbi_anneal *a, uint32_t from, uint32_t to)
{
    uint32_t event = a->t.event[from];
    return insert(a, event, to) && remove_event(a, from);
}

static bool propose_move(pbi_anneal *a)
{
    uint32_t slot = a->t.where[random_below(a, a->t.filled)], low, high;
    limits(a, slot, &low, &high);
    high = first_read(a, slot, high);
    uint32_t to = free_between(a, low, high);
    return to != PBI_EMPTY && move_to(a, slot, to);
}

/* ---- moving a group ---- */

/* Slots of events that move together, ascending. */
typedef struct group {
    uint32_t slot[GROUP], count;
} group;

/* False when it is full. */
static bool join(group *set, uint32_t slot)
{
    uint32_t i = set->count;
    while (i > 0 && set->slot[i - 1] > slot)
        i--;
    if (i > 0 && set->slot[i - 1] == slot)
        return true;
    if (set->count == GROUP)
        return false;
    memmove(set->slot + i + 1, set->slot + i, (set->count - i) * sizeof *set->slot);
    set->slot[i] = slot;
    set->count++;
    return true;
}

/* With those of its inputs that were computed at `goal` or later, recursively. Members are found from the last to
 * the first. */
static bool join_makers(const pbi_anneal *a, group *set, uint32_t slot, uint32_t goal)
{
    if (!join(set, slot))
        return false;
    for (uint32_t left = 1; left; left--) { /* this many lower members have not been processed */
        uint32_t at = set->slot[left - 1], before = set->count;
        pb_way way = pbi_event_way(&a->t.events, a->t.event[at]);
        for (uint32_t k = 0; k < way.in_count; k++) {
            pb_node u = way.in[k];
            uint32_t made = a->t.copy[u].slot[pbi_timeline_copy(&a->t, u, at)];
            if (made >= goal && !join(set, made))
                return false;
        }
        left += set->count - before;
    }
    return true;
}

/* Every slot up to `goal` that reads a result of the event in `slot` joins. */
static bool join_readers_of(const pbi_anneal *a, group *set, uint32_t slot, uint32_t goal)
{
    const pbi_event_space *s = &a->t.events;
    uint32_t event = a->t.event[slot];
    for (uint32_t n = 0, parts = pbi_event_parts(s, event); n <= parts; n++) {
        pb_node w = made_by(a, event, n);
        uint32_t i = pbi_timeline_copy(&a->t, w, slot + 1) + 1;
        uint32_t end = i < a->t.copy[w].count && a->t.copy[w].slot[i] <= goal ? a->t.copy[w].slot[i] : goal + 1;
        for (uint32_t k = 0, readers = pbi_event_readers(s, w); k < readers; k++) {
            uint32_t reader = pbi_event_reader(s, w, k);
            const pbi_copies *c = &a->t.copy[node_of(a, reader)];
            for (uint32_t j = c->count; j > 0 && c->slot[j - 1] > slot; j--)
                if (c->slot[j - 1] < end && a->t.event[c->slot[j - 1]] == reader && !join(set, c->slot[j - 1]))
                    return false;
        }
    }
    return true;
}

static bool join_readers(const pbi_anneal *a, group *set, uint32_t slot, uint32_t goal)
{
    if (!join(set, slot))
        return false;
    for (uint32_t i = 0; i < set->count; i++)
        if (!join_readers_of(a, set, set->slot[i], goal))
            return false;
    return true;
}

/* Moves the computation in `slot` before `goal`, together with those of its inputs that were computed later. */
static bool move_earlier(pbi_anneal *a, uint32_t slot, uint32_t goal)
{
    group set = {.count = 0}, to = {.count = 0};
    if (!join_makers(a, &set, slot, goal))
        return false;
    for (uint32_t s = goal; s-- > 1 && to.count < set.count && s + NEAR > goal;)
        if (a->t.event[s] == PBI_EMPTY)
            to.slot[to.count++] = s; /* descending */
    if (to.count < set.count)
        return false;
    for (uint32_t i = 0; i < set.count; i++) {
        uint32_t low, high, target = to.slot[set.count - 1 - i];
        limits(a, set.slot[i], &low, &high);
        if (low >= target || !move_to(a, set.slot[i], target))
            return false;
    }
    return true;
}

/* Moves the computation in `slot` behind `goal`, together with all that reads it before. */
static bool move_later(pbi_anneal *a, uint32_t slot, uint32_t goal)
{
    group set = {.count = 0}, to = {.count = 0};
    if (!join_readers(a, &set, slot, goal))
        return false;
    for (uint32_t s = goal + 1; s < a->t.profile.slots && to.count < set.count && s < goal + NEAR; s++)
        if (a->t.event[s] == PBI_EMPTY)
            to.slot[to.count++] = s;
    if (to.count < set.count)
        return false;
    for (uint32_t i = set.count; i-- > 0;) {
        uint32_t low, high;
        limits(a, set.slot[i], &low, &high);
        if (first_read(a, set.slot[i], high) <= to.slot[i] || !move_to(a, set.slot[i], to.slot[i]))
            return false;
    }
    return true;
}

/* A random distance to move, log-uniform. */
static uint32_t distance(pbi_anneal *a)
{
    uint32_t far = a->t.profile.slots / 8 + 2, bits = 32 - (uint32_t)__builtin_clz(far);
    far >>= random_below(a, bits);
    return 1 + random_below(a, far + 1);
}

static bool propose_pull(pbi_anneal *a)
{
    uint32_t slot = a->t.where[random_below(a, a->t.filled)], back = distance(a);
    return slot > back && move_earlier(a, slot, slot - back);
}

static bool propose_push(pbi_anneal *a)
{
    uint32_t slot = a->t.where[random_below(a, a->t.filled)], on = distance(a);
    return slot + on < a->t.profile.slots && move_later(a, slot, slot + on);
}

bool pbi_propose(pbi_anneal *a)
{
    uint32_t kind = random_below(a, 20);
    if (kind < 8)
        return propose_repeat(a);
    if (kind < 12)
        return propose_drop(a);
    if (kind < 16)
        return propose_drop(a) && propose_repeat(a); /* replace it by another */
    if (kind < 18)
        return propose_move(a);
    return kind < 19 ? propose_pull(a) : propose_push(a);
}
