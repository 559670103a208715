/* test_compare.c -- strategies side by side, their winner, and the least cap that is known to work. */
#include "api_fixture.h"
#include "oracle/brute_force.h"
#include "support/cases.h"

static pb_comparison compare(bench *b, unsigned games, const char *only)
{
    pb_comparison c;
    pb_compare_request request = {.strategies = only, .games = games, .plan = {.seed = 1}};
    pb_status status = pb_compare(&b->ctx, &b->game, &request, &b->arena, &c);
    if (status != PB_OK)
        fail_msg("%s", b->ctx.error.message);
    return c;
}

static void every_strategy_plays_every_game_it_knows(void **state)
{
    (void)state;
    small_game s;
    bench b;
    uint32_t rows, expected = 0;
    const pb_strategy *row = pb_strategies(&rows);
    small_tiny(&s);
    bench_open(&b, &s);
    pb_comparison c = compare(&b, PB_GAME_REMAT | PB_GAME_REVERSIBLE, NULL);
    for (unsigned kind = PB_GAME_REMAT; kind <= PB_GAME_REVERSIBLE; kind *= 2)
        for (uint32_t i = 0; i < rows; i++) {
            if (!(row[i].games & kind) || row[i].strength == PB_PORTFOLIO || (row[i].traits & PB_TRAIT_FILE))
                continue;
            assert_true(expected < c.row_count);
            assert_string_equal(c.rows[expected].asked, row[i].name);
            assert_int_equal(c.rows[expected].game->kind, kind);
            assert_int_equal(c.rows[expected].schedule.game, kind);
            expected++;
        }
    assert_int_equal(c.row_count, expected);
    assert_false(c.interrupted);
    assert_int_equal(c.rows[c.winner].game->kind, PB_GAME_REMAT); /* 5 steps against 7 */
    bench_close(&b);
}

static void specs_are_checked_without_planning(void **state)
{
    (void)state;
    static const char *const good[] = {"sqrt", "all", "every-k:k=3", "every-k:k=3,limit=500", "demand:policy=oldest"};
    static const char *const bad[] = {
        "",      "nothing", "every-k:nope=1",        "every-k:k", "every-k:=1", "sqrt,chen", "every-k:k=2,sqrt",
        "sqrt,", " sqrt",   "demand:policy=nothing", "all:k=1"};
    pb_context ctx;
    pb_context_init(&ctx);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(pb_spec_check(&ctx, good[i]), PB_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ctx.error.message[0] = '\0';
        assert_int_not_equal(pb_spec_check(&ctx, bad[i]), PB_OK);
        assert_true(ctx.error.message[0]);
    }
}

static void a_list_is_kept_to_in_its_order(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_adjoint(&s, 5);
    bench_open(&b, &s);
    pb_comparison c = compare(&b, PB_GAME_REMAT, "last-use,every-k:k=3,limit=500,cache-all,bennett,sqrt");
    assert_int_equal(c.row_count, 4); /* bennett does not play this game */
    assert_string_equal(c.rows[0].asked, "last-use");
    assert_string_equal(c.rows[1].asked, "every-k");
    assert_string_equal(c.rows[1].spec, "every-k:k=3,limit=500");
    assert_string_equal(c.rows[2].spec, "cache-all");
    assert_int_equal(c.rows[1].schedule.option_count, 2);
    assert_string_equal(c.rows[1].schedule.options[0].value, "3");
    assert_string_equal(c.rows[1].schedule.options[1].value, "500");
    assert_string_equal(c.rows[2].asked, "cache-all");
    assert_string_equal(c.rows[3].asked, "sqrt");
    bench_close(&b);
}

static void the_cheapest_under_the_weights_wins(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_adjoint(&s, 9);
    bench_open(&b, &s);
    b.game.cap = 5;
    pb_comparison c = compare(&b, PB_GAME_REMAT, "recompute-all,chain");
    assert_int_equal(c.winner, 1); /* the least work */
    b.game.cap = PB_UNLIMITED;
    b.game.weights = (pb_weights){1, 0, 0, 0};
    c = compare(&b, PB_GAME_REMAT, "recompute-all,last-use");
    assert_int_equal(c.winner, 0); /* less memory */
    bench_close(&b);
}

static void all_stands_for_every_row(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_adjoint(&s, 9);
    bench_open(&b, &s);
    uint32_t all = compare(&b, PB_GAME_REMAT | PB_GAME_TIERED, NULL).row_count;
    assert_true(all > 10);
    assert_int_equal(compare(&b, PB_GAME_REMAT | PB_GAME_TIERED, "all").row_count, all);
    uint32_t remat = compare(&b, PB_GAME_REMAT, NULL).row_count;
    pb_comparison c = compare(&b, PB_GAME_REMAT, "every-k:k=3,all");
    assert_int_equal(c.row_count, 1 + remat);
    assert_string_equal(c.rows[0].schedule.options[0].value, "3");
    assert_string_equal(c.rows[1].schedule.strategy, "cache-all");
    bench_close(&b);
}

static void ties_go_to_work_then_peak_then_moves_then_the_first(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_chain(&s, 5);
    bench_open(&b, &s);
    pb_comparison c = compare(&b, PB_GAME_REMAT, "cache-all,last-use");
    assert_int_equal(c.winner, 1); /* equal cost and work: the smaller peak */
    c = compare(&b, PB_GAME_REMAT, "last-use,every-k:k=1,last-use");
    assert_int_equal(c.winner, 0);
    b.game.weights = (pb_weights){0, 0, 0, 0}; /* everything costs nothing: the makespan decides */
    b.game.cap = 4;
    c = compare(&b, PB_GAME_REVERSIBLE, "lange,knill");
    assert_int_equal(c.winner, c.rows[1].schedule.metrics.makespan < c.rows[0].schedule.metrics.makespan);
    b.game.cap = PB_UNLIMITED;
    bench_close(&b);
    memset(s.size, 0, sizeof s.size); /* no peak either: fewer moves */
    bench_open(&b, &s);
    c = compare(&b, PB_GAME_REMAT, "last-use,cache-all");
    assert_int_equal(c.winner, 1);
    bench_close(&b);
}

static void nothing_that_fits_has_no_winner(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_chain(&s, 6);
    s.cap = 1;
    bench_open(&b, &s);
    pb_comparison c = compare(&b, PB_GAME_REMAT, NULL);
    assert_int_equal(c.winner, UINT32_MAX);
    for (uint32_t i = 0; i < c.row_count; i++)
        assert_int_equal(c.rows[i].schedule.outcome, PB_INFEASIBLE);
    c = compare(&b, PB_GAME_TIERED, "bennett");
    assert_int_equal(c.row_count, 0);
    assert_int_equal(c.winner, UINT32_MAX);
    bench_close(&b);
}

static void faults_of_the_list_are_errors(void **state)
{
    (void)state;
    static const struct {
        const char *only, *policy, *message;
    } cases[] = {
        {"last-use,sqr", NULL, "there is no strategy `sqr`; did you mean sqrt?"},
        {"last-use,,sqrt", NULL, "there is no strategy ``; choose auto, "},
        {"last-use:k=3", NULL, "strategy last-use has no option \"k\"; its options: none"},
        {"last-use", "lru", "there is no policy \"lru\"; `pebble help plan` lists them"},
    };
    small_game s;
    bench b;
    small_tiny(&s);
    bench_open(&b, &s);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pb_comparison c = {.row_count = 4711};
        pb_compare_request request = {
            .strategies = cases[i].only, .games = PB_GAME_REMAT, .plan = {.policy = cases[i].policy}};
        assert_int_equal(pb_compare(&b.ctx, &b.game, &request, &b.arena, &c), PB_EUNKNOWN);
        if (strncmp(b.ctx.error.message, cases[i].message, strlen(cases[i].message)) != 0)
            assert_string_equal(b.ctx.error.message, cases[i].message);
        assert_int_equal(c.row_count, 4711);
    }
    bench_close(&b);
}

static void an_interruption_keeps_the_rows_so_far(void **state)
{
    (void)state;
    small_game s;
    bool finished = false, partial = false;
    small_adjoint(&s, 5);
    for (uint64_t n = 1; !finished && n < 100000; n += 1 + n / 10) {
        bench b;
        bench_open(&b, &s);
        bench_stop_at(&b, n, PB_STOP_INTERRUPT);
        pb_comparison c = compare(&b, PB_GAME_REMAT, NULL);
        finished = b.polls < n;
        assert_true(c.interrupted || b.ctx.stopped == (finished ? PB_GO_ON : PB_STOP_INTERRUPT));
        partial = partial || (c.interrupted && c.row_count);
        assert_int_equal(c.winner == UINT32_MAX, c.row_count == 0);
        bench_close(&b);
    }
    assert_true(finished && partial);
}

/* ---- the least cap ---- */

static void least_cap(bench *b)
{
    pb_request request = {.seed = 1};
    pb_status status = pb_least_cap(&b->ctx, &b->game, &request, &b->arena, &b->p);
    if (status != PB_OK)
        fail_msg("%s", b->ctx.error.message);
}

static void the_least_cap_of_a_chain_is_two(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_chain(&s, 9);
    bench_open(&b, &s);
    least_cap(&b);
    assert_non_null(b.p.certificate);
    assert_int_equal(b.p.schedule.metrics.peak, 2);
    b.game.kind = PB_GAME_REVERSIBLE; /* 2^3 nodes need 4, nine one more */
    least_cap(&b);
    assert_int_equal(b.p.schedule.metrics.peak, 5);
    bench_close(&b);
    small_game_init(&s);
    bench_open(&b, &s);
    least_cap(&b);
    assert_int_equal(b.p.schedule.metrics.peak, 0);
    bench_close(&b);
}

static void what_is_impossible_has_no_least_cap(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_tiny(&s);
    s.flags[0] = PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW;
    bench_open(&b, &s);
    least_cap(&b);
    assert_null(b.p.certificate);
    assert_int_equal(b.p.schedule.outcome, PB_INFEASIBLE);
    bench_close(&b);
}

static void the_least_cap_is_between_proof_and_truth(void **state)
{
    (void)state;
    bf_space *space = bf_space_new();
    bf_space_limit(space, 100000);
    unsigned judged = 0, met = 0;
    for (uint64_t seed = 1, cases = test_cases(120); seed <= cases; seed++) {
        small_game s;
        bench b;
        bf_problem problem;
        bf_answer answer;
        small_game_random(seed, PB_GAME_REMAT, &s);
        bench_open(&b, &s);
        if (bf_from_game(&b.game, &problem) && bf_least_peak(space, &problem, &answer)) {
            least_cap(&b);
            assert_int_equal(b.p.certificate != NULL, answer.feasible);
            if (answer.feasible) {
                judged++;
                met += b.p.schedule.metrics.peak == answer.value;
                assert_true(b.p.schedule.metrics.peak >= answer.value);
            }
        }
        bench_close(&b);
    }
    bf_space_free(space);
    assert_true(judged && met * 2 > judged); /* it is found more often than not */
}

/* A clock that each look moves on, and a limit on it. */
static uint64_t hasty_clock(void *state)
{
    bench *b = state;
    return ++b->now;
}

static pb_stop hasty_stop(void *state)
{
    bench *b = state;
    return ++b->now > 4000 ? PB_STOP_TIME : PB_GO_ON;
}

/* A search goes on as long as there is time: with a limit the next one has its share too. */
static void each_row_has_a_share_of_the_time(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pb_comparison c;
    small_adjoint(&s, 9);
    s.cap = 8;
    s.weights = (pb_weights){1, 0, 1, 0}; /* nothing is proved */
    bench_open(&b, &s);
    b.ctx.clock_ns = hasty_clock;
    b.ctx.stop = hasty_stop;
    b.ctx.callback_state = &b;
    pb_compare_request request = {.strategies = "search,search,search",
                                  .games = PB_GAME_REMAT,
                                  .plan = {.seed = 1, .patient = true, .time_ns = 4000}};
    assert_int_equal(pb_compare(&b.ctx, &b.game, &request, &b.arena, &c), PB_OK);
    assert_false(c.interrupted);
    assert_int_equal(c.row_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_non_null(c.rows[i].certificate);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_strategy_plays_every_game_it_knows),
        cmocka_unit_test(specs_are_checked_without_planning),
        cmocka_unit_test(a_list_is_kept_to_in_its_order),
        cmocka_unit_test(the_cheapest_under_the_weights_wins),
        cmocka_unit_test(all_stands_for_every_row),
        cmocka_unit_test(ties_go_to_work_then_peak_then_moves_then_the_first),
        cmocka_unit_test(nothing_that_fits_has_no_winner),
        cmocka_unit_test(faults_of_the_list_are_errors),
        cmocka_unit_test(an_interruption_keeps_the_rows_so_far),
        cmocka_unit_test(the_least_cap_of_a_chain_is_two),
        cmocka_unit_test(what_is_impossible_has_no_least_cap),
        cmocka_unit_test(the_least_cap_is_between_proof_and_truth),
        cmocka_unit_test(each_row_has_a_share_of_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
