/* bench_timed.c -- timed plans on real memory: predicted and measured makespan over throttled links; and how fast the
 * verifier replays timed moves.
 *
 * Kernels take a fixed time, most of which they sleep, so that other programs disturb the measurement little.
 */
#define _POSIX_C_SOURCE 200809L
#include "measure.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SLACK_NS = 3000000, MAX_CELLS = 12 };

typedef struct workload {
    const pb_graph *g;
    uint64_t due; /* when the last kernel was due to end */
} workload;

static uint64_t wall_ns(void *state)
{
    struct timespec now;
    (void)state;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Every word depends on the inputs. A kernel that follows another one directly is counted from that one's end. */
static pb_status kernel(void *state, pb_context *ctx, const pb_call *call)
{
    workload *w = state;
    const pb_graph *g = w->g;
    uint64_t begin = wall_ns(NULL), hash = call->node;
    (void)ctx;
    for (uint32_t k = g->in_start[call->node]; k < g->in_start[call->node + 1]; k++) {
        const uint64_t *x = call->value[g->in[k]];
        for (uint64_t i = 0; i < g->size[g->in[k]] / sizeof *x; i += 512)
            hash = (hash ^ x[i]) * 0x100000001b3u;
    }
    uint64_t *y = call->value[call->node];
    for (uint64_t i = 0; i < g->size[call->node] / sizeof *y; i++)
        y[i] = hash + i;
    bool follows = w->due && begin >= w->due && begin - w->due < SLACK_NS;
    w->due = (follows ? w->due : begin) + g->cost[call->node];
    struct timespec until = {(time_t)(w->due / 1000000000u), (long)(w->due % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    return PB_OK;
}

static pb_status fill(void *state, pb_context *ctx, pb_node given, void *bytes)
{
    const workload *w = state;
    (void)ctx;
    memset(bytes, (int)given + 1, w->g->size[given]);
    return PB_OK;
}

/* A chain of `steps` and its gradients. */
static const pb_graph *make_chain(pb_context *ctx, pb_arena *arena, uint32_t steps, bool small)
{
    pb_builder *builder;
    const pb_graph *g;
    must(ctx, pb_builder_new(ctx, &builder), "chain");
    for (pb_node v = 0; v <= 2 * steps; v++) {
        pb_node got;
        pb_node_spec spec = {.cost = v ? (8 + v * 7 % 5) * 1000000u : 0, .size = 262144 + 65536 * (v * 5 % 7)};
        spec.flags = v == 0 ? PB_NODE_GIVEN : v == 2 * steps ? PB_NODE_KEEP : 0;
        spec.cost = small ? spec.cost / 1000000 : spec.cost;
        spec.size = small ? 8 : spec.size;
        must(ctx, pb_builder_add_node(builder, &spec, &got), "chain");
        if (v)
            must(ctx, pb_builder_add_edge(builder, v - 1, v), "chain");
        if (v > steps + 1)
            must(ctx, pb_builder_add_edge(builder, 2 * steps + 1 - v, v), "chain");
    }
    must(ctx, pb_builder_freeze(builder, arena, &g), "chain");
    pb_builder_free(builder);
    return g;
}

/* Copying every value once over one of the links takes `load` % of computing everything once. */
static pb_plan_result plan_cell(pb_context *ctx, pb_arena *arena, const pb_graph *g, uint64_t cap, unsigned load,
                                const char *strategy)
{
    uint64_t moved = 0, work = g->needed_cost ? g->needed_cost : 1;
    for (pb_node v = 0; v < g->node_count; v++)
        moved += g->size[v];
    pb_machine_memory *memories = pb_arena_zero(arena, 2, sizeof *memories);
    pb_machine_processor *processor = pb_arena_zero(arena, 1, sizeof *processor);
    pb_machine_link *links = pb_arena_zero(arena, 2, sizeof *links);
    pb_machine *m = pb_arena_zero(arena, 1, sizeof *m);
    pb_game *game = pb_arena_zero(arena, 1, sizeof *game);
    pb_plan_result planned;
    if (!memories || !processor || !links || !m || !game)
        exit(1);
    uint64_t rate = (uint64_t)(1e11 * (double)moved / ((double)work * load));
    memories[0] = (pb_machine_memory){.name = "near", .cap = cap};
    memories[1] = (pb_machine_memory){.name = "far", .cap = PB_UNLIMITED};
    *processor = (pb_machine_processor){.name = "cpu"};
    links[0] = (pb_machine_link){.name = "out", .to = 1, .bandwidth = rate};
    links[1] = (pb_machine_link){.name = "in", .from = 1, .bandwidth = rate};
    *m = (pb_machine){.name = "bench",
                      .time_unit = "ns",
                      .per_second = 1000000000,
                      .memories = memories,
                      .processors = processor,
                      .links = links,
                      .memory_count = 2,
                      .processor_count = 1,
                      .link_count = 2};
    *game = (pb_game){.graph = g, .kind = PB_GAME_TIMED, .cap = cap, .weights = PB_WEIGHTS_DEFAULT};
    must(ctx, pb_timing_make(ctx, g, m, arena, &game->timing), "timing");
    must(ctx, pb_timing_graph(ctx, game->timing, arena, &game->graph), "timing");
    ctx->tick_limit = 40000;
    must(ctx, pb_plan(ctx, game, &(pb_request){.seed = 1, .strategy = strategy}, arena, &planned), "plan");
    ctx->tick_limit = 0;
    return planned;
}

typedef struct cell {
    uint64_t makespan, stall;
    bool peak, bits;
} cell;

/* The best of several runs. */
static cell run_cell(const bench *b, pb_context *ctx, const pb_plan_result *planned, uint64_t *expected)
{
    workload w = {.g = planned->game->graph};
    pb_kernel *of = calloc((size_t)w.g->node_count, sizeof *of);
    pb_node last = w.g->node_count - 1;
    cell best = {.makespan = UINT64_MAX, .peak = true, .bits = true};
    pb_engine *e;
    pb_measured m;
    if (!of)
        exit(1);
    for (pb_node v = 1; v <= last; v++)
        of[v] = kernel;
    pb_kernels kernels = {.of = of, .state = &w, .fill = fill};
    must(ctx, pb_engine_new(ctx, planned->certificate, &kernels, &(pb_engine_options){.throttle = true}, &e), "engine");
    for (unsigned i = 0; i < b->repeat; i++) {
        w.due = 0;
        must(ctx, pb_engine_run(e, &m), "run");
        const uint64_t *result = pb_engine_value(e, last);
        *expected = *expected ? *expected : result[7];
        best.bits &= result[7] == *expected;
        best.peak &= m.peak == planned->schedule.metrics.peak;
        if (m.makespan_ns < best.makespan) {
            best.makespan = m.makespan_ns;
            best.stall = m.stall_copy_ns + m.stall_memory_ns;
        }
    }
    pb_engine_free(e);
    free(of);
    return best;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void bench_cells(const bench *b, table *t)
{
    static const unsigned caps[] = {50, 35, 25}, loads[] = {10, 30, 100, 300};
    double off[MAX_CELLS];
    uint64_t expected = 0;
    int count = 0;
    for (int i = 0; i < (b->smoke ? 1 : MAX_CELLS); i++) {
        pb_context ctx;
        pb_arena arena;
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        ctx.clock_ns = wall_ns;
        const pb_graph *g = make_chain(&ctx, &arena, b->smoke ? 4 : 16, false);
        unsigned cap = b->smoke ? 75 : caps[i / 4], load = loads[i % 4];
        pb_plan_result planned = plan_cell(&ctx, &arena, g, percent_cap(&ctx, g, cap), load, "auto");
        if (planned.certificate) {
            cell c = run_cell(b, &ctx, &planned, &expected);
            double expects = (double)planned.schedule.metrics.makespan, change = (double)c.makespan / expects - 1;
            off[count++] = change < 0 ? -change : change;
            table_row(t, "%u %% cap, %u %% load|%.1f|%.1f|%+.1f|%.1f|%s|%s", cap, load, 1e-6 * expects,
                      1e-6 * (double)c.makespan, 100 * change, 1e-6 * (double)c.stall, c.peak ? "yes" : "NO",
                      c.bits ? "yes" : "NO");
        }
        pb_arena_release(&arena);
    }
    qsort(off, (size_t)count, sizeof *off, by_value);
    if (count)
        printf("makespan off by %.1f %% (median), %.1f %% at worst\n", 100 * off[count / 2], 100 * off[count - 1]);
}

static void bench_replay(const bench *b)
{
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    const pb_graph *g = make_chain(&ctx, &arena, b->smoke ? 100 : 100000, true);
    pb_plan_result planned = plan_cell(&ctx, &arena, g, percent_cap(&ctx, g, 50), 10, "offload-all:after=4");
    double best = 1e9;
    for (unsigned i = 0; planned.certificate && i < b->repeat; i++) {
        pb_verdict verdict;
        pb_arena scratch;
        pb_arena_init(&scratch, &ctx);
        double begin = now_seconds();
        must(&ctx, pb_verify(&ctx, planned.game, &planned.schedule.moves, &scratch, &verdict), "verify");
        double seconds = now_seconds() - begin;
        best = seconds < best ? seconds : best;
        pb_arena_release(&scratch);
    }
    if (planned.certificate)
        printf("the verifier replays %.1f million timed moves a second\n",
               1e-6 * (double)planned.schedule.moves.count / best);
    pb_arena_release(&arena);
}

void bench_timed(const bench *b)
{
    table t;
    table_open(&t, b, "timed",
               "cell:24|predicted ms:14|measured ms:13|off %:8|stalls ms:11|peak equal:12|bits equal:12");
    bench_cells(b, &t);
    table_close(&t);
    bench_replay(b);
}
