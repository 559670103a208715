/* moments_bound.c -- see moments_bound.h.
 *
 * Prices of memory guessed from the best single moment show quickly which second moment is worth optimizing: nodes
 * spread over the order, then closer around the best of them. The best pair is optimized. More moments are added in
 * the same way while they pay off, and the result is split into cases.
 */
#include "bound/moments_bound.h"

#include "base/context.h"
#include "bound/cut_split.h"

#include <math.h>
#include <string.h>

enum { SPREAD = 32, NEAR = 4, SINGLES = 6, MAX_CASES = 20000, STEPS = 300, FEW_STEPS = 60 };
#define HOPELESS 0.7 /* of the best bound: a first guess below it is dropped */
#define WORTH 0.001  /* of a bound: the improvement that another moment or cases must promise */

/* A sequence of moments, with prices of memory that bound them well. */
typedef struct chain {
    uint32_t count;
    pb_node z[PBI_MOMENTS];
    double rate[PBI_MOMENTS];
    int64_t value;
} chain;

typedef struct hunt {
    const pb_game *game;
    pbi_moments m;
    pbi_climb climb;
    chain base;                 /* to which another moment is added */
    uint8_t *side[PBI_MOMENTS]; /* of each node: its relation to base.z[k] */
    chain best;                 /* base and one more */
    chain near[NEAR];           /* the best guesses, best first */
    uint32_t place[NEAR];       /* where their new moments are */
    uint32_t near_count;
    uint8_t *seen;
    bool over;
} hunt;

enum { APART, BEFORE, AFTER };

static bool finished(const hunt *h) { return h->m.stopped || h->over || pbi_moments_work(&h->m) > h->m.most; }

static void go_on(hunt *h, uint64_t most)
{
    h->m.most = most;
    h->m.stopped = pbi_poll(h->m.ctx) != PB_OK;
}

/* ---- another moment ---- */

static void set_base(hunt *h, const chain *c)
{
    const pb_graph *g = h->game->graph;
    pbi_cut_network *net = &h->m.net[0];
    h->base = *c;
    h->near_count = 0;
    h->best.value = INT64_MIN;
    memset(h->seen, 0, g->order_count);
    net->until = PB_NO_NODE;
    for (uint32_t k = 0; k < c->count; k++) {
        pbi_cut_network_at(net, c->z[k]);
        for (pb_node v = 0; v < g->node_count; v++)
            h->side[k][v] = pbi_cut_network_before(net, v) ? BEFORE : pbi_cut_network_after(net, v) ? AFTER : APART;
    }
}

/* Adds z to the base. False: it is not before or after each of them, or it is one of them. */
static bool join(const hunt *h, pb_node z, chain *c, uint32_t *at)
{
    const chain *base = &h->base;
    *c = *base;
    *at = 0;
    for (uint32_t k = 0; k < base->count; k++) {
        if (h->side[k][z] == APART || z == base->z[k])
            return false;
        *at += h->side[k][z] == AFTER;
    }
    for (uint32_t k = base->count; k > *at; k--) {
        c->z[k] = base->z[k - 1];
        c->rate[k] = base->rate[k - 1];
    }
    c->z[*at] = z;
    c->count++;
    return true;
}

/* Bounds a chain with guesses of the price of memory at its moment `at`: usually lower than those of its neighbours. */
static void guess(hunt *h, chain *c, uint32_t at)
{
    static const double part[] = {1.0 / 16, 1.0 / 4, 1.0 / 64, 1};
    double rate = c->rate[at > 0 ? at - 1 : 1];
    c->value = INT64_MIN;
    if (!pbi_moments_at(&h->m, c->z, c->count))
        return;
    h->climb.best = INT64_MIN;
    for (uint32_t i = 0; i < sizeof part / sizeof *part && !finished(h); i++) {
        c->rate[at] = rate * part[i];
        pbi_climb_guess(&h->climb, c->rate);
        h->over = h->over || h->climb.impossible;
        if ((double)h->climb.best < HOPELESS * (double)h->best.value)
            break;
    }
    c->value = h->climb.best;
    for (uint32_t k = 0; k < c->count; k++)
        c->rate[k] = h->climb.rate[k];
}

static void note(hunt *h, uint32_t place, const chain *c)
{
    uint32_t i = h->near_count < NEAR ? h->near_count++ : NEAR;
    for (; i > 0 && h->near[i - 1].value < c->value; i--)
        if (i < NEAR) {
            h->near[i] = h->near[i - 1];
            h->place[i] = h->place[i - 1];
        }
    if (i < NEAR) {
        h->near[i] = *c;
        h->place[i] = place;
    }
}

static void examine(hunt *h, uint32_t place)
{
    const pb_graph *g = h->game->graph;
    pb_node z = g->order[place];
    chain c;
    uint32_t at;
    if (h->seen[place] || !(g->flags[z] & PB_NODE_NEEDED) || finished(h))
        return;
    h->seen[place] = 1;
    if (!join(h, z, &c, &at))
        return;
    guess(h, &c, at);
    if (c.value == INT64_MIN)
        return;
    note(h, place, &c);
    if (c.value > h->best.value)
        h->best = c;
}

/* Optimizes the prices of a chain; takes the new value and prices of memory if they are better. */
static void climb(hunt *h, chain *c, uint32_t steps)
{
    if (!pbi_moments_at(&h->m, c->z, c->count))
        return;
    h->climb.best = INT64_MIN;
    pbi_climb_guess(&h->climb, c->rate);
    pbi_climb_run(&h->climb, steps);
    h->over = h->over || h->climb.impossible;
    if (h->climb.best <= c->value)
        return;
    c->value = h->climb.best;
    for (uint32_t k = 0; k < c->count; k++)
        c->rate[k] = h->climb.rate[k];
}

/* Places spread over the order, then closer and closer around the best; the best few are optimized. */
static void examine_around(hunt *h)
{
    uint32_t n = h->game->graph->order_count, step = n / SPREAD + 1;
    for (uint32_t i = step / 2; i < n && !finished(h); i += step)
        examine(h, i);
    while (step > 1 && !finished(h)) {
        uint32_t around[NEAR], count = h->near_count;
        step = (step + 1) / 2;
        for (uint32_t i = 0; i < count; i++)
            around[i] = h->place[i];
        for (uint32_t i = 0; i < count; i++) {
            if (around[i] >= step)
                examine(h, around[i] - step);
            if (around[i] + step < n)
                examine(h, around[i] + step);
        }
    }
    for (uint32_t i = 0; i < h->near_count && !finished(h); i++) {
        climb(h, &h->near[i], FEW_STEPS);
        if (h->near[i].value > h->best.value)
            h->best = h->near[i];
    }
}

/* ---- the best chain ---- */

/* The best pair: the best partner of the best single moment, then the best partner of that one. */
static void find_pair(hunt *h, const pbi_single *singles, uint32_t count, double scale)
{
    chain first = {.count = 1, .z = {singles[0].z}, .rate = {pbi_rate_double(singles[0].rate) * scale}};
    set_base(h, &first);
    examine_around(h);
    if (h->best.value == INT64_MIN)
        return;
    chain pair = h->best;
    uint32_t other = pair.z[0] == singles[0].z ? 1 : 0;
    first = (chain){.count = 1, .z = {pair.z[other]}, .rate = {pair.rate[other]}};
    set_base(h, &first);
    for (uint32_t i = 1; i < count && i < SINGLES && !finished(h); i++) {
        chain c;
        uint32_t at;
        if (!join(h, singles[i].z, &c, &at))
            continue;
        c.rate[at] = pbi_rate_double(singles[i].rate) * scale;
        guess(h, &c, 1 - at);
        if (c.value > pair.value)
            pair = c;
    }
    h->best = pair;
}

/* Adds moments while they pay off. */
static chain find_chain(hunt *h, const pbi_single *singles, uint32_t count, double scale)
{
    find_pair(h, singles, count, scale);
    chain best = h->best;
    if (best.value == INT64_MIN || finished(h))
        return best;
    climb(h, &best, STEPS);
    double promised = (1 + WORTH) * (double)singles[0].value * scale;
    while (best.count < PBI_MOMENTS && (double)best.value > promised && !finished(h)) {
        promised = (1 + WORTH) * (double)best.value;
        set_base(h, &best);
        examine_around(h);
        if (h->best.value == INT64_MIN || finished(h))
            break;
        climb(h, &h->best, STEPS);
        if (h->best.value > best.value)
            best = h->best;
    }
    return best;
}

/* Solves a chain in whole values. */
static int64_t solve_whole(hunt *h, pb_arena *arena, chain *c, uint64_t effort)
{
    pbi_splitter s;
    uint64_t cases = 100 + effort / (16 * (uint64_t)h->game->graph->node_count + 1);
    int64_t value = c->value;
    if (!pbi_splitter_init(&s, &h->climb, arena, cases < MAX_CASES ? (uint32_t)cases : MAX_CASES))
        return value;
    climb(h, c, STEPS);
    if (!finished(h))
        value = pbi_splitter_run(&s);
    return value > c->value ? value : c->value;
}

static void run(hunt *h, pb_arena *arena, const pbi_singles *singles, uint64_t effort, pbi_several *out)
{
    const pbi_cut_network *net = &h->m.net[0];
    double scale = ldexp(1, net->shift - singles->shift);
    go_on(h, effort / 2);
    chain best = find_chain(h, singles->list, singles->count, scale);
    go_on(h, effort);
    /* Whole values improve the bound only if mixtures do. */
    if ((double)best.value > (1 + WORTH) * (double)singles->list[0].value * scale && !finished(h))
        best.value = solve_whole(h, arena, &best, effort);
    out->over = h->over || best.value >= PBI_FLOW_INF;
    if (!out->over && best.value > 0) {
        out->extra = pbi_cut_network_work(net, pbi_cut_network_round(net, best.value));
        out->at = best.z[0];
    }
    out->count = best.count;
    out->effort = pbi_moments_work(&h->m);
}

static pb_status alloc(hunt *h, pb_context *ctx, pb_arena *arena)
{
    const pb_graph *g = h->game->graph;
    h->seen = pb_arena_zero(arena, g->order_count, 1);
    for (uint32_t k = 0; k < PBI_MOMENTS; k++) {
        h->side[k] = pb_arena_zero(arena, g->node_count, 1);
        if (!h->side[k])
            return PB_ENOMEM;
    }
    pb_status status = h->seen ? pbi_moments_init(&h->m, ctx, arena, h->game) : PB_ENOMEM;
    return status == PB_OK && !pbi_climb_init(&h->climb, &h->m, arena) ? PB_ENOMEM : status;
}

pb_status pbi_moments_bound(pb_context *ctx, const pb_game *game, const pbi_singles *singles, uint64_t effort,
                            pbi_several *out)
{
    hunt h = {.game = game};
    pb_arena scratch;
    *out = (pbi_several){.at = PB_NO_NODE};
    if (!singles->count || game->kind != PB_GAME_REMAT || game->graph->node_count > PBI_CUT_LINKED)
        return PB_OK;
    pb_arena_init(&scratch, ctx);
    pb_status status = alloc(&h, ctx, &scratch);
    if (status == PB_OK)
        run(&h, &scratch, singles, effort, out);
    pb_arena_release(&scratch);
    return status;
}
