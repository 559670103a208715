/* solver_program.c -- Checkmate's program for other solvers: written, and a solution read back as a verified plan. */
#include "api/pipeline/certify_moves.h"
#include "base/context.h"
#include "plan/milp/program_write.h"

#include <string.h>

static pb_status check_game(pb_context *ctx, const pb_game *game)
{
    const char *misfit = pbi_staged_misfit(game);
    if (game->kind != PB_GAME_REMAT || game->borrow)
        return pbi_fail(ctx, PB_EINVAL, "the program is for the remat game without borrowed memory; use --game remat");
    if (misfit)
        return pbi_fail(ctx, PB_EINVAL, "the program cannot express this graph: %s", misfit);
    if (game->cap == PB_UNLIMITED)
        return pbi_fail(ctx, PB_EINVAL, "the program needs a cap; without one, program order is optimal");
    return PB_OK;
}

pb_status pb_program_write(pb_context *ctx, const pb_game *game, pb_program_form form, pb_sink sink)
{
    pb_arena scratch;
    pbi_staged m;
    pb_status status = check_game(ctx, game);
    if (status != PB_OK)
        return status;
    pb_arena_init(&scratch, ctx);
    status = pbi_staged_init(&m, ctx, game, (double)game->cap, &scratch);
    if (status == PB_OK)
        status = pbi_staged_write(ctx, &m, form == PB_PROGRAM_LP, sink);
    pb_arena_release(&scratch);
    return status;
}

/* The moves of the solution, in the arena of `plan`. */
static pb_status solution_moves(pb_context *ctx, const pb_game *game, const pb_file_text *file, pbi_plan *plan,
                                pbi_figures *figures)
{
    pb_arena scratch;
    pbi_staged m;
    pbi_sequence s;
    pb_game open = *game;
    double *x = NULL;
    open.cap = PB_UNLIMITED;
    pb_arena_init(&scratch, ctx);
    pb_status status = pbi_staged_init(&m, ctx, game, (double)game->cap, &scratch);
    if (status == PB_OK)
        x = pb_arena_alloc(&scratch, m.program.columns + 1, sizeof *x);
    if (status == PB_OK && !x)
        status = PB_ENOMEM;
    if (status == PB_OK)
        status = pbi_staged_read(ctx, &m, file->text, file->length, x);
    pbi_sequence_init(&s, &scratch);
    if (status == PB_OK)
        status = pbi_staged_sequence(&m, x, &s);
    if (status == PB_OK)
        status = pbi_sequence_emit(ctx, &open, &s, plan, figures);
    pb_arena_release(&scratch);
    return status;
}

pb_status pb_solution_plan(pb_context *ctx, const pb_game *game, const pb_request *request, const pb_file_text *file,
                           pb_arena *result, pb_plan_result *out)
{
    pbi_plan plan;
    pbi_figures figures;
    char need[64], cap[64];
    pb_status status = check_game(ctx, game);
    pbi_plan_reset(&plan, result);
    if (status == PB_OK)
        status = solution_moves(ctx, game, file, &plan, &figures);
    if (status != PB_OK)
        return status;
    pb_amount_text(figures.peak, game->graph->size_unit, need, sizeof need);
    pb_amount_text(game->cap, game->graph->size_unit, cap, sizeof cap);
    if (figures.overflow || figures.peak > game->cap)
        return pbi_fail(
            ctx, PB_EFORMAT,
            "the plan of this solution needs %s, the cap is %s: it is not a solution of the program of this "
            "graph and cap, or was rounded; export it again with a slightly smaller cap",
            need, cap);
    pbi_given given = {.name = file->name, .moves = &plan.moves, .game = game->kind, .peak = figures.peak};
    return pbi_certify_moves(ctx, game, request, &given, result, out);
}
