/* verify.c -- replays a schedule by the rules of docs/games.md and reports the first rule that is broken.
 *
 * Deliberately plain: one state word per node, one function per kind of move, checks in a fixed order, so that one
 * violation has one name. Sums of sizes cannot overflow (freezing a graph proves that); work and io are checked here.
 */
#include "verify/certificate.h"

#include "base/checked.h"
#include "base/context.h"

/* A node's state: its flags in the graph and these. */
enum { BORROWED = 1 << 12, RESIDENT = 1 << 13, DONE = 1 << 14, COMPUTED = 1 << 15 };

typedef struct replay {
    const pb_game *game;
    const pb_graph *g;
    const pb_moves *moves;
    uint16_t *state; /* per node */
    uint8_t *slow;   /* one bit per tier, one byte per node; NULL without tiers */
    uint64_t slow_used[PB_MAX_TIERS];
    uint64_t memory; /* resident now, including fixed_size, without borrowed memory */
    uint64_t borrowed, borrowed_count;
    uint64_t time; /* work + io so far: must fit 64 bits */
    pb_totals totals;
    pb_verdict verdict;
} replay;

/* The cost of a move and the memory during it. */
typedef struct effect {
    uint64_t cost, during;
} effect;

static bool breaks(replay *r, pb_rule rule, pb_node node, pb_node other, uint64_t amount)
{
    r->verdict.rule = rule;
    r->verdict.node = node;
    r->verdict.other = other;
    r->verdict.amount = amount;
    return false;
}

static bool inputs_resident(replay *r, pb_node v, const pb_way *way)
{
    for (uint32_t k = 0; k < way->in_count; k++)
        if (!(r->state[way->in[k]] & RESIDENT))
            return breaks(r, PB_RULE_INPUT, v, way->in[k], 0);
    return true;
}

static bool may_overwrite(const pb_way *way, pb_node u)
{
    for (uint32_t k = 0; k < way->inplace_count; k++)
        if (way->inplace[k] == u)
            return true;
    return false;
}

/* Makes the by-products of move k resident and adds their sizes to *made. */
static bool make_byproducts(replay *r, pb_step k, pb_node v, uint64_t *made)
{
    uint32_t count;
    const pb_node *also = pb_moves_also(r->moves, k, &count);
    for (uint32_t i = 0; i < count; i++) {
        pb_node w = also[i];
        if (w >= r->g->node_count)
            return breaks(r, PB_RULE_NODE, v, w, 0);
        if (!r->g->owner || r->g->owner[w] != v)
            return breaks(r, PB_RULE_ALSO, v, w, 0);
        if (r->state[w] & RESIDENT)
            return breaks(r, PB_RULE_ALSO_RESIDENT, v, w, 0);
        r->state[w] |= RESIDENT | DONE;
        *made += r->g->size[w];
    }
    return true;
}

/* May the node be computed from its own inputs, or by the recipe of the move? */
static bool way_is_open(replay *r, const pb_move *move)
{
    pb_node v = move->node;
    uint16_t kind = r->state[v];
    if (!move->by) {
        if (kind & PB_NODE_GIVEN)
            return breaks(r, PB_RULE_GIVEN, v, PB_NO_NODE, 0);
        return !(kind & PB_NODE_BYPRODUCT) || breaks(r, PB_RULE_BYPRODUCT, v, r->g->owner[v], 0);
    }
    if (r->game->kind == PB_GAME_REVERSIBLE || move->by > pb_graph_recipes(r->g, v))
        return breaks(r, PB_RULE_RECIPE, v, PB_NO_NODE, move->by);
    if (move->flags & PB_MOVE_ALSO)
        return breaks(r, PB_RULE_RECIPE_ALSO, v, PB_NO_NODE, 0);
    return (kind & DONE) || breaks(r, PB_RULE_RECIPE_EARLY, v, PB_NO_NODE, 0);
}

/* Takes over the memory of an input, whose size goes to *taken. */
static bool overwrite(replay *r, pb_step k, const pb_way *way, bool again, uint64_t *taken)
{
    pb_node v = r->moves->move[k].node, u = pb_moves_over(r->moves, k);
    if (u >= r->g->node_count)
        return breaks(r, PB_RULE_NODE, v, u, 0);
    if (!may_overwrite(way, u))
        return breaks(r, PB_RULE_OVER, v, u, 0);
    if (again)
        return breaks(r, PB_RULE_OVER_RESIDENT, v, u, 0);
    if (r->state[u] & BORROWED)
        return breaks(r, PB_RULE_OVER_BORROWED, v, u, 0);
    *taken = r->g->size[u];
    r->state[u] &= (uint16_t)~RESIDENT;
    return true;
}

static bool play_compute(replay *r, pb_step k, pb_node v, effect *e)
{
    const pb_graph *g = r->g;
    const pb_move *move = &r->moves->move[k];
    uint8_t flags = move->flags;
    uint16_t kind = r->state[v];
    if (!way_is_open(r, move))
        return false;
    if ((flags & PB_MOVE_BORROW) && (flags != PB_MOVE_BORROW || move->by)) /* nothing else may be combined with it */
        return breaks(r, PB_RULE_MOVE, v, PB_NO_NODE, 0);
    bool again = kind & RESIDENT; /* allowed only for by-products */
    uint32_t also_count = 0;
    if (flags & PB_MOVE_ALSO)
        pb_moves_also(r->moves, k, &also_count);
    if (again && !also_count)
        return breaks(r, PB_RULE_RESIDENT, v, PB_NO_NODE, 0);
    pb_way way = pb_graph_way(g, v, move->by);
    if (!inputs_resident(r, v, &way))
        return false;
    if (!move->by && (kind & PB_NODE_ONCE) && (kind & COMPUTED))
        return breaks(r, PB_RULE_ONCE, v, PB_NO_NODE, 0);
    uint64_t made = again ? 0 : g->size[v], taken = 0;
    if ((flags & PB_MOVE_OVER) && !overwrite(r, k, &way, again, &taken))
        return false;
    uint64_t saved = made < taken ? made : taken;
    if (flags & PB_MOVE_BORROW) {
        if (made > r->game->borrow - r->borrowed)
            return breaks(r, PB_RULE_BORROW, v, PB_NO_NODE, r->borrowed + made);
        r->borrowed += made;
        r->borrowed_count++;
        made = 0;
        kind |= BORROWED;
    }
    if (also_count && !make_byproducts(r, k, v, &made))
        return false;
    r->state[v] = (uint16_t)(kind | RESIDENT | DONE | (move->by ? 0 : COMPUTED));
    e->cost = way.cost;
    e->during = r->memory + made - saved + way.workspace;
    r->memory = r->memory + made - taken;
    r->totals.compute_work += e->cost;
    r->totals.compute_count++;
    return true;
}

/* A by-product is uncomputed by running its node's computation backwards: that needs the node's inputs. */
static bool play_uncompute(replay *r, pb_node v, effect *e)
{
    const pb_graph *g = r->g;
    if (g->flags[v] & PB_NODE_GIVEN)
        return breaks(r, PB_RULE_GIVEN, v, PB_NO_NODE, 0);
    if (!(r->state[v] & RESIDENT))
        return breaks(r, PB_RULE_UNCOMPUTE, v, PB_NO_NODE, 0);
    pb_way way = pb_graph_way(g, pb_graph_maker(g, v), 0);
    if (!inputs_resident(r, v, &way))
        return false;
    e->cost = g->cost[v];
    e->during = r->memory + g->workspace[v];
    if (r->state[v] & BORROWED) {
        r->borrowed -= g->size[v];
        r->borrowed_count--;
    } else {
        r->memory -= g->size[v];
    }
    r->state[v] &= (uint16_t) ~(RESIDENT | BORROWED);
    r->totals.uncompute_work += e->cost;
    return true;
}

/* The fixed part and the price per unit times the size, together rounded up to a whole cost. */
static bool transfer_cost(const pb_tier *tier, bool load, uint64_t size, uint64_t *cost)
{
    uint64_t bandwidth = load ? tier->load_bandwidth : tier->store_bandwidth, passing = 0;
    pb_u128 part = pbi_u128_product(load ? tier->load_per_unit : tier->store_per_unit, size);
    bool up = false, fits = pbi_u128_add(&part, pbi_u128(load ? tier->load_cost : tier->store_cost));
    for (uint32_t i = 0, rest; i < tier->digits; i++) {
        part = pbi_u128_divide(part, 10, &rest);
        up |= rest != 0;
    }
    if (bandwidth)
        fits = fits && pbi_mul_div_up(size, tier->per_second, bandwidth, &passing);
    *cost = part.low;
    return fits && part.high == 0 && pbi_add(*cost, up, cost) && pbi_add(*cost, passing, cost);
}

/* Store, load and drop. *status is PB_ERANGE if the price passes 64 bits. */
static bool play_tier(replay *r, const pb_move *move, effect *e, pb_status *status)
{
    pb_node v = move->node;
    uint64_t size = r->g->size[v];
    if (move->tier == 0 || move->tier > r->game->tier_count)
        return breaks(r, PB_RULE_TIER, v, PB_NO_NODE, move->tier);
    unsigned t = move->tier - 1u;
    const pb_tier *tier = &r->game->tiers[t];
    uint8_t bit = (uint8_t)(1u << t);
    bool fast = r->state[v] & RESIDENT, stored = r->slow[v] & bit, fits = true;
    if (move->op == PB_STORE) {
        if (!fast)
            return breaks(r, PB_RULE_STORE, v, PB_NO_NODE, 0);
        if (stored)
            return breaks(r, PB_RULE_STORE_AGAIN, v, PB_NO_NODE, 0);
        r->slow[v] |= bit;
        r->slow_used[t] += size;
        if (r->slow_used[t] > tier->cap)
            return breaks(r, PB_RULE_TIER_CAP, v, PB_NO_NODE, r->slow_used[t]);
        fits = transfer_cost(tier, false, size, &e->cost);
    } else if (move->op == PB_LOAD) {
        if (!stored)
            return breaks(r, PB_RULE_LOAD, v, PB_NO_NODE, 0);
        if (fast)
            return breaks(r, PB_RULE_LOAD_RESIDENT, v, PB_NO_NODE, 0);
        r->state[v] |= RESIDENT;
        r->memory += size;
        e->during = r->memory;
        fits = transfer_cost(tier, true, size, &e->cost);
    } else {
        if (!stored)
            return breaks(r, PB_RULE_DROP, v, PB_NO_NODE, 0);
        r->slow[v] &= (uint8_t)~bit;
        r->slow_used[t] -= size;
    }
    r->totals.io += e->cost;
    if (!fits)
        *status = PB_ERANGE;
    return true;
}

static bool play(replay *r, pb_step k, effect *e, pb_status *status)
{
    const pb_move *move = &r->moves->move[k];
    pb_node v = move->node;
    pb_game_kind kind = r->game->kind;
    *e = (effect){0, r->memory};
    if (v >= r->g->node_count)
        return breaks(r, PB_RULE_NODE, PB_NO_NODE, v, 0);
    switch (move->op) {
    case PB_COMPUTE: return play_compute(r, k, v, e);
    case PB_FREE:
        if (kind == PB_GAME_REVERSIBLE)
            break;
        if (!(r->state[v] & RESIDENT))
            return breaks(r, PB_RULE_FREE, v, PB_NO_NODE, 0);
        if (r->state[v] & BORROWED)
            return breaks(r, PB_RULE_FREE_BORROWED, v, PB_NO_NODE, 0);
        r->state[v] &= (uint16_t)~RESIDENT;
        r->memory -= r->g->size[v];
        return true;
    case PB_UNCOMPUTE:
        if (kind == PB_GAME_REVERSIBLE || (r->state[v] & BORROWED))
            return play_uncompute(r, v, e);
        break;
    case PB_STORE:
    case PB_LOAD:
    case PB_DROP:
        if (kind == PB_GAME_TIERED)
            return play_tier(r, move, e, status);
        break;
    default: break;
    }
    return breaks(r, PB_RULE_MOVE, v, PB_NO_NODE, 0);
}

static bool set_start(replay *r)
{
    const pb_graph *g = r->g;
    r->memory = g->fixed_size;
    for (pb_node v = 0; v < g->node_count; v++) {
        r->state[v] = g->flags[v];
        if (!(g->flags[v] & PB_NODE_GIVEN))
            continue;
        r->state[v] |= DONE;
        if (!(g->flags[v] & PB_NODE_GIVEN_SLOW)) {
            r->state[v] |= RESIDENT;
            r->memory += g->size[v];
        } else if (r->slow) {
            r->slow[v] = 1;
            r->slow_used[0] += g->size[v];
        }
    }
    r->totals.peak = r->totals.start_memory = r->memory;
    r->totals.peak_step = UINT64_MAX;
    if (r->memory > r->game->cap)
        return breaks(r, PB_RULE_START_CAP, PB_NO_NODE, PB_NO_NODE, r->memory);
    if (r->slow && r->slow_used[0] > r->game->tiers[0].cap)
        return breaks(r, PB_RULE_START_TIER, PB_NO_NODE, PB_NO_NODE, r->slow_used[0]);
    return true;
}

static pb_status play_all(replay *r, pb_context *ctx, bool *legal)
{
    effect e;
    pb_status status = PB_OK;
    *legal = true;
    for (pb_step k = 0; k < r->moves->count; k++) {
        if ((k & 0xffff) == 0 && (status = pbi_poll(ctx)) != PB_OK)
            return status;
        *legal = play(r, k, &e, &status) &&
                 (e.during <= r->game->cap || breaks(r, PB_RULE_CAP, r->moves->move[k].node, PB_NO_NODE, e.during));
        if (!*legal) {
            r->verdict.step = k;
            return PB_OK;
        }
        if (r->borrowed > r->totals.borrowed)
            r->totals.borrowed = r->borrowed;
        if (e.during > r->totals.peak) {
            r->totals.peak = e.during;
            r->totals.peak_step = k;
        }
        if (e.cost) {
            if (status != PB_OK || !pbi_add(r->time, e.cost, &r->time))
                return pbi_fail(ctx, PB_ERANGE,
                                "the work and io of the schedule exceed 2^64 at move %llu; use a coarser cost unit",
                                (unsigned long long)k);
            pbi_u128_add(&r->totals.flux, pbi_u128_product(e.cost, e.during)); /* below 2^64 * 2^64 */
        } else if (status != PB_OK) {
            return pbi_fail(ctx, status, "the cost of move %llu exceeds 2^64; use a coarser cost unit",
                            (unsigned long long)k);
        }
    }
    return PB_OK;
}

static bool check_end(replay *r)
{
    const pb_graph *g = r->g;
    r->verdict.step = r->moves->count;
    for (uint32_t i = 0; i < g->target_count; i++)
        if (!(r->state[g->targets[i]] & DONE))
            return breaks(r, PB_RULE_TARGET, g->targets[i], PB_NO_NODE, 0);
    for (pb_node v = 0; r->borrowed_count && v < g->node_count; v++)
        if (r->state[v] & BORROWED)
            return breaks(r, PB_RULE_BORROW_LEFT, v, PB_NO_NODE, 0);
    for (pb_node v = 0; v < g->node_count; v++)
        if ((g->flags[v] & PB_NODE_KEEP) && !(r->state[v] & RESIDENT))
            return breaks(r, PB_RULE_KEEP, v, PB_NO_NODE, 0);
    for (pb_node v = 0; r->game->kind == PB_GAME_REVERSIBLE && v < g->node_count; v++) {
        bool expected = g->flags[v] & (PB_NODE_TARGET | PB_NODE_KEEP | PB_NODE_GIVEN);
        if (expected != ((r->state[v] & RESIDENT) != 0))
            return breaks(r, expected ? PB_RULE_GONE : PB_RULE_LEFT, v, PB_NO_NODE, 0);
    }
    return true;
}

static pb_status replay_all(replay *r, pb_context *ctx, pb_arena *scratch, bool *legal)
{
    uint32_t n = r->g->node_count;
    bool tiers = r->game->kind == PB_GAME_TIERED && r->game->tier_count;
    r->state = pb_arena_alloc(scratch, n, sizeof *r->state);
    r->slow = tiers ? pb_arena_zero(scratch, n, sizeof *r->slow) : NULL;
    if (!r->state || (tiers && !r->slow))
        return PB_ENOMEM;
    *legal = set_start(r);
    pb_status status = *legal ? play_all(r, ctx, legal) : PB_OK;
    if (status == PB_OK && *legal)
        *legal = check_end(r);
    r->totals.end_memory = r->memory;
    return status;
}

pb_status pb_verify(pb_context *ctx, const pb_game *game, const pb_moves *moves, pb_arena *result, pb_verdict *v)
{
    if (game->kind == PB_GAME_TIMED)
        return pbi_verify_timed(ctx, game, moves, result, v);
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    replay r = {.game = game, .g = game->graph, .moves = moves};
    r.verdict.node = r.verdict.other = PB_NO_NODE;
    bool legal;
    pb_status status = replay_all(&r, ctx, &scratch, &legal);
    pb_arena_release(&scratch);
    if (status == PB_OK && legal) {
        pb_certificate *c = pb_arena_alloc(result, 1, sizeof *c);
        if (!c)
            return PB_ENOMEM;
        *c = (pb_certificate){game, moves, r.totals};
        r.verdict.certificate = c;
    }
    if (status == PB_OK)
        *v = r.verdict;
    return status;
}

const pb_game *pb_certificate_game(const pb_certificate *c) { return c->game; }
const pb_moves *pb_certificate_moves(const pb_certificate *c) { return c->moves; }
const pb_totals *pb_certificate_totals(const pb_certificate *c) { return &c->totals; }
