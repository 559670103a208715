/* context.h -- reporting errors, counting ticks, stopping on request. */
#ifndef PBI_CONTEXT_H
#define PBI_CONTEXT_H

#include "pebble/base.h"

/* Writes ctx->error (printf style, without line and column) and returns `status`. The message ends with what to do
 * next; for PB_EBUG a request to report it is added. */
pb_status pbi_fail(pb_context *ctx, pb_status status, const char *format, ...);
/* The same with line and column. */
pb_status pbi_fail_at(pb_context *ctx, pb_status status, uint64_t line, uint64_t column, const char *format, ...);

/* The end of messages about memory that ran out. */
#define PBI_FREE_MEMORY "; free memory on this machine, or use a smaller graph"

/* Whether a stop was requested: PB_OK or PB_ECANCELLED. Cheap, but a call: poll every thousand steps or so. */
pb_status pbi_poll(pb_context *ctx);
/* Spends planning effort: PB_OK, PB_ELIMIT past the tick limit, PB_ECANCELLED. Ticks are deterministic: count the
 * same for the same input. */
pb_status pbi_tick(pb_context *ctx, uint64_t ticks);

/* Between hold and resume no stop is reported and no ticks run out: to finish and verify the best plan so far after
 * a stop. */
typedef struct pbi_held {
    pb_stop (*stop)(void *state);
    pb_stop stopped;
    uint64_t tick_limit;
} pbi_held;
pbi_held pbi_hold(pb_context *ctx);
void pbi_resume(pb_context *ctx, pbi_held held);

void pbi_progress(pb_context *ctx, const char *what, uint64_t done, uint64_t total);

#endif
