/* tests/unit/train_fixture.h -- small networks of each kind, planned and run, for the tests of the workload train. */
#ifndef TRAIN_FIXTURE_H
#define TRAIN_FIXTURE_H

#include "pebble/full.h"
#include "workloads/train_params.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { BENCH_OPTIONS = 8 };
typedef struct network {
    const char *name;
    pb_option option[BENCH_OPTIONS];
    uint32_t count;
    const char *wide; /* a batch with which values weigh more than parameters */
} network;

static const network tiny[] = {
    {"mlp", {{"model", "mlp"}, {"batch", "16"}, {"depth", "3"}, {"width", "24"}, {"image", "4"}}, 5, "256"},
    {"resnet", {{"model", "resnet"}, {"batch", "4"}, {"depth", "1"}, {"width", "16"}, {"image", "8"}}, 5, "32"},
    {"unet", {{"model", "unet"}, {"batch", "2"}, {"depth", "2"}, {"width", "16"}, {"image", "16"}}, 5, "12"},
    {"transformer",
     {{"model", "transformer"},
      {"batch", "2"},
      {"depth", "2"},
      {"width", "32"},
      {"sequence", "16"},
      {"heads", "2"},
      {"classes", "20"}},
     7,
     "16"},
};
enum { TINY = sizeof tiny / sizeof *tiny };

typedef struct bench {
    pb_context ctx;
    pb_arena arena;
    pb_workload *w;
    pb_game game;
    uint64_t written; /* the peak in program order */
    pb_engine *e;
    uint64_t peak; /* as planned */
    pb_measured m;
} bench;

static inline void need_library(void)
{
    if (!pb_train_library()) {
        print_message("oneDNN is not installed: skipped\n");
        skip();
    }
}

static inline void bench_open(bench *b, const network *net)
{
    memset(b, 0, sizeof *b);
    pb_context_init(&b->ctx);
    pb_arena_init(&b->arena, &b->ctx);
    pb_status status = pb_workload_open(&b->ctx, "train", net->option, net->count, &b->w);
    if (status != PB_OK)
        fail_msg("%s: %s", net->name, b->ctx.error.message);
    b->game = (pb_game){
        .graph = pb_workload_graph(b->w), .kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    assert_int_equal(pb_graph_program_peak(&b->ctx, b->game.graph, &b->written), PB_OK);
}

static inline void bench_close(bench *b)
{
    pb_engine_free(b->e);
    pb_workload_close(b->w);
    pb_arena_release(&b->arena);
    assert_int_equal(b->ctx.memory_used, 0);
}

static inline void bench_open_wide(bench *b, const network *net)
{
    network wide = *net;
    assert_string_equal(wide.option[1].key, "batch");
    wide.option[1].value = net->wide;
    bench_open(b, &wide);
}

/* An engine for a plan under the cap; false where there is none. */
static inline bool bench_plan(bench *b, const char *strategy, uint64_t cap)
{
    pb_plan_result planned;
    pb_request request = PB_REQUEST_DEFAULT;
    request.strategy = strategy;
    b->game.cap = cap;
    b->ctx.tick_limit = 30000;
    assert_int_equal(pb_plan(&b->ctx, &b->game, &request, &b->arena, &planned), PB_OK);
    if (!planned.certificate)
        return false;
    pb_engine_free(b->e);
    b->e = NULL;
    b->peak = pb_certificate_totals(planned.certificate)->peak;
    pb_engine_options options = {.max_bytes =
                                     b->peak / 4 * 5}; /* addresses are not what is tested: some slack is quick */
    pb_status status = pb_engine_new(&b->ctx, planned.certificate, pb_workload_kernels(b->w), &options, &b->e);
    if (status != PB_OK)
        fail_msg("%s", b->ctx.error.message);
    return true;
}

static inline void bench_run(bench *b)
{
    if (pb_engine_run(b->e, &b->m) != PB_OK)
        fail_msg("%s", b->ctx.error.message);
    assert_int_equal(b->m.peak, b->peak);
}

static inline void bench_steps(bench *b, uint64_t steps)
{
    for (uint64_t step = 0; step < steps; step++) {
        assert_int_equal(pb_workload_begin(b->w, step, b->e), PB_OK);
        bench_run(b);
        assert_int_equal(pb_workload_end(b->w, step, b->e), PB_OK);
    }
}

/* Of the last run. */
static inline double bench_loss(bench *b)
{
    pb_node v = pb_graph_find(b->game.graph, "head.loss");
    assert_int_not_equal(v, PB_NO_NODE);
    return *(const double *)pb_engine_value(b->e, v);
}

#endif
