/* share.h -- a part of the time for one step of the pipeline, or extra time after the end.
 *
 *     pbi_share share;
 *     pbi_share_begin(&share, ctx, time_ns / 2);
 *     ... calls with `ctx`, which stops sooner ...
 *     pbi_share_end(&share);
 */
#ifndef PBI_API_PIPELINE_SHARE_H
#define PBI_API_PIPELINE_SHARE_H

#include "pebble/base.h"

#include <stdatomic.h>

typedef struct pbi_share {
    pb_context *ctx;
    pb_context whole; /* a copy from before: its callbacks, and whether it was stopped */
    uint64_t end_ns;
    atomic_int stopped; /* the stop that the caller has asked for since; set from several threads */
} pbi_share;

/* From now on `ctx` stops after `time_ns` at the latest. If that is 0, or there is no clock, nothing changes. */
void pbi_share_begin(pbi_share *share, pb_context *ctx, uint64_t time_ns);
/* Clears a stop that was only the end of the share. */
void pbi_share_end(pbi_share *share);

/* After the time is over: `ctx` continues for `time_ns`, or without a limit if that is UINT64_MAX. An interruption
 * still stops it. Progress and messages are not reported meanwhile. */
typedef struct pbi_overtime {
    pb_context *ctx;
    pb_context whole;
    uint64_t end_ns;
} pbi_overtime;
void pbi_overtime_begin(pbi_overtime *overtime, pb_context *ctx, uint64_t time_ns);
void pbi_overtime_end(pbi_overtime *overtime);

#endif
