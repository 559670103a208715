/* test_plan_dot.c -- the coloured graph. */
#include "unit/report_fixture.h"

static void colours_tell_what_happens_to_each_value(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_loop(&s, 4);
    bench_open(&b, &s, "c0 c1 f0 c2 f1 c0 c3");
    assert_int_equal(pb_plan_dot_write(&b.ctx, b.certificate, bench_sink(&b)), PB_OK);
    has(&b, "n0 [label=\"0 ×2\",fillcolor=\"#f7c99b\"];");
    has(&b, "n1 [label=\"1\",fillcolor=\"#d4e6f7\"];");
    has(&b, "n3 [label=\"3\",fillcolor=\"#b8e0c8\",peripheries=2];");
    has(&b, "n0 -> n3;");
    has(&b, "label=\"recomputed\"");
    assert_null(strstr(bench_text(&b), "moved to slow memory"));
    bench_close(&b);
}

static void an_empty_graph_is_an_empty_drawing(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_game_init(&s);
    bench_open(&b, &s, "");
    assert_int_equal(pb_plan_dot_write(&b.ctx, b.certificate, bench_sink(&b)), PB_OK);
    assert_null(strstr(bench_text(&b), "legend"));
    assert_string_equal(bench_text(&b) + strlen(bench_text(&b)) - 2, "}\n");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_tell_what_happens_to_each_value),
        cmocka_unit_test(an_empty_graph_is_an_empty_drawing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
