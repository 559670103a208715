/* plan_dot.c -- the graph in DOT, each node coloured by the plan's treatment of its value. */
#include "pebble/report.h"

#include "base/out.h"
#include "report/walk.h"

typedef struct fate {
    uint32_t computed, stored;
    bool overwritten, removed;
} fate;

typedef struct paint {
    const char *fill, *text;
} paint;

enum { UNUSED, GIVEN, HELD, FREED, AGAIN, OFFLOADED, OVERWRITTEN, PAINT_COUNT };
static const paint paints[PAINT_COUNT] = {
    [UNUSED] = {"#ffffff", "not computed"},
    [GIVEN] = {"#d9d9d9", "given"},
    [HELD] = {"#b8e0c8", "computed once, kept"},
    [FREED] = {"#d4e6f7", "computed once, removed"},
    [AGAIN] = {"#f7c99b", "recomputed"},
    [OFFLOADED] = {"#d9c7ec", "moved to slow memory"},
    [OVERWRITTEN] = {"#f3e8a6", "overwritten in place"},
};

/* DOT strings escape the quote and the backslash only; line breaks would end the label's line. */
static void dot_text(pbi_out *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            pbi_out_char(out, '\\');
        pbi_out_char(out, *text == '\n' || *text == '\r' ? ' ' : *text);
    }
}

static int paint_of(const pb_graph *g, const fate *f, pb_node v)
{
    if (f[v].stored)
        return OFFLOADED;
    if (g->flags[v] & PB_NODE_GIVEN)
        return GIVEN;
    if (f[v].computed == 0)
        return UNUSED;
    if (f[v].computed > 1)
        return AGAIN;
    return f[v].overwritten ? OVERWRITTEN : f[v].removed ? FREED : HELD;
}

static fate *gather(pbi_walk *w, pb_arena *scratch)
{
    fate *fates = pb_arena_zero(scratch, w->graph->node_count, sizeof *fates);
    if (!fates)
        return NULL;
    while (pbi_walk_next(w)) {
        if (w->move.op == PB_COMPUTE)
            fates[w->move.node].computed++;
        for (uint32_t i = 0; i < w->also_count; i++)
            fates[w->also[i]].computed++;
        if (w->move.op == PB_STORE)
            fates[w->move.node].stored++;
        if (w->removes != PB_NO_NODE) {
            fates[w->removes].removed = true;
            fates[w->removes].overwritten |= w->move.op == PB_COMPUTE;
        }
    }
    return fates;
}

static void write_nodes(pbi_out *out, const pb_graph *g, const fate *fates, bool used[PAINT_COUNT])
{
    for (pb_node v = 0; v < g->node_count; v++) {
        int p = paint_of(g, fates, v);
        used[p] = true;
        pbi_out_format(out, "  n%u [label=\"", (unsigned)v);
        dot_text(out, pb_graph_name(g, v));
        if (fates[v].computed > 1)
            pbi_out_format(out, " ×%u", (unsigned)fates[v].computed);
        pbi_out_format(out, "\",fillcolor=\"%s\"%s];\n", paints[p].fill,
                       g->flags[v] & PB_NODE_TARGET ? ",peripheries=2" : "");
    }
    for (pb_node v = 0; v < g->node_count; v++)
        for (uint32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
            pbi_out_format(out, "  n%u -> n%u;\n", (unsigned)g->in[i], (unsigned)v);
    for (pb_node v = 0; g->owner && v < g->node_count; v++)
        if (g->owner[v] != PB_NO_NODE)
            pbi_out_format(out, "  n%u -> n%u [style=dotted,arrowhead=none];\n", (unsigned)g->owner[v], (unsigned)v);
}

static void write_legend(pbi_out *out, const bool used[PAINT_COUNT])
{
    pbi_out_text(out, "  subgraph cluster_legend {\n    label=\"what the plan does\"; style=rounded; color=gray;\n");
    for (int p = 0; p < PAINT_COUNT; p++)
        if (used[p])
            pbi_out_format(out, "    legend%d [label=\"%s\",fillcolor=\"%s\",shape=box];\n", p, paints[p].text,
                           paints[p].fill);
    pbi_out_text(out, "  }\n");
}

pb_status pb_plan_dot_write(pb_context *ctx, const pb_certificate *c, pb_sink sink)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_walk w;
    pb_status status = pbi_walk_init(&w, c, &scratch);
    fate *fates = status == PB_OK ? gather(&w, &scratch) : NULL;
    if (status == PB_OK && !fates)
        status = PB_ENOMEM;
    if (status == PB_OK) {
        pbi_out out;
        bool used[PAINT_COUNT] = {false};
        pbi_out_init(&out, ctx, sink);
        pbi_out_text(&out, "digraph \"");
        dot_text(&out, w.graph->name);
        pbi_out_text(&out, "\" {\n  node [shape=ellipse,style=filled,fontname=\"Helvetica\"];\n");
        write_nodes(&out, w.graph, fates, used);
        if (w.graph->node_count)
            write_legend(&out, used);
        pbi_out_text(&out, "}\n");
        status = pbi_out_finish(&out);
    }
    pb_arena_release(&scratch);
    return status;
}
