/* program_order.c -- see program_order.h: one pass over the order, counting the readers that remain. */
#include "engine/program_order.h"

#include "base/context.h"

#include <string.h>

typedef struct writer {
    const pb_graph *g;
    pb_moves *moves;
    uint32_t *readers; /* that are still to come */
    bool keep_all;
} writer;

static pb_status free_unread(writer *w, pb_node v)
{
    if (w->keep_all || w->readers[v] || (w->g->flags[v] & PB_NODE_KEEP))
        return PB_OK;
    return pb_moves_add(w->moves, PB_FREE, v, 0);
}

static pb_status write_node(writer *w, pb_node v)
{
    const pb_graph *g = w->g;
    uint32_t first = g->part_start ? g->part_start[v] : 0, end = g->part_start ? g->part_start[v + 1] : 0;
    pb_status status = pb_moves_add_compute(w->moves, v, PB_NO_NODE, g->part ? g->part + first : NULL, end - first);
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1] && status == PB_OK; k++) {
        w->readers[g->in[k]]--;
        status = free_unread(w, g->in[k]);
    }
    if (status == PB_OK)
        status = free_unread(w, v);
    for (uint32_t k = first; k < end && status == PB_OK; k++)
        status = free_unread(w, g->part[k]);
    return status;
}

static pb_status write_moves(const pb_graph *g, bool keep_all, pb_moves *moves, pb_arena *scratch)
{
    writer w = {.g = g, .moves = moves, .keep_all = keep_all};
    w.readers = pb_arena_alloc(scratch, (size_t)g->node_count + 1, sizeof *w.readers);
    if (!w.readers)
        return PB_ENOMEM;
    for (pb_node v = 0; v < g->node_count; v++)
        w.readers[v] = g->out_start[v + 1] - g->out_start[v];
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < g->order_count && status == PB_OK; i++)
        status = write_node(&w, g->order[i]);
    return status;
}

pb_status pbi_program_plan(pb_context *ctx, const pb_graph *g, bool keep_all, pb_arena *result,
                           const pb_certificate **out)
{
    pb_arena scratch;
    pb_verdict verdict;
    pb_game *game = pb_arena_alloc(result, 1, sizeof *game);
    pb_moves *moves = pb_arena_alloc(result, 1, sizeof *moves);
    if (!game || !moves)
        return PB_ENOMEM;
    *game = (pb_game){.graph = g, .kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    pb_moves_init(moves, result);
    pb_arena_init(&scratch, ctx);
    pb_status status = write_moves(g, keep_all, moves, &scratch);
    pb_arena_release(&scratch);
    if (status == PB_OK)
        status = pb_verify(ctx, game, moves, result, &verdict);
    if (status == PB_OK && !verdict.certificate) {
        char text[256];
        pb_verdict_text(game, moves, &verdict, text, sizeof text);
        status = pbi_fail(ctx, PB_EINVAL, "the program cannot run in program order: %s", text);
    }
    if (status == PB_OK)
        *out = verdict.certificate;
    return status;
}
