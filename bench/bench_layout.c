/* bench_layout.c -- positions of graphs as they grow: seconds and memory. The page asks for 100,000 nodes in 0.3 s. */
#include "measure.h"

#include <stdio.h>

typedef struct drawn {
    const char *family, *format; /* of the instance, with the size in it */
    bool closed;                 /* its groups are single nodes */
} drawn;

static void measure_one(const bench *b, table *t, const drawn *d, unsigned long size)
{
    char spec[96];
    pb_context ctx;
    pb_arena arena;
    double best = -1;
    size_t peak = 0;
    pb_layout l = {.kind = PB_LAYOUT_LAYERED};
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    snprintf(spec, sizeof spec, "%s:%s=%lu", d->family, d->format, size);
    const pb_graph *g = instance_make(&ctx, &arena, spec);
    for (unsigned i = 0; i < b->repeat; i++) {
        pb_context own;
        pb_arena result;
        pb_context_init(&own);
        pb_arena_init(&result, &own);
        double begin = now_seconds();
        pb_layout_groups groups = {.graph = g};
        if (d->closed)
            must(&own, pb_layout_close(&own, g, PB_LANES_AUTO, NULL, &result, &groups), "groups");
        must(&own, pb_layout_make(&own, groups.graph, &(pb_layout_options){.lane = groups.lane}, &result, &l),
             "layout");
        double seconds = now_seconds() - begin;
        best = best < 0 || seconds < best ? seconds : best;
        peak = own.memory_peak;
        pb_arena_release(&result);
    }
    static const char *const kinds[] = {"layered", "tree", "lanes"};
    table_row(t, "%s|%s%s|%lu|%lu|%.4f|%.1f", d->family, kinds[l.kind], d->closed ? ", closed" : "",
              (unsigned long)g->node_count, (unsigned long)g->edge_count, best, (double)peak / 1048576);
    pb_arena_release(&arena);
}

void bench_layout(const bench *b)
{
    static const drawn all[] = {{"layered", "nodes", false},       {"chain", "nodes", false},
                                {"adjoint-chain", "steps", false}, {"tree", "shape=random,nodes", false},
                                {"mlp", "depth", false},           {"mlp", "depth", true}};
    static const unsigned long sizes[] = {1000, 10000, 100000, 1000000};
    table t;
    table_open(&t, b, "layout", "family:14|kind:19|nodes:9|edges:9|seconds:9|MiB:9");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k < (b->smoke ? 1 : b->full ? 4 : 3); k++) {
            unsigned long size = b->size ? (unsigned long)b->size : sizes[k];
            if (instance_wanted(b, all[i].family))
                measure_one(b, &t, &all[i], all[i].format[0] == 'd' ? size / 5 : size); /* about five nodes a layer */
            if (b->size)
                break;
        }
    table_close(&t);
}
