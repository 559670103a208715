/* bench_large.c -- do million-node graphs go all the way? Generate, write, read back, plan, verify: a test more than a
 * measurement, and the program fails where one step does.
 */
#include "measure.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const instances[] = {"chain:1000000", "tree:height=19", "layered:nodes=1000000,seed=1",
                                        "transformer:blocks=20000"};

/* Through JSON and back: the same canonical graph. */
static void round_trip(pb_context *ctx, const pb_graph *g, double *write_seconds, double *read_seconds)
{
    pb_arena arena;
    pb_buffer buffer;
    pb_arena_init(&arena, ctx);
    pb_buffer_init(&buffer, &arena);
    double begin = now_seconds();
    must(ctx, pb_graph_write(ctx, g, PB_FORMAT_JSON, pb_sink_buffer(&buffer)), "write");
    *write_seconds = now_seconds() - begin;
    pb_memory memory = {buffer.bytes, buffer.length, 0};
    const pb_graph *again;
    begin = now_seconds();
    must(ctx, pb_graph_read(ctx, pb_source_memory(&memory), PB_FORMAT_AUTO, NULL, &arena, &again), "read");
    *read_seconds = now_seconds() - begin;
    char before[PB_HASH_TEXT], after[PB_HASH_TEXT];
    must(ctx, pb_graph_hash(ctx, g, before), "hash");
    must(ctx, pb_graph_hash(ctx, again, after), "hash");
    if (strcmp(before, after) != 0) {
        fprintf(stderr, "bench: %s changed on its way through JSON\n", g->name);
        exit(1);
    }
    pb_arena_release(&arena);
}

static void large_instance(const bench *b, table *t, const char *spec)
{
    pb_context ctx, plan_ctx;
    pb_arena arena, plan_arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    double begin = now_seconds(), written = 0, read = 0;
    const pb_graph *g = instance_make(&ctx, &arena, b->smoke ? "chain:100" : spec);
    double generated = now_seconds() - begin;
    round_trip(&ctx, g, &written, &read);
    uint64_t cap = percent_cap(&ctx, g, 100);
    pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .cap = cap, .weights = PB_WEIGHTS_DEFAULT};
    plan_run run;
    plan_once(b, &game, "auto", &plan_ctx, &plan_arena, &run);
    if (run.status != PB_OK || !run.planned.certificate || run.planned.schedule.metrics.peak > cap) {
        fprintf(stderr, "bench: %s has no plan at its written peak: %s\n", spec, run.message);
        exit(1);
    }
    table_row(t, "%s|%" PRIu32 "|%" PRIu32 "|%.2f|%.2f|%.2f|%.2f|%" PRIu64 "|%.4f|%.0f", spec, g->node_count,
              g->edge_count, generated, written, read, run.seconds, run.planned.schedule.metrics.moves,
              run.planned.schedule.metrics.overhead, 1e-6 * (double)(ctx.memory_peak + run.memory_peak));
    pb_arena_release(&plan_arena);
    pb_arena_release(&arena);
}

void bench_large(const bench *b)
{
    table t;
    table_open(&t, b, "large",
               "instance:28|nodes:8|edges:8|generate s:10|write s:8|read s:8|plan s:8|moves:9|overhead:9|arena MB:8");
    for (unsigned i = 0; i < sizeof instances / sizeof *instances; i++)
        if (instance_wanted(b, instances[i]))
            large_instance(b, &t, instances[i]);
    table_close(&t);
}
