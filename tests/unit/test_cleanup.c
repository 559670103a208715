/* test_cleanup.c -- plans that take more than one look to clean, and stops: a stop ends the clean-up of a large plan soon, with a
 * legal plan. Polls and moves are counted, not time. */
#include "api/pipeline/clean_plan.h"
#include "api/pipeline/pipeline.h"
#include "pebble/api.h"
#include "pebble/generate.h"
#include "support/outside.h"
#include "support/small_game.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum {
    NODES = 100000,
    LOOKS = 1024,         /* between two polls */
    OVERTIME = 1 << 16,   /* looks after a stop */
    WASTE = 2 * NODES - 2 /* moves that a clean-up drops from the plan below */
};

typedef struct desk {
    outside o;
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_moves moves;
} desk;

/* A chain of which every value is computed, freed and recomputed: each of these could have stayed. */
static void open_desk(desk *d, pb_node nodes)
{
    char text[16];
    const pb_graph *g;
    pb_option nodes_option = {"nodes", text};
    snprintf(text, sizeof text, "%u", nodes);
    d->o = (outside){.stop_at = 0};
    outside_context(&d->ctx, &d->o);
    pb_arena_init(&d->arena, &d->ctx);
    assert_int_equal(pb_generate(&d->ctx, "chain", &nodes_option, 1, &d->arena, &g), PB_OK);
    d->game = (pb_game){.graph = g, .kind = PB_GAME_REMAT, .cap = 3, .weights = PB_WEIGHTS_DEFAULT};
    pb_moves_init(&d->moves, &d->arena);
    pb_moves_add(&d->moves, PB_COMPUTE, 0, 0);
    for (pb_node v = 1; v < nodes; v++) {
        pb_moves_add(&d->moves, PB_COMPUTE, v, 0);
        pb_moves_add(&d->moves, PB_FREE, v, 0);
        pb_moves_add(&d->moves, PB_COMPUTE, v, 0);
        pb_moves_add(&d->moves, PB_FREE, v - 1, 0);
    }
}

/* How many moves go where the context stops at a poll; 0: never. */
static uint64_t dropped(pb_node nodes, uint64_t stop_at, uint64_t *polls)
{
    desk d;
    pbi_certified c;
    open_desk(&d, nodes);
    uint64_t before = d.moves.count, from = d.o.polls;
    d.o.stop_at = stop_at ? from + stop_at : 0;
    assert_int_equal(pbi_certify(&d.ctx, &d.game, false, &d.moves, &d.arena, &c), PB_OK);
    assert_non_null(c.verdict.certificate);
    assert_ptr_equal(pb_certificate_moves(c.verdict.certificate)->move, d.moves.move);
    assert_int_equal(c.metrics.moves, d.moves.count);
    uint64_t gone = before - d.moves.count;
    *polls = d.o.polls - from;
    pb_arena_release(&d.arena);
    return gone;
}

/* ---- small plans by hand ---- */

typedef struct step {
    pb_op op;
    pb_node node;
    pb_node over; /* PB_NO_NODE: nothing */
} step;

/* The metrics of a plan once it is cleaned. */
static pb_metrics cleaned(const small_game *s, const step *steps, size_t count, bool least_memory)
{
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_moves moves;
    pbi_certified c;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_true(small_game_build(&ctx, s, &arena, &game));
    pb_moves_init(&moves, &arena);
    for (size_t i = 0; i < count; i++)
        if (steps[i].op == PB_COMPUTE)
            pb_moves_add_compute(&moves, steps[i].node, steps[i].over, NULL, 0);
        else
            pb_moves_add(&moves, steps[i].op, steps[i].node, 0);
    assert_int_equal(pbi_certify(&ctx, &game, least_memory, &moves, &arena, &c), PB_OK);
    assert_non_null(c.verdict.certificate);
    pb_arena_release(&arena);
    return c.metrics;
}

#define NO PB_NO_NODE

/* x is worth most and does not fit next to u; u goes as soon as y is not recomputed from it. */
static void room_that_a_drop_makes_is_used(void **state)
{
    (void)state;
    enum { X, U, Y, S, W, T };
    static const step plan[] = {{PB_COMPUTE, X, NO}, {PB_COMPUTE, U, NO}, {PB_COMPUTE, Y, NO}, {PB_COMPUTE, S, NO},
                                {PB_FREE, S, NO},    {PB_FREE, X, NO},    {PB_FREE, Y, NO},    {PB_COMPUTE, W, NO},
                                {PB_FREE, W, NO},    {PB_COMPUTE, X, NO}, {PB_COMPUTE, Y, NO}, {PB_FREE, U, NO},
                                {PB_COMPUTE, T, NO}};
    small_game s;
    small_game_init(&s);
    small_game_add(&s, 10, 2, 0);
    small_game_add(&s, 1, 2, 0);
    small_game_add(&s, 1, 1, 1 << U);
    small_game_add(&s, 1, 1, 1 << X | 1 << Y);
    small_game_add(&s, 1, 3, 0);
    small_game_add(&s, 1, 1, 1 << X | 1 << Y);
    s.cap = 6;
    pb_metrics m = cleaned(&s, plan, sizeof plan / sizeof *plan, false);
    assert_int_equal(m.recompute_count, 0);
    assert_int_equal(m.work, 15);
}

/* v takes the place of a, which is recomputed for that; v is not needed, and goes once a stays. */
static void what_overwrote_goes_with_its_reason(void **state)
{
    (void)state;
    enum { A, V, T };
    static const step plan[] = {{PB_COMPUTE, A, NO},   {PB_COMPUTE, V, A},  {PB_COMPUTE, A, NO},
                                {PB_UNCOMPUTE, V, NO}, {PB_COMPUTE, T, NO}, {PB_UNCOMPUTE, A, NO}};
    small_game s;
    small_game_init(&s);
    s.kind = PB_GAME_REVERSIBLE;
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 1, 1, 1 << A);
    small_game_add(&s, 1, 1, 1 << A);
    s.inplace[V] = 1 << A;
    s.targets = 1 << T;
    s.cap = 10;
    assert_int_equal(cleaned(&s, plan, sizeof plan / sizeof *plan, false).work, 3);
}

/* Keeping a saves work and takes memory, which may be what was asked for. */
static void least_memory_is_kept(void **state)
{
    (void)state;
    enum { A, W, T, S };
    static const step plan[] = {{PB_COMPUTE, A, NO}, {PB_COMPUTE, S, NO}, {PB_FREE, S, NO},    {PB_FREE, A, NO},
                                {PB_COMPUTE, W, NO}, {PB_FREE, W, NO},    {PB_COMPUTE, A, NO}, {PB_COMPUTE, T, NO}};
    small_game s;
    small_game_init(&s);
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 1, 5, 0);
    small_game_add(&s, 1, 1, 1 << A);
    small_game_add(&s, 1, 1, 1 << A);
    s.cap = 10;
    pb_metrics spent = cleaned(&s, plan, sizeof plan / sizeof *plan, false);
    pb_metrics kept = cleaned(&s, plan, sizeof plan / sizeof *plan, true);
    assert_true(spent.work == 4 && spent.peak == 6);
    assert_true(kept.work == 5 && kept.peak == 5);
}

/* With a price on the peak, a is not worth what keeping it costs; b is, and is kept though a is not. */
static void prices_decide_drop_by_drop(void **state)
{
    (void)state;
    enum { A, W, T, B, V, R, S };
    static const step plan[] = {{PB_COMPUTE, A, NO}, {PB_COMPUTE, S, NO}, {PB_FREE, S, NO},    {PB_FREE, A, NO},
                                {PB_COMPUTE, W, NO}, {PB_FREE, W, NO},    {PB_COMPUTE, A, NO}, {PB_COMPUTE, T, NO},
                                {PB_FREE, A, NO},    {PB_FREE, T, NO},    {PB_COMPUTE, B, NO}, {PB_FREE, B, NO},
                                {PB_COMPUTE, V, NO}, {PB_FREE, V, NO},    {PB_COMPUTE, B, NO}, {PB_COMPUTE, R, NO}};
    small_game s;
    small_game_init(&s);
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 1, 5, 0);
    small_game_add(&s, 1, 1, 1 << A);
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 1, 1, 1 << B);
    small_game_add(&s, 1, 1, 1 << A);
    s.cap = 10;
    s.weights = (pb_weights){10, 0, 1, 0};
    pb_metrics m = cleaned(&s, plan, sizeof plan / sizeof *plan, false);
    assert_int_equal(m.work, 8);
    assert_int_equal(m.peak, 5);
}

/* ---- stops ---- */

static void a_stop_ends_a_clean_up_soon(void **state)
{
    (void)state;
    uint64_t all, polls;
    assert_int_equal(dropped(NODES, 0, &all), WASTE);
    assert_true(all > WASTE / LOOKS);
    assert_int_equal(dropped(NODES, 1, &polls), 0); /* before there is anything to drop */
    assert_int_equal(polls, 1);
    uint64_t last = 0;
    for (uint64_t at = all / 4; at < all; at += all / 4) {
        uint64_t gone = dropped(NODES, at, &polls);
        assert_int_equal(polls, at); /* nobody asks after a stop */
        assert_true(gone >= last);
        assert_true(gone <= at * LOOKS + OVERTIME);
        last = gone;
    }
    assert_true(last > 0 && dropped(NODES, all / 2, &polls) < WASTE);
}

/* Most plans are so short that they are cleaned whatever time it is. */
static void short_plans_are_cleaned_after_a_stop(void **state)
{
    (void)state;
    uint64_t polls;
    assert_int_equal(dropped(2000, 1, &polls), 2 * 2000 - 2);
    assert_int_equal(polls, 1);
}

/* The pipeline lets the clean-up poll. */
static void plans_poll_while_they_are_cleaned(void **state)
{
    (void)state;
    outside o[2] = {{.stop_at = 0}, {.stop_at = 0}};
    uint64_t moves = 0;
    for (int as_made = 0; as_made < 2; as_made++) {
        pb_context ctx;
        pb_arena arena;
        const pb_graph *g;
        pb_plan_result planned;
        outside_context(&ctx, &o[as_made]);
        pb_arena_init(&arena, &ctx);
        pb_option steps = {"steps", "20000"};
        assert_int_equal(pb_generate(&ctx, "adjoint-chain", &steps, 1, &arena, &g), PB_OK);
        pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .cap = 400, .weights = PB_WEIGHTS_DEFAULT};
        pb_request request = {.strategy = "sqrt"};
        assert_int_equal((as_made ? pbi_plan_as_made : pb_plan)(&ctx, &game, &request, &arena, &planned), PB_OK);
        assert_non_null(planned.certificate);
        moves = planned.schedule.metrics.moves;
        pb_arena_release(&arena);
    }
    assert_true(o[0].polls > o[1].polls + moves / LOOKS / 2);
}

/* A bound that was stopped is a bound. */
static void a_stop_ends_a_least_bound_soon(void **state)
{
    (void)state;
    static const pb_game_kind kinds[] = {PB_GAME_REMAT, PB_GAME_REVERSIBLE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        desk d;
        pb_bounds all, stopped;
        open_desk(&d, NODES);
        d.game.kind = kinds[i];
        uint64_t from = d.o.polls;
        assert_int_equal(pb_least_bound(&d.ctx, &d.game, &all), PB_OK);
        uint64_t polls = d.o.polls - from;
        assert_true(polls > 1);
        for (uint64_t at = 1; at <= polls; at++) {
            d.ctx.stopped = PB_GO_ON;
            d.o.polls = 0;
            d.o.stop_at = at;
            assert_int_equal(pb_least_bound(&d.ctx, &d.game, &stopped), PB_OK);
            assert_int_equal(d.o.polls, at);
            assert_true(stopped.least_cap >= 2 && stopped.least_cap <= all.least_cap && stopped.least_why);
            at += polls / 10;
        }
        pb_arena_release(&d.arena);
    }
}

/* Looking at moments one by one takes long on large graphs: it polls as it goes. */
static void reversible_bounds_poll(void **state)
{
    (void)state;
    outside o = {.stop_at = 0};
    pb_context ctx;
    pb_arena arena;
    const pb_graph *g;
    pb_bounds b;
    outside_context(&ctx, &o);
    pb_arena_init(&arena, &ctx);
    pb_option nodes = {"nodes", "4000"};
    assert_int_equal(pb_generate(&ctx, "layered", &nodes, 1, &arena, &g), PB_OK);
    pb_game game = {.graph = g, .kind = PB_GAME_REVERSIBLE, .weights = PB_WEIGHTS_DEFAULT};
    game.cap = g->total_size / 4 * 3;
    assert_int_equal(pb_bounds_make(&ctx, &game, &b), PB_OK);
    uint64_t from = o.polls;
    assert_int_equal(pb_bounds_tighten(&ctx, &game, 20000000, &b), PB_OK);
    assert_true(o.polls - from > 20);
    pb_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_that_a_drop_makes_is_used),
        cmocka_unit_test(what_overwrote_goes_with_its_reason),
        cmocka_unit_test(least_memory_is_kept),
        cmocka_unit_test(prices_decide_drop_by_drop),
        cmocka_unit_test(a_stop_ends_a_clean_up_soon),
        cmocka_unit_test(short_plans_are_cleaned_after_a_stop),
        cmocka_unit_test(plans_poll_while_they_are_cleaned),
        cmocka_unit_test(a_stop_ends_a_least_bound_soon),
        cmocka_unit_test(reversible_bounds_poll),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
