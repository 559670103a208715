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

static pb_status search(pbi_stages_search *x)
{
    static const double warmth[] = {0.0, 2e-3, 5e-4, 8e-3};
    uint64_t trials = FIRST_TRIALS, used = 0, count = x->k->most + 1u;
    pb_status status = pbi_stages_try_rules(x, 0);
    for (uint32_t round = 0; status == PB_OK && x->best.value != UINT64_MAX && x->best.value > x->bound &&
                             (x->options->patient || used < PATIENT_LIMIT);
         round++) {
        status = pbi_stages_try_rules(x, trials / 2);
        if (status == PB_OK)
            status = pbi_stages_try_orders(x, 2 * trials, warmth[round % 4]);
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
    pbi_stages_search x = {.options = options, .rng = {options->seed}};
    pb_status status = pbi_stages_kit_new(s, scratch, &kit);
    if (status == PB_OK)
        status = pbi_stages_search_new(ctx, &kit, scratch, &x);
    if (status != PB_OK)
        return status;
    x.bound = pbi_stages_bound(s, s->game->objective);
    status = search(&x);
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
