/* stages.c -- pipelines on several devices: the order of steps on each device, and what is recomputed.
 *
 * Problem     stages, micro-batches, and forward and backward steps under a memory cap on each device.
 * Idea        rules build a plan moment by moment: limits on micro-batches in flight, when W fills gaps, what is
 *             dropped. Hill-climbing on these numbers, then on the orders themselves: steps on the critical path move.
 * Invariants  never worse than the best rule; equal seeds and ticks give equal plans.
 * Cost        one simulation for each trial, linear in the number of steps.
 * Source      the rules cover GPipe, 1F1B and the zero-bubble schedules; docs/stages.md.
 * Limits      equal micro-batches; results and gradients that cross devices go over links once.
 */
#include "bound/stages_bound.h"
#include "plan/stages/search.h"

#include "base/context.h"

/* Each round tries rules and then orders; the first is short, so that small cases end soon. */
enum { FIRST_TRIALS = 300, PATIENT_LIMIT = 1 << 22 };

/* The makespan is faster to simulate than the span, and what shortens it often shortens the span: y searches that. */
static pb_status search_makespan(pbi_stages_search *x, pbi_stages_search *y, uint64_t trials, double warm)
{
    pb_status status = pbi_stages_try_rules(y, trials / 2);
    if (status == PB_OK && y->best.value != UINT64_MAX)
        status = pbi_stages_try_orders(y, 2 * trials, warm);
    if (y->best.value == UINT64_MAX)
        return status;
    pbi_stages_copy(x->k, &x->trial, &y->best);
    if (pbi_stages_value(x->k, &x->trial, UINT64_MAX)) {
        pbi_stages_tighten(x->k, &x->trial, x->bound, &x->spare);
        if (pbi_stages_offer(x))
            pbi_stages_copy_rule(x->k, &x->rule, &y->rule);
    }
    return status;
}

static uint32_t few_of(const pbi_stages *s, uint32_t round)
{
    uint64_t held = s->devices;
    for (uint32_t c = 0; c < s->parts; c++) {
        uint64_t each = s->part[c].saved_b + s->part[c].saved_w, fit = each ? s->room[s->part[c].device] / each : held;
        held = fit && fit < held ? fit : held;
    }
    uint64_t few = 2 * held + s->micro % held + round % 3 * held;
    return few < s->micro ? (uint32_t)few : s->micro;
}

static pb_status search(pbi_stages_search *x, pbi_stages_search *y)
{
    static const double warmth[] = {0.0, 2e-3, 5e-4, 8e-3};
    uint64_t trials = FIRST_TRIALS, used = 0, count = x->k->most + 1u;
    pb_status status = x->k->span ? search_makespan(x, y, trials, 0) : PB_OK;
    if (status == PB_OK)
        status = pbi_stages_try_rules(x, 0);
    for (uint32_t round = 0; status == PB_OK && x->best.value != UINT64_MAX && x->best.value > x->bound &&
                             (x->options->patient || used < PATIENT_LIMIT);
         round++) {
        if (x->k->span)
            status = search_makespan(x, y, trials, warmth[round % 4]);
        if (status == PB_OK)
            status = pbi_stages_try_rules(x, trials / 2);
        if (status == PB_OK)
            status = pbi_stages_try_orders(x, x->k->span ? trials / 2 : 2 * trials, warmth[round % 4]);
        if (status == PB_OK)
            status = pbi_stages_try_few(x, few_of(x->k->s, round), trials);
        used += 2 * trials * count / 64;
        trials += trials / 2;
    }
    bool limit = status == PB_ELIMIT || (status == PB_ECANCELLED && x->ctx->stopped == PB_STOP_TIME);
    return limit ? PB_OK : status;
}

static pb_status plan_with(pb_context *ctx, const pbi_stages *s, const pbi_plan_options *options, pb_arena *scratch,
                           pbi_plan *plan)
{
    pbi_stages_kit kit;
    pbi_stages_search x = {.options = options, .rng = {options->seed}}, y = x;
    pbi_plan_options quiet = {.seed = options->seed};
    y.options = &quiet;
    pb_status status = pbi_stages_kit_new(s, scratch, &kit);
    pbi_stages_kit other = kit;
    other.span = false;
    if (status == PB_OK)
        status = pbi_stages_search_new(ctx, &kit, scratch, &x);
    if (status == PB_OK)
        status = pbi_stages_search_new(ctx, &other, scratch, &y);
    if (status != PB_OK)
        return status;
    x.bound = pbi_stages_bound(s, s->game->objective);
    y.bound = pbi_stages_bound(s, PB_OBJECTIVE_MAKESPAN);
    status = search(&x, &y);
    if (x.best.value == UINT64_MAX)
        return status != PB_OK ? status : pbi_plan_give_up(plan, "no order of the stages fits the cap; raise the cap");
    if (status != PB_OK && status != PB_ECANCELLED)
        return status;
    status = pbi_stages_emit(ctx, &kit, &x.best, &plan->moves);
    if (status == PB_OK)
        plan->outcome = PB_FOUND;
    return status;
}

pb_status pbi_plan_stages(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    pb_arena scratch;
    pbi_stages s;
    const char *why;
    pb_arena_init(&scratch, ctx);
    pb_status status = pbi_stages_find(ctx, game, &scratch, &s, &why);
    if (status == PB_OK)
        status = why ? pbi_plan_give_up(plan, "%s", why) : plan_with(ctx, &s, options, &scratch, plan);
    pb_arena_release(&scratch);
    return status;
}
