/* test_decisions.c -- decisions as text. */
#include "unit/report_fixture.h"

static void decide(const small_game *s, const char *moves, const char *expected)
{
    bench b;
    bench_open(&b, s, moves);
    assert_int_equal(pb_decisions_write(&b.ctx, b.certificate, bench_sink(&b)), PB_OK);
    assert_string_equal(bench_text(&b), expected);
    bench_close(&b);
}

static void decisions_name_what_is_freed_and_made_again(void **state)
{
    (void)state;
    small_game s;
    small_loop(&s, 4);
    decide(&s, "c0 c1 f0 c2 f1 c0 c3", "free 0 after 1, recompute 0 before 3\nfree 1 after 2\n");
}

static void decisions_name_uncomputing(void **state)
{
    (void)state;
    small_game s;
    small_tiny(&s);
    s.kind = PB_GAME_REVERSIBLE;
    decide(&s, "c0 c1 c2 u1 u0", "uncompute 1 after 2\nuncompute 0 after 2\n");
}

static void decisions_name_transfers(void **state)
{
    (void)state;
    small_game s;
    small_loop(&s, 4);
    s.kind = PB_GAME_TIERED;
    s.tier_count = 1;
    s.tiers[0] = (pb_tier){.store_cost = 1, .load_cost = 1, .cap = PB_UNLIMITED};
    decide(&s, "c0 s0:1 c1 f0 c2 l0:1 d0:1 c3",
           "store 0 in tier 1 after 0\nfree 0 after 1, load 0 before 3\nload 0 from tier 1 after 2, before 3\ndrop 0 "
           "from tier 1 after 2\n");
}

static void decisions_name_overwriting(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    small_game_add(&s, 1, 2, 0);
    small_game_add(&s, 1, 2, 1);
    s.inplace[1] = 1;
    decide(&s, "c0 c1/0", "overwrite 0 with 1 after 0\n");
}

static void keeping_everything_takes_no_decisions(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    decide(&s, "", "");
    small_tiny(&s);
    decide(&s, "c0 c1 c2", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decisions_name_what_is_freed_and_made_again),
        cmocka_unit_test(decisions_name_uncomputing),
        cmocka_unit_test(decisions_name_transfers),
        cmocka_unit_test(decisions_name_overwriting),
        cmocka_unit_test(keeping_everything_takes_no_decisions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
