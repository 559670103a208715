/* rounds.c -- see rounds.h. */
#include "plan/anneal/rounds.h"

#include "base/context.h"
#include "base/workers.h"

#include <math.h>
#include <string.h>

enum {
    STAGES = 100,  /* steps in which the cap is lowered */
    AN_IDLE = 256, /* ticks charged for a round that had nothing to do: as many as annealing counts at a time */
};

bool pbi_events_init(pbi_events *events, pb_arena *arena, uint32_t room)
{
    *events = (pbi_events){.event = pb_arena_alloc(arena, room, sizeof *events->event)};
    return events->event != NULL;
}

static void copy_events(pbi_events *to, const uint32_t *event, uint32_t count)
{
    memcpy(to->event, event, count * sizeof *event);
    to->count = count;
}

/* ---- one worker ---- */

/* The peak of what annealing found. */
static pb_status find_peak(pbi_worker *w, uint64_t *peak)
{
    if (!pbi_anneal_start(&w->a, w->a.best, w->a.best_count, PB_UNLIMITED))
        return PB_ENOMEM;
    *peak = pbi_timeline_peak(&w->a.t);
    return PB_OK;
}

/* Keeps the result of annealing if it is the cheapest so far. Its timeline is lost if the peak has a weight. */
static pb_status note_best(pbi_worker *w)
{
    uint64_t alpha = w->all->game->weights.alpha, peak = 0;
    double cost = w->a.best_cost;
    if (!(cost < w->best_cost))
        return PB_OK;
    if (alpha && find_peak(w, &peak) != PB_OK)
        return PB_ENOMEM;
    cost += (double)alpha * (double)peak;
    if (!(cost < w->best_cost))
        return PB_OK;
    copy_events(&w->best, w->a.best, w->a.best_count);
    w->best_cost = cost;
    w->best_peak = peak;
    return PB_OK;
}

/* Remembers where annealing ended without a plan. */
static void note_near(pbi_worker *w)
{
    const pbi_timeline *t = &w->a.t;
    if (w->a.best_cost < INFINITY || t->filled > w->a.best_room ||
        (w->near.count && t->profile.excess >= w->near_excess))
        return;
    pbi_timeline_read(t, w->near.event);
    w->near.count = t->filled;
    w->near_excess = t->profile.excess;
}

static pb_status anneal(pbi_worker *w, const pbi_events *from, uint64_t cap, double hot, double cold,
                        uint64_t proposals)
{
    const pbi_rounds *all = w->all;
    if (!pbi_anneal_start(&w->a, from->event, from->count, cap))
        return PB_ENOMEM;
    double enough = cap == all->game->cap && !all->game->weights.alpha ? all->enough : 0;
    pb_status status = pbi_anneal_run(&w->a, proposals, hot, cold, enough);
    if (cap == all->game->cap)
        note_near(w);
    pb_status kept = cap <= all->game->cap ? note_best(w) : PB_OK;
    return kept == PB_OK ? status : kept;
}

/* Lowers the cap from what the current plan needs to what is allowed, each time from the last plan that fitted. */
static pb_status lower_cap(pbi_worker *w, const pbi_round *round)
{
    const pbi_events *from = round->near && w->near.count ? &w->near : round->from;
    if (!pbi_anneal_start(&w->a, from->event, from->count, PB_UNLIMITED))
        return PB_ENOMEM;
    uint64_t peak = pbi_timeline_peak(&w->a.t), step = 32;
    pb_status status = PB_OK;
    copy_events(&w->rest, from->event, from->count);
    for (int stage = 0; stage < STAGES && status == PB_OK && peak > round->cap && step <= 256; stage++) {
        uint64_t cap = peak - peak / step - 1;
        cap = cap > round->cap ? cap : round->cap;
        uint64_t more = step / 32; /* the closer to the limit, the longer and the cooler: little should change */
        double hot = more > 2 ? 2 * round->hot / (double)more : round->hot;
        status = anneal(w, &w->rest, cap, hot, round->cold, round->proposals * (more < 4 ? more : 4));
        if (w->a.best_cost == INFINITY) {
            step *= 2; /* the step was too large */
            continue;
        }
        copy_events(&w->rest, w->a.best, w->a.best_count);
        if (!pbi_anneal_start(&w->a, w->rest.event, w->rest.count, cap))
            return PB_ENOMEM;
        peak = pbi_timeline_peak(&w->a.t);
    }
    return status;
}

static void run_round(pbi_worker *w)
{
    const pbi_round *round = w->round;
    uint64_t before = w->ctx.ticks;
    w->a.loads = w->all->loads && round->use != PBI_USE_REPEATS;
    w->a.repeats = round->use != PBI_USE_LOADS;
    w->a.further = round->further ? round->further : w->a.further;
    w->status = round->lower ? lower_cap(w, round)
                             : anneal(w, round->from, round->cap, round->hot, round->cold, round->proposals);
    if (w->status == PB_OK && w->ctx.ticks == before) /* else a search would never end and could not be stopped */
        w->status = pbi_tick(&w->ctx, AN_IDLE);
    w->round = NULL;
}

static void run_worker(void *state, uint32_t worker)
{
    pbi_rounds *r = state;
    run_round(&r->worker[worker]);
}

static pb_status open_worker(pbi_worker *w, pbi_rounds *r, uint64_t seed)
{
    w->ctx = *r->ctx;
    w->ctx.memory_used = w->ctx.memory_peak = 0;
    if (r->ctx->memory_limit) {
        size_t limit = r->ctx->memory_limit, used = r->ctx->memory_used;
        w->ctx.memory_limit = (limit > used ? limit - used : 0) / r->threads + 1;
    }
    pb_arena_init(&w->arena, &w->ctx);
    w->all = r;
    w->best_cost = INFINITY;
    w->ready = true;
    if (!pbi_anneal_init(&w->a, &w->ctx, r->game, seed, &w->arena) ||
        !pbi_events_init(&w->best, &w->arena, w->a.best_room) ||
        !pbi_events_init(&w->rest, &w->arena, w->a.best_room) ||
        !pbi_events_init(&w->near, &w->arena, w->a.best_room)) {
        r->ctx->error = w->ctx.error;
        return PB_ENOMEM;
    }
    return PB_OK;
}

/* ---- all of them ---- */

/* The lower bound on the cost that annealing minimizes, with the weight of the peak and the work that is needed
 * anyway. */
static double proved(const pb_game *game, const pb_bounds *b, double gamma)
{
    const pb_weights *w = &game->weights;
    if (!w->alpha && !w->beta)
        return gamma * (double)b->makespan;
    if (!b->has_cost)
        return 0;
    return (double)b->cost.high * 0x1p64 + (double)b->cost.low + gamma * (double)game->graph->needed_cost;
}

pb_status pbi_rounds_init(pbi_rounds *r, pb_context *ctx, const pb_game *game, const pbi_plan_options *options,
                          uint64_t proposals, pb_arena *arena)
{
    uint32_t threads = options->threads < PBI_MAX_THREADS ? options->threads : PBI_MAX_THREADS;
    *r = (pbi_rounds){.ctx = ctx, .game = game, .threads = threads ? threads : 1, .proposals = proposals};
    r->best_cost = INFINITY;
    r->worker = pb_arena_zero(arena, r->threads, sizeof *r->worker);
    if (!r->worker)
        return PB_ENOMEM;
    for (uint32_t k = 0; k < r->threads; k++)
        if (open_worker(&r->worker[k], r, options->seed + k) != PB_OK)
            return PB_ENOMEM;
    r->room = r->worker[0].a.best_room;
    r->loads = r->worker[0].a.t.tier != NULL;
    pbi_anneal *first = &r->worker[0].a; /* the calling thread's */
    first->better = options->better;
    first->better_state = options->better_state;
    first->better_cap = game->cap;
    r->enough = proved(game, options->bounds, r->worker[0].a.gamma) * (1 + options->gap);
    return pbi_events_init(&r->best, arena, r->room) ? PB_OK : PB_ENOMEM;
}

void pbi_rounds_close(pbi_rounds *r)
{
    for (uint32_t k = 0; r->worker && k < r->threads; k++)
        if (r->worker[k].ready)
            pb_arena_release(&r->worker[k].arena);
}

/* The best of the rounds in the order of the threads, so that it does not matter which one ends first. */
static pb_status gather_best(pbi_rounds *r, uint32_t count)
{
    pb_status status = PB_OK;
    for (uint32_t k = 0; k < count; k++) {
        pbi_worker *w = &r->worker[k];
        if (w->best_cost < r->best_cost) {
            copy_events(&r->best, w->best.event, w->best.count);
            r->best_cost = w->best_cost;
            r->best_peak = w->best_peak;
        }
        if (w->status != PB_OK && status == PB_OK) {
            status = w->status;
            r->ctx->error = w->ctx.error;
        }
        if (w->ctx.stopped != PB_GO_ON)
            r->ctx->stopped = w->ctx.stopped;
        r->ctx->ticks = w->ctx.ticks > r->ctx->ticks ? w->ctx.ticks : r->ctx->ticks;
    }
    return status;
}

pb_status pbi_rounds_run(pbi_rounds *r, const pbi_round *rounds, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        r->worker[k].round = &rounds[k];
        r->worker[k].best_cost = r->best_cost; /* only better plans matter */
    }
    pbi_workers_run(count, run_worker, r);
    for (uint32_t k = 0; k < count; k++)
        if (r->worker[k].round) /* its thread could not be started */
            run_round(&r->worker[k]);
    return gather_best(r, count);
}

bool pbi_rounds_enough(const pbi_rounds *r) { return r->best_cost <= r->enough; }

uint64_t pbi_rounds_other_cap(const pbi_rounds *r, uint32_t turn)
{
    static const uint32_t part[] = {0, 32, 8, 128, 4, 16}; /* fractions of the peak by which the cap is lowered */
    uint32_t p = part[turn % (sizeof part / sizeof *part)];
    uint64_t peak = r->best_peak < r->game->cap ? r->best_peak : r->game->cap;
    return p ? peak - peak / p : peak;
}
