/* moments_bound.c -- see moments_bound.h.
 *
 * Prices of memory guessed from the best single moment tell quickly which second moment is worth a climb: nodes spread
 * over the order, then closer around the best of them. The best pair is climbed, and split into cases.
 */
#include "bound/moments_bound.h"

#include "base/context.h"
#include "bound/cut_split.h"

#include <math.h>

enum { SPREAD = 32, NEAR = 4, SINGLES = 6, MOST_CASES = 20000, STEPS = 300 };
#define WORTH 0.001

typedef struct found {
    pb_node z[PBI_MOMENTS];
    double rate[PBI_MOMENTS];
    int64_t value;
    uint32_t place;
} found;

typedef struct hunt {
    const pb_game *game;
    pbi_moments m;
    pbi_climb climb;
    found best, near[NEAR]; /* near: the best of the places looked at, best first */
    uint32_t near_count;
    uint8_t *seen;
    bool over;
} hunt;

static bool finished(const hunt *h) { return h->m.stopped || h->over || pbi_moments_work(&h->m) > h->m.most; }

static void note(hunt *h, const found *f)
{
    if (f->value > h->best.value)
        h->best = *f;
    uint32_t i = h->near_count < NEAR ? h->near_count++ : NEAR;
    for (; i > 0 && h->near[i - 1].value < f->value; i--)
        if (i < NEAR)
            h->near[i] = h->near[i - 1];
    if (i < NEAR)
        h->near[i] = *f;
}

static bool depends(hunt *h, pb_node first, pb_node second)
{
    pbi_cut_network *net = &h->m.net[0];
    net->until = PB_NO_NODE;
    pbi_cut_network_at(net, first);
    return pbi_cut_network_after(net, second);
}

/* Bound a pair by guesses. `rate` was found for one of the moments alone; the other one's is mostly lower. */
static bool try_pair(hunt *h, pb_node first, pb_node second, double rate, bool for_first, found *f)
{
    static const double part[] = {1.0 / 64, 1.0 / 16, 1.0 / 4, 1};
    pb_node z[2] = {first, second};
    *f = (found){.z = {first, second}, .value = INT64_MIN};
    if (!depends(h, first, second) || !pbi_moments_at(&h->m, z, 2))
        return false;
    h->climb.best = INT64_MIN;
    for (uint32_t i = 0; i < sizeof part / sizeof *part && !finished(h); i++) {
        double rates[PBI_MOMENTS] = {for_first ? rate : rate * part[i], for_first ? rate * part[i] : rate};
        pbi_climb_guess(&h->climb, rates);
        h->over = h->over || h->climb.impossible;
    }
    f->value = h->climb.best;
    for (uint32_t k = 0; k < 2; k++)
        f->rate[k] = h->climb.rate[k];
    return f->value > INT64_MIN;
}

/* The single moment with one at a place of the order. */
static void look(hunt *h, const pbi_single *s, double rate, uint32_t place)
{
    const pb_graph *g = h->game->graph;
    pb_node z = g->order[place];
    found f;
    if (h->seen[place] || place == s->place || !(g->flags[z] & PB_NODE_NEEDED) || finished(h))
        return;
    h->seen[place] = 1;
    bool later = place > s->place;
    if (!try_pair(h, later ? s->z : z, later ? z : s->z, rate, later, &f))
        return;
    f.place = place;
    note(h, &f);
}

static void look_around(hunt *h, const pbi_single *s, double rate)
{
    uint32_t n = h->game->graph->order_count, step = n / SPREAD + 1;
    for (uint32_t i = step / 2; i < n && !finished(h); i += step)
        look(h, s, rate, i);
    while (step > 1 && !finished(h)) {
        uint32_t around[NEAR], count = h->near_count;
        step = (step + 1) / 2;
        for (uint32_t i = 0; i < count; i++)
            around[i] = h->near[i].place;
        for (uint32_t i = 0; i < count; i++) {
            if (around[i] >= step)
                look(h, s, rate, around[i] - step);
            if (around[i] + step < n)
                look(h, s, rate, around[i] + step);
        }
    }
}

/* Other single moments with what goes best with the first. */
static void look_at_singles(hunt *h, const pbi_single *singles, uint32_t count, double scale)
{
    if (h->best.value == INT64_MIN)
        return;
    bool later = h->best.z[0] == singles[0].z;
    pb_node other = h->best.z[later ? 1 : 0];
    for (uint32_t i = 1; i < count && i < SINGLES && !finished(h); i++) {
        found f;
        double rate = pbi_rate_double(singles[i].rate) * scale;
        if (singles[i].z != other &&
            try_pair(h, later ? singles[i].z : other, later ? other : singles[i].z, rate, later, &f))
            note(h, &f);
    }
}

/* The best pair with the best prices and in whole values. */
static int64_t settle(hunt *h, pb_arena *arena, double single, uint64_t effort)
{
    pbi_splitter s;
    uint64_t cases = 100 + effort / (16 * (uint64_t)h->game->graph->node_count + 1);
    if (!pbi_moments_at(&h->m, h->best.z, 2) ||
        !pbi_splitter_init(&s, &h->climb, arena, cases < MOST_CASES ? (uint32_t)cases : MOST_CASES))
        return h->best.value;
    h->climb.best = INT64_MIN;
    pbi_climb_guess(&h->climb, h->best.rate);
    pbi_climb_run(&h->climb, STEPS);
    if (h->climb.impossible)
        return PBI_FLOW_INF;
    int64_t value = h->climb.best;
    if ((double)value > (1 + WORTH) * single) /* whole values gain where mixtures do */
        value = pbi_splitter_run(&s);
    return value > h->best.value ? value : h->best.value;
}

static void run(hunt *h, pb_arena *arena, const pbi_single *singles, uint32_t count, int shift, uint64_t effort,
                pbi_several *out)
{
    double scale = ldexp(1, h->m.net[0].shift - shift);
    h->best.value = INT64_MIN;
    h->m.most = effort / 2;
    look_around(h, &singles[0], pbi_rate_double(singles[0].rate) * scale);
    look_at_singles(h, singles, count, scale);
    h->m.most = effort;
    h->m.stopped = pbi_poll(h->m.ctx) != PB_OK;
    int64_t value = h->best.value;
    if (value > INT64_MIN && !finished(h))
        value = settle(h, arena, (double)singles[0].value * scale, effort);
    out->over = h->over || value >= PBI_FLOW_INF;
    if (!out->over && value > 0) {
        out->extra = pbi_cut_network_work(&h->m.net[0], pbi_cut_network_round(&h->m.net[0], value));
        out->at = h->best.z[0];
    }
    out->effort = pbi_moments_work(&h->m);
}

pb_status pbi_moments_bound(pb_context *ctx, const pb_game *game, const pbi_single *singles, uint32_t count, int shift,
                            uint64_t effort, pbi_several *out)
{
    hunt h = {.game = game};
    pb_arena scratch;
    *out = (pbi_several){.at = PB_NO_NODE};
    if (!count || game->kind != PB_GAME_REMAT || game->graph->node_count > PBI_CUT_LINKED)
        return PB_OK;
    pb_arena_init(&scratch, ctx);
    h.seen = pb_arena_zero(&scratch, game->graph->order_count, 1);
    pb_status status = h.seen ? pbi_moments_init(&h.m, ctx, &scratch, game) : PB_ENOMEM;
    if (status == PB_OK && !pbi_climb_init(&h.climb, &h.m, &scratch))
        status = PB_ENOMEM;
    if (status == PB_OK)
        run(&h, &scratch, singles, count, shift, effort, out);
    pb_arena_release(&scratch);
    return status;
}
