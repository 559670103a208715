/* context.c -- see context.h. */
#include "base/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *pb_status_text(pb_status status)
{
    static const char *const texts[] = {
#define PB_STATUS(code, text) text,
#include "pebble/status.def"
#undef PB_STATUS
    };
    return (unsigned)status < PB_STATUS_COUNT ? texts[status] : "unknown status";
}

static void write_error(pb_context *ctx, uint64_t line, uint64_t column, const char *format, va_list args)
{
    char message[sizeof ctx->error.message]; /* names in it come from files */
    vsnprintf(message, sizeof message, format, args);
    pb_plain_text(message, ctx->error.message, sizeof ctx->error.message);
    ctx->error.line = line;
    ctx->error.column = column;
}

/* At the end of the message, which may be one that is passed on and has it already. */
static void ask_for_report(pb_error *error)
{
    static const char request[] = "; this is a bug in pebble: please report it with the command and its files";
    char message[sizeof error->message];
    memcpy(message, error->message, sizeof message);
    if (strstr(message, request))
        return;
    pb_plain_text(message, error->message, sizeof error->message - strlen(request)); /* cuts between characters */
    memcpy(error->message + strlen(error->message), request, sizeof request);
}

pb_status pbi_fail(pb_context *ctx, pb_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_error(ctx, 0, 0, format, args);
    va_end(args);
    if (status == PB_EBUG)
        ask_for_report(&ctx->error);
    return status;
}

pb_status pbi_fail_at(pb_context *ctx, pb_status status, uint64_t line, uint64_t column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_error(ctx, line, column, format, args);
    va_end(args);
    return status;
}

pb_status pbi_poll(pb_context *ctx)
{
    if (ctx->stopped == PB_GO_ON && ctx->stop)
        ctx->stopped = ctx->stop(ctx->callback_state);
    if (ctx->stopped == PB_GO_ON)
        return PB_OK;
    return pbi_fail(ctx, PB_ECANCELLED,
                    ctx->stopped == PB_STOP_TIME ? "the time limit was reached; allow more time" : "interrupted");
}

pb_status pbi_tick(pb_context *ctx, uint64_t ticks)
{
    ctx->ticks += ticks;
    if (ctx->tick_limit && ctx->ticks > ctx->tick_limit)
        return pbi_fail(ctx, PB_ELIMIT, "the limit of %llu ticks was reached; allow more ticks",
                        (unsigned long long)ctx->tick_limit);
    return pbi_poll(ctx);
}

pbi_held pbi_hold(pb_context *ctx)
{
    pbi_held held = {ctx->stop, ctx->stopped, ctx->tick_limit};
    ctx->stop = NULL;
    ctx->stopped = PB_GO_ON;
    ctx->tick_limit = 0;
    return held;
}

void pbi_resume(pb_context *ctx, pbi_held held)
{
    ctx->stop = held.stop;
    ctx->stopped = held.stopped;
    ctx->tick_limit = held.tick_limit;
}

void pbi_progress(pb_context *ctx, const char *what, uint64_t done, uint64_t total)
{
    if (ctx->progress)
        ctx->progress(ctx->callback_state, what, done, total);
}
