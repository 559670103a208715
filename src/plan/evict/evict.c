/* evict.c -- see evict.h. */
#include "plan/evict/evict.h"

#include "base/checked.h"
#include "plan/reversible/units.h"

#include <string.h>

enum { EXAMINE_ALL = 1024, SAMPLE = 256 };

static const pb_policy policies[] = {
    {"abort", "evict nothing: stop when memory is full"},
    {"oldest", "the value that was computed first"},
    {"least-recent", "the value that was read least recently"},
    {"random", "a random value"},
    {"largest", "the largest value"},
    {"priority",
     "the lowest priority of its node; if equal, the least recompute cost per size and time since its last use"},
};

const pb_policy *pb_policies(uint32_t *count)
{
    *count = sizeof policies / sizeof *policies;
    return policies;
}

const char *pbi_policy_name(pbi_policy policy) { return policies[policy].name; }

bool pbi_policy_parse(const char *name, pbi_policy *out)
{
    *out = PBI_PRIORITY;
    if (!name)
        return true;
    for (unsigned i = 0; i < sizeof policies / sizeof *policies; i++)
        if (strcmp(policies[i].name, name) == 0) {
            *out = (pbi_policy)i;
            return true;
        }
    return false;
}

pb_status pbi_evict_init(pbi_evict *e, const pb_graph *g, pbi_policy policy, uint64_t seed, const uint8_t *resident,
                         pb_arena *scratch)
{
    size_t n = g->node_count;
    *e = (pbi_evict){.g = g, .resident = resident, .policy = policy, .rng = {seed}};
    e->item = pb_arena_alloc(scratch, n, sizeof *e->item);
    e->where = pb_arena_zero(scratch, n, sizeof *e->where);
    e->busy = pb_arena_zero(scratch, n, sizeof *e->busy);
    e->key = pb_arena_zero(scratch, n, sizeof *e->key);
    e->made = pb_arena_zero(scratch, n, sizeof *e->made);
    e->touched = pb_arena_zero(scratch, n, sizeof *e->touched);
    return e->item && e->where && e->busy && e->key && e->made && e->touched ? PB_OK : PB_ENOMEM;
}

void pbi_evict_made(pbi_evict *e, pb_node v)
{
    e->made[v] = e->touched[v] = ++e->clock;
    if (e->scorer)
        e->scorer->made(e->scorer->state, v);
}

void pbi_evict_touched(pbi_evict *e, pb_node v)
{
    e->touched[v] = ++e->clock;
    if (e->scorer)
        e->scorer->touched(e->scorer->state, v);
}

void pbi_evict_gone(pbi_evict *e, pb_node v, bool dead)
{
    if (e->scorer)
        e->scorer->gone(e->scorer->state, v, dead);
}

static bool before(const pbi_evict *e, pb_node a, pb_node b)
{
    if (e->busy[a] != e->busy[b])
        return e->busy[a] < e->busy[b];
    return e->key[a] != e->key[b] ? e->key[a] < e->key[b] : a < b;
}

static void place_at(pbi_evict *e, uint32_t at, pb_node v)
{
    e->item[at] = v;
    e->where[v] = at + 1;
}

static void sift(pbi_evict *e, uint32_t at, pb_node v)
{
    if (e->policy != PBI_PRIORITY) {
        while (at && before(e, v, e->item[(at - 1) / 2])) {
            place_at(e, at, e->item[(at - 1) / 2]);
            at = (at - 1) / 2;
        }
        for (uint32_t child; (child = 2 * at + 1) < e->count; at = child) {
            if (child + 1 < e->count && before(e, e->item[child + 1], e->item[child]))
                child++;
            if (!before(e, e->item[child], v))
                break;
            place_at(e, at, e->item[child]);
        }
    }
    place_at(e, at, v);
}

void pbi_evict_add(pbi_evict *e, pb_node v, bool idle)
{
    if (e->where[v])
        pbi_evict_remove(e, v);
    switch (e->policy) {
    case PBI_OLDEST: e->key[v] = e->made[v]; break;
    case PBI_LEAST_RECENT: e->key[v] = e->touched[v]; break;
    case PBI_RANDOM: e->key[v] = pbi_rng_next(&e->rng); break;
    case PBI_LARGEST: e->key[v] = UINT64_MAX - e->g->size[v]; break;
    default: break;
    }
    e->busy[v] = !idle;
    sift(e, e->count++, v);
}

void pbi_evict_remove(pbi_evict *e, pb_node v)
{
    uint32_t at = e->where[v];
    if (!at--)
        return;
    e->where[v] = 0;
    pb_node last = e->item[--e->count];
    if (last != v)
        sift(e, at, last);
}

uint64_t pbi_evict_recompute_cost(const pbi_evict *e, pb_node v)
{
    const pb_graph *g = e->g;
    pb_node maker = pb_graph_maker(g, v);
    uint64_t cost = g->cost[maker];
    for (uint32_t k = g->in_start[maker]; k < g->in_start[maker + 1]; k++)
        if (!e->resident[g->in[k]])
            cost = pbi_add_saturated(cost, g->cost[pb_graph_maker(g, g->in[k])]);
    for (uint32_t by = e->recipes ? pb_graph_recipes(g, v) : 0; by > 0; by--) {
        pb_way way = pb_graph_way(g, v, by);
        uint64_t now = way.cost;
        for (uint32_t k = 0; k < way.in_count; k++)
            if (!e->resident[way.in[k]])
                now = pbi_add_saturated(now, g->cost[pb_graph_maker(g, way.in[k])]);
        cost = now < cost ? now : cost;
    }
    return cost;
}

static double score(const pbi_evict *e, pb_node v)
{
    double stale = (double)(e->clock - e->touched[v] + 1);
    return (double)pbi_evict_recompute_cost(e, v) / ((double)e->g->size[v] * stale);
}

/* How many candidates does a search for the smallest score examine? */
static uint32_t sample_size(const pbi_evict *e)
{
    if (!e->scorer && e->g->priority)
        return e->count; /* a sample may miss the lowest priority */
    uint32_t all = e->scorer && e->scorer->all ? e->scorer->all : EXAMINE_ALL;
    uint32_t sample = e->scorer && e->scorer->sample ? e->scorer->sample : SAMPLE;
    return e->count <= all ? e->count : sample;
}

/* Idle values go first, then those of lower priority. A scorer has its own idea of what is important. */
static int compare_kinds(const pbi_evict *e, pb_node a, pb_node b)
{
    if (e->busy[a] != e->busy[b])
        return e->busy[a] < e->busy[b] ? -1 : 1;
    uint64_t x = e->scorer ? 0 : pbi_priority_of(e->g, a), y = e->scorer ? 0 : pbi_priority_of(e->g, b);
    return x < y ? -1 : x > y;
}

static pb_node min_score(pbi_evict *e)
{
    pb_node best = PB_NO_NODE;
    double min = 0;
    uint32_t examined = sample_size(e);
    bool all = examined == e->count;
    for (uint32_t i = 0; i < examined; i++) {
        pb_node v = e->item[all ? i : pbi_rng_below(&e->rng, e->count)];
        double now = e->scorer ? e->scorer->score(e->scorer->state, v) : score(e, v);
        int order = best == PB_NO_NODE ? -1 : compare_kinds(e, v, best);
        if (order < 0 || (order == 0 && (now < min || (now == min && v < best)))) {
            best = v;
            min = now;
        }
    }
    return best;
}

uint64_t pbi_evict_effort(const pbi_evict *e)
{
    uint64_t spent = 0;
    if (e->policy != PBI_PRIORITY)
        return 1;
    if (e->scorer) {
        spent = e->scorer->spent;
        e->scorer->spent = 0;
    }
    return spent + sample_size(e);
}

pb_node pbi_evict_first(pbi_evict *e)
{
    if (!e->count || e->policy == PBI_ABORT)
        return PB_NO_NODE;
    return e->policy == PBI_PRIORITY ? min_score(e) : e->item[0];
}
