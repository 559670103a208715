/* plan_a_graph.c -- reads a graph, plans it in half of its peak in program order, prints the moves to carry out. */
#include <pebble/full.h>
#include <stdio.h>

static pb_status read_input(void *state, char *bytes, size_t room, size_t *got)
{
    *got = fread(bytes, 1, room, state);
    return ferror((FILE *)state) ? PB_EIO : PB_OK;
}

int main(void)
{
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    const pb_graph *g;
    uint64_t whole;
    pb_plan_result plan = {0};
    pb_status status = pb_graph_read(&ctx, (pb_source){read_input, stdin}, PB_FORMAT_AUTO, NULL, &arena, &g);
    if (status == PB_OK)
        status = pb_graph_program_peak(&ctx, g, &whole);
    if (status == PB_OK) {
        pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .cap = whole / 2, .weights = PB_WEIGHTS_DEFAULT};
        status = pb_plan(&ctx, &game, &(pb_request){.strategy = "auto", .seed = 1}, &arena, &plan);
    }
    if (plan.certificate) { /* the verifier has replayed it: safe to carry out */
        for (pb_step k = 0; k < plan.schedule.moves.count; k++) {
            const pb_move *move = &plan.schedule.moves.move[k];
            printf("%s %s\n", pb_op_name((pb_op)move->op), pb_graph_name(g, move->node));
        }
    } else { /* an error, or an answer without a plan */
        fprintf(stderr, "no plan: %s\n", status == PB_OK ? plan.schedule.reason : ctx.error.message);
    }
    pb_arena_release(&arena);
    return plan.certificate ? 0 : 1;
}
