/* test_memory_profile.c -- memory over time of certified schedules, move by move and in parts. */
#include "pebble/metrics.h"
#include "report_fixture.h"
#include "support/io_case.h"

/* Memory during each move, as a text. */
static void memory_is(const small_game *s, const char *moves, const char *expected)
{
    bench b;
    uint64_t *memory;
    char text[300] = "";
    size_t used = 0;
    bench_open(&b, s, moves);
    assert_int_equal(pb_profile_moves(&b.ctx, b.certificate, &b.arena, &memory), PB_OK);
    for (pb_step k = 0; k < b.moves.count; k++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%llu", k ? " " : "", (unsigned long long)memory[k]);
    assert_string_equal(text, expected);
    bench_close(&b);
}

static void profile_is(const small_game *s, const char *moves, pb_axis axis, const char *fast, const char *slow)
{
    bench b;
    pb_profile p;
    char text[2][300] = {"", ""};
    size_t used[2] = {0, 0};
    uint32_t parts = 1;
    for (const char *at = fast; *at; at++)
        parts += *at == ' ';
    bench_open(&b, s, moves);
    assert_int_equal(pb_profile_make(&b.ctx, b.certificate, axis, parts, &b.arena, &p), PB_OK);
    assert_int_equal(p.bucket_count, parts);
    for (uint32_t i = 0; i < parts; i++)
        for (int k = 0; k < 2; k++)
            used[k] += (size_t)snprintf(text[k] + used[k], sizeof text[k] - used[k], "%s%llu", i ? " " : "",
                                        (unsigned long long)(k ? p.slow : p.fast)[i]);
    assert_string_equal(text[0], fast);
    if (slow)
        assert_string_equal(text[1], slow);
    bench_close(&b);
}

static void given_and_fixed_memory_is_there_from_the_start(void **state)
{
    (void)state;
    small_game s;
    small_tiny(&s);
    s.flags[0] = PB_NODE_GIVEN;
    s.fixed_size = 10;
    memory_is(&s, "c1 c2 f0 f1", "12 14 14 13");
    profile_is(&s, "c1 c2 f0 f1", PB_AXIS_MOVES, "12 14 14 13", NULL);
}

static void in_place_moves_make_only_the_difference(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    small_game_add(&s, 1, 4, 0);
    small_game_add(&s, 1, 6, 1);
    small_game_add(&s, 1, 1, 2);
    s.inplace[1] = 1;
    s.inplace[2] = 2;
    s.workspace[2] = 3;
    memory_is(&s, "c0 c1/0 c2/1", "4 6 9"); /* 4 grows to 6; 1 in the memory of 6, with workspace 3 */
    s.flags[2] = PB_NODE_KEEP;
    memory_is(&s, "c0 c1/0 c2/1 c0", "4 6 9 5");
}

static void byproducts_count_when_they_are_made(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    small_game_add(&s, 1, 2, 0);
    small_game_add(&s, 0, 5, 0);
    s.owner[1] = 0;
    small_game_add(&s, 1, 1, 3);
    memory_is(&s, "c0+1 c2", "7 8");
    memory_is(&s, "c0 c0+1 c2", "2 7 8"); /* for the by-product alone: the node is not there twice */
    memory_is(&s, "c0+1 f0 f1 c0+1 c2", "7 7 5 7 8");
    s.kind = PB_GAME_REVERSIBLE;
    memory_is(&s, "c0+1 c2 u1 u0", "7 8 8 3");
}

/* Recomputed for its by-product, it is still where it was. */
static void a_borrowed_value_stays_borrowed_when_it_is_computed_again(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    small_game_add(&s, 1, 3, 0);
    pb_node part = small_game_add(&s, 0, 2, 0);
    small_game_add(&s, 1, 1, 0);
    s.owner[part] = 0;
    s.borrow = 3;
    memory_is(&s, "b0 c0+1 u0 c2", "0 2 2 3");
}

static void workspace_counts_when_uncomputing_too(void **state)
{
    (void)state;
    small_game s;
    small_tiny(&s);
    s.kind = PB_GAME_REVERSIBLE;
    s.workspace[1] = 4;
    memory_is(&s, "c0 c1 c2 u1 u0", "1 6 4 8 3");
}

static void slow_memory_is_shown_apart(void **state)
{
    (void)state;
    small_game s;
    small_tiny(&s);
    s.kind = PB_GAME_TIERED;
    s.tier_count = 2;
    s.tiers[0] = s.tiers[1] = (pb_tier){.store_cost = 1, .load_cost = 2, .cap = PB_UNLIMITED};
    s.flags[0] = PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW;
    memory_is(&s, "l0:1 c1 s1:2 f1 l1:2 d0:1 c2", "1 2 2 2 2 2 4");
    profile_is(&s, "l0:1 c1 s1:2 f1 l1:2 d0:1 c2", PB_AXIS_MOVES, "1 2 2 2 2 2 4", "1 1 2 2 2 2 1");
    /* By time: load 2, compute 1, store 1, load 2, compute 3; moves without cost fall into the part they touch. */
    profile_is(&s, "l0:1 c1 s1:2 f1 l1:2 d0:1 c2", PB_AXIS_TIME, "1 1 2 2 2 2 4 4 4", "1 1 1 2 2 2 2 1 1");
}

static void parts_show_the_largest_of_what_they_touch(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    small_game_add(&s, 3, 8, 0);
    small_game_add(&s, 5, 1, 1);
    /* c0 takes 0..3 at 8, c1 takes 3..8 at 9, f0 and f1 nothing, at the end. */
    profile_is(&s, "c0 c1 f0 f1", PB_AXIS_TIME, "8 8 8 9 9 9 9 9", NULL);
    profile_is(&s, "c0 c1 f0 f1", PB_AXIS_TIME, "8 9 9 9", NULL);
    profile_is(&s, "c0 c1 f0 f1", PB_AXIS_TIME, "9", NULL);
    profile_is(&s, "c0 c1 f0 f1", PB_AXIS_MOVES, "9 9", NULL);
    profile_is(&s, "c0 c1 f0 f1", PB_AXIS_MOVES, "9 9 9", NULL); /* 4 moves over 3 parts */
    profile_is(&s, "c0 c1 f0 f1", PB_AXIS_MOVES, "8 9 9 1", NULL);
}

static void a_makespan_near_2_to_64_is_divided(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    small_game_add(&s, UINT64_C(1) << 62, 1, 0);
    small_game_add(&s, UINT64_C(1) << 62, 2, 1);
    small_game_add(&s, UINT64_C(1) << 63, 4, 2);
    s.cost[2] -= 1; /* 2^64 - 1 in all */
    profile_is(&s, "c0 c1 f0 c2", PB_AXIS_TIME, "1 3 6 6", NULL);
    profile_is(&s, "c0 c1 f0 c2", PB_AXIS_TIME, "1 1 3 3 6 6 6 6", NULL);
    profile_is(&s, "c0 c1 f0 c2", PB_AXIS_MOVES, "1 3 3 6", NULL);
}

static void work_without_cost_has_no_length(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pb_profile p;
    small_tiny(&s);
    memset(s.cost, 0, sizeof s.cost);
    bench_open(&b, &s, "c0 c1 c2");
    assert_int_equal(pb_profile_make(&b.ctx, b.certificate, PB_AXIS_TIME, 2, &b.arena, &p), PB_OK);
    assert_int_equal(p.length, 0);
    assert_int_equal(p.fast[0], 4); /* all of it at once */
    assert_int_equal(p.fast[1], 0);
    bench_close(&b);
}

static void no_parts_is_an_error_and_so_is_no_memory(void **state)
{
    (void)state;
    small_game s;
    small_tiny(&s);
    bench b;
    bench_open(&b, &s, "c0 c1 c2");
    pb_profile p = {.bucket_count = 77};
    assert_int_equal(pb_profile_make(&b.ctx, b.certificate, PB_AXIS_MOVES, 0, &b.arena, &p), PB_EINVAL);
    assert_string_equal(b.ctx.error.message, "a profile needs at least one part; ask for more");
    for (uint64_t refuse = 1; refuse <= 2; refuse++) {
        pb_context ctx;
        failing_allocator memory = {.refuse = refuse};
        failing_context(&ctx, &memory);
        pb_arena arena;
        pb_arena_init(&arena, &ctx);
        uint64_t *moves = NULL;
        assert_int_equal(pb_profile_make(&ctx, b.certificate, PB_AXIS_MOVES, 5, &arena, &p), PB_ENOMEM);
        pb_arena_release(&arena);
        memory = (failing_allocator){.refuse = refuse};
        assert_int_equal(pb_profile_moves(&ctx, b.certificate, &arena, &moves), PB_ENOMEM);
        assert_null(moves);
        pb_arena_release(&arena);
        assert_int_equal(memory.blocks, 0);
        assert_int_equal(ctx.memory_used, 0);
    }
    assert_int_equal(p.bucket_count, 77);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_and_fixed_memory_is_there_from_the_start),
        cmocka_unit_test(in_place_moves_make_only_the_difference),
        cmocka_unit_test(byproducts_count_when_they_are_made),
        cmocka_unit_test(a_borrowed_value_stays_borrowed_when_it_is_computed_again),
        cmocka_unit_test(workspace_counts_when_uncomputing_too),
        cmocka_unit_test(slow_memory_is_shown_apart),
        cmocka_unit_test(parts_show_the_largest_of_what_they_touch),
        cmocka_unit_test(a_makespan_near_2_to_64_is_divided),
        cmocka_unit_test(work_without_cost_has_no_length),
        cmocka_unit_test(no_parts_is_an_error_and_so_is_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
