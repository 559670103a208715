/* test_walk.c -- the walk against the verifier's own sums, and what the links find. */
#include "base/rng.h"
#include "oracle/brute_force.h"
#include "report/walk.h"
#include "support/cases.h"
#include "unit/report_fixture.h"

static void check_totals(bench *b, uint64_t seed)
{
    pbi_walk w;
    const pb_totals *t = pb_certificate_totals(b->certificate);
    uint64_t peak = t->start_memory, io = 0;
    assert_int_equal(pbi_walk_init(&w, b->certificate, &b->arena), PB_OK);
    if (w.after != t->start_memory)
        fail_msg("seed %llu: the start differs", (unsigned long long)seed);
    while (pbi_walk_next(&w)) {
        peak = w.during > peak ? w.during : peak;
        io += w.io ? w.cost : 0;
    }
    if (peak != t->peak || io != t->io || w.work != t->compute_work + t->uncompute_work ||
        pb_u128_compare(w.flux, t->flux) != 0 || w.after != t->end_memory || w.end != w.work + io)
        fail_msg("seed %llu: the walk and the verifier differ", (unsigned long long)seed);
}

static void walk_agrees_with_the_verifier_on_random_schedules(void **state)
{
    (void)state;
    bf_space *space = bf_space_new();
    uint64_t cases = test_cases(300), checked = 0;
    for (uint64_t seed = 1; seed <= cases; seed++) {
        small_game s;
        bench b;
        bf_problem problem;
        bf_answer answer;
        small_game_random(seed, PB_GAME_ALL, &s);
        if (s.node_count > 8)
            s.node_count = 8;
        pb_context probe;
        pb_context_init(&probe);
        pb_arena arena;
        pb_arena_init(&arena, &probe);
        pb_game game;
        bool builds = small_game_build(&probe, &s, &arena, &game);
        pb_arena_release(&arena);
        if (!builds)
            continue;
        bench_open(&b, &s, NULL);
        if (bf_from_game(&b.game, &problem) && bf_random_schedule(space, &problem, seed, 12, &answer) &&
            answer.feasible) {
            assert_int_equal(bf_to_moves(&answer, &b.moves), PB_OK);
            bench_certify(&b);
            check_totals(&b, seed);
            checked++;
        }
        bench_close(&b);
    }
    bf_space_free(space);
    assert_true(checked > cases / 10);
}

static void walk_of_an_empty_graph_has_no_moves(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_walk w;
    small_game_init(&s);
    bench_open(&b, &s, "");
    assert_int_equal(pbi_walk_init(&w, b.certificate, &b.arena), PB_OK);
    assert_false(pbi_walk_next(&w));
    bench_close(&b);
}

static void links_find_the_next_use_and_the_making_again(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_links links;
    small_loop(&s, 4); /* 3 reads 2 and 0 */
    bench_open(&b, &s, "c0 c1 f0 c2 f1 c0 c3");
    assert_int_equal(pbi_links_make(&b.ctx, b.certificate, &b.arena, &links), PB_OK);
    assert_int_equal(links.use[0], 1);
    assert_true(links.again[2] == 5);
    assert_true(links.use[5] == 6);
    assert_true(links.again[4] == PBI_NO_STEP);
    assert_true(links.use[6] == PBI_NO_STEP);
    bench_close(&b);
}

static void links_join_a_drop_of_memory_to_its_load(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_links links;
    small_loop(&s, 4);
    s.kind = PB_GAME_TIERED;
    s.tier_count = 1;
    s.tiers[0] = (pb_tier){.store_cost = 1, .load_cost = 1, .cap = PB_UNLIMITED};
    bench_open(&b, &s, "c0 s0:1 c1 f0 c2 f1 l0:1 c3");
    assert_int_equal(pbi_links_make(&b.ctx, b.certificate, &b.arena, &links), PB_OK);
    assert_true(links.again[3] == 6);
    assert_true(links.use[6] == 7);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walk_agrees_with_the_verifier_on_random_schedules),
        cmocka_unit_test(walk_of_an_empty_graph_has_no_moves),
        cmocka_unit_test(links_find_the_next_use_and_the_making_again),
        cmocka_unit_test(links_join_a_drop_of_memory_to_its_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
