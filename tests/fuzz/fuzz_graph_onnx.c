/* fuzz_graph_onnx.c -- any bytes as an ONNX model: no crash, the same answer however the bytes arrive, and what is
 * accepted survives every format that is written; with a backward pass too. */
#include "support/fuzz_graph.h"

#include "support/io_case.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* As a training step, with a batch and gradients that are kept: other paths, the same promises. */
static void train(const uint8_t *bytes, size_t length)
{
    static const pb_read_options options = {
        .format = PB_FORMAT_ONNX, .batch = 3, .train = true, .optimizer = "adam", .grads = "keep"};
    pb_context ctx;
    pb_context_init(&ctx);
    ctx.memory_limit = FUZZ_MEMORY;
    pb_arena arena;
    pb_arena_init(&arena, &ctx);
    pb_memory memory = {(const char *)bytes, length, 0};
    const pb_graph *g;
    if (pb_graph_read_with(&ctx, pb_source_memory(&memory), &options, &arena, &g) == PB_OK) {
        const char *fault = graph_round_trips(&ctx, g);
        if (fault)
            fuzz_fail(fault);
    } else if (!ctx.error.message[0]) {
        fuzz_fail("an error has no sentence");
    }
    pb_arena_release(&arena);
    if (ctx.memory_used)
        fuzz_fail("memory was not given back");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    fuzz_graph(bytes, length, PB_FORMAT_ONNX);
    train(bytes, length);
    return 0;
}
