/* overlap.c -- searches what to recompute and what to copy out and back, by the simulated makespan.
 *
 * Problem     copies are free while they hide behind computation; recomputation always costs time, but no link.
 * Idea        plan/lanes describes a plan as a sequence with repeats and a bit for each use: kept or fetched. Starts
 * are recomputation plans for the cap, and those for larger caps in which the largest and longest gaps are
 *             fetched instead until they fit. From the best one, simulated annealing with small steps: keep, fetch or
 *             recompute one value, drop a repeat, move a computation, fetch it sooner or later.
 * Invariants  never worse than the best start, so never worse than recomputation alone; equal seeds and ticks give
 *             equal plans.
 * Cost        one simulation for each step: linear in the plan, some ten thousand a second for hundreds of nodes.
 * Source      annealing on decoded schedules; docs/research.md.
 * Limits      one processor, one pair of links.
 */
#include "plan/lanes/lanes.h"

#include "base/context.h"

#include <math.h>

enum { FIRST_CYCLE = 1 << 13, SMALL = 4096 };

/* Changes by this part of the work are accepted as often as not, at first; at the end of a cycle by a fraction. */
static const double warm = 2.5e-4, cold = 0.02;

typedef struct searcher {
    const pbi_lanes *l;
    const pbi_plan_options *options;
    pbi_lanes_plan now, trial, best;
    uint64_t now_time, best_time;
    uint64_t begin_ticks, begin_ns; /* of the long cycle */
    pbi_rng rng;
} searcher;

static void report(const searcher *s)
{
    if (s->options->better)
        s->options->better(s->options->better_state, s->l->cap, s->best_time);
}

/* Takes the trial as a start if it is the best so far. */
static void offer_start(searcher *s)
{
    uint64_t time = pbi_lanes_decode(s->l, &s->trial, NULL, NULL);
    if (time < s->best_time) {
        s->best_time = time;
        pbi_lanes_copy(&s->best, &s->trial);
        report(s);
    }
}

/* The computations of start number i: sequential plans, a tiered one, program order. */
static bool take_start(searcher *s, uint32_t i)
{
    const pbi_plan_options *o = s->options;
    if (i < o->sequential_count)
        return pbi_lanes_take(s->l, &o->sequential[i], &s->trial);
    if (i == o->sequential_count)
        return o->tiered && pbi_lanes_take(s->l, o->tiered, &s->trial);
    pbi_lanes_program(s->l, &s->trial);
    return true;
}

/* Large graphs have time for a start or two after a repair in small steps. */
static bool make_fit(searcher *s, pbi_lanes_relief relief, pb_arena *scratch)
{
    if (relief == PBI_RELIEF_MIXED)
        return s->l->g->node_count < SMALL &&
               pbi_lanes_repair(s->l, &s->trial, PBI_RELIEF_FETCH, s->l->most_uses, &s->rng);
    return pbi_lanes_sweep(s->l, &s->trial, relief, scratch);
}

static pb_status try_starts(pb_context *ctx, searcher *s)
{
    pb_arena scratch;
    pb_status status = PB_OK;
    for (uint32_t i = 0; i <= s->options->sequential_count + 1 && status == PB_OK; i++)
        for (int relief = PBI_RELIEF_FETCH; relief <= PBI_RELIEF_MIXED && status == PB_OK; relief++) {
            if (!take_start(s, i))
                break;
            pb_arena_init(&scratch, ctx);
            if (make_fit(s, (pbi_lanes_relief)relief, &scratch))
                offer_start(s);
            pb_arena_release(&scratch);
            status = pbi_tick(ctx, 1 + s->trial.count);
        }
    return status;
}

/* Takes the trial, or not. */
static void judge(searcher *s, double temperature)
{
    uint64_t time = pbi_lanes_decode(s->l, &s->trial, NULL, NULL);
    if (time == UINT64_MAX)
        return;
    double allowed = -log(1.0 - pbi_rng_real(&s->rng)) * temperature;
    if ((double)time > (double)s->now_time + allowed)
        return;
    pbi_lanes_plan old = s->now;
    s->now = s->trial;
    s->trial = old;
    s->now_time = time;
    if (time >= s->best_time)
        return;
    s->best_time = time;
    pbi_lanes_copy(&s->best, &s->now);
    report(s);
}

static pb_status cycle(pb_context *ctx, searcher *s, uint64_t length)
{
    double first = warm * (double)s->l->total, rate = log(cold) / (double)length;
    pb_status status = PB_OK;
    pbi_lanes_copy(&s->now, &s->best);
    s->now_time = s->best_time;
    for (uint64_t i = 0; i < length && status == PB_OK && s->best_time > s->l->total; i++) {
        pbi_lanes_copy(&s->trial, &s->now);
        if (pbi_lanes_check(s->l, &s->trial) && pbi_lanes_change(s->l, &s->trial, &s->rng))
            judge(s, first * exp(rate * (double)i));
        status = pbi_tick(ctx, 1 + s->trial.count / 64);
    }
    return status;
}

/* How much of the limits of ticks and time is used up, between 0 and 1; below 0: there is no limit. */
static double used_up(const pb_context *ctx, const searcher *s)
{
    double part = -1;
    if (ctx->tick_limit)
        part = (double)(ctx->ticks - s->begin_ticks) / (double)(ctx->tick_limit - s->begin_ticks + 1);
    if (s->options->end_ns && ctx->clock_ns) {
        uint64_t now = ctx->clock_ns(ctx->callback_state), all = s->options->end_ns - s->begin_ns;
        double time = now < s->options->end_ns ? (double)(now - s->begin_ns) / (double)(all + 1) : 1;
        part = time > part ? time : part;
    }
    return part;
}

/* One long cycle over all that the limits allow: a slow one finds more than many short ones. */
static pb_status long_cycle(pb_context *ctx, searcher *s)
{
    enum { LOOK = 64 };
    double temperature = 0;
    pb_status status = PB_OK;
    pbi_lanes_copy(&s->now, &s->best);
    s->now_time = s->best_time;
    s->begin_ticks = ctx->ticks;
    s->begin_ns = ctx->clock_ns ? ctx->clock_ns(ctx->callback_state) : 0;
    for (uint64_t i = 0; status == PB_OK && s->best_time > s->l->total; i++) {
        if (i % LOOK == 0)
            temperature = warm * (double)s->l->total * exp(log(cold) * used_up(ctx, s));
        pbi_lanes_copy(&s->trial, &s->now);
        if (pbi_lanes_check(s->l, &s->trial) && pbi_lanes_change(s->l, &s->trial, &s->rng))
            judge(s, temperature);
        status = pbi_tick(ctx, 1 + s->trial.count / 64);
    }
    return status;
}

/* Until time or ticks run out; without a limit, a number of cycles that suits the size. */
static pb_status search(pb_context *ctx, searcher *s)
{
    uint64_t length = FIRST_CYCLE, budget = UINT64_C(1) << 25, used = 0, count = s->best.count + 1u;
    pb_status status = PB_OK;
    while (status == PB_OK && s->best_time > s->l->total && (s->options->patient || used < budget)) {
        bool limited = s->options->patient && used && used_up(ctx, s) >= 0;
        status = limited ? long_cycle(ctx, s) : cycle(ctx, s, length);
        used += length * count;
        length += length / 2;
    }
    bool limit = status == PB_ELIMIT || (status == PB_ECANCELLED && ctx->stopped == PB_STOP_TIME);
    return limit ? PB_OK : status;
}

static pb_status plan_with(pb_context *ctx, searcher *s, pb_arena *scratch, pbi_plan *plan)
{
    if (!pbi_lanes_new(s->l, scratch, &s->now) || !pbi_lanes_new(s->l, scratch, &s->trial) ||
        !pbi_lanes_new(s->l, scratch, &s->best))
        return PB_ENOMEM;
    pb_status status = try_starts(ctx, s);
    bool found = s->best_time != UINT64_MAX;
    if (status == PB_OK && found && s->best.count)
        status = search(ctx, s);
    bool stopped = status == PB_ELIMIT || status == PB_ECANCELLED;
    if (!found)
        return status != PB_OK ? status : pbi_plan_give_up(plan, "no start fits the cap");
    return status == PB_OK || stopped ? pbi_lanes_emit(s->l, &s->best, plan) : status;
}

pb_status pbi_plan_overlap(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_lanes l;
    bool applies;
    pb_status status = pbi_lanes_init(&l, game, &scratch, plan, &applies);
    searcher s = {.l = &l, .options = options, .best_time = UINT64_MAX, .rng = {options->seed}};
    if (status == PB_OK && applies)
        status = plan_with(ctx, &s, &scratch, plan);
    pb_arena_release(&scratch);
    return status;
}
