/* run_address.c -- plans whose addresses fit the cap, not only their sizes. */
#include "pebble/run.h"

#include "api/run_address.h"
#include "api/share.h"
#include "base/context.h"

#include <stdio.h>
#include <string.h>

enum { TRIES = 8, ALIGN = 64 };

/* Time that is up ends the search for plans, not what is done with the one that was found. */
pb_status pbi_address_plan(pb_context *ctx, const pb_certificate *plan, uint64_t cap, pb_arena *result, pb_packing *out)
{
    pb_arena scratch;
    pb_lifetimes lives;
    pbi_held held = pbi_hold(ctx);
    pb_arena_init(&scratch, ctx);
    pb_status status =
        pb_lifetimes_make(ctx, pb_certificate_game(plan), pb_certificate_moves(plan), ALIGN, &scratch, &lives);
    if (status == PB_OK)
        status = pb_pack(ctx, &lives, &(pb_pack_options){.cap = cap, .seed = 1}, result, out);
    pb_arena_release(&scratch);
    pbi_resume(ctx, held);
    return status;
}

/* No plan under a smaller cap is no proof for this one. */
static pb_status give_up(const pb_game *game, uint64_t least, pb_arena *result, pb_planned *out)
{
    char text[160];
    int length = snprintf(text, sizeof text, "plans fit the cap as sums of sizes, but their addresses need %llu bytes",
                          (unsigned long long)least);
    out->schedule.outcome = PB_GAVE_UP;
    out->schedule.cap = game->cap;
    out->schedule.reason = pb_arena_text(result, text, (size_t)length);
    out->certificate = NULL;
    return out->schedule.reason ? PB_OK : PB_ENOMEM;
}

static uint64_t now(const pb_context *ctx) { return ctx->clock_ns ? ctx->clock_ns(ctx->callback_state) : 0; }

/* A plan in half of the time that is left: the other half is for those that follow. Where it finds nothing in that, it gets
 * all of it. */
static pb_status plan_in_part(pb_context *ctx, const pb_game *game, const pb_request *request, uint64_t end_ns,
                              pb_arena *result, pb_planned *out)
{
    pbi_share share;
    pb_request part = *request;
    uint64_t left = end_ns > now(ctx) ? end_ns - now(ctx) : 1;
    if (!request->time_ns)
        return pb_plan(ctx, game, request, result, out);
    part.time_ns = left / 2;
    pb_status status = pb_plan(pbi_share_begin(&share, ctx, left / 2), game, &part, result, out);
    pbi_share_end(&share);
    if (status != PB_ECANCELLED || ctx->stopped != PB_GO_ON)
        return status;
    part.time_ns = end_ns > now(ctx) ? end_ns - now(ctx) : 1;
    return pb_plan(ctx, game, &part, result, out);
}

pb_status pb_run_plan_make(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                           pb_planned *out, pb_packing *packing)
{
    pb_game smaller = *game;
    uint64_t least = UINT64_MAX, end_ns = now(ctx) + request->time_ns;
    for (int i = 0; i < TRIES && (i == 0 || ctx->stopped == PB_GO_ON); i++) {
        pb_status status = plan_in_part(ctx, &smaller, request, end_ns, result, out);
        if (status == PB_OK && !out->certificate)
            return i ? give_up(game, least, result, out) : PB_OK;
        if (status == PB_ECANCELLED && i)
            return give_up(game, least, result, out);
        if (status == PB_OK)
            status = pbi_address_plan(ctx, out->certificate, game->cap, result, packing);
        if (status != PB_OK || packing->size <= game->cap)
            return status;
        least = packing->size < least ? packing->size : least;
        uint64_t less = packing->size - game->cap, peak = out->schedule.metrics.peak;
        smaller.cap = peak < smaller.cap ? peak : smaller.cap;
        smaller.cap = smaller.cap > less ? smaller.cap - less : 0;
    }
    return give_up(game, least, result, out);
}
