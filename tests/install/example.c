#include <pebble/full.h>
#include <stdio.h>

int main(void)
{
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    const pb_graph *g;
    uint64_t peak;
    pb_plan_result plan;
    if (pb_generate(&ctx, "adjoint-chain", NULL, 0, &arena, &g) != PB_OK ||
        pb_graph_program_peak(&ctx, g, &peak) != PB_OK)
        return fprintf(stderr, "%s\n", ctx.error.message), 1;
    pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .cap = peak / 2, .weights = PB_WEIGHTS_DEFAULT};
    if (pb_plan(&ctx, &game, &(pb_request){.seed = 1}, &arena, &plan) != PB_OK || !plan.certificate)
        return fprintf(stderr, "no plan: %s\n", ctx.error.message), 1;
    printf("half the memory costs %.1f %% more work\n", 100 * plan.schedule.metrics.overhead);
    pb_arena_release(&arena);
    return 0;
}
