/* slow_measure.c -- the cost of a slow tier: medians of stores and loads of two sizes, and the line through them. */
#include "engine/slow.h"
#include "pebble/engine.h"

#include "base/context.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL = PBI_SLOW_UNIT, LARGE = 1 << 24, MIN_LARGE = 1 << 16, SMALL_TIMES = 31, LARGE_TIMES = 7 };

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

typedef struct trial {
    pb_context *ctx;
    pbi_slow *slow;
    unsigned char *memory;
} trial;

static pb_status once(trial *t, bool store, uint64_t bytes, uint64_t *sum, uint64_t *ns)
{
    pbi_transfer one = {.memory = t->memory, .bytes = bytes, .store = store, .sum = *sum};
    uint64_t from = t->ctx->clock_ns(t->ctx->callback_state);
    pbi_slow_begin(t->slow, &one);
    pbi_slow_wait(t->slow, &one);
    *ns = t->ctx->clock_ns(t->ctx->callback_state) - from;
    *sum = one.sum;
    return pbi_slow_judge(t->ctx, t->slow, &one, "a value of zeros");
}

/* Medians of `times` stores and as many loads. */
static pb_status medians(trial *t, uint64_t bytes, int times, uint64_t *store_ns, uint64_t *load_ns)
{
    uint64_t stores[SMALL_TIMES], loads[SMALL_TIMES], sum = 0;
    pb_status status = PB_OK;
    for (int i = 0; i < times && status == PB_OK; i++) {
        status = once(t, true, bytes, &sum, &stores[i]);
        if (status == PB_OK)
            status = once(t, false, bytes, &sum, &loads[i]);
        if (status == PB_OK)
            status = pbi_poll(t->ctx);
    }
    if (status != PB_OK)
        return status;
    qsort(stores, (size_t)times, sizeof *stores, by_number);
    qsort(loads, (size_t)times, sizeof *loads, by_number);
    *store_ns = stores[times / 2];
    *load_ns = loads[times / 2];
    return PB_OK;
}

/* Prices are whole numbers: at least one per byte, since a transfer is never free. */
static void line(uint64_t small_ns, uint64_t large_ns, uint64_t bytes, uint64_t *fixed, uint64_t *per_unit)
{
    uint64_t rise = large_ns > small_ns ? large_ns - small_ns : 0, run = bytes - SMALL;
    *per_unit = (rise + run / 2) / run;
    *per_unit = *per_unit ? *per_unit : 1;
    uint64_t exact = (uint64_t)((double)rise / (double)run * SMALL);
    *fixed = small_ns > exact ? small_ns - exact : 0;
}

static pb_status measure(trial *t, uint64_t bytes, pb_tier *out)
{
    uint64_t store[2], load[2];
    pb_status status = medians(t, SMALL, SMALL_TIMES, &store[0], &load[0]);
    if (status == PB_OK)
        status = medians(t, bytes, LARGE_TIMES, &store[1], &load[1]);
    if (status != PB_OK)
        return status;
    *out = (pb_tier){.cap = PB_UNLIMITED};
    line(store[0], store[1], bytes, &out->store_cost, &out->store_per_unit);
    line(load[0], load[1], bytes, &out->load_cost, &out->load_per_unit);
    return PB_OK;
}

pb_status pb_slow_measure(pb_context *ctx, const char *path, uint64_t bytes, pb_tier *out)
{
    pb_arena arena;
    trial t = {.ctx = ctx};
    if (!ctx->clock_ns)
        return pbi_fail(ctx, PB_EINVAL, "a slow tier cannot be measured without a clock; set clock_ns in the context");
    bytes = bytes ? bytes : LARGE;
    bytes = bytes < MIN_LARGE ? MIN_LARGE : bytes;
    pb_arena_init(&arena, ctx);
    t.memory = pb_arena_zero(&arena, bytes, 1);
    pb_status status = t.memory ? PB_OK : PB_ENOMEM;
    if (status == PB_OK)
        status = pbi_slow_open(ctx, &arena, &(pbi_slow_options){.path = &path, .tier_count = 1, .threads = 1}, &t.slow);
    if (status == PB_OK)
        status = measure(&t, bytes, out);
    pbi_slow_close(t.slow);
    pb_arena_release(&arena);
    return status;
}
