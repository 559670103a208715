/* io_case.h -- what tests of readers and writers share: slow sources, failing allocators, round trips. */
#ifndef IO_CASE_H
#define IO_CASE_H

#include "pebble/io.h"

/* A source that hands out at most `chunk` bytes a call, and fails behind `fail_at` bytes (SIZE_MAX: never). */
typedef struct slow_memory {
    const char *bytes;
    size_t length, at, chunk, fail_at;
} slow_memory;
pb_source slow_source(slow_memory *memory);

/* An allocator that refuses request number `refuse` (from 1; 0: none) and every later one, and counts. */
typedef struct failing_allocator {
    uint64_t requests, refuse;
    size_t blocks; /* alive now */
} failing_allocator;
void failing_context(pb_context *ctx, failing_allocator *allocator);

/* Graph and schedule as bytes; NULL when writing failed. */
pb_status graph_bytes(pb_context *ctx, const pb_graph *g, pb_format format, pb_arena *arena, pb_buffer *out);
pb_status schedule_bytes(pb_context *ctx, const pb_schedule *s, pb_format format, pb_arena *arena, pb_buffer *out);

/* Reads a graph from bytes, `chunk` at a time. */
pb_status graph_from(pb_context *ctx, const char *bytes, size_t length, size_t chunk, pb_format format, pb_arena *arena,
                     const pb_graph **out);
pb_status schedule_from(pb_context *ctx, const char *bytes, size_t length, size_t chunk, pb_format format,
                        const pb_graph *g, pb_arena *arena, pb_schedule *out);

/* Reads a graph with the k-th allocation refused, for every k. NULL when each refusal is clean and reading succeeds at last,
 * or the fact that fails. */
const char *graph_refusals_are_clean(const char *bytes, size_t length, pb_format format);

/* What must hold of any graph that a reader accepted: the audit passes; in every format, what is written reads back
 * with the same hash and is then written as the same bytes. NULL, or the fact that fails. Running out of memory is
 * no failure. */
const char *graph_round_trips(pb_context *ctx, const pb_graph *g);
/* The same of a schedule. */
const char *schedule_round_trips(pb_context *ctx, const pb_schedule *s, const pb_graph *g);

#endif
