/* test_settings.c -- the reader of settings: every setting with good and bad values, and names that do not exist. */
#include "pebble/generate.h"
#include "pebble/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct desk {
    pb_context ctx;
    pb_arena arena;
    pb_settings settings;
    pb_game game;
    pb_request request;
    pb_limits limits;
    pb_read_options reading;
    pb_weights *weights;
    uint32_t weights_count;
} desk;

static void open_desk(desk *d)
{
    const pb_graph *g;
    *d = (desk){.request = PB_REQUEST_DEFAULT, .settings = {.wrong = PB_SETTING_COUNT}};
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    assert_int_equal(pb_generate(&d->ctx, "adjoint-chain", NULL, 0, &d->arena, &g), PB_OK);
    d->game = PB_GAME_DEFAULT(g);
}

/* Every function that reads settings, in turn. */
static pb_status read_all(desk *d)
{
    uint64_t points = 1, any_graph = 0;
    pb_status status = pb_settings_game(&d->ctx, &d->settings, &d->arena, &d->game);
    if (status == PB_OK)
        status = pb_settings_weights(&d->ctx, &d->settings, d->game.graph, &d->arena, &d->weights, &d->weights_count);
    if (status == PB_OK)
        status = pb_settings_request(&d->ctx, &d->settings, &d->request);
    if (status == PB_OK)
        status = pb_settings_limits(&d->ctx, &d->settings, &d->limits);
    if (status == PB_OK)
        status = pb_settings_reading(&d->ctx, &d->settings, &d->arena, &d->reading);
    if (status == PB_OK)
        status = pb_settings_number(&d->ctx, &d->settings, PB_SET_points, 1000, &points);
    return status == PB_OK ? pb_settings_number(&d->ctx, &d->settings, PB_SET_any_graph, 1, &any_graph) : status;
}

static void good_values_are_read(void **state)
{
    (void)state;
    static const char *const good[][2] = {
        {"game", "reversible"},
        {"cap", "60%"},
        {"cap", "none"},
        {"machine", "none"},
        {"machine", "a100-40*4"},
        {"borrow", "3"},
        {"weights", "0,1e-9,1"},
        {"tiers", ""},
        {"tiers", "cap=3;"},
        {"store_cost", "0.5"},
        {"load_cost", "2"},
        {"slow_cap", "50%"},
        {"strategy", "auto,all"},
        {"strategy", "every-k:k=3,limit=9"},
        {"policy", "oldest"},
        {"seed", "0"},
        {"threads", "1024"},
        {"ticks", "18446744073709551615"},
        {"time", "500ms"},
        {"memory", "1000"},
        {"patient", "1"},
        {"inputs", "given"},
        {"dims", "batch=3,a=4"},
        {"batch", "1"},
        {"train", "0"},
        {"store_per_unit", "4e-2"},
        {"caps", "100%..30%"},
        {"points", "12"},
        {"weights", "1,0,0;0,0,1"},
        {"load_per_unit", "1"},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        desk d;
        pb_setting which;
        open_desk(&d);
        assert_int_equal(pb_setting_find(&d.ctx, good[i][0], &which), PB_OK);
        assert_string_equal(pb_setting_name(which), good[i][0]);
        assert_true(pb_setting_takes(which)[0] && pb_setting_help(which)[0]);
        d.settings.text[which] = good[i][1];
        if (read_all(&d) != PB_OK)
            fail_msg("%s %s: %s", good[i][0], good[i][1], d.ctx.error.message);
        pb_arena_release(&d.arena);
    }
}

static void bad_values_are_reported_with_their_name(void **state)
{
    (void)state;
    static const char *const bad[][4] = {
        {"game", "tierd", "game", "there is no game `tierd`; did you mean tiered?"},
        {"game", "chess", "game", "there is no game `chess`; choose remat, reversible, tiered or timed"},
        {"cap", "lots", "cap", "expected a size"},
        {"machine", "a100-4", "machine", "there is no machine `a100-4`; did you mean a100-40?"},
        {"machine", "t4*99", "machine", "expected 1 to 64 devices"},
        {"borrow", "some", "borrow", "expected a size"},
        {"weights", "1,2", "weights", "expected three weights"},
        {"weights", "0,0,1;x", "weights", "expected three weights"},
        {"tiers", "speed=3", "tiers", "`speed=3` is not a field of a tier"},
        {"tiers", "cap=far", "tiers", "cap: "},
        {"tiers", "load_cost=x", "load_cost", "expected a price"},
        {"tiers", ";;;;;;;;", "tiers", "at most 8 tiers"},
        {"store_cost", "-1", "store_cost", "expected a price"},
        {"load_cost", "x", "load_cost", "expected a price"},
        {"store_per_unit", "1e-30", "store_per_unit", "too many digits"},
        {"load_per_unit", "", "load_per_unit", "expected a price"},
        {"slow_cap", "far", "slow_cap", "expected a size"},
        {"strategy", "serch", "strategy", "there is no strategy `serch`; did you mean search?"},
        {"strategy", "auto,luck", "strategy", "there is no strategy `luck`; choose auto, "},
        {"strategy", "every-k:j=3", "strategy", "its options: k, limit"},
        {"strategy", "", "strategy", "there is no strategy ``"},
        {"policy", "oldst", "policy", "there is no policy `oldst`; did you mean oldest?"},
        {"seed", "-1", "seed", "expected a whole number below 2^64, not `-1`"},
        {"threads", "1025", "threads", "expected a whole number from 0 to 1024, not `1025`"},
        {"ticks", "18446744073709551616", "ticks", "below 2^64"},
        {"time", "soon", "time", "expected a time such as 5s, 500ms, 2m or 1h, not `soon`"},
        {"memory", "", "memory", "expected a whole number"},
        {"patient", "2", "patient", "from 0 to 1"},
        {"inputs", "give", "inputs", "did you mean given?"},
        {"dims", "batch", "dims", "expected NAME=N, as in batch=32, not `batch`"},
        {"dims", "=3", "dims", "expected NAME=N"},
        {"batch", "0", "batch", "expected a number of at least 1"},
        {"train", "yes", "train", "from 0 to 1"},
        {"optimizer", "magic", "optimizer", "there is no optimizer `magic`; choose none, sgd, momentum or adam"},
        {"optimizer", "adam", "optimizer", "only a training step uses this"},
        {"grads", "keep", "grads", "only a training step uses this"},
        {"points", "1001", "points", "from 0 to 1000"},
        {"any_graph", "x", "any_graph", "from 0 to 1"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        desk d;
        pb_setting which;
        open_desk(&d);
        assert_int_equal(pb_setting_find(&d.ctx, bad[i][0], &which), PB_OK);
        d.settings.text[which] = bad[i][1];
        assert_int_not_equal(read_all(&d), PB_OK);
        assert_string_equal(pb_setting_name(d.settings.wrong), bad[i][2]);
        if (!strstr(d.ctx.error.message, bad[i][3]))
            fail_msg("%s %s: \"%s\" does not have \"%s\"", bad[i][0], bad[i][1], d.ctx.error.message, bad[i][3]);
        pb_arena_release(&d.arena);
    }
}

static void unknown_names_get_the_closest_one(void **state)
{
    (void)state;
    desk d;
    pb_setting which = PB_SET_cap;
    open_desk(&d);
    assert_int_equal(pb_setting_find(&d.ctx, "stor_cost", &which), PB_EUNKNOWN);
    assert_string_equal(d.ctx.error.message, "there is no setting `stor_cost`; did you mean store_cost?");
    assert_int_equal(pb_setting_find(&d.ctx, "colour", &which), PB_EUNKNOWN);
    assert_non_null(
        strstr(d.ctx.error.message, "there is no setting `colour`; choose game, objective, cap, machine, "));
    assert_int_equal(which, PB_SET_cap);
    pb_arena_release(&d.arena);
}

static void the_tiered_game_has_a_tier(void **state)
{
    (void)state;
    desk d;
    open_desk(&d);
    d.settings.text[PB_SET_game] = "tiered";
    assert_int_equal(read_all(&d), PB_OK);
    assert_int_equal(d.game.tier_count, 1);
    assert_true(d.game.tiers[0].cap == PB_UNLIMITED && d.game.tiers[0].store_cost == 0);
    assert_int_equal(pb_settings_games(&d.settings, &d.game), PB_GAME_TIERED);
    pb_arena_release(&d.arena);

    open_desk(&d);
    d.settings.text[PB_SET_load_cost] = "2"; /* slow memory makes it the tiered game */
    assert_int_equal(read_all(&d), PB_OK);
    assert_true(d.game.kind == PB_GAME_TIERED && d.game.tier_count == 1 && d.game.tiers[0].load_cost == 2);
    assert_int_equal(pb_settings_games(&d.settings, &d.game), PB_GAME_REMAT | PB_GAME_REVERSIBLE | PB_GAME_TIERED);
    d.settings.text[PB_SET_game] = "remat";
    assert_int_equal(read_all(&d), PB_EINVAL);
    assert_string_equal(d.ctx.error.message,
                        "slow memory is part of the tiered game, not of remat; use the tiered game");
    d.settings.text[PB_SET_game] = NULL;
    d.settings.text[PB_SET_tiers] = "cap=3";
    assert_int_equal(read_all(&d), PB_EINVAL);
    assert_int_equal(d.settings.wrong, PB_SET_tiers);
    pb_arena_release(&d.arena);
}

static void a_machine_prices_the_graph(void **state)
{
    (void)state;
    desk d;
    open_desk(&d);
    const pb_graph *own = d.game.graph;
    d.settings.text[PB_SET_machine] = "red-blue";
    assert_int_equal(read_all(&d), PB_OK);
    assert_ptr_equal(d.game.graph->unpriced, own);
    assert_string_equal(d.game.graph->priced_by->name, "red-blue");
    assert_int_equal(d.game.cap, 11); /* the first memory */
    assert_true(d.game.kind == PB_GAME_REMAT && d.game.tier_count == 0);
    assert_int_equal(pb_settings_games(&d.settings, &d.game), PB_GAME_REMAT | PB_GAME_REVERSIBLE | PB_GAME_TIERED);
    assert_true(d.game.tier_count == 1 && d.game.tiers[0].store_cost == 100);

    d.game = PB_GAME_DEFAULT(own);
    d.settings.text[PB_SET_game] = "tiered";
    d.settings.text[PB_SET_cap] = "7";
    assert_int_equal(read_all(&d), PB_OK);
    assert_true(d.game.cap == 7 && d.game.tier_count == 1 && d.game.tiers[0].load_cost == 100);
    d.game = PB_GAME_DEFAULT(own);
    d.settings.text[PB_SET_load_cost] = "3"; /* prices of its own */
    assert_int_equal(read_all(&d), PB_OK);
    assert_true(d.game.tiers[0].load_cost == 3 && d.game.tiers[0].store_cost == 0);
    pb_arena_release(&d.arena);

    open_desk(&d); /* the graph's own machine is the default */
    pb_graph with = *d.game.graph;
    assert_int_equal(pb_machine_builtin(&d.ctx, "red-blue", &d.arena, &with.machine), PB_OK);
    d.game.graph = &with;
    assert_int_equal(read_all(&d), PB_OK);
    assert_ptr_equal(d.game.graph->unpriced, &with);
    d.game = PB_GAME_DEFAULT(&with);
    d.settings.text[PB_SET_machine] = "none";
    assert_int_equal(read_all(&d), PB_OK);
    assert_ptr_equal(d.game.graph, &with);
    assert_true(d.game.cap == PB_UNLIMITED);
    pb_arena_release(&d.arena);
}

static void what_is_not_set_stays(void **state)
{
    (void)state;
    desk d;
    open_desk(&d);
    d.game.cap = 7;
    d.game.weights = (pb_weights){1, 2, 3, 0};
    d.request = (pb_request){.seed = 9, .threads = 3, .strategy = "sqrt", .policy = "oldest"};
    d.limits.ticks = 5;
    assert_int_equal(read_all(&d), PB_OK);
    assert_true(d.game.kind == PB_GAME_REMAT && d.game.cap == 7 && d.game.weights.beta == 2 && !d.game.tier_count);
    assert_true(d.request.seed == 9 && d.request.threads == 3 && !d.request.patient && d.limits.ticks == 5);
    assert_string_equal(d.request.strategy, "sqrt");
    assert_int_equal(d.weights_count, 0);
    assert_false(d.limits.timed);
    d.settings.text[PB_SET_time] = "2s";
    assert_int_equal(read_all(&d), PB_OK);
    assert_true(d.limits.timed && d.limits.seconds > 1.9 && d.request.patient && d.request.bound_effort > 0);
    pb_arena_release(&d.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_values_are_read),
        cmocka_unit_test(bad_values_are_reported_with_their_name),
        cmocka_unit_test(unknown_names_get_the_closest_one),
        cmocka_unit_test(the_tiered_game_has_a_tier),
        cmocka_unit_test(a_machine_prices_the_graph),
        cmocka_unit_test(what_is_not_set_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
