/* bench_verify.c -- how many moves a second the verifier replays and the metrics measure, and whether time grows with
 * the number of moves alone.
 *
 * A schedule computes every node in order and frees it after its last use; longer ones do so again and again on the
 * same graph of at most a million nodes.
 */
#include "measure.h"

#include <inttypes.h>
#include <string.h>

static void add_pass(pb_context *ctx, const pb_graph *g, pb_moves *moves, uint32_t *left)
{
    for (uint32_t v = 0; v < g->node_count; v++)
        left[v] = g->out_start[v + 1] - g->out_start[v];
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node v = g->order[i];
        must(ctx, pb_moves_add(moves, PB_COMPUTE, v, 0), "moves");
        for (uint32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++)
            if (--left[g->in[e]] == 0 && !(g->flags[g->in[e]] & PB_NODE_GIVEN))
                must(ctx, pb_moves_add(moves, PB_FREE, g->in[e], 0), "moves");
        if (left[v] == 0)
            must(ctx, pb_moves_add(moves, PB_FREE, v, 0), "moves");
    }
}

typedef struct times {
    double verify, metrics;
} times;

static times measure(const bench *b, const pb_game *game, const pb_moves *moves)
{
    times best = {1e300, 1e300};
    for (unsigned i = 0; i < b->repeat; i++) {
        pb_context ctx;
        pb_arena arena;
        pb_verdict verdict;
        pb_metrics metrics;
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        double t0 = now_seconds();
        must(&ctx, pb_verify(&ctx, game, moves, &arena, &verdict), "verify");
        double t1 = now_seconds();
        if (!verdict.certificate) {
            char text[256];
            pb_verdict_text(game, moves, &verdict, text, sizeof text);
            snprintf(ctx.error.message, sizeof ctx.error.message, "%s", text);
            must(&ctx, PB_EBUG, "verify");
        }
        must(&ctx, pb_metrics_measure(&ctx, verdict.certificate, &metrics), "metrics");
        double t2 = now_seconds();
        pb_arena_release(&arena);
        best.verify = t1 - t0 < best.verify ? t1 - t0 : best.verify;
        best.metrics = t2 - t1 < best.metrics ? t2 - t1 : best.metrics;
    }
    return best;
}

/* An instance of the shape with about `nodes` nodes. */
static const pb_graph *shape_make(pb_context *ctx, pb_arena *arena, const char *shape, uint64_t nodes)
{
    char spec[64];
    if (strcmp(shape, "tree") == 0) {
        unsigned height = 0;
        while (((uint64_t)4 << height) - 1 <= nodes + nodes / 2)
            height++;
        snprintf(spec, sizeof spec, "tree:height=%u", height);
    } else if (strcmp(shape, "layered") == 0) {
        snprintf(spec, sizeof spec, "layered:nodes=%" PRIu64 ",seed=1", nodes);
    } else {
        snprintf(spec, sizeof spec, "%s:%" PRIu64, shape, nodes);
    }
    return instance_make(ctx, arena, spec);
}

static double verify_row(const bench *b, table *t, const char *shape, uint64_t goal, double before)
{
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    const pb_graph *g = shape_make(&ctx, &arena, shape, goal / 2 < 1000000 ? goal / 2 : 1000000);
    pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    pb_moves moves;
    pb_moves_init(&moves, &arena);
    uint32_t *left = pb_arena_alloc(&arena, g->node_count, sizeof *left);
    must(&ctx, left ? PB_OK : PB_ENOMEM, "verify");
    add_pass(&ctx, g, &moves, left);
    for (pb_step pass = moves.count; moves.count + pass / 2 < goal;)
        add_pass(&ctx, g, &moves, left);
    times time = measure(b, &game, &moves);
    double all = time.verify + time.metrics, count = (double)moves.count, per_move = all / count;
    char growth[32] = "";
    if (before > 0)
        snprintf(growth, sizeof growth, "%.2f", per_move / before);
    table_row(t, "%s|%" PRIu32 "|%" PRIu32 "|%" PRIu64 "|%.6f|%.6f|%.1f|%.1f|%.1f|%s", shape, g->node_count,
              g->edge_count, moves.count, time.verify, time.metrics, 1e-6 * count / time.verify,
              1e-6 * count / time.metrics, 1e-6 / per_move, growth);
    pb_arena_release(&arena);
    return per_move;
}

void bench_verify(const bench *b)
{
    static const char *const shapes[] = {"chain", "tree", "layered"};
    table t;
    table_open(&t, b, "verify",
               "shape:8|nodes:9|edges:9|moves:9|verify s:10|metrics s:10|verify M/s:10|metrics M/s:11|both M/s:9|"
               "time per move x:15");
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (!instance_wanted(b, shapes[i]))
            continue;
        double before = 0;
        if (b->size)
            verify_row(b, &t, shapes[i], b->size, 0);
        for (uint64_t goal = 10000; !b->size && goal <= (b->smoke ? 10000 : 10000000); goal *= 10)
            before = verify_row(b, &t, shapes[i], goal, before);
    }
    table_close(&t);
}
