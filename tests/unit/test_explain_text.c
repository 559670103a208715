/* test_explain_text.c -- explanations in words and as JSON. */
#include "unit/report_fixture.h"

static void open_loop(bench *b)
{
    small_game s;
    small_loop(&s, 5);
    s.cap = 4;
    bench_open(b, &s, "c0 c1 f0 c2 f1 c3 f2 c0 c4");
}

static void the_text_says_why_a_value_is_made_again(void **state)
{
    (void)state;
    bench b;
    open_loop(&b);
    assert_int_equal(pb_explain_text(&b.ctx, b.certificate, 0, bench_sink(&b)), PB_OK);
    has(&b, "computed 2 times");
    has(&b, "computed at move 0, first read by move 1 (compute 1)");
    has(&b, "freed at move 2; recomputed at move 7");
    has(&b, "recomputed at move 7 because move 8 (compute 4) needs it");
    bench_close(&b);
}

static void the_text_tells_borrowed_memory_from_our_own(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_loop(&s, 5);
    s.cap = 4;
    s.borrow = 1;
    bench_open(&b, &s, "b0 c1 u0 c2 f1 c3 f2 c0 c4");
    assert_int_equal(pb_explain_text(&b.ctx, b.certificate, 0, bench_sink(&b)), PB_OK);
    has(&b, "computed at move 0 in borrowed memory, first read by move 1 (compute 1)");
    has(&b, "instead outside of borrowed memory would");
    bench_close(&b);
}

static void the_text_of_a_plan_lists_what_costs_most(void **state)
{
    (void)state;
    bench b;
    open_loop(&b);
    assert_int_equal(pb_explain_text(&b.ctx, b.certificate, PB_NO_NODE, bench_sink(&b)), PB_OK);
    has(&b, "9 moves in the remat game");
    has(&b, "1 value is recomputed");
    has(&b, "1 value is kept in memory");
    bench_close(&b);
}

static void the_json_has_the_same_story(void **state)
{
    (void)state;
    bench b;
    open_loop(&b);
    assert_int_equal(pb_explain_json(&b.ctx, b.certificate, 0, bench_sink(&b)), PB_OK);
    has(&b, "{\"node\":\"0\",\"index\":0,\"cost\":2,\"size\":1,\"computed\":2,");
    has(&b, "\"made\":0,\"removed\":2,\"removed_by\":\"free\",\"made_again\":7,\"uses\":1,");
    bench_empty(&b);
    assert_int_equal(pb_explain_json(&b.ctx, b.certificate, PB_NO_NODE, bench_sink(&b)), PB_OK);
    has(&b, "\"again\":[\n{\"node\":\"0\",\"index\":0,\"size\":1,\"computed\":2,\"spent_again\":2}\n]");
    has(&b, "\"memory_time\":2,\"saves\":6,\"exact\":true}");
    bench_close(&b);
}

static void a_node_that_is_not_there_is_refused(void **state)
{
    (void)state;
    bench b;
    open_loop(&b);
    assert_int_equal(pb_explain_text(&b.ctx, b.certificate, 5, bench_sink(&b)), PB_EINVAL);
    assert_int_equal(pb_explain_json(&b.ctx, b.certificate, 5, bench_sink(&b)), PB_EINVAL);
    bench_close(&b);
}

static void an_empty_graph_can_be_explained(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_game_init(&s);
    bench_open(&b, &s, "");
    assert_int_equal(pb_explain_text(&b.ctx, b.certificate, PB_NO_NODE, bench_sink(&b)), PB_OK);
    has(&b, "No value is recomputed.");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_says_why_a_value_is_made_again),
        cmocka_unit_test(the_text_tells_borrowed_memory_from_our_own),
        cmocka_unit_test(the_text_of_a_plan_lists_what_costs_most),
        cmocka_unit_test(the_json_has_the_same_story),
        cmocka_unit_test(a_node_that_is_not_there_is_refused),
        cmocka_unit_test(an_empty_graph_can_be_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
