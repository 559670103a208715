/* trace.c -- the computations of an online run, as a graph. */
#include "engine/dynamic/parts.h"

#include "base/context.h"

static pb_status add_node(pb_builder *b, const pbi_traced *t)
{
    pb_node got;
    pb_node_spec spec = {.cost = t->cost, .size = t->size, .workspace = t->workspace};
    spec.flags = (uint16_t)((t->given ? PB_NODE_GIVEN : 0) | (t->once && !t->given ? PB_NODE_ONCE : 0) |
                            (t->held ? PB_NODE_KEEP : 0));
    return pb_builder_add_node(b, &spec, &got);
}

static pb_status fill(pb_dynamic *o, pb_builder *b)
{
    const pb_node *input = o->traced_input;
    pb_status status = PB_OK;
    for (uint32_t v = 0; v < o->traced_count && status == PB_OK; v++)
        status = add_node(b, &o->traced[v]);
    for (uint32_t v = 0; v < o->traced_count && status == PB_OK; v++) {
        const pbi_traced *t = &o->traced[v];
        for (uint32_t i = 0; i < t->inputs && status == PB_OK; i++)
            status = pb_builder_add_edge(b, *input++, v);
        if (status == PB_OK && t->pinned)
            status = pb_builder_add_target(b, v);
        if (status == PB_OK && !t->given)
            status = pb_builder_add_order(b, v);
    }
    return status == PB_OK ? pb_builder_set_texts(b, "trace", o->ctx->clock_ns ? "ns" : "step", "byte") : status;
}

pb_status pb_dynamic_trace(pb_dynamic *o, pb_arena *result, const pb_graph **out)
{
    pb_builder *b;
    if (!o->options.record)
        return pbi_fail(o->ctx, PB_EINVAL, "no trace was recorded; set record in the options");
    for (uint32_t v = 0; v < o->traced_count; v++)
        o->traced[v].held = false;
    for (pb_value v = 0; v < o->record_count; v++)
        if ((o->record[v].flags & PBI_KNOWN) && o->record[v].held && o->record[v].traced != PB_NO_NODE)
            o->traced[o->record[v].traced].held = true;
    pb_status status = pb_builder_new(o->ctx, &b);
    if (status != PB_OK)
        return status;
    status = fill(o, b);
    if (status == PB_OK)
        status = pb_builder_freeze(b, result, out);
    pb_builder_free(b);
    return status;
}
