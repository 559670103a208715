/* tests/unit/test_chain_equal.c -- chains of equal steps: the fast tables against a plain program, closed form and streams. */
#include "base/rng.h"
#include "pebble/full.h"
#include "support/cases.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct spec {
    uint32_t steps, grad_size, step_cost, cap;
    bool outputs, inplace;
    uint32_t tier_count;
    pb_tier tiers[2];
} spec;

typedef struct session {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_plan_result planned;
} session;

static void plan_spec(session *s, const spec *p, const char *strategy)
{
    char steps[16], grad[16], cost[16];
    snprintf(steps, sizeof steps, "%" PRIu32, p->steps);
    snprintf(grad, sizeof grad, "%" PRIu32, p->grad_size);
    snprintf(cost, sizeof cost, "%" PRIu32, p->step_cost);
    pb_option params[] = {{"steps", steps},
                          {"grad-size", grad},
                          {"step-cost", cost},
                          {"form", p->outputs ? "inputs-outputs" : "inputs"},
                          {"inplace", p->inplace ? "yes" : "no"}};
    const pb_graph *g;
    pb_context_init(&s->ctx);
    pb_arena_init(&s->arena, &s->ctx);
    assert_int_equal(pb_generate(&s->ctx, "adjoint-chain", params, 5, &s->arena, &g), PB_OK);
    s->game = (pb_game){.graph = g, .kind = p->tier_count ? PB_GAME_TIERED : PB_GAME_REMAT, .cap = p->cap};
    s->game.weights = PB_WEIGHTS_DEFAULT;
    s->game.tier_count = p->tier_count;
    memcpy(s->game.tiers, p->tiers, sizeof p->tiers);
    pb_request request = {.strategy = strategy, .seed = 1};
    if (pb_plan(&s->ctx, &s->game, &request, &s->arena, &s->planned) != PB_OK)
        fail_msg("%s", s->ctx.error.message);
}

static void end(session *s) { pb_arena_release(&s->arena); }

/* Makespan without the gradients; UINT64_MAX when there is no plan. */
static uint64_t extra_of(const spec *p, const char *strategy, pb_outcome *outcome)
{
    session s;
    plan_spec(&s, p, strategy);
    uint64_t extra = UINT64_MAX;
    *outcome = s.planned.schedule.outcome;
    if (s.planned.certificate)
        extra = s.planned.schedule.metrics.makespan - p->steps * s.game.graph->cost[s.game.graph->targets[0]];
    end(&s);
    return extra;
}

/* ---- the program as it stands in docs/strategies/chain.md, with no thought of speed ----
 * One tier without a cap. Where: 0 held, 1 in both memories, 2 in slow memory. Right: 0 gone, 1 slow, 2 fast, 3 both,
 * 4 gone and no gradient yet. */

enum { LONGEST = 48, MOST_HELD = 12, NEVER = 1000000000 };

typedef struct plain {
    const spec *p;
    uint32_t memo[3][5][MOST_HELD + 2][LONGEST + 1]; /* 0: not known yet */
} plain;

static bool room_for(const plain *q, int right, uint32_t held, uint32_t slots, uint32_t extra)
{
    return held + slots + (right == 4 ? 0 : q->p->grad_size) + extra <= q->p->cap;
}

static uint32_t plain_cost(plain *q, int left, int right, uint32_t held, uint32_t length);

static uint32_t plain_splits(plain *q, int left, int right, uint32_t held, uint32_t length)
{
    const spec *p = q->p;
    uint32_t best = NEVER, here = right == 2 || right == 3;
    for (uint32_t j = 1; j < length; j++) {
        uint32_t slots = left ? (p->inplace ? 1 : 2) : j == 1 || p->inplace ? 1 : 2;
        if (!room_for(q, right, held, slots + here, 0))
            continue;
        for (int store = 0; store <= (p->tier_count > 0); store++) {
            uint32_t sum = j * p->step_cost + (store ? (uint32_t)p->tiers[0].store_cost : 0);
            sum += plain_cost(q, store ? 1 : 0, right, held + !store, length - j);
            sum += plain_cost(q, left ? 2 : 0, store ? 3 : 2, held, j);
            best = sum < best ? sum : best;
        }
    }
    return best;
}

static uint32_t plain_step(const plain *q, int right, uint32_t held)
{
    const spec *p = q->p;
    uint32_t made = p->inplace && right != 4 ? 0 : p->grad_size;
    if (!room_for(q, right, held, p->outputs, made))
        return NEVER;
    if (!p->outputs || right == 2 || right == 3)
        return 0;
    return right == 1 && p->tiers[0].load_cost < p->step_cost ? (uint32_t)p->tiers[0].load_cost : p->step_cost;
}

static uint32_t plain_cost(plain *q, int left, int right, uint32_t held, uint32_t length)
{
    if (held > MOST_HELD || held > q->p->cap)
        return NEVER;
    uint32_t *known = &q->memo[left][right][held][length], best = NEVER, other;
    if (*known)
        return *known - 1;
    if (left == 2) {
        if (room_for(q, right, held, 1 + (right == 2 || right == 3), 0))
            best = (uint32_t)q->p->tiers[0].load_cost + plain_cost(q, 1, right, held, length);
    } else {
        best = left ? plain_cost(q, 0, right, held + 1, length) : length == 1 ? plain_step(q, right, held) : NEVER;
        other = plain_splits(q, left, right, held, length);
        best = other < best ? other : best;
    }
    if (right == 2 || right == 3) {
        other = plain_cost(q, left, right == 2 ? 0 : 1, held, length);
        best = other < best ? other : best;
    }
    best = best < NEVER ? best : NEVER;
    *known = best + 1;
    return best;
}

static uint64_t plain_answer(const spec *p)
{
    static plain q;
    memset(&q, 0, sizeof q);
    q.p = p;
    uint32_t best = plain_cost(&q, 0, 4, 1, p->steps);
    if (p->tier_count) {
        uint32_t stored = (uint32_t)p->tiers[0].store_cost + plain_cost(&q, 1, 4, 0, p->steps);
        best = stored < best ? stored : best;
    }
    return best < NEVER ? best : UINT64_MAX;
}

static void the_fast_tables_give_what_a_plain_program_gives(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= test_cases(400); seed++) {
        pbi_rng rng = {seed};
        spec p = {.steps = 2 + (uint32_t)pbi_rng_below(&rng, LONGEST - 2)};
        p.grad_size = (uint32_t)pbi_rng_below(&rng, 3);
        p.step_cost = 1 + (uint32_t)pbi_rng_below(&rng, 6);
        p.cap = 3 + p.grad_size + (uint32_t)pbi_rng_below(&rng, MOST_HELD - 5); /* x_0 need not be overwritten */
        p.outputs = pbi_rng_below(&rng, 2);
        p.inplace = pbi_rng_below(&rng, 3) == 0;
        p.tier_count = pbi_rng_below(&rng, 3) > 0;
        p.tiers[0] = (pb_tier){.store_cost = pbi_rng_below(&rng, 9), .load_cost = pbi_rng_below(&rng, 9)};
        p.tiers[0].cap = PB_UNLIMITED;
        pb_outcome outcome;
        uint64_t fast = extra_of(&p, "chain", &outcome), slow = plain_answer(&p);
        if (fast != slow)
            fail_msg("seed %" PRIu64 ": %" PRIu64 ", the plain program %" PRIu64, seed, fast, slow);
    }
}

/* ---- Revolve ---- */

static void revolve_needs_no_tables(void **state)
{
    static const uint64_t steps[] = {3, 4, 7, 50, 51, 500, 5000};
    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (uint32_t snapshots = 1; snapshots <= 12; snapshots += 1 + snapshots / 4) {
            if (snapshots == 1 && steps[i] > 500)
                continue; /* a plan of millions of moves */
            spec p = {.steps = (uint32_t)steps[i], .step_cost = 1, .cap = snapshots + 1, .inplace = true};
            pb_revolve_cost cost;
            pb_outcome outcome;
            pb_context ctx;
            pb_context_init(&ctx);
            assert_int_equal(pb_revolve_count(&ctx, steps[i], snapshots, &cost), PB_OK);
            uint64_t extra = extra_of(&p, "chain:limit=1", &outcome); /* a limit of tables is of no concern */
            assert_int_equal(outcome, PB_OPTIMAL);
            assert_int_equal(extra, cost.forward_steps.low - steps[i]);
        }
}

static void one_value_is_not_enough_for_two_steps(void **state)
{
    (void)state;
    pb_outcome outcome;
    spec p = {.steps = 2, .step_cost = 1, .cap = 1, .inplace = true};
    assert_int_equal(extra_of(&p, "chain", &outcome), UINT64_MAX);
    assert_int_equal(outcome, PB_INFEASIBLE);
}

/* ---- slow memory with a cap ---- */

/* States that are overwritten and gradients that read inputs only: the streams for several levels plan the same. */
static uint64_t levels_extra(const spec *p)
{
    pb_context ctx;
    pb_arena arena;
    pb_multilevel stream;
    pb_multilevel_spec m = {p->steps, p->step_cost, 0, 1 + p->tier_count, {{p->cap - 1, 0, 0}}};
    for (uint32_t i = 0; i < p->tier_count; i++)
        m.level[i + 1] = (pb_level){p->tiers[i].cap, p->tiers[i].store_cost, p->tiers[i].load_cost};
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pb_multilevel_init(&ctx, &m, &arena, &stream), PB_OK);
    uint64_t extra = stream.cost - (uint64_t)p->steps * p->step_cost;
    pb_arena_release(&arena);
    return extra;
}

static void slots_in_slow_memory_are_used_as_by_the_streams(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= test_cases(300); seed++) {
        pbi_rng rng = {seed};
        spec p = {.steps = 2 + (uint32_t)pbi_rng_below(&rng, 120), .inplace = true, .tier_count = 1};
        p.step_cost = 1 + (uint32_t)pbi_rng_below(&rng, 4);
        p.cap = 2 + (uint32_t)pbi_rng_below(&rng, 4);
        p.tiers[0] = (pb_tier){.store_cost = pbi_rng_below(&rng, 30), .load_cost = pbi_rng_below(&rng, 30)};
        p.tiers[0].cap = 1 + pbi_rng_below(&rng, 6);
        pb_outcome outcome;
        uint64_t extra = extra_of(&p, "chain", &outcome), wanted = levels_extra(&p);
        if (extra != wanted || outcome < PB_FOUND)
            fail_msg("seed %" PRIu64 ": %s %" PRIu64 ", the stream %" PRIu64, seed, pb_outcome_name(outcome), extra,
                     wanted);
    }
}

/* A stream may read a state from a slow level and keep it in a faster one; a plan keeps it where it is. */
static void two_tiers_are_planned_nearly_as_by_the_streams(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= test_cases(100); seed++) {
        pbi_rng rng = {seed};
        spec p = {.steps = 2 + (uint32_t)pbi_rng_below(&rng, 60), .step_cost = 1, .inplace = true, .tier_count = 2};
        p.cap = 2 + (uint32_t)pbi_rng_below(&rng, 3);
        for (int i = 0; i < 2; i++) {
            p.tiers[i].store_cost = pbi_rng_below(&rng, 12) + (i ? p.tiers[0].store_cost : 0);
            p.tiers[i].load_cost = pbi_rng_below(&rng, 12) + (i ? p.tiers[0].load_cost : 0);
            p.tiers[i].cap = 1 + pbi_rng_below(&rng, 4);
        }
        pb_outcome outcome;
        uint64_t extra = extra_of(&p, "chain", &outcome), wanted = levels_extra(&p);
        if (extra > wanted + wanted / 20 || outcome == PB_GAVE_UP)
            fail_msg("seed %" PRIu64 ": %s %" PRIu64 ", the stream %" PRIu64, seed, pb_outcome_name(outcome), extra,
                     wanted);
        assert_true(outcome == PB_FOUND || extra == wanted);
    }
}

static void more_room_in_slow_memory_is_never_dearer(void **state)
{
    (void)state;
    pb_outcome outcome;
    spec p = {.steps = 80, .grad_size = 1, .step_cost = 3, .cap = 6, .outputs = true, .tier_count = 1};
    p.tiers[0] = (pb_tier){.store_cost = 4, .load_cost = 2, .cap = PB_UNLIMITED};
    uint64_t open = extra_of(&p, "chain", &outcome), last = UINT64_MAX;
    assert_int_equal(outcome, PB_OPTIMAL);
    for (uint64_t slots = 1; slots <= 12; slots++) {
        p.tiers[0].cap = slots;
        uint64_t now = extra_of(&p, "chain", &outcome);
        assert_int_equal(outcome, now == open ? PB_OPTIMAL : PB_FOUND);
        assert_true(now <= last && now >= open);
        last = now;
    }
    p.tiers[0].cap = 80;
    assert_int_equal(extra_of(&p, "chain", &outcome), open);
}

/* Tables that would be too large are made for fewer slots than there are: a plan, but no claim. */
static void too_many_slots_are_not_all_used(void **state)
{
    (void)state;
    pb_outcome outcome;
    spec p = {.steps = 200, .step_cost = 1, .cap = 4, .outputs = true, .tier_count = 1};
    p.tiers[0] = (pb_tier){.store_cost = 2, .load_cost = 2, .cap = 30};
    uint64_t all = extra_of(&p, "chain", &outcome);
    assert_int_equal(outcome, PB_FOUND);
    uint64_t some = extra_of(&p, "chain:limit=100000", &outcome);
    assert_int_equal(outcome, PB_FOUND);
    assert_true(some > all && some != UINT64_MAX);
}

static void the_limit_counts_the_work_that_is_done(void **state)
{
    (void)state;
    pb_outcome outcome;
    spec p = {.steps = 20000, .step_cost = 1, .cap = 12, .outputs = true};
    assert_int_equal(extra_of(&p, "chain:limit=100000", &outcome), UINT64_MAX);
    assert_int_equal(outcome, PB_GAVE_UP);
    extra_of(&p, "chain:limit=5000000", &outcome); /* two rows of 20,000 for each value, not 20,000 of them */
    assert_int_equal(outcome, PB_OPTIMAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fast_tables_give_what_a_plain_program_gives),
        cmocka_unit_test(revolve_needs_no_tables),
        cmocka_unit_test(one_value_is_not_enough_for_two_steps),
        cmocka_unit_test(slots_in_slow_memory_are_used_as_by_the_streams),
        cmocka_unit_test(two_tiers_are_planned_nearly_as_by_the_streams),
        cmocka_unit_test(more_room_in_slow_memory_is_never_dearer),
        cmocka_unit_test(too_many_slots_are_not_all_used),
        cmocka_unit_test(the_limit_counts_the_work_that_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
