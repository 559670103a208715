/* test_strategy_griewank.c -- on chains the computations of Revolve, and its memory; elsewhere as many snapshots as fit. */
#include "pebble/adjoint.h"
#include "strategy_fixture.h"

static void open_chain(desk *d, unsigned steps, bool revolve)
{
    char count[24];
    snprintf(count, sizeof count, "%u", steps);
    pb_option params[] = {{"steps", count}, {"form", "inputs"}, {"inplace", "yes"}, {"grad-size", "0"}};
    desk_generate(d, "adjoint-chain", revolve ? 4 : 1, params);
}

/* Forward steps that Revolve runs in addition to the taped ones, with these snapshots and the start. */
static uint64_t extra(desk *d, uint64_t steps, uint64_t snapshots)
{
    pb_revolve_cost cost;
    assert_int_equal(pb_revolve_count(&d->ctx, steps, snapshots + 1, &cost), PB_OK);
    return cost.forward_steps.low - steps;
}

/* In Revolve's form: gradient i reads x_i alone, states are overwritten, s + 2 of them at most are held. */
static void chains_are_reversed_as_by_revolve(void **state)
{
    (void)state;
    for (unsigned steps = 2; steps <= 60; steps += 1 + steps / 4) {
        desk d;
        open_chain(&d, steps, true);
        for (unsigned slots = 0; slots < 9 && slots < steps - 1; slots++) {
            const pb_schedule *s = desk_plan(&d, "griewank:snapshots=%u", slots);
            uint64_t forward = s->metrics.recompute_count + steps - 1;
            if (forward != extra(&d, steps, slots))
                fail_msg("%u steps, %u snapshots: %" PRIu64 " forward steps, not %" PRIu64, steps, slots, forward,
                         extra(&d, steps, slots));
            assert_true(s->metrics.peak <= slots + 2);
        }
        desk_shut(&d);
    }
}

static void as_many_snapshots_as_fit(void **state)
{
    (void)state;
    for (uint64_t cap = 5; cap <= 100; cap += 19) {
        desk d;
        open_chain(&d, 100, true);
        d.game.cap = cap;
        const pb_schedule *s = desk_plan(&d, "griewank");
        assert_int_not_equal(s->outcome, PB_GAVE_UP);
        if (s->metrics.recompute)
            assert_int_equal(s->metrics.recompute_count + 99, extra(&d, 100, cap - 2));
        else
            assert_true(cap >= 99);
        desk_shut(&d);
    }
}

/* Where gradients read two states, what one has read stays for the next, and Revolve's count holds all the same. */
static void states_that_are_read_twice_are_not_made_twice_for_it(void **state)
{
    (void)state;
    for (unsigned slots = 1; slots < 20; slots += 9) {
        desk d;
        open_chain(&d, 100, false);
        const pb_schedule *s = desk_plan(&d, "griewank:snapshots=%u", slots);
        assert_in_range(s->metrics.recompute_count + 99, extra(&d, 100, slots), extra(&d, 101, slots) + 1);
        desk_shut(&d);
    }
}

static void networks_are_reversed_with_what_crosses(void **state)
{
    (void)state;
    static const char *const families[] = {"resnet", "unet", "transformer", "mlp", "layered"};
    for (unsigned f = 0; f < 5; f++) {
        desk d;
        desk_generate(&d, families[f], 0, NULL);
        desk_cap(&d, 100);
        assert_int_equal(desk_plan(&d, "griewank")->metrics.recompute, 0);
        if (f < 3) {
            desk_cap(&d, 70);
            assert_int_equal(desk_plan(&d, "griewank")->outcome, PB_FOUND);
        }
        desk_shut(&d);
    }
}

static void refusals_tell_the_need(void **state)
{
    (void)state;
    desk d;
    open_chain(&d, 100, true);
    d.game.cap = 5;
    const pb_schedule *s = desk_plan(&d, "griewank:snapshots=9");
    assert_string_equal(s->reason, "does not fit: its plan needs 11 pebble, 6 over the cap of 5 pebble");
    s = desk_plan(&d, "griewank:snapshots=1,limit=300");
    assert_string_equal(s->reason,
                        "limit hit: every plan tried needs more computations than its limit; raise its option limit");
    desk_shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_reversed_as_by_revolve),
        cmocka_unit_test(as_many_snapshots_as_fit),
        cmocka_unit_test(states_that_are_read_twice_are_not_made_twice_for_it),
        cmocka_unit_test(networks_are_reversed_with_what_crosses),
        cmocka_unit_test(refusals_tell_the_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
