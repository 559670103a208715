/* test_schedule.c -- move lists, the words of schedules, costs as decimals. */
#include "pebble/schedule.h"
#include "support/io_case.h"
#include "support/move_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void operations_read_back_by_name(void **state)
{
    (void)state;
    static const char *const names[] = {"compute", "uncompute", "free", "store", "load", "drop", "copy"};
    for (unsigned i = 0; i < PB_OP_COUNT; i++) {
        pb_op op = PB_OP_COUNT;
        assert_string_equal(pb_op_name((pb_op)i), names[i]);
        assert_true(pb_op_parse(names[i], strlen(names[i]), &op));
        assert_int_equal(op, i);
        assert_false(pb_op_parse(names[i], strlen(names[i]) - 1, &op));
    }
    pb_op op = PB_DROP;
    assert_true(pb_op_parse("freedom", 4, &op)); /* the length counts */
    assert_int_equal(op, PB_FREE);
    assert_false(pb_op_parse("freedom", 7, &op));
    assert_false(pb_op_parse("", 0, &op));
    assert_int_equal(op, PB_FREE);
    assert_string_equal(pb_op_name(PB_OP_COUNT), "unknown");
}

static void outcomes_and_bounds_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"gave_up", "found", "optimal", "infeasible"};
    for (unsigned i = 0; i < 4; i++) {
        pb_outcome outcome;
        assert_string_equal(pb_outcome_name((pb_outcome)i), names[i]);
        assert_true(pb_outcome_parse(names[i], &outcome));
        assert_int_equal(outcome, i);
    }
    pb_outcome outcome = PB_OPTIMAL;
    assert_false(pb_outcome_parse("gave up", &outcome));
    assert_false(pb_outcome_parse("", &outcome));
    assert_int_equal(outcome, PB_OPTIMAL);
    assert_null(pb_bound_kind_name(PB_BOUND_NONE));
    assert_string_equal(pb_bound_kind_name(PB_BOUND_FREE_ORDER), "free-order");
    assert_string_equal(pb_bound_kind_name(PB_BOUND_FIXED_ORDER), "fixed-order");
}

static void moves_keep_what_they_were_given(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_moves moves;
    static const pb_node also[] = {7, 9};
    uint32_t count;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    pb_moves_init(&moves, &arena);
    assert_int_equal(pb_moves_add_compute(&moves, 3, PB_NO_NODE, NULL, 0), PB_OK);
    assert_int_equal(pb_moves_add_compute(&moves, 4, 3, NULL, 0), PB_OK);
    assert_int_equal(pb_moves_add_compute(&moves, 5, PB_NO_NODE, also, 2), PB_OK);
    assert_int_equal(pb_moves_add_compute(&moves, 6, 0, also + 1, 1), PB_OK);
    assert_int_equal(pb_moves_add(&moves, PB_STORE, 2, 8), PB_OK);
    assert_int_equal(moves.count, 5);
    assert_int_equal(pb_moves_over(&moves, 0), PB_NO_NODE);
    assert_int_equal(pb_moves_over(&moves, 1), 3);
    assert_int_equal(pb_moves_over(&moves, 2), PB_NO_NODE);
    assert_int_equal(pb_moves_over(&moves, 3), 0);
    assert_int_equal(pb_moves_over(&moves, 4), PB_NO_NODE);
    assert_null(pb_moves_also(&moves, 1, &count));
    assert_int_equal(count, 0);
    assert_memory_equal(pb_moves_also(&moves, 2, &count), also, sizeof also);
    assert_int_equal(count, 2);
    assert_int_equal(*pb_moves_also(&moves, 3, &count), 9);
    assert_int_equal(count, 1);
    assert_int_equal(moves.move[4].op, PB_STORE);
    assert_int_equal(moves.move[4].tier, 8);
    char text[400];
    moves_to_text(&moves, text, sizeof text);
    assert_string_equal(text, "c3 c4/3 c5+7+9 c6/0+9 s2:8");
    pb_arena_release(&arena);
    assert_int_equal(ctx.memory_used, 0);
}

static void equal_moves_are_equal_bytes(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_moves a, b;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    pb_moves_init(&a, &arena);
    pb_moves_init(&b, &arena);
    moves_from_text("c1 f1 c2/1+3 s1:2 u4", &a);
    moves_from_text("c1 f1 c2/1+3 s1:2 u4", &b);
    assert_memory_equal(a.move, b.move, 5 * sizeof *a.move);
    pb_arena_release(&arena);
}

static void many_moves_stay_in_order(void **state)
{
    (void)state;
    enum { MOVES = 100000 };
    pb_context ctx;
    pb_arena arena;
    pb_moves moves;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    pb_moves_init(&moves, &arena);
    for (pb_node v = 0; v < MOVES; v++)
        assert_int_equal(pb_moves_add_compute(&moves, v, PB_NO_NODE, &v, v % 2), PB_OK);
    for (pb_node v = 0; v < MOVES; v++) {
        uint32_t count;
        const pb_node *also = pb_moves_also(&moves, v, &count);
        assert_int_equal(moves.move[v].node, v);
        assert_int_equal(count, v % 2);
        assert_true(!count || *also == v);
    }
    pb_arena_release(&arena);
    assert_int_equal(ctx.memory_used, 0);
}

static void a_refused_allocation_keeps_the_moves_so_far(void **state)
{
    (void)state;
    for (uint64_t refuse = 1; refuse <= 6; refuse++) {
        pb_context ctx;
        failing_allocator memory = {.refuse = refuse};
        pb_arena arena;
        pb_moves moves;
        failing_context(&ctx, &memory);
        pb_arena_init(&arena, &ctx);
        pb_moves_init(&moves, &arena);
        pb_status status = PB_OK;
        pb_node v = 0;
        while (status == PB_OK && v < 100000) {
            status = pb_moves_add_compute(&moves, v, PB_NO_NODE, &v, 1);
            v += status == PB_OK;
        }
        assert_int_equal(status, PB_ENOMEM);
        assert_int_equal(moves.count, v);
        for (pb_step k = 0; k < moves.count; k++) {
            uint32_t count;
            assert_int_equal(*pb_moves_also(&moves, k, &count), k);
        }
        pb_arena_release(&arena);
        assert_int_equal(memory.blocks, 0);
    }
}

static void costs_are_exact_decimals(void **state)
{
    (void)state;
    static const struct {
        pb_u128 cost;
        uint32_t digits;
        const char *text;
    } cases[] = {
        {{0, 0}, 0, "0"},
        {{0, 0}, 9, "0"},
        {{0, 7}, 0, "7"},
        {{0, 100}, 0, "100"}, /* zeros before the point stay */
        {{0, 100}, 2, "1"},
        {{0, 100}, 1, "10"},
        {{0, 5}, 3, "0.005"},
        {{0, 10}, 3, "0.01"},
        {{0, 500}, 3, "0.5"},
        {{0, 1500}, 3, "1.5"},
        {{0, 12345}, 2, "123.45"},
        {{0, 1000000001}, 9, "1.000000001"},
        {{1, 0}, 4, "1844674407370955.1616"},
        {{UINT64_MAX, UINT64_MAX}, 9, "340282366920938463463374607431.768211455"},
        {{UINT64_MAX, UINT64_MAX}, 0, "340282366920938463463374607431768211455"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[PB_COST_TEXT];
        pb_cost_text(cases[i].cost, &(pb_weights){0, 0, 1, cases[i].digits}, text);
        assert_string_equal(text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_read_back_by_name),
        cmocka_unit_test(outcomes_and_bounds_have_names),
        cmocka_unit_test(moves_keep_what_they_were_given),
        cmocka_unit_test(equal_moves_are_equal_bytes),
        cmocka_unit_test(many_moves_stay_in_order),
        cmocka_unit_test(a_refused_allocation_keeps_the_moves_so_far),
        cmocka_unit_test(costs_are_exact_decimals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
