/* anneal.c -- see anneal.h.
 *
 * A proposal (propose.h) is carried out, evaluated by work + price * excess, and undone if it is rejected.
 */
#include "plan/anneal/anneal.h"

#include "base/arena.h"
#include "base/context.h"
#include "plan/anneal/propose.h"

#include <math.h>

enum {
    SPREAD = 4,  /* max events per node */
    PERIOD = 256 /* proposals between polls of the clock */
};

double pbi_anneal_cost(const pbi_anneal *a)
{
    return a->gamma * (double)a->t.work + (a->t.profile.time ? a->beta * a->t.profile.flux : 0);
}

static void keep_best(pbi_anneal *a)
{
    if (a->t.filled > a->best_room)
        return;
    pbi_timeline_read(&a->t, a->best);
    a->best_count = a->t.filled;
    a->best_cost = pbi_anneal_cost(a);
    if (a->better && a->cap <= a->better_cap)
        a->better(a->better_state, pbi_timeline_peak(&a->t), a->t.work);
}

static void step(pbi_anneal *a)
{
    double allowed = -a->temperature * log(1 - pbi_rng_real(&a->rng)), cost = pbi_anneal_cost(a);
    uint64_t excess = a->t.profile.excess;
    a->log_count = 0;
    a->max_cost = cost + allowed + a->price * (double)excess; /* at best all excess disappears */
    bool made = pbi_propose(a);
    double change = pbi_anneal_cost(a) - cost + a->price * (double)(int64_t)(a->t.profile.excess - excess);
    if (!made || change > allowed) {
        pbi_propose_undo(a);
        return;
    }
    a->accepted++;
    if (!a->t.profile.excess && pbi_anneal_cost(a) < a->best_cost)
        keep_best(a);
}

bool pbi_anneal_init(pbi_anneal *a, pb_context *ctx, const pb_game *game, uint64_t seed, pb_arena *arena)
{
    const pb_graph *g = game->graph;
    const pb_weights *w = &game->weights;
    uint32_t nodes = g->needed_count ? g->needed_count : 1;
    *a = (pbi_anneal){.ctx = ctx, .rng = {seed}, .best_cost = INFINITY, .repeats = true, .further = 2};
    a->best_room = SPREAD * nodes + 64;
    a->best = pb_arena_alloc(arena, a->best_room, sizeof *a->best);
    if (!a->best || !pbi_timeline_init(&a->t, ctx, game, game->cap, arena, a->best_room))
        return false;
    a->order = pb_arena_alloc(arena, a->t.profile.room, sizeof *a->order); /* every slot may be filled */
    if (!a->order)
        return false;
    a->loads = a->t.tier != NULL;
    a->beta = (double)w->beta * (double)a->t.unit;
    a->gamma =
        w->gamma ? (double)w->gamma : 1e-9 * ((double)w->alpha + a->beta) + 1e-30; /* on ties prefer the shorter plan */
    return true;
}

bool pbi_anneal_start(pbi_anneal *a, const uint32_t *events, uint32_t count, uint64_t cap)
{
    if (count >= a->best_room - 2)
        return false;
    pbi_timeline_set_cap(&a->t, cap);
    a->cap = cap;
    if (!pbi_timeline_load(&a->t, events, count))
        return false;
    const pb_graph *g = a->t.g;
    double needed = a->gamma * (double)g->needed_cost + pbi_anneal_cost(a) - a->gamma * (double)a->t.work;
    a->unit = needed / (g->needed_count ? g->needed_count : 1);
    a->price = 10 * a->unit / ((double)a->t.profile.cap + 1);
    a->best_cost = INFINITY;
    if (!a->t.profile.excess)
        keep_best(a);
    return true;
}

/* With too low a price the plan stays above the cap, with too high a price nothing changes. */
static void adapt(pbi_anneal *a)
{
    double base = a->unit / ((double)a->t.profile.cap + 1);
    double up = a->best_cost < INFINITY ? 0.03 : 0.05; /* the first plan may be far away */
    a->price *= a->t.profile.excess ? 1 + up : 1 - 0.6 * up;
    a->price = a->price < base ? base : a->price > 1e6 * base ? 1e6 * base : a->price;
}

static bool is_crowded(const pbi_anneal *a)
{
    const pbi_memory_slots *p = &a->t.profile;
    return p->slots < p->room && a->t.filled > p->slots - p->slots / 8;
}

/* Where slots are nearly all filled, nothing can be inserted: spreads the events evenly again. */
static void respace(pbi_anneal *a)
{
    pbi_timeline_read(&a->t, a->order);
    pbi_timeline_load(&a->t, a->order, a->t.filled);
}

pb_status pbi_anneal_run(pbi_anneal *a, uint64_t proposals, double hot, double cold, double enough)
{
    pb_status status = PB_OK;
    uint64_t spread = 0, adapted = 0, nodes = a->t.g->needed_count;
    for (uint64_t n = 0; n < proposals && status == PB_OK && a->best_cost > enough && !a->t.failed; n++) {
        if (n % PERIOD == 0) {
            a->temperature = a->unit * hot * pow(cold / hot, (double)n / (double)proposals);
            status = pbi_tick(a->ctx, PERIOD);
        }
        if (n - adapted >= nodes) {
            adapt(a);
            adapted = n;
        }
        if (a->accepted - spread >= a->t.profile.slots || is_crowded(a)) {
            respace(a);
            spread = a->accepted;
        }
        step(a);
        a->proposals++;
    }
    return a->t.failed ? PB_ENOMEM : status;
}
