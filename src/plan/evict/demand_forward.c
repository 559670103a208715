/* demand_forward.c -- demand-driven planning for the remat and tiered games.
 *
 * The order is followed. Inputs of a node that are not resident are computed first, and their inputs before them: a
 * stack of frames, each pinning the inputs it has so far, so that no eviction can take an input of a pending
 * computation. Values are evicted only when the cap would be exceeded, by policy, or when nothing can need them
 * again. The moves come from the resulting sequence (sequence/sequence), which frees as early as possible.
 */
#include "plan/evict/demand.h"

#include "base/checked.h"
#include "base/context.h"
#include "game/price.h"
#include "plan/reversible/units.h"

#include <inttypes.h>
#include <string.h>

typedef struct frame {
    pb_node node;
    uint32_t next; /* next input to fetch */
} frame;

typedef struct demand {
    pb_context *ctx;
    const pb_game *game;
    const pb_graph *g;
    const pbi_demand_options *options;
    pbi_plan *plan;
    pb_arena scratch;
    pbi_sequence s;
    pbi_evict e;

    uint8_t *resident;
    uint32_t *pins;     /* frames that hold the value */
    uint8_t *held;      /* per edge: its reader holds the input */
    uint32_t *uses;     /* reads in the order that are not reached yet */
    uint32_t *open;     /* needed readers that may still be recomputed */
    uint32_t *alive;    /* per unit: members that may still be read */
    uint8_t *placed;    /* per unit: its place in the order has been passed */
    uint8_t *requested; /* by-products that a frame waits for */
    uint8_t *tier;      /* slow tier that holds the value, 0 none; NULL without tiers */
    uint64_t slow_used[PB_MAX_TIERS];
    frame *stack;
    uint32_t depth;
    pb_node *to_retire;
    uint64_t memory;
    pb_step step;      /* moves so far, by this planner's count */
    uint64_t examined; /* candidates that evictions have examined since the last tick */
    bool stuck;
} demand;

static bool is_read(const pb_graph *g, pb_node reader) { return g->flags[reader] & PB_NODE_NEEDED; }

/* Members of a unit: the node and its needed by-products. Calls for each. */
static uint32_t member_count(const pb_graph *g, pb_node v)
{
    return 1 + (g->flags[v] & PB_NODE_HAS_PARTS ? g->part_start[v + 1] - g->part_start[v] : 0);
}

static pb_node member(const pb_graph *g, pb_node v, uint32_t i) { return i ? g->part[g->part_start[v] + i - 1] : v; }

static pb_status count_readers(demand *d)
{
    const pb_graph *g = d->g;
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node v = g->order[i];
        if (is_read(g, v))
            for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
                d->uses[g->in[k]] = ++d->open[g->in[k]];
    }
    for (pb_node v = 0; v < g->node_count; v++) {
        if (d->open[v] && !(g->flags[v] & PB_NODE_KEEP))
            d->alive[pb_graph_maker(g, v)]++;
        bool slow = g->flags[v] & PB_NODE_GIVEN_SLOW;
        if ((g->flags[v] & PB_NODE_GIVEN) && !slow) {
            d->resident[v] = 1;
            d->memory += g->size[v];
            d->placed[v] = 1;
        } else if (slow && d->tier) {
            d->tier[v] = 1;
            d->placed[v] = 1;
            d->slow_used[0] += g->size[v];
        }
    }
    return PB_OK;
}

static pb_status allocate_demand(demand *d)
{
    size_t n = d->g->node_count;
    pb_arena *a = &d->scratch;
    d->memory = d->g->fixed_size;
    d->resident = pb_arena_zero(a, n, sizeof *d->resident);
    d->pins = pb_arena_zero(a, n, sizeof *d->pins);
    d->held = pb_arena_zero(a, d->g->edge_count, sizeof *d->held);
    d->uses = pb_arena_zero(a, n, sizeof *d->uses);
    d->open = pb_arena_zero(a, n, sizeof *d->open);
    d->alive = pb_arena_zero(a, n, sizeof *d->alive);
    d->placed = pb_arena_zero(a, n, sizeof *d->placed);
    d->requested = pb_arena_zero(a, n, sizeof *d->requested);
    d->stack = pb_arena_alloc(a, n + 1, sizeof *d->stack);
    d->to_retire = pb_arena_alloc(a, n + 1, sizeof *d->to_retire);
    bool tiers = d->game->kind == PB_GAME_TIERED && d->game->tier_count;
    d->tier = tiers ? pb_arena_zero(d->s.arena, n, sizeof *d->tier) : NULL; /* lives as long as the sequence */
    if (!d->resident || !d->pins || !d->held || !d->uses || !d->open || !d->alive || !d->placed || !d->requested ||
        !d->stack || !d->to_retire || (tiers && !d->tier))
        return PB_ENOMEM;
    pb_status status = pbi_evict_init(&d->e, d->g, d->options->policy, d->options->seed, d->resident, &d->scratch);
    d->e.scorer = d->options->scorer;
    return status == PB_OK ? count_readers(d) : status;
}

/* The slow tier with room that is cheapest to store v in and load it from; 0 when there is none. */
static uint8_t cheapest_tier(const demand *d, pb_node v, uint64_t *cost)
{
    uint8_t best = 0;
    uint64_t size = d->g->size[v];
    for (uint32_t t = 0; t < d->game->tier_count; t++) {
        const pb_tier *tier = &d->game->tiers[t];
        uint64_t now = pbi_add_saturated(pbi_store_price(tier, size), pbi_load_price(tier, size));
        bool room = d->slow_used[t] <= tier->cap && size <= tier->cap - d->slow_used[t];
        if (room && now != UINT64_MAX && (!best || now < *cost)) {
            best = (uint8_t)(t + 1);
            *cost = now;
        }
    }
    return best;
}

static bool cannot_remake(const demand *d, pb_node v)
{
    return (d->g->flags[v] & PB_NODE_GIVEN) || (d->g->flags[pb_graph_maker(d->g, v)] & PB_NODE_ONCE);
}

/* Evicting v: into slow memory if that is cheaper than recomputing it, or the only way. False: v must stay. */
static bool choose_tier(const demand *d, pb_node v, uint8_t *tier)
{
    uint64_t cost = 0;
    *tier = 0;
    if (!d->tier)
        return !cannot_remake(d, v);
    if (d->tier[v]) {
        *tier = d->tier[v]; /* it has a copy already */
        return true;
    }
    uint8_t t = cheapest_tier(d, v, &cost);
    if (t && (cannot_remake(d, v) || cost < pbi_evict_recompute_cost(&d->e, v)))
        *tier = t;
    return *tier || !cannot_remake(d, v);
}

static bool may_evict(const demand *d, pb_node v)
{
    uint8_t tier;
    return d->g->size[v] && !(d->g->flags[v] & PB_NODE_KEEP) && choose_tier(d, v, &tier);
}

/* Nothing will read v again: neither the order nor a recomputation. */
static bool is_dead(const demand *d, pb_node v)
{
    return !d->open[v] && d->placed[pb_graph_maker(d->g, v)] && !(d->g->flags[v] & PB_NODE_KEEP);
}

static void release(demand *d, pb_node v)
{
    pbi_evict_remove(&d->e, v);
    pbi_evict_gone(&d->e, v, is_dead(d, v));
    d->resident[v] = 0;
    d->memory -= d->g->size[v];
    d->step++;
}

/* v is resident and no frame holds it: makes it a candidate, or frees it if it is dead. */
static void make_candidate(demand *d, pb_node v)
{
    if (is_dead(d, v))
        release(d, v);
    else if (may_evict(d, v))
        pbi_evict_add(&d->e, v, !d->uses[v]);
}

static void pin(demand *d, pb_node v)
{
    if (d->pins[v]++ == 0)
        pbi_evict_remove(&d->e, v);
    pbi_evict_touched(&d->e, v);
}

static void pin_input(demand *d, uint32_t edge)
{
    pin(d, d->g->in[edge]);
    d->held[edge] = 1;
}

static void unpin(demand *d, pb_node v)
{
    if (--d->pins[v] == 0 && d->resident[v])
        make_candidate(d, v);
}

/* Unit v can never be recomputed: its inputs have one reader less, so this may hold for them too. */
static void retire_unit(demand *d, pb_node v)
{
    const pb_graph *g = d->g;
    uint32_t waiting = 0;
    d->to_retire[waiting++] = v;
    while (waiting) {
        pb_node now = d->to_retire[--waiting];
        for (uint32_t k = g->in_start[now]; k < g->in_start[now + 1]; k++) {
            pb_node u = g->in[k], unit = pb_graph_maker(g, u);
            if (--d->open[u])
                continue;
            if (d->resident[u] && !d->pins[u])
                make_candidate(d, u);
            if (!(g->flags[u] & PB_NODE_KEEP) && --d->alive[unit] == 0 && d->placed[unit] &&
                !(g->flags[unit] & PB_NODE_GIVEN))
                d->to_retire[waiting++] = unit;
        }
    }
}

static bool make_room(demand *d, uint64_t need)
{
    while (d->memory > d->game->cap || need > d->game->cap - d->memory) {
        d->examined += pbi_evict_effort(&d->e);
        pb_node v = pbi_evict_first(&d->e);
        uint8_t tier;
        if (v == PB_NO_NODE)
            return false;
        if (!choose_tier(d, v, &tier)) { /* slow memory has filled up since v became a candidate */
            pbi_evict_remove(&d->e, v);
            continue;
        }
        if (tier && !d->tier[v]) {
            d->tier[v] = tier;
            d->slow_used[tier - 1] += d->g->size[v];
        }
        release(d, v);
    }
    return true;
}

static pb_status no_room(demand *d, const char *word, pb_node v, uint64_t need)
{
    d->stuck = true;
    return pbi_plan_over_cap(d->plan, d->game, d->step, word, v, pbi_add_saturated(d->memory, need));
}

static pb_status add_event(demand *d, uint32_t event)
{
    d->step++;
    if (d->s.count >= d->options->limit)
        return pbi_fail(d->ctx, PB_ELIMIT, "limit hit: more than %" PRIu64 " computations; raise its option limit",
                        d->options->limit);
    pb_status status = pbi_sequence_add(&d->s, event);
    if (status == PB_OK && (d->s.count & 0xff) == 0) {
        status = pbi_tick(d->ctx, 0x100 + d->examined / 8);
        d->examined = 0;
    }
    return status;
}

static pb_status load(demand *d, pb_node v)
{
    if (!make_room(d, d->g->size[v]))
        return no_room(d, "load", v, d->g->size[v]);
    d->resident[v] = 1;
    d->memory += d->g->size[v];
    pbi_evict_made(&d->e, v);
    return add_event(d, v | PBI_LOAD_EVENT);
}

/* Should this computation of v also produce by-product w? */
static bool makes(const demand *d, pb_node v, pb_node w, bool in_order)
{
    bool remakes_never = d->g->flags[v] & PB_NODE_ONCE;
    return !d->resident[w] &&
           (d->requested[w] || ((in_order || remakes_never) && (d->uses[w] || pbi_is_final(d->g, w))));
}

/* An input to overwrite: one that the order does not read again (`freely`), or any that can be recomputed. */
static pb_node pick_over(const demand *d, pb_node v, bool in_order, bool freely)
{
    const pb_graph *g = d->g;
    pb_node best = PB_NO_NODE;
    if (!g->inplace_start || d->resident[v])
        return best;
    for (uint32_t k = g->inplace_start[v]; k < g->inplace_start[v + 1]; k++) {
        pb_node u = g->inplace[k];
        bool idle = d->uses[u] == (in_order ? 1 : 0);
        if (d->pins[u] != 1 || cannot_remake(d, u) || (g->flags[u] & PB_NODE_KEEP) || (freely && !idle))
            continue;
        if (best == PB_NO_NODE || g->size[u] > g->size[best])
            best = u;
    }
    return best;
}

/* What the computation needs in addition to what is resident, if it overwrites `over` (or nothing). */
static uint64_t need_of(const demand *d, pb_node v, bool in_order, pb_node over)
{
    const pb_graph *g = d->g;
    uint64_t need = d->resident[v] ? 0 : g->size[v];
    if (over != PB_NO_NODE)
        need -= g->size[over] < need ? g->size[over] : need;
    for (uint32_t i = 1, count = member_count(g, v); i < count; i++)
        need += makes(d, v, member(g, v, i), in_order) ? g->size[member(g, v, i)] : 0;
    return need + g->workspace[v];
}

/* All inputs of v are pinned: compute it. */
static pb_status compute(demand *d, pb_node v, bool in_order)
{
    const pb_graph *g = d->g;
    pb_node over = pick_over(d, v, in_order, true);
    bool was_resident = d->resident[v];
    if (was_resident)
        pin(d, v);
    uint64_t need = need_of(d, v, in_order, over);
    if (!make_room(d, need)) {
        over = pick_over(d, v, in_order, false);
        need = need_of(d, v, in_order, over);
        if (!make_room(d, need))
            return no_room(d, "compute", v, need);
    }
    pb_status status = add_event(d, v);
    for (uint32_t i = 0, count = member_count(g, v); i < count; i++) {
        pb_node w = member(g, v, i);
        if (i ? !makes(d, v, w, in_order) : was_resident)
            continue;
        d->resident[w] = 1;
        d->memory += g->size[w];
        d->requested[w] = 0;
        pbi_evict_made(&d->e, w);
    }
    if (over != PB_NO_NODE)
        release(d, over);
    if (was_resident)
        unpin(d, v);
    return status;
}

/* After the computation: unpins the inputs of the frame; its results become candidates. */
static void release_frame(demand *d, pb_node v, bool in_order)
{
    const pb_graph *g = d->g;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        d->uses[g->in[k]] -= in_order;
        d->held[k] = 0;
        unpin(d, g->in[k]);
    }
    for (uint32_t i = 0, count = member_count(g, v); i < count; i++)
        if (d->resident[member(g, v, i)] && !d->pins[member(g, v, i)])
            make_candidate(d, member(g, v, i));
}

/* A new frame pins all resident inputs at once, so that computing the others cannot evict them. */
static void push_frame(demand *d, pb_node v)
{
    const pb_graph *g = d->g;
    d->stack[d->depth++] = (frame){v, g->in_start[v]};
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        if (d->resident[g->in[k]])
            pin_input(d, k);
}

/* One input of the top frame: pin it, load it, or open a frame for its producer. */
static pb_status fetch(demand *d, frame *f)
{
    pb_node u = d->g->in[f->next];
    if (d->held[f->next]) {
        f->next++;
    } else if (d->resident[u]) {
        pin_input(d, f->next++);
    } else if (d->tier && d->tier[u]) {
        return load(d, u);
    } else {
        pb_node unit = pb_graph_maker(d->g, u);
        d->requested[u] = u != unit;
        push_frame(d, unit);
    }
    return PB_OK;
}

/* Computes v, after whatever it needs. The bottom frame is v itself, at its place in the order. */
static pb_status compute_root(demand *d, pb_node root)
{
    pb_status status = PB_OK;
    d->depth = 0;
    push_frame(d, root);
    while (d->depth && status == PB_OK && !d->stuck) {
        frame *f = &d->stack[d->depth - 1];
        bool in_order = d->depth == 1;
        if (f->next < d->g->in_start[f->node + 1]) {
            status = fetch(d, f);
            continue;
        }
        status = compute(d, f->node, in_order);
        if (status != PB_OK || d->stuck)
            break;
        if (in_order)
            d->placed[f->node] = 1;
        release_frame(d, f->node, in_order);
        d->depth--;
    }
    return status;
}

static pb_status follow_order(demand *d)
{
    const pb_graph *g = d->g;
    pb_status status = PB_OK;
    for (pb_node v = 0; v < g->node_count; v++)
        if (d->resident[v])
            make_candidate(d, v);
    for (uint32_t i = 0; i < g->order_count && status == PB_OK && !d->stuck; i++) {
        pb_node v = g->order[i];
        if (!is_read(g, v))
            continue;
        status = compute_root(d, v);
        if (status == PB_OK && !d->stuck && !d->alive[v])
            retire_unit(d, v);
        if ((i & 0xfff) == 0)
            pbi_progress(d->ctx, "planning", i, g->order_count);
    }
    for (pb_node v = 0; v < g->node_count && status == PB_OK && !d->stuck; v++)
        if ((g->flags[v] & PB_NODE_GIVEN_SLOW) && (g->flags[v] & PB_NODE_KEEP) && !d->resident[v])
            status = load(d, v);
    return status;
}

pb_status pbi_demand_sequence(pb_context *ctx, const pb_game *game, const pbi_demand_options *options, pbi_sequence *s,
                              pbi_plan *why, bool *stuck)
{
    demand d = {.ctx = ctx, .game = game, .g = game->graph, .options = options, .plan = why, .s = *s};
    pb_arena_init(&d.scratch, ctx);
    pb_status status = allocate_demand(&d);
    if (status == PB_OK)
        status = follow_order(&d);
    *stuck = d.stuck;
    *s = d.s;
    s->tier = d.tier;
    pb_arena_release(&d.scratch);
    return status;
}

pb_status pbi_demand_forward(pb_context *ctx, const pb_game *game, const pbi_demand_options *options, pbi_plan *plan)
{
    pb_arena scratch;
    pbi_sequence s;
    bool stuck;
    pb_arena_init(&scratch, ctx);
    pbi_sequence_init(&s, &scratch);
    pb_status status = pbi_demand_sequence(ctx, game, options, &s, plan, &stuck);
    if (status == PB_OK && !stuck)
        status = pbi_sequence_emit(ctx, game, &s, plan, NULL);
    pb_arena_release(&scratch);
    return status;
}
