/* test_trace.c -- Chrome trace events. */
#include "unit/report_fixture.h"

static void slices_stand_where_their_work_is_done(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_loop(&s, 4);
    bench_open(&b, &s, "c0 c1 f0 c2 f1 c0 c3");
    assert_int_equal(pb_trace_write(&b.ctx, b.certificate, bench_sink(&b)), PB_OK);
    has(&b, "{\"ph\":\"X\",\"name\":\"1\",\"cat\":\"compute\",\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":2,");
    has(&b, "{\"ph\":\"i\",\"name\":\"0\",\"cat\":\"free\",\"pid\":1,\"tid\":1,\"ts\":4,\"s\":\"t\",");
    has(&b, "{\"ph\":\"X\",\"name\":\"0\",\"cat\":\"recompute\",\"pid\":1,\"tid\":1,\"ts\":6,\"dur\":2,");
    has(&b, "{\"ph\":\"C\",\"name\":\"fast memory\",\"pid\":1,\"ts\":8,\"args\":{\"size\":3}}");
    assert_null(strstr(bench_text(&b), "transfer"));
    bench_close(&b);
}

static void transfers_have_a_track_of_their_own(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_loop(&s, 3);
    s.kind = PB_GAME_TIERED;
    s.tier_count = 1;
    s.tiers[0] = (pb_tier){.store_cost = 3, .load_cost = 1, .load_per_unit = 1, .cap = PB_UNLIMITED};
    bench_open(&b, &s, "c0 s0:1 c1 f0 l0:1 c2");
    assert_int_equal(pb_trace_write(&b.ctx, b.certificate, bench_sink(&b)), PB_OK);
    has(&b, "\"args\":{\"name\":\"transfer\"}");
    has(&b, "\"cat\":\"store\",\"pid\":1,\"tid\":2,\"ts\":2,\"dur\":3,");
    has(&b, "\"cat\":\"load\",\"pid\":1,\"tid\":2,\"ts\":7,\"dur\":2,");
    has(&b, "{\"ph\":\"C\",\"name\":\"slow memory\",\"pid\":1,\"ts\":5,\"args\":{\"size\":1}}");
    bench_close(&b);
}

static void an_empty_plan_is_a_valid_trace(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_game_init(&s);
    bench_open(&b, &s, "");
    assert_int_equal(pb_trace_write(&b.ctx, b.certificate, bench_sink(&b)), PB_OK);
    has(&b, "\"traceEvents\":[\n{\"ph\":\"M\"");
    assert_string_equal(bench_text(&b) + strlen(bench_text(&b)) - 4, "\n]}\n");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_stand_where_their_work_is_done),
        cmocka_unit_test(transfers_have_a_track_of_their_own),
        cmocka_unit_test(an_empty_plan_is_a_valid_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
