/* test_pack.c -- packings: borders of what can be packed, stops, refused memory, many lifetimes. */
#include "pebble/pack.h"

#include "base/rng.h"
#include "pack/pack_parts.h"
#include "support/cases.h"
#include "support/life_set.h"
#include "support/outside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    outside world;
    pb_context ctx;
    pb_arena arena;
} fixture;

static void start(fixture *f)
{
    outside_context(&f->ctx, &f->world);
    pb_arena_init(&f->arena, &f->ctx);
}

static void finish(fixture *f)
{
    pb_arena_release(&f->arena);
    assert_int_equal(f->world.live_blocks, 0);
    assert_int_equal(f->ctx.memory_used, 0);
}

/* Packs, and demands that the check agrees. */
static pb_packing packed(fixture *f, const pb_lifetimes *lives, pb_pack_options options)
{
    pb_packing p;
    bool good;
    uint32_t a, b;
    assert_int_equal(pb_pack(&f->ctx, lives, &options, &f->arena, &p), PB_OK);
    assert_int_equal(pb_packing_check(&f->ctx, lives, &p, &good, &a, &b), PB_OK);
    assert_true(good);
    assert_true(p.size >= p.lower_bound);
    return p;
}

static void nothing_needs_no_memory(void **state)
{
    fixture f = {0};
    (void)state;
    start(&f);
    pb_lifetimes none = {NULL, 0, 0, 64};
    pb_packing p = packed(&f, &none, (pb_pack_options){0});
    assert_int_equal(p.size, 0);
    assert_true(p.minimal);
    pb_lifetime empty = {3, 5, 0, 0, 7};
    p = packed(&f, &(pb_lifetimes){&empty, 1, 1, 64}, (pb_pack_options){0});
    assert_int_equal(p.size, 0);
    assert_true(p.minimal);
    finish(&f);
}

/* Among small sets there are some that do not fit into their largest sum: the search proves it. */
static void the_least_can_be_more_than_the_sum(void **state)
{
    unsigned more = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 3000 && more < 5; seed++) {
        fixture f = {0};
        life_set set;
        life_set_random(seed, 6, 9, 4, &set);
        start(&f);
        pb_packing p = packed(&f, &set.lives, (pb_pack_options){.seed = 1});
        assert_true(p.minimal);
        if (p.size > p.lower_bound) {
            more++;
            assert_int_equal(p.lower_bound, life_set_load(&set.lives));
            assert_int_equal(p.size, life_set_least(&set.lives));
        }
        finish(&f);
    }
    assert_int_equal(more, 5);
}

static void a_value_made_over_another_one_shares_its_place(void **state)
{
    fixture f = {0};
    (void)state;
    start(&f);
    pb_lifetime life[] = {{0, 4, 8, 0, 0}, {1, 9, 4, 1, 1}, {3, 7, 16, 0, 2}, {6, 9, 2, 0, 3}};
    pb_lifetimes lives = {life, 4, 2, 2};
    pb_packing p = packed(&f, &lives, (pb_pack_options){.seed = 1});
    assert_int_equal(p.size, 20);
    assert_true(p.minimal);
    assert_int_equal(p.offset[0], p.offset[2]);
    assert_int_equal(p.offset[0], p.offset[3]);
    finish(&f);
}

static void what_is_always_there_lies_lowest(void **state)
{
    fixture f = {0};
    (void)state;
    start(&f);
    for (uint64_t seed = 1; seed <= test_cases(200); seed++) {
        life_set set;
        life_set_random(seed, 8, 10, 9, &set);
        if (set.lives.count == LIFE_SET_MAX)
            continue;
        memmove(set.life + 1, set.life, set.lives.count * sizeof *set.life);
        set.life[0] = (pb_lifetime){0, 1000, 3 * set.lives.align, set.lives.place_count++, PB_NO_NODE};
        set.lives.count++;
        assert_int_equal(packed(&f, &set.lives, (pb_pack_options){.seed = seed}).offset[0], 0);
    }
    finish(&f);
}

static void what_cannot_be_meant_is_refused(void **state)
{
    static const struct {
        pb_lifetime life[2];
        uint32_t places;
        uint64_t align;
        bool checked; /* the check of a packing refuses it, too */
    } bad[] = {
        {{{0, 4, 8, 0, 0}, {5, 5, 8, 1, 1}}, 2, 1, true},   /* no time */
        {{{0, 4, 8, 0, 0}, {6, 5, 8, 1, 1}}, 2, 1, true},   /* ends before it begins */
        {{{0, 4, 8, 0, 0}, {1, 5, 12, 1, 1}}, 2, 8, false}, /* not a multiple */
        {{{0, 4, 8, 0, 0}, {1, 5, 8, 2, 1}}, 2, 1, true},   /* no such place */
        {{{0, 4, 8, 0, 0}, {1, 5, 8, 0, 1}}, 2, 1, false},  /* a place without lifetimes */
        {{{0, 9, 8, 0, 0}, {1, 5, 16, 0, 1}}, 1, 1, false}, /* inside another one of its place */
    };
    fixture f = {0};
    (void)state;
    start(&f);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pb_lifetime life[2] = {bad[i].life[0], bad[i].life[1]};
        pb_lifetimes lives = {life, 2, bad[i].places, bad[i].align};
        pb_packing p;
        f.ctx.error.message[0] = 0;
        assert_int_equal(pb_pack(&f.ctx, &lives, &(pb_pack_options){0}, &f.arena, &p), PB_EINVAL);
        assert_true(f.ctx.error.message[0]);
        if (bad[i].checked) {
            uint64_t offset[2] = {0, 8};
            bool good;
            uint32_t a, b;
            p = (pb_packing){offset, 64, 0, false};
            f.ctx.error.message[0] = 0;
            assert_int_equal(pb_packing_check(&f.ctx, &lives, &p, &good, &a, &b), PB_EINVAL);
            assert_true(f.ctx.error.message[0]);
        }
    }
    finish(&f);
}

static void sizes_near_the_limit_do_not_wrap(void **state)
{
    uint64_t half = UINT64_C(1) << 62;
    fixture f = {0};
    pb_packing p;
    (void)state;
    start(&f);
    pb_lifetime life[] = {{0, 4, half - 64, 0, 0}, {2, 6, half - 64, 1, 1}, {5, 9, 64, 2, 2}};
    pb_lifetimes lives = {life, 3, 3, 64};
    p = packed(&f, &lives, (pb_pack_options){0});
    assert_true(p.minimal && p.size == 2 * half - 128);
    life[2].size = 2 * half; /* together more than 2^63 */
    assert_int_equal(pb_pack(&f.ctx, &lives, &(pb_pack_options){0}, &f.arena, &p), PB_ERANGE);
    life[2].size = UINT64_MAX - 63;
    assert_int_equal(pb_pack(&f.ctx, &lives, &(pb_pack_options){0}, &f.arena, &p), PB_ERANGE);
    finish(&f);
}

static void a_cap_is_enough(void **state)
{
    fixture f = {0};
    life_set set;
    (void)state;
    start(&f);
    life_set_random(77, 20, 20, 30, &set);
    pb_packing best = packed(&f, &set.lives, (pb_pack_options){.seed = 1});
    pb_packing loose = packed(&f, &set.lives, (pb_pack_options){.seed = 1, .cap = 2 * best.size});
    assert_true(loose.size <= 2 * best.size);
    assert_true(packed(&f, &set.lives, (pb_pack_options){.seed = 1, .cap = best.size}).size <= best.size);
    pb_packing none = packed(&f, &set.lives, (pb_pack_options){.seed = 1, .cap = 1}); /* cannot be: the best it can */
    assert_true(none.size >= best.size || !best.minimal);
    finish(&f);
}

static void the_check_names_what_overlaps(void **state)
{
    fixture f = {0};
    bool good;
    uint32_t a, b;
    (void)state;
    start(&f);
    pb_lifetime life[] = {{0, 4, 8, 0, 0}, {2, 6, 8, 1, 1}, {4, 8, 8, 2, 2}, {7, 9, 8, 2, 3}};
    pb_lifetimes lives = {life, 4, 3, 4};
    static const struct {
        uint64_t offset[4], size;
        bool good;
        uint32_t a, b;
    } c[] = {{{0, 8, 0, 0}, 16, true, 0, 0},   {{0, 4, 0, 0}, 16, false, 1, 0}, {{8, 4, 0, 0}, 16, false, 1, 0},
             {{0, 8, 4, 4}, 16, false, 2, 1},  {{0, 8, 0, 8}, 16, false, 3, 2}, {{0, 8, 0, 0}, 12, false, 1, 1},
             {{0, 10, 0, 0}, 20, false, 1, 1}, {{0, 8, 16, 16}, 24, true, 0, 0}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        uint64_t offset[4];
        memcpy(offset, c[i].offset, sizeof offset);
        pb_packing p = {offset, c[i].size, 0, false};
        assert_int_equal(pb_packing_check(&f.ctx, &lives, &p, &good, &a, &b), PB_OK);
        assert_int_equal(good, c[i].good);
        if (!good) {
            assert_int_equal(a, c[i].a);
            assert_int_equal(b, c[i].b);
        }
    }
    finish(&f);
}

/* A value that grows over another one: what begins at that very move must be apart from the larger of the two. */
static void the_check_sees_the_larger_of_one_place(void **state)
{
    fixture f = {0};
    bool good;
    uint32_t a, b;
    (void)state;
    start(&f);
    for (int grows = 0; grows < 2; grows++) {
        pb_lifetime life[] = {{0, 4, 8, 0, 0}, {3, 7, 8, 0, 1}, {3, 4, 8, 1, PB_NO_NODE}};
        uint64_t offset[] = {0, 0, 8};
        life[grows].size = 16;
        pb_packing p = {offset, 16, 0, false};
        assert_int_equal(pb_packing_check(&f.ctx, &(pb_lifetimes){life, 3, 2, 8}, &p, &good, &a, &b), PB_OK);
        assert_false(good);
        assert_int_equal(a, 2);
        assert_int_equal(b, grows);
    }
    finish(&f);
}

/* A set that quick ways do not pack, so that every stage has its turn. */
static void find_hard_set(life_set *set)
{
    for (uint64_t seed = 1;; seed++) {
        fixture f = {0};
        pbi_places p;
        uint64_t offset[LIFE_SET_MAX], size = UINT64_MAX;
        life_set_random(seed, 24, 20, 30, set);
        start(&f);
        assert_int_equal(pbi_places_make(&f.ctx, &set->lives, &f.arena, &p), PB_OK);
        assert_int_equal(pbi_pack_along(&f.ctx, &p, offset, &size), PB_OK);
        assert_int_equal(pbi_pack_greedy(&f.ctx, &p, offset, &size), PB_OK);
        bool hard = size > p.most_load;
        finish(&f);
        if (hard)
            return;
    }
}

static void every_refused_request_is_clean(void **state)
{
    life_set set;
    (void)state;
    find_hard_set(&set);
    for (uint64_t k = 1;; k++) {
        fixture f = {.world.refuse_at = k};
        pb_packing p = {.size = 12345};
        start(&f);
        pb_status status = pb_pack(&f.ctx, &set.lives, &(pb_pack_options){.effort = 200000}, &f.arena, &p);
        if (status != PB_OK) {
            assert_int_equal(status, PB_ENOMEM);
            assert_int_equal(p.size, 12345);
        }
        uint64_t requests = f.world.requests;
        finish(&f);
        if (requests < k) {
            assert_int_equal(status, PB_OK);
            return;
        }
    }
}

/* After a stop there is a packing, or none because the first one was not ready. */
static void stops_keep_what_there_is(void **state)
{
    life_set set;
    unsigned kept = 0;
    (void)state;
    find_hard_set(&set);
    for (uint64_t k = 1; k < 200; k++) {
        fixture f = {.world.stop_at = k};
        pb_packing p;
        bool good;
        uint32_t a, b;
        start(&f);
        pb_status status = pb_pack(&f.ctx, &set.lives, &(pb_pack_options){.seed = 3}, &f.arena, &p);
        assert_true(status == PB_OK || status == PB_ECANCELLED);
        uint64_t polls = f.world.polls;
        f.ctx.stop = NULL;
        if (status == PB_OK) {
            kept++;
            assert_int_equal(pb_packing_check(&f.ctx, &set.lives, &p, &good, &a, &b), PB_OK);
            assert_true(good);
        }
        finish(&f);
        if (polls < k)
            break;
    }
    assert_true(kept > 1);
}

/* Long lived and short lived ones of many sizes: gaps of all kinds. */
static void a_million_lifetimes_are_packed_along(void **state)
{
    uint32_t count = (uint32_t)(1000000 * (test_cases(100) > 20 ? 1.0 : 0.1));
    fixture f = {0};
    pbi_rng rng = {5};
    (void)state;
    start(&f);
    pb_lifetime *life = pb_arena_alloc(&f.arena, count, sizeof *life);
    assert_non_null(life);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t length = 1 + (pbi_rng_below(&rng, 100) ? pbi_rng_below(&rng, 300) : pbi_rng_below(&rng, count));
        life[i] = (pb_lifetime){i, i + length, 64 * (1 + pbi_rng_below(&rng, 1000)), i, i};
    }
    pb_packing p = packed(&f, &(pb_lifetimes){life, count, count, 64}, (pb_pack_options){0});
    assert_true(p.size < p.lower_bound + p.lower_bound / 2);
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_needs_no_memory),
        cmocka_unit_test(the_least_can_be_more_than_the_sum),
        cmocka_unit_test(a_value_made_over_another_one_shares_its_place),
        cmocka_unit_test(what_is_always_there_lies_lowest),
        cmocka_unit_test(what_cannot_be_meant_is_refused),
        cmocka_unit_test(sizes_near_the_limit_do_not_wrap),
        cmocka_unit_test(a_cap_is_enough),
        cmocka_unit_test(the_check_names_what_overlaps),
        cmocka_unit_test(the_check_sees_the_larger_of_one_place),
        cmocka_unit_test(every_refused_request_is_clean),
        cmocka_unit_test(stops_keep_what_there_is),
        cmocka_unit_test(a_million_lifetimes_are_packed_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
