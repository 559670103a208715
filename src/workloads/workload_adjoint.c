/* workload_adjoint.c -- the gradient of a time-stepping solver: a forward pass of states, a backward pass of gradients.
 *
 * x_i is the state after i steps, x_0 is given; g_i is the gradient with respect to x_i, followed by dJ/dnu so far
 * and J. g_n reads x_n, every other one x_i and g_{i+1}. Results may overwrite the state or gradient that they
 * continue.
 */
#include "base/context.h"
#include "workloads/burgers.h"
#include "workloads/workload_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS, SIZE };

static const pb_workload_option options[] = {
    [STEPS] = {"steps", "100", "time steps"},
    [SIZE] = {"size", "64", "points in a row of the square grid; a multiple of 8"},
};

typedef struct adjoint {
    pbi_burgers model;
    uint64_t steps;
    double objective, by_nu, norm; /* of the last run */
} adjoint;

static pb_node gradient_node(const adjoint *a, uint64_t i) { return (pb_node)(2 * a->steps + 1 - i); }

/* ---- kernels ---- */

static pb_status fill(void *state, pb_context *ctx, pb_node given, void *bytes)
{
    (void)ctx;
    (void)given;
    adjoint *a = state;
    pbi_burgers_begin(&a->model, bytes);
    return PB_OK;
}

static pb_status step(void *state, pb_context *ctx, const pb_call *call)
{
    (void)ctx;
    adjoint *a = state;
    pbi_burgers_step(&a->model, call->value[call->node - 1], call->value[call->node], call->workspace);
    return PB_OK;
}

static pb_status turn(void *state, pb_context *ctx, const pb_call *call)
{
    (void)ctx;
    adjoint *a = state;
    pbi_burgers_turn(&a->model, call->value[call->node - 1], call->value[call->node]);
    return PB_OK;
}

static pb_status reverse(void *state, pb_context *ctx, const pb_call *call)
{
    (void)ctx;
    adjoint *a = state;
    pb_node v = call->node, x = gradient_node(a, v);
    pbi_burgers_reverse(&a->model, call->value[x], call->value[v - 1], call->value[v], call->workspace);
    return PB_OK;
}

/* ---- the graph ---- */

/* A kernel that goes over `fields` fields, each as large as a state. */
static pb_work work_of(const adjoint *a, uint64_t cost, uint64_t fields)
{
    return (pb_work){.op = "step",
                     .dtype = "float64",
                     .has_flops = true,
                     .has_bytes = true,
                     .flops = cost,
                     .bytes = fields * pbi_burgers_state_bytes(&a->model)};
}

static pb_node add(pbi_draft *d, const char *letter, uint64_t i, pb_node_spec spec)
{
    pbi_label name;
    pbi_label_set(&name, letter);
    pbi_label_number(&name, i);
    spec.name = name.text;
    spec.name_length = name.length;
    return spec.flags & PB_NODE_GIVEN ? pbi_emit_node(&d->e, &spec) : pbi_emit_step(&d->e, &spec);
}

static void add_states(pbi_draft *d, const adjoint *a)
{
    pb_node_spec spec = {.size = pbi_burgers_state_bytes(&a->model), .flags = PB_NODE_GIVEN};
    add(d, "x_", 0, spec);
    spec.flags = 0;
    spec.cost = pbi_burgers_step_cost(&a->model);
    spec.workspace = spec.size;
    spec.work = work_of(a, spec.cost, 5); /* u, midpoint; u, midpoint, next */
    for (uint64_t i = 1; i <= a->steps && d->e.status == PB_OK; i++) {
        pb_node v = add(d, "x_", i, spec);
        pbi_emit_edge(&d->e, v - 1, v);
        if (i > 1)
            pbi_emit_inplace(&d->e, v, v - 1);
    }
}

static void add_gradients(pbi_draft *d, const adjoint *a)
{
    pb_node_spec spec = {.size = pbi_burgers_gradient_bytes(&a->model), .cost = pbi_burgers_points(&a->model) * 40};
    spec.work = work_of(a, spec.cost, 3); /* u, gradient; u for the misfit */
    pb_node v = add(d, "g_", a->steps, spec);
    pbi_emit_edge(&d->e, v - 1, v);
    spec.cost = pbi_burgers_reverse_cost(&a->model);
    spec.workspace = 2 * pbi_burgers_state_bytes(&a->model);
    spec.work = work_of(a, spec.cost, 2 + 3 + 2 + 2 + 4); /* by the loops of pbi_burgers_reverse */
    for (uint64_t i = a->steps; i-- && d->e.status == PB_OK;) {
        spec.flags = i ? 0 : PB_NODE_KEEP;
        v = add(d, "g_", i, spec);
        pbi_emit_edge(&d->e, v - 1, v);
        pbi_emit_edge(&d->e, (pb_node)i, v);
        pbi_emit_inplace(&d->e, v, v - 1);
    }
    pbi_emit_target(&d->e, v);
}

static pb_status set_kernels(pb_workload *w, const adjoint *a)
{
    pb_kernel *of = pb_arena_zero(&w->arena, w->graph->node_count, sizeof *of);
    if (!of)
        return PB_ENOMEM;
    for (pb_node v = 1; v < w->graph->node_count; v++)
        of[v] = v <= a->steps ? step : v == a->steps + 1 ? turn : reverse;
    w->kernels.of = of;
    w->kernels.fill = fill;
    return PB_OK;
}

static pb_status open_adjoint(pb_workload *w, const char *const *values)
{
    adjoint *a = pb_arena_zero(&w->arena, 1, sizeof *a);
    uint64_t size = 0;
    if (!a)
        return PB_ENOMEM;
    w->kernels.state = a;
    pb_status status = pbi_workload_number(w->ctx, "adjoint: steps", values[STEPS], 1, 10000000, &a->steps);
    if (status == PB_OK)
        status = pbi_workload_number(w->ctx, "adjoint: size", values[SIZE], 8, 8192, &size);
    if (status == PB_OK && size % 8)
        status = pbi_fail(w->ctx, PB_EINVAL, "adjoint: size must be a multiple of 8, not %s", values[SIZE]);
    if (status != PB_OK)
        return status;
    pbi_burgers_init(&a->model, (uint32_t)size);
    pbi_draft d;
    pbi_draft_begin(&d, w, "adjoint", "flop");
    add_states(&d, a);
    add_gradients(&d, a);
    status = pbi_draft_end(&d, w);
    return status == PB_OK ? set_kernels(w, a) : status;
}

/* ---- after a run ---- */

static pb_status end_adjoint(pb_workload *w, uint64_t number, pb_engine *e)
{
    (void)number;
    adjoint *a = w->kernels.state;
    const double *gradient = pb_engine_value(e, gradient_node(a, 0));
    size_t points = pbi_burgers_points(&a->model);
    double sum = 0;
    for (size_t i = 0; i < points; i++)
        sum += gradient[i] * gradient[i];
    a->norm = sqrt(sum);
    a->by_nu = gradient[points + PBI_BURGERS_BY_NU];
    a->objective = gradient[points + PBI_BURGERS_OBJECTIVE];
    return PB_OK;
}

static size_t text_adjoint(pb_workload *w, char *text, size_t room)
{
    const adjoint *a = w->kernels.state;
    int length = snprintf(text, room, "misfit %.9g, its gradient has the norm %.9g and %.9g along nu", a->objective,
                          a->norm, a->by_nu);
    return length < 0 ? 0 : (size_t)length;
}

const pbi_workload_kind pbi_workload_adjoint = {
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .open = open_adjoint,
    .end = end_adjoint,
    .text = text_adjoint,
};
