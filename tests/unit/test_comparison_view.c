/* test_comparison_view.c -- the lines of a comparison, the names of the literature, and where failing plans stop. */
#include "api_fixture.h"
#include "pebble/summary.h"

typedef struct shown {
    pb_comparison c;
    pb_view view;
} shown;

static shown compare(bench *b, unsigned games, const char *list, bool all)
{
    shown s;
    pb_compare_request request = {.strategies = list, .games = games, .plan = {.seed = 1, .attempts = true}};
    if (pb_compare(&b->ctx, &b->game, &request, &b->arena, &s.c) != PB_OK)
        fail_msg("%s", b->ctx.error.message);
    assert_int_equal(pb_view_make(&b->ctx, &s.c, all, &b->arena, &s.view), PB_OK);
    return s;
}

/* The line with a title, or NULL. */
static const pb_view_line *titled(const shown *s, const char *title)
{
    for (uint32_t i = 0; i < s->view.count; i++)
        for (uint32_t k = 0; k < s->view.lines[i].count; k++)
            if (s->view.lines[i].titles[k] && strcmp(s->view.lines[i].titles[k], title) == 0)
                return &s->view.lines[i];
    return NULL;
}

static void the_names_of_the_literature_are_accepted(void **state)
{
    (void)state;
    assert_string_equal(pb_strategy_find("baseline")->name, "cache-all");
    assert_string_equal(pb_strategy_find("program-order")->name, "last-use");
    assert_string_equal(pb_strategy_find("reversible")->name, "bennett");
    assert_int_equal(pb_strategy_find("partial")->strength, PB_PORTFOLIO);
    assert_int_equal(pb_strategy_find("checkpoint")->strength, PB_PORTFOLIO);
    assert_string_equal(pb_strategy_title(pb_strategy_find("bennett")), "reversible");
    assert_null(pb_strategy_title(pb_strategy_find("chen")));
}

static void groups_have_their_strategies(void **state)
{
    (void)state;
    uint32_t count, rows;
    const pb_group *groups = pb_groups(&count);
    const pb_strategy *row = pb_strategies(&rows);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t members = 0;
        for (uint32_t k = 0; k < rows; k++)
            members += pb_group_has(groups[i].name, &row[k]);
        assert_true(members > 0);
    }
    assert_true(pb_group_has("partial", pb_strategy_find("every-k")));
    assert_false(pb_group_has("partial", pb_strategy_find("chen")));
    assert_true(pb_group_has("checkpoint", pb_strategy_find("chen")));
    assert_false(pb_group_has("partial", pb_strategy_find("partial"))); /* a portfolio is not a member */
    assert_false(pb_group_has("nothing", pb_strategy_find("chen")));
}

static void partial_is_the_best_of_its_group(void **state)
{
    (void)state;
    small_game g;
    bench b;
    small_adjoint(&g, 9);
    bench_open(&b, &g);
    b.game.cap = 9;
    pb_u128 best = {UINT64_MAX, UINT64_MAX};
    static const char *const rows[] = {"every-k", "by-depth", "sqrt"};
    for (int i = 0; i < 3; i++) {
        const pb_schedule *s = bench_plan(&b, rows[i]);
        if (s->has_metrics && pb_u128_compare(s->metrics.cost, best) < 0)
            best = s->metrics.cost;
    }
    const pb_schedule *s = bench_plan(&b, "partial");
    assert_true(s->has_metrics);
    assert_int_equal(pb_u128_compare(s->metrics.cost, best), 0);
    assert_true(pb_group_has("partial", pb_strategy_find(s->strategy)));
    bench_close(&b);
}

static void a_comparison_first_shows_the_rows_that_decide(void **state)
{
    (void)state;
    small_game g;
    bench b;
    small_adjoint(&g, 9);
    bench_open(&b, &g);
    b.game.cap = 8;
    shown s = compare(&b, PB_GAME_REMAT | PB_GAME_REVERSIBLE, NULL, false);
    const pb_view_line *baseline = titled(&s, "baseline"), *partial = titled(&s, "partial");
    assert_non_null(baseline);
    assert_non_null(partial);
    assert_non_null(titled(&s, "program-order"));
    assert_non_null(titled(&s, "reversible"));
    assert_null(s.c.rows[baseline->rows[0]].certificate);
    assert_non_null(s.c.rows[partial->rows[0]].certificate);
    bool winner = false;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < s.view.count; i++) {
        rows += s.view.lines[i].count;
        for (uint32_t k = 0; k < s.view.lines[i].count; k++)
            winner |= s.view.lines[i].rows[k] == s.c.winner;
    }
    assert_true(winner);
    assert_int_equal(rows + s.view.hidden, s.c.row_count);
    assert_true(s.view.count < 10);
    bench_close(&b);
}

static void identical_plans_share_a_line(void **state)
{
    (void)state;
    small_game g;
    bench b;
    small_chain(&g, 8);
    bench_open(&b, &g);
    b.game.cap = 5;
    shown s = compare(&b, PB_GAME_REMAT | PB_GAME_TIERED, "last-use,every-k:k=1,cache-all", true);
    assert_int_equal(s.c.row_count, 6);
    assert_int_equal(s.view.count, 2); /* in both games: one plan, and one strategy that stops at one place */
    assert_int_equal(s.view.lines[0].count, 4);
    assert_int_equal(s.view.lines[1].count, 2);
    assert_int_equal(s.view.hidden, 0);
    bench_close(&b);
}

/* The moves are legal except for the last, which needs more than the cap. */
static void a_failing_row_has_the_moves_up_to_the_one_that_does_not_fit(void **state)
{
    (void)state;
    small_game g;
    bench b;
    uint32_t seen = 0;
    small_adjoint(&g, 9);
    bench_open(&b, &g);
    for (b.game.cap = 4; b.game.cap < 12; b.game.cap++) {
        shown s = compare(&b, PB_GAME_REMAT | PB_GAME_REVERSIBLE, NULL, true);
        for (uint32_t i = 0; i < s.c.row_count; i++) {
            const pb_plan_result *p = &s.c.rows[i];
            pb_verdict v;
            if (!p->attempt.count)
                continue;
            seen++;
            assert_null(p->certificate);
            assert_int_equal(p->attempt.count, p->failed_step + 1);
            assert_true(p->failed_need > b.game.cap);
            assert_int_equal(pb_verify(&b.ctx, p->game, &p->attempt, &b.arena, &v), PB_OK);
            assert_int_equal(v.rule, PB_RULE_CAP);
            assert_int_equal(v.step, p->failed_step);
            assert_int_equal(v.amount, p->failed_need);
        }
    }
    assert_true(seen > 10);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_names_of_the_literature_are_accepted),
        cmocka_unit_test(groups_have_their_strategies),
        cmocka_unit_test(partial_is_the_best_of_its_group),
        cmocka_unit_test(a_comparison_first_shows_the_rows_that_decide),
        cmocka_unit_test(identical_plans_share_a_line),
        cmocka_unit_test(a_failing_row_has_the_moves_up_to_the_one_that_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
