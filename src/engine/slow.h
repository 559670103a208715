/* slow.h -- files behind the slow tiers, and threads that store to them and load from them.
 *
 * A transfer belongs to its caller until it was waited for. The threads have no context: errors are recorded in the
 * transfer, and pbi_slow_judge turns them into a message in the caller's thread.
 */
#ifndef PBI_SLOW_H
#define PBI_SLOW_H

#include "pebble/game.h"

#include <sys/types.h>

enum { PBI_SLOW_UNIT = 4096 /* offsets in the file are multiples of it: direct input and output needs that */ };

/* The calls to the system: tests replace them to inject errors. */
typedef struct pbi_slow_calls {
    ssize_t (*write)(void *state, int file, const void *bytes, size_t count, off_t at);
    ssize_t (*read)(void *state, int file, void *bytes, size_t count, off_t at);
    void *state;
} pbi_slow_calls;

typedef struct pbi_transfer {
    unsigned char *memory;
    uint64_t bytes, at; /* in the file */
    uint64_t sum;       /* a load: of what was stored; a store: set at its end */
    pb_node node;
    uint32_t tier; /* 0.. */
    bool store;

    bool done, differs; /* differs: other bytes were read than stored */
    int error;          /* errno, or 0; PBI_SLOW_ENDS: nothing was written or read */
    uint64_t failed_at, busy_ns;
    struct pbi_transfer *next;
} pbi_transfer;
enum { PBI_SLOW_ENDS = -1 };

typedef struct pbi_slow_options {
    const char *const *path; /* by tier */
    uint32_t tier_count, threads;
    bool no_direct;
    bool in_memory;              /* files of anonymous memory; paths do not count */
    bool by_caller;              /* no threads: `threads` of the caller's call pbi_slow_transfer */
    const pbi_slow_calls *calls; /* NULL: the system's */
} pbi_slow_options;

typedef struct pbi_slow pbi_slow;

/* Creates the files, unlinks them, starts the threads. All memory is in `arena`. */
pb_status pbi_slow_open(pb_context *ctx, pb_arena *arena, const pbi_slow_options *options, pbi_slow **out);
/* Waits for running transfers. */
void pbi_slow_close(pbi_slow *s);

void pbi_slow_begin(pbi_slow *s, pbi_transfer *t);
bool pbi_slow_is_done(pbi_slow *s, const pbi_transfer *t);
void pbi_slow_wait(pbi_slow *s, const pbi_transfer *t);
/* A whole transfer in this thread, which is this number of those that were announced. */
void pbi_slow_transfer(pbi_slow *s, pbi_transfer *t, uint32_t number);
/* For a transfer that was waited for: PB_OK, or PB_EIO with a message that names the value, the file and the offset. */
pb_status pbi_slow_judge(pb_context *ctx, const pbi_slow *s, const pbi_transfer *t, const char *name);

#endif
