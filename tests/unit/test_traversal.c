/* test_traversal.c -- streams that traverse hash trees, run with a hash of their own next to a whole tree; their figures
 * against published ones and those of another simulation; the choice under a cap. */
#include "pebble/hashtree.h"

#include "support/cases.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 29;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 32;
}
static uint64_t leaf_value(uint64_t i) { return mix(i + 1); }
static uint64_t node_value(uint64_t left, uint64_t right) { return mix(3 * left + mix(right)); }

/* The whole tree: level h begins at place[h]. */
typedef struct whole {
    uint64_t *value[24];
} whole;

static whole whole_new(unsigned height)
{
    whole w;
    for (unsigned h = 0; h <= height; h++) {
        uint64_t count = UINT64_C(1) << (height - h);
        w.value[h] = malloc(count * sizeof **w.value);
        for (uint64_t i = 0; i < count; i++)
            w.value[h][i] = h ? node_value(w.value[h - 1][2 * i], w.value[h - 1][2 * i + 1]) : leaf_value(i);
    }
    return w;
}

static void whole_free(whole *w, unsigned height)
{
    for (unsigned h = 0; h <= height; h++)
        free(w->value[h]);
}

/* What a program would do with the stream; full slots have a value other than 0. */
typedef struct counted {
    uint64_t slots, storage, setup, leaves, hashes, units_max, leaves_max, hashes_max;
} counted;

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static counted run_stream(const pb_traversal_spec *spec, const whole *w)
{
    pb_context ctx;
    pb_arena arena;
    pb_traversal t;
    pb_hash_action a;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    enum { ROOM = 1 << 13 };
    uint64_t *slot = calloc(ROOM, sizeof *slot), stored = 0, paths = 0, leaves = 0, hashes = 0;
    bool root = false;
    counted c = {0};
    assert_int_equal(pb_traversal_init(&ctx, spec, &arena, &t), PB_OK);
    while (pb_traversal_next(&t, &a)) {
        assert_true(a.slot < ROOM);
        if (a.kind == PB_HASH_LEAF) {
            assert_true(slot[a.slot] == 0);
            slot[a.slot] = leaf_value(a.index);
            stored++;
            leaves++;
        } else if (a.kind == PB_HASH_NODE) {
            assert_true(slot[a.left] && slot[a.right] && a.left != a.right);
            uint64_t value = node_value(slot[a.left], slot[a.right]);
            assert_true(value == w->value[a.level][a.index]);
            assert_true(slot[a.slot] == 0 || a.slot == a.left || a.slot == a.right);
            stored += slot[a.slot] == 0;
            slot[a.slot] = value;
            hashes++;
        } else if (a.kind == PB_HASH_PATH) {
            assert_true(root && a.index == paths);
            for (unsigned h = 0; h < spec->height; h++)
                assert_true(slot[t.path[h]] == w->value[h][a.index >> h ^ 1]);
            if (paths++) {
                c.leaves += leaves;
                c.hashes += hashes;
                c.leaves_max = larger(c.leaves_max, leaves);
                c.hashes_max = larger(c.hashes_max, hashes);
                c.units_max = larger(c.units_max, leaves + hashes);
            }
            leaves = hashes = 0;
        } else {
            assert_true(slot[a.slot] != 0);
            if (a.kind == PB_HASH_ROOT)
                root = slot[a.slot] == w->value[spec->height][0];
            slot[a.slot] = 0;
            stored--;
        }
        uint64_t *most = paths ? &c.storage : &c.setup;
        *most = larger(*most, stored);
        c.slots = larger(c.slots, a.kind == PB_HASH_PATH ? 0 : a.slot + 1u);
    }
    assert_true(paths == UINT64_C(1) << spec->height);
    free(slot);
    pb_arena_release(&arena);
    assert_int_equal(ctx.memory_used, 0);
    return c;
}

static pb_traversal_figures measure(pb_traversal_kind kind, uint32_t height, uint32_t k)
{
    pb_context ctx;
    pb_traversal_figures f;
    pb_context_init(&ctx);
    pb_traversal_spec spec = {kind, height, k};
    if (pb_traversal_measure(&ctx, &spec, (pb_traversal_prices){1, 1}, &f) != PB_OK)
        fail_msg("height %u, k %u: %s", height, k, ctx.error.message);
    return f;
}

static void every_path_is_right_for_every_height_and_k(void **state)
{
    (void)state;
    for (unsigned height = 0; height <= 11; height++) {
        whole w = whole_new(height);
        for (int kind = 0; kind < PB_TRAVERSAL_COUNT; kind++)
            for (uint32_t k = 0; k <= (pb_traversal_takes_k((pb_traversal_kind)kind) ? height : 0); k++) {
                pb_traversal_spec spec = {(pb_traversal_kind)kind, height, k};
                counted c = run_stream(&spec, &w);
                pb_traversal_figures f = measure(spec.kind, height, k);
                assert_int_equal(f.storage, c.storage);
                assert_int_equal(f.setup_storage, c.setup);
                assert_int_equal(f.slots, c.slots);
                assert_int_equal(f.leaves, c.leaves);
                assert_int_equal(f.hashes, c.hashes);
                assert_int_equal(f.leaves_max, c.leaves_max);
                assert_int_equal(f.hashes_max, c.hashes_max);
                assert_int_equal(f.units_max, c.units_max);
                assert_int_equal(f.work, c.leaves + c.hashes);
                assert_int_equal(f.work_max, c.units_max);
            }
        whole_free(&w, height);
    }
}

/* Published: work for one output at most, and storage. Next to them, figures of another simulation: the same work, and its most
 * stored hashes; for k = 2 and height 16 it does not count the leaf that has just been computed. */
typedef struct fact {
    pb_traversal_kind kind;
    uint32_t height, k;
    double leaves, hashes, units, storage;                           /* published; 0: not */
    uint64_t other_leaves, other_hashes, other_units, other_storage; /* of the simulation; 0: none */
} fact;

static const fact facts[] = {
    {PB_TRAVERSAL_SZYDLO, 10, 0, 0, 0, 20, 30, 12, 10, 19, 28},
    {PB_TRAVERSAL_SZYDLO, 16, 0, 0, 0, 32, 48, 19, 19, 31, 46},
    {PB_TRAVERSAL_SZYDLO, 20, 0, 0, 0, 40, 60, 23, 25, 39, 58},
    {PB_TRAVERSAL_BDS, 10, 2, 5, 11.5, 0, 31, 5, 8, 13, 26},
    {PB_TRAVERSAL_BDS, 10, 4, 4, 8.5, 0, 37, 4, 6, 10, 32},
    {PB_TRAVERSAL_BDS, 10, 6, 3, 5.5, 0, 79, 0, 0, 0, 0},
    {PB_TRAVERSAL_BDS, 16, 2, 8, 20.5, 0, 52, 8, 17, 25, 46},
    {PB_TRAVERSAL_BDS, 16, 4, 7, 17.5, 0, 58, 7, 14, 21, 51},
    {PB_TRAVERSAL_BDS, 16, 6, 6, 14.5, 0, 100, 0, 0, 0, 0},
    {PB_TRAVERSAL_BDS, 20, 2, 10, 26.5, 0, 66, 10, 24, 34, 58},
    {PB_TRAVERSAL_BDS, 20, 4, 9, 23.5, 0, 72, 9, 19, 28, 64},
    {PB_TRAVERSAL_BDS, 20, 6, 8, 20.5, 0, 114, 0, 0, 0, 0},
    /* 2 log N / log log N units, 1.5 log^2 N / log log N stored */
    {PB_TRAVERSAL_FRACTAL, 10, 4, 0, 0, 6.02, 45.2, 0, 0, 0, 0},
    {PB_TRAVERSAL_FRACTAL, 16, 4, 0, 0, 8, 96, 0, 0, 0, 0},
    {PB_TRAVERSAL_FRACTAL, 20, 4, 0, 0, 9.26, 138.8, 0, 0, 0, 0},
    {PB_TRAVERSAL_CLASSIC, 10, 0, 0, 0, 20, 0, 17, 13, 17, 51},
    {PB_TRAVERSAL_CLASSIC, 16, 0, 0, 0, 32, 0, 29, 25, 29, 120},
    {PB_TRAVERSAL_CLASSIC, 20, 0, 0, 0, 40, 0, 37, 33, 37, 185},
};

static void no_more_than_published_is_stored_or_done(void **state)
{
    (void)state;
    uint64_t turn = 0;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const fact *f = &facts[i];
        if (f->height > 16 && !test_turn(&turn)) /* a million leaves each */
            continue;
        pb_traversal_figures m = measure(f->kind, f->height, f->k);
        if (f->leaves > 0)
            assert_true((double)m.leaves_max <= f->leaves && (double)m.hashes_max <= f->hashes);
        if (f->units > 0)
            assert_true((double)m.units_max <= f->units);
        if (f->storage > 0)
            assert_true((double)m.storage <= f->storage && (double)m.setup_storage <= f->storage);
        if (f->other_units) {
            assert_int_equal(m.leaves_max, f->other_leaves);
            assert_int_equal(m.hashes_max, f->other_hashes);
            assert_int_equal(m.units_max, f->other_units);
            assert_int_equal(m.storage, f->other_storage);
        }
    }
}

static void promises_hold_for_every_height(void **state)
{
    (void)state;
    for (uint32_t height = 1; height <= 13; height++)
        for (int kind = 0; kind < PB_TRAVERSAL_COUNT; kind++)
            for (uint32_t k = 0; k <= (pb_traversal_takes_k((pb_traversal_kind)kind) ? height : 0); k++) {
                pb_traversal_spec spec = {(pb_traversal_kind)kind, height, k};
                pb_traversal_promise p;
                pb_traversal_published(&spec, &p);
                pb_traversal_figures m = measure(spec.kind, height, k);
                assert_true(p.leaves == 0 || (double)m.leaves_max <= p.leaves);
                assert_true(p.hashes == 0 || (double)m.hashes_max <= p.hashes);
                assert_true(p.units == 0 || (double)m.units_max <= p.units);
                if (kind == PB_TRAVERSAL_SZYDLO && height > 2) {
                    assert_true(m.storage <= larger(3 * height - 2, 2 * height + 1));
                    assert_true(m.units_max <= 2 * height - 1);
                }
                if (kind == PB_TRAVERSAL_FRACTAL) {
                    uint32_t bands = (height + (k ? k : 1) - 1) / (k ? k : 1);
                    assert_true(m.units_max <= 2 * bands - 1);
                }
                if (kind == PB_TRAVERSAL_FRACTAL && height > 2) /* the published k is not a whole number */
                    assert_true(p.storage == 0 ||
                                (double)m.storage < p.storage + (height == 7 || height == 12 ? 2 : 0));
                if (kind == PB_TRAVERSAL_BDS)
                    assert_true(p.storage == 0 || (double)m.storage <= p.storage);
                if (kind == PB_TRAVERSAL_DIRECT) {
                    assert_int_equal(m.storage, height);
                    assert_int_equal(m.setup_storage, height + 1);
                }
            }
}

static pb_traversal_choice choose(pb_context *ctx, pb_arena *arena, const pb_traversal_request *r)
{
    pb_traversal_choice c;
    assert_int_equal(pb_traversal_choose(ctx, r, arena, &c), PB_OK);
    return c;
}

static void the_cheapest_that_fits_is_chosen(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    uint64_t before = UINT64_MAX;
    for (uint64_t cap = 0; cap <= 1100; cap += cap < 140 ? 1 : 60) {
        for (int by_average = 0; by_average < 2; by_average++) {
            pb_traversal_request r = {.height = 10, .cap = cap, .prices = {1000, 1}, .by_average = by_average};
            pb_traversal_choice c = choose(&ctx, &arena, &r);
            assert_int_equal(c.infeasible, cap < 11);
            assert_int_equal(c.winner == UINT32_MAX, cap < 11);
            for (uint32_t i = 0; i < c.row_count && c.winner != UINT32_MAX; i++) {
                const pb_traversal_figures *f = &c.row[i].figures, *best = &c.row[c.winner].figures;
                assert_int_equal(c.row[i].fits, f->storage <= cap && f->setup_storage <= cap);
                if (c.row[i].fits)
                    assert_true(by_average ? best->work <= f->work : best->work_max <= f->work_max);
            }
            if (!by_average && c.winner != UINT32_MAX) { /* more memory is never worse */
                assert_true(c.row[c.winner].figures.work_max <= before);
                before = c.row[c.winner].figures.work_max;
            }
        }
    }
    assert_int_equal(before, 1000); /* a leaf, with the whole tree at hand */
    pb_traversal_request apart = {.height = 10, .cap = 10, .prices = {1, 1}, .setup_apart = true};
    pb_traversal_choice c = choose(&ctx, &arena, &apart);
    assert_int_equal(c.row[c.winner].spec.kind, PB_TRAVERSAL_DIRECT);
    pb_traversal_spec only = {PB_TRAVERSAL_BDS, 10, 4};
    pb_traversal_request one = {.height = 10, .cap = 31, .prices = {1, 1}, .only = &only};
    c = choose(&ctx, &arena, &one);
    assert_true(c.row_count == 1 && c.winner == UINT32_MAX && !c.infeasible);
    pb_arena_release(&arena);
}

static void words_are_read_and_wrong_ones_refused(void **state)
{
    (void)state;
    pb_context ctx;
    pb_context_init(&ctx);
    pb_traversal_spec spec;
    char text[PB_TRAVERSAL_TEXT];
    assert_int_equal(pb_traversal_parse(&ctx, "bds:k=4", 10, &spec), PB_OK);
    assert_true(spec.kind == PB_TRAVERSAL_BDS && spec.k == 4 && spec.height == 10);
    pb_traversal_text(&spec, text);
    assert_string_equal(text, "bds:k=4");
    assert_int_equal(pb_traversal_parse(&ctx, "bds", 11, &spec), PB_OK);
    assert_int_equal(spec.k, 1);
    static const uint32_t usual[][2] = {{0, 1}, {1, 1}, {10, 4}, {16, 4}, {20, 4}, {24, 5}};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        assert_int_equal(pb_traversal_parse(&ctx, "fractal", usual[i][0], &spec), PB_OK);
        assert_int_equal(spec.k, usual[i][1]);
    }
    assert_int_equal(pb_traversal_parse(&ctx, "szydlo", 11, &spec), PB_OK);
    pb_traversal_text(&spec, text);
    assert_string_equal(text, "szydlo");
    static const char *const wrong[] = {"bds:k=",     "bds:k=12", "bds:k=x", "bds:j=2",
                                        "szydlo:k=2", "bds:k=2,", "bds:k=-1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(pb_traversal_parse(&ctx, wrong[i], 11, &spec), PB_EINVAL);
    static const char *const unknown[] = {"", "merkle", "b", "bdss"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_int_equal(pb_traversal_parse(&ctx, unknown[i], 11, &spec), PB_EUNKNOWN);
    pb_arena arena;
    pb_arena_init(&arena, &ctx);
    pb_traversal t;
    assert_int_equal(pb_traversal_init(&ctx, &(pb_traversal_spec){PB_TRAVERSAL_BDS, 41, 2}, &arena, &t), PB_ERANGE);
    assert_int_equal(pb_traversal_init(&ctx, &(pb_traversal_spec){PB_TRAVERSAL_BDS, 10, 11}, &arena, &t), PB_ERANGE);
    assert_int_equal(pb_traversal_init(&ctx, &(pb_traversal_spec){PB_TRAVERSAL_SZYDLO, 10, 1}, &arena, &t), PB_ERANGE);
    pb_arena_release(&arena);
}

static void prices_that_are_too_high_are_refused(void **state)
{
    (void)state;
    pb_context ctx;
    pb_traversal_figures f;
    pb_context_init(&ctx);
    pb_traversal_spec spec = {PB_TRAVERSAL_BDS, 8, 2};
    assert_int_equal(pb_traversal_measure(&ctx, &spec, (pb_traversal_prices){UINT64_MAX, 1}, &f), PB_ERANGE);
    assert_int_equal(ctx.memory_used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_path_is_right_for_every_height_and_k),
        cmocka_unit_test(no_more_than_published_is_stored_or_done),
        cmocka_unit_test(promises_hold_for_every_height),
        cmocka_unit_test(the_cheapest_that_fits_is_chosen),
        cmocka_unit_test(words_are_read_and_wrong_ones_refused),
        cmocka_unit_test(prices_that_are_too_high_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
