/* test_strategy_kusumoto.c -- the dynamic program against all rows of lower sets of short chains; budgets and refusals. */
#include "strategy_fixture.h"

enum { STEPS = 8 };

/* A chain of forward nodes and gradients that read them; x_1 .. x_STEPS are nodes 1 .. STEPS behind a given start. */
static void random_chain(small_game *s, uint32_t seed)
{
    small_game_init(s);
    small_game_add(s, 0, 1, 0);
    s->flags[0] = PB_NODE_GIVEN;
    for (uint32_t v = 1; v <= STEPS; v++) {
        seed = seed * 1664525 + 1013904223;
        small_game_add(s, 1 + (seed >> 20) % 9, 1 + (seed >> 8) % 9, UINT32_C(1) << (v - 1));
    }
    for (uint32_t i = STEPS; i-- > 0;)
        small_game_add(s, 1, 1, UINT32_C(3) << i | (i + 1 < STEPS ? UINT32_C(1) << (s->node_count - 1) : 0));
}

/* The least overhead of segments that end where `ends` has a bit, by the formula; UINT64_MAX: over the budget. */
static uint64_t overhead_of(const small_game *s, uint32_t ends, uint64_t budget)
{
    uint64_t kept = 0, segment = 0, cost = 0, overhead = 0;
    for (uint32_t v = 1; v <= STEPS; v++) {
        segment += s->size[v];
        cost += s->cost[v];
        bool last = v == STEPS;
        if (!last && !(ends >> v & 1))
            continue;
        if (kept + 2 * segment + (last ? 0 : s->size[v + 1]) > budget)
            return UINT64_MAX;
        overhead += last ? 0 : cost - s->cost[v];
        kept += s->size[v];
        segment = cost = 0;
    }
    return overhead;
}

static void it_finds_the_least_overhead_of_its_formula(void **state)
{
    (void)state;
    uint32_t found = 0, refused = 0;
    for (uint32_t seed = 1; seed <= 12; seed++) {
        small_game small;
        random_chain(&small, seed);
        desk d;
        desk_open(&d, &small);
        for (uint64_t budget = 20; budget <= 90; budget += 10) {
            uint64_t least = UINT64_MAX;
            for (uint32_t ends = 0; ends < UINT32_C(1) << STEPS; ends += 2) {
                uint64_t now = overhead_of(&small, ends, budget);
                least = now < least ? now : least;
            }
            const pb_schedule *s = desk_plan(&d, "kusumoto:budget=%u", (unsigned)budget);
            assert_int_equal(s->outcome == PB_GAVE_UP, least == UINT64_MAX);
            if (s->outcome != PB_GAVE_UP) {
                assert_int_equal(s->metrics.recompute, least);
                found++;
            } else {
                assert_string_equal(s->reason, "does not fit: no sequence of lower sets fits the budget");
                refused++;
            }
        }
        desk_shut(&d);
    }
    assert_true(found > 20 && refused > 5);
}

static void the_budget_is_chosen_so_that_the_plan_fits(void **state)
{
    (void)state;
    desk d;
    uint64_t last = 0;
    desk_generate(&d, "adjoint-chain", 1, (pb_option[]){{"steps", "100"}});
    for (d.game.cap = 110; d.game.cap >= 24; d.game.cap = d.game.cap * 3 / 4) {
        const pb_schedule *s = desk_plan(&d, "kusumoto");
        assert_int_not_equal(s->outcome, PB_GAVE_UP);
        assert_true(s->metrics.peak <= d.game.cap && s->metrics.recompute >= last);
        last = s->metrics.recompute;
    }
    d.game.cap = 10;
    assert_non_null(strstr(desk_plan(&d, "kusumoto")->reason, "does not fit: the smallest of"));
    desk_shut(&d);
}

static void a_budget_without_end_has_a_word_and_can_be_read_back(void **state)
{
    (void)state;
    desk d;
    desk_generate(&d, "adjoint-chain", 1, (pb_option[]){{"steps", "9"}});
    d.game.cap = PB_UNLIMITED;
    const pb_schedule *s = desk_plan(&d, "kusumoto");
    assert_int_equal(s->option_count, 1);
    assert_string_equal(s->options[0].key, "budget");
    assert_string_equal(s->options[0].value, "unlimited");
    uint64_t work = s->metrics.work;
    s = desk_plan(&d, "kusumoto:budget=unlimited");
    assert_int_equal(s->outcome != PB_GAVE_UP, true);
    assert_int_equal(s->metrics.work, work);
    desk_shut(&d);
}

static void networks_are_planned(void **state)
{
    (void)state;
    static const char *const families[] = {"resnet", "unet", "transformer"};
    for (unsigned f = 0; f < 3; f++) {
        desk d;
        desk_generate(&d, families[f], 0, NULL);
        desk_cap(&d, 80);
        assert_int_equal(desk_plan(&d, "kusumoto")->outcome, PB_FOUND);
        desk_shut(&d);
    }
}

static void large_graphs_are_refused(void **state)
{
    (void)state;
    desk d;
    desk_generate(&d, "adjoint-chain", 1, (pb_option[]){{"steps", "100"}});
    const pb_schedule *s = desk_plan(&d, "kusumoto:effort=300000");
    assert_string_equal(s->reason,
                        "does not apply: 100 forward nodes are too many for its effort; raise its option effort");
    desk_shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_finds_the_least_overhead_of_its_formula),
        cmocka_unit_test(the_budget_is_chosen_so_that_the_plan_fits),
        cmocka_unit_test(a_budget_without_end_has_a_word_and_can_be_read_back),
        cmocka_unit_test(networks_are_planned),
        cmocka_unit_test(large_graphs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
