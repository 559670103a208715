/* order_local.c -- local search on an order: nodes move past a place where memory is high.
 *
 * A target below the best peak is set; the objective is the sum over all places of the memory above it. A proposal
 * moves a node from before a high place behind it, together with the nodes in between that depend on it, or one from
 * behind it to before it with those it depends on. Only the places in between change, because memory before and
 * behind them depends on the sets of nodes alone. Proposals are accepted as in simulated annealing. When nothing is
 * above the target, that order is the best so far and the target is lowered.
 */
#include "base/assert.h"
#include "base/context.h"
#include "base/rng.h"
#include "plan/sequence/order_parts.h"

#include <math.h>
#include <string.h>

enum {
    WIDEST = 1024,  /* places that one proposal may change */
    PERIOD = 256,   /* proposals between polls of the clock and updates of the high places */
    A_TICK = 32,    /* places of a proposal that count as one tick */
    A_TARGET = 300, /* ticks per node after which a target is given up */
    LEAST_TARGET = 30000,
    FIRST_STEP = 32, /* a target is below the best peak by this fraction, */
    LAST_STEP = 2048 /* and closer and closer when targets are missed */
};

typedef struct freed {
    pb_node value;
    uint32_t place; /* of its last reader */
} freed;

typedef struct local {
    pbi_order_task *t;
    const pb_graph *g;
    pbi_rng rng;
    pb_node *order;
    uint64_t *before, *during; /* per place */
    uint32_t *last;            /* per node: place of the last reader; UINT32_MAX if the value is kept to the end */
    uint32_t *first;           /* per node given in slow memory: place of its first reader */
    uint32_t *stamp;           /* per node: marks that are valid for one proposal */
    uint32_t epoch;

    pb_node *window; /* the proposal: these nodes from place `from` on */
    pb_node *aside;
    pbi_order_step *step;
    uint64_t *new_before, *new_during;
    freed *freed;
    uint32_t freed_count;
    uint32_t from, count;

    uint32_t *high; /* places that were above the target at the last update */
    uint32_t high_count;
    uint64_t target;
    double temperature, unit;
} local;

static uint32_t random_below(local *s, uint32_t bound) { return (uint32_t)pbi_rng_below(&s->rng, bound); }

static double over(uint64_t memory, uint64_t target) { return memory > target ? (double)(memory - target) : 0; }

static bool open_local(local *s, pbi_order_task *t)
{
    const pb_graph *g = t->g;
    uint32_t n = g->node_count, widest = t->count < WIDEST ? t->count : WIDEST;
    uint32_t max_inputs = 0;
    *s = (local){.t = t, .g = g};
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t inputs = g->in_start[t->program_order[i] + 1] - g->in_start[t->program_order[i]];
        max_inputs = inputs > max_inputs ? inputs : max_inputs;
    }
    size_t max_freed = (size_t)max_inputs * widest < n ? (size_t)max_inputs * widest : n;
    s->order = pb_arena_alloc(t->arena, t->count, sizeof *s->order);
    s->before = pb_arena_alloc(t->arena, t->count, sizeof *s->before);
    s->during = pb_arena_alloc(t->arena, t->count, sizeof *s->during);
    s->last = pb_arena_alloc(t->arena, n, sizeof *s->last);
    s->first = pb_arena_alloc(t->arena, n, sizeof *s->first);
    s->stamp = pb_arena_zero(t->arena, n, sizeof *s->stamp);
    s->window = pb_arena_alloc(t->arena, widest, sizeof *s->window);
    s->aside = pb_arena_alloc(t->arena, widest, sizeof *s->aside);
    s->step = pb_arena_alloc(t->arena, widest, sizeof *s->step);
    s->new_before = pb_arena_alloc(t->arena, widest, sizeof *s->new_before);
    s->new_during = pb_arena_alloc(t->arena, widest, sizeof *s->new_during);
    s->freed = pb_arena_alloc(t->arena, max_freed, sizeof *s->freed);
    s->high = pb_arena_alloc(t->arena, t->count, sizeof *s->high);
    return s->order && s->before && s->during && s->last && s->first && s->stamp && s->window && s->aside && s->step &&
           s->new_before && s->new_during && s->freed && s->high;
}

/* ---- the whole order ---- */

static void find_ends(local *s)
{
    const pb_graph *g = s->g;
    memset(s->first, 0xff, g->node_count * sizeof *s->first);
    for (uint32_t p = 0; p < s->t->count; p++)
        for (uint32_t k = g->in_start[s->order[p]]; k < g->in_start[s->order[p] + 1]; k++) {
            pb_node u = g->in[k];
            s->last[u] = pbi_order_stays(g, u) ? UINT32_MAX : p;
            s->first[u] = s->first[u] < p ? s->first[u] : p;
        }
}

/* What the node at place p frees, overwrites and loads. */
static pbi_order_step step_at(const local *s, uint32_t p)
{
    const pb_graph *g = s->g;
    pb_node v = s->order[p];
    pbi_order_step step = {0, 0, 0};
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        pb_node u = g->in[k];
        if (pbi_order_given_slow(g, u) && s->first[u] == p)
            step.loaded += g->size[u];
        if (s->last[u] != p)
            continue;
        step.freed += g->size[u];
        if (g->size[u] > step.over && pbi_order_inplace(g, v, u))
            step.over = g->size[u];
    }
    return step;
}

static uint64_t load_order(local *s, const pb_node *order)
{
    uint64_t now = s->t->start, peak = s->t->floor;
    memcpy(s->order, order, s->t->count * sizeof *order);
    find_ends(s);
    for (uint32_t p = 0; p < s->t->count; p++) {
        pbi_order_step step = step_at(s, p);
        s->before[p] = now;
        s->during[p] = pbi_order_during(s->t, s->order[p], &step, now);
        peak = s->during[p] > peak ? s->during[p] : peak;
        now = pbi_order_after(s->t, s->order[p], &step, now);
    }
    return peak;
}

static void find_high(local *s)
{
    s->high_count = 0;
    for (uint32_t p = 0; p < s->t->count; p++)
        if (s->during[p] > s->target)
            s->high[s->high_count++] = p;
}

/* ---- one proposal ---- */

static void next_epoch(local *s)
{
    if (++s->epoch == 0) {
        memset(s->stamp, 0, s->g->node_count * sizeof *s->stamp);
        s->epoch = 1;
    }
}

static void mark_readers(local *s, pb_node v)
{
    const pb_graph *g = s->g;
    for (uint32_t n = 0, parts = pbi_order_parts(g, v); n <= parts; n++) {
        pb_node w = n ? g->part[g->part_start[v] + n - 1] : v;
        for (uint32_t k = g->out_start[w]; k < g->out_start[w + 1]; k++)
            s->stamp[g->out[k]] = s->epoch;
    }
}

static void mark_inputs(local *s, pb_node v)
{
    const pb_graph *g = s->g;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        s->stamp[pb_graph_maker(g, g->in[k])] = s->epoch;
}

/* The node at `from` goes behind `to`, and with it what depends on it. False when nothing would change. */
static bool push_late(local *s, uint32_t from, uint32_t to)
{
    uint32_t kept = 0, moved = 0;
    next_epoch(s);
    s->stamp[s->order[from]] = s->epoch;
    for (uint32_t p = from; p <= to; p++) {
        pb_node v = s->order[p];
        if (s->stamp[v] == s->epoch) {
            s->aside[moved++] = v;
            mark_readers(s, v);
        } else {
            s->window[kept++] = v;
        }
    }
    memcpy(s->window + kept, s->aside, moved * sizeof *s->aside);
    s->from = from;
    s->count = kept + moved;
    return kept > 0;
}

/* The node at `to` goes before `from`, and with it what it depends on. */
static bool pull_early(local *s, uint32_t from, uint32_t to)
{
    uint32_t kept = 0, moved = 0, count = to - from + 1;
    next_epoch(s);
    s->stamp[s->order[to]] = s->epoch;
    for (uint32_t p = to + 1; p-- > from;) {
        pb_node v = s->order[p];
        if (s->stamp[v] == s->epoch) {
            s->aside[moved++] = v;
            mark_inputs(s, v);
        } else {
            s->window[count - 1 - kept++] = v;
        }
    }
    for (uint32_t i = 0; i < moved; i++)
        s->window[i] = s->aside[moved - 1 - i];
    s->from = from;
    s->count = count;
    return kept > 0;
}

/* Which values end and begin in the window, and where. Runs backwards: the last reader of a value comes first. */
static void find_steps(local *s)
{
    const pb_graph *g = s->g;
    uint32_t end = s->from + s->count - 1;
    next_epoch(s);
    s->freed_count = 0;
    for (uint32_t i = s->count; i-- > 0;) {
        pb_node v = s->window[i];
        pbi_order_step step = {0, 0, 0};
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = g->in[k];
            if (s->last[u] > end || s->stamp[u] == s->epoch)
                continue;
            s->stamp[u] = s->epoch;
            s->freed[s->freed_count++] = (freed){u, s->from + i};
            step.freed += g->size[u];
            if (g->size[u] > step.over && pbi_order_inplace(g, v, u))
                step.over = g->size[u];
        }
        s->step[i] = step;
    }
}

/* Loads are rare: a pass of their own, forwards. */
static void find_loads(local *s)
{
    const pb_graph *g = s->g;
    next_epoch(s);
    for (uint32_t i = 0; i < s->count; i++)
        for (uint32_t k = g->in_start[s->window[i]]; k < g->in_start[s->window[i] + 1]; k++) {
            pb_node u = g->in[k];
            if (!pbi_order_given_slow(g, u) || s->first[u] < s->from || s->stamp[u] == s->epoch)
                continue;
            s->stamp[u] = s->epoch;
            s->step[i].loaded += g->size[u];
        }
}

/* The change of the excess. */
static double excess_change(local *s, bool slow)
{
    double change = 0;
    uint64_t now = s->before[s->from];
    find_steps(s);
    if (slow)
        find_loads(s);
    for (uint32_t i = 0; i < s->count; i++) {
        pb_node v = s->window[i];
        s->new_before[i] = now;
        s->new_during[i] = pbi_order_during(s->t, v, &s->step[i], now);
        change += over(s->new_during[i], s->target) - over(s->during[s->from + i], s->target);
        now = pbi_order_after(s->t, v, &s->step[i], now);
    }
    return change;
}

static void carry_out(local *s, bool slow)
{
    const pb_graph *g = s->g;
    memcpy(s->order + s->from, s->window, s->count * sizeof *s->window);
    memcpy(s->before + s->from, s->new_before, s->count * sizeof *s->new_before);
    memcpy(s->during + s->from, s->new_during, s->count * sizeof *s->new_during);
    for (uint32_t i = 0; i < s->freed_count; i++)
        s->last[s->freed[i].value] = s->freed[i].place;
    for (uint32_t i = s->count; slow && i-- > 0;)
        for (uint32_t k = g->in_start[s->window[i]]; k < g->in_start[s->window[i] + 1]; k++)
            if (s->first[g->in[k]] >= s->from)
                s->first[g->in[k]] = s->from + i;
}

/* A random distance, log-uniform. */
static uint32_t distance(local *s, uint32_t max)
{
    uint32_t bits = 0;
    while (max >> bits > 1)
        bits++;
    uint32_t reach = UINT32_C(1) << random_below(s, bits + 1);
    reach += random_below(s, reach);
    return reach < max ? reach : max;
}

static bool propose(local *s)
{
    uint32_t last = s->t->count - 1;
    uint32_t p =
        s->high_count && random_below(s, 4) ? s->high[random_below(s, s->high_count)] : random_below(s, last + 1);
    bool late = random_below(s, 2);
    uint32_t room = late ? p : last - p;
    if (!room)
        return false;
    uint32_t d = distance(s, room < WIDEST - 1 ? room : WIDEST - 1);
    return late ? push_late(s, p - d, p) : pull_early(s, p, p + d);
}

/* ---- targets ---- */

/* Anneals for `ticks` ticks at falling temperature, or until nothing is above the target. *left: what remains of all
 * ticks. */
static pb_status anneal_to_target(local *s, uint64_t ticks, bool slow, uint64_t *left)
{
    pb_status status = PB_OK;
    const double hot = 0.5, cold = 0.01;
    uint64_t spent = 0, reported = 0, updated = 0;
    for (uint64_t n = 0; spent < ticks && status == PB_OK; n++) {
        if (n % PERIOD == 0) {
            s->temperature = s->unit * hot * pow(cold / hot, (double)spent / (double)ticks);
            status = pbi_tick(s->t->ctx, spent - reported);
            reported = spent;
            if (n == 0 || n - updated >= s->t->count / 64) {
                find_high(s);
                updated = n;
            }
            if (!s->high_count)
                break;
        }
        spent++;
        if (!propose(s))
            continue;
        spent += s->count / A_TICK;
        double change = excess_change(s, slow);
        if (change <= 0 || pbi_rng_real(&s->rng) < exp(-change / s->temperature))
            carry_out(s, slow);
    }
    *left -= spent < *left ? spent : *left;
    find_high(s);
    return status;
}

/* From the best order to lower and lower targets. After a missed target a closer one is tried; when the closest is
 * missed too, it starts again with more ticks per target. */
static pb_status all_targets(local *s, uint64_t ticks, bool slow)
{
    pbi_order_task *t = s->t;
    pb_status status = PB_OK;
    uint64_t each = (uint64_t)t->count * A_TARGET, step = FIRST_STEP, left = ticks;
    each = each > LEAST_TARGET ? each : LEAST_TARGET;
    load_order(s, t->best);
    while (left && status == PB_OK && t->peak > t->enough) {
        s->target = t->peak - t->peak / step - 1;
        s->target = s->target > t->enough ? s->target : t->enough;
        status = anneal_to_target(s, each < left ? each : left, slow, &left);
        uint64_t peak = load_order(s, s->order);
        PB_ASSERT(s->high_count || peak <= s->target); /* the incrementally updated peak is right */
        pbi_order_keep_best(t, s->order, peak);
        if (s->high_count) {
            load_order(s, t->best);
            each = step < LAST_STEP ? each : each * 2;
            step = step < LAST_STEP ? step * 2 : FIRST_STEP;
        }
    }
    return status;
}

pb_status pbi_order_local(pbi_order_task *t, uint64_t ticks, uint64_t seed)
{
    local s;
    bool slow = false;
    if (t->count < 2)
        return PB_OK;
    if (!open_local(&s, t))
        return PB_ENOMEM;
    for (pb_node v = 0; v < t->g->node_count; v++)
        slow |= pbi_order_given_slow(t->g, v);
    s.rng.state = seed;
    s.unit = (double)t->g->total_size / (double)t->g->node_count;
    return all_targets(&s, ticks, slow);
}
