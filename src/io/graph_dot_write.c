/* graph_dot_write.c -- writes DOT that the reader reads back completely: fields of nodes and graph are attributes. */
#include "base/out.h"
#include "io/formats.h"
#include "io/node_table.h"

static void write_quoted(pbi_out *out, const char *text)
{
    pbi_out_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            pbi_out_char(out, '\\');
        pbi_out_char(out, *text);
    }
    pbi_out_char(out, '"');
}

static bool write_list(pbi_out *out, const pb_graph *g, const pb_node *row, uint32_t count, pb_buffer *list)
{
    list->length = 0;
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++)
        ok = pbi_name_list_add(list, pb_graph_name(g, row[i]));
    ok = ok && pbi_bytes_add(list, "", 1);
    if (ok)
        write_quoted(out, list->bytes);
    return ok;
}

/* A field for machines, if the node states it. */
static bool write_work(pbi_out *out, const pb_graph *g, pb_node v, pbi_work_field which, pb_buffer *room)
{
    const char *text;
    bool ok = pbi_work_text(g, v, which, room, &text);
    if (!ok || (!text && which != PBI_WORK_KEEP))
        return ok;
    pbi_out_char(out, ',');
    pbi_out_text(out, pbi_work_names[which].bytes);
    pbi_out_char(out, '=');
    if (text && which > PBI_WORK_BYTES)
        write_quoted(out, text);
    else
        pbi_out_text(out, text ? text : "true");
    return ok;
}

static bool write_node(pbi_out *out, const pb_graph *g, pb_node v, pb_buffer *list)
{
    bool ok = true;
    pbi_out_text(out, "  ");
    write_quoted(out, pb_graph_name(g, v));
    pbi_out_text(out, " [cost=");
    pbi_out_u64(out, g->cost[v]);
    pbi_out_text(out, ",size=");
    pbi_out_u64(out, g->size[v]);
    if (g->workspace[v]) {
        pbi_out_text(out, ",workspace=");
        pbi_out_u64(out, g->workspace[v]);
    }
    if (g->priority && g->priority[v]) {
        pbi_out_text(out, ",priority=");
        pbi_out_u64(out, g->priority[v]);
    }
    if (g->flags[v] & PB_NODE_GIVEN)
        pbi_out_text(out, g->flags[v] & PB_NODE_GIVEN_SLOW ? ",given=slow" : ",given=true");
    if (g->flags[v] & PB_NODE_ONCE)
        pbi_out_text(out, ",once=true");
    if (g->flags[v] & PB_NODE_KEEP)
        ok = write_work(out, g, v, PBI_WORK_KEEP, list);
    if (g->targets_named && g->flags[v] & PB_NODE_TARGET)
        pbi_out_text(out, ",target=true");
    if (g->inplace_start && g->inplace_start[v] < g->inplace_start[v + 1]) {
        pbi_out_text(out, ",inplace=");
        ok = ok &&
             write_list(out, g, g->inplace + g->inplace_start[v], g->inplace_start[v + 1] - g->inplace_start[v], list);
    }
    if (g->owner && g->owner[v] != PB_NO_NODE) {
        pbi_out_text(out, ",byproduct_of=");
        write_quoted(out, pb_graph_name(g, g->owner[v]));
    }
    if (g->group && g->group[v] != UINT32_MAX) {
        pbi_out_text(out, ",group=");
        write_quoted(out, g->group_names[g->group[v]]);
    }
    for (int which = PBI_WORK_FLOPS; which < PBI_WORK_KEEP && ok; which++)
        ok = write_work(out, g, v, (pbi_work_field)which, list);
    const char *recipes = NULL;
    ok = ok && pbi_recipes_text(out->ctx, g, v, list, &recipes);
    if (recipes) {
        pbi_out_text(out, ",recipes=");
        write_quoted(out, recipes);
    }
    pbi_out_text(out, "];\n");
    return ok;
}

static void write_graph_text(pbi_out *out, const char *key, const char *text)
{
    pbi_out_text(out, "  ");
    pbi_out_text(out, key);
    pbi_out_char(out, '=');
    write_quoted(out, text);
    pbi_out_text(out, ";\n");
}

static bool write_head(pbi_out *out, const pb_graph *g, pb_buffer *list)
{
    bool ok = true;
    pbi_out_text(out, "digraph ");
    if (*g->name) {
        write_quoted(out, g->name);
        pbi_out_char(out, ' ');
    }
    pbi_out_text(out, "{\n");
    write_graph_text(out, "cost_unit", g->cost_unit);
    write_graph_text(out, "size_unit", g->size_unit);
    if (g->fixed_size) {
        pbi_out_text(out, "  fixed_size=");
        pbi_out_u64(out, g->fixed_size);
        pbi_out_text(out, ";\n");
    }
    if (g->order_named && g->order_count) {
        pbi_out_text(out, "  order=");
        ok = write_list(out, g, g->order, g->order_count, list);
        pbi_out_text(out, ";\n");
    }
    const char *fixed, *machine;
    ok = ok && pbi_graph_fixed_text(g, list, &fixed);
    if (ok && fixed)
        write_graph_text(out, "fixed", fixed);
    ok = ok && pbi_graph_machine_text(out->ctx, g, list, &machine);
    if (ok && machine)
        write_graph_text(out, "machine", machine);
    return ok;
}

pb_status pbi_graph_dot_write(pb_context *ctx, const pb_graph *g, pb_sink sink)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pb_buffer list;
    pb_buffer_init(&list, &scratch);
    pbi_out out;
    pbi_out_init(&out, ctx, sink);
    bool ok = write_head(&out, g, &list);
    for (pb_node v = 0; v < g->node_count && ok; v++)
        ok = write_node(&out, g, v, &list);
    for (pb_node v = 0; v < g->node_count && ok; v++)
        for (uint32_t k = g->out_start[v]; k < g->out_start[v + 1]; k++) {
            pbi_out_text(&out, "  ");
            write_quoted(&out, pb_graph_name(g, v));
            pbi_out_text(&out, " -> ");
            write_quoted(&out, pb_graph_name(g, g->out[k]));
            pbi_out_text(&out, ";\n");
        }
    pbi_out_text(&out, "}\n");
    pb_status status = pbi_out_finish(&out);
    pb_arena_release(&scratch);
    return ok ? status : PB_ENOMEM;
}
