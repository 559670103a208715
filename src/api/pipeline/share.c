/* share.c -- see share.h. */
#include "api/pipeline/share.h"

#include "base/checked.h"

static pb_stop share_stop(void *state)
{
    pbi_share *s = state;
    const pb_context *whole = &s->whole;
    pb_stop stopped = whole->stop ? whole->stop(whole->callback_state) : PB_GO_ON;
    if (stopped == PB_GO_ON)
        return whole->clock_ns(whole->callback_state) >= s->end_ns ? PB_STOP_TIME : PB_GO_ON;
    atomic_store(&s->stopped, (int)stopped);
    return stopped;
}

static void share_progress(void *state, const char *what, uint64_t done, uint64_t total)
{
    const pb_context *whole = &((pbi_share *)state)->whole;
    if (whole->progress)
        whole->progress(whole->callback_state, what, done, total);
}

static void share_log(void *state, const char *message)
{
    const pb_context *whole = &((pbi_share *)state)->whole;
    if (whole->log)
        whole->log(whole->callback_state, message);
}

static uint64_t share_clock(void *state)
{
    const pb_context *whole = &((pbi_share *)state)->whole;
    return whole->clock_ns(whole->callback_state);
}

void pbi_share_begin(pbi_share *share, pb_context *ctx, uint64_t time_ns)
{
    share->ctx = ctx;
    share->whole = *ctx;
    share->end_ns = 0;
    atomic_init(&share->stopped, (int)ctx->stopped);
    if (!time_ns || !ctx->clock_ns)
        return;
    uint64_t now = ctx->clock_ns(ctx->callback_state);
    share->end_ns = now > UINT64_MAX - time_ns ? UINT64_MAX : now + time_ns;
    ctx->stop = share_stop;
    ctx->progress = share_progress;
    ctx->log = share_log;
    ctx->clock_ns = share_clock;
    ctx->callback_state = share;
}

void pbi_share_end(pbi_share *share)
{
    pb_context *ctx = share->ctx;
    const pb_context *whole = &share->whole;
    if (!share->end_ns)
        return;
    ctx->stop = whole->stop;
    ctx->progress = whole->progress;
    ctx->log = whole->log;
    ctx->clock_ns = whole->clock_ns;
    ctx->callback_state = whole->callback_state;
    ctx->stopped = (pb_stop)atomic_load(&share->stopped);
}

/* Ignores that the caller's time is over, until the overtime is over, too. An interruption still stops. */
static pb_stop overtime_stop(void *state)
{
    const pbi_overtime *o = state;
    pb_stop stopped = o->whole.stop ? o->whole.stop(o->whole.callback_state) : PB_GO_ON;
    if (stopped != PB_STOP_TIME || o->end_ns == UINT64_MAX)
        return stopped == PB_STOP_TIME ? PB_GO_ON : stopped;
    return !o->whole.clock_ns || o->whole.clock_ns(o->whole.callback_state) >= o->end_ns ? PB_STOP_TIME : PB_GO_ON;
}

static uint64_t overtime_clock(void *state)
{
    const pb_context *whole = &((pbi_overtime *)state)->whole;
    return whole->clock_ns(whole->callback_state);
}

void pbi_overtime_begin(pbi_overtime *overtime, pb_context *ctx, uint64_t time_ns)
{
    uint64_t now = ctx->clock_ns ? ctx->clock_ns(ctx->callback_state) : 0;
    *overtime = (pbi_overtime){.ctx = ctx, .whole = *ctx, .end_ns = pbi_add_saturated(now, time_ns)};
    ctx->stop = overtime_stop;
    ctx->clock_ns = ctx->clock_ns ? overtime_clock : NULL;
    ctx->progress = NULL;
    ctx->log = NULL;
    ctx->callback_state = overtime;
    if (ctx->stopped == PB_STOP_TIME)
        ctx->stopped = PB_GO_ON;
}

void pbi_overtime_end(pbi_overtime *overtime)
{
    pb_context *ctx = overtime->ctx;
    const pb_context *whole = &overtime->whole;
    bool interrupted = ctx->stopped == PB_STOP_INTERRUPT;
    ctx->stop = whole->stop;
    ctx->clock_ns = whole->clock_ns;
    ctx->progress = whole->progress;
    ctx->log = whole->log;
    ctx->callback_state = whole->callback_state;
    ctx->stopped = interrupted ? PB_STOP_INTERRUPT : whole->stopped;
}
