/* base.h -- statuses, the context, memory and streams: what every other header needs.
 *
 *     pb_context ctx;
 *     pb_context_init(&ctx);
 *     pb_arena arena;
 *     pb_arena_init(&arena, &ctx);
 *     ... calls that take &ctx or &arena ...
 *     pb_arena_release(&arena);
 *
 * The library never prints, exits or reads the environment. It reports through the context's callbacks and through
 * pb_status. Only one thread at a time may use a context.
 */
#ifndef PEBBLE_BASE_H
#define PEBBLE_BASE_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PB_VERSION "0.1.0"

/* A cap that limits nothing: the sum of all sizes of a graph is less. */
#define PB_UNLIMITED UINT64_MAX

/* What went wrong, where: line and column count from 1; line 0 means "no place". */
typedef struct pb_error {
    char message[512];
    uint64_t line, column;
} pb_error;

/* The answer of the stop callback. */
typedef enum pb_stop { PB_GO_ON = 0, PB_STOP_INTERRUPT, PB_STOP_TIME } pb_stop;

typedef struct pb_context {
    /* Allocator: like realloc; new_bytes 0 frees and returns NULL. */
    void *(*resize)(void *state, void *block, size_t old_bytes, size_t new_bytes);
    void *allocator_state;
    size_t memory_limit; /* bytes, 0: none */
    size_t memory_used, memory_peak;

    uint64_t tick_limit; /* planning effort of each strategy, 0: none */
    uint64_t ticks;      /* spent by the strategy that ran last */

    pb_stop (*stop)(void *state); /* may be NULL; polled often, must be quick */
    void (*progress)(void *state, const char *what, uint64_t done, uint64_t total); /* may be NULL */
    void (*log)(void *state, const char *message);                                  /* may be NULL */
    uint64_t (*clock_ns)(void *state); /* may be NULL; only fills `seconds` in results */
    void *callback_state;
    /* The first answer of `stop` that was not PB_GO_ON. It applies to every call with this context, until pb_plan,
     * pb_compare or pb_least_cap starts or the caller resets it. */
    pb_stop stopped;

    pb_error error; /* of the last call that failed */
} pb_context;

/* The C library's allocator, no limits, no callbacks. */
void pb_context_init(pb_context *ctx);

/* Memory that is released as a whole. Nothing in an arena is freed on its own. */
typedef struct pb_arena {
    pb_context *ctx;
    struct pb_block *newest;
} pb_arena;

void pb_arena_init(pb_arena *arena, pb_context *ctx);
void pb_arena_release(pb_arena *arena);

/* count * size bytes, aligned for any type, not cleared. NULL, with ctx->error set, if memory or the context's limit
 * is exhausted or the product overflows. */
void *pb_arena_alloc(pb_arena *arena, size_t count, size_t size);
/* The same, cleared to zero. */
void *pb_arena_zero(pb_arena *arena, size_t count, size_t size);
/* A NUL-terminated copy of `length` bytes. */
char *pb_arena_text(pb_arena *arena, const char *text, size_t length);

/* 128-bit unsigned integer. */
typedef struct pb_u128 {
    uint64_t high, low;
} pb_u128;

#define PB_U128_TEXT 40 /* room for its decimal text with NUL */
/* Writes decimal digits and NUL; returns the length. */
size_t pb_u128_text(pb_u128 value, char text[PB_U128_TEXT]);
int pb_u128_compare(pb_u128 a, pb_u128 b);
double pb_u128_double(pb_u128 value);

/* Sizes, times and counts for display: "1.5 GiB" if the unit is byte, "12.34 ms" if it is ns, us, ms or s, else
 * "12,345". */
size_t pb_quantity_text(uint64_t value, const char *unit, char *text, size_t room);
/* The same with its unit: "12,345 pebble", "1.5 GiB", "12.34 ms". */
size_t pb_amount_text(uint64_t value, const char *unit, char *text, size_t room);
/* Memory over time: "12.34 GiB·s" or "1.862 GiB·Tflop". Returns 0, without a text, if neither sizes are in byte nor
 * costs in flop or a unit of time: then the number itself is what people read. */
size_t pb_flux_text(pb_u128 flux, const char *size_unit, const char *cost_unit, char *text, size_t room);
/* Whether it is ns, us, ms or s. */
bool pb_unit_is_time(const char *unit);

/* Names and messages may contain any bytes. On a terminal they must not move the cursor, change the title or change
 * the text direction: control characters, line separators, direction overrides and bytes that are not UTF-8 are
 * written as escapes, as in \n, \x1b and \u202e. All other text is unchanged. */
#define PB_PLAIN_CHAR 8
/* The first character of `text` in its safe form; returns its length in `text` in bytes, 0 at the end. */
size_t pb_plain_char(const char *text, char shown[PB_PLAIN_CHAR]);
/* The whole text, cut between characters if `room` is too small. Returns the full length without NUL: it equals the
 * length of `text` if and only if nothing had to be escaped. */
size_t pb_plain_text(const char *text, char *plain, size_t room);

/* The name that somebody meant who wrote `word`: a few letters differ, or the word is its beginning. NULL: none is
 * close. */
const char *pb_nearest_name(const char *word, const char *const *names, size_t count);

/* A named value, as in `every-k:k=10` or `tree --height 5`. */
typedef struct pb_option {
    const char *key, *value;
} pb_option;

/* Bytes in: fills up to `room` bytes; *got 0 is the end. */
typedef struct pb_source {
    pb_status (*read)(void *state, char *bytes, size_t room, size_t *got);
    void *state;
} pb_source;

/* Bytes out. */
typedef struct pb_sink {
    pb_status (*write)(void *state, const char *bytes, size_t length);
    void *state;
} pb_sink;

/* A source over bytes in memory: borrowed, and `memory` must outlive the source. */
typedef struct pb_memory {
    const char *bytes;
    size_t length, at;
} pb_memory;
pb_source pb_source_memory(pb_memory *memory);

/* A sink that collects bytes in an arena; bytes is NULL until something is written, then bytes[length] is NUL. */
typedef struct pb_buffer {
    pb_arena *arena;
    char *bytes;
    size_t length, room;
} pb_buffer;
void pb_buffer_init(pb_buffer *buffer, pb_arena *arena);
pb_sink pb_sink_buffer(pb_buffer *buffer);

/* Debian packages of optional libraries, for messages about a library that was missing at build time. */
#define PB_PACKAGE_CBC "coinor-libcbc-dev"
#define PB_PACKAGE_CADICAL "libcadical-dev"
#define PB_PACKAGE_DNNL "libdnnl-dev"
#define PB_PACKAGE_SERVER "libmicrohttpd-dev and libjansson-dev"
#define PB_PACKAGE_PAGE "npm"
#define PB_NOT_BUILT_IN(package) "not built in (install " package ", then make)"

#ifdef __cplusplus
}
#endif
#endif
