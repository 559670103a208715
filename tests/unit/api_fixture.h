/* tests/unit/api_fixture.h -- a small game and what the pipeline answers about it. */
#ifndef API_FIXTURE_H
#define API_FIXTURE_H

#include "pebble/api.h"
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
    pb_plan_result p;
    uint64_t polls, stop_at; /* 0: never */
    pb_stop stop_with;
    uint64_t now;
} bench;

static inline void bench_open(bench *b, const small_game *s)
{
    memset(b, 0, sizeof *b);
    pb_context_init(&b->ctx);
    pb_arena_init(&b->arena, &b->ctx);
    assert_true(small_game_build(&b->ctx, s, &b->arena, &b->game));
}

static inline void bench_close(bench *b)
{
    pb_arena_release(&b->arena);
    assert_int_equal(b->ctx.memory_used, 0);
}

static inline pb_status bench_ask(bench *b, const char *strategy, const char *policy)
{
    pb_request request = {.strategy = strategy, .policy = policy, .seed = 1};
    return pb_plan(&b->ctx, &b->game, &request, &b->arena, &b->p);
}

/* Asks, and must be answered. */
static inline const pb_schedule *bench_plan(bench *b, const char *strategy)
{
    pb_status status = bench_ask(b, strategy, NULL);
    if (status != PB_OK)
        fail_msg("%s: %s", strategy ? strategy : "auto", b->ctx.error.message);
    return &b->p.schedule;
}

static inline pb_stop bench_stop(void *state)
{
    bench *b = state;
    return ++b->polls == b->stop_at ? b->stop_with : PB_GO_ON;
}

/* The n-th poll asks to stop. */
static inline void bench_stop_at(bench *b, uint64_t n, pb_stop with)
{
    b->ctx.stop = bench_stop;
    b->ctx.callback_state = b;
    b->polls = 0;
    b->stop_at = n;
    b->stop_with = with;
}

static inline uint32_t bit(unsigned v) { return UINT32_C(1) << v; }

static inline void small_chain(small_game *s, uint32_t length)
{
    small_game_init(s);
    for (uint32_t v = 0; v < length; v++)
        small_game_add(s, 1, 1, v ? bit(v - 1) : 0);
}

/* x_0 given, x_1 .. x_steps, then the gradients that read them backwards. */
static inline void small_adjoint(small_game *s, uint32_t steps)
{
    small_chain(s, steps + 1);
    s->flags[0] = PB_NODE_GIVEN;
    for (uint32_t i = steps; i-- > 0;)
        small_game_add(s, 1, 1, bit(i) | bit(i + 1) | (i + 1 < steps ? bit(s->node_count - 1) : 0));
}

/* a -> b, a -> c, b -> c: costs 1, 1, 3, sizes 1, 1, 2. */
static inline void small_tiny(small_game *s)
{
    small_game_init(s);
    small_game_add(s, 1, 1, 0);
    small_game_add(s, 1, 1, 1);
    small_game_add(s, 3, 2, 3);
}

#endif
