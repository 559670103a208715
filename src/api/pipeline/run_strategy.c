/* run_strategy.c -- see run_strategy.h. */
#include "api/pipeline/run_strategy.h"

const char *pbi_task_policy(const pbi_task *t)
{
    const pb_strategy *row = t->spec->row;
    if (t->spec->policy)
        return t->spec->policy;
    return row->takes_policy || row->strength == PB_PORTFOLIO ? t->job->request->policy : NULL;
}

void pbi_emit_plan(const pbi_task *t, const char *strategy, uint64_t peak, uint64_t makespan)
{
    pbi_emit(
        t->job->request,
        &(pb_event){.kind = PB_EVENT_PLAN, .game = t->game, .strategy = strategy, .peak = peak, .makespan = makespan});
}

static void on_better(void *state, uint64_t peak, uint64_t makespan)
{
    const pbi_task *t = state;
    pbi_emit_plan(t, t->spec->row->name, peak, makespan);
}

pb_status pbi_run_strategy(const pbi_task *t, pbi_plan *plan)
{
    const pb_request *request = t->job->request;
    pbi_task task = *t;
    pbi_plan_options options = {
        .policy = pbi_task_policy(t),
        .seed = request->seed,
        .threads = request->threads ? request->threads : 1,
        .patient = request->patient && !(t->job->others && t->spec->row->strength == PB_EXACT),
        .end_ns = t->job->end_ns,
        .options = t->spec->options,
        .option_count = t->spec->option_count,
        .bounds = t->bounds,
        .start = request->start,
        .fast_start = t->job->fast_start,
        .better = request->handler ? on_better : NULL,
        .better_state = &task,
    };
    return pbi_strategy_function(t->spec->row)(t->job->ctx, t->game, &options, plan);
}
