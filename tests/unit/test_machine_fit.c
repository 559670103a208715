/* test_machine_fit.c -- models from measurements: known slopes are found, times between points, outside, and files that
 * are refused. */
#include "machine/machine_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct bench {
    pb_context ctx;
    pb_arena arena;
    pb_machine_sample samples[400];
    uint32_t count;
    pb_machine_processor cpu;
    const pb_machine_fitted *fitted;
} bench;

static void begin(bench *b)
{
    *b = (bench){.cpu = {.name = "cpu"}};
    pb_context_init(&b->ctx);
    pb_arena_init(&b->arena, &b->ctx);
}

static void add(bench *b, const char *op, uint64_t flops, uint64_t bytes, double time)
{
    b->samples[b->count++] = (pb_machine_sample){op, "float32", {flops, bytes, (uint64_t)llround(time)}};
}

static void fit(bench *b)
{
    assert_int_equal(pb_machine_fit(&b->ctx, b->samples, b->count, &b->arena, &b->cpu, &b->fitted), PB_OK);
}

static pb_machine as_machine(const bench *b)
{
    static const pb_machine_memory host[] = {{.name = "host", .cap = PB_UNLIMITED}};
    return (pb_machine){.name = "test",
                        .time_unit = "ns",
                        .per_second = 1000000000,
                        .memories = host,
                        .memory_count = 1,
                        .processors = &b->cpu,
                        .processor_count = 1,
                        .extra = ""};
}

static double time_of(bench *b, const char *op, uint64_t flops, uint64_t bytes, double *beyond)
{
    pb_machine m = as_machine(b);
    pb_work work = {op, "float32", true, true, flops, bytes};
    const pb_machine_model *model = pb_machine_model_of(&b->cpu, &work);
    assert_non_null(model);
    return pb_machine_model_time(&m, model, &work, beyond);
}

static void near(double value, double expected, double tolerance)
{
    if (fabs(value / expected - 1) > tolerance)
        fail_msg("%g instead of %g", value, expected);
}

/* Times of a machine with 50 flop/ns, 10 byte/ns and 1,000 ns for each call. */
static double roofline(double flops, double bytes) { return 1000 + fmax(flops / 50, bytes / 10); }

static void known_slopes_are_recovered(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    for (uint64_t flops = 1000; flops < 2000000000; flops *= 3)
        for (uint64_t bytes = flops / 100 + 1; bytes <= 10 * flops; bytes *= 7)
            add(&b, "conv", flops, bytes, roofline((double)flops, (double)bytes));
    fit(&b);
    const pb_machine_model *m = &b.cpu.models[0];
    assert_int_equal(b.cpu.model_count, 1);
    near((double)m->overhead, 1000, 0.03);
    near((double)m->rate, 50e9, 0.03);
    near((double)m->bandwidth, 10e9, 0.03);
    assert_int_equal(m->by, PB_BY_FORMULA); /* nothing else predicts unseen points of a formula as well */
    near(time_of(&b, "conv", 123456789, 2345678, NULL), roofline(123456789, 2345678), 0.03);
    /* the plain formula too */
    pb_machine machine = as_machine(&b);
    pb_work work = {"conv", "float32", true, true, 123456789, 2345678};
    uint64_t plain;
    assert_int_equal(pb_machine_check(&b.ctx, &machine), PB_OK);
    assert_int_equal(pb_machine_duration(&b.ctx, &machine, &b.cpu, &work, 0, &plain), PB_OK);
    near((double)plain, roofline(123456789, 2345678), 0.03);
    pb_arena_release(&b.arena);
}

/* A cache: fast below a megabyte, slow above. */
static double cached(double bytes) { return 500 + fmin(bytes, 1e6) / 40 + fmax(bytes - 1e6, 0) / 8; }

static void times_by_size_are_exact_at_points_and_monotone_between(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    for (uint64_t bytes = 4096; bytes < 400000000; bytes *= 2)
        add(&b, "elementwise", bytes / 8, bytes, cached((double)bytes));
    fit(&b);
    assert_int_equal(b.cpu.models[0].by, PB_BY_BYTES);
    for (uint32_t i = 0; i < b.count; i++)
        near(time_of(&b, "elementwise", 0, b.samples[i].at.bytes, NULL), (double)b.samples[i].at.time, 1e-9);
    double last = 0;
    for (double bytes = 100; bytes < 1e11; bytes *= 1.01) {
        double time = time_of(&b, "elementwise", 0, (uint64_t)bytes, NULL);
        assert_true(time >= last);
        last = time;
    }
    near(time_of(&b, "elementwise", 0, 3000000, NULL), cached(3000000), 0.05);
    pb_arena_release(&b.arena);
}

/* Half the rate at a tenth of the intensity: neither flops nor bytes alone explain it. */
static double mixed(double flops, double bytes) { return 2000 + flops / (10 * pow(flops / bytes, 0.3)); }

static void curves_by_intensity_are_exact_at_points_and_better_between(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    for (uint64_t flops = 100000; flops < 3000000000; flops *= 4)
        for (uint64_t intensity = 2; intensity <= 512; intensity *= 2)
            add(&b, "matmul", flops, flops / intensity, mixed((double)flops, (double)(flops / intensity)));
    fit(&b);
    const pb_machine_model *m = &b.cpu.models[0];
    assert_int_equal(m->by, PB_BY_FLOPS);
    assert_true(m->curve_count > 1 && b.fitted[0].error < 0.05 && b.fitted[0].samples == b.count);
    for (uint32_t i = 0; i < b.count; i++)
        near(time_of(&b, "matmul", b.samples[i].at.flops, b.samples[i].at.bytes, NULL), (double)b.samples[i].at.time,
             1e-6);
    near(time_of(&b, "matmul", 77000000, 77000000 / 23, NULL), mixed(77000000, 77000000.0 / 23), 0.05);
    double last = 0;
    for (double flops = 1000; flops < 1e12; flops *= 1.02) { /* of one intensity */
        double time = time_of(&b, "matmul", (uint64_t)flops, (uint64_t)(flops / 32), NULL);
        assert_true(time >= last * (1 - 1e-6));
        last = time;
    }
    last = 0;
    for (double bytes = 10; bytes < 1e10; bytes *= 1.02) { /* of equal operations: memory traffic beyond the curves */
        double time = time_of(&b, "matmul", 100000000, (uint64_t)bytes, NULL);
        assert_true(time >= last * (1 - 1e-6));
        last = time;
    }
    pb_arena_release(&b.arena);
}

static void sizes_outside_the_measured_range_are_reported(void **state)
{
    (void)state;
    bench b;
    double beyond;
    begin(&b);
    for (uint64_t bytes = 1000; bytes <= 1000000; bytes *= 10)
        add(&b, "copy", 0, bytes, 100 + (double)bytes / 10);
    for (uint64_t flops = 1000000; flops <= 100000000; flops *= 10)
        for (uint64_t intensity = 4; intensity <= 64; intensity *= 4)
            add(&b, "matmul", flops, flops / intensity, mixed((double)flops, (double)(flops / intensity)));
    fit(&b);
    time_of(&b, "copy", 0, 50000, &beyond);
    near(beyond, 1, 1e-9);
    near(time_of(&b, "copy", 0, 5000000, &beyond), 500000, 0.1);
    near(beyond, 5, 1e-6);
    time_of(&b, "copy", 0, 100, &beyond);
    near(beyond, 10, 1e-6);
    time_of(&b, "matmul", 20000000, 2000000, &beyond);
    near(beyond, 1, 1e-9);
    time_of(&b, "matmul", 300000000, 300000000 / 16, &beyond);
    near(beyond, 3, 1e-6);
    time_of(&b, "matmul", 10000000, 10000000 / 256, &beyond);
    near(beyond, 4, 0.01);
    pb_arena_release(&b.arena);
}

static void the_median_of_equal_sizes_counts_and_few_samples_suffice(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    add(&b, "loss", 10, 1000, 90000); /* interrupted */
    add(&b, "loss", 10, 1000, 501);
    add(&b, "loss", 10, 1000, 500);
    fit(&b);
    near(time_of(&b, "loss", 10, 1000, NULL), 501, 1e-6);
    assert_true(b.fitted[0].error < 0);
    pb_machine m = as_machine(&b);
    assert_int_equal(pb_machine_check(&b.ctx, &m), PB_OK);
    pb_arena_release(&b.arena);
}

static void noise_never_makes_a_larger_size_faster(void **state)
{
    (void)state;
    bench b;
    uint64_t seed = 1;
    begin(&b);
    for (uint64_t bytes = 1000; bytes < 100000000; bytes = bytes * 5 / 4) {
        seed = seed * 6364136223846793005u + 1;
        add(&b, "copy", 0, bytes, cached((double)bytes) * (0.7 + 0.6 * (double)(seed >> 40) / 0x1p24));
    }
    fit(&b);
    pb_machine m = as_machine(&b);
    assert_int_equal(pb_machine_check(&b.ctx, &m), PB_OK);
    pb_arena_release(&b.arena);
}

static void samples_that_say_nothing_are_refused(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    assert_int_equal(pb_machine_fit(&b.ctx, b.samples, 0, &b.arena, &b.cpu, NULL), PB_EINVAL);
    add(&b, "copy", 0, 0, 5);
    assert_int_equal(pb_machine_fit(&b.ctx, b.samples, 1, &b.arena, &b.cpu, NULL), PB_EINVAL);
    b.samples[0].at = (pb_machine_point){1, 1, 0};
    assert_int_equal(pb_machine_fit(&b.ctx, b.samples, 1, &b.arena, &b.cpu, NULL), PB_EINVAL);
    b.samples[0] = (pb_machine_sample){NULL, NULL, {1, 1, 1}};
    assert_int_equal(pb_machine_fit(&b.ctx, b.samples, 1, &b.arena, &b.cpu, NULL), PB_EINVAL);
    pb_arena_release(&b.arena);
}

static void rescaling_scales_every_time(void **state)
{
    (void)state;
    bench b;
    const pb_machine *slow;
    begin(&b);
    for (uint64_t bytes = 1000; bytes <= 1000000; bytes *= 3)
        add(&b, "copy", bytes / 4, bytes, cached((double)bytes));
    fit(&b);
    pb_machine m = as_machine(&b);
    m.reference = (pb_machine_reference){"synthetic", 1000};
    assert_int_equal(pb_machine_rescale(&b.ctx, &m, 1.5, &b.arena, &slow), PB_OK);
    assert_int_equal(pb_machine_check(&b.ctx, slow), PB_OK);
    assert_int_equal(slow->reference.time, 1500);
    pb_work work = {"copy", "float32", true, true, 1000, 20000};
    near(pb_machine_model_time(slow, &slow->processors[0].models[0], &work, NULL),
         1.5 * time_of(&b, "copy", 1000, 20000, NULL), 1e-2);
    uint64_t before, after;
    assert_int_equal(pb_machine_duration(&b.ctx, &m, &m.processors[0], &work, 0, &before), PB_OK);
    assert_int_equal(pb_machine_duration(&b.ctx, slow, &slow->processors[0], &work, 0, &after), PB_OK);
    near((double)after, 1.5 * (double)before, 1e-2);
    assert_int_equal(pb_machine_rescale(&b.ctx, &m, 0, &b.arena, &slow), PB_EINVAL);
    pb_arena_release(&b.arena);
}

static void refused(pb_machine_model model, const char *part)
{
    bench b;
    begin(&b);
    const pb_machine_model models[] = {
        {.op = "hash", .curves = &(pb_machine_curve){&(pb_machine_point){0, 1, 1}, 1}, .curve_count = 1}, model};
    b.cpu.models = models;
    b.cpu.model_count = 2;
    pb_machine m = as_machine(&b);
    assert_int_equal(pb_machine_check(&b.ctx, &m), PB_EFORMAT);
    if (!strstr(b.ctx.error.message, part))
        fail_msg("%s", b.ctx.error.message);
}

static void malformed_models_are_refused(void **state)
{
    (void)state;
    static const pb_machine_point good[] = {{100, 10, 5}, {200, 20, 5}}, falling[] = {{100, 10, 5}, {200, 20, 4}},
                                  unsorted[] = {{200, 20, 5}, {100, 10, 5}}, timeless[] = {{100, 10, 0}},
                                  empty[] = {{0, 0, 5}}, intense[] = {{300, 3, 9}};
    static const pb_machine_curve two[] = {{good, 2}, {intense, 1}}, reversed[] = {{intense, 1}, {good, 2}};
    refused((pb_machine_model){.op = "hash", .curves = two, .curve_count = 1}, "twice");
    refused((pb_machine_model){.op = "", .curves = two, .curve_count = 1}, "no operation");
    refused((pb_machine_model){.op = "copy"}, "no measured points");
    refused((pb_machine_model){.op = "copy", .curves = &(pb_machine_curve){good, 0}, .curve_count = 1},
            "without points");
    refused((pb_machine_model){.op = "copy", .curves = &(pb_machine_curve){falling, 2}, .curve_count = 1}, "less time");
    refused((pb_machine_model){.op = "copy", .curves = &(pb_machine_curve){unsorted, 2}, .curve_count = 1}, "sort");
    refused((pb_machine_model){.op = "copy", .curves = &(pb_machine_curve){timeless, 1}, .curve_count = 1}, "time");
    refused((pb_machine_model){.op = "copy", .curves = &(pb_machine_curve){empty, 1}, .curve_count = 1}, "flops");
    refused((pb_machine_model){.op = "copy", .by = PB_BY_BYTES, .curves = two, .curve_count = 2}, "not by flops");
    refused((pb_machine_model){.op = "copy", .by = PB_BY_FLOPS, .curves = reversed, .curve_count = 2},
            "flops per byte");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_slopes_are_recovered),
        cmocka_unit_test(times_by_size_are_exact_at_points_and_monotone_between),
        cmocka_unit_test(curves_by_intensity_are_exact_at_points_and_better_between),
        cmocka_unit_test(sizes_outside_the_measured_range_are_reported),
        cmocka_unit_test(the_median_of_equal_sizes_counts_and_few_samples_suffice),
        cmocka_unit_test(noise_never_makes_a_larger_size_faster),
        cmocka_unit_test(samples_that_say_nothing_are_refused),
        cmocka_unit_test(rescaling_scales_every_time),
        cmocka_unit_test(malformed_models_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
