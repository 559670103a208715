/* trials.c -- see trials.h. */
#include "plan/sequence/trials.h"

#include "base/context.h"

#include <inttypes.h>

void pbi_trials_init(pbi_trials *t, pb_context *ctx, const pb_game *game, pbi_trial_maker make, void *state)
{
    *t = (pbi_trials){.ctx = ctx, .game = game, .make = make, .state = state, .least_peak = UINT64_MAX};
}

static bool out_of_ticks(const pb_context *ctx) { return ctx->tick_limit && ctx->ticks > ctx->tick_limit; }

/* Measured without the cap, so that the peak is that of the whole plan. */
static pb_status measure(pbi_trials *t, const pbi_choice *choice, pb_arena *arena, pbi_sequence *s, pbi_figures *f)
{
    pb_game open = *t->game;
    open.cap = PB_UNLIMITED;
    pbi_sequence_init(s, arena);
    pb_status status = t->make(t->state, choice, arena, s);
    return status == PB_OK ? pbi_sequence_emit(t->ctx, &open, s, NULL, f) : status;
}

pb_status pbi_trials_try(pbi_trials *t, pbi_choice choice, pbi_trial *result, uint64_t *peak)
{
    pb_arena arena;
    pbi_sequence s;
    pbi_figures f;
    pb_arena_init(&arena, t->ctx);
    pb_status status = measure(t, &choice, &arena, &s, &f);
    *result = PBI_TRIAL_FITS;
    t->tried++;
    if ((status == PB_ELIMIT && !out_of_ticks(t->ctx)) || (status == PB_OK && f.overflow)) {
        status = PB_OK;
        *result = PBI_TRIAL_TOO_LONG;
        t->too_long++;
    } else if (status == PB_OK) {
        t->least_peak = f.peak < t->least_peak ? f.peak : t->least_peak;
        *result = f.peak <= t->game->cap ? PBI_TRIAL_FITS : PBI_TRIAL_TOO_LARGE;
        if (peak)
            *peak = f.peak;
    }
    bool better = status == PB_OK && *result == PBI_TRIAL_FITS && (!t->fits || pbi_figures_better(t->game, &f, &t->f));
    if (!better) {
        pb_arena_release(&arena);
        return status;
    }
    if (t->fits)
        pb_arena_release(&t->arena);
    t->fits = true;
    t->arena = arena;
    t->s = s;
    t->f = f;
    t->best = choice;
    return status;
}

bool pbi_trials_done(const pbi_trials *t)
{
    const pb_weights *w = &t->game->weights;
    return t->fits && !w->alpha && !w->beta && t->f.time == t->game->graph->needed_cost;
}

static pb_status give_up(const pbi_trials *t, pbi_plan *plan)
{
    if (t->least_peak == UINT64_MAX)
        return pbi_plan_give_up(
            plan, "limit hit: every plan tried needs more computations than its limit; raise its option limit");
    char need[100], over[40], cap[100];
    const char *unit = t->game->graph->size_unit;
    pb_amount_text(t->least_peak, unit, need, sizeof need);
    pb_amount_text(t->game->cap, unit, cap, sizeof cap);
    pb_quantity_text(t->least_peak - t->game->cap, unit, over, sizeof over);
    if (t->tried == 1)
        return pbi_plan_give_up(plan, "does not fit: its plan needs %s, %s over the cap of %s", need, over, cap);
    return pbi_plan_give_up(plan, "does not fit: the smallest of %" PRIu32 " plans needs %s, %s over the cap of %s",
                            t->tried, need, over, cap);
}

pb_status pbi_trials_finish(pbi_trials *t, pb_status status, pbi_plan *plan)
{
    if (!t->fits)
        return status == PB_OK ? give_up(t, plan) : status;
    if (status == PB_OK || status == PB_ELIMIT || status == PB_ECANCELLED) {
        pbi_held held = pbi_hold(t->ctx); /* also after a stop: write the best plan so far */
        status = pbi_sequence_emit(t->ctx, t->game, &t->s, plan, NULL);
        pbi_resume(t->ctx, held);
    }
    pb_arena_release(&t->arena);
    return status;
}
