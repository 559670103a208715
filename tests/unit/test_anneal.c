/* tests/unit/test_anneal.c -- what annealing keeps is a plan, however hot and crowded it gets. */
#include "pebble/full.h"
#include "plan/anneal/anneal.h"
#include "plan/sequence/sequence.h"
#include "support/small_game.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Every event finds its inputs, every needed node is there, and the figures are those of the sequence. */
static void expect_true(pbi_anneal *a, const pb_game *game, pb_arena *arena)
{
    pbi_sequence s;
    pbi_figures f;
    pb_game open = *game;
    open.cap = PB_UNLIMITED;
    pbi_sequence_init(&s, arena);
    s.tier = a->t.tier;
    uint32_t *events = pb_arena_alloc(arena, a->t.profile.room, sizeof *events);
    assert_non_null(events);
    pbi_timeline_read(&a->t, events);
    for (uint32_t i = 0; i < a->t.filled; i++)
        assert_int_equal(pbi_sequence_add(&s, events[i]), PB_OK);
    for (pb_node v = 0; v < game->graph->node_count; v++)
        assert_true(a->t.copy[v].count || !(game->graph->flags[v] & PB_NODE_NEEDED));
    assert_int_equal(pbi_sequence_emit(arena->ctx, &open, &s, NULL, &f), PB_OK);
    assert_int_equal(f.time, a->t.work);
}

/* Program order, and then nodes recomputed until no more events are taken. */
static uint32_t crowd(const pb_graph *g, uint32_t room, uint64_t seed, uint32_t *events)
{
    uint32_t count = 0, once;
    pbi_rng rng = {seed};
    for (uint32_t i = 0; i < g->order_count; i++)
        if (g->flags[g->order[i]] & PB_NODE_NEEDED)
            events[count++] = g->order[i];
    for (once = count; count && count < room - 3; count++)
        events[count] = events[pbi_rng_below(&rng, once)];
    return count;
}

/* Recomputation costs nothing and memory is not scarce: slots fill up. Returns how full it was at most. */
static uint32_t run_crowded(pb_context *ctx, const pb_game *game, pb_arena *arena, uint64_t seed)
{
    pbi_anneal a;
    uint32_t most = 0;
    assert_true(pbi_anneal_init(&a, ctx, game, seed, arena));
    uint32_t *events = pb_arena_alloc(arena, a.best_room, sizeof *events);
    assert_non_null(events);
    uint32_t count = crowd(game->graph, a.best_room, seed, events);
    if (!count)
        return 0;
    assert_true(pbi_anneal_start(&a, events, count, game->cap));
    for (int i = 0; i < 200; i++) {
        assert_int_equal(pbi_anneal_run(&a, 20, 10, 1, -1), PB_OK);
        most = a.t.filled > most ? a.t.filled : most;
    }
    expect_true(&a, game, arena);
    return most > a.best_room;
}

static void crowds_stay_plans(void **state)
{
    (void)state;
    uint32_t judged = 0, crowded = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        pb_context ctx;
        pb_arena arena;
        pb_game game;
        small_game s;
        small_game_random_large(seed, PB_GAME_REMAT, &s);
        for (uint32_t v = 0; v < s.node_count; v++) {
            s.cost[v] = 0;
            s.flags[v] &= (uint16_t) ~(PB_NODE_GIVEN_SLOW | PB_NODE_ONCE);
        }
        s.cap = PB_UNLIMITED;
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        if (small_game_build(&ctx, &s, &arena, &game)) {
            crowded += run_crowded(&ctx, &game, &arena, seed);
            judged++;
        }
        pb_arena_release(&arena);
    }
    assert_true(judged > 50);
    assert_true(crowded > 20); /* fuller than what is kept as a plan may be */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crowds_stay_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
