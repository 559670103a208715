/* bench_engine.c -- what the engine costs in addition to its kernels: a run of a plan against a hand-written loop over the same kernels
 * at the same addresses.
 *
 * The loop is given every address ahead: no program can do with less. Rounds of both alternate, so that what else the machine does
 * falls on both; the best of each is compared.
 */
#define _POSIX_C_SOURCE 199309L
#include "measure.h"

#include <inttypes.h>
#include <time.h>

enum { WORDS = 256 };

typedef struct call {
    const float *a, *b;
    float *out;
} call;

typedef struct workload {
    const pb_graph *g;
    uint32_t words, rounds;
    void (*step)(const call *c, uint32_t words, uint32_t rounds); /* by address: one piece of code for both */
    call *calls;                                                  /* recorded by the first run */
    size_t count, room;
    bool records;
} workload;

/* Reads one or two values; `rounds` make it long without more memory, so that caches do not blur the comparison. */
static void step(const call *c, uint32_t words, uint32_t rounds)
{
    for (uint32_t i = 0; i < words; i++) {
        float x = c->a[i], y = c->b[i];
        for (uint32_t k = 0; k < rounds; k++)
            x = x * 0.999f + y;
        c->out[i] = x;
    }
}

static pb_status kernel(void *state, pb_context *ctx, const pb_call *in)
{
    workload *w = state;
    const pb_graph *g = w->g;
    uint32_t from = g->in_start[in->node], to = g->in_start[in->node + 1];
    (void)ctx;
    call c = {.a = in->value[g->in[from]], .b = in->value[g->in[to - 1]], .out = in->value[in->node]};
    if (w->records && w->count < w->room)
        w->calls[w->count++] = c;
    w->step(&c, w->words, w->rounds);
    return PB_OK;
}

static pb_status fill(void *state, pb_context *ctx, pb_node v, void *bytes)
{
    const workload *w = state;
    (void)ctx;
    for (uint32_t i = 0; i < w->words; i++)
        ((float *)bytes)[i] = (float)(v + i % 7);
    return PB_OK;
}

static void by_hand(const workload *w)
{
    for (size_t i = 0; i < w->count; i++)
        w->step(&w->calls[i], w->words, w->rounds);
}

static uint64_t clock_now(void *state)
{
    struct timespec t;
    (void)state;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Of this thread, so that waiting for the processor does not count. */
static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A chain and its backward pass, sizes in bytes. */
static const pb_graph *make_graph(pb_context *ctx, pb_arena *arena, uint32_t steps, uint32_t words)
{
    pb_builder *b;
    pb_node got;
    const pb_graph *g;
    must(ctx, pb_builder_new(ctx, &b), "graph");
    for (pb_node v = 0; v <= 2 * steps; v++) {
        pb_node_spec spec = {.cost = v ? 1 : 0, .size = words * sizeof(float)};
        spec.flags = v == 0 ? PB_NODE_GIVEN : v == 2 * steps ? PB_NODE_KEEP : 0;
        must(ctx, pb_builder_add_node(b, &spec, &got), "graph");
        if (v)
            must(ctx, pb_builder_add_edge(b, v - 1, v), "graph");
        if (v > steps + 1)
            must(ctx, pb_builder_add_edge(b, 2 * steps + 1 - v, v), "graph");
    }
    must(ctx, pb_builder_freeze(b, arena, &g), "graph");
    pb_builder_free(b);
    return g;
}

static void row(const bench *b, table *t, uint32_t steps, uint32_t rounds, bool timed)
{
    pb_context ctx;
    pb_arena arena;
    pb_plan_result planned;
    pb_engine *e;
    pb_measured m;
    pb_context_init(&ctx);
    ctx.clock_ns = timed ? clock_now : NULL;
    pb_arena_init(&arena, &ctx);
    workload w = {
        .g = make_graph(&ctx, &arena, steps, WORDS), .words = WORDS, .rounds = rounds, .step = step, .records = true};
    pb_game game = {.graph = w.g, .kind = PB_GAME_REMAT, .weights = PB_WEIGHTS_DEFAULT};
    game.cap = percent_cap(&ctx, w.g, 40);
    must(&ctx, pb_plan(&ctx, &game, &PB_REQUEST_DEFAULT, &arena, &planned), "plan");
    must(&ctx, planned.certificate ? PB_OK : PB_ELIMIT, "plan");
    pb_kernel *of = pb_arena_zero(&arena, w.g->node_count, sizeof *of);
    w.room = (size_t)pb_certificate_totals(planned.certificate)->compute_count;
    w.calls = pb_arena_alloc(&arena, w.room, sizeof *w.calls);
    for (pb_node v = 1; v < w.g->node_count; v++)
        of[v] = kernel;
    pb_kernels kernels = {.of = of, .state = &w, .fill = fill};
    must(&ctx, pb_engine_new(&ctx, planned.certificate, &kernels, &(pb_engine_options){0}, &e), "engine");
    must(&ctx, pb_engine_run(e, &m), "run");
    w.records = false;
    double loop = 1e300, run = 1e300;
    for (unsigned i = 0; i < 10 * b->repeat; i++) {
        double t0 = cpu_seconds();
        by_hand(&w);
        double t1 = cpu_seconds();
        must(&ctx, pb_engine_run(e, &m), "run");
        double t2 = cpu_seconds();
        loop = t1 - t0 < loop ? t1 - t0 : loop;
        run = t2 - t1 < run ? t2 - t1 : run;
    }
    uint64_t moves = pb_certificate_moves(planned.certificate)->count;
    table_row(t, "%" PRIu32 "|%s|%" PRIu64 "|%zu|%.0f|%.1f|%.2f", steps, timed ? "yes" : "no", moves, w.count,
              loop / (double)w.count * 1e9, (run - loop) / (double)moves * 1e9, (run / loop - 1) * 100);
    pb_engine_free(e);
    pb_arena_release(&arena);
}

void bench_engine(const bench *b)
{
    static const uint32_t rounds[] = {8, 16, 24, 48};
    uint32_t steps = b->smoke ? 20 : b->size ? (uint32_t)b->size : 400;
    table t;
    table_open(&t, b, "engine", "steps:6|clock:6|moves:7|computed:9|kernel ns:10|engine ns a move:17|overhead %:11");
    for (unsigned i = 0; i < sizeof rounds / sizeof *rounds && (!b->smoke || i < 1); i++)
        for (int timed = 0; timed < 2; timed++)
            row(b, &t, steps, rounds[i], timed);
    table_close(&t);
}
