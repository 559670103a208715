/* share.h -- a part of the time for one step of the pipeline.
 *
 *     pbi_share share;
 *     pb_context *part = pbi_share_begin(&share, ctx, time_ns / 2);
 *     ... a call with `part`, whose own arenas are all released when it returns; arenas of `ctx` may be passed to it ...
 *     pbi_share_end(&share);
 */
#ifndef PBI_SHARE_H
#define PBI_SHARE_H

#include "pebble/base.h"

typedef struct pbi_share {
    pb_context part; /* the same memory, ticks and callbacks, but stops sooner */
    pb_context *whole;
    uint64_t end_ns;
    size_t used; /* memory when it began */
} pbi_share;

/* A context that stops `time_ns` from now at the latest; `ctx` itself where that is 0 or there is no clock. */
pb_context *pbi_share_begin(pbi_share *share, pb_context *ctx, uint64_t time_ns);
/* What was counted goes back to the whole. A stop does too, unless it was only the end of the share. */
void pbi_share_end(pbi_share *share);

#endif
