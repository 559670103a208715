/* test_graph_time.c -- times of nodes by the models of a machine, and the report about them. */
#include "pebble/game.h"
#include "pebble/run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const pb_machine_point points[] = {{0, 1000, 100}, {0, 4000, 200}};
static const pb_machine_curve curve[] = {{points, 2}};
static const pb_machine_model models[] = {
    {.op = "norm", .dtype = "float32", .by = PB_BY_BYTES, .curves = curve, .curve_count = 1},
    {.op = "copy", .by = PB_BY_BYTES, .curves = curve, .curve_count = 1}};
static const pb_machine_rate rates[] = {{"other", 1000000000}};
static const pb_machine_memory host[] = {{.name = "host", .cap = PB_UNLIMITED}};
static const pb_machine_processor processors[] = {
    {.name = "cpu", .overhead = 10, .rates = rates, .rate_count = 1, .models = models, .model_count = 2},
    {.name = "gpu", .rates = rates, .rate_count = 1},
};
static const pb_machine machine = {.name = "m",
                                   .time_unit = "ns",
                                   .per_second = 1000000000,
                                   .memories = host,
                                   .memory_count = 1,
                                   .processors = processors,
                                   .processor_count = 2,
                                   .extra = ""};

typedef struct desk {
    pb_context ctx;
    pb_arena arena;
    pb_builder *b;
    const pb_graph *g, *timed;
    pb_time_report report;
} desk;

static void add(desk *d, const char *name, const char *op, uint64_t flops, uint64_t bytes)
{
    pb_node v;
    pb_node_spec spec = {.name = name, .cost = 7, .size = 1, .work = {op, "float32", true, true, flops, bytes}};
    if (!op)
        spec.work = (pb_work){.has_flops = false};
    assert_int_equal(pb_builder_add_node(d->b, &spec, &v), PB_OK);
    if (v)
        assert_int_equal(pb_builder_add_edge(d->b, v - 1, v), PB_OK);
}

static void begin(desk *d)
{
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    assert_int_equal(pb_builder_new(&d->ctx, &d->b), PB_OK);
}

static void time_it(desk *d)
{
    assert_int_equal(pb_builder_freeze(d->b, &d->arena, &d->g), PB_OK);
    pb_builder_free(d->b);
    assert_int_equal(pb_graph_time(&d->ctx, d->g, &machine, &d->arena, &d->timed, &d->report), PB_OK);
    assert_int_equal(pb_graph_check(&d->ctx, d->timed), PB_OK);
}

static uint64_t cost_of(desk *d, pb_node v)
{
    const pb_graph *priced;
    assert_int_equal(pb_graph_price(&d->ctx, d->timed, &machine, &d->arena, &priced), PB_OK);
    return priced->cost[v];
}

static const pb_time_row *row_of(const desk *d, const char *op)
{
    for (uint32_t i = 0; i < d->report.row_count; i++)
        if (strcmp(d->report.rows[i].op, op) == 0)
            return &d->report.rows[i];
    fail();
    return NULL;
}

static void times_come_from_models_then_rates_and_stated_ones_stay(void **state)
{
    (void)state;
    desk d;
    begin(&d);
    add(&d, "a", "norm", 0, 2000);
    add(&d, "b", "conv", 500, 0);
    add(&d, "c", NULL, 0, 0);
    add(&d, "d", "norm", 0, 1000);
    add(&d, "e", "copy", 0, 4000); /* a model of every type */
    assert_int_equal(pb_builder_add_note(d.b, 3, PB_NOTE_TIME, "cpu", 12345), PB_OK);
    assert_int_equal(pb_builder_add_note(d.b, 3, PB_NOTE_ON, "cpu", 0), PB_OK);
    time_it(&d);
    assert_int_equal(cost_of(&d, 0), 141); /* halfway in logarithms: 100 * sqrt(2) */
    assert_int_equal(cost_of(&d, 1), 510);
    assert_int_equal(cost_of(&d, 2), 7);
    assert_int_equal(cost_of(&d, 3), 12345);
    assert_int_equal(cost_of(&d, 4), 200);
    assert_int_equal(d.report.kept, 1);
    assert_int_equal(d.report.unknown, 1);
    assert_int_equal(d.report.outside, 0);
    assert_int_equal(d.report.row_count, 3);
    assert_string_equal(d.report.rows[0].op, "conv"); /* the longest time first */
    assert_false(d.report.rows[0].modelled);
    assert_true(row_of(&d, "norm")->modelled);
    assert_int_equal(row_of(&d, "norm")->time, 141);
    /* both processors, and the note after the times */
    const pb_note *note = d.timed->note + d.timed->note_start[3];
    assert_int_equal(d.timed->note_start[4] - d.timed->note_start[3], 3);
    assert_string_equal(d.timed->words[note[1].word], "gpu");
    assert_int_equal(note[2].kind, PB_NOTE_ON);
    pb_arena_release(&d.arena);
}

static void the_report_names_what_is_outside(void **state)
{
    (void)state;
    desk d;
    begin(&d);
    add(&d, "in", "norm", 0, 4000);
    add(&d, "large", "norm", 0, 8000);
    add(&d, "huge", "norm", 0, 40000);
    add(&d, "small", "norm", 0, 500);
    time_it(&d);
    const pb_time_row *row = row_of(&d, "norm");
    assert_int_equal(row->nodes, 4);
    assert_int_equal(row->outside, 3);
    assert_int_equal(d.report.outside, 3);
    assert_true(fabs(row->beyond - 10) < 1e-6);
    assert_int_equal(row->node, 2);
    assert_int_equal(cost_of(&d, 2), 2000); /* in proportion */
    pb_arena_release(&d.arena);
}

static void with_an_abstract_clock_nodes_keep_their_cost(void **state)
{
    (void)state;
    desk d;
    pb_machine abstract = machine;
    begin(&d);
    add(&d, "a", "norm", 0, 4000);
    time_it(&d);
    abstract.time_unit = "step";
    abstract.per_second = 0;
    assert_int_equal(pb_graph_time(&d.ctx, d.g, &abstract, &d.arena, &d.timed, &d.report), PB_OK);
    assert_null(d.timed->note);
    assert_int_equal(d.report.row_count, 0);
    assert_int_equal(d.report.unknown, 1);
    pb_arena_release(&d.arena);
}

static void the_graph_outlives_the_machine(void **state)
{
    (void)state;
    desk d;
    begin(&d);
    add(&d, "a", "norm", 0, 2000);
    time_it(&d);
    pb_arena of_machine;
    pb_arena_init(&of_machine, &d.ctx);
    char *name = pb_arena_text(&of_machine, "npu", 3);
    pb_machine_processor *p = pb_arena_alloc(&of_machine, 1, sizeof *p);
    assert_true(name && p);
    *p = processors[0];
    p->name = name;
    pb_machine other = machine;
    other.processors = p;
    other.processor_count = 1;
    assert_int_equal(pb_graph_time(&d.ctx, d.g, &other, &d.arena, &d.timed, &d.report), PB_OK);
    memset(name, '?', 3);
    pb_arena_release(&of_machine);
    assert_string_equal(d.timed->words[d.timed->note[d.timed->note_start[0]].word], "npu");
    assert_true(d.report.row_count == 1 && d.report.rows[0].modelled);
    pb_arena_release(&d.arena);
}

static void a_timed_graph_is_a_sample_for_a_model(void **state)
{
    (void)state;
    desk d;
    pb_machine_sample *samples = NULL;
    uint32_t count = 0;
    begin(&d);
    add(&d, "a", "norm", 0, 2000);
    add(&d, "b", NULL, 0, 0);
    add(&d, "c", "copy", 0, 0); /* no size */
    time_it(&d);
    assert_int_equal(pb_machine_samples(&d.ctx, d.timed, "cpu", &d.arena, &samples, &count), PB_OK);
    assert_int_equal(pb_machine_samples(&d.ctx, d.timed, "cpu", &d.arena, &samples, &count), PB_OK);
    assert_int_equal(count, 2);
    assert_string_equal(samples[1].op, "norm");
    assert_string_equal(samples[1].dtype, "float32");
    assert_int_equal(samples[1].at.time, 141);
    assert_int_equal(pb_machine_samples(&d.ctx, d.timed, "npu", &d.arena, &samples, &count), PB_OK);
    assert_int_equal(count, 2); /* no time for it, and the cost is not in ns */
    pb_arena_release(&d.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_come_from_models_then_rates_and_stated_ones_stay),
        cmocka_unit_test(the_report_names_what_is_outside),
        cmocka_unit_test(with_an_abstract_clock_nodes_keep_their_cost),
        cmocka_unit_test(the_graph_outlives_the_machine),
        cmocka_unit_test(a_timed_graph_is_a_sample_for_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
