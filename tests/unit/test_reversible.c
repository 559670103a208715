/* tests/unit/test_reversible.c -- units of the reversible game, and the two strategies that are made of little else. */
#include "pebble/generate.h"
#include "plan/reversible/units.h"
#include "plan_fixture.h"
#include "support/io_case.h"

/* Node 0 (workspace 1) with by-product 1 of size 2; 2 reads both, 3 reads 2 and is the target. */
static void unit(small_game *s)
{
    small_game_init(s);
    s->kind = PB_GAME_REVERSIBLE;
    small_game_add(s, 2, 1, 0);
    s->workspace[0] = 1;
    small_game_add(s, 0, 2, 0);
    s->owner[1] = 0;
    small_game_add(s, 1, 1, bit(0) | bit(1));
    small_game_add(s, 1, 1, bit(2));
}

static void open_unit(bench *b, const small_game *s, uint64_t limit, pbi_reversible *r)
{
    bench_open(b, s);
    assert_int_equal(pbi_reversible_init(r, &b->ctx, &b->game, &b->plan, limit, &b->arena), PB_OK);
}

static void play(pbi_reversible *r, const char *text)
{
    for (; *text; text += strcspn(text, " "), text += *text == ' ') {
        pb_node v = (pb_node)strtoul(text + 1, NULL, 10);
        assert_int_equal(*text == 'c' ? pbi_reversible_compute(r, v) : pbi_reversible_uncompute(r, v), PB_OK);
    }
    pbi_reversible_finish(r);
}

static void a_unit_is_made_and_removed_whole(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_reversible r;
    unit(&s);
    open_unit(&b, &s, 100, &r);
    assert_false(pbi_reversible_ready(&r, 2));
    assert_true(pbi_reversible_ready(&r, 0));
    assert_int_equal(pbi_reversible_need(&r, 0), 4); /* 1 and 2, and workspace 1 */
    assert_false(pbi_reversible_removable(&r, 0));
    play(&r, "c0");
    assert_int_equal(r.memory, 3);
    assert_true(pbi_reversible_ready(&r, 2));
    assert_true(pbi_reversible_removable(&r, 0));
    play(&r, "c2 c3 u2 u0");
    bench_moves(&b, "c0+1 c2 c3 u2 u1 u0");
    assert_int_equal(r.f.peak, 5); /* all four values, while 3 is computed and 2 uncomputed */
    bench_close(&b);
}

static void figures_are_those_of_the_replay(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_reversible r, quiet;
    unit(&s);
    s.fixed_size = 10;
    s.flags[small_game_add(&s, 0, 4, 0)] = PB_NODE_GIVEN;
    s.targets = bit(3);
    open_unit(&b, &s, 100, &r);
    assert_int_equal(r.memory, 14);
    play(&r, "c0 c2 c3 u2 u0");
    pb_totals totals = bench_totals(&b);
    assert_int_equal(r.f.peak, totals.peak);
    assert_int_equal(r.f.time, totals.compute_work + totals.uncompute_work);
    assert_int_equal(pb_u128_compare(r.f.flux, totals.flux), 0);
    assert_int_equal(pbi_reversible_init(&quiet, &b.ctx, &b.game, NULL, 100, &b.arena), PB_OK);
    play(&quiet, "c0 c2 c3 u2 u0"); /* measuring alone */
    assert_int_equal(quiet.f.peak, r.f.peak);
    assert_int_equal(quiet.f.time, r.f.time);
    bench_close(&b);
}

static void final_members_stay(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_reversible r;
    unit(&s);
    s.flags[1] = PB_NODE_KEEP; /* the by-product stays, its node does not */
    open_unit(&b, &s, 100, &r);
    play(&r, "c0 c2 c3 u2 u0 u0");
    bench_moves(&b, "c0+1 c2 c3 u2 u0");
    assert_false(pbi_reversible_removable(&r, 0));
    bench_close(&b);
    unit(&s);
    s.flags[0] = PB_NODE_KEEP; /* the other way about */
    open_unit(&b, &s, 100, &r);
    play(&r, "c0 c2 c3 u2 u0 c0 u0"); /* made once more for the by-product alone */
    bench_moves(&b, "c0+1 c2 c3 u2 u1 c0+1 u1");
    bench_close(&b);
}

static void what_is_there_is_not_made_again(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_reversible r;
    unit(&s);
    s.targets = bit(3);
    s.in[2] = bit(0); /* nobody reads the by-product: it is not made */
    open_unit(&b, &s, 100, &r);
    play(&r, "c0 c0 c2 c2 c3 c3 u3 u2 u0"); /* the target is not removed either */
    bench_moves(&b, "c0 c2 c3 u2 u0");
    bench_close(&b);
}

static void once_refuses_a_second_computation(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_reversible r;
    unit(&s);
    s.flags[0] = PB_NODE_ONCE;
    open_unit(&b, &s, 100, &r);
    play(&r, "c0 u0 c0");
    assert_true(r.stuck);
    bench_gave_up(&b, "does not apply: 0 may be computed only once");
    bench_close(&b);
}

static void the_move_over_the_cap_is_named(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_reversible r;
    unit(&s);
    s.cap = 4;
    open_unit(&b, &s, 100, &r);
    play(&r, "c0 c2 c3");
    bench_gave_up(&b, "does not fit: move 2 (compute 3) needs 5 unit, 1 over the cap of 4 unit");
    assert_int_equal(b.plan.failed_node, 3);
    assert_false(r.f.fits);
    bench_close(&b);
    s.cap = 6;
    s.workspace[2] = 3;
    open_unit(&b, &s, 100, &r);
    play(&r, "c0");
    assert_int_equal(pbi_reversible_compute(&r, 2), PB_OK);
    bench_gave_up(&b, "does not fit: move 1 (compute 2) needs 7 unit, 1 over the cap of 6 unit");
    bench_close(&b);
}

static void the_limit_counts_moves(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_reversible r;
    unit(&s);
    open_unit(&b, &s, 2, &r);
    assert_int_equal(pbi_reversible_compute(&r, 0), PB_OK);
    assert_int_equal(pbi_reversible_compute(&r, 2), PB_OK);
    assert_int_equal(pbi_reversible_compute(&r, 3), PB_ELIMIT);
    assert_string_equal(b.ctx.error.message, "limit hit: more than 2 moves; raise its option limit");
    bench_close(&b);
}

static void work_beyond_64_bits_is_no_plan(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_reversible r;
    unit(&s);
    s.cost[0] = UINT64_C(1) << 63;
    open_unit(&b, &s, 100, &r);
    play(&r, "c0 c2 c3 u2 u0");
    assert_true(r.f.overflow);
    assert_int_equal(b.plan.outcome, PB_GAVE_UP);
    bench_close(&b);
}

static void a_refused_allocation_is_said(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_reversible r;
    unit(&s);
    bench_open(&b, &s);
    failing_allocator memory = {.refuse = 1};
    pb_context ctx;
    pb_arena arena;
    failing_context(&ctx, &memory);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pbi_reversible_init(&r, &ctx, &b.game, NULL, 1, &arena), PB_ENOMEM);
    pb_arena_release(&arena);
    bench_close(&b);
}

/* ---- strategies ---- */

static void planned(bench *b, const char *family, const char *key, uint64_t value, pbi_plan_function plan,
                    pb_option option)
{
    char text[24];
    const pb_graph *g;
    snprintf(text, sizeof text, "%" PRIu64, value);
    pb_option parameter = {key, text};
    pbi_plan_options options = {.options = &option, .option_count = option.key ? 1 : 0};
    pb_context_init(&b->ctx);
    pb_arena_init(&b->arena, &b->ctx);
    assert_int_equal(pb_generate(&b->ctx, family, &parameter, 1, &b->arena, &g), PB_OK);
    b->game = (pb_game){.graph = g, .kind = PB_GAME_REVERSIBLE, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    pbi_plan_reset(&b->plan, &b->arena);
    assert_int_equal(plan(&b->ctx, &b->game, &options, &b->plan), PB_OK);
    assert_int_equal(b->plan.outcome, PB_FOUND);
}

static void bennett_in_halves_takes_3_to_the_j_moves(void **state)
{
    (void)state;
    uint64_t moves = 1;
    for (uint64_t j = 0; j <= 8; j++, moves *= 3) {
        bench b;
        planned(&b, "chain", "nodes", UINT64_C(1) << j, pbi_plan_bennett, (pb_option){"k", "2"});
        assert_int_equal(b.plan.moves.count, moves);
        assert_int_equal(bench_totals(&b).peak, j + 1);
        bench_close(&b);
    }
    bench b;
    planned(&b, "chain", "nodes", 4, pbi_plan_bennett, (pb_option){"k", "2"});
    bench_moves(&b, "c0 c1 u0 c2 c3 u2 c0 u1 u0");
    bench_close(&b);
}

static void bennett_without_a_cap_does_each_move_twice(void **state)
{
    (void)state;
    bench b;
    planned(&b, "chain", "nodes", 50, pbi_plan_bennett, (pb_option){NULL, NULL});
    assert_int_equal(b.plan.moves.count, 99); /* all at once: nothing is cheaper */
    assert_string_equal(b.plan.options[0].key, "k");
    assert_string_equal(b.plan.options[0].value, "50");
    bench_close(&b);
}

static void eager_uncompute_on_trees_takes_2n_minus_1_moves(void **state)
{
    (void)state;
    for (uint64_t height = 0; height <= 6; height++)
        for (int cones = 0; cones < 2; cones++) {
            bench b;
            planned(&b, "tree", "height", height, pbi_plan_eager_uncompute,
                    (pb_option){"order", cones ? "cones" : "program"});
            assert_int_equal(b.plan.moves.count, 2 * ((UINT64_C(2) << height) - 1) - 1);
            bench_totals(&b);
            bench_close(&b);
        }
}

/* Two trees of three: each is cleaned up as soon as its root is there, so their peaks do not add up. */
static void eager_uncompute_settles_each_target_at_once(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_plan_options options = {0};
    small_game_init(&s);
    s.kind = PB_GAME_REVERSIBLE;
    for (unsigned i = 0; i < 2; i++) {
        small_game_add(&s, 1, 1, 0);
        small_game_add(&s, 1, 1, 0);
        small_game_add(&s, 1, 1, bit(3 * i) | bit(3 * i + 1));
    }
    bench_open(&b, &s);
    assert_int_equal(pbi_plan_eager_uncompute(&b.ctx, &b.game, &options, &b.plan), PB_OK);
    bench_moves(&b, "c0 c1 c2 u1 u0 c3 c4 c5 u4 u3"); /* 2 * 6 - 2 moves */
    assert_int_equal(bench_totals(&b).peak, 4);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_is_made_and_removed_whole),
        cmocka_unit_test(figures_are_those_of_the_replay),
        cmocka_unit_test(final_members_stay),
        cmocka_unit_test(what_is_there_is_not_made_again),
        cmocka_unit_test(once_refuses_a_second_computation),
        cmocka_unit_test(the_move_over_the_cap_is_named),
        cmocka_unit_test(the_limit_counts_moves),
        cmocka_unit_test(work_beyond_64_bits_is_no_plan),
        cmocka_unit_test(a_refused_allocation_is_said),
        cmocka_unit_test(bennett_in_halves_takes_3_to_the_j_moves),
        cmocka_unit_test(bennett_without_a_cap_does_each_move_twice),
        cmocka_unit_test(eager_uncompute_on_trees_takes_2n_minus_1_moves),
        cmocka_unit_test(eager_uncompute_settles_each_target_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
