/* test_revolve.c -- streams of binomial checkpointing: carried out step by step, against the closed forms. */
#include "base/rng.h"
#include "pebble/adjoint.h"
#include "support/adjoint_sim.h"
#include "support/cases.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    pb_context ctx;
    pb_arena arena;
    pb_revolve stream;
} fixture;

static void start(fixture *f, uint64_t steps, uint64_t snapshots)
{
    pb_context_init(&f->ctx);
    pb_arena_init(&f->arena, &f->ctx);
    assert_int_equal(pb_revolve_init(&f->ctx, steps, snapshots, &f->arena, &f->stream), PB_OK);
}

static void must_do(adjoint_sim *sim, const pb_action *action)
{
    if (!sim_do(sim, action))
        fail_msg("%" PRIu64 " steps, %" PRIu32 " slots: %s", sim->steps, sim->room[0], sim->complaint);
}

/* Carries the stream out; it must be legal and cost what the closed forms say. */
static void check(uint64_t steps, uint32_t snapshots)
{
    fixture f;
    adjoint_sim sim;
    pb_revolve_cost cost;
    pb_action a;
    start(&f, steps, snapshots);
    sim_init(&sim, steps, &snapshots, 1, steps <= 100000);
    while (pb_revolve_next(&f.stream, &a))
        must_do(&sim, &a);
    if (!sim_done(&sim))
        fail_msg("%" PRIu64 " steps, %" PRIu32 " slots: %s", steps, snapshots, sim.complaint);
    assert_int_equal(pb_revolve_count(&f.ctx, steps, snapshots, &cost), PB_OK);
    assert_int_equal(sim.forward_steps, cost.forward_steps.low);
    assert_int_equal(sim.writes[0], cost.writes);
    assert_int_equal(sim.reads[0], cost.reads);
    assert_int_equal(sim.actions, cost.actions);
    if (sim.runs)
        assert_int_equal(sim_most_runs(&sim), cost.repetitions);
    assert_false(pb_revolve_next(&f.stream, &a));
    sim_release(&sim);
    pb_arena_release(&f.arena);
}

static void every_small_stream_is_legal_and_optimal(void **state)
{
    (void)state;
    for (uint32_t s = 1; s <= 12; s++)
        for (uint64_t n = 1; n <= 300; n++)
            check(n, s);
}

static void large_streams_are_legal_and_optimal(void **state)
{
    (void)state;
    check(3000, 1);
    check(200000, 2);
    check(1000000, 3);
    check(3000000, 20);
    check(2000000, 100);
    check(300000, 5000);
    check(300000, 299999);
}

static void random_streams_are_legal_and_optimal(void **state)
{
    (void)state;
    pbi_rng rng = {7};
    for (uint64_t i = test_cases(300); i > 0; i--) {
        uint64_t n = 1 + pbi_rng_below(&rng, UINT64_C(1) << (1 + pbi_rng_below(&rng, 16)));
        check(n, 1 + (uint32_t)pbi_rng_below(&rng, UINT64_C(1) << (1 + pbi_rng_below(&rng, 9))));
    }
}

static void no_steps_and_one_step_have_their_ends(void **state)
{
    (void)state;
    fixture f;
    pb_action a[8];
    check(0, 0);
    check(0, 3);
    check(1, 0);
    check(1, 1);
    start(&f, 0, 0);
    assert_int_equal(pb_revolve_next_many(&f.stream, a, 8), 2);
    assert_int_equal(a[0].kind, PB_ACTION_END_FORWARD);
    assert_int_equal(a[1].kind, PB_ACTION_END_REVERSE);
    pb_arena_release(&f.arena);
}

static void two_steps_read_as_people_expect(void **state)
{
    (void)state;
    static const char *const expected[] = {"Forward(0, 1, true, false, RAM)",
                                           "Forward(1, 2, false, true, WORK)",
                                           "EndForward()",
                                           "Reverse(2, 1)",
                                           "Move(0, RAM, WORK)",
                                           "Forward(0, 1, false, true, WORK)",
                                           "Reverse(1, 0)",
                                           "EndReverse()"};
    fixture f;
    pb_action a;
    start(&f, 2, 1);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char text[PB_ACTION_TEXT];
        assert_true(pb_revolve_next(&f.stream, &a));
        pb_action_text(&a, text);
        assert_string_equal(text, expected[i]);
    }
    assert_false(pb_revolve_next(&f.stream, &a));
    pb_arena_release(&f.arena);
}

static bool same(const pb_action *a, const pb_action *b)
{
    return a->n0 == b->n0 && a->n1 == b->n1 && a->slot == b->slot && a->kind == b->kind && a->flags == b->flags &&
           a->from == b->from && a->to == b->to;
}

/* Two streams taken in turn, one action at a time and in batches of every length: neither disturbs the other. */
static void batches_of_any_length_give_the_same_actions(void **state)
{
    (void)state;
    static const uint64_t instances[][2] = {{2000, 1},  {2000, 2},   {5000, 3}, {5000, 7},
                                            {5000, 20}, {5000, 900}, {9, 9}};
    for (size_t i = 0; i < sizeof instances / sizeof *instances; i++)
        for (size_t room = 1; room <= 200; room += room < 20 ? 1 : 33) {
            fixture one, many;
            pb_action a = {0}, batch[200];
            size_t got;
            start(&one, instances[i][0], instances[i][1]);
            start(&many, instances[i][0], instances[i][1]);
            uint64_t count = 0;
            while ((got = pb_revolve_next_many(&many.stream, batch, room)) > 0)
                for (size_t k = 0; k < got; k++, count++) {
                    assert_true(pb_revolve_next(&one.stream, &a));
                    assert_true(same(&a, &batch[k]));
                }
            assert_false(pb_revolve_next(&one.stream, &a));
            assert_int_equal(count, 4 * instances[i][0]);
            pb_arena_release(&one.arena);
            pb_arena_release(&many.arena);
        }
}

/* What is left of the queue by single actions goes out first in the next batch. */
static void single_actions_and_batches_may_alternate(void **state)
{
    (void)state;
    for (size_t room = 0; room <= 200; room += room < 20 ? 1 : 45) {
        fixture plain, mixed;
        pb_action a = {0}, b = {0}, batch[200];
        start(&plain, 5000, 7);
        start(&mixed, 5000, 7);
        while (pb_revolve_next(&mixed.stream, &b)) {
            assert_true(pb_revolve_next(&plain.stream, &a) && same(&a, &b));
            size_t got = pb_revolve_next_many(&mixed.stream, batch, room);
            for (size_t k = 0; k < got; k++)
                assert_true(pb_revolve_next(&plain.stream, &a) && same(&a, &batch[k]));
        }
        assert_false(pb_revolve_next(&plain.stream, &a));
        assert_int_equal(pb_revolve_next_many(&mixed.stream, batch, room), 0);
        pb_arena_release(&plain.arena);
        pb_arena_release(&mixed.arena);
    }
}

static void a_batch_is_short_only_at_the_end(void **state)
{
    (void)state;
    fixture f;
    pb_action batch[100];
    start(&f, 1000, 10);
    for (int i = 0; i < 40; i++)
        assert_int_equal(pb_revolve_next_many(&f.stream, batch, 100), 100);
    assert_int_equal(pb_revolve_next_many(&f.stream, batch, 100), 0);
    assert_int_equal(pb_revolve_next_many(&f.stream, batch, 0), 0);
    pb_arena_release(&f.arena);
}

/* The beginning of streams that nobody will wait for: the first sweep places at most `s` snapshots and is legal. */
static void a_quadrillion_steps_begin_well(void **state)
{
    (void)state;
    for (uint32_t s = 1; s <= 5000; s = s * 2 + 1) {
        fixture f;
        adjoint_sim sim;
        pb_action a;
        start(&f, PB_REVOLVE_MAX_STEPS - s, s);
        sim_init(&sim, PB_REVOLVE_MAX_STEPS - s, &s, 1, false);
        for (int i = 0; i < 300000; i++) {
            assert_true(pb_revolve_next(&f.stream, &a));
            must_do(&sim, &a);
        }
        assert_true(sim.forward_ended);
        sim_release(&sim);
        pb_arena_release(&f.arena);
    }
}

static void what_cannot_be_done_is_refused(void **state)
{
    (void)state;
    fixture f;
    pb_context_init(&f.ctx);
    pb_arena_init(&f.arena, &f.ctx);
    assert_int_equal(pb_revolve_init(&f.ctx, 2, 0, &f.arena, &f.stream), PB_EINVAL);
    assert_int_equal(pb_revolve_init(&f.ctx, UINT64_MAX, 9, &f.arena, &f.stream), PB_ERANGE);
    assert_int_equal(pb_revolve_init(&f.ctx, UINT64_C(1) << 40, UINT64_C(1) << 39, &f.arena, &f.stream), PB_ERANGE);
    assert_non_null(strstr(f.ctx.error.message, "fewer than 2^32"));
    f.ctx.memory_limit = 1000;
    assert_int_equal(pb_revolve_init(&f.ctx, 1000000, 1000, &f.arena, &f.stream), PB_ENOMEM);
    pb_arena_release(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_stream_is_legal_and_optimal),
        cmocka_unit_test(large_streams_are_legal_and_optimal),
        cmocka_unit_test(random_streams_are_legal_and_optimal),
        cmocka_unit_test(no_steps_and_one_step_have_their_ends),
        cmocka_unit_test(two_steps_read_as_people_expect),
        cmocka_unit_test(batches_of_any_length_give_the_same_actions),
        cmocka_unit_test(single_actions_and_batches_may_alternate),
        cmocka_unit_test(a_batch_is_short_only_at_the_end),
        cmocka_unit_test(a_quadrillion_steps_begin_well),
        cmocka_unit_test(what_cannot_be_done_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
