/* decisions.c -- a plan as the list of decisions that differ from computing each value once and keeping it. */
#include "pebble/report.h"

#include "base/out.h"
#include "report/timed_walk.h"
#include "report/walk.h"

/* Names may be long: they are not passed through a format. */
static void write_name(pbi_out *out, const char *before, const pbi_walk *w, pb_node v)
{
    pbi_out_text(out, before);
    pbi_out_plain(out, pb_graph_name(w->graph, v));
}

static void after_what(pbi_out *out, const pbi_walk *w, pb_node last)
{
    if (last == PB_NO_NODE)
        pbi_out_text(out, " at the start");
    else
        write_name(out, " after ", w, last);
}

/* ", compute X again before Z" */
static void again_before(pbi_out *out, const pbi_walk *w, const pbi_links *links, pb_step again)
{
    const pb_move *make = &w->moves->move[again];
    write_name(out, make->op == PB_LOAD ? ", load " : ", recompute ", w, make->node);
    pbi_recipe_text(out, w->graph, make);
    if (links->use[again] != PBI_NO_STEP) {
        const pb_move *use = &w->moves->move[links->use[again]];
        write_name(out, use->op == PB_UNCOMPUTE ? " before uncomputing " : " before ", w, use->node);
    }
}

static void write_decision(pbi_out *out, const pbi_walk *w, const pbi_links *links, pb_node last)
{
    static const char *const verbs[] = {
        [PB_COMPUTE] = "overwrite ", [PB_UNCOMPUTE] = "uncompute ", [PB_FREE] = "free ",
        [PB_STORE] = "store ",       [PB_LOAD] = "load ",           [PB_DROP] = "drop "};
    pb_op op = (pb_op)w->move.op;
    if (op == PB_COMPUTE && w->removes == PB_NO_NODE)
        return;
    write_name(out, verbs[op], w, op == PB_COMPUTE ? w->removes : w->move.node);
    if (op == PB_COMPUTE)
        write_name(out, " with ", w, w->move.node);
    else if (op == PB_STORE || op == PB_LOAD || op == PB_DROP)
        pbi_out_format(out, " %s tier %u", op == PB_STORE ? "in" : "from", (unsigned)w->move.tier);
    after_what(out, w, last);
    if (w->removes != PB_NO_NODE && links->again[w->step] != PBI_NO_STEP)
        again_before(out, w, links, links->again[w->step]);
    else if (op == PB_LOAD && links->use[w->step] != PBI_NO_STEP)
        write_name(out, ", before ", w, w->moves->move[links->use[w->step]].node);
    pbi_out_char(out, '\n');
}

pb_status pb_decisions_write(pb_context *ctx, const pb_certificate *c, pb_sink sink)
{
    if (pb_certificate_game(c)->kind == PB_GAME_TIMED)
        return pbi_timed_decisions(ctx, c, sink);
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_walk w;
    pbi_links links;
    pb_status status = pbi_walk_init(&w, c, &scratch);
    if (status == PB_OK)
        status = pbi_links_make(ctx, c, &scratch, &links);
    if (status == PB_OK) {
        pbi_out out;
        pbi_out_init(&out, ctx, sink);
        pb_node last = PB_NO_NODE; /* the value computed last: the position in the program */
        while (pbi_walk_next(&w)) {
            write_decision(&out, &w, &links, last);
            if (w.move.op == PB_COMPUTE)
                last = w.move.node;
        }
        status = pbi_out_finish(&out);
    }
    pb_arena_release(&scratch);
    return status;
}
