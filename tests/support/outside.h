/* outside.h -- the world around a context: an allocator that counts and refuses one request, a stop at one poll.
 *
 *     outside o = {.refuse_at = 7};
 *     pb_context ctx;
 *     outside_context(&ctx, &o);
 */
#ifndef OUTSIDE_H
#define OUTSIDE_H

#include "pebble/base.h"

typedef struct outside {
    size_t live_blocks, live_bytes;
    uint64_t requests, refuse_at; /* requests for more memory; 0: none is refused */
    uint64_t polls, stop_at;      /* 0: never */
} outside;

/* A fresh context in this world; `o` must outlive it. */
void outside_context(pb_context *ctx, outside *o);

#endif
