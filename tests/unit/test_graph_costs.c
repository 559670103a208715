/* test_graph_costs.c -- the same graph with other costs. */
#include "support/io_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A graph with everything that must stay: groups, in-place steps, by-products, an order, targets, fields of its own. */
static const char text[] =
    "{\"format\":\"pebble-graph/"
    "1\",\"name\":\"all\",\"cost_unit\":\"flop\",\"size_unit\":\"MB\",\"fixed_size\":7,\"mine\":[1],"
    "\"nodes\":[{\"name\":\"in\",\"size\":3,\"given\":true},{\"name\":\"a\",\"cost\":5,\"size\":2,\"group\":\"x\","
    "\"hue\":3},"
    "{\"name\":\"mask\",\"size\":1,\"byproduct_of\":\"a\"},"
    "{\"name\":\"b\",\"cost\":6,\"size\":2,\"workspace\":4,\"inplace\":[\"a\"],\"keep\":true},"
    "{\"name\":\"c\",\"cost\":8,\"size\":1,\"once\":true},{\"name\":\"d\",\"cost\":9,\"size\":1}],"
    "\"edges\":[[0,1],[1,3],[2,3],[3,4],[4,5]],\"targets\":[\"c\"],\"order\":[1,3,4,5]}";

typedef struct case_ {
    pb_context ctx;
    pb_arena arena;
    const pb_graph *g;
} case_;

static void open_case(case_ *c)
{
    pb_context_init(&c->ctx);
    pb_arena_init(&c->arena, &c->ctx);
    assert_int_equal(graph_from(&c->ctx, text, strlen(text), 64, PB_FORMAT_JSON, &c->arena, &c->g), PB_OK);
}

static void only_costs_and_units_change(void **state)
{
    (void)state;
    case_ c;
    const pb_graph *other;
    const uint64_t cost[] = {99, 10, 99, 20, 30, 40};
    const char *extra[] = {NULL, "\"low\":1", NULL, NULL, "\"low\":2", NULL};
    pb_buffer out;
    open_case(&c);
    pb_graph_costs costs = {
        .cost = cost, .cost_unit = "ns", .size_unit = "byte", .extra = "\"profile\":5", .node_extra = extra};
    assert_int_equal(pb_graph_with_costs(&c.ctx, c.g, &costs, &c.arena, &other), PB_OK);
    assert_int_equal(pb_graph_check(&c.ctx, other), PB_OK);
    assert_null(graph_round_trips(&c.ctx, other));
    assert_int_equal(other->cost[0], 0); /* given, and a by-product: no costs of their own */
    assert_int_equal(other->cost[2], 0);
    assert_int_equal(other->needed_cost, 60); /* d is not needed */
    assert_int_equal(graph_bytes(&c.ctx, other, PB_FORMAT_JSON, &c.arena, &out), PB_OK);
    assert_non_null(strstr(out.bytes, "\"cost_unit\":\"ns\",\"size_unit\":\"byte\""));
    assert_non_null(strstr(out.bytes, "\"mine\":[1],\"profile\":5"));
    assert_non_null(strstr(out.bytes, "{\"name\":\"a\",\"cost\":10,\"size\":2,\"group\":\"x\",\"hue\":3,\"low\":1}"));
    assert_non_null(strstr(out.bytes, "{\"name\":\"c\",\"cost\":30,\"size\":1,\"once\":true,\"low\":2}"));
    pb_arena_release(&c.arena);
}

static void the_form_is_what_costs_leave(void **state)
{
    (void)state;
    case_ c;
    const pb_graph *other;
    const uint64_t cost[] = {0, 10, 0, 20, 30, 40};
    char hash[2][PB_HASH_TEXT], form[2][PB_HASH_TEXT];
    open_case(&c);
    assert_int_equal(pb_graph_with_costs(&c.ctx, c.g, &(pb_graph_costs){.cost = cost}, &c.arena, &other), PB_OK);
    assert_string_equal(other->cost_unit, "flop");
    const pb_graph *both[] = {c.g, other};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pb_graph_hash(&c.ctx, both[i], hash[i]), PB_OK);
        assert_int_equal(pb_graph_form_hash(&c.ctx, both[i], form[i]), PB_OK);
    }
    assert_string_not_equal(hash[0], hash[1]);
    assert_string_equal(form[0], form[1]);
    pb_graph wider = *c.g; /* a size that differs is another form */
    uint64_t size[] = {3, 2, 1, 2, 1, 2};
    wider.size = size;
    assert_int_equal(pb_graph_form_hash(&c.ctx, &wider, form[1]), PB_OK);
    assert_string_not_equal(form[0], form[1]);
    pb_arena_release(&c.arena);
}

static void costs_that_pass_64_bits_are_refused(void **state)
{
    (void)state;
    case_ c;
    const pb_graph *other = NULL;
    const uint64_t cost[] = {0, UINT64_MAX, 0, 1, 0, 0};
    open_case(&c);
    assert_int_equal(pb_graph_with_costs(&c.ctx, c.g, &(pb_graph_costs){.cost = cost}, &c.arena, &other), PB_ERANGE);
    assert_null(other);
    pb_arena_release(&c.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_costs_and_units_change),
                                       cmocka_unit_test(the_form_is_what_costs_leave),
                                       cmocka_unit_test(costs_that_pass_64_bits_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
