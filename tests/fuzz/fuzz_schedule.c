/* fuzz_schedule.c -- any bytes as a schedule, JSON or binary: no crash, the same answer however the bytes arrive, and
 * what is accepted survives both forms. The graph is a small one with every kind of name. */
#include "support/fuzz_graph.h"
#include "support/io_case.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static const char small_graph[] = "{\"format\":\"pebble-graph/1\",\"nodes\":["
                                  "{\"name\":\"a\",\"size\":1},{\"name\":\"b c\",\"size\":2},{\"size\":3},"
                                  "{\"name\":\"\\u00e9\",\"size\":1},{\"size\":1,\"byproduct_of\":1}],"
                                  "\"edges\":[[0,1],[1,2],[0,3]]}";

static void try_with(pb_context *ctx, const char *bytes, size_t length, const pb_graph *g)
{
    pb_arena arena;
    pb_arena_init(&arena, ctx);
    pb_schedule s, slow;
    pb_status status = schedule_from(ctx, bytes, length, SIZE_MAX, PB_FORMAT_AUTO, g, &arena, &s);
    if (status != PB_OK && status != PB_EFORMAT && status != PB_ENOMEM && status != PB_ERANGE)
        fuzz_fail("the reader returns a status that is not its own");
    if (length <= 1 << 12 && schedule_from(ctx, bytes, length, 3, PB_FORMAT_AUTO, g, &arena, &slow) != status)
        fuzz_fail("the answer depends on how the bytes arrive");
    const char *fault = status == PB_OK ? schedule_round_trips(ctx, &s, g) : NULL;
    if (fault)
        fuzz_fail(fault);
    pb_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    pb_context ctx;
    pb_context_init(&ctx);
    ctx.memory_limit = FUZZ_MEMORY;
    pb_arena arena;
    pb_arena_init(&arena, &ctx);
    const pb_graph *g = NULL;
    if (graph_from(&ctx, small_graph, strlen(small_graph), SIZE_MAX, PB_FORMAT_JSON, &arena, &g) != PB_OK)
        fuzz_fail(ctx.error.message);
    try_with(&ctx, (const char *)bytes, length, g);
    try_with(&ctx, (const char *)bytes, length, NULL);
    pb_arena_release(&arena);
    if (ctx.memory_used)
        fuzz_fail("memory was not given back");
    return 0;
}
