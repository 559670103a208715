/* test_machine_measure.c -- this computer as a machine: the file passes its check, prices a network, and is rescaled. */
#define _DEFAULT_SOURCE
#include "pebble/full.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static uint64_t processor_ns(void *state)
{
    struct timespec t;
    (void)state;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool has_model(const pb_machine_processor *p, const char *op)
{
    for (uint32_t i = 0; i < p->model_count; i++)
        if (strcmp(p->models[i].op, op) == 0)
            return true;
    return false;
}

static void a_quick_measurement_is_a_machine_that_prices_networks(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_machine_measured measured;
    pb_measure_options options = {.name = "here", .memory = 1 << 30, .slow_path = "/tmp", .quick = true};
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pb_machine_measure(&ctx, &options, &arena, &measured), PB_EINVAL); /* no clock */
    ctx.clock_ns = processor_ns;
    assert_int_equal(pb_machine_measure(&ctx, &options, &arena, &measured), PB_OK);
    const pb_machine *m = measured.machine, *again, *scaled;
    const pb_machine_processor *p = &m->processors[0];
    assert_int_equal(pb_machine_check(&ctx, m), PB_OK);
    assert_true(has_model(p, "hash") && has_model(p, "step") && has_model(p, "filter"));
    if (!measured.missing)
        assert_true(has_model(p, "conv") && has_model(p, "conv.dw") && has_model(p, "matmul") &&
                    has_model(p, "norm.dx"));

    pb_buffer bytes;
    pb_buffer_init(&bytes, &arena);
    assert_int_equal(pb_machine_write(&ctx, m, pb_sink_buffer(&bytes)), PB_OK);
    pb_memory memory = {.bytes = bytes.bytes, .length = bytes.length};
    assert_int_equal(pb_machine_read(&ctx, pb_source_memory(&memory), &arena, &again), PB_OK);
    assert_int_equal(again->processors[0].model_count, p->model_count);

    pb_workload *w;
    const pb_graph *timed, *priced;
    pb_time_report report;
    const pb_option small[] = {{"size", "64"}, {"steps", "20"}};
    assert_int_equal(pb_workload_open(&ctx, "adjoint", small, 2, &w), PB_OK);
    assert_int_equal(pb_graph_time(&ctx, pb_workload_graph(w), again, &arena, &timed, &report), PB_OK);
    assert_int_equal(report.unknown, 0);
    assert_int_equal(pb_graph_price(&ctx, timed, again, &arena, &priced), PB_OK);
    assert_true(priced->needed_cost > 1000 && priced->needed_cost < 10000000000);
    pb_workload_close(w);

    double ratio;
    assert_int_equal(pb_machine_reference_ratio(&ctx, again, &ratio), PB_OK);
    assert_true(ratio > 0.05 && ratio < 20);
    assert_int_equal(pb_machine_rescale(&ctx, again, ratio, &arena, &scaled), PB_OK);
    assert_int_equal(pb_machine_check(&ctx, scaled), PB_OK);
    pb_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_quick_measurement_is_a_machine_that_prices_networks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
