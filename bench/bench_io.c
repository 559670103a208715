/* bench_io.c -- reading and writing graphs and schedules: seconds, MB/s and the peak memory of the process.
 *
 * Every measurement runs in a process of its own, so that its peak memory is its own.
 */
#define _POSIX_C_SOURCE 200809L
#include "measure.h"

#include "base/rng.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct io_case {
    const char *what;
    pb_format format;
    bool schedule, write;
} io_case;

typedef struct io_result {
    double seconds;
    long peak_kib;
} io_result;

/* Three inputs each from the thousand nodes before it, as in a network with short skips. */
static const pb_graph *build_graph(pb_context *ctx, pb_arena *arena, uint32_t nodes)
{
    pb_builder *builder;
    pbi_rng rng = {1};
    must(ctx, pb_builder_new(ctx, &builder), "builder");
    for (uint32_t v = 0; v < nodes; v++) {
        char name[32];
        pb_node_spec spec = {.cost = 1 + pbi_rng_below(&rng, 1000000), .size = 1 + pbi_rng_below(&rng, 1000000)};
        spec.name = name;
        spec.name_length = (size_t)snprintf(name, sizeof name, "block%" PRIu32 ".op%" PRIu32, v / 32, v % 32);
        must(ctx, pb_builder_add_node(builder, &spec, &(pb_node){0}), "node");
        uint32_t window = v < 1000 ? v : 1000;
        for (uint32_t k = 0; k < 3 && k < window; k++) /* thirds of the window: never the same node twice */
            must(ctx,
                 pb_builder_add_edge(
                     builder, v - 1 - (k * window / 3 + (uint32_t)pbi_rng_below(&rng, window < 3 ? 1 : window / 3)), v),
                 "edge");
    }
    const pb_graph *g;
    must(ctx, pb_builder_freeze(builder, arena, &g), "freeze");
    pb_builder_free(builder);
    return g;
}

static void build_schedule(pb_context *ctx, pb_arena *arena, const pb_graph *g, pb_schedule *s)
{
    *s = (pb_schedule){.graph_name = g->name,
                       .game = PB_GAME_REMAT,
                       .cap = g->total_size,
                       .weights = PB_WEIGHTS_DEFAULT,
                       .strategy = "bench",
                       .version = PB_VERSION,
                       .outcome = PB_FOUND};
    must(ctx, pb_graph_hash(ctx, g, s->graph_hash), "hash");
    pb_moves_init(&s->moves, arena);
    for (uint32_t i = 0; i < g->order_count; i++)
        must(ctx, pb_moves_add(&s->moves, PB_COMPUTE, g->order[i], 0), "moves");
    for (uint32_t i = 0; i < g->order_count; i++)
        must(ctx, pb_moves_add(&s->moves, PB_FREE, g->order[i], 0), "moves");
}

static FILE *open_file(const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static size_t put_varint(char *to, uint64_t value)
{
    size_t n = 0;
    for (; value > 127; value >>= 7)
        to[n++] = (char)(value | 128);
    to[n++] = (char)value;
    return n;
}

/* A model of one product, y = x w, with `bytes` bytes of numbers in the file. */
static void write_model(const char *path, size_t bytes)
{
    static const char node[] = "\x0a\x11\x0a\x01x\x0a\x01w\x12\x01y\x22\x06MatMul";
    static const char input[] =
        "\x5a\x15\x0a\x01x\x12\x10\x0a\x0e\x08\x01\x12\x0a\x0a\x02\x08\x01\x0a\x04\x08\x80\xc8\x01";
    static const char output[] = "\x62\x03\x0a\x01y";
    static const char weight[] = "\x08\x80\xc8\x01\x08\x80\x08\x10\x01\x42\x01w\x4a"; /* [25600, 1024] */
    char length[3][10];
    size_t numbers = put_varint(length[0], bytes), tensor = sizeof weight - 1 + numbers + bytes;
    size_t weights = put_varint(length[1], tensor), rest = sizeof node + sizeof input + sizeof output - 3;
    size_t graph = put_varint(length[2], rest + 1 + weights + tensor);
    FILE *file = open_file(path, "wb");
    bool written = fwrite("\x08\x08\x3a", 1, 3, file) == 3 && fwrite(length[2], 1, graph, file) == graph &&
                   fputs(node, file) >= 0 && fputs(input, file) >= 0 && fputs(output, file) >= 0 &&
                   fputc('\x2a', file) >= 0 && fwrite(length[1], 1, weights, file) == weights &&
                   fputs(weight, file) >= 0 && fwrite(length[0], 1, numbers, file) == numbers;
    for (size_t i = 0; written && i < bytes; i++)
        written = fputc(0, file) >= 0;
    if (fclose(file) != 0 || !written) {
        perror(path);
        exit(1);
    }
}

/* The work of one child: the time of the call itself. */
static double run_case(const io_case *c, const char *path, uint32_t nodes)
{
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    const pb_graph *g = NULL;
    pb_schedule schedule;
    if (c->write || c->schedule)
        g = build_graph(&ctx, &arena, nodes);
    if (c->write && c->schedule)
        build_schedule(&ctx, &arena, g, &schedule);
    FILE *file = open_file(path, c->write ? "wb" : "rb");
    double begin = now_seconds();
    pb_status status;
    if (c->write)
        status = c->schedule ? pb_schedule_write(&ctx, &schedule, c->format, file_sink(file))
                             : pb_graph_write(&ctx, g, c->format, file_sink(file));
    else
        status = c->schedule ? pb_schedule_read(&ctx, file_source(file), c->format, g, &arena, &schedule)
                             : pb_graph_read(&ctx, file_source(file), c->format, path, &arena, &g);
    must(&ctx, status, c->what);
    if (fclose(file) != 0)
        must(&ctx, PB_EIO, c->what);
    return now_seconds() - begin;
}

static io_result run_in_child(const io_case *c, const char *path, uint32_t nodes)
{
    int ends[2];
    io_result result;
    fflush(NULL);
    if (pipe(ends) != 0) {
        perror("bench");
        exit(1);
    }
    pid_t child = fork();
    if (child == 0) {
        result.seconds = run_case(c, path, nodes);
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        result.peak_kib = usage.ru_maxrss;
        _exit(write(ends[1], &result, sizeof result) == (ssize_t)sizeof result ? 0 : 1);
    }
    int status = 1;
    close(ends[1]);
    bool whole = child > 0 && read(ends[0], &result, sizeof result) == (ssize_t)sizeof result;
    close(ends[0]);
    if (child > 0)
        waitpid(child, &status, 0);
    if (!whole || status != 0) {
        fprintf(stderr, "bench: %s failed\n", c->what);
        exit(1);
    }
    return result;
}

static void io_row(const bench *b, table *t, const io_case *c, const char *path, uint32_t nodes)
{
    io_result best = {1e300, 0};
    for (unsigned i = 0; i < (b->repeat < 3 ? b->repeat : 3); i++) {
        io_result one = run_in_child(c, path, nodes);
        if (one.seconds < best.seconds)
            best = one;
    }
    struct stat status = {0};
    stat(path, &status);
    double mb = 1e-6 * (double)status.st_size;
    /* A writer holds the graph before it starts: its peak says nothing about writing. */
    char peak[32] = "";
    if (!c->write)
        snprintf(peak, sizeof peak, "%.0f", 1.024e-3 * (double)best.peak_kib);
    table_row(t, "%s|%s|%" PRIu32 "|%.1f|%.3f|%.0f|%s", c->what, c->write ? "write" : "read", nodes, mb, best.seconds,
              mb / best.seconds, peak);
}

void bench_io(const bench *b)
{
    static const io_case cases[] = {
        {"graph json", PB_FORMAT_JSON, false, true},       {"graph json", PB_FORMAT_JSON, false, false},
        {"graph csv", PB_FORMAT_CSV, false, true},         {"graph csv", PB_FORMAT_CSV, false, false},
        {"graph dot", PB_FORMAT_DOT, false, true},         {"graph dot", PB_FORMAT_DOT, false, false},
        {"schedule json", PB_FORMAT_JSON, true, true},     {"schedule json", PB_FORMAT_JSON, true, false},
        {"schedule binary", PB_FORMAT_BINARY, true, true}, {"schedule binary", PB_FORMAT_BINARY, true, false},
    };
    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/pebble-bench-XXXXXX", folder ? folder : "/tmp");
    int file = mkstemp(path);
    if (file < 0) {
        perror(path);
        exit(1);
    }
    close(file);
    uint32_t nodes = b->size ? (uint32_t)b->size : b->smoke ? 1000 : 1000000;
    table t;
    table_open(&t, b, "io", "what:16|way:6|nodes:9|MB:8|seconds:8|MB/s:7|peak MB:8");
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        if (instance_wanted(b, cases[i].what))
            io_row(b, &t, &cases[i], path, nodes);
    if (instance_wanted(b, "model onnx")) { /* 100 MB of weights */
        write_model(path, b->smoke ? 1000 : 100000000);
        io_row(b, &t, &(io_case){"model onnx", PB_FORMAT_ONNX, false, false}, path, 2);
    }
    table_close(&t);
    remove(path);
}
