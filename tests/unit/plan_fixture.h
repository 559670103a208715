/* tests/unit/plan_fixture.h -- a small game and a plan of it, for tests of the methods that planners share.
 *
 *     bench b;
 *     bench_open(&b, &small);
 *     ... pbi_sequence_emit(&b.ctx, &b.game, &s, &b.plan, NULL) ...
 *     bench_moves(&b, "c0 c1 f0 c2");
 *     bench_close(&b);
 */
#ifndef PLAN_FIXTURE_H
#define PLAN_FIXTURE_H

#include "pebble/verify.h"
#include "plan/strategy.h"
#include "support/move_text.h"
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

typedef struct bench {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pbi_plan plan;
} bench;

static inline void bench_open(bench *b, const small_game *s)
{
    pb_context_init(&b->ctx);
    pb_arena_init(&b->arena, &b->ctx);
    assert_true(small_game_build(&b->ctx, s, &b->arena, &b->game));
    pbi_plan_reset(&b->plan, &b->arena);
}

static inline void bench_close(bench *b)
{
    pb_arena_release(&b->arena);
    assert_int_equal(b->ctx.memory_used, 0);
}

/* The plan must be legal; its totals. */
static inline pb_totals bench_totals(bench *b)
{
    pb_verdict verdict;
    assert_int_equal(pb_verify(&b->ctx, &b->game, &b->plan.moves, &b->arena, &verdict), PB_OK);
    if (!verdict.certificate) {
        char text[300], moves[1000];
        pb_verdict_text(&b->game, &b->plan.moves, &verdict, text, sizeof text);
        moves_to_text(&b->plan.moves, moves, sizeof moves);
        fail_msg("%s in %s", text, moves);
    }
    return *pb_certificate_totals(verdict.certificate);
}

/* The plan was found, is legal, and has exactly these moves. */
static inline void bench_moves(bench *b, const char *expected)
{
    char text[2000];
    if (b->plan.outcome != PB_FOUND)
        fail_msg("%s: %s", pb_outcome_name(b->plan.outcome), b->plan.reason ? b->plan.reason : "no reason");
    moves_to_text(&b->plan.moves, text, sizeof text);
    assert_string_equal(text, expected);
    bench_totals(b);
}

static inline void bench_gave_up(const bench *b, const char *reason)
{
    assert_int_equal(b->plan.outcome, PB_GAVE_UP);
    assert_non_null(b->plan.reason);
    assert_string_equal(b->plan.reason, reason);
}

static inline uint32_t bit(unsigned v) { return UINT32_C(1) << v; }

/* A path of `length` nodes of cost and size 1. */
static inline void small_chain(small_game *s, uint32_t length)
{
    small_game_init(s);
    for (uint32_t v = 0; v < length; v++)
        small_game_add(s, 1, 1, v ? bit(v - 1) : 0);
}

/* x_0 given, x_1 .. x_steps, then gradients: that of step i reads x_i, x_{i+1} and the gradient before it. */
static inline void small_adjoint(small_game *s, uint32_t steps)
{
    small_chain(s, steps + 1);
    s->flags[0] = PB_NODE_GIVEN;
    for (uint32_t i = steps; i-- > 0;)
        small_game_add(s, 1, 1, bit(i) | bit(i + 1) | (i + 1 < steps ? bit(s->node_count - 1) : 0));
}

#endif
