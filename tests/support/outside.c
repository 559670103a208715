/* outside.c -- see outside.h. */
#include "support/outside.h"

#include <stdlib.h>

static void *counting_resize(void *state, void *block, size_t old_bytes, size_t new_bytes)
{
    outside *o = state;
    if (new_bytes == 0) {
        if (block) {
            o->live_blocks--;
            o->live_bytes -= old_bytes;
        }
        free(block);
        return NULL;
    }
    if (++o->requests == o->refuse_at)
        return NULL;
    void *moved = realloc(block, new_bytes);
    if (!moved)
        return NULL;
    o->live_blocks += !block;
    o->live_bytes += new_bytes - old_bytes;
    return moved;
}

static pb_stop counting_stop(void *state)
{
    outside *o = state;
    return ++o->polls == o->stop_at ? PB_STOP_INTERRUPT : PB_GO_ON;
}

void outside_context(pb_context *ctx, outside *o)
{
    pb_context_init(ctx);
    ctx->resize = counting_resize;
    ctx->allocator_state = o;
    ctx->callback_state = o;
    ctx->stop = counting_stop;
}
