/* test_strategy_chain.c -- chains of a hundred steps against exact tables; what the strategy declines, and why. */
#include "pebble/full.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Gradient size, cap, then the least makespan without slow memory and with a store and load of 1, 2, 5, 10, 50 and
 * 100; 0: impossible. Chain of 100 steps of cost 1 and size 1, gradients of cost 1 that read input and output. */
static const struct {
    uint32_t grad_size, cap, alone, with[6];
} table[] = {
    {0, 3, 5148, {347, 444, 616, 786, 1401, 1813}},
    {0, 4, 1018, {329, 391, 494, 589, 845, 979}},
    {0, 5, 626, {319, 364, 433, 496, 626, 626}},
    {0, 6, 489, {312, 346, 400, 449, 489, 489}},
    {0, 7, 422, {308, 334, 382, 408, 422, 422}},
    {0, 8, 387, {304, 325, 367, 377, 387, 387}},
    {0, 9, 356, {300, 316, 356, 356, 356, 356}},
    {0, 10, 346, {298, 310, 346, 346, 346, 346}},
    {0, 11, 335, {295, 305, 331, 335, 335, 335}},
    {0, 12, 323, {293, 299, 317, 323, 323, 323}},
    {0, 13, 310, {290, 294, 306, 310, 310, 310}},
    {0, 14, 296, {288, 290, 296, 296, 296, 296}},
    {0, 15, 286, {286, 286, 286, 286, 286, 286}},
    {0, 16, 285, {285, 285, 285, 285, 285, 285}},
    {0, 17, 284, {284, 284, 284, 284, 284, 284}},
    {0, 18, 283, {283, 283, 283, 283, 283, 283}},
    {0, 19, 282, {282, 282, 282, 282, 282, 282}},
    {0, 20, 281, {281, 281, 281, 281, 281, 281}},
    {1, 3, 0, {0, 0, 0, 0, 0, 0}},
    {1, 4, 0, {396, 543, 952, 1572, 6032, 11337}},
    {1, 5, 4953, {345, 425, 569, 719, 1308, 1708}},
    {1, 6, 934, {327, 389, 478, 562, 784, 908}},
    {1, 7, 585, {318, 362, 424, 482, 585, 585}},
    {1, 8, 471, {311, 345, 398, 438, 471, 471}},
    {1, 9, 414, {306, 332, 378, 398, 414, 414}},
    {1, 10, 378, {303, 323, 365, 375, 378, 378}},
    {1, 11, 354, {299, 315, 354, 354, 354, 354}},
    {1, 12, 344, {296, 308, 344, 344, 344, 344}},
    {1, 13, 333, {294, 304, 329, 333, 333, 333}},
    {1, 14, 321, {291, 297, 315, 321, 321, 321}},
    {1, 15, 308, {289, 293, 305, 308, 308, 308}},
    {1, 16, 294, {287, 289, 294, 294, 294, 294}},
    {1, 17, 285, {285, 285, 285, 285, 285, 285}},
    {1, 18, 284, {284, 284, 284, 284, 284, 284}},
    {1, 19, 283, {283, 283, 283, 283, 283, 283}},
    {1, 20, 282, {282, 282, 282, 282, 282, 282}},
};
static const uint64_t prices[6] = {1, 2, 5, 10, 50, 100};

static pb_plan_result plan_of(pb_context *ctx, pb_arena *arena, const pb_graph *g, uint64_t cap, uint64_t price,
                              const char *strategy)
{
    pb_plan_result p;
    pb_game game = {.graph = g, .kind = price ? PB_GAME_TIERED : PB_GAME_REMAT, .cap = cap};
    game.weights = PB_WEIGHTS_DEFAULT;
    game.tier_count = price != 0;
    game.tiers[0] = (pb_tier){.store_cost = price, .load_cost = price, .cap = PB_UNLIMITED};
    assert_int_equal(pb_plan(ctx, &game, &(pb_request){.strategy = strategy, .seed = 1}, arena, &p), PB_OK);
    return p;
}

static const pb_graph *chain_of(pb_context *ctx, pb_arena *arena, const char *steps, const char *key, const char *value)
{
    const pb_graph *g;
    pb_option params[] = {{"steps", steps}, {key, value}};
    assert_int_equal(pb_generate(ctx, "adjoint-chain", params, 2, arena, &g), PB_OK);
    return g;
}

/* Always the least cost; `optimal` if that is proved. Returns whether it was. */
static bool check_cell(const pb_plan_result *p, uint64_t wanted, bool proved)
{
    bool optimal = p->schedule.outcome == PB_OPTIMAL;
    if (!wanted) {
        assert_int_equal(p->schedule.outcome, PB_INFEASIBLE);
        return true;
    }
    assert_true(optimal || !proved);
    assert_int_equal(p->schedule.metrics.makespan, wanted);
    assert_true(optimal ? p->schedule.lower_bound == wanted : p->schedule.lower_bound < wanted);
    return optimal;
}

static void a_hundred_steps_meet_the_exact_table(void **state)
{
    (void)state;
    unsigned cells = 0, optimal = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        pb_context ctx;
        pb_arena arena;
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        const pb_graph *g = chain_of(&ctx, &arena, "100", "grad-size", table[i].grad_size ? "1" : "0");
        pb_plan_result alone = plan_of(&ctx, &arena, g, table[i].cap, 0, "chain");
        check_cell(&alone, table[i].alone, true);
        for (int k = 0; k < 6; k++) {
            pb_plan_result with = plan_of(&ctx, &arena, g, table[i].cap, prices[k], "chain");
            optimal += check_cell(&with, table[i].with[k], prices[k] == 1);
            cells++;
        }
        pb_arena_release(&arena);
    }
    assert_true(3 * optimal > 2 * cells);
}

/* t(l, s) = r l - C(s + r, r - 1) extra steps; s snapshots are a cap of s + 1 with the working state in place. */
static void revolve_is_the_case_with_steps_in_place(void **state)
{
    static const struct {
        const char *steps;
        uint64_t snapshots, extra;
    } cases[] = {{"10", 2, 20}, {"10", 3, 15}, {"10", 5, 13}, {"100", 10, 222}, {"100", 5, 316}, {"500", 10, 1636}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pb_context ctx;
        pb_arena arena;
        const pb_graph *g;
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        pb_option params[] = {{"steps", cases[i].steps}, {"form", "inputs"}, {"inplace", "yes"}, {"grad-size", "0"}};
        assert_int_equal(pb_generate(&ctx, "adjoint-chain", params, 4, &arena, &g), PB_OK);
        pb_plan_result p = plan_of(&ctx, &arena, g, cases[i].snapshots + 1, 0, "chain");
        uint64_t forward = p.schedule.metrics.work - g->cost[g->targets[0]] * (uint64_t)atoi(cases[i].steps);
        assert_int_equal(p.schedule.outcome, PB_OPTIMAL);
        assert_int_equal(forward, cases[i].extra);
        pb_arena_release(&arena);
    }
}

static void other_graphs_are_declined_with_a_reason(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    const pb_graph *g;
    assert_int_equal(pb_generate(&ctx, "tree", NULL, 0, &arena, &g), PB_OK);
    pb_plan_result p = plan_of(&ctx, &arena, g, PB_UNLIMITED, 0, "chain");
    assert_string_equal(p.schedule.reason,
                        "does not apply: the graph is not a chain of blocks with a forward and a backward pass");
    g = chain_of(&ctx, &arena, "50", "grad-size", "1");
    p = plan_of(&ctx, &arena, g, 20, 0, "chain:limit=1000");
    assert_string_equal(p.schedule.reason,
                        "does not apply: 50 steps with 20 values in memory exceed its limit; raise its option limit");
    pb_arena_release(&arena);
}

/* Storing the one gradient is cheaper here than running steps again; the table does not try that, and must not call
 * its answer the optimum. */
static void a_gradient_that_is_cheap_to_move_forbids_the_claim(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    const pb_graph *g;
    pb_plan_result p;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    pb_option params[] = {{"steps", "4"}, {"step-size", "3"}, {"form", "inputs"}};
    assert_int_equal(pb_generate(&ctx, "adjoint-chain", params, 3, &arena, &g), PB_OK);
    pb_game game = {.graph = g, .kind = PB_GAME_TIERED, .cap = 9, .weights = PB_WEIGHTS_DEFAULT, .tier_count = 1};
    game.tiers[0] = (pb_tier){.store_per_unit = 2, .cap = PB_UNLIMITED};
    assert_int_equal(pb_plan(&ctx, &game, &(pb_request){.strategy = "chain", .seed = 1}, &arena, &p), PB_OK);
    assert_int_equal(p.schedule.outcome, PB_FOUND);
    pb_arena_release(&arena);
}

/* From a quarter of the peak in program order to all of it. */
static void unequal_steps_cost_less_with_more_memory(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    const pb_graph *g = chain_of(&ctx, &arena, "40", "profile", "random");
    uint64_t peak, last = UINT64_MAX;
    assert_int_equal(pb_graph_program_peak(&ctx, g, &peak), PB_OK);
    for (uint64_t cap = peak / 4; cap <= peak; cap += peak / 16) {
        pb_plan_result p = plan_of(&ctx, &arena, g, cap, 0, "chain");
        assert_non_null(p.certificate);
        assert_true(p.schedule.metrics.peak <= cap && p.schedule.metrics.makespan <= last);
        last = p.schedule.metrics.makespan; /* more memory never costs more */
    }
    assert_int_equal(plan_of(&ctx, &arena, g, peak, 0, "chain").schedule.outcome, PB_OPTIMAL);
    pb_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_steps_meet_the_exact_table),
        cmocka_unit_test(revolve_is_the_case_with_steps_in_place),
        cmocka_unit_test(other_graphs_are_declined_with_a_reason),
        cmocka_unit_test(a_gradient_that_is_cheap_to_move_forbids_the_claim),
        cmocka_unit_test(unequal_steps_cost_less_with_more_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
