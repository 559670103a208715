/* certify_moves.c -- see certify_moves.h. */
#include "api/pipeline/certify_moves.h"

#include "api/pipeline/pipeline.h"

pb_status pbi_certify_moves(pb_context *ctx, const pb_game *game, const pb_request *request, const pbi_given *given,
                            pb_arena *result, pb_plan_result *out)
{
    pbi_job job;
    pb_request usual = PB_REQUEST_DEFAULT;
    const pb_strategy *row = pbi_strategy_with(PB_GAME_ALL, PB_HEURISTIC, PB_TRAIT_FILE | PB_TRAIT_MOVES, 0);
    pbi_spec spec = {.row = row, .given = given};
    pb_status status = pbi_job_init(&job, ctx, game->graph, request ? request : &usual);
    job.no_proofs = !request;
    return status == PB_OK ? pbi_plan_row(&job, game, &spec, result, out) : status;
}
