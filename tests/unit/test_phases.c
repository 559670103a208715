/* test_phases.c -- where the time of a plan goes. */
#include "unit/report_fixture.h"

#include "pebble/api.h"
#include "pebble/generate.h"
#include "pebble/settings.h"

static void plan(bench *b, pb_phases *phases, const char *const settings[][2], const pb_option *params, uint32_t count)
{
    const pb_graph *g;
    pb_settings s = {.wrong = PB_SETTING_COUNT};
    pb_request request = PB_REQUEST_DEFAULT;
    pb_plan_result planned;
    pb_setting which;
    pb_context_init(&b->ctx);
    pb_arena_init(&b->arena, &b->ctx);
    for (; (*settings)[0]; settings++) {
        assert_int_equal(pb_setting_find(&b->ctx, (*settings)[0], &which), PB_OK);
        s.text[which] = (*settings)[1];
    }
    assert_int_equal(pb_generate(&b->ctx, "adjoint-chain", params, count, &b->arena, &g), PB_OK);
    b->game = PB_GAME_DEFAULT(g);
    assert_int_equal(pb_settings_game(&b->ctx, &s, &b->arena, &b->game), PB_OK);
    assert_int_equal(pb_settings_request(&b->ctx, &s, &request), PB_OK);
    assert_int_equal(pb_plan(&b->ctx, &b->game, &request, &b->arena, &planned), PB_OK);
    assert_non_null(planned.certificate);
    assert_int_equal(pb_phases_make(&b->ctx, planned.certificate, phases), PB_OK);
    uint64_t sum = 0;
    for (int i = 0; i < PB_PHASE_COUNT; i++)
        sum += phases->time[i];
    assert_int_equal(sum, phases->total);
    assert_int_equal(sum, planned.schedule.metrics.makespan);
    assert_true(phases->backward);
}

/* 100 steps in 11 slots, a transfer costs as much as 100 steps: slow memory does not pay. */
static void the_puzzle_is_solved_without_slow_memory(void **state)
{
    (void)state;
    static const char *const settings[][2] = {{"machine", "red-blue"}, {"game", "tiered"}, {NULL, NULL}};
    const pb_option none[] = {{"steps", "100"}, {"grad-size", "0"}}, one[] = {{"steps", "100"}, {"grad-size", "1"}};
    bench b;
    pb_phases p;
    plan(&b, &p, settings, none, 2);
    assert_int_equal(p.total, 335);
    assert_int_equal(p.time[PB_PHASE_FORWARD], 100);
    assert_int_equal(p.time[PB_PHASE_GRADIENTS], 100);
    assert_int_equal(p.time[PB_PHASE_RECOMPUTE], 135);
    assert_int_equal(p.moves[PB_PHASE_STORES] + p.moves[PB_PHASE_LOADS], 0);
    pb_arena_release(&b.arena);
    plan(&b, &p, settings, one, 2);
    assert_int_equal(p.total, 354);
    assert_int_equal(p.time[PB_PHASE_RECOMPUTE], 154);
    pb_arena_release(&b.arena);
}

static void transfers_have_phases_of_their_own(void **state)
{
    (void)state;
    static const char *const settings[][2] = {
        {"store_cost", "1"}, {"load_cost", "2"}, {"cap", "4"}, {"strategy", "chain"}, {NULL, NULL}};
    const pb_option params[] = {{"steps", "30"}, {"grad-size", "0"}};
    bench b;
    pb_phases p;
    plan(&b, &p, settings, params, 2);
    assert_true(p.moves[PB_PHASE_STORES] > 0 && p.moves[PB_PHASE_LOADS] > 0);
    assert_int_equal(p.time[PB_PHASE_STORES], p.moves[PB_PHASE_STORES]);
    assert_int_equal(p.time[PB_PHASE_LOADS], 2 * p.moves[PB_PHASE_LOADS]);
    assert_int_equal(p.moves[PB_PHASE_UNCOMPUTE], 0);
    pb_arena_release(&b.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_puzzle_is_solved_without_slow_memory),
        cmocka_unit_test(transfers_have_phases_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
