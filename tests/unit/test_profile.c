/* test_profile.c -- measured costs, by a clock that only kernels move. */
#include "pebble/full.h"
#include "support/io_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 9, COMPUTED = 7 };

/* A chain of x -> 1 -> 2 ... with a by-product of node 2 and a node that nothing needs. */
typedef struct case_ {
    pb_context ctx;
    pb_arena arena;
    const pb_graph *g;
    pb_kernel kernel[NODES];
    pb_kernels kernels;
    uint64_t clock, runs, stop_at; /* stop_at: runs that begin before a stop; 0: never */
    bool noisy;                    /* each run, another node takes 1000 ns more */
    uint64_t made_parts, fills, begins, ends;
} case_;

static uint64_t clock_now(void *state) { return ((case_ *)state)->clock; }

static pb_stop stop(void *state)
{
    const case_ *c = state;
    return c->stop_at && c->begins > c->stop_at ? PB_STOP_INTERRUPT : PB_GO_ON;
}

static uint64_t time_of(pb_node v) { return v == 1 ? 0 : v == 7 ? 50 : 100 * v; }

static pb_status compute(void *state, pb_context *ctx, const pb_call *call)
{
    case_ *c = state;
    (void)ctx;
    c->clock += time_of(call->node);
    if (c->noisy && call->node == 1 + c->runs % 6)
        c->clock += 1000;
    c->made_parts += call->node == 2 && call->value[3] != NULL;
    memset(call->value[call->node], (int)call->node, 64);
    return PB_OK;
}

static pb_status fill(void *state, pb_context *ctx, pb_node v, void *bytes)
{
    case_ *c = state;
    (void)ctx;
    assert_int_equal(v, 0);
    memset(bytes, 1, 64);
    c->clock += 5000; /* is no part of any cost */
    c->fills++;
    return PB_OK;
}

static pb_status begin(void *state, uint64_t step, pb_engine *e)
{
    case_ *c = state;
    assert_non_null(e);
    assert_int_equal(step, c->begins++);
    c->clock += 70000;
    c->runs = step;
    return PB_OK;
}

static pb_status end(void *state, uint64_t step, pb_engine *e)
{
    case_ *c = state;
    assert_non_null(pb_engine_value(e, 6));
    assert_int_equal(step, c->ends++);
    c->clock += 3000;
    return PB_OK;
}

static void open_case(case_ *c)
{
    pb_builder *b;
    memset(c, 0, sizeof *c);
    pb_context_init(&c->ctx);
    c->ctx.clock_ns = clock_now;
    c->ctx.stop = stop;
    c->ctx.callback_state = c;
    pb_arena_init(&c->arena, &c->ctx);
    assert_int_equal(pb_builder_new(&c->ctx, &b), PB_OK);
    for (pb_node v = 0; v < NODES; v++) {
        pb_node_spec spec = {.size = 64, .cost = v == 0 || v == 3 ? 0 : 1};
        spec.flags = v == 0 ? PB_NODE_GIVEN : v == 6 ? PB_NODE_KEEP | PB_NODE_TARGET : 0;
        assert_int_equal(pb_builder_add_node(b, &spec, NULL), PB_OK);
        c->kernel[v] = v == 0 || v == 3 ? NULL : compute;
    }
    static const pb_node edges[][2] = {{0, 1}, {1, 2}, {2, 4}, {3, 5}, {4, 5}, {5, 6}, {2, 7}, {7, 8}};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        assert_int_equal(pb_builder_add_edge(b, edges[i][0], edges[i][1]), PB_OK);
    assert_int_equal(pb_builder_set_byproduct(b, 3, 2), PB_OK);
    assert_int_equal(pb_builder_freeze(b, &c->arena, &c->g), PB_OK);
    pb_builder_free(b);
    c->kernels = (pb_kernels){.of = c->kernel, .state = c, .fill = fill};
}

static pb_status profile(case_ *c, uint32_t repeat, pb_profiled *p)
{
    pb_profile_options options = {.repeat = repeat, .begin = begin, .end = end, .state = c};
    return pb_profile_run(&c->ctx, c->g, &c->kernels, &options, &c->arena, p);
}

static void costs_are_the_times_of_kernels(void **state)
{
    (void)state;
    case_ c;
    pb_profiled p;
    pb_buffer out;
    open_case(&c);
    assert_int_equal(profile(&c, 4, &p), PB_OK);
    assert_int_equal(p.repeats, 4);
    assert_int_equal(c.begins, 5); /* one warms up */
    assert_int_equal(c.ends, 5);
    assert_int_equal(c.fills, 5);
    assert_int_equal(c.made_parts, 5);
    for (pb_node v = 0; v < NODES; v++) {
        bool computed = v != 0 && v != 3;
        assert_int_equal(p.graph->cost[v], !computed ? 0 : v == 1 ? 1 : time_of(v)); /* never 0 */
        assert_int_equal(p.time[v].median, computed ? time_of(v) : 0);
    }
    assert_int_equal(p.overhead_ns, 0);
    assert_int_equal(p.run.median, 200 + 400 + 500 + 600 + 50 + 800);
    assert_string_equal(p.graph->cost_unit, "ns");
    assert_string_equal(p.graph->size_unit, "byte");
    assert_int_equal(pb_graph_check(&c.ctx, p.graph), PB_OK);
    assert_int_equal(graph_bytes(&c.ctx, p.graph, PB_FORMAT_JSON, &c.arena, &out), PB_OK);
    assert_non_null(strstr(out.bytes, "\"profile\":{\"repeats\":4,\"run_ns\":2550,\"overhead_ns\":0}"));
    assert_non_null(strstr(out.bytes, "\"cost\":400,\"size\":64,\"ns_low\":400,\"ns_high\":400"));
    pb_arena_release(&c.arena);
}

static void costs_add_up_to_a_whole_run(void **state)
{
    (void)state;
    case_ c;
    pb_profiled p;
    open_case(&c);
    c.noisy = true;
    assert_int_equal(profile(&c, 24, &p), PB_OK);
    uint64_t sum = 0;
    for (pb_node v = 0; v < NODES; v++) {
        assert_int_equal(p.time[v].median, v && v != 3 ? time_of(v) : 0); /* medians do not see it */
        sum += p.graph->cost[v];
    }
    assert_int_equal(p.run.median, 3550);
    assert_true(sum >= 3550 - NODES && sum <= 3550 + NODES); /* what it took all the same */
    assert_true(p.graph->cost[4] > 500);
    pb_arena_release(&c.arena);
}

static void the_number_of_runs_follows_the_time(void **state)
{
    (void)state;
    case_ c;
    pb_profiled p;
    open_case(&c);
    assert_int_equal(profile(&c, 0, &p), PB_OK);
    assert_int_equal(p.repeats, 50);
    pb_arena_release(&c.arena);
}

static void a_stop_keeps_what_was_measured(void **state)
{
    (void)state;
    case_ c;
    pb_profiled p;
    open_case(&c);
    c.stop_at = 4;
    assert_int_equal(profile(&c, 20, &p), PB_OK);
    assert_int_equal(p.repeats, 3);
    assert_int_equal(p.graph->cost[4], 400);
    assert_int_equal(c.ctx.stopped, PB_STOP_INTERRUPT);
    pb_arena_release(&c.arena);
    open_case(&c);
    c.stop_at = 1; /* only the warm-up ran */
    memset(&p, 0x5a, sizeof p);
    pb_profiled before = p;
    assert_int_equal(profile(&c, 20, &p), PB_ECANCELLED);
    assert_memory_equal(&p, &before, sizeof p);
    pb_arena_release(&c.arena);
}

static void what_cannot_be_measured_is_refused(void **state)
{
    (void)state;
    case_ c;
    pb_profiled p;
    open_case(&c);
    c.ctx.clock_ns = NULL;
    assert_int_equal(profile(&c, 1, &p), PB_EINVAL);
    c.ctx.clock_ns = clock_now;
    c.kernel[5] = NULL;
    assert_int_equal(profile(&c, 1, &p), PB_EINVAL);
    assert_non_null(strstr(c.ctx.error.message, "5"));
    pb_arena_release(&c.arena);
}

static void quartiles_enclose_the_middle(void **state)
{
    (void)state;
    uint64_t odd[] = {9, 1, 5, 3, 7}, even[] = {4, 8, 2, 6}, one[] = {3};
    pb_spread s = pb_spread_of(odd, 5);
    assert_int_equal(s.low, 3);
    assert_int_equal(s.median, 5);
    assert_int_equal(s.high, 7);
    s = pb_spread_of(even, 4);
    assert_int_equal(s.low, 2);
    assert_int_equal(s.median, 5);
    assert_int_equal(s.high, 8);
    s = pb_spread_of(one, 1);
    assert_true(s.low == 3 && s.median == 3 && s.high == 3);
    s = pb_spread_of(one, 0);
    assert_true(s.low == 0 && s.median == 0 && s.high == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_the_times_of_kernels),      cmocka_unit_test(costs_add_up_to_a_whole_run),
        cmocka_unit_test(the_number_of_runs_follows_the_time), cmocka_unit_test(a_stop_keeps_what_was_measured),
        cmocka_unit_test(what_cannot_be_measured_is_refused),  cmocka_unit_test(quartiles_enclose_the_middle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
