/* bounds.c -- bounds for every schedule of a game, in any order.
 *
 * Memory: a needed node is computed at least once; then its inputs, itself, its workspace and fixed_size are resident
 * together (minus what an in-place move saves). The start and the end state are resident together too. In the
 * reversible game given values are always resident, and the last of the final values is computed while all others
 * are resident. Forests of in-trees have an exact answer in the remat game.
 * Work: every needed node is computed once; in the reversible game every needed node that is not final is uncomputed as
 * often as it is computed; a needed value given in slow memory is loaded once.
 * Cost: the peak is at least the minimum cap, the flux at least work times working set, node by node.
 */
#include "pebble/bound.h"

#include "base/checked.h"
#include "base/context.h"
#include "bound/quick_bounds.h"
#include "bound/reversible_least.h"
#include "bound/tree_order.h"
#include "game/price.h"

/* Memory that is resident during any computation of v. */
static uint64_t working_set(const pb_game *game, pb_node v, uint64_t given_fast)
{
    const pb_graph *g = game->graph;
    uint64_t inputs = 0, given = 0, saved = 0;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        inputs += g->size[g->in[k]];
        if (g->flags[g->in[k]] & PB_NODE_GIVEN)
            given += g->size[g->in[k]];
    }
    if (g->inplace_start)
        for (uint32_t k = g->inplace_start[v]; k < g->inplace_start[v + 1]; k++) {
            uint64_t size = g->size[g->inplace[k]] < g->size[v] ? g->size[g->inplace[k]] : g->size[v];
            saved = size > saved ? size : saved;
        }
    if (game->kind == PB_GAME_REVERSIBLE)
        inputs += given_fast - given;
    return g->fixed_size + inputs + g->size[v] - saved + g->workspace[v];
}

static void raise(pb_bounds *b, uint64_t need, pb_node at, const char *why)
{
    if (need > b->least_cap || !b->least_why) {
        b->least_cap = need;
        b->least_at = at;
        b->least_why = why;
    }
}

/* Memory at the start and at the end. A target need not be resident at the end except in the reversible game. */
static uint64_t bound_ends(const pb_game *game, pb_bounds *b)
{
    const pb_graph *g = game->graph;
    uint64_t given = 0, end = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        uint16_t flags = g->flags[v];
        bool fast = (flags & PB_NODE_GIVEN) && !(flags & PB_NODE_GIVEN_SLOW);
        bool stays =
            (flags & PB_NODE_KEEP) || (game->kind == PB_GAME_REVERSIBLE && (flags & (PB_NODE_TARGET | PB_NODE_GIVEN)));
        given += fast ? g->size[v] : 0;
        end += stays ? g->size[v] : 0;
    }
    raise(b, g->fixed_size + given, PB_NO_NODE, "start");
    raise(b, g->fixed_size + end, PB_NO_NODE, "end");
    return given;
}

/* In the reversible game the last final value is computed while all other final values are resident. */
static void bound_last(const pb_game *game, pb_bounds *b)
{
    const pb_graph *g = game->graph;
    uint64_t stays = g->fixed_size, least = UINT64_MAX;
    if (game->kind != PB_GAME_REVERSIBLE || g->owner || g->inplace_start)
        return; /* these may save some of it */
    for (pb_node v = 0; v < g->node_count; v++) {
        const uint16_t lasting = PB_NODE_TARGET | PB_NODE_KEEP | PB_NODE_GIVEN;
        uint64_t other = g->workspace[v];
        if (!(g->flags[v] & lasting))
            continue;
        stays += g->size[v];
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            other += g->flags[g->in[k]] & lasting ? 0 : g->size[g->in[k]];
        if (!(g->flags[v] & PB_NODE_GIVEN) && other < least)
            least = other;
    }
    if (least != UINT64_MAX)
        raise(b, stays + least, PB_NO_NODE, "end");
}

/* A value given in slow memory can only be used if the game has slow memory, or a recipe for it. */
static bool out_of_reach(const pb_game *game, pb_node v)
{
    uint16_t flags = game->graph->flags[v];
    if (!(flags & PB_NODE_GIVEN_SLOW) || (game->kind == PB_GAME_TIERED && game->tier_count))
        return false;
    if (pb_game_recipes(game) && pb_graph_recipes(game->graph, v)) /* it has existed, so a recipe may bring it */
        return false;
    bool read = false; /* a slow value that is only a target counts as computed */
    for (uint32_t k = game->graph->out_start[v]; k < game->graph->out_start[v + 1] && !read; k++)
        read = game->graph->flags[game->graph->out[k]] & PB_NODE_NEEDED;
    return read || (flags & PB_NODE_KEEP) || game->kind == PB_GAME_REVERSIBLE;
}

/* Values given in slow memory start in tier 1: no cap on fast memory helps if they do not fit there. Returns the
 * node that exceeds the tier's cap, or PB_NO_NODE. */
static pb_node over_slow_start(const pb_game *game)
{
    const pb_graph *g = game->graph;
    uint64_t used = 0;
    if (game->kind != PB_GAME_TIERED || !game->tier_count)
        return PB_NO_NODE;
    for (pb_node v = 0; v < g->node_count; v++) {
        used += g->flags[v] & PB_NODE_GIVEN_SLOW ? g->size[v] : 0;
        if (used > game->tiers[0].cap)
            return v;
    }
    return PB_NO_NODE;
}

static bool slow_is_loaded(const pb_graph *g, pb_node v)
{
    if (g->flags[v] & PB_NODE_KEEP)
        return true;
    for (uint32_t k = g->out_start[v]; k < g->out_start[v + 1]; k++)
        if (g->flags[g->out[k]] & PB_NODE_NEEDED)
            return true;
    return false;
}

/* How often the work of v is done at least: computed once, and in the reversible game uncomputed unless it is final
 * or an in-place move may remove it. By-products of v may force nothing more. */
static unsigned least_runs(const pb_game *game, pb_node v, const uint8_t *overwritten)
{
    bool stays = game->graph->flags[v] & (PB_NODE_TARGET | PB_NODE_KEEP);
    return game->kind == PB_GAME_REVERSIBLE && !stays && !(overwritten && overwritten[v]) ? 2 : 1;
}

/* One byte per node: another node lists it in `inplace`. NULL if none does, or if memory is exhausted (*status). */
static uint8_t *mark_overwritten(const pb_game *game, pb_arena *scratch, pb_status *status)
{
    const pb_graph *g = game->graph;
    *status = PB_OK;
    if (game->kind != PB_GAME_REVERSIBLE || !g->inplace_start)
        return NULL;
    uint8_t *marks = pb_arena_zero(scratch, g->node_count, sizeof *marks);
    for (uint32_t k = 0; marks && k < g->inplace_start[g->node_count]; k++)
        marks[g->inplace[k]] = 1;
    *status = marks ? PB_OK : PB_ENOMEM;
    return marks;
}

typedef struct sums {
    uint64_t makespan, extra; /* extra: the part of the bound on cost that gamma weighs */
    pb_u128 flux;
} sums;

/* Adds the least work and flux of v, which is run `runs` times. False if the work exceeds 64 bits. */
static bool add_node(const pb_game *game, pb_node v, uint64_t set, unsigned runs, sums *s)
{
    uint64_t cost = game->graph->cost[v];
    for (unsigned i = 0; i < runs; i++) {
        if (!pbi_add(s->makespan, cost, &s->makespan))
            return false;
        pbi_u128_add(&s->flux, pbi_u128_product(cost, set));
    }
    s->extra += runs == 2 ? cost : 0;
    return true;
}

static bool add_load(const pb_game *game, pb_node v, sums *s)
{
    const pb_tier *tier = &game->tiers[0];
    uint64_t price = pbi_load_price(tier, game->graph->size[v]);
    for (uint32_t by = pb_graph_recipes(game->graph, v); by > 0; by--) { /* or it comes by recipe */
        uint64_t cost = pb_graph_way(game->graph, v, by).cost;
        price = cost < price ? cost : price;
    }
    if (price == UINT64_MAX || !pbi_add(s->makespan, price, &s->makespan))
        return false;
    s->extra += price;
    return pbi_u128_add(&s->flux, pbi_u128_product(price, game->graph->fixed_size + game->graph->size[v]));
}

static void bound_cost(const pb_game *game, const sums *s, pb_bounds *b)
{
    const pb_weights *w = &game->weights;
    pb_u128 part, sum = pbi_u128_product(w->alpha, b->least_cap);
    b->has_cost = pbi_u128_scale(s->flux, w->beta, &part) && pbi_u128_add(&sum, part) &&
                  pbi_u128_add(&sum, pbi_u128_product(w->gamma, s->extra));
    b->cost = sum;
}

/* Adds up the requirements of every needed node. */
static pb_status bound_nodes(pb_context *ctx, const pb_game *game, const uint8_t *overwritten, pb_bounds *b, sums *s)
{
    const pb_graph *g = game->graph;
    uint64_t given = bound_ends(game, b);
    bool fits = true;
    for (pb_node v = 0; v < g->node_count; v++) {
        pb_status status = (v & 0xffff) == 0 ? pbi_poll(ctx) : PB_OK;
        if (status != PB_OK)
            return status;
        if (!b->impossible && out_of_reach(game, v)) {
            b->impossible = true;
            b->impossible_at = v;
        }
        if (!(g->flags[v] & PB_NODE_NEEDED))
            continue;
        if (pb_graph_is_computed(g, v)) {
            uint64_t set = working_set(game, v, given);
            raise(b, set, v, "working set");
            fits = fits && add_node(game, v, set, least_runs(game, v, overwritten), s);
        } else if ((g->flags[v] & PB_NODE_GIVEN_SLOW) && game->kind == PB_GAME_TIERED && slow_is_loaded(g, v)) {
            raise(b, g->fixed_size + g->size[v], v, "working set");
            fits = fits && add_load(game, v, s);
        }
    }
    bound_last(game, b);
    return fits ? PB_OK : pbi_fail(ctx, PB_ERANGE, "the work of any schedule exceeds 2^64; use a coarser cost unit");
}

/* If every value has one use, the minimum peak over orders is that over schedules (docs/strategies/tree.md). */
static pb_status bound_forest(pb_context *ctx, const pb_game *game, pb_bounds *b)
{
    pbi_tree_found found;
    if (game->kind != PB_GAME_REMAT || b->impossible || pb_game_recipes(game))
        return PB_OK;
    pb_status status = pbi_tree_order(ctx, game, PBI_TREE_LEAST, NULL, &found);
    if (status != PB_OK || !found.is_forest || found.recomputing_helps)
        return status;
    raise(b, found.peak, PB_NO_NODE, "best traversal");
    b->attained = true;
    return PB_OK;
}

/* In the reversible game the shape alone needs memory: a chain of n values needs log n of them. */
static pb_status bound_ranks(pb_context *ctx, const pb_game *game, pb_bounds *b)
{
    uint64_t least;
    pb_status status = pbi_reversible_least(ctx, game, &least);
    if (status == PB_OK && least > b->least_cap)
        raise(b, least, PB_NO_NODE, "edge ranks");
    return status;
}

static pb_status make(pb_context *ctx, const pb_game *game, bool quick, pb_bounds *out)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pb_bounds b = {.least_at = PB_NO_NODE,
                   .makespan_at = PB_NO_NODE,
                   .impossible_at = over_slow_start(game),
                   .over_at = PB_NO_NODE};
    b.impossible = b.impossible_at != PB_NO_NODE;
    sums s = {0, 0, {0, 0}};
    pb_status status;
    const uint8_t *overwritten = mark_overwritten(game, &scratch, &status);
    if (status == PB_OK)
        status = bound_nodes(ctx, game, overwritten, &b, &s);
    pb_arena_release(&scratch);
    if (status == PB_OK && !quick)
        status = bound_forest(ctx, game, &b);
    if (status == PB_OK && !quick)
        status = bound_ranks(ctx, game, &b);
    if (status != PB_OK)
        return status;
    b.makespan = s.makespan;
    bound_cost(game, &s, &b);
    *out = b;
    return PB_OK;
}

/* With borrowed memory, the bounds are those of the sum of both. Borrowed memory is not part of the peak; the start
 * and the end state are in our own memory. */
static pb_status bounds_of_sum(pb_context *ctx, const pb_game *game, bool quick, pb_bounds *out)
{
    pb_game sum = *game;
    sum.borrow = 0;
    if (!pbi_add(game->cap, game->borrow, &sum.cap))
        sum.cap = PB_UNLIMITED;
    pb_status status = make(ctx, &sum, quick, out);
    if (status != PB_OK)
        return status;
    out->borrowed = out->least_cap < game->borrow ? out->least_cap : game->borrow;
    out->least_cap -= out->borrowed;
    uint64_t together = out->least_cap;
    bound_ends(game, out);
    out->borrowed = out->least_cap > together ? 0 : out->borrowed;
    if (game->weights.alpha || game->weights.beta)
        out->has_cost = false;
    out->attained = false;
    return PB_OK;
}

pb_status pb_bounds_make(pb_context *ctx, const pb_game *game, pb_bounds *out)
{
    return game->borrow ? bounds_of_sum(ctx, game, false, out) : make(ctx, game, false, out);
}

pb_status pbi_bounds_quick(pb_context *ctx, const pb_game *game, pb_bounds *out)
{
    return game->borrow ? bounds_of_sum(ctx, game, true, out) : make(ctx, game, true, out);
}
