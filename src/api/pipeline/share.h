/* share.h -- a part of the time for one step of the pipeline.
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
    pb_context whole; /* its callbacks, and whether it had been stopped, before */
    uint64_t end_ns;
    atomic_int stopped; /* what the whole said since; asked by several threads */
} pbi_share;

/* From now on `ctx` stops after `time_ns` at the latest; as before where that is 0 or there is no clock. */
void pbi_share_begin(pbi_share *share, pb_context *ctx, uint64_t time_ns);
/* A stop is forgotten if it was only the end of the share. */
void pbi_share_end(pbi_share *share);

#endif
