/* store.h -- sweeps in a folder: cells that any number of processes plan, on any number of computers.
 *
 *     pb_store *store;
 *     if (pb_store_open(&ctx, "campaign", true, &arena, &store) == PB_OK) {
 *         pb_settings settings = {.text[PB_SET_caps] = "100%..40%", .text[PB_SET_ticks] = "100000"};
 *         pb_store_sweep added;
 *         pb_store_add(&ctx, store, graph, &settings, &added);
 *         pb_work_report report;
 *         pb_store_work(&ctx, store, &(pb_work_options){.threads = 2}, &report);
 *         pb_sweep sweep;
 *         uint64_t missing;
 *         pb_store_collect(&ctx, store, added.id, &arena, &sweep, &missing);
 *         pb_store_close(store);
 *     }
 *
 * A cell is one plan: graph, game, cap, weights, machine, strategy with its options, policy, seed, ticks, memory and
 * the version of the library. It is planned alone, so its row depends on nothing else: equal cells of several sweeps
 * are planned once, and a cell that was lost is planned again with the same result. Sharing plans and bounds between
 * the cells of a sweep is the last step, in pb_store_collect. docs/clusters.md says what the file system must provide.
 */
#ifndef PEBBLE_STORE_H
#define PEBBLE_STORE_H

#include "settings.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PB_STORE_ID = 33 };

typedef struct pb_store pb_store;

/* Opens a store; with `create` makes it if there is none. It lives in `arena` until it is closed.
 *   returns  PB_EIO, PB_EFORMAT   it cannot be read or made, or is none */
pb_status pb_store_open(pb_context *ctx, const char *path, bool create, pb_arena *arena, pb_store **out);
void pb_store_close(pb_store *store);
const char *pb_store_path(const pb_store *store);

/* A sweep in a store. */
typedef struct pb_store_sweep {
    char id[PB_STORE_ID];
    uint32_t cells, added; /* added: were not in the store before */
} pb_store_sweep;

/* Adds the cells of a sweep of this graph; settings as for pb_sweep_make: caps, points, strategy, game, machine,
 * weights, slow memory, policy, seed, ticks and memory (of each cell). The same sweep again adds nothing.
 *   returns  PB_EINVAL   a time limit, or a strategy that reads a file: their plans cannot be repeated
 *            PB_ECANCELLED   stopped while the smallest cap was looked for */
pb_status pb_store_add(pb_context *ctx, pb_store *store, const pb_graph *g, pb_settings *settings, pb_store_sweep *out);

typedef struct pb_work_options {
    uint32_t threads;    /* cells planned at a time; 0 counts as 1 */
    uint64_t time_ns;    /* stop after this time; begin no cell that may take longer than what is left; 0: no limit */
    uint64_t memory;     /* fewer cells at a time if each may use that much; 0: no limit */
    uint64_t timeout_ns; /* a worker that shows no sign of life for so long is dead; 0: a minute */
    uint64_t cells;      /* at most so many; 0: no limit */
    const char *only;    /* NULL, or the id of a sweep: only the cells that it added */
    bool wait;           /* also for cells that other workers plan */
} pb_work_options;

typedef enum pb_work_end {
    PB_WORK_NONE_LEFT, /* every cell is done, or a living worker plans it */
    PB_WORK_TIME,
    PB_WORK_INTERRUPT,
    PB_WORK_CELLS, /* as many as were asked for */
} pb_work_end;

typedef struct pb_work_report {
    pb_work_end end;
    uint64_t done, returned, taken_over; /* returned: put back unfinished; taken over from workers that died */
    uint64_t given_up;                   /* too many workers died with them */
    double seconds;                      /* of planning and writing, over all threads */
    double planning;                     /* of planning alone */
} pb_work_report;

/* Plans cells until none is left. ctx->stop ends it: cells that are being planned are put back. Needs ctx->clock_ns.
 *   returns  PB_EIO      a row cannot be written; its cell is put back. *out is set
 *            PB_ENOMEM   the system has no memory for a cell; likewise */
pb_status pb_store_work(pb_context *ctx, pb_store *store, const pb_work_options *options, pb_work_report *out);

/* The sweep from its rows, every plan replayed, with plans carried to larger caps and bounds to smaller ones.
 *   out  *missing   cells without a row: the sweep is then marked as stopped. A damaged row counts: its cell is to be
 *                   planned again, and ctx->log says so */
pb_status pb_store_collect(pb_context *ctx, pb_store *store, const char *id, pb_arena *result, pb_sweep *out,
                           uint64_t *missing);
/* Ids of all sweeps, in order. */
pb_status pb_store_sweeps(pb_context *ctx, pb_store *store, pb_arena *arena, const char *const **out, uint32_t *count);

enum { PB_STORE_REASONS = 32 };
typedef struct pb_store_reason {
    uint64_t cells;
    char text[200];
} pb_store_reason;

/* Reads names only, and one row for each reason. */
typedef struct pb_store_state {
    uint64_t sweeps, cells, todo, leased, given_up, done;
    uint64_t outcomes[4]; /* by pb_outcome */
    pb_store_reason reasons[PB_STORE_REASONS];
    uint32_t reason_count;
    uint64_t workers, threads; /* that are alive */
    double rate;               /* cells a second of those; 0: not known */
    double seconds_left;       /* negative: not known */
} pb_store_state;
pb_status pb_store_look(pb_context *ctx, pb_store *store, pb_store_state *out);

typedef struct pb_store_repair {
    uint64_t rows, graphs, sweeps, cells;           /* merged: what was copied. cells: to be planned */
    uint64_t damaged, temporary, returned, workers; /* removed, and leases of dead workers that were returned */
} pb_store_repair;
/* Copies sweeps and rows of another store. PB_EFORMAT if both have a cell with different rows. */
pb_status pb_store_merge(pb_context *ctx, pb_store *store, pb_store *from, pb_store_repair *out);
/* Reads every row, and removes damaged ones, temporary files and dead workers; whatever a sweep lacks is to be planned
 * again. `timeout_ns` as for work: it waits that long for signs of life of workers elsewhere. */
pb_status pb_store_clean(pb_context *ctx, pb_store *store, uint64_t timeout_ns, pb_store_repair *out);

#ifdef __cplusplus
}
#endif
#endif
