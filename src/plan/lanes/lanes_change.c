/* lanes_change.c -- changes of a plan, and how it is made to fit again. See lanes.h.
 *
 * A repeat of a computation needs no preparation: the lives of its inputs simply become longer. Where that needs too
 * much memory, the repair fetches these values, or recomputes them in turn.
 */
#include "plan/lanes/lanes.h"

#include <string.h>

enum { REPAIRS = 8, GAP_TRIES = 16, MAX_SHIFT = 24, MAX_DEEP = 24 };

/* A use of a value and the gap before it. */
typedef struct gap {
    uint32_t at, k;  /* input k of computation `at` */
    uint32_t length; /* computations in between */
    pb_node node;
} gap;

static bool is_fetched(const pbi_lanes_plan *p, const gap *x) { return pbi_lanes_fetches(&p->step[x->at], x->k); }

static bool may_fetch(const pbi_lanes *l, const gap *x) { return l->can_fetch && x->k < PBI_LANES_MAX_FETCH; }

static bool may_repeat(const pbi_lanes *l, pb_node v)
{
    pb_node maker = pb_graph_maker(l->g, v);
    return pb_graph_is_computed(l->g, maker) && !(l->g->flags[maker] & PB_NODE_ONCE);
}

static uint32_t recipes_of(const pbi_lanes *l, pb_node v)
{
    return l->way_count > l->g->node_count ? pb_graph_recipes(l->g, v) : 0;
}

static bool may_recompute(const pbi_lanes *l, pb_node v) { return may_repeat(l, v) || recipes_of(l, v); }

/* How v is recomputed: by its own inputs or by a recipe, at random. PBI_NEVER: there is no way on the processor. */
static uint32_t pick_way(const pbi_lanes *l, pb_node v, pbi_rng *rng)
{
    uint32_t recipes = recipes_of(l, v), own = may_repeat(l, v);
    uint32_t pick = recipes ? (uint32_t)pbi_rng_below(rng, recipes + own) : 0;
    uint32_t way = pick < own ? pb_graph_maker(l->g, v)
                              : l->g->node_count + (l->g->recipe_start ? l->g->recipe_start[v] : 0) + pick - own;
    return l->way[way].duration == PB_NO_TIME ? PBI_NEVER : way;
}

/* Input k of computation i. */
static gap gap_of(const pbi_lanes *l, const pbi_lanes_plan *p, uint32_t i, uint32_t k)
{
    uint32_t from = l->facts.from[l->facts.use_start[i] + k];
    return (gap){i, k, from == PBI_AT_START ? i : i - from - 1, pbi_lanes_way(l, &p->step[i])->in[k]};
}

static void insert(pbi_lanes_plan *p, uint32_t at, pbi_lane_step step)
{
    memmove(p->step + at + 1, p->step + at, (p->count - at) * sizeof *p->step);
    p->step[at] = step;
    p->count++;
}

static void erase(pbi_lanes_plan *p, uint32_t at)
{
    p->count--;
    memmove(p->step + at, p->step + at + 1, (p->count - at) * sizeof *p->step);
}

static bool recompute_before(const pbi_lanes *l, pbi_lanes_plan *p, const gap *x, pbi_rng *rng)
{
    if (!may_recompute(l, x->node) || p->count == l->most)
        return false;
    uint32_t way = pick_way(l, x->node, rng);
    if (way == PBI_NEVER)
        return false;
    if (x->k < PBI_LANES_MAX_FETCH)
        p->step[x->at].fetch &= ~(UINT64_C(1) << x->k);
    insert(p, x->at, (pbi_lane_step){way, p->step[x->at].distance, 0});
    return true;
}

/* ---- recomputation with what it needs ---- */

/* What is in memory when the computation `at` begins, apart from what is fetched for it: sets facts.touched_use. */
static void find_resident(const pbi_lanes *l, const pbi_lanes_plan *p, uint32_t at)
{
    const pbi_lanes_facts *f = &l->facts;
    memset(f->touched_use, 0, l->g->node_count * sizeof *f->touched_use);
    for (uint32_t i = at; i < p->count; i++) {
        const pbi_lane_way *w = pbi_lanes_way(l, &p->step[i]);
        for (uint32_t k = 0; k < w->in_count; k++) {
            uint32_t from = f->from[f->use_start[i] + k];
            if ((from == PBI_AT_START || from < at) && !pbi_lanes_fetches(&p->step[i], k))
                f->touched_use[w->in[k]] = 1;
        }
    }
}

typedef struct chain {
    uint32_t way[MAX_DEEP];
    uint32_t count;
} chain;

/* Adds the way, after recomputations of most of what it reads and is not in memory. */
static void add_chain(const pbi_lanes *l, chain *c, uint32_t way, uint32_t depth, pbi_rng *rng)
{
    const pbi_lane_way *w = &l->way[way];
    l->facts.touched_use[w->node] = 1;
    for (uint32_t k = 0; k < w->in_count && depth < MAX_DEEP; k++) {
        pb_node u = w->in[k];
        if (l->facts.touched_use[u] || !may_recompute(l, u) || pbi_rng_below(rng, 4) == 0)
            continue;
        uint32_t other = pick_way(l, u, rng);
        if (other != PBI_NEVER && !l->facts.touched_use[l->way[other].node])
            add_chain(l, c, other, depth + 1, rng);
    }
    if (c->count < MAX_DEEP)
        c->way[c->count++] = way;
}

/* As recompute_before, and of what it needs most is recomputed too instead of living longer. */
static bool recompute_deep(const pbi_lanes *l, pbi_lanes_plan *p, const gap *x, pbi_rng *rng)
{
    chain c = {.count = 0};
    uint32_t way = may_recompute(l, x->node) ? pick_way(l, x->node, rng) : PBI_NEVER;
    if (way == PBI_NEVER || p->count + MAX_DEEP > l->most)
        return false;
    find_resident(l, p, x->at);
    add_chain(l, &c, way, 0, rng);
    uint32_t distance = p->step[x->at].distance;
    if (x->k < PBI_LANES_MAX_FETCH)
        p->step[x->at].fetch &= ~(UINT64_C(1) << x->k);
    memmove(p->step + x->at + c.count, p->step + x->at, (p->count - x->at) * sizeof *p->step);
    p->count += c.count;
    for (uint32_t i = 0; i < c.count; i++)
        p->step[x->at + i] = (pbi_lane_step){c.way[i], distance, 0};
    return true;
}

/* ---- repair ---- */

/* The values that are only kept while the worst computation runs, in the order of their next uses: calls for each. */
typedef struct picker {
    gap best;
    double score;
    uint32_t seen;
} picker;

static void consider(const pbi_lanes *l, picker *x, const gap *g, pbi_lanes_relief relief, pbi_rng *rng)
{
    double size = (double)l->g->size[g->node], score = size * g->length;
    if (relief == PBI_RELIEF_MIXED) /* a random one, large ones more often */
        score = size * pbi_rng_real(rng);
    x->seen++;
    if (score > x->score) {
        x->score = score;
        x->best = *g;
    }
}

/* The gap to end: it spans the worst computation, and its value is kept. */
static bool pick_gap(const pbi_lanes *l, const pbi_lanes_plan *p, pbi_lanes_relief relief, pbi_rng *rng, gap *out)
{
    const pbi_lanes_facts *f = &l->facts;
    uint32_t worst = f->worst;
    picker x = {.score = 0};
    for (uint32_t i = worst + 1; i < p->count; i++)
        for (uint32_t use = f->use_start[i], k = 0; use < f->use_start[i + 1]; use++, k++) {
            if (f->from[use] != PBI_AT_START && f->from[use] >= worst)
                continue;
            gap g = gap_of(l, p, i, k);
            if (is_fetched(p, &g) || !(may_fetch(l, &g) || (relief == PBI_RELIEF_MIXED && may_recompute(l, g.node))))
                continue;
            consider(l, &x, &g, relief, rng);
        }
    *out = x.best;
    return x.score > 0;
}

bool pbi_lanes_repair(const pbi_lanes *l, pbi_lanes_plan *p, pbi_lanes_relief relief, uint32_t tries, pbi_rng *rng)
{
    gap x;
    while (pbi_lanes_check(l, p)) {
        if (pbi_lanes_fits(l, p))
            return true;
        if (tries-- == 0 || !pick_gap(l, p, relief, rng, &x))
            return false;
        bool fetch =
            may_fetch(l, &x) && (relief == PBI_RELIEF_FETCH || !may_recompute(l, x.node) || pbi_rng_next(rng) & 1);
        if (fetch)
            p->step[x.at].fetch |= UINT64_C(1) << x.k;
        else if (!(pbi_rng_next(rng) & 1 ? recompute_deep(l, p, &x, rng) : recompute_before(l, p, &x, rng)))
            return false;
    }
    return false;
}

/* ---- changes ---- */

/* A random use with a gap, fetched or not as asked for. */
static bool random_gap(const pbi_lanes *l, const pbi_lanes_plan *p, bool fetched, pbi_rng *rng, gap *out)
{
    for (int i = 0; i < GAP_TRIES; i++) {
        uint32_t at = (uint32_t)pbi_rng_below(rng, p->count),
                 inputs = l->facts.use_start[at + 1] - l->facts.use_start[at];
        if (!inputs || (fetched && !p->step[at].fetch))
            continue;
        *out = gap_of(l, p, at, (uint32_t)pbi_rng_below(rng, inputs));
        if (out->length && is_fetched(p, out) == fetched)
            return true;
    }
    return false;
}

/* A computation whose node was computed before. */
static bool random_repeat(const pbi_lanes *l, const pbi_lanes_plan *p, pbi_rng *rng, uint32_t *out)
{
    uint8_t *seen = l->facts.after_start;
    uint32_t count = 0;
    for (pb_node v = 0; v < l->g->node_count; v++)
        seen[v] = l->game->timing->start[v] != UINT32_MAX;
    for (uint32_t i = 0; i < p->count; i++) {
        const pbi_lane_way *w = pbi_lanes_way(l, &p->step[i]);
        if (seen[w->node] && pbi_rng_below(rng, ++count) == 0)
            *out = i;
        for (uint32_t k = 0; k <= w->part_count; k++)
            seen[pbi_lanes_output(l, w, k)] = 1;
    }
    return count > 0;
}

/* The repeat goes; its first use reads the older value, kept or fetched. */
static bool drop_repeat(const pbi_lanes *l, pbi_lanes_plan *p, pbi_rng *rng)
{
    uint32_t at = 0;
    if (!random_repeat(l, p, rng, &at))
        return false;
    pb_node v = pbi_lanes_way(l, &p->step[at])->node;
    erase(p, at);
    bool fetch = l->can_fetch && pbi_rng_next(rng) & 1;
    for (uint32_t i = at; i < p->count && fetch; i++) {
        const pbi_lane_way *w = pbi_lanes_way(l, &p->step[i]);
        for (uint32_t k = 0; k < w->in_count && k < PBI_LANES_MAX_FETCH; k++)
            if (w->in[k] == v) {
                p->step[i].fetch |= UINT64_C(1) << k;
                return true;
            }
    }
    return true;
}

/* Repeats whose results nothing reads: their first computations have to stay. The plan is checked before. */
static bool drop_useless(const pbi_lanes *l, pbi_lanes_plan *p)
{
    const pbi_lanes_facts *f = &l->facts;
    uint32_t *seen = f->touched_use, kept = 0;
    for (pb_node v = 0; v < l->g->node_count; v++)
        seen[v] = l->game->timing->start[v] != UINT32_MAX;
    for (uint32_t i = 0; i < p->count; i++) {
        const pbi_lane_way *w = pbi_lanes_way(l, &p->step[i]);
        bool useless = seen[w->node];
        for (uint32_t k = 0; k <= w->part_count; k++) {
            uint8_t then = f->after_make[f->make_start[i] + k];
            useless &= then == PBI_LANES_ABSENT || (then == PBI_LANES_FREE && k == 0);
        }
        seen[w->node] = 1;
        if (!useless)
            p->step[kept++] = p->step[i];
    }
    bool any = kept < p->count;
    p->count = kept;
    return any;
}

static bool shift(pbi_lanes_plan *p, pbi_rng *rng)
{
    uint32_t at = (uint32_t)pbi_rng_below(rng, p->count), by = 1 + (uint32_t)pbi_rng_below(rng, MAX_SHIFT);
    pbi_lane_step step = p->step[at];
    bool later = pbi_rng_next(rng) & 1;
    uint32_t to = later ? at + by : at - by;
    if (later ? to >= p->count : by > at)
        return false;
    erase(p, at);
    insert(p, to, step);
    return true;
}

static bool change_distance(pbi_lanes_plan *p, pbi_rng *rng)
{
    uint32_t at = (uint32_t)pbi_rng_below(rng, p->count);
    if (!p->step[at].fetch)
        return false;
    p->step[at].distance = pbi_rng_next(rng) & 1 ? PBI_LANES_MAX_DISTANCE : 1 + (uint32_t)pbi_rng_below(rng, 32);
    return true;
}

static bool change_gap(const pbi_lanes *l, pbi_lanes_plan *p, unsigned kind, pbi_rng *rng)
{
    gap x;
    bool fetched = kind == 0 || kind == 1;
    if (!random_gap(l, p, fetched, rng, &x))
        return false;
    if (kind == 0) /* kept instead of fetched */
        p->step[x.at].fetch &= ~(UINT64_C(1) << x.k);
    else if (kind == 2 && may_fetch(l, &x))
        p->step[x.at].fetch |= UINT64_C(1) << x.k;
    else
        return pbi_rng_below(rng, 4) ? recompute_deep(l, p, &x, rng) : recompute_before(l, p, &x, rng);
    return true;
}

bool pbi_lanes_change(const pbi_lanes *l, pbi_lanes_plan *p, pbi_rng *rng)
{
    unsigned kind = (unsigned)pbi_rng_below(rng, 10);
    bool changed = kind < 4   ? change_gap(l, p, kind, rng)
                   : kind < 7 ? drop_repeat(l, p, rng)
                   : kind < 9 ? shift(p, rng)
                              : change_distance(p, rng);
    if (!changed || !pbi_lanes_repair(l, p, PBI_RELIEF_MIXED, REPAIRS, rng))
        return false;
    while (drop_useless(l, p))
        if (!pbi_lanes_check(l, p) || !pbi_lanes_fits(l, p))
            return false;
    return true;
}
