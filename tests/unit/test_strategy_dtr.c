/* test_strategy_dtr.c -- the scores by hand on a small graph, classes that are not taken apart, and the plans. */
#include "plan/evict/dtr.h"
#include "strategy_fixture.h"

#include <math.h>

/* Nodes 0 .. 5 in a row with costs 1, 2, 4, 8, 16, 32 and sizes 1; node 6 (cost 64) reads 2. */
static void branched(small_game *s)
{
    small_game_init(s);
    for (uint32_t v = 0; v < 6; v++)
        small_game_add(s, UINT64_C(1) << v, 1, v ? UINT32_C(1) << (v - 1) : 0);
    small_game_add(s, 64, 1, UINT32_C(1) << 2);
}

static void start(desk *d, pbi_dtr *dtr, pbi_dtr_score score)
{
    small_game small;
    branched(&small);
    desk_open(d, &small);
    assert_int_equal(pbi_dtr_init(dtr, d->game.graph, score, &d->arena), PB_OK);
    for (pb_node v = 0; v < 7; v++)
        dtr->scorer.made(dtr, v);
    for (pb_node v = 0; v < 7; v++)
        dtr->scorer.touched(dtr, v);
}

static void evict(pbi_dtr *dtr, pb_node v) { dtr->scorer.gone(dtr, v, false); }

/* With staleness and size 1 a score is its cost. */
static void expect(pbi_dtr *dtr, pb_node v, double cost)
{
    double now = dtr->scorer.score(dtr, v);
    if (fabs(now - cost) > 1e-9)
        fail_msg("node %u: %g, not %g", v, now, cost);
}

static void full_counts_evicted_ancestors_and_descendants(void **state)
{
    (void)state;
    desk d;
    pbi_dtr dtr;
    start(&d, &dtr, PBI_DTR_FULL);
    expect(&dtr, 3, 8);
    evict(&dtr, 2);
    expect(&dtr, 3, 8 + 4);
    expect(&dtr, 1, 2 + 4);
    expect(&dtr, 5, 32);
    evict(&dtr, 6);
    expect(&dtr, 1, 2 + 4 + 64); /* over node 2 down to node 6 */
    expect(&dtr, 3, 8 + 4);      /* node 6 is neither up nor down from it */
    evict(&dtr, 4);
    expect(&dtr, 3, 8 + 4 + 16);
    dtr.scorer.made(&dtr, 2);
    dtr.touched[3] = dtr.clock;
    expect(&dtr, 3, 8 + 16);
    desk_shut(&d);
}

static void classes_are_joined_and_never_taken_apart(void **state)
{
    (void)state;
    desk d;
    pbi_dtr dtr;
    start(&d, &dtr, PBI_DTR_EQ);
    evict(&dtr, 1);
    evict(&dtr, 3);
    expect(&dtr, 2, 4 + 2 + 8);
    expect(&dtr, 4, 16 + 8);
    evict(&dtr, 2); /* 1, 2 and 3 are one class */
    expect(&dtr, 4, 16 + 2 + 4 + 8);
    expect(&dtr, 6, 64 + 2 + 4 + 8); /* a class counts whole, unlike the true neighbourhood */
    dtr.scorer.made(&dtr, 2);
    dtr.touched[4] = dtr.clock;
    expect(&dtr, 4, 16 + 2 + 8); /* node 1 is still in the class of 3 */
    desk_shut(&d);
}

/* Evicting and recomputing forever takes no more elements than there are. */
static void elements_are_used_again(void **state)
{
    (void)state;
    desk d;
    pbi_dtr dtr;
    start(&d, &dtr, PBI_DTR_EQ);
    evict(&dtr, 5);
    for (int round = 0; round < 1000; round++) {
        evict(&dtr, 1);
        evict(&dtr, 2);
        assert_true(dtr.elements <= dtr.max_elements);
        dtr.scorer.made(&dtr, 1);
        dtr.scorer.made(&dtr, 2);
    }
    dtr.touched[4] = dtr.clock;
    expect(&dtr, 4, 16 + 32);
    desk_shut(&d);
}

static void the_other_scores_look_at_one_thing(void **state)
{
    (void)state;
    for (pbi_dtr_score score = PBI_DTR_LOCAL; score < PBI_DTR_SCORES; score++) {
        desk d;
        pbi_dtr dtr;
        start(&d, &dtr, score);
        evict(&dtr, 1);
        expect(&dtr, 2, score == PBI_DTR_LOCAL ? 4 : 1);
        dtr.clock += 3; /* staleness 4 */
        expect(&dtr, 2, score == PBI_DTR_LOCAL ? 1 : score == PBI_DTR_LRU ? 0.25 : 1);
        desk_shut(&d);
    }
}

static void auto_is_the_best_of_three(void **state)
{
    (void)state;
    static const char *const names[] = {"full", "eq", "local"};
    desk d;
    desk_generate(&d, "unet", 0, NULL);
    for (uint64_t percent = 40; percent <= 80; percent += 20) {
        uint64_t least = UINT64_MAX;
        desk_cap(&d, percent);
        for (int i = 0; i < 3; i++) {
            const pb_schedule *s = desk_plan(&d, "dtr:score=%s", names[i]);
            assert_string_equal(desk_option(&d, "score"), names[i]);
            if (s->has_metrics && s->metrics.recompute < least)
                least = s->metrics.recompute;
        }
        const pb_schedule *s = desk_plan(&d, "dtr");
        assert_true(s->has_metrics ? s->metrics.recompute == least : least == UINT64_MAX);
    }
    desk_shut(&d);
}

static void refusals_say_why(void **state)
{
    (void)state;
    desk d;
    desk_generate(&d, "adjoint-chain", 1, (pb_option[]){{"steps", "100"}});
    d.game.cap = 8;
    assert_string_equal(desk_plan(&d, "dtr:limit=250")->reason,
                        "limit hit: more than 250 computations; raise its option limit");
    pb_request request = {.strategy = "dtr:score=best", .seed = 1};
    assert_int_equal(pb_plan(&d.ctx, &d.game, &request, &d.arena, &d.p), PB_EINVAL);
    assert_string_equal(d.ctx.error.message, "score must be auto, full, eq, local, lru or size, not \"best\"");
    desk_shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_counts_evicted_ancestors_and_descendants),
        cmocka_unit_test(classes_are_joined_and_never_taken_apart),
        cmocka_unit_test(elements_are_used_again),
        cmocka_unit_test(the_other_scores_look_at_one_thing),
        cmocka_unit_test(auto_is_the_best_of_three),
        cmocka_unit_test(refusals_say_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
