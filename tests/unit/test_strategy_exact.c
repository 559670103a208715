/* test_strategy_exact.c -- the strategy exact beyond what exhaustive search reaches: chains with a known optimum, pyramids with a
 * known least cap, training steps; and how it refuses. */
#include "api_fixture.h"
#include "pebble/generate.h"
#include "support/plan_check.h"
#include "support/small_game.h"

typedef struct desk {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_plan_result p;
} desk;

static void open_family(desk *d, const char *family, const pb_option *params, uint32_t count)
{
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    d->game = (pb_game){.kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    if (pb_generate(&d->ctx, family, params, count, &d->arena, &d->game.graph) != PB_OK)
        fail_msg("%s: %s", family, d->ctx.error.message);
}

static void shut(desk *d)
{
    pb_arena_release(&d->arena);
    assert_int_equal(d->ctx.memory_used, 0);
}

static const pb_schedule *plan(desk *d, const char *spec)
{
    char why[PLAN_WHY];
    pb_request request = {.strategy = spec, .seed = 1};
    if (pb_plan(&d->ctx, &d->game, &request, &d->arena, &d->p) != PB_OK)
        fail_msg("%s: %s", spec, d->ctx.error.message);
    if (!plan_is_honest(&d->game, &d->p, why))
        fail_msg("%s: %s", spec, why);
    return &d->p.schedule;
}

/* Adjoint chains of equal steps, where `chain` is proved: the same work, and infeasible below its least cap. */
static void chains_cost_what_the_closed_form_says(void **state)
{
    (void)state;
    desk d;
    open_family(&d, "adjoint-chain", (pb_option[]){{"steps", "14"}}, 1);
    for (uint64_t cap = 16; cap >= 6; cap--) {
        d.game.cap = cap;
        uint64_t work = plan(&d, "chain")->metrics.makespan;
        const pb_schedule *s = plan(&d, "exact");
        if (s->outcome != PB_OPTIMAL || s->metrics.makespan != work)
            fail_msg("cap %" PRIu64 ": %s, work %" PRIu64 ", not %" PRIu64, cap, pb_outcome_name(s->outcome),
                     s->metrics.makespan, work);
    }
    shut(&d);
}

/* A pyramid of height h takes h + 2 pebbles, which no working set says. */
static void pyramids_take_two_more_than_their_height(void **state)
{
    (void)state;
    for (unsigned height = 2; height <= 4; height++) {
        char text[8];
        desk d;
        snprintf(text, sizeof text, "%u", height);
        open_family(&d, "pyramid", (pb_option[]){{"height", text}}, 1);
        d.game.cap = height + 1;
        assert_int_equal(plan(&d, "exact")->outcome, PB_INFEASIBLE);
        d.game.cap = height + 2;
        assert_int_equal(plan(&d, "exact")->outcome, PB_OPTIMAL);
        shut(&d);
    }
}

/* A training step of 47 nodes, proved at every cap, and auto finds the same. */
static void training_steps_are_proved(void **state)
{
    (void)state;
    desk d;
    uint64_t full, last = 0;
    open_family(&d, "mlp", (pb_option[]){{"depth", "8"}, {"batch", "8192"}}, 2);
    assert_int_equal(pb_graph_program_peak(&d.ctx, d.game.graph, &full), PB_OK);
    for (uint64_t percent = 95; percent >= 65; percent -= 10) {
        d.game.cap = full / 100 * percent;
        const pb_schedule *s = plan(&d, "exact");
        assert_int_equal(s->outcome, PB_OPTIMAL);
        uint64_t work = s->metrics.makespan;
        assert_true(work >= last);
        last = work;
        assert_int_equal(s->lower_bound, work);
        s = plan(&d, "auto");
        assert_int_equal(s->outcome, PB_OPTIMAL);
        assert_int_equal(s->metrics.makespan, work);
    }
    shut(&d);
}

static void refuses_what_is_too_large(void **state)
{
    (void)state;
    desk d;
    open_family(&d, "layered", (pb_option[]){{"nodes", "200"}, {"seed", "1"}}, 2);
    const pb_schedule *s = plan(&d, "exact");
    assert_int_equal(s->outcome, PB_GAVE_UP);
    assert_non_null(strstr(s->reason, "too large: "));
    shut(&d);
}

/* Out of bytes: what is known is shown, or a sentence says what was hit. Ticks are kept. */
static void stops_at_its_limits(void **state)
{
    (void)state;
    desk d;
    open_family(&d, "adjoint-chain", (pb_option[]){{"steps", "24"}}, 1);
    d.game.cap = 7;
    const pb_schedule *s = plan(&d, "exact:limit=100000");
    assert_int_not_equal(s->outcome, PB_OPTIMAL);
    assert_int_not_equal(s->outcome, PB_INFEASIBLE);
    if (s->outcome == PB_GAVE_UP)
        assert_non_null(strstr(s->reason, "limit hit"));
    d.ctx.tick_limit = 3000;
    s = plan(&d, "exact");
    assert_int_not_equal(s->outcome, PB_OPTIMAL);
    assert_true(d.ctx.ticks < 6000);
    shut(&d);
}

/* Weights on the peak: the least work is shown, but not called the least cost. */
static void weights_on_memory_are_not_claimed(void **state)
{
    (void)state;
    desk d;
    open_family(&d, "adjoint-chain", (pb_option[]){{"steps", "8"}}, 1);
    d.game.cap = 8;
    d.game.weights.alpha = 5;
    assert_int_equal(plan(&d, "exact")->outcome, PB_FOUND);
    shut(&d);
}

/* ---- the reversible game ---- */

static void reversible_chains_cost_what_knill_says(void **state)
{
    (void)state;
    desk d;
    open_family(&d, "chain", (pb_option[]){{"nodes", "30"}}, 1);
    d.game.kind = PB_GAME_REVERSIBLE;
    for (uint64_t cap = 7; cap <= 31; cap += 3) {
        d.game.cap = cap;
        uint64_t work = plan(&d, "knill")->metrics.makespan;
        const pb_schedule *s = plan(&d, "exact");
        if (s->outcome != PB_OPTIMAL || s->metrics.makespan != work)
            fail_msg("cap %" PRIu64 ": %s, work %" PRIu64 ", not %" PRIu64, cap, pb_outcome_name(s->outcome),
                     s->metrics.makespan, work);
    }
    d.game.cap = 5; /* 2^4 nodes at most */
    assert_int_equal(plan(&d, "exact")->outcome, PB_INFEASIBLE);
    shut(&d);
}

static void reversible_graphs_of_many_values_are_declined(void **state)
{
    (void)state;
    desk d;
    open_family(&d, "chain", (pb_option[]){{"nodes", "65"}}, 1);
    d.game.kind = PB_GAME_REVERSIBLE;
    d.game.cap = 20;
    const pb_schedule *s = plan(&d, "exact");
    assert_int_equal(s->outcome, PB_GAVE_UP);
    assert_string_equal(s->reason, "too large: more than 64 values and once-only nodes");
    shut(&d);
}

/* With too few states it says so, and claims nothing; with a plan at hand it has that. */
static void reversible_limits_leave_the_plan_at_hand(void **state)
{
    (void)state;
    desk d;
    open_family(&d, "pyramid", (pb_option[]){{"height", "5"}}, 1);
    d.game.kind = PB_GAME_REVERSIBLE;
    d.game.cap = 12;
    assert_int_equal(plan(&d, "exact:limit=2000")->outcome, PB_GAVE_UP);
    pb_plan_result start;
    pb_request request = {.strategy = "demand", .seed = 1};
    assert_int_equal(pb_plan(&d.ctx, &d.game, &request, &d.arena, &start), PB_OK);
    assert_non_null(start.certificate);
    request = (pb_request){.strategy = "exact:limit=2000", .seed = 1, .start = &start.schedule.moves};
    assert_int_equal(pb_plan(&d.ctx, &d.game, &request, &d.arena, &d.p), PB_OK);
    assert_int_equal(d.p.schedule.metrics.work, start.schedule.metrics.work);
    assert_true(d.p.schedule.lower_bound <= 59); /* the least work */
    shut(&d);
}

/* A chain of 8 in 4 values takes 25 moves: too much work for 64 bits here, but possible. */
static void reversible_work_beyond_64_bits_is_not_infeasible(void **state)
{
    (void)state;
    desk d;
    small_game chain;
    small_game_init(&chain);
    chain.kind = PB_GAME_REVERSIBLE;
    chain.cap = 4;
    for (uint32_t i = 0; i < 8; i++)
        small_game_add(&chain, UINT64_C(1) << 60, 1, i ? UINT32_C(1) << (i - 1) : 0);
    pb_context_init(&d.ctx);
    pb_arena_init(&d.arena, &d.ctx);
    assert_true(small_game_build(&d.ctx, &chain, &d.arena, &d.game));
    const pb_schedule *s = plan(&d, "exact");
    assert_int_equal(s->outcome, PB_GAVE_UP);
    assert_non_null(strstr(s->reason, "exceeds 2^64"));
    shut(&d);
}

/* Pairs that can change places in any way: twelve values to make one from each, in memory for one more. */
static void reversible_twins_are_told_apart_in_the_plan(void **state)
{
    (void)state;
    desk d;
    small_game pairs;
    small_game_init(&pairs);
    pairs.kind = PB_GAME_REVERSIBLE;
    pairs.cap = 13;
    for (uint32_t i = 0; i < 24; i++)
        small_game_add(&pairs, 1, 1, i % 2 ? UINT32_C(1) << (i - 1) : 0);
    pb_context_init(&d.ctx);
    pb_arena_init(&d.arena, &d.ctx);
    assert_true(small_game_build(&d.ctx, &pairs, &d.arena, &d.game));
    const pb_schedule *s = plan(&d, "exact");
    assert_int_equal(s->outcome, PB_OPTIMAL);
    assert_int_equal(s->metrics.work, 36);
    shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_cost_what_the_closed_form_says),
        cmocka_unit_test(pyramids_take_two_more_than_their_height),
        cmocka_unit_test(training_steps_are_proved),
        cmocka_unit_test(refuses_what_is_too_large),
        cmocka_unit_test(stops_at_its_limits),
        cmocka_unit_test(weights_on_memory_are_not_claimed),
        cmocka_unit_test(reversible_chains_cost_what_knill_says),
        cmocka_unit_test(reversible_graphs_of_many_values_are_declined),
        cmocka_unit_test(reversible_work_beyond_64_bits_is_not_infeasible),
        cmocka_unit_test(reversible_twins_are_told_apart_in_the_plan),
        cmocka_unit_test(reversible_limits_leave_the_plan_at_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
