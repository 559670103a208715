/* test_online.c -- schedules for an unknown number of steps: legal whenever they end, and the published guarantee. */
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

enum { SLOTS = 12 };

typedef struct outcome {
    uint64_t forward_steps, writes;
    uint64_t best; /* forward steps of the best schedule that does not tape the last step at once */
} outcome;

static void must_do(adjoint_sim *sim, const pb_action *action)
{
    if (!sim_do(sim, action))
        fail_msg("%" PRIu64 " steps, %" PRIu32 " slots: %s", sim->steps, sim->room[0], sim->complaint);
}

/* Carries a run of so many steps out. The largest number of runs of a step must be the least possible: that of the best
 * offline schedule with one more step, which is taped at once. */
static outcome run(uint64_t steps, uint32_t snapshots)
{
    pb_context ctx;
    pb_arena arena;
    pb_online stream;
    pb_revolve_cost cost;
    adjoint_sim sim;
    pb_action a;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pb_online_init(&ctx, snapshots, &arena, &stream), PB_OK);
    sim_init(&sim, steps, &snapshots, 1, true);
    sim.may_overwrite = true;
    for (uint64_t i = 0; i < steps; i++) {
        assert_false(pb_online_next(&stream, &a));
        assert_true(pb_online_step(&stream, &a));
        must_do(&sim, &a);
    }
    pb_online_end(&stream);
    assert_false(pb_online_step(&stream, &a));
    sim.may_overwrite = false;
    while (pb_online_next(&stream, &a))
        must_do(&sim, &a);
    if (!sim_done(&sim))
        fail_msg("%" PRIu64 " steps, %" PRIu32 " slots: %s", steps, snapshots, sim.complaint);
    assert_int_equal(pb_revolve_count(&ctx, steps + 1, snapshots, &cost), PB_OK);
    if (sim_most_runs(&sim) != cost.repetitions)
        fail_msg("%" PRIu64 " steps, %" PRIu32 " slots: a step is run %" PRIu32 " times, not %" PRIu64, steps,
                 snapshots, sim_most_runs(&sim), cost.repetitions);
    outcome out = {sim.forward_steps, sim.writes[0], cost.forward_steps.low - 1};
    assert_true(out.forward_steps >= out.best);
    assert_true(3 * out.forward_steps <= 4 * out.best);
    sim_release(&sim);
    pb_arena_release(&arena);
    return out;
}

static void every_run_keeps_the_guarantee(void **state)
{
    (void)state;
    static const uint64_t most[][2] = {{1, 250},  {2, 500},   {3, 1000},  {4, 1500},  {5, 2000},
                                       {7, 2000}, {10, 3000}, {20, 3000}, {60, 3000}, {200, 3000}};
    uint64_t cases = test_cases(100), stride = cases < 100 ? 100 / cases : 1;
    for (size_t i = 0; i < sizeof most / sizeof *most; i++)
        for (uint64_t n = 0; n <= most[i][1]; n += n < 100 ? 1 : stride)
            run(n, (uint32_t)most[i][0]);
}

static void larger_runs_keep_the_guarantee(void **state)
{
    (void)state;
    static const uint32_t slots[] = {1, 2, 3, 7, 20, 100, 1000};
    pbi_rng rng = {5};
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        for (uint64_t k = test_cases(4); k > 0; k--)
            run(1 + pbi_rng_below(&rng, slots[i] < 3 ? 2000 : 200000), slots[i]);
}

/* The published rule, word by word: before a step a checkpoint is set up for the state behind it, at level 0; s + 1 there
 * may be, with that one. If they are too many, the latest one before a higher level goes; if there is none, the one at
 * hand, and the new one is a level above it. What is then left of the one at hand is stored. */
typedef struct published {
    uint64_t step[SLOTS + 2], level[SLOTS + 2];
    size_t count;
} published;

static void go_on(published *p, size_t slots)
{
    uint64_t at = p->step[p->count - 1], level = 0, highest = 0;
    if (p->count > slots) {
        size_t gone = p->count;
        while (gone > 0 && highest <= p->level[gone - 1])
            highest = p->level[--gone];
        if (gone == 0) {
            gone = p->count;
            level = p->level[gone - 1] + 1;
        }
        p->count--;
        memmove(p->step + gone - 1, p->step + gone, (p->count - gone + 1) * sizeof *p->step);
        memmove(p->level + gone - 1, p->level + gone, (p->count - gone + 1) * sizeof *p->level);
    }
    p->step[p->count] = at + 1;
    p->level[p->count++] = level;
}

static void snapshots_are_those_of_the_published_rule(void **state)
{
    (void)state;
    for (uint32_t slots = 1; slots <= SLOTS; slots++) {
        pb_context ctx;
        pb_arena arena;
        pb_online stream;
        pb_action a;
        published p = {.level = {UINT64_MAX - 1}, .count = 1};
        uint64_t held[SLOTS];
        memset(held, 0xff, sizeof held);
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        assert_int_equal(pb_online_init(&ctx, slots, &arena, &stream), PB_OK);
        for (uint64_t n = 0; n < 3000; n++) {
            assert_true(pb_online_step(&stream, &a));
            if (a.flags & PB_WRITE_RESTART)
                held[a.slot] = a.n0;
            go_on(&p, slots);
            for (size_t i = 0; i + 1 < p.count; i++) {
                size_t k = 0;
                while (k < slots && held[k] != p.step[i])
                    k++;
                assert_true(k < slots);
            }
        }
        pb_arena_release(&arena);
    }
}

static void runs_that_fit_keep_every_state(void **state)
{
    (void)state;
    for (uint64_t n = 0; n <= 20; n++) {
        outcome out = run(n, 20);
        assert_int_equal(out.forward_steps, 2 * n);
        assert_int_equal(out.writes, n);
    }
}

static void batches_of_any_length_give_the_same_actions(void **state)
{
    (void)state;
    for (size_t room = 1; room < 150; room += 7) {
        pb_context ctx;
        pb_arena arena;
        pb_online one, many;
        pb_action a, b, batch[150];
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        assert_int_equal(pb_online_init(&ctx, 6, &arena, &one), PB_OK);
        assert_int_equal(pb_online_init(&ctx, 6, &arena, &many), PB_OK);
        for (int i = 0; i < 777; i++) {
            assert_true(pb_online_step(&one, &a));
            assert_true(pb_online_step(&many, &b));
            assert_int_equal(a.slot, b.slot);
        }
        assert_int_equal(pb_online_next_many(&many, batch, room), 0);
        pb_online_end(&one);
        pb_online_end(&many);
        for (size_t got; (got = pb_online_next_many(&many, batch, room)) > 0;)
            for (size_t i = 0; i < got; i++) {
                assert_true(pb_online_next(&one, &a));
                assert_int_equal(a.n0, batch[i].n0);
                assert_int_equal(a.n1, batch[i].n1);
                assert_int_equal(a.slot, batch[i].slot);
                assert_int_equal(a.kind, batch[i].kind);
            }
        assert_false(pb_online_next(&one, &a));
        pb_arena_release(&arena);
    }
}

static void ending_twice_is_ending_once(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_online stream;
    pb_action a;
    int count = 0;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pb_online_init(&ctx, 1, &arena, &stream), PB_OK);
    assert_true(pb_online_step(&stream, &a));
    pb_online_end(&stream);
    assert_true(pb_online_next(&stream, &a));
    assert_int_equal(a.kind, PB_ACTION_END_FORWARD);
    pb_online_end(&stream);
    while (pb_online_next(&stream, &a))
        count++;
    assert_int_equal(count, 4); /* Move, taped Forward, Reverse, EndReverse */
    pb_arena_release(&arena);
}

static void no_snapshot_and_no_memory_are_refused(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_online stream;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pb_online_init(&ctx, 0, &arena, &stream), PB_EINVAL);
    assert_non_null(strstr(ctx.error.message, "needs at least one snapshot"));
    ctx.memory_limit = 1000;
    assert_int_equal(pb_online_init(&ctx, 1000, &arena, &stream), PB_ENOMEM);
    pb_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_run_keeps_the_guarantee),
        cmocka_unit_test(larger_runs_keep_the_guarantee),
        cmocka_unit_test(snapshots_are_those_of_the_published_rule),
        cmocka_unit_test(runs_that_fit_keep_every_state),
        cmocka_unit_test(batches_of_any_length_give_the_same_actions),
        cmocka_unit_test(ending_twice_is_ending_once),
        cmocka_unit_test(no_snapshot_and_no_memory_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
