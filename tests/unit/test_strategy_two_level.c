/* test_strategy_two_level.c -- periods of adjoint chains against the closed form of binomial checkpointing; where the outer
 * checkpoints are; what the search finds and how it refuses. */
#include "api/pipeline/pipeline.h"
#include "api_fixture.h"
#include "pebble/adjoint.h"
#include "pebble/generate.h"
#include "support/cases.h"
#include "support/plan_check.h"

typedef struct desk {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_plan_result p;
} desk;

static void open_chain(desk *d, unsigned steps, bool revolve)
{
    char count[24];
    snprintf(count, sizeof count, "%u", steps);
    pb_option params[] = {{"steps", count}, {"form", "inputs"}, {"inplace", "yes"}, {"grad-size", "0"}};
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    d->game = (pb_game){.kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    assert_int_equal(pb_generate(&d->ctx, "adjoint-chain", params, revolve ? 4 : 1, &d->arena, &d->game.graph), PB_OK);
}

static void shut(desk *d)
{
    pb_arena_release(&d->arena);
    assert_int_equal(d->ctx.memory_used, 0);
}

static const pb_schedule *plan(desk *d, const char *format, ...)
{
    char spec[120], why[PLAN_WHY];
    va_list args;
    va_start(args, format);
    vsnprintf(spec, sizeof spec, format, args);
    va_end(args);
    pb_request request = {.strategy = spec, .seed = 1, .bound_effort = test_is_sample() ? 1000000 : 0};
    if (pbi_plan_as_made(&d->ctx, &d->game, &request, &d->arena, &d->p) != PB_OK)
        fail_msg("%s: %s", spec, d->ctx.error.message);
    if (!plan_is_honest(&d->game, &d->p, why))
        fail_msg("%s: %s", spec, why);
    return &d->p.schedule;
}

/* Steps that binomial checkpointing runs for `steps` steps in addition to the taped ones, with `inner` snapshots and the start. */
static uint64_t extra(desk *d, uint64_t steps, uint64_t inner)
{
    pb_revolve_cost cost;
    assert_int_equal(pb_revolve_count(&d->ctx, steps, inner + 1, &cost), PB_OK);
    return cost.forward_steps.low - steps;
}

/* The forward run goes to the start of the last period, which has at least two steps; then every period is reversed by
 * binomial checkpointing. */
static void periods_are_reversed_binomially(void **state)
{
    (void)state;
    for (unsigned steps = 2; steps <= 60; steps += 1 + steps / 8) {
        desk d;
        open_chain(&d, steps, true);
        for (unsigned period = 1; period <= steps + 1; period++)
            for (unsigned inner = 0; inner <= period && inner < 7; inner++) {
                const pb_schedule *s = plan(&d, "two-level:period=%u,inner=%u", period, inner);
                uint64_t last = (steps - 2) / period, forward = last * period + extra(&d, steps - last * period, inner);
                for (uint64_t i = 0; i < last; i++)
                    forward += extra(&d, period, inner);
                if (s->metrics.recompute_count + steps - 1 != forward)
                    fail_msg("%u steps, period %u, %u inside: %" PRIu64 " forward steps, not %" PRIu64, steps, period,
                             inner, s->metrics.recompute_count + steps - 1, forward);
                uint64_t most = last + inner + 3; /* the start, outer and inner ones, and the step at hand */
                assert_true(s->metrics.peak <= most);
            }
        shut(&d);
    }
}

/* With slow memory every outer checkpoint but the last is stored and loaded once: the last is still there. */
static void outer_checkpoints_go_to_slow_memory(void **state)
{
    (void)state;
    desk d;
    open_chain(&d, 100, false);
    d.game.kind = PB_GAME_TIERED;
    d.game.tier_count = 1;
    d.game.tiers[0] = (pb_tier){.store_cost = 3, .load_cost = 4, .cap = PB_UNLIMITED};
    const pb_schedule *s = plan(&d, "two-level:period=10,inner=10");
    assert_int_equal(s->metrics.io, 8 * 7);
    assert_int_equal(s->metrics.recompute, 9 * 9);
    uint64_t peak = s->metrics.peak;
    d.game.kind = PB_GAME_REMAT;
    s = plan(&d, "two-level:period=10,inner=10");
    assert_int_equal(s->metrics.io, 0);
    assert_int_equal(s->metrics.recompute, 9 * 9);
    assert_true(s->metrics.peak >= peak + 7);
    shut(&d);
}

/* What does not fit there stays in fast memory. */
static void a_small_slow_memory_is_filled_and_no_more(void **state)
{
    (void)state;
    desk d;
    uint64_t before = 0;
    open_chain(&d, 60, false);
    d.game.kind = PB_GAME_TIERED;
    d.game.tier_count = 1;
    for (uint64_t cap = 0; cap <= 7; cap++) {
        d.game.tiers[0] = (pb_tier){.store_cost = 1, .load_cost = 1, .cap = cap};
        const pb_schedule *s = plan(&d, "two-level:period=6,inner=6");
        assert_int_equal(s->metrics.io, 2 * cap);
        assert_true(cap == 0 || s->metrics.peak < before);
        before = s->metrics.peak;
    }
    shut(&d);
}

static void the_search_finds_a_choice_that_gives_the_same_plan_again(void **state)
{
    (void)state;
    uint64_t turn = 0;
    for (uint64_t cap = 6; cap <= 40; cap += 3)
        for (int slow = 0; slow < 2; slow++) {
            if (!test_turn(&turn))
                continue;
            desk d;
            char why[PLAN_WHY];
            open_chain(&d, 100, false);
            d.game.cap = cap;
            d.game.kind = slow ? PB_GAME_TIERED : PB_GAME_REMAT;
            d.game.tier_count = 1;
            d.game.tiers[0] = (pb_tier){.store_cost = 2, .load_cost = 2, .cap = PB_UNLIMITED};
            const pb_schedule *s = plan(&d, "two-level");
            assert_int_equal(s->outcome == PB_GAVE_UP, cap == 6 && !slow);
            if (s->outcome != PB_GAVE_UP) {
                pb_plan_result first = d.p;
                assert_string_equal(s->options[0].key, "period");
                assert_string_equal(s->options[1].key, "inner");
                plan(&d, "two-level:period=%s,inner=%s", s->options[0].value, s->options[1].value);
                if (!plans_are_equal(&first, &d.p, why))
                    fail_msg("cap %" PRIu64 ": %s", cap, why);
            }
            shut(&d);
        }
}

static void refusals_say_what_was_tried(void **state)
{
    (void)state;
    desk d;
    open_chain(&d, 100, false);
    d.game.cap = 6;
    const pb_schedule *s = plan(&d, "two-level");
    assert_string_equal(s->reason, "does not fit: no period tried fits the cap");
    s = plan(&d, "two-level:period=10");
    assert_string_equal(s->reason, "does not fit: a period of 10 exceeds the cap");
    s = plan(&d, "two-level:period=50,limit=150");
    assert_string_equal(s->reason,
                        "limit hit: every plan tried needs more than 150 computations; raise its option limit");
    shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(periods_are_reversed_binomially),
        cmocka_unit_test(outer_checkpoints_go_to_slow_memory),
        cmocka_unit_test(a_small_slow_memory_is_filled_and_no_more),
        cmocka_unit_test(the_search_finds_a_choice_that_gives_the_same_plan_again),
        cmocka_unit_test(refusals_say_what_was_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
