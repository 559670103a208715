/* bench_adjoint.c -- how many actions a second the adjoint streams make, in batches and one by one.
 *
 * The taker only adds up one field of each batch or action, so what is measured is the making.
 */
#include "measure.h"

#include <inttypes.h>

enum { BATCH = 256 };

typedef struct reading {
    uint64_t count, sum; /* sum: so that nothing is optimised away */
    double seconds;
} reading;

static reading read_batches(pb_revolve *stream)
{
    pb_action batch[BATCH];
    reading r = {0};
    double t0 = now_seconds();
    for (size_t got; (got = pb_revolve_next_many(stream, batch, BATCH)) > 0; r.count += got)
        r.sum += batch[got - 1].n0;
    r.seconds = now_seconds() - t0;
    return r;
}

static reading read_singly(pb_revolve *stream)
{
    pb_action action;
    reading r = {0};
    double t0 = now_seconds();
    for (; pb_revolve_next(stream, &action); r.count++)
        r.sum += action.n0;
    r.seconds = now_seconds() - t0;
    return r;
}

static reading best_of(const bench *b, uint64_t steps, uint64_t snapshots, reading (*how)(pb_revolve *))
{
    reading best = {.seconds = 1e300};
    for (unsigned i = 0; i < b->repeat; i++) {
        pb_context ctx;
        pb_arena arena;
        pb_revolve stream;
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        must(&ctx, pb_revolve_init(&ctx, steps, snapshots, &arena, &stream), "adjoint");
        reading r = how(&stream);
        best = r.seconds < best.seconds ? r : best;
        pb_arena_release(&arena);
    }
    return best;
}

static void revolve_row(const bench *b, table *t, uint64_t steps, uint64_t snapshots)
{
    reading many = best_of(b, steps, snapshots, read_batches), one = best_of(b, steps, snapshots, read_singly);
    double count = (double)many.count;
    table_row(t, "revolve|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%.4f|%.4f|%.1f|%.1f", steps, snapshots, many.count,
              many.seconds, one.seconds, 1e-6 * count / many.seconds, 1e-6 * count / one.seconds);
}

void bench_adjoint(const bench *b)
{
    static const uint64_t snapshots[] = {3, 10, 20, 50, 100, 1000};
    uint64_t steps = b->size ? b->size : b->smoke ? 100000 : b->full ? 1000000000 : 100000000;
    table t;
    table_open(&t, b, "adjoint",
               "stream:8|steps:10|snapshots:9|actions:10|batches s:9|singly s:9|batches M/s:11|singly M/s:10");
    for (unsigned i = 0; i < sizeof snapshots / sizeof *snapshots; i++)
        revolve_row(b, &t, steps, snapshots[i]);
    table_close(&t);
}
