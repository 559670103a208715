/* lanes_check.c -- what follows from a sequence of computations. See lanes.h.
 *
 * One pass in the order of the computations: each use of a value ends a gap, and settles what happened to the value
 * after its previous use. The memory of a computation is known when all later uses are, because an input that is not
 * needed any more may be overwritten; so loads are summed up in a second pass.
 */
#include "plan/lanes/lanes.h"

#include <string.h>

static void start_check(const pbi_lanes *l, uint32_t count)
{
    const pbi_lanes_facts *f = &l->facts;
    const uint32_t *start = l->game->timing->start;
    memset(f->load, 0, ((size_t)count + 1) * sizeof *f->load);
    memset(f->touched_use, 0xff, l->g->node_count * sizeof *f->touched_use);
    for (pb_node v = 0; v < l->g->node_count; v++) {
        f->touched[v] = start[v] == UINT32_MAX ? PBI_NEVER : PBI_AT_START;
        f->after_start[v] = PBI_LANES_FREE;
    }
}

/* The value u is used, or kept until the end, after its last use so far. */
static void set_after(const pbi_lanes *l, pb_node u, uint8_t what)
{
    const pbi_lanes_facts *f = &l->facts;
    if (f->touched_use[u] != PBI_NEVER)
        f->after_use[f->touched_use[u]] = what;
    else if (f->touched[u] == PBI_AT_START)
        f->after_start[u] = what;
    else
        f->after_make[f->output[u]] = what;
}

/* The by-product w is made by the computation that could make it last. */
static void make_part(const pbi_lanes *l, pb_node w)
{
    const pbi_lanes_facts *f = &l->facts;
    if (f->touched_use[w] != PBI_NEVER || f->touched[w] >= PBI_AT_START ||
        f->after_make[f->output[w]] != PBI_LANES_ABSENT)
        return;
    f->after_make[f->output[w]] = PBI_LANES_FREE;
    f->load[f->touched[w]] += l->g->size[w];
    f->load[f->touched[w] + 1] -= l->g->size[w];
}

/* Input k of step i is use number `use`. */
static bool check_use(const pbi_lanes *l, const pbi_lanes_plan *p, uint32_t i, uint32_t k, uint32_t use)
{
    const pbi_lanes_facts *f = &l->facts;
    pb_node u = pbi_lanes_way(l, &p->step[i])->in[k];
    uint32_t from = f->touched[u], begin = from == PBI_AT_START ? 0 : from + 1;
    bool fetched = l->can_fetch && pbi_lanes_fetches(&p->step[i], k);
    bool outside = from == PBI_AT_START && l->game->timing->start[u] != l->memory;
    if (from == PBI_NEVER || (outside && !fetched))
        return false;
    uint64_t size = l->g->size[u];
    make_part(l, u);
    f->load[fetched ? i : begin] += size;
    f->load[i + 1] -= size;
    f->from[use] = from;
    set_after(l, u, fetched ? PBI_LANES_EVICT : PBI_LANES_KEEP);
    f->after_use[use] = PBI_LANES_FREE;
    f->touched[u] = i;
    f->touched_use[u] = use;
    return true;
}

/* Step i makes its value, and its by-products as far as they are used. */
static bool check_make(const pbi_lanes *l, const pbi_lane_way *w, uint32_t i, uint32_t output)
{
    const pbi_lanes_facts *f = &l->facts;
    pb_node v = w->node;
    uint64_t made = l->g->size[v] + w->workspace;
    if ((size_t)(w - l->way) >= l->g->node_count) { /* by a recipe: it has existed */
        if (f->touched[v] == PBI_NEVER)
            return false;
        make_part(l, v);
    }
    f->load[i] += made;
    f->load[i + 1] -= made;
    for (uint32_t k = 0; k <= w->part_count; k++) {
        pb_node x = pbi_lanes_output(l, w, k);
        bool target = k && f->touched[x] == PBI_NEVER && (l->g->flags[x] & PB_NODE_TARGET);
        f->touched[x] = i;
        f->touched_use[x] = PBI_NEVER;
        f->output[x] = output + k;
        f->after_make[output + k] = k ? PBI_LANES_ABSENT : PBI_LANES_FREE;
        if (target)
            make_part(l, x);
    }
    return true;
}

/* Kept values stay after their last use. */
static bool check_end(const pbi_lanes *l, uint32_t count)
{
    const pbi_lanes_facts *f = &l->facts;
    for (pb_node v = 0; v < l->g->node_count; v++) {
        if (!(l->g->flags[v] & PB_NODE_KEEP))
            continue;
        if (f->touched[v] == PBI_NEVER)
            return false;
        if (f->touched[v] == PBI_AT_START && l->game->timing->start[v] != l->memory)
            continue; /* kept where it is */
        make_part(l, v);
        f->load[f->touched[v] == PBI_AT_START ? 0 : f->touched[v] + 1] += l->g->size[v];
        f->load[count] -= l->g->size[v];
        set_after(l, v, PBI_LANES_KEEP);
    }
    return true;
}

/* The memory that step i saves by overwriting an input that leaves memory anyway. */
static uint64_t choose_over(const pbi_lanes *l, const pbi_lane_way *w, uint32_t i)
{
    const pbi_lanes_facts *f = &l->facts;
    uint64_t best = 0;
    f->over[i] = PBI_NEVER;
    for (uint32_t k = w->over_start; k < w->over_start + w->over_count; k++) {
        const pbi_lane_over *o = &l->over[k];
        if (o->saved <= best || f->after_use[f->use_start[i] + o->input] == PBI_LANES_KEEP)
            continue;
        best = o->saved;
        f->over[i] = o->input;
    }
    return best;
}

static void sum_loads(const pbi_lanes *l, const pbi_lanes_plan *p)
{
    pbi_lanes_facts *f = (pbi_lanes_facts *)&l->facts;
    uint64_t load = l->fixed;
    f->worst = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const pbi_lane_way *w = pbi_lanes_way(l, &p->step[i]);
        load += f->load[i];
        f->load[i] = load - choose_over(l, w, i);
        f->worst = f->load[i] > f->load[f->worst] ? i : f->worst;
    }
}

bool pbi_lanes_check(const pbi_lanes *l, const pbi_lanes_plan *p)
{
    const pbi_lanes_facts *f = &l->facts;
    uint32_t use = 0, output = 0;
    start_check(l, p->count);
    for (uint32_t i = 0; i < p->count; i++) {
        const pbi_lane_way *w = pbi_lanes_way(l, &p->step[i]);
        f->use_start[i] = use;
        f->make_start[i] = output;
        if (w->in_count > l->most_uses - use || w->part_count >= l->most_makes - output)
            return false;
        for (uint32_t k = 0; k < w->in_count; k++)
            if (!check_use(l, p, i, k, use++))
                return false;
        if (!check_make(l, w, i, output))
            return false;
        output += 1 + w->part_count;
    }
    f->use_start[p->count] = use;
    f->make_start[p->count] = output;
    if (!check_end(l, p->count))
        return false;
    sum_loads(l, p);
    return true;
}
