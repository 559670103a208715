/* bench_merkle.c -- hash trees against a bare loop over the same number of messages of the same length, by the same library.
 *
 * Both take turns, and medians of processor time are compared: other load on the machine falls on both. The loop hashes messages of 65 bytes that lie
 * ready in memory, and does nothing else. `grain` is the part of the tree that one node of the engine's graph has.
 */
#define _POSIX_C_SOURCE 200809L
#include "measure.h"
#include "workloads/merkle_paths.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TURNS = 1000, MESSAGE = 65, READY = 64 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

/* Of this thread. */
static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double bare_seconds(uint64_t count)
{
    SHA256_CTX state;
    static unsigned char message[READY][MESSAGE], hash[READY][PBI_HASH];
    for (unsigned i = 0; i < READY; i++)
        memset(message[i], (int)i, MESSAGE);
    double t0 = cpu_seconds();
    for (uint64_t i = 0; i < count; i++)
        if (!SHA256_Init(&state) || !SHA256_Update(&state, message[i % READY], MESSAGE) ||
            !SHA256_Final(hash[i % READY], &state))
            exit(1);
    return cpu_seconds() - t0;
}

typedef struct subject {
    pb_context ctx;
    pb_arena arena;
    pbi_hash_tree tree; /* for the loop, and for streams */
    pb_workload *w;     /* NULL: a stream */
    pb_engine *engine;
    pb_traversal_spec spec;
    uint32_t height, grain;
    uint64_t hashes, slots, peak;
} subject;

static uint64_t clock_ns(void *state)
{
    (void)state;
    return (uint64_t)(1e9 * now_seconds());
}

/* The clock is that of `pebble run`: each kernel is timed. */
static void open_subject(subject *s, uint32_t height)
{
    pb_context_init(&s->ctx);
    s->ctx.clock_ns = clock_ns;
    pb_arena_init(&s->arena, &s->ctx);
    must(&s->ctx, pbi_hash_tree_open(&s->ctx, "", 1, 64, height, &s->tree), "merkle");
}

static void close_subject(subject *s)
{
    pb_engine_free(s->engine);
    pb_workload_close(s->w);
    pbi_hash_tree_close(&s->tree);
    pb_arena_release(&s->arena);
}

static void open_root(subject *s, uint32_t height, const char *grain, const char *path)
{
    char text[12];
    snprintf(text, sizeof text, "%" PRIu32, height);
    pb_option options[] = {{"height", text}, {"grain", grain}, {"file", path}};
    pb_plan_result planned;
    pb_request request = PB_REQUEST_DEFAULT;
    pb_engine_options how = {0};
    open_subject(s, height);
    must(&s->ctx, pb_workload_open(&s->ctx, "merkle", options, 3, &s->w), "merkle");
    pb_game game = {
        .graph = pb_workload_graph(s->w), .kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = {1, 0, 0, 0}};
    request.strategy = "tree";
    must(&s->ctx, pb_plan(&s->ctx, &game, &request, &s->arena, &planned), "merkle");
    must(&s->ctx, pb_engine_new(&s->ctx, planned.certificate, pb_workload_kernels(s->w), &how, &s->engine), "merkle");
    s->hashes = (UINT64_C(2) << height) - 1;
    s->peak = pb_certificate_totals(planned.certificate)->peak;
}

static double run_seconds(subject *s)
{
    pb_measured m;
    pbi_paths paths = {.tree = &s->tree, .height = s->height, .grain = s->grain, .unchecked = true};
    double t0 = cpu_seconds();
    if (s->w)
        must(&s->ctx, pb_engine_run(s->engine, &m), "merkle");
    else
        must(&s->ctx, pbi_paths_stream(&paths, &s->spec, s->slots), "merkle");
    double seconds = cpu_seconds() - t0;
    s->hashes = s->w ? s->hashes : paths.hashes;
    return seconds;
}

static void row(const bench *b, table *t, const char *what, uint32_t height, const char *how, subject *s)
{
    double bare[TURNS], run[TURNS], ratio[TURNS];
    unsigned turns = 20 * b->repeat < TURNS ? 20 * b->repeat : TURNS;
    run_seconds(s);
    for (unsigned i = 0; i < turns; i++) {
        bare[i] = bare_seconds(s->hashes);
        run[i] = run_seconds(s);
        ratio[i] = run[i] / bare[i];
    }
    double count = (double)s->hashes, loop = median(bare, turns), own = median(run, turns);
    table_row(t, "%s|%" PRIu32 "|%s|%" PRIu64 "|%" PRIu64 "|%.3f|%.3f|%.4f|%.4f", what, height, how, s->hashes, s->peak,
              1e-6 * count / loop, 1e-6 * count / own, own / loop, median(ratio, turns));
    close_subject(s);
}

/* Leaves from a file, which the system has in memory. */
static void file_row(const bench *b, table *t, uint32_t height)
{
    static const char path[] = "bench_merkle.leaves";
    static unsigned char leaf[64];
    subject s = {0};
    FILE *file = fopen(path, "wb");
    for (uint64_t i = 0; file && i < UINT64_C(1) << height; i++)
        fwrite(leaf, sizeof leaf, 1, file);
    if (!file || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    open_root(&s, height, "auto", path);
    row(b, t, "root", height, "file auto", &s);
    remove(path);
}

static void stream_row(const bench *b, table *t, uint32_t height, uint32_t grain, const char *name)
{
    subject s = {.height = height, .grain = grain};
    pb_traversal_figures figures;
    char how[40];
    open_subject(&s, height);
    must(&s.ctx, pb_traversal_parse(&s.ctx, name, height - grain, &s.spec), "merkle");
    must(&s.ctx, pb_traversal_measure(&s.ctx, &s.spec, (pb_traversal_prices){1, 1}, &figures), "merkle");
    s.slots = figures.slots;
    s.peak = s.slots * PBI_HASH + pbi_paths_room(&(pbi_paths){.tree = &s.tree, .height = height, .grain = grain});
    snprintf(how, sizeof how, "%s %" PRIu32, name, grain);
    row(b, t, "paths", height, how, &s);
}

void bench_merkle(const bench *b)
{
    static const char *const grains[] = {"0", "2", "4", "6", "8", "auto"};
    uint32_t height = b->size ? (uint32_t)b->size : b->smoke ? 8 : 13;
    table t;
    table_open(&t, b, "merkle",
               "what:6|height:6|how, grain:11|hashes:9|memory:7|loop M/s:8|tree M/s:8|time ratio:10|paired ratio:12");
    for (unsigned i = 0; i < sizeof grains / sizeof *grains; i++) {
        subject s = {0};
        open_root(&s, height, grains[i], "");
        row(b, &t, "root", height, grains[i], &s);
    }
    file_row(b, &t, height);
    for (uint32_t grain = 0; grain <= 4; grain += 2) {
        stream_row(b, &t, height, grain, "szydlo");
        stream_row(b, &t, height, grain, "bds:k=1");
        stream_row(b, &t, height, grain, "lazy:k=3");
    }
    table_close(&t);
}
