/* graph_inputs.c -- changes the given values of a graph to free ones, or to ones that must be computed. */
#include "base/context.h"
#include "graph/graph_builder.h"
#include "io/formats.h"

static pb_status add_node(pb_builder *b, const pb_graph *g, pb_node v, pb_inputs inputs)
{
    uint16_t flags = g->flags[v];
    if (!g->targets_named)
        flags &= (uint16_t)~PB_NODE_TARGET;
    pb_node_spec spec = {.name = pb_graph_name(g, v),
                         .cost = g->cost[v],
                         .size = g->size[v],
                         .workspace = g->workspace[v],
                         .group = g->group && g->group[v] != UINT32_MAX ? g->group_names[g->group[v]] : NULL,
                         .work = pb_graph_work(g, v)};
    if (g->flags[v] & PB_NODE_GIVEN) {
        flags &= (uint16_t) ~(PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW);
        if (inputs == PB_INPUTS_FREE) {
            flags |= PB_NODE_GIVEN;
            spec.size = 0;
        } else if (!spec.cost) {
            spec.cost = pbi_decimal_unit(g->cost_digits); /* 1 in the unit of its file */
        }
    }
    spec.flags = flags;
    return pb_builder_add_node(b, &spec, NULL);
}

static pb_status relate(pb_builder *b, const pb_graph *g, pb_node v)
{
    pb_status status = PB_OK;
    for (uint32_t k = g->out_start[v]; k < g->out_start[v + 1] && status == PB_OK; k++)
        status = pb_builder_add_edge(b, v, g->out[k]);
    for (uint32_t k = g->inplace ? g->inplace_start[v] : 0;
         g->inplace && k < g->inplace_start[v + 1] && status == PB_OK; k++)
        status = pb_builder_add_inplace(b, v, g->inplace[k]);
    if (status == PB_OK && (g->flags[v] & PB_NODE_BYPRODUCT))
        status = pb_builder_set_byproduct(b, v, g->owner[v]);
    for (uint32_t k = g->note ? g->note_start[v] : 0; g->note && k < g->note_start[v + 1] && status == PB_OK; k++)
        if (g->note[k].kind != PB_NOTE_IN || b->record[v].flags & PB_NODE_GIVEN)
            status =
                pb_builder_add_note(b, v, (pb_note_kind)g->note[k].kind, g->words[g->note[k].word], g->note[k].value);
    return status;
}

static pb_status add_recipe(pb_builder *b, const pb_graph *g, pb_node v, const pb_recipe *r)
{
    uint32_t number;
    pb_recipe_spec spec = {r->name, r->cost, r->workspace, pb_graph_work_of(g, &r->work), r->extra};
    pb_status status = pb_builder_add_recipe(b, v, &spec, &number);
    for (uint32_t i = 0; i < r->in_count && status == PB_OK; i++)
        status = pb_builder_add_recipe_input(b, number, r->in[i]);
    for (uint32_t i = 0; i < r->inplace_count && status == PB_OK; i++)
        status = pb_builder_add_recipe_inplace(b, number, r->inplace[i]);
    for (uint32_t i = 0; i < r->time_count && status == PB_OK; i++)
        status = pb_builder_add_recipe_time(b, number, g->words[r->time[i].word], r->time[i].value);
    return status;
}

/* Formerly given nodes come first in the order, since they were in memory first. */
static pb_status add_order(pb_builder *b, const pb_graph *g, pb_inputs inputs)
{
    pb_status status = PB_OK;
    for (pb_node v = 0; inputs == PB_INPUTS_COMPUTED && v < g->node_count && status == PB_OK; v++)
        if (g->flags[v] & PB_NODE_GIVEN)
            status = pb_builder_add_order(b, v);
    for (uint32_t i = 0; i < g->order_count && status == PB_OK; i++)
        status = pb_builder_add_order(b, g->order[i]);
    return status;
}

static pb_status copy(pb_builder *b, const pb_graph *g, pb_inputs inputs)
{
    pb_status status = pb_builder_set_texts(b, g->name, g->cost_unit, g->size_unit);
    pb_builder_set_fixed_size(b, g->fixed_size);
    pb_builder_set_machine(b, g->machine);
    b->cost_digits = g->cost_digits;
    if (g->forward_only)
        pb_builder_set_forward_only(b);
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++)
        status = add_node(b, g, v, inputs);
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++)
        status = relate(b, g, v);
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++)
        for (uint32_t k = 0; k < pb_graph_recipes(g, v) && status == PB_OK; k++)
            status = add_recipe(b, g, v, &g->recipe[g->recipe_start[v] + k]);
    for (uint32_t i = 0; i < g->fixed_count && status == PB_OK; i++)
        status = pb_builder_add_note(b, PB_NO_NODE, PB_NOTE_TIME, g->words[g->fixed[i].word], g->fixed[i].value);
    if (status == PB_OK && g->order_named)
        status = add_order(b, g, inputs);
    if (status == PB_OK && *g->extra)
        status = pb_builder_set_extra(b, PB_NO_NODE, g->extra, strlen(g->extra));
    for (uint32_t i = 0; i < g->extra_count && status == PB_OK; i++)
        status = pb_builder_set_extra(b, g->extra_node[i], g->extra_text[i], strlen(g->extra_text[i]));
    return status;
}

pb_status pbi_graph_turn_inputs(pb_context *ctx, const pb_graph *g, pb_inputs inputs, pb_arena *result,
                                const pb_graph **out)
{
    bool any = false;
    for (pb_node v = 0; v < g->node_count && !any; v++)
        any = g->flags[v] & PB_NODE_GIVEN;
    if (!any && ctx->log)
        ctx->log(ctx->callback_state,
                 "the graph has no given values, so the option inputs has no effect; leave it out");
    if (!any || inputs == PB_INPUTS_GIVEN || inputs == PB_INPUTS_AUTO) {
        *out = g;
        return PB_OK;
    }
    pb_builder *b;
    pb_status status = pb_builder_new(ctx, &b);
    if (status != PB_OK)
        return status;
    status = copy(b, g, inputs);
    if (status == PB_OK)
        status = pb_builder_freeze(b, result, out);
    pb_builder_free(b);
    return status;
}
