/* fuzz_machine.c -- any bytes as a machine: no crash, the same answer however the bytes arrive, and what is accepted is
 * written as the same bytes again after it was read back. */
#include "support/fuzz_graph.h"
#include "support/io_case.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static pb_status read_bytes(pb_context *ctx, const char *bytes, size_t length, size_t chunk, pb_arena *arena,
                            const pb_machine **out)
{
    slow_memory memory = {bytes, length, 0, chunk, SIZE_MAX};
    return pb_machine_read(ctx, slow_source(&memory), arena, out);
}

static void check_trip(pb_context *ctx, const pb_machine *m, pb_arena *arena)
{
    pb_buffer first, second;
    const pb_machine *again;
    pb_buffer_init(&first, arena);
    pb_buffer_init(&second, arena);
    if (pb_machine_check(ctx, m) != PB_OK)
        fuzz_fail("a machine that breaks its rules is accepted");
    if (pb_machine_write(ctx, m, pb_sink_buffer(&first)) != PB_OK)
        return; /* out of memory */
    pb_status status = read_bytes(ctx, first.bytes, first.length, SIZE_MAX, arena, &again);
    if (status == PB_ENOMEM)
        return;
    if (status != PB_OK)
        fuzz_fail("what was written cannot be read");
    if (pb_machine_write(ctx, again, pb_sink_buffer(&second)) == PB_OK &&
        (first.length != second.length || memcmp(first.bytes, second.bytes, first.length) != 0))
        fuzz_fail("the second writing differs");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    pb_context ctx;
    pb_context_init(&ctx);
    ctx.memory_limit = FUZZ_MEMORY;
    pb_arena arena;
    pb_arena_init(&arena, &ctx);
    const pb_machine *m = NULL, *slow = NULL;
    pb_status status = read_bytes(&ctx, (const char *)bytes, length, SIZE_MAX, &arena, &m);
    if (status != PB_OK && status != PB_EFORMAT && status != PB_ENOMEM)
        fuzz_fail("the reader returns a status that is not its own");
    if (status == PB_EFORMAT && (!ctx.error.message[0] || !ctx.error.line || !ctx.error.column))
        fuzz_fail("an error has no sentence or no place");
    if (length <= 1 << 12 && read_bytes(&ctx, (const char *)bytes, length, 3, &arena, &slow) != status)
        fuzz_fail("the answer depends on how the bytes arrive");
    if (status == PB_OK)
        check_trip(&ctx, m, &arena);
    pb_arena_release(&arena);
    if (ctx.memory_used)
        fuzz_fail("memory was not given back");
    return 0;
}
