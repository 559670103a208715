/* test_strategy_edge_rank.c -- trees in the reversible game: the least number of values at a time against exhaustive
 * search and tables, plans that attain it, and less work with more memory. */
#include "unit/chain_fixture.h"

#include "pebble/generate.h"

#include <time.h>

typedef chain_bench bench;

static void open_family(bench *t, const char *family, const char *key, const char *value)
{
    chain_start(t);
    pb_option option = {key, value};
    assert_int_equal(pb_generate(&t->ctx, family, &option, 1, &t->arena, &t->game.graph), PB_OK);
}

/* Node i is read by node reader[i], which is above it; the last one is the root. */
static void tree_game(small_game *s, uint32_t count, const uint32_t *reader)
{
    small_game_init(s);
    s->kind = PB_GAME_REVERSIBLE;
    for (uint32_t v = 0; v < count; v++) {
        uint32_t in = 0;
        for (uint32_t u = 0; u < v; u++)
            in |= reader[u] == v ? UINT32_C(1) << u : 0;
        small_game_add(s, 1, 1, in);
    }
}

static void plan_honestly(bench *t, const char *strategy, uint64_t cap)
{
    char why[PLAN_WHY];
    chain_plan(t, strategy, cap);
    if (!plan_is_honest(&t->game, &t->planned, why))
        fail_msg("%s, cap %" PRIu64 ": %s", strategy, cap, why);
}

/* The tree takes exactly `least` values at a time: with them there is a plan, with one less a proof that there is none. */
static void expect_least(bench *t, uint64_t least)
{
    plan_honestly(t, "edge-rank", least);
    assert_non_null(t->planned.certificate);
    assert_true(t->planned.schedule.metrics.peak <= least);
    plan_honestly(t, "edge-rank", least - 1);
    assert_int_equal(t->planned.schedule.outcome, PB_INFEASIBLE);
}

static void trees_take_what_the_tables_say(void **state)
{
    (void)state;
    static const struct {
        const char *height;
        uint64_t least, moves; /* moves: the least there, which are not claimed */
    } cases[] = {{"0", 1, 1}, {"1", 3, 5}, {"2", 5, 17}, {"3", 6, 53}, {"4", 7, 155}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench t;
        open_family(&t, "tree", "height", cases[i].height);
        expect_least(&t, cases[i].least);
        plan_honestly(&t, "edge-rank", cases[i].least);
        assert_in_range(t.planned.schedule.metrics.moves, cases[i].moves, cases[i].moves * 11 / 10);
        chain_close(&t);
    }
}

static void chains_take_a_logarithm(void **state)
{
    (void)state;
    for (uint32_t n = 1, least = 1; n <= 70; n++) {
        bench t;
        least += n > UINT32_C(1) << (least - 1);
        chain_open(&t, n, 0);
        expect_least(&t, least);
        chain_close(&t);
    }
}

static void check_tree(bf_space *space, uint32_t count, const uint32_t *reader)
{
    small_game s;
    bench t;
    bf_problem p;
    bf_answer best;
    tree_game(&s, count, reader);
    chain_open_small(&t, &s);
    t.game.cap = PB_UNLIMITED;
    assert_true(bf_from_game(&t.game, &p) && bf_least_peak(space, &p, &best));
    expect_least(&t, best.value);
    chain_close(&t);
}

static void every_small_tree_is_exact(void **state)
{
    (void)state;
    bf_space *space = bf_space_new();
    for (uint32_t count = 2; count <= 7; count++) {
        uint32_t reader[8] = {0};
        for (uint32_t v = 0; v + 1 < count; v++)
            reader[v] = v + 1;
        for (bool more = true; more;) {
            check_tree(space, count, reader);
            more = false; /* the next one: as counting, digit v runs from v + 1 to count - 1 */
            for (uint32_t v = 0; v + 1 < count && !more; v++) {
                more = ++reader[v] < count;
                reader[v] = more ? reader[v] : v + 1;
            }
        }
    }
    bf_space_free(space);
}

static void random_reader(pbi_rng *rng, uint32_t count, uint32_t *reader)
{
    uint64_t near = 1 + pbi_rng_below(rng, count); /* small: long chains; large: bushes */
    for (uint32_t v = 0; v + 1 < count; v++) {
        uint64_t reach = count - 1 - v < near ? count - 1 - v : near;
        reader[v] = v + 1 + (uint32_t)pbi_rng_below(rng, reach);
    }
}

static void random_trees_are_exact(void **state)
{
    (void)state;
    bf_space *space = bf_space_new();
    for (uint64_t seed = 1; seed <= test_cases(3000); seed++) {
        pbi_rng rng = {seed};
        uint32_t reader[12], count = 8 + (uint32_t)pbi_rng_below(&rng, 5);
        random_reader(&rng, count, reader);
        check_tree(space, count, reader);
    }
    bf_space_free(space);
}

/* Sizes, costs, workspaces, given leaves, several values that stay: nothing false is claimed at any cap. */
static void odd_trees_are_planned_honestly(void **state)
{
    (void)state;
    bf_space *space = bf_space_new();
    uint64_t feasible = 0, found = 0;
    for (uint64_t seed = 1; seed <= test_cases(400); seed++) {
        pbi_rng rng = {seed};
        uint32_t reader[10], count = 2 + (uint32_t)pbi_rng_below(&rng, 7);
        small_game s;
        bench t;
        random_reader(&rng, count, reader);
        tree_game(&s, count, reader);
        for (uint32_t v = 0; v < count; v++) {
            s.cost[v] = pbi_rng_below(&rng, 5);
            s.size[v] = pbi_rng_below(&rng, 4);
            s.workspace[v] = pbi_rng_below(&rng, 4) ? 0 : pbi_rng_below(&rng, 3);
            s.targets |= pbi_rng_below(&rng, 4) ? 0 : UINT32_C(1) << v;
            if (!s.in[v] && !pbi_rng_below(&rng, 3) && v + 1 < count) {
                s.flags[v] = PB_NODE_GIVEN;
                s.cost[v] = s.workspace[v] = 0;
                s.targets &= ~(UINT32_C(1) << v);
            }
        }
        s.targets |= s.targets ? UINT32_C(1) << (count - 1) : 0;
        chain_open_small(&t, &s);
        for (uint64_t cap = 0; cap <= t.game.graph->total_size + 2; cap++) {
            bf_problem p;
            bf_answer best;
            plan_honestly(&t, "edge-rank", cap);
            assert_true(bf_from_game(&t.game, &p) && bf_least_makespan(space, &p, &best));
            feasible += best.feasible;
            found += t.planned.certificate != NULL;
            if (t.planned.schedule.outcome == PB_INFEASIBLE)
                assert_false(best.feasible);
            if (t.planned.certificate)
                assert_true(best.feasible && t.planned.schedule.metrics.makespan >= best.value);
        }
        chain_close(&t);
    }
    bf_space_free(space);
    assert_true(found * 10 >= feasible * 9);
}

static void a_star_takes_all_its_leaves(void **state)
{
    (void)state;
    bench t;
    pb_builder *b;
    enum { LEAVES = 3000 };
    chain_start(&t);
    assert_int_equal(pb_builder_new(&t.ctx, &b), PB_OK);
    for (uint32_t i = 0; i <= LEAVES; i++)
        assert_int_equal(pb_builder_add_node(b, &(pb_node_spec){.cost = 1, .size = 5}, NULL), PB_OK);
    for (uint32_t i = 0; i < LEAVES; i++)
        assert_int_equal(pb_builder_add_edge(b, i, LEAVES), PB_OK);
    assert_int_equal(pb_builder_freeze(b, &t.arena, &t.game.graph), PB_OK);
    pb_builder_free(b);
    plan_honestly(&t, "edge-rank", 5 * (LEAVES + 1));
    assert_int_equal(t.planned.schedule.metrics.moves, 2 * LEAVES + 1);
    chain_close(&t);
}

static void given_leaves_take_no_ranks(void **state)
{
    (void)state;
    small_game s;
    bench t;
    small_game_init(&s);
    s.kind = PB_GAME_REVERSIBLE;
    for (uint32_t v = 0; v < 4; v++) { /* a chain of 4, each step reading a given value of its own */
        small_game_add(&s, 0, 7, 0);
        s.flags[2 * v] = PB_NODE_GIVEN;
        small_game_add(&s, 1, 1, UINT32_C(1) << (2 * v) | (v ? UINT32_C(1) << (2 * v - 1) : 0));
    }
    chain_open_small(&t, &s);
    expect_least(&t, 4 * 7 + 3);
    chain_expect_reason(&t, PB_INFEASIBLE, "every plan needs 31 unit; the cap is 30 unit");
    chain_close(&t);
}

static void in_place_steps_are_not_proved_infeasible(void **state)
{
    (void)state;
    small_game s;
    bench t;
    small_game_init(&s);
    s.kind = PB_GAME_REVERSIBLE;
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 1, 1, 3);
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 1, 1, 12);
    s.inplace[2] = 1;
    chain_open_small(&t, &s);
    for (uint64_t cap = 0; cap <= 5; cap++) {
        plan_honestly(&t, "edge-rank", cap);
        if (t.planned.schedule.outcome == PB_INFEASIBLE)
            assert_null(strstr(t.planned.schedule.reason, "a tree of"));
    }
    chain_close(&t);
}

static void other_graphs_are_refused(void **state)
{
    (void)state;
    bench t;
    open_family(&t, "pyramid", "height", "3");
    chain_plan(&t, "edge-rank", 20);
    chain_expect_reason(&t, PB_GAVE_UP, "does not apply: the graph is not a tree: p0_1 is read more than once");
    chain_close(&t);
}

/* An output that others read is there anyway: it may be read as often as they like. */
static void values_that_stay_may_be_read_twice(void **state)
{
    (void)state;
    small_game s;
    bench t;
    small_game_init(&s);
    s.kind = PB_GAME_REVERSIBLE;
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 1, 1, 1);
    small_game_add(&s, 1, 1, 2);
    small_game_add(&s, 1, 1, 2);
    s.targets = 14;
    chain_open_small(&t, &s);
    plan_honestly(&t, "edge-rank", 3);
    assert_non_null(t.planned.certificate);
    assert_int_equal(t.planned.schedule.metrics.moves, 5);
    chain_close(&t);
}

static void more_memory_is_less_work(void **state)
{
    (void)state;
    bench t;
    open_family(&t, "tree", "height", "8");
    uint64_t before = UINT64_MAX;
    for (uint64_t cap = 12; cap < 511; cap = cap * 3 / 2) {
        plan_honestly(&t, "edge-rank", cap);
        assert_non_null(t.planned.certificate);
        assert_true(t.planned.schedule.metrics.moves <= before);
        before = t.planned.schedule.metrics.moves;
    }
    plan_honestly(&t, "edge-rank", 511);
    assert_int_equal(t.planned.schedule.metrics.moves, 2 * 511 - 1);
    chain_close(&t);
}

/* l levels of lists: about l n^(1/l) values, and at most 2^l computations of each. */
static void levels_trade_values_for_moves(void **state)
{
    (void)state;
    enum { NODES = 4095 };
    static const struct {
        const char *strategy;
        uint64_t values;
    } cases[] = {{"edge-rank:levels=1,block=1", NODES},
                 {"edge-rank:levels=2,block=1,lists=even", 3 * 64},
                 {"edge-rank:levels=3,block=1,lists=even", 6 * 16},
                 {"edge-rank:levels=4,block=1,lists=even", 8 * 8}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench t;
        open_family(&t, "tree", "height", "11");
        plan_honestly(&t, cases[i].strategy, cases[i].values);
        if (!t.planned.certificate)
            fail_msg("%s: %s", cases[i].strategy, t.planned.schedule.reason);
        assert_true(t.planned.schedule.metrics.moves <= (uint64_t)NODES << (i + 1));
        chain_close(&t);
    }
}

/* Next to the fewest moves of the tables: 7 .. 11 values for a complete binary tree of height 4. */
static void better_cuts_come_near_the_fewest_moves(void **state)
{
    (void)state;
    static const uint64_t least[] = {155, 115, 105, 103, 101};
    for (uint64_t i = 0; i < sizeof least / sizeof *least; i++) {
        bench t;
        open_family(&t, "tree", "height", "4");
        plan_honestly(&t, "edge-rank:polish=0", 7 + i);
        uint64_t by_ranks = t.planned.schedule.metrics.moves;
        plan_honestly(&t, "edge-rank", 7 + i);
        uint64_t moves = t.planned.schedule.metrics.moves;
        assert_true(moves < by_ranks);
        assert_in_range(moves, least[i], least[i] * 107 / 100);
        plan_honestly(&t, "edge-rank", 7 + i);
        assert_int_equal(t.planned.schedule.metrics.moves, moves);
        chain_close(&t);
    }
}

static void limits_and_bad_settings_are_told(void **state)
{
    (void)state;
    bench t;
    open_family(&t, "tree", "height", "9");
    chain_plan(&t, "edge-rank:limit=2000", 13);
    chain_expect_reason(&t, PB_GAVE_UP, "limit hit: every plan that fits needs more than 2000 moves");
    chain_plan(&t, "edge-rank:levels=1,block=1", 13);
    chain_expect_reason(&t, PB_GAVE_UP, "does not fit: with these options");
    pb_request request = {.strategy = "edge-rank:lists=odd", .seed = 1, .threads = 1};
    assert_int_equal(pb_plan(&t.ctx, &t.game, &request, &t.plan_arena, &t.planned), PB_EINVAL);
    assert_non_null(strstr(t.ctx.error.message, "lists must be auto, even or falling"));
    chain_close(&t);
}

static void weights_on_memory_use_less_of_it(void **state)
{
    (void)state;
    bench t;
    open_family(&t, "tree", "height", "6");
    t.game.weights = (pb_weights){1, 0, 0, 0};
    plan_honestly(&t, "edge-rank", 200);
    assert_int_equal(t.planned.schedule.metrics.peak, 10);
    chain_close(&t);
}

static void nothing_to_do_is_done_with_no_moves(void **state)
{
    (void)state;
    bench t;
    chain_open(&t, 0, 0);
    plan_honestly(&t, "edge-rank", 0);
    assert_int_equal(t.planned.schedule.metrics.moves, 0);
    chain_close(&t);
}

/* The bound on time is far above what it takes, for slow machines and sanitizers. */
static void a_hundred_thousand_values_are_planned_quickly(void **state)
{
    (void)state;
    bench t;
    pb_option options[] = {{"shape", "random"}, {"nodes", "100000"}, {"arity", "3"}};
    chain_start(&t);
    assert_int_equal(pb_generate(&t.ctx, "tree", options, 3, &t.arena, &t.game.graph), PB_OK);
    clock_t start = clock();
    plan_honestly(&t, "edge-rank", 400);
    assert_non_null(t.planned.certificate);
    plan_honestly(&t, "edge-rank", 10);
    assert_int_equal(t.planned.schedule.outcome, PB_INFEASIBLE);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 15);
    chain_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_take_what_the_tables_say),
        cmocka_unit_test(chains_take_a_logarithm),
        cmocka_unit_test(every_small_tree_is_exact),
        cmocka_unit_test(random_trees_are_exact),
        cmocka_unit_test(odd_trees_are_planned_honestly),
        cmocka_unit_test(a_star_takes_all_its_leaves),
        cmocka_unit_test(given_leaves_take_no_ranks),
        cmocka_unit_test(in_place_steps_are_not_proved_infeasible),
        cmocka_unit_test(other_graphs_are_refused),
        cmocka_unit_test(values_that_stay_may_be_read_twice),
        cmocka_unit_test(more_memory_is_less_work),
        cmocka_unit_test(levels_trade_values_for_moves),
        cmocka_unit_test(better_cuts_come_near_the_fewest_moves),
        cmocka_unit_test(limits_and_bad_settings_are_told),
        cmocka_unit_test(weights_on_memory_use_less_of_it),
        cmocka_unit_test(nothing_to_do_is_done_with_no_moves),
        cmocka_unit_test(a_hundred_thousand_values_are_planned_quickly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
