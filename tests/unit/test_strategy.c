/* test_strategy.c -- the table of strategies, their options, how they give up, and the plainest of them. */
#include "plan/strategy.h"
#include "plan_fixture.h"
#include "support/io_case.h"

/* Whoever chooses a strategy finds one by its traits. */
static void traits_find_what_the_pipeline_needs(void **state)
{
    (void)state;
    static const unsigned games[] = {PB_GAME_REMAT, PB_GAME_REVERSIBLE, PB_GAME_TIERED};
    for (size_t i = 0; i < 3; i++) {
        const pb_strategy *row = pbi_strategy_with(games[i], PB_EXACT, PB_TRAIT_EXHAUSTIVE, PB_TRAIT_SOLVER);
        assert_string_equal(row->name, "exact");
        assert_non_null(pbi_strategy_with(games[i], PB_PORTFOLIO, 0, 0));
        assert_non_null(pbi_strategy_with(games[i], PB_ANYTIME, 0, 0));
    }
    assert_string_equal(pbi_strategy_with(PB_GAME_REMAT, PB_EXACT, PB_TRAIT_CHAINS, 0)->name, "chain");
    assert_string_equal(pbi_strategy_with(PB_GAME_REMAT, PB_HEURISTIC, PB_TRAIT_ANY_CAP, 0)->name, "order");
    assert_string_equal(pbi_strategy_with(PB_GAME_REVERSIBLE, PB_HEURISTIC, PB_TRAIT_RECURSION, 0)->name, "bennett");
    assert_null(pbi_strategy_with(PB_GAME_REMAT, PB_EXACT, PB_TRAIT_SOLVER, 0));
}

static void every_row_is_complete_and_found_by_name(void **state)
{
    (void)state;
    uint32_t count;
    const pb_strategy *rows = pb_strategies(&count);
    assert_true(count >= 10);
    for (uint32_t i = 0; i < count; i++) {
        assert_ptr_equal(pb_strategy_find(rows[i].name), &rows[i]);
        assert_true((pbi_strategy_function(&rows[i]) != NULL) == (rows[i].strength != PB_PORTFOLIO));
        assert_true(rows[i].games && !(rows[i].games & ~(unsigned)(PB_GAME_ALL | PB_GAME_TIMED)));
        assert_true(strlen(rows[i].summary) > 10);
        assert_null(strpbrk(rows[i].name, ":,= "));
        for (const char *line = rows[i].options; *line;) { /* key=default|text, a line each */
            size_t length = strcspn(line, "\n"), key = strcspn(line, "="), standard = strcspn(line, "|");
            assert_true(key > 0 && key < standard && standard + 1 < length);
            line += length + (line[length] == '\n');
        }
    }
    assert_null(pb_strategy_find("no-such"));
    assert_null(pb_strategy_find(""));
    assert_true(pbi_strategy_function(pb_strategy_find("sqrt")) == pbi_plan_sqrt);
    assert_true(pbi_strategy_function(pb_strategy_find("cache-all")) == pbi_plan_cache_all);
    assert_true(pb_strategy_find("demand")->takes_policy);
    assert_int_equal(pb_strategy_find("auto")->strength, PB_PORTFOLIO);
}

static void options_are_read_and_the_last_counts(void **state)
{
    (void)state;
    pb_context ctx;
    pb_context_init(&ctx);
    static const pb_option list[] = {{"k", "3"}, {"limit", "auto"}, {"k", "7"}, {"big", "18446744073709551616"}};
    pbi_plan_options options = {.options = list, .option_count = 4};
    assert_string_equal(pbi_option_find(&options, "k"), "7");
    assert_null(pbi_option_find(&options, "m"));
    uint64_t value = 5;
    assert_int_equal(pbi_option_number(&ctx, &options, "limit", 1, 9, &value), PB_OK);
    assert_int_equal(value, 5); /* the default */
    assert_int_equal(pbi_option_number(&ctx, &options, "m", 1, 9, &value), PB_OK);
    assert_int_equal(value, 5);
    assert_int_equal(pbi_option_number(&ctx, &options, "k", 1, 9, &value), PB_OK);
    assert_int_equal(value, 7);
    assert_int_equal(pbi_option_number(&ctx, &options, "k", 8, 9, &value), PB_EINVAL);
    assert_string_equal(ctx.error.message, "k must be a whole number from 8 to 9, not \"7\"");
    assert_int_equal(pbi_option_number(&ctx, &options, "k", 1, 6, &value), PB_EINVAL);
    assert_int_equal(pbi_option_number(&ctx, &options, "big", 0, UINT64_MAX, &value), PB_EINVAL);
    assert_int_equal(value, 7); /* untouched */
}

static void the_limit_grows_with_the_graph(void **state)
{
    (void)state;
    pb_context ctx;
    pb_context_init(&ctx);
    static const struct {
        uint32_t nodes;
        uint64_t limit;
    } cases[] = {{0, 100000}, {10, 101000}, {1000, 200000}, {1000000, 20000000}, {PB_MAX_NODES, 20000000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pb_graph g = {.node_count = cases[i].nodes};
        uint64_t limit;
        assert_int_equal(pbi_option_limit(&ctx, &(pbi_plan_options){0}, &g, &limit), PB_OK);
        assert_int_equal(limit, cases[i].limit);
    }
    pb_graph g = {.node_count = 5};
    static const pb_option own = {"limit", "3"}, none = {"limit", "0"};
    uint64_t limit;
    assert_int_equal(pbi_option_limit(&ctx, &(pbi_plan_options){.options = &own, .option_count = 1}, &g, &limit),
                     PB_OK);
    assert_int_equal(limit, 3);
    assert_int_equal(pbi_option_limit(&ctx, &(pbi_plan_options){.options = &none, .option_count = 1}, &g, &limit),
                     PB_EINVAL);
}

static void plans_record_what_they_were_made_with(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_chain(&s, 2);
    bench_open(&b, &s);
    char value[] = "cones";
    assert_int_equal(pbi_plan_record(&b.plan, "order", value), PB_OK);
    value[0] = 'x'; /* copied */
    assert_int_equal(pbi_plan_record_number(&b.plan, "k", UINT64_MAX), PB_OK);
    assert_int_equal(b.plan.option_count, 2);
    assert_string_equal(b.plan.options[0].value, "cones");
    assert_string_equal(b.plan.options[1].value, "unlimited");
    while (b.plan.option_count < PBI_MAX_OPTIONS)
        assert_int_equal(pbi_plan_record(&b.plan, "more", "x"), PB_OK);
    assert_int_equal(pbi_plan_record(&b.plan, "more", "x"), PB_ENOMEM);
    bench_close(&b);
}

static void giving_up_says_why_and_where(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_chain(&s, 2);
    s.cap = 10;
    bench_open(&b, &s);
    assert_int_equal(b.plan.failed_step, UINT64_MAX);
    assert_int_equal(b.plan.failed_node, PB_NO_NODE);
    assert_int_equal(pbi_plan_give_up(&b.plan, "no %s for %d", "way", 3), PB_OK);
    bench_gave_up(&b, "no way for 3");
    assert_int_equal(pbi_plan_note(&b.plan, "the graph has %d ends", 2), PB_OK);
    assert_string_equal(b.plan.note, "the graph has 2 ends");
    assert_int_equal(pbi_plan_over_cap(&b.plan, &b.game, 6, "load", 1, 12), PB_OK);
    bench_gave_up(&b, "does not fit: move 6 (load 1) needs 12 unit, 2 over the cap of 10 unit");
    assert_int_equal(b.plan.failed_step, 6);
    assert_int_equal(b.plan.failed_node, 1);
    assert_int_equal(b.plan.failed_need, 12);
    pbi_plan_reset(&b.plan, &b.arena);
    assert_null(b.plan.reason);
    assert_null(b.plan.note);
    assert_int_equal(b.plan.failed_step, UINT64_MAX);
    failing_allocator memory = {.refuse = 1};
    pb_context ctx;
    pb_arena arena;
    failing_context(&ctx, &memory);
    pb_arena_init(&arena, &ctx);
    pbi_plan_reset(&b.plan, &arena);
    assert_int_equal(pbi_plan_give_up(&b.plan, "x"), PB_ENOMEM);
    assert_int_equal(pbi_plan_note(&b.plan, "x"), PB_ENOMEM);
    bench_close(&b);
}

/* ---- the plainest strategies ---- */

static void plans(const small_game *s, pbi_plan_function function, const char *moves)
{
    bench b;
    pbi_plan_options options = {0};
    bench_open(&b, s);
    assert_int_equal(function(&b.ctx, &b.game, &options, &b.plan), PB_OK);
    bench_moves(&b, moves);
    bench_close(&b);
}

static void cache_all_frees_nothing(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_plan_options options = {0};
    small_chain(&s, 4);
    s.inplace[1] = bit(0);
    plans(&s, pbi_plan_cache_all, "c0 c1 c2 c3");
    s.targets = bit(1);
    plans(&s, pbi_plan_cache_all, "c0 c1");
    s.targets = 0;
    s.cap = 3;
    bench_open(&b, &s);
    assert_int_equal(pbi_plan_cache_all(&b.ctx, &b.game, &options, &b.plan), PB_OK);
    bench_gave_up(&b, "does not fit: move 3 (compute 3) needs 4 unit, 1 over the cap of 3 unit");
    bench_close(&b);
    small_chain(&s, 3);
    s.kind = PB_GAME_TIERED;
    s.tier_count = 1;
    s.tiers[0].cap = PB_UNLIMITED;
    s.flags[0] = PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW;
    plans(&s, pbi_plan_cache_all, "l0:1 c1 c2");
}

static void last_use_takes_the_least_memory_of_the_order(void **state)
{
    (void)state;
    small_game s;
    small_chain(&s, 4);
    plans(&s, pbi_plan_last_use, "c0 c1 f0 c2 f1 c3");
    s.inplace[1] = bit(0);
    plans(&s, pbi_plan_last_use, "c0 c1/0 c2 f1 c3");
    small_game_init(&s);
    plans(&s, pbi_plan_last_use, "");
}

static void sqrt_keeps_about_the_root_of_the_nodes(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_plan_options options = {0};
    small_adjoint(&s, 4); /* eight nodes: windows of three */
    bench_open(&b, &s);
    assert_int_equal(pbi_plan_sqrt(&b.ctx, &b.game, &options, &b.plan), PB_OK);
    /* Kept are 3 and 6; 2 and 4 are near enough when they are read again, 1 is recomputed for 7. */
    bench_moves(&b, "c1 c2 f1 c3 c4 c5 f4 c6 f3 f5 c1 c7 f2 f6 c8");
    bench_close(&b);
}

static void by_depth_keeps_levels(void **state)
{
    (void)state;
    small_game s;
    bench b;
    static const pb_option two = {"k", "2"};
    pbi_plan_options options = {.options = &two, .option_count = 1};
    small_chain(&s, 7);
    s.in[6] |= bit(1) | bit(2); /* depth 1 is not kept, depth 2 is */
    bench_open(&b, &s);
    assert_int_equal(pbi_plan_by_depth(&b.ctx, &b.game, &options, &b.plan), PB_OK);
    bench_moves(&b, "c0 c1 c2 f1 c3 c4 f3 c5 f4 c1 f0 c6");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete_and_found_by_name),
        cmocka_unit_test(traits_find_what_the_pipeline_needs),
        cmocka_unit_test(options_are_read_and_the_last_counts),
        cmocka_unit_test(the_limit_grows_with_the_graph),
        cmocka_unit_test(plans_record_what_they_were_made_with),
        cmocka_unit_test(giving_up_says_why_and_where),
        cmocka_unit_test(cache_all_frees_nothing),
        cmocka_unit_test(last_use_takes_the_least_memory_of_the_order),
        cmocka_unit_test(sqrt_keeps_about_the_root_of_the_nodes),
        cmocka_unit_test(by_depth_keeps_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
