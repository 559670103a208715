/* family_chain.c -- paths, and paths with the gradients that read them backwards. */
#include "generate/families.h"
#include "generate/node_profile.h"
#include "graph/emit.h"

pb_status pbi_generate_chain(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    uint64_t count = pbi_param_integer(params, "nodes");
    uint64_t cost = pbi_param_integer(params, "cost"), size = pbi_param_integer(params, "size");
    pbi_emit e;
    pbi_emit_init(&e, ctx, params->family->name, builder);
    if (pbi_emit_budget(&e, count, count) != PB_OK)
        return e.status;
    pbi_node_profile profile = pbi_node_profile_read(params, count);
    pbi_emit_units(&e, "step", "pebble");
    pb_node before = PB_NO_NODE;
    for (uint64_t i = 0; i < count && e.status == PB_OK; i++) {
        pbi_label name;
        pbi_label_set(&name, "n");
        pbi_label_number(&name, i);
        uint64_t own_cost = pbi_node_profile_cost(&profile, PBI_STEPS, cost, i);
        uint64_t own_size = pbi_node_profile_size(&profile, PBI_STEPS, size, i);
        pb_node v = pbi_emit_step(
            &e, &(pb_node_spec){.name = name.text, .name_length = name.length, .cost = own_cost, .size = own_size});
        if (before != PB_NO_NODE)
            pbi_emit_edge(&e, before, v);
        before = v;
    }
    return e.status;
}

/* x_0 is given; x_i is node i. Gradients follow in the order they are computed, so the last node is g_0. */
typedef struct adjoint {
    pbi_emit e;
    pbi_node_profile profile;
    uint64_t steps, states; /* states: x_0 and the results of steps */
    uint64_t step_cost, step_size, grad_cost, grad_size, saved_size;
    bool reads_output, reads_saved, inplace;
} adjoint;

static void emit_states(adjoint *a)
{
    for (uint64_t i = 0; i < a->states && a->e.status == PB_OK; i++) {
        pbi_label name;
        pbi_label_set(&name, "x_");
        pbi_label_number(&name, i);
        pb_node_spec spec = {.name = name.text, .name_length = name.length};
        spec.size = pbi_node_profile_size(&a->profile, PBI_STEPS, a->step_size, i);
        if (i == 0) {
            spec.flags = PB_NODE_GIVEN;
            pbi_emit_node(&a->e, &spec);
            continue;
        }
        spec.cost = pbi_node_profile_cost(&a->profile, PBI_STEPS, a->step_cost, i - 1);
        pb_node v = pbi_emit_step(&a->e, &spec);
        pbi_emit_edge(&a->e, v - 1, v);
        /* Never overwrites x_0: it belongs to the caller, and could not be recomputed. */
        if (a->inplace && i > 1)
            pbi_emit_inplace(&a->e, v, v - 1);
    }
}

/* What step i saves for its gradient is node states + i. */
static void emit_saved(adjoint *a)
{
    for (uint64_t i = 0; i < a->steps && a->e.status == PB_OK; i++) {
        pbi_label name;
        pbi_label_set(&name, "s_");
        pbi_label_number(&name, i);
        pb_node_spec spec = {.name = name.text, .name_length = name.length};
        spec.size = pbi_node_profile_size(&a->profile, PBI_SAVED, a->saved_size, i);
        pbi_emit_part(&a->e, &spec, (pb_node)i + 1);
    }
}

static void emit_gradients(adjoint *a)
{
    for (uint64_t i = a->steps; i-- > 0 && a->e.status == PB_OK;) {
        pbi_label name;
        pbi_label_set(&name, "g_");
        pbi_label_number(&name, i);
        pb_node_spec spec = {.name = name.text, .name_length = name.length};
        spec.cost = pbi_node_profile_cost(&a->profile, PBI_GRADIENTS, a->grad_cost, i);
        spec.size = pbi_node_profile_size(&a->profile, PBI_GRADIENTS, a->grad_size, i);
        if (!a->reads_output && !a->reads_saved) /* it runs its own step again */
            spec.cost += pbi_node_profile_cost(&a->profile, PBI_STEPS, a->step_cost, i);
        pb_node v = pbi_emit_step(&a->e, &spec);
        pbi_emit_edge(&a->e, (pb_node)i, v);
        if (a->reads_output)
            pbi_emit_edge(&a->e, (pb_node)i + 1, v);
        if (a->reads_saved)
            pbi_emit_edge(&a->e, (pb_node)(a->states + i), v);
        if (i + 1 < a->steps) {
            pbi_emit_edge(&a->e, v - 1, v);
            if (a->inplace)
                pbi_emit_inplace(&a->e, v, v - 1);
        }
        if (i == 0)
            pbi_emit_target(&a->e, v);
    }
}

pb_status pbi_generate_adjoint_chain(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    adjoint a = {.steps = pbi_param_integer(params, "steps"),
                 .step_cost = pbi_param_integer(params, "step-cost"),
                 .step_size = pbi_param_integer(params, "step-size"),
                 .grad_cost = pbi_param_integer(params, "grad-cost"),
                 .grad_size = pbi_param_integer(params, "grad-size"),
                 .saved_size = pbi_param_integer(params, "saved-size"),
                 .reads_output = pbi_param_is(params, "form", "inputs-outputs"),
                 .reads_saved = pbi_param_is(params, "form", "saved"),
                 .inplace = pbi_param_is(params, "inplace", "yes")};
    /* If gradients read only inputs, the last state has no reader and is not computed. */
    a.states = a.reads_output || a.reads_saved ? a.steps + 1 : a.steps;
    pbi_emit_init(&a.e, ctx, params->family->name, builder);
    if (pbi_emit_budget(&a.e, a.states + a.steps + (a.reads_saved ? a.steps : 0), 4 * a.steps) != PB_OK)
        return a.e.status;
    a.profile = pbi_node_profile_read(params, a.steps + 1);
    pbi_emit_units(&a.e, "step", "pebble");
    emit_states(&a);
    if (a.reads_saved)
        emit_saved(&a);
    emit_gradients(&a);
    return a.e.status;
}
