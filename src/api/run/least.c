/* least.c -- the smallest cap that a workload is known to run in: see run.h.
 *
 * A cap that is enough for the sizes of values may be too small for their addresses. So the cap that was found is
 * tried as in a run, and raised a little until it works.
 */
#include "pebble/run.h"

#include "api/pipeline/pipeline.h"
#include "api/pipeline/share.h"
#include "base/checked.h"
#include "base/context.h"

enum { TRIES = 8, TRY_TICKS = 20000 };

/* The cap to try after `cap`, if a plan needs `packed` for its addresses. */
static uint64_t next_cap(uint64_t cap, uint64_t packed)
{
    return packed > cap ? packed : pbi_add_saturated(cap, cap / 32 + 1);
}

/* Raises fact->cap until a plan with addresses fits it. */
static pb_status confirm(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                         pb_least_fact *fact)
{
    pb_game at = *game;
    pb_status status = PB_OK;
    bool fits = false;
    at.cap = fact->cap > game->cap ? fact->cap : game->cap + 1;
    for (int i = 0; i < TRIES && status == PB_OK && !fits; i++) {
        pb_plan_result planned;
        pb_packing packing = {.size = 0};
        ctx->tick_limit = TRY_TICKS;
        status = pb_run_plan_make(ctx, &at, request, result, &planned, &packing);
        fits = status == PB_OK && planned.certificate;
        if (fits) {
            fact->cap = at.cap;
            fact->strategy = planned.schedule.strategy;
        } else {
            at.cap = next_cap(at.cap, packing.size);
        }
    }
    fact->known = fits;
    if (!fits)
        fact->reason = "no plan was found whose addresses fit";
    return status;
}

pb_status pb_run_least(pb_context *ctx, const pb_game *game, bool infeasible, const pb_request *request,
                       pb_arena *result, const pb_least_fact **out)
{
    const pb_least_fact *found;
    pb_request plain = {.seed = request->seed, .threads = request->threads, .policy = request->policy};
    pb_status status = pbi_least_after(ctx, game, infeasible, request, result, &found);
    *out = NULL;
    if (status != PB_OK || !found)
        return status;
    pb_least_fact *fact = pb_arena_alloc(result, 1, sizeof *fact);
    if (!fact)
        return PB_ENOMEM;
    *fact = *found;
    if (fact->known) {
        uint64_t limit = ctx->tick_limit;
        pbi_overtime overtime; /* little effort, and the time limit may have passed */
        pbi_overtime_begin(&overtime, ctx, UINT64_MAX);
        status = confirm(ctx, game, &plain, result, fact);
        pbi_overtime_end(&overtime);
        ctx->tick_limit = limit;
    }
    if (status == PB_OK)
        *out = fact;
    return status;
}
