/* bench_scale.c -- plans of graphs of ten thousand to a million nodes: work over computing everything once, with the proved
 * bound, time and memory. Seconds are the processor's, one thread, from the graph in memory to the verified plan with its
 * bound.
 */
#include "measure.h"

#include <inttypes.h>
#include <time.h>

typedef struct row {
    const char *spec, *strategy;
    unsigned percent;
    bool full; /* only with --full */
} row;

/* The parameters of the default model are a sixth of its peak. Deep caps are for large batches, with and without a large
 * vocabulary, whose last layer alone may be over them. At 1 % values between layers are recomputed many times. */
static const row rows[] = {
    {"transformer:blocks=240", "auto", 50, false},
    {"transformer:blocks=240", "auto", 30, false},
    {"transformer:blocks=2400", "auto", 50, false},
    {"transformer:blocks=2400", "auto", 30, false},
    {"transformer:blocks=24000", "auto", 50, false},
    {"transformer:blocks=24000", "auto", 30, false},
    {"transformer:blocks=240", "cut", 50, false},
    {"transformer:blocks=24000", "cut", 50, false},
    {"transformer:blocks=240,batch=256", "auto", 10, false},
    {"transformer:blocks=240,batch=256", "auto", 5, false},
    {"transformer:blocks=2400,batch=256", "auto", 10, false},
    {"transformer:blocks=2400,batch=256", "auto", 5, false},
    {"transformer:blocks=240,optimizer=none,grads=update", "auto", 30, false},
    {"transformer:blocks=240,optimizer=none,grads=update", "auto", 15, false},
    {"transformer:blocks=240,batch=256,vocabulary=1000", "auto", 10, false},
    {"transformer:blocks=240,batch=256,vocabulary=1000", "auto", 5, false},
    {"transformer:blocks=2400,batch=256,vocabulary=1000", "auto", 5, false},
    {"transformer:blocks=2400,batch=256,vocabulary=1000", "auto", 1, true},
    {"transformer:blocks=24000,batch=256,vocabulary=1000", "auto", 5, true},
    {"layered:nodes=10000,seed=1", "auto", 80, false},
    {"layered:nodes=100000,seed=1", "auto", 80, false},
    {"layered:nodes=1000000,seed=1", "auto", 80, true},
};

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void run_row(const bench *b, table *t, const row *r)
{
    pb_context ctx, plan_ctx;
    pb_arena arena, plan_arena;
    plan_run run;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    const pb_graph *g = instance_make(&ctx, &arena, b->smoke ? "transformer:blocks=3" : r->spec);
    pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .weights = PB_WEIGHTS_DEFAULT};
    game.cap = percent_cap(&ctx, g, b->smoke ? 90 : r->percent);
    double begin = processor_seconds();
    plan_once(b, &game, r->strategy, &plan_ctx, &plan_arena, &run);
    double seconds = processor_seconds() - begin, parts = (double)g->node_count + (double)g->edge_count;
    size_t most = ctx.memory_used + run.memory_peak; /* or while the graph was made */
    double bytes = (double)(most > ctx.memory_peak ? most : ctx.memory_peak) / parts;
    const pb_schedule *s = &run.planned.schedule;
    if (run.status == PB_OK && run.planned.certificate) {
        double bound = (double)s->lower_bound / (double)g->needed_cost - 1;
        table_row(t, "%s|%" PRIu32 "|%" PRIu32 "|%u|%s|%.4f|%.4f|%.4f|%.2f|%.0f", r->spec, g->node_count, g->edge_count,
                  r->percent, r->strategy, 100 * s->metrics.overhead, 100 * bound, 100 * (s->metrics.overhead - bound),
                  seconds, bytes);
    } else {
        table_row(t, "%s|%" PRIu32 "|%" PRIu32 "|%u|%s|none: %s||||%.2f|%.0f", r->spec, g->node_count, g->edge_count,
                  r->percent, r->strategy, run.message, seconds, bytes);
    }
    pb_arena_release(&plan_arena);
    pb_arena_release(&arena);
}

void bench_scale(const bench *b)
{
    table t;
    table_open(&t, b, "scale",
               "instance:50|nodes:8|edges:8|cap %:5|strategy:8|overhead %:10|bound %:8|points:7|processor "
               "s:11|B/node+edge:11");
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (instance_wanted(b, rows[i].spec) && (b->full || !rows[i].full))
            run_row(b, &t, &rows[i]);
    table_close(&t);
}
