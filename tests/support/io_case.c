/* io_case.c -- see io_case.h. */
#include "support/io_case.h"

#include <stdlib.h>
#include <string.h>

static pb_status slow_read(void *state, char *bytes, size_t room, size_t *got)
{
    slow_memory *memory = state;
    size_t rest = memory->length - memory->at;
    if (memory->at >= memory->fail_at)
        return PB_EIO;
    *got = rest < room ? rest : room;
    *got = *got < memory->chunk ? *got : memory->chunk;
    if (*got)
        memcpy(bytes, memory->bytes + memory->at, *got);
    memory->at += *got;
    return PB_OK;
}

pb_source slow_source(slow_memory *memory) { return (pb_source){slow_read, memory}; }

static void *failing_resize(void *state, void *block, size_t old_bytes, size_t new_bytes)
{
    failing_allocator *allocator = state;
    (void)old_bytes;
    if (!new_bytes) {
        allocator->blocks -= block != NULL;
        free(block);
        return NULL;
    }
    if (allocator->refuse && ++allocator->requests >= allocator->refuse)
        return NULL;
    allocator->blocks += block == NULL;
    return realloc(block, new_bytes);
}

void failing_context(pb_context *ctx, failing_allocator *allocator)
{
    pb_context_init(ctx);
    ctx->resize = failing_resize;
    ctx->allocator_state = allocator;
}

pb_status graph_bytes(pb_context *ctx, const pb_graph *g, pb_format format, pb_arena *arena, pb_buffer *out)
{
    pb_buffer_init(out, arena);
    return pb_graph_write(ctx, g, format, pb_sink_buffer(out));
}

pb_status schedule_bytes(pb_context *ctx, const pb_schedule *s, pb_format format, pb_arena *arena, pb_buffer *out)
{
    pb_buffer_init(out, arena);
    return pb_schedule_write(ctx, s, format, pb_sink_buffer(out));
}

pb_status graph_from(pb_context *ctx, const char *bytes, size_t length, size_t chunk, pb_format format, pb_arena *arena,
                     const pb_graph **out)
{
    slow_memory memory = {bytes, length, 0, chunk, SIZE_MAX};
    return pb_graph_read(ctx, slow_source(&memory), format, NULL, arena, out);
}

const char *graph_refusals_are_clean(const char *bytes, size_t length, pb_format format)
{
    enum { LEAST = 15 /* requests: fewer, and the graph was too small to show anything */ };
    uint64_t refuse = 0;
    pb_status status = PB_ENOMEM;
    while (status == PB_ENOMEM) {
        failing_allocator allocator = {.refuse = ++refuse};
        pb_context ctx;
        failing_context(&ctx, &allocator);
        pb_arena arena;
        pb_arena_init(&arena, &ctx);
        const pb_graph *g = NULL;
        status = graph_from(&ctx, bytes, length, 1000, format, &arena, &g);
        pb_arena_release(&arena);
        if (allocator.blocks)
            return "a refused allocation leaves blocks behind";
    }
    return status != PB_OK ? "reading fails with all the memory there is" : refuse <= LEAST ? "hardly a request" : NULL;
}

pb_status schedule_from(pb_context *ctx, const char *bytes, size_t length, size_t chunk, pb_format format,
                        const pb_graph *g, pb_arena *arena, pb_schedule *out)
{
    slow_memory memory = {bytes, length, 0, chunk, SIZE_MAX};
    return pb_schedule_read(ctx, slow_source(&memory), format, g, arena, out);
}

static bool same(const pb_buffer *a, const pb_buffer *b)
{
    return a->length == b->length && (a->length == 0 || memcmp(a->bytes, b->bytes, a->length) == 0);
}

static const char *graph_trip(pb_context *ctx, const pb_graph *g, pb_format format, pb_arena *arena)
{
    pb_buffer first, second;
    const pb_graph *again;
    char hash[PB_HASH_TEXT], hash_again[PB_HASH_TEXT];
    pb_status status = graph_bytes(ctx, g, format, arena, &first);
    if (status == PB_OK)
        status = graph_from(ctx, first.bytes, first.length, SIZE_MAX, format, arena, &again);
    if (status == PB_ENOMEM)
        return NULL;
    if (status != PB_OK)
        return "what was written cannot be read";
    if (pb_graph_hash(ctx, g, hash) != PB_OK || pb_graph_hash(ctx, again, hash_again) != PB_OK)
        return "a graph has no hash";
    if (strcmp(hash, hash_again) != 0 || strcmp(g->name, again->name) != 0 ||
        strcmp(g->cost_unit, again->cost_unit) != 0 || strcmp(g->size_unit, again->size_unit) != 0)
        return "what was written reads as another graph";
    status = graph_bytes(ctx, again, format, arena, &second);
    return status == PB_ENOMEM ? NULL : status == PB_OK && same(&first, &second) ? NULL : "the second writing differs";
}

const char *graph_round_trips(pb_context *ctx, const pb_graph *g)
{
    const char *fault = NULL;
    if (pb_graph_check(ctx, g) == PB_EBUG)
        return ctx->error.message;
    for (pb_format format = PB_FORMAT_JSON; format <= PB_FORMAT_CSV && !fault; format++) {
        pb_arena arena;
        pb_arena_init(&arena, ctx);
        fault = graph_trip(ctx, g, format, &arena);
        pb_arena_release(&arena);
    }
    return fault;
}

static const char *schedule_trip(pb_context *ctx, const pb_schedule *s, const pb_graph *g, pb_arena *arena)
{
    static const pb_format formats[] = {PB_FORMAT_JSON, PB_FORMAT_BINARY};
    pb_buffer json, bytes, bytes_again, json_again;
    pb_status status = schedule_bytes(ctx, s, PB_FORMAT_JSON, arena, &json);
    for (int i = 0; i < 2 && status == PB_OK; i++) {
        pb_schedule again;
        status = schedule_bytes(ctx, s, formats[i], arena, &bytes);
        if (status == PB_OK)
            status = schedule_from(ctx, bytes.bytes, bytes.length, SIZE_MAX, formats[i], g, arena, &again);
        if (status == PB_EFORMAT)
            return "what was written cannot be read";
        if (status == PB_OK)
            status = schedule_bytes(ctx, &again, formats[i], arena, &bytes_again);
        if (status == PB_OK)
            status = schedule_bytes(ctx, &again, PB_FORMAT_JSON, arena, &json_again);
        if (status == PB_OK && (!same(&bytes, &bytes_again) || !same(&json, &json_again)))
            return "the second writing differs";
    }
    return status == PB_OK || status == PB_ENOMEM ? NULL : "a round trip fails";
}

const char *schedule_round_trips(pb_context *ctx, const pb_schedule *s, const pb_graph *g)
{
    pb_arena arena;
    pb_arena_init(&arena, ctx);
    const char *fault = schedule_trip(ctx, s, g, &arena);
    pb_arena_release(&arena);
    return fault;
}
