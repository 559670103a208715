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

/* Steps one by one, then the backward pass in batches. */
static void online_row(const bench *b, table *t, uint64_t steps, uint32_t snapshots)
{
    double step_seconds = 1e300, back_seconds = 1e300;
    uint64_t count = 0;
    for (unsigned i = 0; i < b->repeat; i++) {
        pb_context ctx;
        pb_arena arena;
        pb_online stream;
        pb_action batch[BATCH];
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        must(&ctx, pb_online_init(&ctx, snapshots, &arena, &stream), "adjoint");
        double t0 = now_seconds();
        for (uint64_t n = 0; n < steps; n++)
            pb_online_step(&stream, &batch[n % BATCH]);
        pb_online_end(&stream);
        double t1 = now_seconds();
        count = 0;
        for (size_t got; (got = pb_online_next_many(&stream, batch, BATCH)) > 0;)
            count += got;
        double t2 = now_seconds();
        step_seconds = t1 - t0 < step_seconds ? t1 - t0 : step_seconds;
        back_seconds = t2 - t1 < back_seconds ? t2 - t1 : back_seconds;
        pb_arena_release(&arena);
    }
    table_row(t, "online|%" PRIu64 "|%" PRIu32 "|%" PRIu64 "|%.4f|%.4f|%.1f|%.1f", steps, snapshots, steps + count,
              back_seconds, step_seconds, 1e-6 * (double)count / back_seconds, 1e-6 * (double)steps / step_seconds);
}

/* Planning and reading a stream over RAM and disk. */
static void levels_row(const bench *b, table *t, uint64_t steps, const pb_level *ram, const pb_level *disk)
{
    double plan = 1e300, read = 1e300;
    uint64_t cost = 0, count = 0;
    for (unsigned i = 0; i < b->repeat; i++) {
        pb_context ctx;
        pb_arena arena;
        pb_multilevel stream;
        pb_action batch[BATCH];
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        double t0 = now_seconds();
        pb_multilevel_spec spec = {steps, 1, 1, 2, {*ram, *disk}};
        must(&ctx, pb_multilevel_init(&ctx, &spec, &arena, &stream), "adjoint");
        double t1 = now_seconds();
        count = 0;
        for (size_t got; (got = pb_multilevel_next_many(&stream, batch, BATCH)) > 0;)
            count += got;
        double t2 = now_seconds();
        plan = t1 - t0 < plan ? t1 - t0 : plan;
        read = t2 - t1 < read ? t2 - t1 : read;
        cost = stream.cost;
        pb_arena_release(&arena);
    }
    char disk_slots[24] = "endless";
    if (disk->slots != UINT64_MAX)
        snprintf(disk_slots, sizeof disk_slots, "%" PRIu64, disk->slots);
    table_row(t, "%" PRIu64 "|%" PRIu64 "|%s|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%.4f|%.6f", steps, ram->slots,
              disk_slots, disk->write_cost, cost, count, plan, read);
}

static void bench_levels(const bench *b)
{
    uint64_t steps = b->smoke ? 200 : 5000;
    table t;
    table_open(&t, b, "adjoint-levels", "steps:7|RAM:4|disk:8|disk cost:9|cost:9|actions:8|plan s:8|read s:9");
    levels_row(b, &t, steps, &(pb_level){.slots = 5}, &(pb_level){20, 5, 5});
    levels_row(b, &t, steps, &(pb_level){.slots = 5}, &(pb_level){20, 500, 500});
    levels_row(b, &t, steps, &(pb_level){.slots = 5}, &(pb_level){UINT64_MAX, 5, 5});
    levels_row(b, &t, 4 * steps, &(pb_level){.slots = 5}, &(pb_level){UINT64_MAX, 50, 50});
    table_close(&t);
}

void bench_adjoint(const bench *b)
{
    static const uint64_t snapshots[] = {3, 10, 20, 50, 100, 1000};
    uint64_t steps = b->size ? b->size : b->smoke ? 100000 : b->full ? 1000000000 : 100000000;
    table t;
    table_open(&t, b, "adjoint",
               "stream:8|steps:10|snapshots:9|actions:10|batches s:9|singly s:9|batches M/s:11|singly M/s:10");
    for (unsigned i = 0; i < sizeof snapshots / sizeof *snapshots && instance_wanted(b, "revolve"); i++)
        revolve_row(b, &t, steps, snapshots[i]);
    for (uint32_t s = 20; s <= 100 && instance_wanted(b, "online"); s += 80)
        online_row(b, &t, steps, s);
    table_close(&t);
    if (!b->size && instance_wanted(b, "levels"))
        bench_levels(b);
}
