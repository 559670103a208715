/* test_evicting.c -- what a policy does for strategies whose plans do not fit. */
#include "pebble/api.h"
#include "support/small_game.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct bench {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_plan_result p;
} bench;

/* 0 is read by 1 and at the end; 2 and 3 are between. Program order has 0 and two others at a time: 3. */
static void open_bench(bench *b, pb_game_kind kind, uint64_t cap)
{
    small_game s;
    small_game_init(&s);
    small_game_add(&s, 5, 1, 0);
    small_game_add(&s, 1, 1, 1u << 0);
    small_game_add(&s, 1, 1, 1u << 1);
    small_game_add(&s, 1, 1, 1u << 2);
    small_game_add(&s, 1, 1, 1u << 0 | 1u << 3);
    s.kind = kind;
    s.cap = cap;
    pb_context_init(&b->ctx);
    pb_arena_init(&b->arena, &b->ctx);
    assert_true(small_game_build(&b->ctx, &s, &b->arena, &b->game));
}

static void ask(bench *b, const char *strategy, const char *policy)
{
    pb_request request = {.strategy = strategy, .policy = policy, .seed = 1};
    assert_int_equal(pb_plan(&b->ctx, &b->game, &request, &b->arena, &b->p), PB_OK);
}

static void close_bench(bench *b)
{
    pb_arena_release(&b->arena);
    assert_int_equal(b->ctx.memory_used, 0);
}

static void keeping_everything_fits_with_evictions(void **state)
{
    (void)state;
    bench b;
    open_bench(&b, PB_GAME_REMAT, 3);
    ask(&b, "cache-all", NULL);
    assert_int_equal(b.p.schedule.outcome, PB_GAVE_UP);
    ask(&b, "cache-all", "oldest");
    assert_true(b.p.certificate != NULL);
    assert_string_equal(b.p.schedule.strategy, "cache-all");
    assert_string_equal(b.p.schedule.policy, "oldest");
    assert_true(b.p.schedule.metrics.peak <= 3);
    assert_non_null(strstr(b.p.schedule.note, "with values evicted by the policy oldest"));
    ask(&b, "cache-all:policy=largest", NULL); /* as an option of the strategy */
    assert_string_equal(b.p.schedule.policy, "largest");
    close_bench(&b);
}

static void a_policy_that_is_not_needed_changes_nothing(void **state)
{
    (void)state;
    bench b;
    open_bench(&b, PB_GAME_REMAT, 5);
    ask(&b, "cache-all", "oldest");
    assert_true(b.p.certificate != NULL);
    assert_null(b.p.schedule.policy);
    assert_string_equal(b.p.schedule.policy_asked, "oldest");
    assert_int_equal(b.p.schedule.metrics.recompute, 0);
    close_bench(&b);
}

static void evictions_of_the_reversible_game_are_uncomputations(void **state)
{
    (void)state;
    bench b;
    open_bench(&b, PB_GAME_REVERSIBLE, 4);
    ask(&b, "eager-uncompute", NULL);
    assert_null(b.p.certificate);
    ask(&b, "eager-uncompute", "least-recent");
    assert_true(b.p.certificate != NULL);
    assert_string_equal(b.p.schedule.policy, "least-recent");
    assert_true(b.p.schedule.metrics.uncompute > 0);
    close_bench(&b);
}

static void refusals_have_both_reasons(void **state)
{
    (void)state;
    bench b;
    open_bench(&b, PB_GAME_REMAT, 3);
    ask(&b, "cache-all", "abort"); /* evicts nothing */
    assert_null(b.p.certificate);
    assert_string_equal(b.p.schedule.policy, "abort");
    assert_non_null(strstr(b.p.schedule.reason, "does not fit: move 3"));
    close_bench(&b);
    open_bench(&b, PB_GAME_REMAT, 2);
    ask(&b, "cache-all", "oldest");
    assert_null(b.p.certificate);
    ask(&b, "knill", "oldest"); /* plays another game: no policy helps */
    assert_int_equal(b.p.schedule.outcome, PB_GAVE_UP);
    assert_null(strstr(b.p.schedule.reason, "evicting"));
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeping_everything_fits_with_evictions),
        cmocka_unit_test(a_policy_that_is_not_needed_changes_nothing),
        cmocka_unit_test(evictions_of_the_reversible_game_are_uncomputations),
        cmocka_unit_test(refusals_have_both_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
