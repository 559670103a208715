/* check.c -- see run.h: finds the kernels of a workload that are not deterministic. */
#include "pebble/run.h"

#include "base/context.h"

typedef struct checker {
    uint8_t *differs; /* by node */
} checker;

static void note(void *state, pb_node node)
{
    checker *c = state;
    c->differs[node] = 1;
}

static pb_status run_steps(pb_context *ctx, pb_workload *w, pb_engine *e, uint64_t steps, pb_run_checked *out)
{
    pb_status status = PB_OK;
    pb_measured m;
    for (uint64_t step = 0; step < steps && status == PB_OK; step++) {
        pbi_progress(ctx, "checking", step, steps);
        status = pb_workload_begin(w, step, e);
        if (status == PB_OK)
            status = pb_engine_run(e, &m);
        if (status == PB_OK)
            status = pb_workload_end(w, step, e);
        if (status == PB_OK)
            out->computed += m.computed;
    }
    return status;
}

/* Nodes that the plan computes, and that the mode does not repeat. */
static uint32_t count_once(const pb_graph *g, const pb_moves *moves)
{
    uint32_t count = 0;
    for (pb_step k = 0; k < moves->count; k++) {
        const pb_move *m = &moves->move[k];
        count += m->op == PB_COMPUTE && !m->by && (g->flags[m->node] & PB_NODE_ONCE);
    }
    return count;
}

pb_status pb_run_check(pb_context *ctx, pb_workload *w, const pb_certificate *plan, const pb_run_options *options,
                       pb_arena *result, pb_run_checked *out)
{
    const pb_graph *g = pb_workload_graph(w);
    pb_run_checked checked = {.once = count_once(g, pb_certificate_moves(plan))};
    checker c = {.differs = pb_arena_zero(result, (size_t)g->node_count + 1, sizeof *c.differs)};
    pb_node *list = pb_arena_alloc(result, (size_t)g->node_count + 1, sizeof *list);
    pb_engine_options how = {.check = true, .differs = note, .differs_state = &c, .slow_path = {options->slow_path}};
    pb_engine *e = NULL;
    if (!c.differs || !list)
        return PB_ENOMEM;
    pb_status status = pb_engine_new(ctx, plan, pb_workload_kernels(w), &how, &e);
    if (status == PB_OK)
        status = run_steps(ctx, w, e, options->steps ? options->steps : 1, &checked);
    pb_engine_free(e);
    if (status != PB_OK)
        return status;
    for (pb_node v = 0; v < g->node_count; v++)
        if (c.differs[v])
            list[checked.differs_count++] = v;
    checked.differs = list;
    *out = checked;
    return PB_OK;
}
