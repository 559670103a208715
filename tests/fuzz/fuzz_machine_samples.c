/* fuzz_machine_samples.c -- any bytes as measurements: no crash, the same answer however the bytes arrive, and models
 * that are fitted to what is accepted make a machine that obeys its rules. */
#include "support/fuzz_graph.h"
#include "support/io_case.h"

enum { MAX_FITTED = 200 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static pb_status read_bytes(pb_context *ctx, const uint8_t *bytes, size_t length, size_t chunk, pb_arena *arena,
                            pb_machine_sample **samples, uint32_t *count)
{
    slow_memory memory = {(const char *)bytes, length, 0, chunk, SIZE_MAX};
    *samples = NULL;
    *count = 0;
    return pb_machine_samples_read(ctx, slow_source(&memory), arena, samples, count);
}

static void check_fit(pb_context *ctx, const pb_machine_sample *samples, uint32_t count, pb_arena *arena)
{
    static const pb_machine_memory host = {.name = "host", .cap = PB_UNLIMITED};
    pb_machine_processor cpu = {.name = "cpu"};
    pb_status status = pb_machine_fit(ctx, samples, count, arena, &cpu, NULL);
    if (status == PB_ENOMEM)
        return;
    pb_machine m = {.name = "m",
                    .time_unit = "ns",
                    .per_second = 1000000000,
                    .memories = &host,
                    .memory_count = 1,
                    .processors = &cpu,
                    .processor_count = 1};
    if (status != PB_OK || pb_machine_check(ctx, &m) != PB_OK)
        fuzz_fail(ctx->error.message);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    pb_context ctx;
    pb_arena arena;
    pb_machine_sample *samples;
    uint32_t count, again;
    pb_context_init(&ctx);
    ctx.memory_limit = FUZZ_MEMORY;
    pb_arena_init(&arena, &ctx);
    pb_status slow = read_bytes(&ctx, bytes, length, 3, &arena, &samples, &again);
    pb_status status = read_bytes(&ctx, bytes, length, SIZE_MAX, &arena, &samples, &count);
    if (status != PB_OK && status != PB_EFORMAT && status != PB_ENOMEM)
        fuzz_fail("the reader returns a status that is not its own");
    if (status != PB_ENOMEM && slow != PB_ENOMEM && (slow != status || again != count))
        fuzz_fail("the answer depends on how the bytes arrive");
    if (status == PB_OK && count && count < MAX_FITTED)
        check_fit(&ctx, samples, count, &arena);
    pb_arena_release(&arena);
    if (ctx.memory_used)
        fuzz_fail("memory was not given back");
    return 0;
}
