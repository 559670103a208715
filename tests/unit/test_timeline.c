/* tests/unit/test_timeline.c -- a timeline after many random changes against one built anew, and against the moves. */
#include "base/rng.h"
#include "pebble/full.h"
#include "plan/anneal/timeline.h"
#include "plan/sequence/sequence.h"
#include "support/small_game.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef struct bench {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pbi_timeline t, fresh;
    pb_node order[SMALL_MAX];
    uint32_t count;
} bench;

enum { MOST = 400 };
static uint32_t recipes; /* computations by recipe that were judged */

static bool open_bench(bench *b, uint64_t seed, pb_game_kind kind)
{
    small_game s;
    small_game_random_large(seed, kind, &s);
    if (seed % 3 == 0)
        small_game_add_recipes(&s);
    pb_context_init(&b->ctx);
    pb_arena_init(&b->arena, &b->ctx);
    b->count = 0;
    if (!small_game_build(&b->ctx, &s, &b->arena, &b->game))
        return false;
    const pb_graph *g = b->game.graph;
    for (pb_node v = 0; v < g->node_count; v++) {
        bool lone = g->flags[v] & PB_NODE_BYPRODUCT;
        for (uint32_t k = g->out_start[v]; k < g->out_start[v + 1]; k++)
            lone = lone && !(g->flags[g->out[k]] & PB_NODE_NEEDED);
        if ((g->flags[v] & PB_NODE_GIVEN_SLOW) || (lone && (g->flags[v] & PB_NODE_TARGET)))
            return false; /* not its business; counted with every computation instead of one */
    }
    for (uint32_t i = 0; i < g->order_count; i++)
        if (g->flags[g->order[i]] & PB_NODE_NEEDED)
            b->order[b->count++] = g->order[i];
    b->game.cap = g->total_size / 2;
    b->game.weights.beta = seed % 2;
    return b->count && pbi_timeline_init(&b->t, &b->ctx, &b->game, b->game.cap, &b->arena, MOST) &&
           pbi_timeline_init(&b->fresh, &b->ctx, &b->game, b->game.cap, &b->arena, MOST) &&
           pbi_timeline_load(&b->t, b->order, b->count);
}

/* A computation, by recipe or not, or a load where there is slow memory. */
static uint32_t some_event(const bench *b, pbi_rng *rng)
{
    if (b->t.tier && pbi_rng_below(rng, 3) == 0)
        return (uint32_t)pbi_rng_below(rng, b->game.graph->node_count) | PBI_LOAD_EVENT;
    const pb_graph *g = b->game.graph;
    if (b->t.events.recipes && pbi_rng_below(rng, 2) == 0)
        return g->node_count + (uint32_t)pbi_rng_below(rng, g->recipe_start[g->node_count]);
    return b->order[pbi_rng_below(rng, b->count)];
}

static void change(bench *b, pbi_rng *rng)
{
    uint32_t slot = 1 + (uint32_t)pbi_rng_below(rng, b->t.profile.slots - 1);
    if (b->t.event[slot] != PBI_EMPTY)
        pbi_timeline_remove(&b->t, slot);
    else if (b->t.filled < MOST / 2)
        pbi_timeline_insert(&b->t, some_event(b, rng), slot);
}

/* The order alone decides work, excess and peak. Returns whether there was a load. */
static bool expect_same(bench *b)
{
    pb_node events[MOST];
    pbi_timeline_read(&b->t, events);
    assert_true(pbi_timeline_load(&b->fresh, events, b->t.filled));
    assert_int_equal(b->t.work, b->fresh.work);
    assert_int_equal(b->t.profile.excess, b->fresh.profile.excess);
    assert_int_equal(pbi_timeline_peak(&b->t), pbi_timeline_peak(&b->fresh));
    pbi_sequence s;
    pbi_figures f;
    pb_game open = b->game;
    open.cap = PB_UNLIMITED;
    pbi_sequence_init(&s, &b->arena);
    s.tier = b->t.tier;
    bool loads = false, parts = false;
    for (uint32_t i = 0; i < b->t.filled; i++) {
        bool recipe = pbi_event_is_recipe(&b->t.events, events[i]);
        loads |= pbi_event_is_load(events[i]);
        recipes += recipe;
        parts |= recipe && (b->game.graph->flags[pbi_event_node(&b->t.events, events[i])] & PB_NODE_BYPRODUCT);
    }
    for (uint32_t i = 0; i < b->t.filled; i++)
        assert_int_equal(pbi_event_add(&b->t.events, events[i], &s), PB_OK);
    assert_int_equal(pbi_sequence_emit(&b->ctx, &open, &s, NULL, &f), PB_OK);
    assert_int_equal(f.time, b->t.work);
    if (!parts)
        assert_int_equal(f.peak, pbi_timeline_peak(&b->t));
    assert_true(f.peak <= pbi_timeline_peak(&b->t)); /* it counts by-products that have to exist more often */
    if (b->t.profile.time && !loads && !parts) {     /* stores are left out of it */
        double flux = (double)f.flux.high * 0x1p64 + (double)f.flux.low;
        assert_true(fabs(b->t.profile.flux * (double)b->t.unit - flux) <= 1e-6 * flux);
    }
    return loads;
}

static void changes_keep_it_true(void **state)
{
    (void)state;
    uint32_t judged = 0, loaded = 0;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        bench b;
        pbi_rng rng = {seed};
        if (open_bench(&b, seed, seed % 2 ? PB_GAME_REMAT : PB_GAME_TIERED)) {
            for (int round = 0; round < 12; round++) {
                for (int i = 0; i < 40; i++)
                    change(&b, &rng);
                loaded += expect_same(&b);
            }
            judged++;
        }
        pb_arena_release(&b.arena);
    }
    assert_true(judged > 200);
    assert_true(loaded > 200);
    assert_true(recipes > 1000);
}

static void a_change_is_undone_by_its_reverse(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        bench b;
        pbi_rng rng = {seed};
        if (open_bench(&b, seed, seed % 2 ? PB_GAME_REMAT : PB_GAME_TIERED))
            for (int i = 0; i < 100; i++) {
                uint64_t work = b.t.work, excess = b.t.profile.excess;
                uint32_t slot = 1 + (uint32_t)pbi_rng_below(&rng, b.t.profile.slots - 1);
                uint32_t v = b.t.event[slot];
                if (v != PBI_EMPTY ? pbi_timeline_remove(&b.t, slot)
                                   : pbi_timeline_insert(&b.t, some_event(&b, &rng), slot)) {
                    assert_true(v == PBI_EMPTY ? pbi_timeline_remove(&b.t, slot) : pbi_timeline_insert(&b.t, v, slot));
                    assert_int_equal(b.t.work, work);
                    assert_int_equal(b.t.profile.excess, excess);
                }
                change(&b, &rng);
            }
        pb_arena_release(&b.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_keep_it_true),
        cmocka_unit_test(a_change_is_undone_by_its_reverse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
