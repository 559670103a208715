/* test_least_cap.c -- the least cap that is known to work: lower than any quick row's, the same each time, cut short by
 * stops and ticks. */
#include "pebble/api.h"
#include "pebble/generate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef struct bench {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_plan_result p;
    uint64_t polls, most_polls;
} bench;

static void bench_open(bench *b)
{
    const pb_graph *g;
    pb_option params[] = {{"nodes", "60"}};
    pb_context_init(&b->ctx);
    pb_arena_init(&b->arena, &b->ctx);
    assert_int_equal(pb_generate(&b->ctx, "layered", params, 1, &b->arena, &g), PB_OK);
    b->game = (pb_game){.graph = g, .kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    b->polls = 0;
    b->most_polls = UINT64_MAX;
    b->ctx.tick_limit = 30000; /* the search then takes a tenth of a second in all */
}

static void bench_close(bench *b)
{
    pb_arena_release(&b->arena);
    assert_int_equal(b->ctx.memory_used, 0);
}

static uint64_t least(bench *b)
{
    pb_request request = {.seed = 1};
    assert_int_equal(pb_least_cap(&b->ctx, &b->game, &request, &b->arena, &b->p), PB_OK);
    assert_non_null(b->p.certificate);
    assert_int_equal(b->p.game->weights.alpha, 1);
    return b->p.schedule.metrics.peak;
}

/* The peaks of rows that do not search, on their own. */
static uint64_t least_of_rows(bench *b)
{
    static const char *const names[] = {"order", "last-use", "sqrt", "every-k", "demand"};
    uint64_t peak = UINT64_MAX;
    pb_game game = b->game;
    game.weights = (pb_weights){1, 0, 0, 0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        pb_plan_result p;
        pb_request request = {.strategy = names[i], .seed = 1};
        assert_int_equal(pb_plan(&b->ctx, &game, &request, &b->arena, &p), PB_OK);
        if (p.certificate && p.schedule.metrics.peak < peak)
            peak = p.schedule.metrics.peak;
    }
    return peak;
}

static void searching_lowers_what_rows_reach(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    uint64_t rows = least_of_rows(&b), found = least(&b);
    assert_true(found < rows - rows / 10);
    assert_string_equal(b.p.schedule.strategy, "search");
    assert_int_equal(least(&b), found);
    bench_close(&b);
}

static void ticks_limit_every_try(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    b.ctx.tick_limit = 500;
    uint64_t few = least(&b);
    assert_int_equal(b.ctx.tick_limit, 500);
    b.ctx.tick_limit = 30000;
    assert_true(least(&b) <= few);
    assert_int_equal(b.ctx.tick_limit, 30000);
    bench_close(&b);
}

static pb_stop stop_later(void *state)
{
    bench *b = state;
    return b->polls++ < b->most_polls ? PB_GO_ON : PB_STOP_INTERRUPT;
}

/* A stop during the search keeps the best by then. */
static void a_stop_keeps_the_best(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    b.ctx.stop = stop_later;
    b.ctx.callback_state = &b;
    uint64_t all = least(&b), polls = b.polls;
    b.most_polls = polls / 2;
    b.polls = 0;
    uint64_t half = least(&b);
    assert_true(half >= all);
    assert_int_equal(b.ctx.stopped, PB_STOP_INTERRUPT);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searching_lowers_what_rows_reach),
        cmocka_unit_test(ticks_limit_every_try),
        cmocka_unit_test(a_stop_keeps_the_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
