/* tests/unit/chain_fixture.h -- chains for tests of the strategies that play on them.
 *
 *     chain_bench t;
 *     chain_open(&t, 64, 0);
 *     chain_plan(&t, "knill", 7);
 *     ... t.planned.schedule ...
 *     chain_close(&t);
 */
#ifndef CHAIN_FIXTURE_H
#define CHAIN_FIXTURE_H

#include "api/pipeline/pipeline.h"
#include "base/rng.h"
#include "oracle/brute_force.h"
#include "pebble/api.h"
#include "support/cases.h"
#include "support/plan_check.h"
#include "support/small_game.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct chain_bench {
    pb_context ctx;
    pb_arena arena, plan_arena;
    pb_game game;
    pb_plan_result planned;
} chain_bench;

static inline void chain_start(chain_bench *t)
{
    pb_context_init(&t->ctx);
    pb_arena_init(&t->arena, &t->ctx);
    pb_arena_init(&t->plan_arena, &t->ctx);
    t->game = (pb_game){.kind = PB_GAME_REVERSIBLE, .weights = PB_WEIGHTS_DEFAULT};
}

/* A chain of `count` unit steps; flags are of the first node. */
static inline void chain_open(chain_bench *t, uint32_t count, uint16_t flags)
{
    pb_builder *b;
    chain_start(t);
    assert_int_equal(pb_builder_new(&t->ctx, &b), PB_OK);
    for (uint32_t i = 0; i < count; i++) {
        pb_node_spec spec = {.cost = 1, .size = 1, .flags = i ? 0 : flags};
        assert_int_equal(pb_builder_add_node(b, &spec, NULL), PB_OK);
        if (i)
            assert_int_equal(pb_builder_add_edge(b, i - 1, i), PB_OK);
    }
    assert_int_equal(pb_builder_freeze(b, &t->arena, &t->game.graph), PB_OK);
    pb_builder_free(b);
}

static inline void chain_open_small(chain_bench *t, const small_game *s)
{
    chain_start(t);
    if (!small_game_build(&t->ctx, s, &t->arena, &t->game))
        fail_msg("%s", t->ctx.error.message);
}

static inline void chain_close(chain_bench *t)
{
    pb_arena_release(&t->plan_arena);
    pb_arena_release(&t->arena);
    assert_int_equal(t->ctx.memory_used, 0);
}

/* Replaces the plan before. */
static inline void chain_plan(chain_bench *t, const char *strategy, uint64_t cap)
{
    pb_request request = {.strategy = strategy, .seed = 1, .threads = 1};
    pb_arena_release(&t->plan_arena);
    pb_arena_init(&t->plan_arena, &t->ctx);
    t->game.cap = cap;
    if (pbi_plan_as_made(&t->ctx, &t->game, &request, &t->plan_arena, &t->planned) != PB_OK)
        fail_msg("%s", t->ctx.error.message);
}

static inline void chain_expect_reason(const chain_bench *t, pb_outcome outcome, const char *piece)
{
    assert_int_equal(t->planned.schedule.outcome, outcome);
    if (!strstr(t->planned.schedule.reason, piece))
        fail_msg("no `%s` in `%s`", piece, t->planned.schedule.reason);
}

/* How a random chain differs from unit steps. */
enum { CHAIN_COSTS = 1, CHAIN_SIZES = 2, CHAIN_WORKSPACE = 4, CHAIN_GIVEN = 8, CHAIN_FIXED = 16, CHAIN_STOPS = 32 };

static inline void chain_random(uint64_t seed, unsigned kinds, small_game *s)
{
    pbi_rng rng = {seed};
    small_game_init(s);
    s->kind = PB_GAME_REVERSIBLE;
    s->seed = seed;
    uint32_t count = 1 + (uint32_t)pbi_rng_below(&rng, 9);
    uint64_t size = 1 + pbi_rng_below(&rng, 3), spread = 1 + pbi_rng_below(&rng, 12);
    for (uint32_t v = 0; v < count; v++) {
        uint64_t cost = kinds & CHAIN_COSTS ? pbi_rng_below(&rng, 1 + spread) : 1;
        small_game_add(s, cost, kinds & CHAIN_SIZES ? pbi_rng_below(&rng, 5) : size, v ? UINT32_C(1) << (v - 1) : 0);
        if ((kinds & CHAIN_WORKSPACE) && pbi_rng_below(&rng, 3) == 0)
            s->workspace[v] = pbi_rng_below(&rng, 4);
        if ((kinds & CHAIN_STOPS) && pbi_rng_below(&rng, 4) == 0)
            s->targets |= UINT32_C(1) << v;
    }
    if ((kinds & CHAIN_GIVEN) && pbi_rng_below(&rng, 2)) {
        s->flags[0] = PB_NODE_GIVEN;
        s->cost[0] = s->workspace[0] = 0;
        s->targets &= ~UINT32_C(1);
    }
    if (kinds & CHAIN_FIXED)
        s->fixed_size = pbi_rng_below(&rng, 3);
}

/* Calls `check` with the plan and the exhaustive optimum of many random chains, at every cap from 0 to all. */
typedef void (*chain_check)(const chain_bench *t, const bf_answer *best);
static inline void chain_each(const char *strategy, unsigned kinds, uint64_t cases, chain_check check)
{
    bf_space *space = bf_space_new();
    for (uint64_t seed = 1; seed <= test_cases(cases); seed++) {
        small_game s;
        chain_bench t;
        bf_problem p;
        bf_answer best;
        char why[PLAN_WHY];
        chain_random(seed, kinds, &s);
        chain_open_small(&t, &s);
        uint64_t all = t.game.graph->total_size + 3;
        for (uint64_t cap = 0; cap <= all; cap++) {
            chain_plan(&t, strategy, cap);
            assert_true(bf_from_game(&t.game, &p) && bf_least_makespan(space, &p, &best));
            if (!plan_is_honest(&t.game, &t.planned, why) || (!best.feasible && t.planned.certificate != NULL) ||
                (t.planned.certificate && t.planned.schedule.metrics.makespan < best.value) ||
                (best.feasible && t.planned.schedule.lower_bound > best.value)) {
                small_game_print(&s, stdout);
                fail_msg("seed %" PRIu64 " cap %" PRIu64 ": %s", seed, cap, why);
            }
            check(&t, &best);
        }
        chain_close(&t);
    }
    bf_space_free(space);
}

#endif
