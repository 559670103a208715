/* test_metrics.c -- figures of certified schedules: by hand, and against a second way to work them out. */
#include "base/rng.h"
#include "oracle/brute_force.h"
#include "pebble/metrics.h"
#include "support/cases.h"
#include "support/move_text.h"
#include "support/reference.h"
#include "support/small_game.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct bench {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_moves moves;
    const pb_certificate *certificate;
    pb_metrics metrics;
} bench;

/* Builds, verifies (the schedule must be legal) and measures. */
static void measure(bench *b, const small_game *s, const char *moves)
{
    pb_verdict verdict;
    pb_context_init(&b->ctx);
    pb_arena_init(&b->arena, &b->ctx);
    pb_moves_init(&b->moves, &b->arena);
    assert_true(small_game_build(&b->ctx, s, &b->arena, &b->game));
    moves_from_text(moves, &b->moves);
    assert_int_equal(pb_verify(&b->ctx, &b->game, &b->moves, &b->arena, &verdict), PB_OK);
    assert_non_null(verdict.certificate);
    b->certificate = verdict.certificate;
    assert_int_equal(pb_metrics_measure(&b->ctx, b->certificate, &b->metrics), PB_OK);
}

static void close_bench(bench *b)
{
    pb_arena_release(&b->arena);
    assert_int_equal(b->ctx.memory_used, 0);
}

/* a -> b, a -> c, b -> c: costs 1, 1, 3, sizes 1, 1, 2. */
static void tiny(small_game *s)
{
    small_game_init(s);
    small_game_add(s, 1, 1, 0);
    small_game_add(s, 1, 1, 1);
    small_game_add(s, 3, 2, 3);
}

static void metrics_of_the_documented_example_are_exact(void **state)
{
    (void)state;
    small_game s;
    bench b;
    tiny(&s);
    s.cap = 4;
    measure(&b, &s, "c0 c1 c2 f0");
    const pb_metrics *m = &b.metrics;
    assert_int_equal(m->peak, 4);
    assert_int_equal(m->work, 5);
    assert_int_equal(m->io, 0);
    assert_int_equal(m->makespan, 5);
    assert_int_equal(m->recompute, 0);
    assert_int_equal(m->recompute_count, 0);
    assert_int_equal(m->uncompute, 0);
    assert_int_equal(m->flux.low, 15); /* 1*1 + 1*2 + 3*4 */
    assert_int_equal(m->flux.high, 0);
    assert_int_equal(m->moves, 4);
    assert_int_equal(m->depth, 3);
    assert_int_equal(m->cost.low, 0);
    assert_true(m->overhead == 0.0);
    assert_true(m->gap < 0);
    assert_true(pb_metrics_gap(m->makespan, 5) == 0.0);
    close_bench(&b);
}

static void metrics_of_nothing_are_zero(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_game_init(&s);
    measure(&b, &s, "");
    assert_int_equal(b.metrics.peak, 0);
    assert_int_equal(b.metrics.makespan, 0);
    assert_int_equal(b.metrics.depth, 0);
    assert_true(b.metrics.overhead == 0.0);
    close_bench(&b);
}

static void recompute_counts_what_is_done_again(void **state)
{
    (void)state;
    small_game s;
    bench b;
    tiny(&s);
    measure(&b, &s, "c0 f0 c0 c1 f1 c1 c2");
    assert_int_equal(b.metrics.recompute, 2);
    assert_int_equal(b.metrics.recompute_count, 2);
    assert_int_equal(b.metrics.work, 7);
    assert_true(b.metrics.overhead > 0.3999 && b.metrics.overhead < 0.4001);
    close_bench(&b);
    s.kind = PB_GAME_REVERSIBLE;
    measure(&b, &s, "c0 c1 c2 u1 c1 u1 u0");
    assert_int_equal(b.metrics.recompute, 1);
    assert_int_equal(b.metrics.uncompute, 3);
    assert_int_equal(b.metrics.work, 9);
    assert_int_equal(b.metrics.cost.low, 4);
    close_bench(&b);
    /* Work on what nobody needs is recomputation too. */
    tiny(&s);
    s.targets = 1;
    measure(&b, &s, "c0 c1");
    assert_int_equal(b.metrics.recompute, 1);
    assert_int_equal(b.metrics.recompute_count, 1);
    close_bench(&b);
}

static void gap_needs_a_bound(void **state)
{
    (void)state;
    assert_true(pb_metrics_gap(0, 0) == 0.0);
    assert_true(pb_metrics_gap(5, 0) < 0);
    assert_true(pb_metrics_gap(6, 4) == 0.5);
}

/* ---- depth ---- */

/* 0 alone; 1 alone; 2 reads 0; 3 reads 0 and may overwrite it, with by-product 4; 5 reads 3 and 4. */
static void branches(small_game *s)
{
    small_game_init(s);
    small_game_add(s, 1, 1, 0);
    small_game_add(s, 1, 1, 0);
    small_game_add(s, 1, 1, 1);
    small_game_add(s, 1, 1, 1);
    s->inplace[3] = 1;
    small_game_add(s, 0, 1, 0);
    s->owner[4] = 3;
    small_game_add(s, 1, 1, 8 | 16);
    s->targets = 1;
}

static const struct {
    pb_game_kind kind;
    const char *moves;
    uint64_t depth;
} depth_cases[] = {
    {PB_GAME_REMAT, "c0", 1},
    {PB_GAME_REMAT, "c0 c1", 1},         /* side by side */
    {PB_GAME_REMAT, "c0 c2", 2},         /* made, read */
    {PB_GAME_REMAT, "c0 f0", 1},         /* freeing takes no time */
    {PB_GAME_REMAT, "c0 f0 c0", 2},      /* again after its removal */
    {PB_GAME_REMAT, "c0 c2 f0 c0", 3},   /* the removal waits for the reader */
    {PB_GAME_REMAT, "c0 c2 f2 c1", 2},   /* others wait for nothing */
    {PB_GAME_REMAT, "c0 c2 c3", 2},      /* two readers at once */
    {PB_GAME_REMAT, "c0 c2 c3/0", 3},    /* overwriting waits for the other reader */
    {PB_GAME_REMAT, "c0 c3/0 c0", 3},    /* and is a removal */
    {PB_GAME_REMAT, "c0 c3+4 c5", 3},    /* by-products are there with their node */
    {PB_GAME_REMAT, "c0 c3 c3+4 c5", 3}, /* made by a second run that depends on the inputs alone */
    {PB_GAME_REMAT, "c0 c3+4 f4 c3+4", 3},
    {PB_GAME_REVERSIBLE, "c0 c2 u2", 3},
    {PB_GAME_REVERSIBLE, "c0 c2 u2 c2 u2", 5},
    {PB_GAME_REVERSIBLE, "c0 c3+4 u4 u3", 3}, /* both removed at once */
    {PB_GAME_REVERSIBLE, "c0 c3+4 c5 u5 u4 u3", 5},
    {PB_GAME_TIERED, "c0 s0:1", 2},
    {PB_GAME_TIERED, "c0 s0:1 f0 l0:1", 3},
    {PB_GAME_TIERED, "c0 s0:1 f0 l0:1 d0:1", 3}, /* dropping takes no time */
    {PB_GAME_TIERED, "c0 s0:1 s0:2", 2},         /* copies side by side */
    {PB_GAME_TIERED, "c0 s0:1 d0:1 s0:1", 3},    /* stored again after the drop */
    {PB_GAME_TIERED, "c0 c2 s0:1 f0 l0:1 c3", 4},
};

static void depth_follows_the_longest_chain(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(depth_cases); i++) {
        small_game s;
        bench b;
        branches(&s);
        s.kind = depth_cases[i].kind;
        if (s.kind == PB_GAME_TIERED) {
            s.tier_count = 2;
            s.tiers[0] = s.tiers[1] = (pb_tier){.store_cost = 1, .load_cost = 1, .cap = PB_UNLIMITED};
        }
        if (s.kind == PB_GAME_REVERSIBLE)
            s.targets = 1;
        measure(&b, &s, depth_cases[i].moves);
        reference r;
        reference_replay(&b.game, &b.moves, &r);
        if (b.metrics.depth != depth_cases[i].depth || r.depth != depth_cases[i].depth)
            fail_msg("\"%s\": depth %" PRIu64 ", the second way %" PRIu64 ", expected %" PRIu64, depth_cases[i].moves,
                     b.metrics.depth, r.depth, depth_cases[i].depth);
        close_bench(&b);
    }
}

/* ---- numbers that do not fit ---- */

static void flux_is_exact_beyond_64_bits(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_game_init(&s);
    small_game_add(&s, UINT64_C(1) << 40, UINT64_C(1) << 60, 0);
    small_game_add(&s, UINT64_C(1) << 40, 5, 1);
    measure(&b, &s, "c0 c1");
    /* 2^40 * 2^60 + 2^40 * (2^60 + 5) = 2^101 + 5 * 2^40 */
    assert_int_equal(b.metrics.flux.high, UINT64_C(1) << 37);
    assert_int_equal(b.metrics.flux.low, UINT64_C(5) << 40);
    close_bench(&b);
}

static void cost_takes_decimal_weights_exactly(void **state)
{
    (void)state;
    small_game s;
    bench b;
    tiny(&s);
    s.weights = (pb_weights){.alpha = 125, .beta = 7, .gamma = 1500, .digits = 3};
    measure(&b, &s, "c0 c1 f1 c1 c2");
    /* peak 4, flux 1 + 2 + 2 + 12 = 17, recompute 1 */
    assert_int_equal(b.metrics.cost.low, 125 * 4 + 7 * 17 + 1500);
    assert_int_equal(b.metrics.cost.high, 0);
    char text[PB_COST_TEXT];
    pb_cost_text(b.metrics.cost, &s.weights, text);
    assert_string_equal(text, "2.119");
    close_bench(&b);
}

static void cost_beyond_128_bits_is_an_error(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_game_init(&s);
    small_game_add(&s, UINT64_C(1) << 50, UINT64_C(1) << 60, 0);
    s.weights = (pb_weights){.beta = UINT64_C(1) << 17, .digits = 0};
    measure(&b, &s, "c0");
    assert_int_equal(b.metrics.cost.high, UINT64_C(1) << 63);
    b.game.weights.beta <<= 1;
    pb_metrics before = b.metrics;
    assert_int_equal(pb_metrics_measure(&b.ctx, b.certificate, &b.metrics), PB_ERANGE);
    assert_memory_equal(&before, &b.metrics, sizeof before);
    assert_true(strlen(b.ctx.error.message) > 0);
    close_bench(&b);
}

/* ---- memory over time ---- */

static void profile_shows_the_largest_memory_of_each_part(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pb_profile p;
    tiny(&s);
    measure(&b, &s, "c0 c1 c2 f0"); /* memory 1, 2, 4, 4; costs 1, 1, 3, 0 */
    assert_int_equal(pb_profile_make(&b.ctx, b.certificate, PB_AXIS_MOVES, 4, &b.arena, &p), PB_OK);
    static const uint64_t by_move[] = {1, 2, 4, 4};
    assert_int_equal(p.length, 4);
    assert_memory_equal(p.fast, by_move, sizeof by_move);
    assert_int_equal(pb_profile_make(&b.ctx, b.certificate, PB_AXIS_TIME, 5, &b.arena, &p), PB_OK);
    static const uint64_t by_time[] = {1, 2, 4, 4, 4};
    assert_int_equal(p.length, 5);
    assert_memory_equal(p.fast, by_time, sizeof by_time);
    assert_int_equal(pb_profile_make(&b.ctx, b.certificate, PB_AXIS_MOVES, 2, &b.arena, &p), PB_OK);
    assert_int_equal(p.fast[0], 2);
    assert_int_equal(p.fast[1], 4);
    assert_int_equal(pb_profile_make(&b.ctx, b.certificate, PB_AXIS_MOVES, 8, &b.arena, &p), PB_OK);
    static const uint64_t finer[] = {1, 1, 2, 2, 4, 4, 4, 4};
    assert_memory_equal(p.fast, finer, sizeof finer);
    assert_int_equal(pb_profile_make(&b.ctx, b.certificate, PB_AXIS_MOVES, 0, &b.arena, &p), PB_EINVAL);
    uint64_t *moves;
    assert_int_equal(pb_profile_moves(&b.ctx, b.certificate, &b.arena, &moves), PB_OK);
    assert_memory_equal(moves, by_move, sizeof by_move);
    close_bench(&b);
}

static void profile_shows_slow_memory(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pb_profile p;
    tiny(&s);
    s.kind = PB_GAME_TIERED;
    s.tier_count = 2;
    s.tiers[0] = s.tiers[1] = (pb_tier){.store_cost = 1, .load_cost = 1, .cap = PB_UNLIMITED};
    measure(&b, &s, "c0 s0:1 c1 s1:2 d0:1 c2");
    assert_int_equal(pb_profile_make(&b.ctx, b.certificate, PB_AXIS_MOVES, 6, &b.arena, &p), PB_OK);
    static const uint64_t fast[] = {1, 1, 2, 2, 2, 4}, slow[] = {0, 1, 1, 2, 2, 1};
    assert_memory_equal(p.fast, fast, sizeof fast);
    assert_memory_equal(p.slow, slow, sizeof slow);
    close_bench(&b);
}

static void profile_of_nothing_is_the_start(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pb_profile p;
    small_game_init(&s);
    s.fixed_size = 7;
    measure(&b, &s, "");
    assert_int_equal(pb_profile_make(&b.ctx, b.certificate, PB_AXIS_TIME, 3, &b.arena, &p), PB_OK);
    assert_int_equal(p.length, 0);
    assert_int_equal(p.fast[0], 7);
    close_bench(&b);
}

static void pareto_marks_what_nothing_beats(void **state)
{
    (void)state;
    pb_metrics m[7] = {{.peak = 4, .makespan = 10}, {.peak = 3, .makespan = 12}, {.peak = 4, .makespan = 11},
                       {.peak = 4, .makespan = 10}, {.peak = 9, .makespan = 9},  {.peak = 9, .makespan = 13},
                       {.peak = 3, .makespan = 12}};
    const pb_metrics *points[8] = {&m[0], &m[1], NULL, &m[2], &m[3], &m[4], &m[5], &m[6]};
    bool front[8];
    pb_pareto_mark(points, 8, front);
    static const bool expected[8] = {true, true, false, false, false, true, false, false};
    for (int i = 0; i < 8; i++)
        assert_int_equal(front[i], expected[i]);
    pb_pareto_mark(points, 0, front);
}

/* ---- against the second way ---- */

static void check_against_reference(const small_game *s, bench *b)
{
    reference r;
    pb_metrics m;
    uint64_t *memory;
    reference_replay(&b->game, &b->moves, &r);
    assert_true(r.legal);
    assert_int_equal(pb_metrics_measure(&b->ctx, b->certificate, &m), PB_OK);
    assert_int_equal(pb_profile_moves(&b->ctx, b->certificate, &b->arena, &memory), PB_OK);
    wide needed = reference_needed_cost(b->game.graph), extra = r.compute_work - needed + r.uncompute_work + r.io;
    const pb_weights *w = &s->weights;
    wide cost = w->alpha * r.peak + w->beta * r.flux + w->gamma * extra;
    uint64_t largest = (uint64_t)r.start_memory;
    for (pb_step k = 0; k < b->moves.count; k++)
        largest = memory[k] > largest ? memory[k] : largest;
    if (m.depth != r.depth || !same_wide(cost, m.cost) || m.recompute != r.compute_work - needed ||
        m.makespan != r.compute_work + r.uncompute_work + r.io || largest != r.peak) {
        char text[1000];
        small_game_print(s, stderr);
        moves_to_text(&b->moves, text, sizeof text);
        fail_msg("%s\ndepth %" PRIu64 ", the second way %" PRIu64 "; profile's peak %" PRIu64 " of %" PRIu64, text,
                 m.depth, r.depth, largest, (uint64_t)r.peak);
    }
}

static void metrics_agree_with_second_way_on_random_schedules(void **state)
{
    (void)state;
    bf_space *space = bf_space_new();
    bf_space_limit(space, 20000);
    uint64_t legal = 0, cases = test_cases(3000);
    for (uint64_t seed = 1; seed <= cases; seed++) {
        small_game s;
        bench b;
        bf_problem p;
        bf_answer a;
        pb_verdict verdict;
        small_game_random(seed, PB_GAME_ALL, &s);
        if (seed % 2)
            small_game_add_recipes(&s);
        pb_context_init(&b.ctx);
        pb_arena_init(&b.arena, &b.ctx);
        pb_moves_init(&b.moves, &b.arena);
        assert_true(small_game_build(&b.ctx, &s, &b.arena, &b.game));
        assert_true(bf_from_game(&b.game, &p));
        if (bf_random_schedule(space, &p, seed, (uint32_t)(seed % 23), &a) && a.feasible) {
            legal++;
            assert_int_equal(bf_to_moves(&a, &b.moves), PB_OK);
            assert_int_equal(pb_verify(&b.ctx, &b.game, &b.moves, &b.arena, &verdict), PB_OK);
            assert_non_null(verdict.certificate);
            b.certificate = verdict.certificate;
            check_against_reference(&s, &b);
        }
        close_bench(&b);
    }
    bf_space_free(space);
    assert_true(legal >= cases / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_of_the_documented_example_are_exact),
        cmocka_unit_test(metrics_of_nothing_are_zero),
        cmocka_unit_test(recompute_counts_what_is_done_again),
        cmocka_unit_test(gap_needs_a_bound),
        cmocka_unit_test(depth_follows_the_longest_chain),
        cmocka_unit_test(flux_is_exact_beyond_64_bits),
        cmocka_unit_test(cost_takes_decimal_weights_exactly),
        cmocka_unit_test(cost_beyond_128_bits_is_an_error),
        cmocka_unit_test(profile_shows_the_largest_memory_of_each_part),
        cmocka_unit_test(profile_shows_slow_memory),
        cmocka_unit_test(profile_of_nothing_is_the_start),
        cmocka_unit_test(pareto_marks_what_nothing_beats),
        cmocka_unit_test(metrics_agree_with_second_way_on_random_schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
