/* back_to_back.c -- a plan of the remat game, one move after the other.
 *
 * Problem     the timed game without any transfer: recomputation alone.
 * Idea        the moves of the best plan of the remat game on the first processor, each starting when the one before
 *             ends. Memory during each move is the same, so the peak is, too.
 * Invariants  the processor is never idle.
 * Cost        that of planning in the remat game.
 * Source      folklore; the baseline that offloading has to beat.
 * Limits      one processor, and nothing is copied: values cannot start or be kept in another memory.
 */
#include "base/context.h"
#include "plan/strategy.h"

pb_status pbi_plan_back_to_back(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    const pb_timing *t = game->timing;
    const pb_moves *moves = options->sequential_fits ? &options->sequential[0] : NULL;
    uint32_t memory = t->machine->processors[0].memory;
    uint64_t now = 0;
    pb_status status = PB_OK;
    if (!moves)
        return pbi_plan_give_up(plan, "no plan of the remat game fits on the first processor alone");
    for (pb_step k = 0; k < moves->count && status == PB_OK; k++) {
        const pb_move *move = &moves->move[k];
        bool compute = move->op == PB_COMPUTE;
        uint32_t count;
        const pb_node *also = pb_moves_also(moves, k, &count);
        uint32_t recipe = move->by ? t->graph->recipe_start[move->node] + move->by - 1 : 0;
        uint64_t time = move->by ? t->recipe[recipe] : t->duration[move->node];
        if (compute && time == PB_NO_TIME)
            return pbi_plan_give_up(plan, "does not apply: the first processor cannot compute every node");
        status = move->by  ? pb_moves_add_recipe(&plan->moves, move->node, move->by, pb_moves_over(moves, k))
                 : compute ? pb_moves_add_compute(&plan->moves, move->node, pb_moves_over(moves, k), also, count)
                           : pb_moves_add(&plan->moves, PB_FREE, move->node, 0);
        if (status == PB_OK)
            status = pb_moves_set_when(&plan->moves, compute ? 0 : memory, now);
        if (status == PB_OK)
            status = pbi_tick(ctx, 1);
        now += compute ? time : 0;
    }
    if (status == PB_OK)
        plan->outcome = PB_FOUND;
    return status;
}
