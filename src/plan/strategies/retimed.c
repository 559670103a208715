/* retimed.c -- a plan of the tiered game, whose transfers then overlap computation.
 *
 * Problem     the tiered game plans recomputation and offloading together, but adds the time of transfers to that of
 *             computing.
 * Idea        the computations of such a plan in their order; what it loads before a computation is fetched for it, as
 *             early as there is room.
 * Invariants  what is computed, and in which order, is that of the tiered plan.
 * Cost        that of planning in the tiered game.
 * Source      folklore.
 * Limits      the tiered plan avoids transfers that would cost nothing when they overlap.
 */
#include "plan/lanes/lanes.h"

#include "base/context.h"

pb_status pbi_plan_retimed(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    pb_arena scratch;
    pbi_lanes l;
    pbi_lanes_plan p;
    bool applies;
    if (!options->tiered)
        return pbi_plan_give_up(plan, "no plan of the tiered game fits the first processor's memory");
    pb_arena_init(&scratch, ctx);
    pb_status status = pbi_lanes_init(&l, game, &scratch, plan, &applies);
    if (status == PB_OK && applies && !pbi_lanes_new(&l, &scratch, &p))
        status = PB_ENOMEM;
    if (status == PB_OK && applies) {
        bool fits = pbi_lanes_take(&l, options->tiered, &p) && pbi_lanes_sweep(&l, &p, PBI_RELIEF_FETCH, &scratch) &&
                    pbi_lanes_decode(&l, &p, NULL, NULL) != UINT64_MAX;
        status = fits ? pbi_lanes_emit(&l, &p, plan) : pbi_plan_give_up(plan, "the tiered plan has no overlapped form");
    }
    pb_arena_release(&scratch);
    return status;
}
