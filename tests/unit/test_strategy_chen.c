/* test_strategy_chen.c -- the segments of a chain, which values are recomputed and how often, and what is refused. */
#include "strategy_fixture.h"

static void open_chain(desk *d, const char *steps)
{
    desk_generate(d, "adjoint-chain", 1, (pb_option[]){{"steps", steps}});
}

/* 100 forward places in ten segments of ten: the inner nine of the first nine are made twice. */
static void sqrt_makes_segments_of_the_root(void **state)
{
    (void)state;
    desk d;
    open_chain(&d, "100");
    const pb_schedule *s = desk_plan(&d, "chen:variant=sqrt");
    assert_int_equal(s->metrics.recompute_count, 9 * 9);
    for (uint32_t i = 0; i < d.game.graph->node_count; i++) {
        uint32_t times = desk_computations(&d, i);
        bool state_node = i >= 1 && i <= 100; /* x_0 is given, x_i is node i */
        assert_int_equal(times, i == 0 ? 0 : state_node && i < 90 && i % 10 ? 2 : 1);
    }
    assert_true(s->metrics.peak <= 10 + 10 + 3);
    desk_shut(&d);
}

/* Sizes 1: a segment is closed by the node with which its sizes pass b. */
static void greedy_closes_where_sizes_pass_b(void **state)
{
    (void)state;
    desk d;
    open_chain(&d, "24");
    for (uint32_t b = 0; b <= 24; b++) {
        const pb_schedule *s = desk_plan(&d, "chen:variant=greedy,b=%u", b);
        uint32_t ends = 23 / (b + 1); /* that begin a segment */
        assert_int_equal(s->metrics.recompute_count, ends * b);
        for (uint32_t i = 1; i <= 24; i++)
            assert_int_equal(desk_computations(&d, i), i <= ends * (b + 1) && i % (b + 1) ? 2 : 1);
    }
    desk_shut(&d);
}

/* One large value among small ones: greedy ends a segment there, equal numbers do not. */
static void greedy_looks_at_sizes(void **state)
{
    (void)state;
    small_game small;
    small_game_init(&small);
    small_game_add(&small, 0, 1, 0);
    small.flags[0] = PB_NODE_GIVEN;
    for (uint32_t v = 1; v <= 8; v++)
        small_game_add(&small, 1, v == 3 ? 50 : 1, UINT32_C(1) << (v - 1));
    for (uint32_t i = 8; i-- > 0;)
        small_game_add(&small, 1, 1, UINT32_C(3) << i | (i < 7 ? UINT32_C(1) << (small.node_count - 1) : 0));
    desk d;
    desk_open(&d, &small);
    desk_plan(&d, "chen:variant=greedy,b=10");
    assert_int_equal(desk_computations(&d, 3), 1);
    assert_int_equal(desk_computations(&d, 2), 2);
    desk_plan(&d, "chen:variant=sqrt");
    assert_int_equal(desk_computations(&d, 3), 1); /* the root of 8 is 3: places 3 and 6 */
    assert_int_equal(desk_computations(&d, 4), 2);
    desk_shut(&d);
}

static void no_value_is_made_more_than_twice(void **state)
{
    (void)state;
    static const char *const families[] = {"resnet", "unet", "transformer", "mlp"};
    for (unsigned f = 0; f < 4; f++)
        for (uint64_t percent = 50; percent <= 100; percent += 50) {
            desk d;
            desk_generate(&d, families[f], 0, NULL);
            desk_cap(&d, percent);
            const pb_schedule *s = desk_plan(&d, "chen");
            for (pb_node v = 0; v < d.game.graph->node_count; v++)
                assert_true(desk_computations(&d, v) <= 2);
            if (percent == 100)
                assert_int_equal(s->outcome, PB_OPTIMAL); /* nothing is made twice */
            desk_shut(&d);
        }
}

static void what_was_chosen_gives_the_same_plan_again(void **state)
{
    (void)state;
    char why[PLAN_WHY];
    for (uint64_t cap = 22; cap <= 102; cap += 20) {
        desk d;
        open_chain(&d, "100");
        d.game.cap = cap;
        const pb_schedule *s = desk_plan(&d, "chen");
        assert_int_not_equal(s->outcome, PB_GAVE_UP);
        pb_plan_result first = d.p;
        const char *b = desk_option(&d, "b");
        desk_plan(&d, "chen:variant=%s%s%s", desk_option(&d, "variant"), b ? ",b=" : "", b ? b : "");
        if (!plans_are_equal(&first, &d.p, why))
            fail_msg("cap %" PRIu64 ": %s", cap, why);
        desk_shut(&d);
    }
}

static void refusals_tell_the_need(void **state)
{
    (void)state;
    desk d;
    open_chain(&d, "100");
    d.game.cap = 15;
    const pb_schedule *s = desk_plan(&d, "chen:variant=sqrt");
    assert_string_equal(s->reason, "does not fit: its plan needs 21 pebble, 6 over the cap of 15 pebble");
    assert_string_equal(desk_option(&d, "variant"), "sqrt");
    s = desk_plan(&d, "chen");
    assert_int_equal(s->outcome, PB_GAVE_UP);
    assert_non_null(strstr(s->reason, "plans needs 21 pebble, 6 over the cap of 15 pebble"));
    pb_request request = {.strategy = "chen:variant=best", .seed = 1};
    assert_int_equal(pb_plan(&d.ctx, &d.game, &request, &d.arena, &d.p), PB_EINVAL);
    assert_string_equal(d.ctx.error.message, "variant must be auto, sqrt or greedy, not \"best\"");
    desk_shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sqrt_makes_segments_of_the_root),
        cmocka_unit_test(greedy_closes_where_sizes_pass_b),
        cmocka_unit_test(greedy_looks_at_sizes),
        cmocka_unit_test(no_value_is_made_more_than_twice),
        cmocka_unit_test(what_was_chosen_gives_the_same_plan_again),
        cmocka_unit_test(refusals_tell_the_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
