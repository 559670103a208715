/* share.c -- see share.h. */
#include "api/share.h"

static pb_stop share_stop(void *state)
{
    pbi_share *s = state;
    pb_context *whole = s->whole;
    if (whole->stopped == PB_GO_ON && whole->stop)
        whole->stopped = whole->stop(whole->callback_state);
    if (whole->stopped != PB_GO_ON)
        return whole->stopped;
    return whole->clock_ns(whole->callback_state) >= s->end_ns ? PB_STOP_TIME : PB_GO_ON;
}

static void share_progress(void *state, const char *what, uint64_t done, uint64_t total)
{
    const pb_context *whole = ((pbi_share *)state)->whole;
    if (whole->progress)
        whole->progress(whole->callback_state, what, done, total);
}

static void share_log(void *state, const char *message)
{
    const pb_context *whole = ((pbi_share *)state)->whole;
    if (whole->log)
        whole->log(whole->callback_state, message);
}

static uint64_t share_clock(void *state)
{
    const pb_context *whole = ((pbi_share *)state)->whole;
    return whole->clock_ns(whole->callback_state);
}

pb_context *pbi_share_begin(pbi_share *share, pb_context *ctx, uint64_t time_ns)
{
    *share = (pbi_share){.whole = ctx, .used = ctx->memory_used};
    if (!time_ns || !ctx->clock_ns)
        return ctx;
    uint64_t now = ctx->clock_ns(ctx->callback_state);
    share->end_ns = now > UINT64_MAX - time_ns ? UINT64_MAX : now + time_ns;
    share->part = *ctx;
    share->part.stop = share_stop;
    share->part.progress = share_progress;
    share->part.log = share_log;
    share->part.clock_ns = share_clock;
    share->part.callback_state = share;
    return &share->part;
}

void pbi_share_end(pbi_share *share)
{
    pb_context *whole = share->whole;
    if (!share->end_ns)
        return;
    whole->memory_used += share->part.memory_used - share->used; /* arenas of the whole have counted there meanwhile */
    whole->memory_peak = share->part.memory_peak > whole->memory_peak ? share->part.memory_peak : whole->memory_peak;
    whole->ticks = share->part.ticks;
    whole->error = share->part.error;
}
