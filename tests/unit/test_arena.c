/* test_arena.c -- alignment, marks, growth, limits and refusals of arenas. */
#include "base/arena.h"
#include "support/io_case.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LARGE = 1 << 14, BLOCK = 1 << 16 };

static void fill(void *piece, size_t bytes, int value) { memset(piece, value, bytes); }

static bool holds(const void *piece, size_t bytes, int value)
{
    const unsigned char *at = piece;
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != (unsigned char)value)
            return false;
    return true;
}

static void pieces_are_aligned_for_any_type(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    for (size_t bytes = 0; bytes < 70; bytes++)
        assert_int_equal((uintptr_t)pb_arena_alloc(&arena, bytes, 1) % alignof(max_align_t), 0);
    for (size_t bytes = LARGE - 2; bytes < LARGE + 3; bytes++)
        assert_int_equal((uintptr_t)pb_arena_alloc(&arena, bytes, 1) % alignof(max_align_t), 0);
    pb_arena_release(&arena);
    assert_int_equal(ctx.memory_used, 0);
}

static void pieces_of_no_bytes_are_still_distinct(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    char *a = pb_arena_alloc(&arena, 0, 8), *b = pb_arena_zero(&arena, 5, 0), *c = pb_arena_alloc(&arena, 0, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    assert_true(a != b && b != c && a != c);
    pb_arena_release(&arena);
    assert_int_equal(ctx.memory_used, 0);
}

static void pieces_never_overlap(void **state)
{
    (void)state;
    enum { PIECES = 400 };
    pb_context ctx;
    pb_arena arena;
    unsigned char *piece[PIECES];
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    for (size_t i = 0; i < PIECES; i++) {
        size_t bytes = 1 + i * 37 % 700 + (i % 50 == 0 ? LARGE : 0);
        piece[i] = pb_arena_alloc(&arena, bytes, 1);
        fill(piece[i], bytes, (int)(i & 0xff));
    }
    for (size_t i = 0; i < PIECES; i++)
        assert_true(holds(piece[i], 1 + i * 37 % 700 + (i % 50 == 0 ? LARGE : 0), (int)(i & 0xff)));
    pb_arena_release(&arena);
    assert_int_equal(ctx.memory_used, 0);
}

static void zero_clears_what_was_used_before(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    pbi_mark mark = pbi_arena_mark(&arena);
    fill(pb_arena_alloc(&arena, 1000, 1), 1000, 0xa5);
    pbi_arena_rewind(&arena, mark);
    pb_arena_alloc(&arena, 1, 1);
    pbi_mark kept = pbi_arena_mark(&arena);
    fill(pb_arena_alloc(&arena, 1000, 1), 1000, 0xa5);
    pbi_arena_rewind(&arena, kept);
    assert_true(holds(pb_arena_zero(&arena, 250, 4), 1000, 0));
    pb_arena_release(&arena);
}

static void text_is_copied_with_its_end(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_string_equal(pb_arena_text(&arena, "abcdef", 3), "abc");
    assert_string_equal(pb_arena_text(&arena, "", 0), "");
    pb_arena_release(&arena);
}

static void rewind_drops_everything_since_the_mark(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    pbi_mark start = pbi_arena_mark(&arena);
    char *first = pb_arena_alloc(&arena, 100, 1);
    fill(first, 100, 1);
    size_t used = ctx.memory_used;
    pbi_mark mark = pbi_arena_mark(&arena);
    char *second = pb_arena_alloc(&arena, 50, 1);
    pb_arena_alloc(&arena, 3, LARGE);
    for (int i = 0; i < 200; i++)
        pb_arena_alloc(&arena, 1000, 1);
    assert_true(ctx.memory_used > used);
    pbi_arena_rewind(&arena, mark);
    assert_int_equal(ctx.memory_used, used);
    assert_ptr_equal(pb_arena_alloc(&arena, 50, 1), second); /* the same place is handed out again */
    assert_true(holds(first, 100, 1));
    pbi_arena_rewind(&arena, start);
    assert_int_equal(ctx.memory_used, 0);
    assert_null(arena.newest);
    pb_arena_release(&arena);
}

static void release_leaves_an_arena_that_can_be_used_again(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    pb_arena_alloc(&arena, 10, 1);
    pb_arena_release(&arena);
    assert_int_equal(ctx.memory_used, 0);
    assert_int_equal(ctx.memory_peak, BLOCK);
    assert_non_null(pb_arena_alloc(&arena, 10, 1));
    pb_arena_release(&arena);
    pb_arena_release(&arena);
    assert_int_equal(ctx.memory_used, 0);
}

/* Each of three large arrays grows in turn, between small pieces, so that every neighbour of a moved block is met. */
static void growing_large_blocks_keeps_their_neighbours(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    char *array[3], *small[4];
    size_t bytes[3];
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    fill(small[0] = pb_arena_alloc(&arena, 64, 1), 64, 100);
    for (int i = 0; i < 3; i++) {
        bytes[i] = LARGE;
        fill(array[i] = pb_arena_alloc(&arena, bytes[i], 1), bytes[i], i);
        fill(small[i + 1] = pb_arena_alloc(&arena, 64, 1), 64, 101 + i);
    }
    for (int round = 0; round < 30; round++) {
        int i = round % 3;
        array[i] = pbi_arena_grow(&arena, array[i], bytes[i], bytes[i] * 3 / 2 + 1);
        assert_non_null(array[i]);
        fill(array[i] + bytes[i], bytes[i] * 3 / 2 + 1 - bytes[i], i);
        bytes[i] = bytes[i] * 3 / 2 + 1;
        for (int j = 0; j < 3; j++)
            assert_true(holds(array[j], bytes[j], j));
        for (int j = 0; j < 4; j++)
            assert_true(holds(small[j], 64, 100 + j));
    }
    /* No holes: what is held is the arrays and the small pieces' blocks. */
    assert_true(ctx.memory_used < bytes[0] + bytes[1] + bytes[2] + 5 * BLOCK);
    pb_arena_release(&arena);
    assert_int_equal(ctx.memory_used, 0);
}

/* Never in place, and what was left behind is spoilt: a link that still leads there does not go unnoticed. */
static void *moving_resize(void *state, void *block, size_t old_bytes, size_t new_bytes)
{
    (void)state;
    void *moved = new_bytes ? malloc(new_bytes) : NULL;
    if (moved && block)
        memcpy(moved, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    if (block)
        fill(block, old_bytes, 0xdd);
    free(block);
    return moved;
}

static void large_blocks_side_by_side_may_all_move(void **state)
{
    (void)state;
    enum { ARRAYS = 4 };
    pb_context ctx;
    pb_arena arena;
    char *array[ARRAYS];
    size_t bytes[ARRAYS];
    pb_context_init(&ctx);
    ctx.resize = moving_resize;
    pb_arena_init(&arena, &ctx);
    for (int i = 0; i < ARRAYS; i++) {
        bytes[i] = LARGE;
        fill(array[i] = pb_arena_alloc(&arena, bytes[i], 1), bytes[i], i);
    }
    static const int turns[] = {3, 2, 1, 0, 0, 1, 2, 3, 1, 1, 3, 0, 2};
    for (size_t turn = 0; turn < sizeof turns / sizeof *turns; turn++) {
        int i = turns[turn];
        array[i] = pbi_arena_grow(&arena, array[i], bytes[i], bytes[i] + 1000);
        fill(array[i] + bytes[i], 1000, i);
        bytes[i] += 1000;
        for (int j = 0; j < ARRAYS; j++)
            assert_true(holds(array[j], bytes[j], j));
    }
    pb_arena_release(&arena);
    assert_int_equal(ctx.memory_used, 0);
}

static void growing_small_arrays_keeps_contents(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    char *grown = pbi_arena_grow(&arena, NULL, 0, 5);
    memcpy(grown, "abcd", 5);
    for (size_t bytes = 5; bytes < 5 * LARGE; bytes *= 2)
        grown = pbi_arena_grow(&arena, grown, bytes, bytes * 2); /* crosses from shared blocks to one of its own */
    assert_string_equal(grown, "abcd");
    pb_arena_release(&arena);
    assert_int_equal(ctx.memory_used, 0);
}

static void reserve_grows_geometrically_and_only_when_needed(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    void *items = NULL;
    size_t room = 0;
    assert_true(pbi_arena_reserve(&arena, &items, &room, 1, 4));
    assert_int_equal(room, 16);
    void *same = items;
    assert_true(pbi_arena_reserve(&arena, &items, &room, 16, 4));
    assert_ptr_equal(items, same);
    assert_true(pbi_arena_reserve(&arena, &items, &room, 17, 4));
    assert_int_equal(room, 24);
    assert_true(pbi_arena_reserve(&arena, &items, &room, 1000, 4));
    assert_int_equal(room, 1000);
    assert_false(pbi_arena_reserve(&arena, &items, &room, SIZE_MAX / 4, 4));
    assert_int_equal(room, 1000);
    assert_non_null(strstr(ctx.error.message, "out of memory"));
    pb_arena_release(&arena);
}

static void products_that_overflow_are_refused_with_a_sentence(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_null(pb_arena_alloc(&arena, SIZE_MAX / 2, 3));
    assert_non_null(strstr(ctx.error.message, "9223372036854775807 items of 3 bytes"));
    assert_null(pb_arena_alloc(&arena, SIZE_MAX, 1));
    assert_null(pb_arena_zero(&arena, SIZE_MAX - 5, 1));
    assert_null(pb_arena_text(&arena, "", SIZE_MAX));
    assert_null(pbi_arena_grow(&arena, NULL, 0, SIZE_MAX));
    assert_int_equal(ctx.memory_used, 0);
    pb_arena_release(&arena);
}

static void the_memory_limit_holds_to_the_byte(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_context_init(&ctx);
    ctx.memory_limit = 2 * BLOCK;
    pb_arena_init(&arena, &ctx);
    assert_non_null(pb_arena_alloc(&arena, 1, 1));
    assert_int_equal(ctx.memory_used, BLOCK);
    assert_null(pb_arena_alloc(&arena, BLOCK, 1)); /* its header would pass the limit */
    assert_non_null(strstr(ctx.error.message, "memory limit of 131072 bytes"));
    assert_int_equal(ctx.memory_used, BLOCK);
    char *large = pb_arena_alloc(&arena, BLOCK / 2, 1);
    assert_non_null(large);
    fill(large, BLOCK / 2, 7);
    assert_null(pbi_arena_grow(&arena, large, BLOCK / 2, BLOCK));
    assert_true(holds(large, BLOCK / 2, 7)); /* a refused growth leaves the array as it was */
    pb_arena_release(&arena);
    assert_int_equal(ctx.memory_used, 0);
    assert_true(ctx.memory_peak <= ctx.memory_limit);
}

static void two_arenas_share_the_limit_of_their_context(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena a, b;
    pb_context_init(&ctx);
    ctx.memory_limit = BLOCK;
    pb_arena_init(&a, &ctx);
    pb_arena_init(&b, &ctx);
    assert_non_null(pb_arena_alloc(&a, 1, 1));
    assert_null(pb_arena_alloc(&b, 1, 1));
    pb_arena_release(&a);
    assert_non_null(pb_arena_alloc(&b, 1, 1));
    pb_arena_release(&b);
}

static void every_refused_allocation_leaves_a_sound_arena(void **state)
{
    (void)state;
    for (uint64_t refuse = 1; refuse <= 5; refuse++) {
        pb_context ctx;
        failing_allocator memory = {.refuse = refuse};
        pb_arena arena;
        failing_context(&ctx, &memory);
        pb_arena_init(&arena, &ctx);
        bool refused = !pb_arena_alloc(&arena, 10, 1);
        char *large = refused ? NULL : pb_arena_alloc(&arena, LARGE, 1);
        refused = refused || !large;
        refused = refused || !pbi_arena_grow(&arena, large, LARGE, 2 * LARGE);
        refused = refused || !pb_arena_text(&arena, "x", 1);
        assert_int_equal(refused, refuse <= 4);
        if (refused)
            assert_non_null(strstr(ctx.error.message, "out of memory"));
        pb_arena_release(&arena);
        assert_int_equal(ctx.memory_used, 0);
        assert_int_equal(memory.blocks, 0);
    }
}

static void an_adopted_arena_lives_with_the_other(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena to, from;
    pb_context_init(&ctx);
    pb_arena_init(&to, &ctx);
    pb_arena_init(&from, &ctx);
    pbi_arena_adopt(&to, &from); /* nothing */
    char *small = pb_arena_text(&from, "kept", 4);
    void *large = pb_arena_alloc(&from, 1 << 20, 1);
    pbi_arena_adopt(&to, &from); /* into an empty one */
    pb_arena_release(&from);
    char *second = pb_arena_text(&from, "also", 4);
    void *grown = pbi_arena_grow(&to, large, 1 << 20, 1 << 21);
    assert_non_null(grown);
    pbi_arena_adopt(&to, &from);
    char *later = pb_arena_text(&to, "later", 5);
    pb_arena_release(&from);
    assert_string_equal(small, "kept");
    assert_string_equal(second, "also");
    assert_string_equal(later, "later");
    pb_arena_release(&to);
    assert_int_equal(ctx.memory_used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_for_any_type),
        cmocka_unit_test(pieces_of_no_bytes_are_still_distinct),
        cmocka_unit_test(pieces_never_overlap),
        cmocka_unit_test(zero_clears_what_was_used_before),
        cmocka_unit_test(text_is_copied_with_its_end),
        cmocka_unit_test(rewind_drops_everything_since_the_mark),
        cmocka_unit_test(release_leaves_an_arena_that_can_be_used_again),
        cmocka_unit_test(growing_large_blocks_keeps_their_neighbours),
        cmocka_unit_test(large_blocks_side_by_side_may_all_move),
        cmocka_unit_test(growing_small_arrays_keeps_contents),
        cmocka_unit_test(reserve_grows_geometrically_and_only_when_needed),
        cmocka_unit_test(products_that_overflow_are_refused_with_a_sentence),
        cmocka_unit_test(the_memory_limit_holds_to_the_byte),
        cmocka_unit_test(two_arenas_share_the_limit_of_their_context),
        cmocka_unit_test(every_refused_allocation_leaves_a_sound_arena),
        cmocka_unit_test(an_adopted_arena_lives_with_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
