/* demand_forward.c -- demand-driven planning for the remat and tiered games.
 *
 * The order is followed: program order, or that of a plan, in which a node may occur several times. Inputs of a node
 * that are not resident are computed first, and their inputs before them: a stack of frames, each pinning the inputs it
 * has so far, so that no eviction can take an input of a pending computation. Values are evicted only when the cap
 * would be exceeded, by policy, or when nothing can need them again. The moves come from the resulting sequence
 * (sequence/sequence), which frees as early as possible.
 */
#include "plan/evict/demand_state.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"
#include "game/price.h"
#include "plan/reversible/units.h"

#include <inttypes.h>
#include <string.h>

/* The slow tier with room that is cheapest to store v in and load it from; 0 when there is none. */
static uint8_t cheapest_tier(const pbi_demand *d, pb_node v, uint64_t *cost)
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

static pb_node input(const pbi_demand *d, uint32_t i)
{
    return i < d->g->edge_count ? d->g->in[i] : d->back.in[i - d->g->edge_count];
}

/* Must it stay in memory, or in a slow one? Not if a recipe surely brings it back, or nothing needs it. */
static bool cannot_remake(const pbi_demand *d, pb_node v)
{
    if (d->back.fixed[v])
        return true;
    return pbi_is_final_computation(d->g, v) && !d->back.by[v] && pbi_demand_reads(d->g, v);
}

/* Evicting v: into slow memory if that is cheaper than recomputing it, or the only way. False: v must stay. */
static bool choose_tier(const pbi_demand *d, pb_node v, uint8_t *tier)
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

static bool may_evict(const pbi_demand *d, pb_node v)
{
    uint8_t tier;
    return d->g->size[v] && !(d->g->flags[v] & PB_NODE_KEEP) && choose_tier(d, v, &tier);
}

/* Nothing will read v again: neither the order nor a recomputation. */
static bool is_dead(const pbi_demand *d, pb_node v)
{
    return !d->open[v] && d->placed[pb_graph_maker(d->g, v)] && !(d->g->flags[v] & PB_NODE_KEEP);
}

static void release(pbi_demand *d, pb_node v)
{
    pbi_evict_remove(&d->e, v);
    pbi_evict_gone(&d->e, v, is_dead(d, v));
    d->resident[v] = 0;
    d->memory -= d->g->size[v];
    d->step++;
}

/* Does a recipe that reads v bring back a value that is gone and that the order will read? */
bool pbi_demand_brings_back(const pbi_demand *d, pb_node v)
{
    bool any = false;
    for (uint32_t k = d->back.reader_first[v]; k < d->back.reader_first[v + 1] && !any; k++)
        any = d->uses[d->back.reader[k]] && !d->resident[d->back.reader[k]];
    return any;
}

/* v is resident and no frame holds it: makes it a candidate, or frees it if it is dead. */
static void make_candidate(pbi_demand *d, pb_node v)
{
    if (is_dead(d, v))
        release(d, v);
    else if (may_evict(d, v))
        pbi_evict_add(&d->e, v, (!d->uses[v] && !pbi_demand_brings_back(d, v)) || d->parked[v]);
}

void pbi_demand_pin(pbi_demand *d, pb_node v)
{
    if (d->pins[v]++ == 0)
        pbi_evict_remove(&d->e, v);
    pbi_evict_touched(&d->e, v);
}

static void pin_input(pbi_demand *d, uint32_t i)
{
    pbi_demand_pin(d, input(d, i));
    d->held[i] = 1;
}

static void unpin(pbi_demand *d, pb_node v)
{
    if (--d->pins[v] == 0 && d->resident[v])
        make_candidate(d, v);
}

/* u has one reader less. The unit of u is retired too if nothing can read it any more. */
static void close_reader(pbi_demand *d, pb_node u, uint32_t *waiting)
{
    const pb_graph *g = d->g;
    pb_node unit = pb_graph_maker(g, u);
    if (--d->open[u])
        return;
    if (d->resident[u] && !d->pins[u])
        make_candidate(d, u);
    if (!(g->flags[u] & PB_NODE_KEEP) && --d->alive[unit] == 0 && d->placed[unit] && !(g->flags[unit] & PB_NODE_GIVEN))
        d->to_retire[(*waiting)++] = unit;
}

/* Unit v can never be recomputed: its inputs have one reader less, so this may hold for them too. */
static void retire_unit(pbi_demand *d, pb_node v)
{
    const pb_graph *g = d->g;
    uint32_t waiting = 0;
    d->to_retire[waiting++] = v;
    while (waiting) {
        pb_node now = d->to_retire[--waiting];
        for (uint32_t k = g->in_start[now]; k < g->in_start[now + 1]; k++)
            close_reader(d, g->in[k], &waiting);
        for (uint32_t k = d->back.first[now]; k < d->back.first[now + 1]; k++)
            close_reader(d, d->back.in[k], &waiting);
    }
}

static bool make_room(pbi_demand *d, uint64_t need)
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

static pb_status no_room(pbi_demand *d, const char *word, pb_node v, uint64_t need)
{
    d->stuck = true;
    return pbi_plan_over_cap(d->plan, d->game, d->step, word, v, pbi_add_saturated(d->memory, need));
}

static pb_status add_event(pbi_demand *d, uint32_t event, uint32_t by)
{
    d->step++;
    if (d->s.count >= d->options->limit)
        return pbi_fail(d->ctx, PB_ELIMIT, "limit hit: more than %" PRIu64 " computations; raise its option limit",
                        d->options->limit);
    pb_status status = by ? pbi_sequence_add_recipe(&d->s, event, by) : pbi_sequence_add(&d->s, event);
    if (status == PB_OK && (d->s.count & 0xff) == 0) {
        status = pbi_tick(d->ctx, 0x100 + d->examined / 8);
        d->examined = 0;
    }
    return status;
}

static pb_status load(pbi_demand *d, pb_node v)
{
    if (!make_room(d, d->g->size[v]))
        return no_room(d, "load", v, d->g->size[v]);
    d->resident[v] = 1;
    d->memory += d->g->size[v];
    pbi_evict_made(&d->e, v);
    return add_event(d, v | PBI_LOAD_EVENT, 0);
}

/* Should this computation of v also produce by-product w? */
static bool makes(const pbi_demand *d, pb_node v, pb_node w, bool in_order)
{
    bool remakes_never = d->g->flags[v] & PB_NODE_ONCE;
    return !d->resident[w] &&
           (d->requested[w] || ((in_order || remakes_never) && (d->uses[w] || pbi_is_final(d->g, w))));
}

/* An input to overwrite: one that the order does not read again (`freely`), or any that can be recomputed. */
static pb_node pick_over(const pbi_demand *d, const pbi_demand_frame *f, bool in_order, bool freely)
{
    const pb_graph *g = d->g;
    pb_way way = pb_graph_way(g, f->node, f->by);
    pb_node best = PB_NO_NODE;
    for (uint32_t k = 0; k < way.inplace_count && !d->resident[f->node]; k++) {
        pb_node u = way.inplace[k];
        bool idle = d->uses[u] == (in_order ? 1 : 0);
        if (d->pins[u] != 1 || cannot_remake(d, u) || (g->flags[u] & PB_NODE_KEEP) || (freely && !idle))
            continue;
        if (best == PB_NO_NODE || g->size[u] > g->size[best])
            best = u;
    }
    return best;
}

/* What the computation needs in addition to what is resident, if it overwrites `over` (or nothing). */
static uint64_t need_of(const pbi_demand *d, const pbi_demand_frame *f, bool in_order, pb_node over)
{
    const pb_graph *g = d->g;
    pb_node v = f->node;
    uint64_t need = d->resident[v] ? 0 : g->size[v];
    if (over != PB_NO_NODE)
        need -= g->size[over] < need ? g->size[over] : need;
    for (uint32_t i = 1, count = f->by ? 1 : pbi_demand_member_count(g, v); i < count; i++)
        need += makes(d, v, pbi_demand_member(g, v, i), in_order) ? g->size[pbi_demand_member(g, v, i)] : 0;
    return need + pb_graph_way(g, v, f->by).workspace;
}

/* All inputs of the frame are pinned: compute its node. */
static pb_status compute(pbi_demand *d, const pbi_demand_frame *f, bool in_order)
{
    const pb_graph *g = d->g;
    pb_node v = f->node, over = pick_over(d, f, in_order, true);
    bool was_resident = d->resident[v];
    if (was_resident)
        pbi_demand_pin(d, v);
    uint64_t need = need_of(d, f, in_order, over);
    if (!make_room(d, need)) {
        over = pick_over(d, f, in_order, false);
        need = need_of(d, f, in_order, over);
        if (!make_room(d, need))
            return no_room(d, "compute", v, need);
    }
    pb_status status = add_event(d, v, f->by);
    for (uint32_t i = 0, count = f->by ? 1 : pbi_demand_member_count(g, v); i < count; i++) {
        pb_node w = pbi_demand_member(g, v, i);
        if (i ? !makes(d, v, w, in_order) : was_resident)
            continue;
        d->resident[w] = d->existed[w] = 1;
        d->memory += g->size[w];
        d->requested[w] = d->parked[w] = 0;
        pbi_evict_made(&d->e, w);
    }
    if (over != PB_NO_NODE)
        release(d, over);
    if (was_resident)
        unpin(d, v);
    return status;
}

static uint32_t first_input(const pbi_demand *d, pb_node v, uint32_t by)
{
    return by ? d->g->edge_count + pbi_comebacks_first(&d->back, d->g, v, by) : d->g->in_start[v];
}

/* After the computation: unpins the inputs of the frame; its results become candidates. */
static void release_frame(pbi_demand *d, const pbi_demand_frame *f, bool in_order)
{
    const pb_graph *g = d->g;
    for (uint32_t k = first_input(d, f->node, f->by); k < f->end; k++) {
        d->uses[input(d, k)] -= in_order;
        d->held[k] = 0;
        unpin(d, input(d, k));
    }
    for (uint32_t i = 0, count = f->by ? 1 : pbi_demand_member_count(g, f->node); i < count; i++)
        if (d->resident[pbi_demand_member(g, f->node, i)] && !d->pins[pbi_demand_member(g, f->node, i)])
            make_candidate(d, pbi_demand_member(g, f->node, i));
}

/* A new frame pins all resident inputs at once, so that computing the others cannot evict them. */
static void push_frame(pbi_demand *d, pb_node v, uint32_t by)
{
    uint32_t first = first_input(d, v, by), end = first + pb_graph_way(d->g, v, by).in_count;
    d->stack[d->depth++] = (pbi_demand_frame){v, by, first, end, (uint32_t)d->kept_count};
    d->waiting[pb_graph_maker(d->g, v)]++;
    for (uint32_t k = first; k < end; k++)
        if (d->resident[input(d, k)])
            pin_input(d, k);
}

/* One input of the top frame: pin it, load it, or open a frame for its producer. */
static pb_status fetch(pbi_demand *d, pbi_demand_frame *f)
{
    pb_node u = input(d, f->next), unit = pb_graph_maker(d->g, u);
    if (d->held[f->next]) {
        f->next++;
        return PB_OK;
    }
    if (d->resident[u]) {
        pin_input(d, f->next++);
        return PB_OK;
    }
    bool stored = d->tier && d->tier[u];
    uint32_t by = pb_graph_recipes(d->g, u) ? pbi_demand_best_recipe(d, u, pbi_demand_own_cost(d, u)) : 0;
    if (!by && stored)
        return load(d, u);
    if (!by && pbi_is_final_computation(d->g, u) && d->existed[u])
        by = d->back.by[u];
    if (d->waiting[unit] || (!by && (d->g->flags[u] & PB_NODE_GIVEN))) { /* evicted on the way, or lost */
        d->stuck = true;
        return pbi_plan_give_up(d->plan, "does not fit: %.60s was evicted and does not come back",
                                pb_graph_name(d->g, u));
    }
    d->requested[u] = !by && u != unit;
    push_frame(d, by ? u : unit, by);
    if (by) /* what the estimate found resident must stay so */
        (void)pbi_demand_recipe_cost(d, u, by, true);
    return PB_OK;
}

/* Computes v, after whatever it needs. The bottom frame is v itself, at its place in the order. */
static pb_status compute_root(pbi_demand *d, pb_node root)
{
    const pb_graph *g = d->g;
    pb_status status = PB_OK;
    d->depth = 0;
    push_frame(d, root, 0);
    while (d->depth && status == PB_OK && !d->stuck) {
        pbi_demand_frame *f = &d->stack[d->depth - 1];
        bool in_order = d->depth == 1;
        if (f->next < f->end) {
            status = fetch(d, f);
            continue;
        }
        status = compute(d, f, in_order);
        if (status != PB_OK || d->stuck)
            break;
        if (in_order && --d->left[root] == 0)
            d->placed[root] = 1;
        while (d->kept_count > f->kept)
            unpin(d, d->kept[--d->kept_count]);
        release_frame(d, f, in_order);
        d->waiting[pb_graph_maker(g, f->node)]--;
        d->depth--;
    }
    return status;
}

/* Does the plan that is followed recompute v for nothing? v and its by-products that are read are still resident. */
static bool is_here(const pbi_demand *d, pb_node v)
{
    bool here = d->resident[v];
    for (uint32_t i = 1, count = pbi_demand_member_count(d->g, v); i < count && here; i++)
        here = !makes(d, v, pbi_demand_member(d->g, v, i), true);
    return here;
}

/* The plan computes v, which is resident: its inputs have one reader less. */
static void skip_root(pbi_demand *d, pb_node v)
{
    const pb_graph *g = d->g;
    for (uint32_t i = 0, count = pbi_demand_member_count(g, v); i < count; i++)
        d->parked[pbi_demand_member(g, v, i)] = 0;
    if (--d->left[v] == 0)
        d->placed[v] = 1;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        if (--d->uses[g->in[k]] == 0 && d->resident[g->in[k]])
            make_candidate(d, g->in[k]);
    for (uint32_t i = 0, count = pbi_demand_member_count(g, v); i < count; i++)
        if (d->resident[pbi_demand_member(g, v, i)])
            make_candidate(d, pbi_demand_member(g, v, i));
}

static void park(pbi_demand *d, pb_node v)
{
    d->parked[v] = 1;
    if (d->resident[v])
        make_candidate(d, v);
}

/* A kept value that nothing read: only a recipe can bring it, and no computation has asked for it. */
static pb_status no_slow_memory(pbi_demand *d, pb_node v)
{
    d->stuck = true;
    return pbi_plan_give_up(d->plan, "does not apply: %.60s is kept, but in slow memory, and this game has none",
                            pb_graph_name(d->g, v));
}

static pb_status follow_order(pbi_demand *d)
{
    const pb_graph *g = d->g;
    pb_status status = PB_OK;
    for (pb_node v = 0; v < g->node_count; v++)
        if (d->resident[v])
            make_candidate(d, v);
    for (size_t i = 0; i < d->order_count && status == PB_OK && !d->stuck; i++) {
        pb_node v = d->order[i] & ~PBI_DEMAND_REMOVED;
        if (d->order[i] & PBI_DEMAND_REMOVED) {
            park(d, v);
            continue;
        }
        if (d->options->follow && is_here(d, v))
            skip_root(d, v);
        else
            status = compute_root(d, v);
        if (status == PB_OK && !d->stuck && !d->alive[v] && !d->left[v])
            retire_unit(d, v);
        if ((i & 0xfff) == 0)
            pbi_progress(d->ctx, "planning", i, d->order_count);
    }
    for (pb_node v = 0; v < g->node_count && status == PB_OK && !d->stuck; v++)
        if ((g->flags[v] & PB_NODE_GIVEN_SLOW) && (g->flags[v] & PB_NODE_KEEP) && !d->resident[v])
            status = d->tier ? load(d, v) : no_slow_memory(d, v);
    return status;
}

pb_status pbi_demand_sequence(pb_context *ctx, const pb_game *game, const pbi_demand_options *options, pbi_sequence *s,
                              pbi_plan *why, bool *stuck)
{
    pbi_demand d = {.ctx = ctx, .game = game, .g = game->graph, .options = options, .plan = why, .s = *s};
    pbi_evict_scorer scorer = pbi_demand_scorer(&d);
    pb_arena_init(&d.scratch, ctx);
    pb_status status = pbi_demand_prepare(&d);
    if (d.e.recipes && !d.e.scorer)
        d.e.scorer = &scorer;
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
