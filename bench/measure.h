/* measure.h -- clock, machine, instances and tables: what every benchmark needs. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "pebble/full.h"

#include <stdio.h>

typedef struct bench {
    unsigned repeat;     /* best of so many */
    bool smoke;          /* tiny sizes: does it still run? */
    bool full;           /* the largest sizes too */
    double seconds;      /* limit of one plan */
    uint64_t ticks;      /* likewise, 0: none */
    const char *only;    /* instances whose name has this text; NULL: all */
    uint64_t size;       /* one size instead of the usual ones; 0: the usual */
    const char *results; /* CSV files are named <results>-<part>.csv; NULL: none */
} bench;

/* The parts: bench.c lists them. */
void bench_verify(const bench *b);
void bench_io(const bench *b);
void bench_plan(const bench *b);
void bench_grid(const bench *b);
void bench_adjoint(const bench *b);
void bench_chain_equal(const bench *b);
void bench_chain(const bench *b);
void bench_tree(const bench *b);
void bench_layout(const bench *b);
void bench_large(const bench *b);
void bench_engine(const bench *b);
void bench_timed(const bench *b);
void bench_dynamic(const bench *b);
void bench_scale(const bench *b);
void bench_merkle(const bench *b);

double now_seconds(void);

/* Ends the program with the context's sentence when `status` is not PB_OK. */
void must(const pb_context *ctx, pb_status status, const char *what);

/* A generated graph: "chain:1000" or "layered:nodes=1000,seed=1"; a value without a key is the family's positional
 * parameter. */
const pb_graph *instance_make(pb_context *ctx, pb_arena *arena, const char *spec);
bool instance_wanted(const bench *b, const char *name);

/* Rounded up. */
uint64_t percent_of(uint64_t whole, unsigned percent);
/* Of the graph's peak in program order, rounded up. */
uint64_t percent_cap(pb_context *ctx, const pb_graph *g, unsigned percent);

/* One plan under the limits of the benchmark. */
typedef struct plan_run {
    pb_status status;
    pb_plan_result planned; /* when status is PB_OK */
    double seconds;         /* planning, verifying and measuring */
    uint64_t ticks;
    size_t memory_peak; /* bytes in arenas */
    bool stopped;       /* the time ran out */
    char message[160];  /* why there is no plan, else "" */
} plan_run;
void plan_once(const bench *b, const pb_game *game, const char *strategy, pb_context *ctx, pb_arena *arena,
               plan_run *out);

pb_sink file_sink(FILE *file);
pb_source file_source(FILE *file);

/* A table for people on standard output, and the same rows as CSV with the machine's description on top.
 *     table_open(&t, b, "verify", "shape:10|moves:12|moves/s:12");
 *     table_row(&t, "%s|%u|%.0f", "chain", 10000u, rate); */
enum { TABLE_COLUMNS = 20 };
typedef struct table {
    FILE *csv;
    int width[TABLE_COLUMNS];
    unsigned columns;
} table;
void table_open(table *t, const bench *b, const char *part, const char *columns);
void table_row(table *t, const char *format, ...);
void table_close(table *t);

#endif
