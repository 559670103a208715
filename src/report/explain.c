/* explain.c -- collects the data of an explanation and writes it. */
#include "report/explain.h"

#include "base/context.h"

pb_status pbi_explain(pb_context *ctx, const pb_certificate *c, pb_node node, const pbi_explain_writer *writer,
                      pb_sink sink)
{
    pb_arena scratch;
    pbi_overview overview;
    pbi_story story;
    if (node != PB_NO_NODE && node >= pb_certificate_game(c)->graph->node_count)
        return pbi_fail(ctx, PB_EINVAL, "the graph has no node %u; indices count from 0", (unsigned)node);
    pb_arena_init(&scratch, ctx);
    pb_status status = node == PB_NO_NODE ? pbi_overview_make(ctx, c, writer->shares, &scratch, &overview)
                                          : pbi_story_make(ctx, c, node, &scratch, &story);
    if (status == PB_OK && node == PB_NO_NODE)
        status = pb_phases_make(ctx, c, &overview.phases);
    if (status == PB_OK) {
        pbi_out out;
        pbi_out_init(&out, ctx, sink);
        if (node == PB_NO_NODE)
            writer->overview(&out, &overview);
        else
            writer->story(&out, &story);
        status = pbi_out_finish(&out);
    }
    pb_arena_release(&scratch);
    return status;
}
