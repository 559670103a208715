/* cmd_explain.c -- pebble explain: why values are kept or recomputed. */
#include "certify.h"
#include "commands.h"
#include "common/output.h"

#include <stdio.h>

static exit_code unknown_node(app *a, const pb_graph *g, const char *name)
{
    const char *names[1024];
    uint32_t count = g->node_count < 1024 ? g->node_count : 1024;
    for (uint32_t v = 0; v < count; v++)
        names[v] = pb_graph_name(g, v);
    const char *near = nearest_name(name, names, count);
    if (near)
        return app_usage(a, "the graph has no node `%s`; did you mean %s?", name, near);
    return app_usage(a, "the graph has no node `%s`; `pebble export GRAPH --format csv` lists the nodes", name);
}

exit_code cmd_explain(app *a)
{
    certified c;
    pb_node node = PB_NO_NODE;
    int count = a->opts.positional_count;
    if (count != 2 && count != 3)
        return app_usage(
            a, "expected a graph, a schedule and optionally a node, as in pebble explain g.json plan.json conv3");
    exit_code code = certify(a, a->opts.positional[0], a->opts.positional[1], &c);
    if (code == EXIT_ILLEGAL && c.has_verdict)
        return app_fail(a, code, "%s: %s", a->opts.positional[1], c.judged.message);
    if (code != EXIT_DONE)
        return code;
    if (count == 3) {
        node = pb_graph_find(c.graph, a->opts.positional[2]);
        if (node == PB_NO_NODE)
            return unknown_node(a, c.graph, a->opts.positional[2]);
    }
    pb_sink sink = stream_sink(stdout);
    pb_status status = app_option(a, OPT_JSON) ? pb_explain_json(&a->ctx, c.judged.verdict.certificate, node, sink)
                                               : pb_explain_text(&a->ctx, c.judged.verdict.certificate, node, sink);
    return status == PB_OK || status == PB_EIO ? EXIT_DONE : app_status(a, status);
}
