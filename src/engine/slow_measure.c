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

/* The line through two medians. */
typedef struct line {
    double fixed, per_byte;
} line;

static line line_through(uint64_t small_ns, uint64_t large_ns, uint64_t bytes)
{
    double rise = large_ns > small_ns ? (double)(large_ns - small_ns) : 0;
    double per_byte = rise / (double)(bytes - SMALL), fixed = (double)small_ns - per_byte * SMALL;
    return (line){fixed > 0 ? fixed : 0, per_byte};
}

static pb_status measure(trial *t, uint64_t bytes, line *store, line *load)
{
    uint64_t stores[2], loads[2];
    pb_status status = medians(t, SMALL, SMALL_TIMES, &stores[0], &loads[0]);
    if (status == PB_OK)
        status = medians(t, bytes, LARGE_TIMES, &stores[1], &loads[1]);
    if (status != PB_OK)
        return status;
    *store = line_through(stores[0], stores[1], bytes);
    *load = line_through(loads[0], loads[1], bytes);
    return PB_OK;
}

static pb_status find_lines(pb_context *ctx, const char *path, uint64_t bytes, line *store, line *load)
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
        status = measure(&t, bytes, store, load);
    pbi_slow_close(t.slow);
    pb_arena_release(&arena);
    return status;
}

/* Prices are whole numbers: at least one per byte, since a transfer is never free. */
static uint64_t whole_price(double per_byte) { return per_byte < 1.5 ? 1 : (uint64_t)(per_byte + 0.5); }

pb_status pb_slow_measure(pb_context *ctx, const char *path, uint64_t bytes, pb_tier *out)
{
    line store = {0}, load = {0};
    pb_status status = find_lines(ctx, path, bytes, &store, &load);
    if (status == PB_OK)
        *out = (pb_tier){.store_cost = (uint64_t)store.fixed,
                         .load_cost = (uint64_t)load.fixed,
                         .store_per_unit = whole_price(store.per_byte),
                         .load_per_unit = whole_price(load.per_byte),
                         .cap = PB_UNLIMITED};
    return status;
}

static pb_price_link as_link(const line *l)
{
    double per_second = l->per_byte > 1e-9 ? 1e9 / l->per_byte : 1e18;
    return (pb_price_link){.latency = (uint64_t)l->fixed, .bandwidth = per_second < 1 ? 1 : (uint64_t)per_second};
}

pb_status pb_slow_measure_links(pb_context *ctx, const char *path, uint64_t bytes, pb_price_link *store,
                                pb_price_link *load)
{
    line out = {0}, in = {0};
    pb_status status = find_lines(ctx, path, bytes, &out, &in);
    if (status == PB_OK) {
        *store = as_link(&out);
        *load = as_link(&in);
    }
    return status;
}
