/* test_strategy_knill.c -- the exact strategy on chains, judged by tables and by exhaustive search. */
#include "unit/chain_fixture.h"
#include "unit/chain_tables.h"

#include <time.h>

static void plans_have_every_searched_figure(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 24; n++) {
        chain_bench t;
        chain_open(&t, n, 0);
        for (uint32_t k = 1; k <= n + 1; k++) {
            uint32_t least = chain_searched[n - 1].least, place = (k < n ? k : n) - least;
            chain_plan(&t, "knill", k);
            if (k < least) {
                assert_int_equal(t.planned.schedule.outcome, PB_INFEASIBLE);
                continue;
            }
            assert_int_equal(t.planned.schedule.outcome, PB_OPTIMAL);
            assert_int_equal(t.planned.schedule.metrics.moves, chain_searched[n - 1].moves[place]);
            assert_true(t.planned.schedule.metrics.peak <= k);
            assert_true(t.planned.schedule.metrics.gap == 0);
        }
        chain_close(&t);
    }
}

static void plans_have_the_figures_of_longer_chains(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof chain_recursion / sizeof *chain_recursion; i++) {
        chain_bench t;
        chain_open(&t, chain_recursion[i].length, 0);
        chain_plan(&t, "knill", chain_recursion[i].pebbles);
        assert_int_equal(t.planned.schedule.outcome, PB_OPTIMAL);
        assert_int_equal(t.planned.schedule.metrics.moves, chain_recursion[i].moves);
        chain_close(&t);
    }
}

/* ---- against exhaustive search ---- */

static void expect_exact(const chain_bench *t, const bf_answer *best)
{
    const pb_schedule *s = &t->planned.schedule;
    if (!best->feasible) {
        assert_int_equal(s->outcome, PB_INFEASIBLE);
        return;
    }
    assert_int_equal(s->outcome, PB_OPTIMAL);
    assert_int_equal(s->metrics.makespan, best->value);
}

/* The same figures, without the claim: for these chains there is no proof. */
static void expect_best(const chain_bench *t, const bf_answer *best)
{
    const pb_schedule *s = &t->planned.schedule;
    assert_int_equal(t->planned.certificate != NULL, best->feasible);
    if (best->feasible)
        assert_int_equal(s->metrics.makespan, best->value);
}

static void equal_steps_are_exact(void **state)
{
    (void)state;
    chain_each("knill", CHAIN_GIVEN | CHAIN_FIXED, 300, expect_exact);
}

static void unequal_costs_are_best(void **state)
{
    (void)state;
    chain_each("knill", CHAIN_COSTS | CHAIN_GIVEN | CHAIN_FIXED, 1500, expect_best);
}

static void workspaces_are_best(void **state)
{
    (void)state;
    chain_each("knill", CHAIN_COSTS | CHAIN_WORKSPACE | CHAIN_GIVEN, 1500, expect_best);
}

typedef struct tally {
    uint64_t feasible, found, best;
} tally;
static tally counts;

/* Honest, and near the optimum nearly always: chain_each has checked that nothing false is claimed. */
static void count_answers(const chain_bench *t, const bf_answer *best)
{
    const pb_schedule *s = &t->planned.schedule;
    counts.feasible += best->feasible;
    counts.found += t->planned.certificate != NULL;
    counts.best += t->planned.certificate && s->metrics.makespan == best->value;
    if (best->feasible)
        assert_int_not_equal(s->outcome, PB_INFEASIBLE);
    if (s->outcome == PB_OPTIMAL)
        assert_int_equal(s->metrics.makespan, best->value);
}

static void unequal_sizes_claim_nothing_false_and_are_mostly_best(void **state)
{
    (void)state;
    counts = (tally){0};
    chain_each("knill", CHAIN_COSTS | CHAIN_SIZES | CHAIN_GIVEN | CHAIN_FIXED, 600, count_answers);
    assert_true(counts.feasible > 0 && counts.found * 1000 >= counts.feasible * 980);
    assert_true(counts.best * 1000 >= counts.found * 980);
}

static void several_targets_claim_nothing_false(void **state)
{
    (void)state;
    counts = (tally){0};
    chain_each("knill", CHAIN_COSTS | CHAIN_GIVEN | CHAIN_STOPS, 600, count_answers);
    assert_true(counts.best > 0 && counts.found * 10 >= counts.feasible * 8);
}

/* A chain where letting go of a value in the middle of a part saves work: no cut describes that. */
static void a_known_case_of_unequal_sizes_is_only_found(void **state)
{
    static const uint64_t cost[] = {1, 1, 3, 2, 3, 7}, size[] = {1, 3, 2, 1, 4, 2};
    small_game s;
    chain_bench t;
    (void)state;
    small_game_init(&s);
    s.kind = PB_GAME_REVERSIBLE;
    for (unsigned v = 0; v < 6; v++)
        small_game_add(&s, cost[v], size[v], v ? UINT32_C(1) << (v - 1) : 0);
    chain_open_small(&t, &s);
    chain_plan(&t, "knill", 8);
    assert_int_equal(t.planned.schedule.outcome, PB_FOUND);
    assert_int_equal(t.planned.schedule.metrics.work, 39); /* 37 is possible */
    chain_close(&t);
}

/* ---- what it says ---- */

static void other_graphs_are_refused_at_once(void **state)
{
    small_game s;
    chain_bench t;
    (void)state;
    small_game_init(&s);
    s.kind = PB_GAME_REVERSIBLE;
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 1, 1, 0); /* apart from the first */
    chain_open_small(&t, &s);
    chain_plan(&t, "knill", 9);
    chain_expect_reason(&t, PB_GAVE_UP, "does not apply: the graph is not a chain");
    chain_close(&t);
}

static void nothing_to_do_is_done_with_no_moves(void **state)
{
    chain_bench t;
    (void)state;
    chain_open(&t, 0, 0);
    chain_plan(&t, "knill", 0);
    assert_int_equal(t.planned.schedule.outcome, PB_OPTIMAL);
    assert_int_equal(t.planned.schedule.metrics.moves, 0);
    chain_close(&t);
    chain_open(&t, 1, PB_NODE_GIVEN);
    chain_plan(&t, "knill", 1);
    assert_int_equal(t.planned.schedule.outcome, PB_OPTIMAL);
    assert_int_equal(t.planned.schedule.metrics.moves, 0);
    chain_close(&t);
}

static void infeasible_names_what_is_needed(void **state)
{
    chain_bench t;
    (void)state;
    chain_open(&t, 1000, 0);
    chain_plan(&t, "knill", 10);
    chain_expect_reason(&t, PB_INFEASIBLE, "every plan needs 11 unit; the cap is 10 unit");
    chain_plan(&t, "auto", 10);
    chain_expect_reason(&t, PB_INFEASIBLE, "every plan needs 11 unit");
    chain_plan(&t, "knill", 11);
    assert_int_equal(t.planned.schedule.outcome, PB_OPTIMAL);
    assert_int_equal(t.planned.schedule.metrics.peak, 11);
    chain_close(&t);
}

static void a_given_start_costs_a_value_and_no_moves(void **state)
{
    chain_bench t;
    (void)state;
    chain_open(&t, 65, PB_NODE_GIVEN);
    chain_plan(&t, "knill", 8);
    assert_int_equal(t.planned.schedule.outcome, PB_OPTIMAL);
    assert_int_equal(t.planned.schedule.metrics.moves, 531);
    chain_plan(&t, "knill", 7);
    assert_int_equal(t.planned.schedule.outcome, PB_INFEASIBLE);
    chain_close(&t);
}

static void weights_on_memory_use_less_of_it(void **state)
{
    chain_bench t;
    (void)state;
    chain_open(&t, 64, 0);
    t.game.weights = (pb_weights){1, 0, 0, 0};
    chain_plan(&t, "knill", 64);
    assert_int_equal(t.planned.schedule.outcome, PB_OPTIMAL); /* no plan has a smaller peak */
    assert_int_equal(t.planned.schedule.metrics.peak, 7);
    t.game.weights = (pb_weights){20, 0, 1, 0};
    chain_plan(&t, "knill", 64);
    assert_int_equal(t.planned.schedule.outcome, PB_FOUND);
    for (uint64_t cap = 7; cap <= 64; cap++) { /* least of 20 k + F(64, k) over all k */
        chain_bench other;
        chain_open(&other, 64, 0);
        chain_plan(&other, "knill", cap);
        assert_true(20 * t.planned.schedule.metrics.peak + t.planned.schedule.metrics.work <=
                    20 * cap + other.planned.schedule.metrics.work);
        chain_close(&other);
    }
    chain_close(&t);
}

static void limits_are_told_before_anything_is_planned(void **state)
{
    chain_bench t;
    (void)state;
    chain_open(&t, 1000, 0);
    chain_plan(&t, "knill:limit=2000", 11);
    chain_expect_reason(&t, PB_GAVE_UP, "limit hit: the plan has ");
    chain_close(&t);
}

/* Past the effort, steps are taken for alike: a plan, but not the best. */
static void too_little_effort_takes_steps_for_alike(void **state)
{
    small_game s;
    chain_bench t;
    (void)state;
    small_game_init(&s);
    s.kind = PB_GAME_REVERSIBLE;
    for (unsigned v = 0; v < 20; v++)
        small_game_add(&s, 1 + v % 5, 1, v ? UINT32_C(1) << (v - 1) : 0);
    chain_open_small(&t, &s);
    chain_plan(&t, "knill", 6);
    uint64_t best = t.planned.schedule.metrics.work;
    assert_int_equal(t.planned.schedule.outcome, PB_FOUND);
    chain_plan(&t, "knill:effort=100", 6);
    assert_int_equal(t.planned.schedule.outcome, PB_FOUND);
    assert_true(t.planned.schedule.metrics.work > best);
    assert_int_equal(t.planned.schedule.metrics.moves, 77); /* as for equal steps */
    chain_plan(&t, "knill:effort=100", 5);
    chain_expect_reason(&t, PB_INFEASIBLE, "every plan needs 6 unit");
    chain_close(&t);
}

static void once_nodes_are_computed_once_or_refused(void **state)
{
    small_game s;
    chain_bench t;
    (void)state;
    small_game_init(&s);
    s.kind = PB_GAME_REVERSIBLE;
    for (unsigned v = 0; v < 6; v++)
        small_game_add(&s, 1, 1, v ? UINT32_C(1) << (v - 1) : 0);
    s.flags[0] = PB_NODE_ONCE;
    chain_open_small(&t, &s);
    chain_plan(&t, "knill", 4);
    chain_expect_reason(&t, PB_GAVE_UP, "may be computed only once");
    chain_plan(&t, "knill", 6);
    assert_int_equal(t.planned.schedule.outcome, PB_OPTIMAL);
    chain_close(&t);
}

static void bennett_never_beats_it(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 400; n = n * 5 / 4 + 1) {
        chain_bench t;
        chain_open(&t, n, 0);
        for (uint64_t cap = 1; cap <= n; cap = cap * 5 / 4 + 1) {
            chain_plan(&t, "bennett", cap);
            uint64_t moves = t.planned.certificate ? t.planned.schedule.metrics.moves : UINT64_MAX;
            chain_plan(&t, "knill", cap);
            if (moves != UINT64_MAX)
                assert_true(t.planned.certificate && t.planned.schedule.metrics.moves <= moves);
        }
        chain_close(&t);
    }
}

/* Planned, verified and measured; the bound on time is far above what it takes, for slow machines and sanitizers. */
static void a_hundred_thousand_steps_are_planned_quickly(void **state)
{
    chain_bench t;
    (void)state;
    chain_open(&t, 100000, 0);
    clock_t start = clock();
    chain_plan(&t, "knill", 30);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    assert_int_equal(t.planned.schedule.outcome, PB_OPTIMAL);
    assert_int_equal(t.planned.schedule.metrics.moves, 2626881);
    assert_true(seconds < 10);
    chain_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_have_every_searched_figure),
        cmocka_unit_test(plans_have_the_figures_of_longer_chains),
        cmocka_unit_test(equal_steps_are_exact),
        cmocka_unit_test(unequal_costs_are_best),
        cmocka_unit_test(workspaces_are_best),
        cmocka_unit_test(unequal_sizes_claim_nothing_false_and_are_mostly_best),
        cmocka_unit_test(several_targets_claim_nothing_false),
        cmocka_unit_test(a_known_case_of_unequal_sizes_is_only_found),
        cmocka_unit_test(other_graphs_are_refused_at_once),
        cmocka_unit_test(nothing_to_do_is_done_with_no_moves),
        cmocka_unit_test(infeasible_names_what_is_needed),
        cmocka_unit_test(a_given_start_costs_a_value_and_no_moves),
        cmocka_unit_test(weights_on_memory_use_less_of_it),
        cmocka_unit_test(limits_are_told_before_anything_is_planned),
        cmocka_unit_test(too_little_effort_takes_steps_for_alike),
        cmocka_unit_test(once_nodes_are_computed_once_or_refused),
        cmocka_unit_test(bennett_never_beats_it),
        cmocka_unit_test(a_hundred_thousand_steps_are_planned_quickly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
