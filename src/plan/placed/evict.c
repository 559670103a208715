/* evict.c -- addresses for new values: a gap, or the room of adjacent values that are cheap to recompute. */
#include "base/rng.h"
#include "plan/placed/placer.h"

#include <math.h>

enum {
    VISITS = 100, /* computations that an estimate looks at */
    FRESH = 8     /* computations after which a value is estimated again */
};
#define OVER 0.001 /* what the script does not read again costs this part of its recomputation */

bool pbi_placer_next_read(pbi_placer *r, pb_node v, uint32_t *event, uint32_t *until)
{
    const pbi_script *s = r->script;
    uint32_t i = r->touch[v], end = s->touch_start[v + 1];
    while (i < end && s->touch[i].event < r->now)
        i++;
    r->touch[v] = i;
    if (i == end || !s->touch[i].read)
        return false;
    *event = s->touch[i].event;
    *until = s->touch[i].until;
    return true;
}

/* The cost of recomputing v with all that is missing for it, at least; INFINITY if that is impossible. */
static double estimate(pbi_placer *r, pb_node v)
{
    const pb_graph *g = r->g;
    uint32_t count = 0, visits = 0;
    double sum = 0;
    r->stamp_now++;
    r->todo[count++] = pb_graph_maker(g, v);
    r->stamp[r->todo[0]] = r->stamp_now;
    while (count && visits++ < VISITS) {
        pb_node u = r->todo[--count];
        if (g->flags[u] & PB_NODE_GIVEN || (g->flags[u] & PB_NODE_ONCE && r->computed[u]))
            return INFINITY;
        sum += (double)g->cost[u];
        for (uint32_t k = g->in_start[u]; k < g->in_start[u + 1]; k++) {
            pb_node maker = pb_graph_maker(g, g->in[k]);
            if (r->resident[g->in[k]] || r->stamp[maker] == r->stamp_now)
                continue;
            r->stamp[maker] = r->stamp_now;
            r->todo[count++] = maker;
        }
    }
    r->steps += visits / 8;
    return sum;
}

/* Few values change from one eviction to the next. Estimates from before this call are not used, so that a plan can be
 * continued from a copy of its state. */
static double recent_estimate(pbi_placer *r, pb_node v)
{
    if (r->guessed_at[v] < r->begun || r->clock - r->guessed_at[v] >= FRESH) {
        r->guess[v] = (float)estimate(r, v);
        r->guessed_at[v] = r->clock;
    }
    return (double)r->guess[v];
}

/* What evicting a value costs, as far as it can be seen. */
static double price(pbi_placer *r, pb_node v)
{
    uint32_t event, until;
    if (v == PB_NO_NODE || r->pins[v])
        return INFINITY;
    if (!pbi_placer_next_read(r, v, &event, &until))
        return OVER * (double)r->g->cost[pb_graph_maker(r->g, v)];
    double cost = recent_estimate(r, v), distance = 1 + (double)(event - r->now);
    switch (r->rules.far) {
    case 0: return cost;
    case 1: return cost / sqrt(sqrt(distance));
    case 2: return cost / sqrt(distance);
    case 3: return cost / sqrt(distance * sqrt(distance));
    default: return cost / distance;
    }
}

static bool evict(pbi_placer *r, uint64_t size)
{
    uint32_t first, last;
    pbi_slabs *b = &r->block;
    for (uint32_t i = 0; i < b->count; i++)
        r->cost[i] = price(r, b->slab[i].node);
    r->steps += b->count / 8;
    if (!pbi_slab_window(b, size, r->cost, &first, &last))
        return false;
    for (uint32_t i = first; i < last; i++)
        r->resident[b->slab[i].node] = 0;
    pbi_slab_remove(b, first, last);
    return true;
}

static pbi_fit choose_fit(const pbi_placer *r, uint64_t size, uint32_t until)
{
    pbi_rng random = {((uint64_t)r->rules.mix << 32) + (r->clock - r->begun) + r->now};
    bool mixed = r->rules.fit == PBI_FIT_COUNT;
    pbi_fit fit = mixed ? (pbi_fit)pbi_rng_below(&random, PBI_FIT_COUNT) : (pbi_fit)r->rules.fit;
    uint32_t life = until > r->now ? until - r->now : 0;
    if (fit == PBI_FIT_BY_LIFE)
        return life > r->script->count / 16 ? PBI_FIT_LOW : PBI_FIT_HIGH;
    if (fit == PBI_FIT_BY_SIZE)
        return size > r->script->median ? PBI_FIT_LOW : PBI_FIT_HIGH;
    return fit;
}

bool pbi_placer_find_gap(pbi_placer *r, uint64_t size, uint32_t until, uint64_t *at)
{
    pbi_slab_request request = {size, until, choose_fit(r, size, until)};
    r->steps += r->block.count / 32;
    return pbi_slab_find(&r->block, &request, at);
}

bool pbi_placer_allocate(pbi_placer *r, uint64_t size, uint32_t until, uint64_t *at)
{
    return pbi_placer_find_gap(r, size, until, at) || (evict(r, size) && pbi_placer_find_gap(r, size, until, at));
}
