/* address.c -- plans whose addresses fit the cap, not only their sizes. */
#include "pebble/run.h"

#include "api/pipeline/pipeline.h"
#include "api/pipeline/share.h"
#include "api/run/address.h"
#include "base/context.h"

#include <stdio.h>
#include <string.h>

enum { QUICK_TICKS = 5000 };

/* A time limit ends the search for plans, but not the packing of the plan that was found. */
pb_status pbi_address_plan(pb_context *ctx, const pb_certificate *plan, uint64_t cap, pb_arena *result, pb_packing *out)
{
    pb_arena scratch;
    pb_lifetimes lives;
    pbi_held held = pbi_hold(ctx);
    pb_arena_init(&scratch, ctx);
    pb_status status = pb_lifetimes_make(ctx, pb_certificate_game(plan), pb_certificate_moves(plan), PB_ALIGN_DEFAULT,
                                         &scratch, &lives);
    if (status == PB_OK)
        status = pb_pack(ctx, &lives, &(pb_pack_options){.cap = cap, .seed = 1}, result, out);
    pb_arena_release(&scratch);
    pbi_resume(ctx, held);
    return status;
}

/* Infeasibility under a smaller cap proves nothing for this one. */
static pb_status give_up(const pb_game *game, uint64_t least, pb_arena *result, pb_plan_result *out)
{
    char text[300], need[100], cap[100];
    pb_amount_text(least, "byte", need, sizeof need);
    pb_amount_text(game->cap, "byte", cap, sizeof cap);
    int length =
        snprintf(text, sizeof text, "the sizes of the plans fit the cap of %s, but their addresses need %s", cap, need);
    out->schedule.outcome = PB_GAVE_UP;
    out->schedule.cap = game->cap;
    out->schedule.reason = pb_arena_text(result, text, (size_t)length);
    out->certificate = NULL;
    return out->schedule.reason ? PB_OK : PB_ENOMEM;
}

/* Presents the plan as one for the whole cap: proofs for less memory do not apply. */
static pb_status take(pb_context *ctx, const pb_game *game, const pb_schedule *first, pb_plan_result *now,
                      pb_arena *result, pb_plan_result *out)
{
    pb_game whole;
    char note[600];
    if (now->schedule.cap != game->cap)
        pbi_result_restate(now, game, first, &whole, note, sizeof note);
    return pbi_result_copy(ctx, now, result, out);
}

/* Quick plans for the cap itself, if there was no time for one, and for much smaller caps, even after the time
 * limit: unused memory is better than no plan that fits. made->fits stays false if none fits. */
static pb_status last_resort(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                             pb_addressed *made)
{
    static const uint64_t shares[] = {100, 95, 90, 84, 77, 69, 60, 50}; /* percent */
    const pb_schedule first = made->planned.schedule;
    pb_game smaller = *game;
    pb_request quick = *request;
    pb_status status = PB_OK;
    quick.time_ns = 0;
    quick.patient = false;
    pbi_overtime overtime;
    uint64_t limit = ctx->tick_limit;
    pbi_overtime_begin(&overtime, ctx, UINT64_MAX);
    size_t i = made->planned.certificate ? 1 : 0;
    for (; i < sizeof shares / sizeof *shares && status == PB_OK && !made->fits; i++) {
        pb_plan_result now;
        pb_packing places;
        smaller.cap = shares[i] == 100 ? game->cap : game->cap / 100 * shares[i];
        ctx->tick_limit = QUICK_TICKS;
        if (game->kind == PB_GAME_TIMED && pb_game_with_cap(result, &smaller, smaller.cap) != PB_OK)
            return PB_ENOMEM;
        status = pb_plan(ctx, &smaller, &quick, result, &now);
        if (status != PB_OK || !now.certificate)
            break;
        status = pbi_address_plan(ctx, now.certificate, game->cap, result, &places);
        made->fits = status == PB_OK && places.size <= game->cap;
        if (made->fits) {
            made->packing = places;
            ctx->tick_limit = 0;
            status = take(ctx, game, &first, &now, result, &made->planned);
        }
    }
    pbi_overtime_end(&overtime);
    ctx->tick_limit = limit;
    return status;
}

pb_status pb_run_plan_make(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                           pb_plan_result *out, pb_packing *packing)
{
    pb_addressed made;
    pb_status status = pb_plan_addressed(ctx, game, request, PB_ALIGN_DEFAULT, result, &made);
    if (status != PB_OK)
        return status;
    bool any = made.planned.certificate != NULL;
    bool late = !any && made.planned.schedule.outcome == PB_GAVE_UP && request->time_ns;
    bool search = !made.fits && (any || late);
    if (search && ctx->stopped != PB_STOP_INTERRUPT)
        status = last_resort(ctx, game, request, result, &made);
    if (status == PB_OK && search && !made.fits && !late)
        status = give_up(game, made.packing.size, result, &made.planned);
    if (status == PB_OK) {
        *out = made.planned;
        *packing = made.packing;
    }
    return status;
}
