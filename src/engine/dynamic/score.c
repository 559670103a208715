/* score.c -- what evicting a value would cost, by the policies of dynamic tensor rematerialisation.
 *
 * Source: M. Kirisame and others, "Dynamic tensor rematerialization", ICLR 2021. The full score adds the costs of all
 * evicted values that would have to be computed too (evicted ancestors) or whose computation would cost more (evicted
 * descendants). The classes of the second score are a union-find forest: a value that becomes resident again takes its
 * cost out of its class, but does not split it.
 */
#include "engine/dynamic/parts.h"

#include "base/arena.h"

static uint32_t class_of(pb_dynamic *o, uint32_t c)
{
    while (o->group_parent[c] != c)
        c = o->group_parent[c] = o->group_parent[o->group_parent[c]];
    return c;
}

static bool is_evicted(const pb_dynamic *o, pb_value v)
{
    return o->record[v].piece == PBI_NO_PIECE && (o->record[v].flags & PBI_KNOWN) && o->record[v].group != UINT32_MAX;
}

static void unite(pb_dynamic *o, uint32_t c, pb_value w)
{
    if (!is_evicted(o, w))
        return;
    uint32_t a = class_of(o, c), b = class_of(o, o->record[w].group);
    if (a == b)
        return;
    o->group_parent[a] = b;
    o->group_cost[b] += o->group_cost[a];
}

/* Removes empty classes: those in use get the first numbers, in the same order. */
static void renumber(pb_dynamic *o)
{
    uint32_t count = 0;
    for (pb_value v = 0; v < o->record_count; v++)
        if (is_evicted(o, v))
            o->record[v].group = class_of(o, o->record[v].group);
    for (uint32_t c = 0; c < o->group_count; c++)
        o->group_parent[c] = UINT32_MAX;
    for (pb_value v = 0; v < o->record_count; v++)
        if (is_evicted(o, v))
            o->group_parent[o->record[v].group] = 0;
    for (uint32_t c = 0; c < o->group_count; c++)
        if (o->group_parent[c] == 0) {
            o->group_cost[count] = o->group_cost[c];
            o->group_parent[c] = count++;
        }
    for (pb_value v = 0; v < o->record_count; v++)
        if (is_evicted(o, v))
            o->record[v].group = o->group_parent[o->record[v].group];
    for (uint32_t c = 0; c < count; c++)
        o->group_parent[c] = c;
    o->group_count = count;
}

pb_status pbi_dynamic_left(pb_dynamic *o, pb_value v)
{
    pbi_record *r = &o->record[v];
    if (o->options.policy != PB_DYNAMIC_DTR_EQ) {
        r->group = 0;
        return PB_OK;
    }
    if (o->group_count > 2 * o->record_count + 64)
        renumber(o);
    void *cost = o->group_cost, *parent = o->group_parent;
    bool room = pbi_arena_reserve(&o->arena, &cost, &o->group_room, (size_t)o->group_count + 1, sizeof *o->group_cost);
    o->group_cost = cost;
    if (room)
        room = pbi_arena_reserve(&o->arena, &parent, &o->group_parent_room, (size_t)o->group_count + 1,
                                 sizeof *o->group_parent);
    o->group_parent = parent;
    if (!room)
        return PB_ENOMEM;
    uint32_t c = o->group_count++;
    o->group_parent[c] = c;
    o->group_cost[c] = r->cost;
    r->group = c;
    for (uint32_t i = 0; i < r->inputs; i++)
        unite(o, c, o->reading[r->reading + i].input);
    for (uint32_t i = r->readers; i != UINT32_MAX; i = o->reading[i].after)
        unite(o, c, o->reading[i].reader);
    return PB_OK;
}

void pbi_dynamic_came_back(pb_dynamic *o, pb_value v)
{
    pbi_record *r = &o->record[v];
    if (r->group != UINT32_MAX && o->options.policy == PB_DYNAMIC_DTR_EQ) {
        uint32_t c = class_of(o, r->group);
        o->group_cost[c] -= r->cost < o->group_cost[c] ? r->cost : o->group_cost[c];
    }
    r->group = UINT32_MAX;
}

static uint64_t classes_around(pb_dynamic *o, pb_value v)
{
    const pbi_record *r = &o->record[v];
    uint32_t seen[64], count = 0;
    uint64_t sum = 0;
    for (int side = 0; side < 2; side++) {
        uint32_t i = side ? r->readers : 0;
        while (side ? i != UINT32_MAX : i < r->inputs) {
            pb_value w = side ? o->reading[i].reader : o->reading[r->reading + i].input;
            i = side ? o->reading[i].after : i + 1;
            if (!is_evicted(o, w))
                continue;
            uint32_t c = class_of(o, o->record[w].group), k = 0;
            while (k < count && seen[k] != c)
                k++;
            if (k < count)
                continue;
            if (count < 64)
                seen[count++] = c;
            sum += o->group_cost[c];
        }
    }
    return sum;
}

/* All evicted values that are reached over evicted values: ancestors, or descendants. */
static uint64_t reached(pb_dynamic *o, pb_value v, bool up)
{
    uint64_t sum = 0;
    size_t depth = 0;
    pb_value *stack = o->search, at = v;
    o->mark++;
    o->record[v].mark = o->mark;
    for (;;) {
        const pbi_record *r = &o->record[at];
        uint32_t i = up ? 0 : r->readers;
        while (up ? i < r->inputs : i != UINT32_MAX) {
            pb_value w = up ? o->reading[r->reading + i].input : o->reading[i].reader;
            i = up ? i + 1 : o->reading[i].after;
            if (!is_evicted(o, w) || o->record[w].mark == o->mark)
                continue;
            o->record[w].mark = o->mark;
            sum += o->record[w].cost;
            stack[depth++] = w;
        }
        if (!depth)
            return sum;
        at = stack[--depth];
    }
}

double pbi_dynamic_score(pb_dynamic *o, pb_value v)
{
    const pbi_record *r = &o->record[v];
    double stale = (double)(o->now - r->used_at + 1), size = (double)(r->size ? r->size : 1),
           cost = (double)r->cost + 1;
    switch (o->options.policy) {
    case PB_DYNAMIC_DTR: return (cost + (double)reached(o, v, true) + (double)reached(o, v, false)) / (size * stale);
    case PB_DYNAMIC_DTR_EQ: return (cost + (double)classes_around(o, v)) / (size * stale);
    case PB_DYNAMIC_LRU: return 1 / stale;
    case PB_DYNAMIC_LARGEST: return 1 / size;
    default: return cost / (size * stale);
    }
}

const char *pb_dynamic_policy_name(pb_dynamic_policy policy)
{
    static const char *const names[] = {"dtr", "dtr-eq", "dtr-local", "lru", "largest"};
    return (unsigned)policy < PB_DYNAMIC_POLICIES ? names[policy] : "unknown";
}
