/* demand_forward.c -- demand-driven planning for the remat and tiered games.
 *
 * The order is followed: program order, or that of a plan, in which a node may occur several times. Inputs of a node
 * that are not resident are computed first, and their inputs before them: a stack of frames, each pinning the inputs it
 * has so far, so that no eviction can take an input of a pending computation. Values are evicted only when the cap
 * would be exceeded, by policy, or when nothing can need them again. The moves come from the resulting sequence
 * (sequence/sequence), which frees as early as possible.
 */
#include "plan/evict/demand.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"
#include "game/price.h"
#include "plan/evict/comebacks.h"
#include "plan/reversible/units.h"

#include <inttypes.h>
#include <string.h>

#define REMOVED 0x80000000u

/* A computation that waits for its inputs. Inputs are numbered: those of the graph as in its rows, and behind them
 * those of all recipes. */
typedef struct frame {
    pb_node node;
    uint32_t by;        /* recipe; 0: by its own inputs */
    uint32_t next, end; /* next input to fetch */
    uint32_t kept;      /* values pinned for frames above it, from here on in `kept` */
} frame;

enum { FAR = 48 /* values that an estimate of a recomputation visits */, BREAKS_CHAIN = 1000 /* times the score */ };

typedef struct demand {
    pb_context *ctx;
    const pb_game *game;
    const pb_graph *g;
    const pbi_demand_options *options;
    pbi_plan *plan;
    pb_arena scratch;
    pbi_sequence s;
    pbi_evict e;

    pbi_comebacks back; /* how values that have no computation of their own come back */
    uint8_t *existed;
    uint8_t *resident;
    uint32_t *pins;  /* frames that hold the value */
    uint8_t *held;   /* per input: its reader holds it */
    uint32_t *uses;  /* reads in the order that are not reached yet */
    uint32_t *open;  /* needed readers that may still be recomputed */
    uint32_t *alive; /* per unit: members that may still be read */
    uint8_t *placed; /* per unit: its last place in the order has been passed */
    uint8_t *parked; /* the plan that is followed has removed the value */
    uint32_t *left;  /* per unit: places in the order that are not reached yet */
    uint32_t *order; /* nodes to compute, or with REMOVED, values that the plan removes */
    size_t order_count;
    uint8_t *requested; /* by-products that a frame waits for */
    uint8_t *tier;      /* slow tier that holds the value, 0 none; NULL without tiers */
    uint64_t slow_used[PB_MAX_TIERS];
    frame *stack;
    uint8_t *waiting; /* per unit: a frame computes one of its members */
    uint32_t *seen;   /* per node or unit: the last estimate that counted it */
    uint32_t stamp;
    bool rough;    /* an estimate that goes too far counts what it has seen, twice */
    pb_node *kept; /* values that missing inputs of recipes are recomputed from, pinned until the recipe is done */
    size_t kept_count, kept_room;
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

static void add_place(demand *d, uint32_t event) { d->order[d->order_count++] = event; }

/* The order as a list of events. */
static pb_status list_order(demand *d)
{
    const pb_graph *g = d->g;
    const pb_moves *follow = d->options->follow;
    size_t room = follow ? 2 * (size_t)follow->count : g->order_count;
    d->order = pb_arena_alloc(&d->scratch, room, sizeof *d->order);
    if (!d->order)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < g->order_count && !follow; i++)
        if (is_read(g, g->order[i]))
            add_place(d, g->order[i]);
    for (pb_step k = 0; follow && k < follow->count; k++) {
        const pb_move *m = &follow->move[k];
        pb_node over = m->op == PB_COMPUTE ? pb_moves_over(follow, k) : PB_NO_NODE;
        if (m->op == PB_COMPUTE && !m->by && is_read(g, m->node)) /* what recipes recover comes back on demand */
            add_place(d, m->node);
        if (m->op == PB_FREE || over != PB_NO_NODE)
            add_place(d, (m->op == PB_FREE ? m->node : over) | REMOVED);
    }
    return PB_OK;
}

static pb_status count_readers(demand *d)
{
    const pb_graph *g = d->g;
    pb_status status = list_order(d);
    for (size_t i = 0; i < d->order_count && status == PB_OK; i++) {
        pb_node v = d->order[i];
        if (v & REMOVED)
            continue;
        bool first = d->left[v]++ == 0;
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            d->uses[g->in[k]]++;
            d->open[g->in[k]] += first;
        }
    }
    if (status != PB_OK)
        return status;
    for (pb_node v = 0; v < g->node_count; v++)
        for (uint32_t i = d->back.first[v]; is_read(g, v) && i < d->back.first[v + 1]; i++)
            d->open[d->back.in[i]]++;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (d->open[v] && !(g->flags[v] & PB_NODE_KEEP))
            d->alive[pb_graph_maker(g, v)]++;
        bool slow = g->flags[v] & PB_NODE_GIVEN_SLOW;
        d->placed[v] = d->existed[v] = (g->flags[v] & PB_NODE_GIVEN) != 0;
        if ((g->flags[v] & PB_NODE_GIVEN) && !slow) {
            d->resident[v] = 1;
            d->memory += g->size[v];
        } else if (slow && d->tier) {
            d->tier[v] = 1;
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
    d->existed = pb_arena_zero(a, n, sizeof *d->existed);
    d->waiting = pb_arena_zero(a, n, sizeof *d->waiting);
    d->seen = pb_arena_zero(a, n, sizeof *d->seen);
    d->uses = pb_arena_zero(a, n, sizeof *d->uses);
    d->open = pb_arena_zero(a, n, sizeof *d->open);
    d->alive = pb_arena_zero(a, n, sizeof *d->alive);
    d->placed = pb_arena_zero(a, n, sizeof *d->placed);
    d->parked = pb_arena_zero(a, n, sizeof *d->parked);
    d->left = pb_arena_zero(a, n, sizeof *d->left);
    d->requested = pb_arena_zero(a, n, sizeof *d->requested);
    d->stack = pb_arena_alloc(a, n + 1, sizeof *d->stack);
    d->to_retire = pb_arena_alloc(a, n + 1, sizeof *d->to_retire);
    bool tiers = d->game->kind == PB_GAME_TIERED && d->game->tier_count;
    d->tier = tiers ? pb_arena_zero(d->s.arena, n, sizeof *d->tier) : NULL; /* lives as long as the sequence */
    if (!d->resident || !d->pins || !d->existed || !d->waiting || !d->seen || !d->uses || !d->open || !d->alive ||
        !d->placed || !d->parked || !d->left || !d->requested || !d->stack || !d->to_retire || (tiers && !d->tier))
        return PB_ENOMEM;
    pb_status status = pbi_evict_init(&d->e, d->g, d->options->policy, d->options->seed, d->resident, &d->scratch);
    d->e.scorer = d->options->scorer;
    d->e.recipes = d->options->recipes && pb_game_recipes(d->game);
    if (status == PB_OK)
        status = pbi_comebacks_find(&d->back, d->g, d->e.recipes, &d->scratch);
    if (status != PB_OK)
        return status;
    d->held = pb_arena_zero(a, (size_t)d->g->edge_count + d->back.first[n], sizeof *d->held);
    return d->held ? count_readers(d) : PB_ENOMEM;
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

static pb_node input(const demand *d, uint32_t i)
{
    return i < d->g->edge_count ? d->g->in[i] : d->back.in[i - d->g->edge_count];
}

/* Must it stay in memory, or in a slow one? Not if a recipe surely brings it back, or nothing needs it. */
static bool cannot_remake(const demand *d, pb_node v)
{
    if (d->back.fixed[v])
        return true;
    return pbi_is_final_computation(d->g, v) && !d->back.by[v] && is_read(d->g, v);
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

/* Does a recipe that reads v bring back a value that is gone and that the order will read? */
static bool brings_back(const demand *d, pb_node v)
{
    bool any = false;
    for (uint32_t k = d->back.reader_first[v]; k < d->back.reader_first[v + 1] && !any; k++)
        any = d->uses[d->back.reader[k]] && !d->resident[d->back.reader[k]];
    return any;
}

/* v is resident and no frame holds it: makes it a candidate, or frees it if it is dead. */
static void make_candidate(demand *d, pb_node v)
{
    if (is_dead(d, v))
        release(d, v);
    else if (may_evict(d, v))
        pbi_evict_add(&d->e, v, (!d->uses[v] && !brings_back(d, v)) || d->parked[v]);
}

static void pin(demand *d, pb_node v)
{
    if (d->pins[v]++ == 0)
        pbi_evict_remove(&d->e, v);
    pbi_evict_touched(&d->e, v);
}

static void pin_input(demand *d, uint32_t i)
{
    pin(d, input(d, i));
    d->held[i] = 1;
}

static void unpin(demand *d, pb_node v)
{
    if (--d->pins[v] == 0 && d->resident[v])
        make_candidate(d, v);
}

/* u has one reader less. The unit of u is retired too if nothing can read it any more. */
static void close_reader(demand *d, pb_node u, uint32_t *waiting)
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
static void retire_unit(demand *d, pb_node v)
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

static pb_status add_event(demand *d, uint32_t event, uint32_t by)
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

static pb_status load(demand *d, pb_node v)
{
    if (!make_room(d, d->g->size[v]))
        return no_room(d, "load", v, d->g->size[v]);
    d->resident[v] = 1;
    d->memory += d->g->size[v];
    pbi_evict_made(&d->e, v);
    return add_event(d, v | PBI_LOAD_EVENT, 0);
}

/* Should this computation of v also produce by-product w? */
static bool makes(const demand *d, pb_node v, pb_node w, bool in_order)
{
    bool remakes_never = d->g->flags[v] & PB_NODE_ONCE;
    return !d->resident[w] &&
           (d->requested[w] || ((in_order || remakes_never) && (d->uses[w] || pbi_is_final(d->g, w))));
}

/* An input to overwrite: one that the order does not read again (`freely`), or any that can be recomputed. */
static pb_node pick_over(const demand *d, const frame *f, bool in_order, bool freely)
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
static uint64_t need_of(const demand *d, const frame *f, bool in_order, pb_node over)
{
    const pb_graph *g = d->g;
    pb_node v = f->node;
    uint64_t need = d->resident[v] ? 0 : g->size[v];
    if (over != PB_NO_NODE)
        need -= g->size[over] < need ? g->size[over] : need;
    for (uint32_t i = 1, count = f->by ? 1 : member_count(g, v); i < count; i++)
        need += makes(d, v, member(g, v, i), in_order) ? g->size[member(g, v, i)] : 0;
    return need + pb_graph_way(g, v, f->by).workspace;
}

/* All inputs of the frame are pinned: compute its node. */
static pb_status compute(demand *d, const frame *f, bool in_order)
{
    const pb_graph *g = d->g;
    pb_node v = f->node, over = pick_over(d, f, in_order, true);
    bool was_resident = d->resident[v];
    if (was_resident)
        pin(d, v);
    uint64_t need = need_of(d, f, in_order, over);
    if (!make_room(d, need)) {
        over = pick_over(d, f, in_order, false);
        need = need_of(d, f, in_order, over);
        if (!make_room(d, need))
            return no_room(d, "compute", v, need);
    }
    pb_status status = add_event(d, v, f->by);
    for (uint32_t i = 0, count = f->by ? 1 : member_count(g, v); i < count; i++) {
        pb_node w = member(g, v, i);
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

static uint32_t first_input(const demand *d, pb_node v, uint32_t by)
{
    return by ? d->g->edge_count + pbi_comebacks_first(&d->back, d->g, v, by) : d->g->in_start[v];
}

/* After the computation: unpins the inputs of the frame; its results become candidates. */
static void release_frame(demand *d, const frame *f, bool in_order)
{
    const pb_graph *g = d->g;
    for (uint32_t k = first_input(d, f->node, f->by); k < f->end; k++) {
        d->uses[input(d, k)] -= in_order;
        d->held[k] = 0;
        unpin(d, input(d, k));
    }
    for (uint32_t i = 0, count = f->by ? 1 : member_count(g, f->node); i < count; i++)
        if (d->resident[member(g, f->node, i)] && !d->pins[member(g, f->node, i)])
            make_candidate(d, member(g, f->node, i));
}

/* A new frame pins all resident inputs at once, so that computing the others cannot evict them. */
static void push_frame(demand *d, pb_node v, uint32_t by)
{
    uint32_t first = first_input(d, v, by), end = first + pb_graph_way(d->g, v, by).in_count;
    d->stack[d->depth++] = (frame){v, by, first, end, (uint32_t)d->kept_count};
    d->waiting[pb_graph_maker(d->g, v)]++;
    for (uint32_t k = first; k < end; k++)
        if (d->resident[input(d, k)])
            pin_input(d, k);
}

static bool keep_value(demand *d, pb_node v)
{
    void *items = d->kept;
    if (!pbi_arena_reserve(&d->scratch, &items, &d->kept_room, d->kept_count + 1, sizeof *d->kept))
        return false;
    d->kept = items;
    d->kept[d->kept_count++] = v;
    pin(d, v);
    return true;
}

/* Adds the work of recomputing u by its own inputs, and what that needs, down to what is resident. What is visited is
 * marked with the current stamp. With `keep`, what is resident and read is pinned. UINT64_MAX: too deep to tell, not
 * possible now, or out of memory. */
static uint64_t add_work(demand *d, pb_node u, uint64_t cost, bool keep)
{
    const pb_graph *g = d->g;
    pb_node list[FAR];
    uint32_t count = 0, next = 0;
    list[count++] = u;
    for (; next < count; next++) {
        pb_node v = list[next], maker = pb_graph_maker(g, v);
        bool stored = d->tier && d->tier[v];
        if (d->seen[stored ? v : maker] == d->stamp)
            continue;
        d->seen[stored ? v : maker] = d->stamp;
        if (stored) {
            cost = pbi_add_saturated(cost, pbi_load_price(&d->game->tiers[d->tier[v] - 1], g->size[v]));
            continue;
        }
        if (pbi_is_final_computation(g, v) || d->waiting[maker])
            return UINT64_MAX;
        cost = pbi_add_saturated(cost, g->cost[maker]);
        for (uint32_t k = g->in_start[maker]; k < g->in_start[maker + 1]; k++) {
            if (d->resident[g->in[k]]) {
                if (keep && !keep_value(d, g->in[k]))
                    return UINT64_MAX;
                continue;
            }
            if (count == FAR)
                return d->rough ? pbi_add_saturated(cost, cost) : UINT64_MAX;
            list[count++] = g->in[k];
        }
    }
    d->examined += count;
    return cost;
}

/* Work of recomputing u by its own inputs, or of loading it. */
static uint64_t own_cost(demand *d, pb_node u)
{
    d->stamp++;
    return add_work(d, u, 0, false);
}

/* Work of a recipe of u, with that of its missing inputs. */
static uint64_t recipe_cost(demand *d, pb_node u, uint32_t by, bool keep)
{
    pb_way way = pb_graph_way(d->g, u, by);
    uint64_t cost = way.cost;
    d->stamp++;
    d->waiting[pb_graph_maker(d->g, u)]++;
    for (uint32_t k = 0; k < way.in_count && cost != UINT64_MAX; k++) {
        bool known = (d->g->flags[way.in[k]] & PB_NODE_NEEDED) && d->existed[way.in[k]];
        if (!d->resident[way.in[k]])
            cost = known ? add_work(d, way.in[k], cost, keep) : UINT64_MAX;
    }
    d->waiting[pb_graph_maker(d->g, u)]--;
    return cost;
}

/* For the policy `priority` if there are recipes: what it takes to get v back, over size and staleness. If other values
 * come back from v, and v itself cannot come back by a recipe now, evicting it breaks their chain. */
static double score_of(void *state, pb_node v)
{
    demand *d = state;
    uint64_t cost, recipe = UINT64_MAX;
    d->resident[v] = 0;
    d->rough = true;
    cost = own_cost(d, v);
    d->rough = false;
    for (uint32_t by = pb_graph_recipes(d->g, v); by > 0; by--) {
        uint64_t now = recipe_cost(d, v, by, false);
        recipe = now < recipe ? now : recipe;
    }
    d->resident[v] = 1;
    double weight = recipe == UINT64_MAX && brings_back(d, v) ? BREAKS_CHAIN : 1;
    cost = recipe < cost ? recipe : cost;
    return weight * (double)cost / ((double)d->g->size[v] * (double)(d->e.clock - d->e.touched[v] + 1));
}

static void ignore(void *state, pb_node v)
{
    (void)state;
    (void)v;
}

static void ignore_end(void *state, pb_node v, bool dead)
{
    (void)state;
    (void)v;
    (void)dead;
}

/* The recipe of u that costs least, if it costs no more than `other`; 0 if there is none. */
static uint32_t best_recipe(demand *d, pb_node u, uint64_t other)
{
    uint32_t best = 0;
    for (uint32_t by = d->e.recipes && d->existed[u] ? pb_graph_recipes(d->g, u) : 0; by > 0; by--) {
        uint64_t cost = recipe_cost(d, u, by, false);
        if (cost <= other && cost != UINT64_MAX) {
            best = by;
            other = cost;
        }
    }
    return best;
}

/* One input of the top frame: pin it, load it, or open a frame for its producer. */
static pb_status fetch(demand *d, frame *f)
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
    uint32_t by = pb_graph_recipes(d->g, u) ? best_recipe(d, u, own_cost(d, u)) : 0;
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
        (void)recipe_cost(d, u, by, true);
    return PB_OK;
}

/* Computes v, after whatever it needs. The bottom frame is v itself, at its place in the order. */
static pb_status compute_root(demand *d, pb_node root)
{
    const pb_graph *g = d->g;
    pb_status status = PB_OK;
    d->depth = 0;
    push_frame(d, root, 0);
    while (d->depth && status == PB_OK && !d->stuck) {
        frame *f = &d->stack[d->depth - 1];
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
static bool is_here(const demand *d, pb_node v)
{
    bool here = d->resident[v];
    for (uint32_t i = 1, count = member_count(d->g, v); i < count && here; i++)
        here = !makes(d, v, member(d->g, v, i), true);
    return here;
}

/* The plan computes v, which is resident: its inputs have one reader less. */
static void skip_root(demand *d, pb_node v)
{
    const pb_graph *g = d->g;
    for (uint32_t i = 0, count = member_count(g, v); i < count; i++)
        d->parked[member(g, v, i)] = 0;
    if (--d->left[v] == 0)
        d->placed[v] = 1;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        if (--d->uses[g->in[k]] == 0 && d->resident[g->in[k]])
            make_candidate(d, g->in[k]);
    for (uint32_t i = 0, count = member_count(g, v); i < count; i++)
        if (d->resident[member(g, v, i)])
            make_candidate(d, member(g, v, i));
}

static void park(demand *d, pb_node v)
{
    d->parked[v] = 1;
    if (d->resident[v])
        make_candidate(d, v);
}

/* A kept value that nothing read: only a recipe can bring it, and no computation has asked for it. */
static pb_status no_slow_memory(demand *d, pb_node v)
{
    d->stuck = true;
    return pbi_plan_give_up(d->plan, "does not apply: %.60s is kept, but in slow memory, and this game has none",
                            pb_graph_name(d->g, v));
}

static pb_status follow_order(demand *d)
{
    const pb_graph *g = d->g;
    pb_status status = PB_OK;
    for (pb_node v = 0; v < g->node_count; v++)
        if (d->resident[v])
            make_candidate(d, v);
    for (size_t i = 0; i < d->order_count && status == PB_OK && !d->stuck; i++) {
        pb_node v = d->order[i] & ~REMOVED;
        if (d->order[i] & REMOVED) {
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
    demand d = {.ctx = ctx, .game = game, .g = game->graph, .options = options, .plan = why, .s = *s};
    pbi_evict_scorer scorer = {&d, score_of, ignore, ignore, ignore_end, 256, 128, 0};
    pb_arena_init(&d.scratch, ctx);
    pb_status status = allocate_demand(&d);
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
