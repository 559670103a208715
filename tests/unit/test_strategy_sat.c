/* test_strategy_sat.c -- the strategy sat where the answer is known, what it refuses, and that it answers the same again. */
#include "api_fixture.h"
#include "pebble/generate.h"
#include "support/plan_check.h"

static void open_chain(bench *b, uint32_t nodes, uint64_t cap)
{
    small_game s;
    small_chain(&s, nodes);
    s.kind = PB_GAME_REVERSIBLE;
    s.cap = cap;
    bench_open(b, &s);
}

static void chains_are_solved_and_proved(void **state)
{
    (void)state;
    static const struct {
        uint32_t nodes;
        uint64_t cap, work;
    } known[] = {{4, 3, 9}, {5, 4, 11}, {6, 4, 15}, {6, 5, 13}, {7, 5, 17}, {8, 8, 15}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        bench b;
        open_chain(&b, known[i].nodes, known[i].cap);
        const pb_schedule *s = bench_plan(&b, "sat");
        if (s->outcome != PB_OPTIMAL || s->metrics.work != known[i].work)
            fail_msg("chain %u at %" PRIu64 ": %s, work %" PRIu64, known[i].nodes, known[i].cap,
                     pb_outcome_name(s->outcome), s->metrics.work);
        bench_close(&b);
    }
}

/* Five nodes need four values at a time; that three are too few is no matter of working sets. */
static void caps_that_are_too_small_are_proved(void **state)
{
    (void)state;
    bench b;
    open_chain(&b, 5, 3);
    const pb_schedule *s = bench_plan(&b, "sat");
    assert_int_equal(s->outcome, PB_INFEASIBLE);
    bench_close(&b);
}

static void fewest_values_are_found(void **state)
{
    (void)state;
    bench b;
    open_chain(&b, 8, 8);
    const pb_schedule *s = bench_plan(&b, "sat:memory=least");
    assert_int_equal(s->metrics.peak, 4);
    assert_int_equal(s->outcome, PB_FOUND);
    bench_close(&b);
}

static void steps_can_be_named(void **state)
{
    (void)state;
    bench b;
    open_chain(&b, 8, 8);
    assert_int_equal(bench_plan(&b, "sat:steps=14")->outcome, PB_GAVE_UP); /* there and back takes 15 */
    assert_int_equal(bench_plan(&b, "sat:steps=15")->metrics.work, 15);
    assert_int_equal(bench_ask(&b, "sat:memory=some", NULL), PB_EINVAL);
    bench_close(&b);
}

static void what_has_no_formula_is_refused(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_chain(&s, 4);
    s.kind = PB_GAME_REVERSIBLE;
    s.inplace[2] = bit(1);
    bench_open(&b, &s);
    const pb_schedule *p = bench_plan(&b, "sat");
    assert_int_equal(p->outcome, PB_GAVE_UP);
    assert_string_equal(p->reason, "does not apply: it does not support in-place moves");
    bench_close(&b);
    small_chain(&s, 4);
    s.kind = PB_GAME_REVERSIBLE;
    s.weights.beta = 1;
    bench_open(&b, &s);
    assert_non_null(strstr(bench_plan(&b, "sat")->reason, "work only"));
    assert_int_equal(bench_plan(&b, "sat:memory=least")->metrics.peak, 3);
    bench_close(&b);
    small_chain(&s, 4);
    s.kind = PB_GAME_REVERSIBLE;
    pb_node part = small_game_add(&s, 0, 1, 0);
    s.owner[part] = 1;
    bench_open(&b, &s);
    p = bench_plan(&b, "sat");
    assert_string_equal(p->reason, "does not apply: it does not support by-products");
    bench_close(&b);
}

/* Powers of two never add up to the same. */
static void sizes_with_too_many_sums_are_refused(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_chain(&s, 24);
    for (unsigned v = 0; v < 24; v++)
        s.size[v] = UINT64_C(1) << v;
    s.kind = PB_GAME_REVERSIBLE;
    s.cap = (UINT64_C(1) << 24) - 2;
    bench_open(&b, &s);
    const pb_schedule *p = bench_plan(&b, "sat");
    assert_int_equal(p->outcome, PB_GAVE_UP);
    assert_non_null(strstr(p->reason, "too large"));
    b.ctx.tick_limit = 2000000; /* a formula that was not made takes no effort */
    assert_non_null(strstr(bench_plan(&b, "sat")->reason, "too large"));
    bench_close(&b);
}

static void it_answers_the_same_again(void **state)
{
    (void)state;
    bench b;
    char why[PLAN_WHY];
    open_chain(&b, 14, 6);
    bench_plan(&b, "sat:conflicts=3000");
    pb_plan_result first = b.p;
    assert_non_null(first.certificate);
    bench_plan(&b, "sat:conflicts=3000");
    if (!plans_are_equal(&first, &b.p, why))
        fail_msg("%s", why);
    bench_close(&b);
}

static void it_stops_when_asked(void **state)
{
    (void)state;
    bench b;
    open_chain(&b, 24, 6);
    bench_stop_at(&b, 20, PB_STOP_TIME);
    const pb_schedule *s = bench_plan(&b, "sat:conflicts=100000000");
    assert_int_equal(s->outcome, PB_GAVE_UP);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_solved_and_proved),   cmocka_unit_test(caps_that_are_too_small_are_proved),
        cmocka_unit_test(fewest_values_are_found),        cmocka_unit_test(steps_can_be_named),
        cmocka_unit_test(what_has_no_formula_is_refused), cmocka_unit_test(sizes_with_too_many_sums_are_refused),
        cmocka_unit_test(it_answers_the_same_again),      cmocka_unit_test(it_stops_when_asked),
    };
    if (!pb_sat_version()) {
        puts("built without CaDiCaL: nothing to test");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
