/* fuzz_graph.c -- see fuzz_graph.h. */
#include "support/fuzz_graph.h"

#include "support/io_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOW_LENGTH = 1 << 12, SLOW_CHUNK = 3 };

void fuzz_fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    abort();
}

/* An error has a sentence, and places count from 1. */
static void check_error(const pb_context *ctx, pb_status status)
{
    if (status != PB_EFORMAT && status != PB_EGRAPH && status != PB_ERANGE && status != PB_ENOMEM)
        fuzz_fail("the reader returns a status that is not its own");
    if (!ctx->error.message[0] || (ctx->error.line == 0) != (ctx->error.column == 0))
        fuzz_fail("an error has no sentence or half a place");
    if (status == PB_EFORMAT && ctx->error.line == 0)
        fuzz_fail("an error of the format has no place");
}

/* The bytes in small pieces must mean the same. */
static void check_slow(const uint8_t *bytes, size_t length, pb_format format, pb_status expected, const pb_graph *g)
{
    pb_context ctx;
    pb_context_init(&ctx);
    pb_arena arena;
    pb_arena_init(&arena, &ctx);
    const pb_graph *slow;
    char hash[PB_HASH_TEXT], slow_hash[PB_HASH_TEXT];
    pb_status status = graph_from(&ctx, (const char *)bytes, length, SLOW_CHUNK, format, &arena, &slow);
    if (status != expected)
        fuzz_fail("the answer depends on how the bytes arrive");
    if (status == PB_OK && (pb_graph_hash(&ctx, g, hash) != PB_OK || pb_graph_hash(&ctx, slow, slow_hash) != PB_OK ||
                            strcmp(hash, slow_hash) != 0))
        fuzz_fail("the graph depends on how the bytes arrive");
    pb_arena_release(&arena);
}

void fuzz_graph(const uint8_t *bytes, size_t length, pb_format format)
{
    pb_context ctx;
    pb_context_init(&ctx);
    ctx.memory_limit = FUZZ_MEMORY;
    pb_arena arena;
    pb_arena_init(&arena, &ctx);
    const pb_graph *g = NULL;
    pb_status status = graph_from(&ctx, (const char *)bytes, length, SIZE_MAX, format, &arena, &g);
    if (status != PB_OK)
        check_error(&ctx, status);
    if (length <= SLOW_LENGTH && status != PB_ENOMEM)
        check_slow(bytes, length, format, status, g);
    const char *fault = status == PB_OK ? graph_round_trips(&ctx, g) : NULL;
    if (fault)
        fuzz_fail(fault);
    pb_arena_release(&arena);
    if (ctx.memory_used)
        fuzz_fail("memory was not given back");
}
