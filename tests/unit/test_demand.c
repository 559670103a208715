/* test_demand.c -- planning on demand, forward and reversible: exact small cases, and random ones under their cap. */
#include "base/rng.h"
#include "pebble/bound.h"
#include "plan/evict/demand.h"
#include "plan_fixture.h"
#include "support/cases.h"
#include "support/io_case.h"

static const pbi_policy all_policies[] = {PBI_OLDEST, PBI_LEAST_RECENT, PBI_RANDOM, PBI_LARGEST, PBI_PRIORITY};
enum { POLICIES = sizeof all_policies / sizeof *all_policies };

static pb_status plan(bench *b, pbi_policy policy, uint64_t limit)
{
    pbi_demand_options options = {.policy = policy, .seed = 1, .limit = limit};
    return b->game.kind == PB_GAME_REVERSIBLE ? pbi_demand_reversible(&b->ctx, &b->game, &options, &b->plan)
                                              : pbi_demand_forward(&b->ctx, &b->game, &options, &b->plan);
}

static void plans(const small_game *s, pbi_policy policy, const char *moves)
{
    bench b;
    bench_open(&b, s);
    assert_int_equal(plan(&b, policy, 1000), PB_OK);
    bench_moves(&b, moves);
    bench_close(&b);
}

static void refuses(const small_game *s, pbi_policy policy, const char *reason)
{
    bench b;
    bench_open(&b, s);
    assert_int_equal(plan(&b, policy, 1000), PB_OK);
    bench_gave_up(&b, reason);
    bench_close(&b);
}

/* 0 (2) -> 1 (1) -> 2 (3) -> 3 (1) -> 4 (1), and 4 reads 0 again. Under 5 value 0 must go for 2. */
static void detour(small_game *s)
{
    small_chain(s, 5);
    s->size[0] = 2;
    s->size[2] = 3;
    s->in[4] |= bit(0);
    s->cost[0] = 10;
    s->cap = 5;
}

static void with_room_nothing_is_made_twice(void **state)
{
    (void)state;
    small_game s;
    detour(&s);
    s.cap = PB_UNLIMITED;
    for (int i = 0; i < POLICIES; i++)
        plans(&s, all_policies[i], "c0 c1 c2 f1 c3 f2 c4");
    plans(&s, PBI_ABORT, "c0 c1 c2 f1 c3 f2 c4");
    small_game_init(&s);
    plans(&s, PBI_PRIORITY, "");
    small_game_add(&s, 1, 1, 0);
    plans(&s, PBI_PRIORITY, "c0");
}

static void what_is_missing_is_made_again(void **state)
{
    (void)state;
    small_game s;
    detour(&s);
    for (int i = 0; i < POLICIES; i++)
        plans(&s, all_policies[i], "c0 c1 f0 c2 f1 c3 f2 c0 c4");
}

static void abort_reports_the_move_and_its_need(void **state)
{
    (void)state;
    small_game s;
    bench b;
    detour(&s);
    bench_open(&b, &s);
    assert_int_equal(plan(&b, PBI_ABORT, 1000), PB_OK);
    bench_gave_up(&b, "does not fit: move 2 (compute 2) needs 6 unit, 1 over the cap of 5 unit");
    assert_int_equal(b.plan.failed_step, 2);
    assert_int_equal(b.plan.failed_node, 2);
    assert_int_equal(b.plan.failed_need, 6);
    bench_close(&b);
}

static void what_cannot_be_made_again_stays(void **state)
{
    (void)state;
    small_game s;
    detour(&s);
    s.flags[0] = PB_NODE_ONCE;
    refuses(&s, PBI_PRIORITY, "does not fit: move 2 (compute 2) needs 6 unit, 1 over the cap of 5 unit");
    s.flags[0] = PB_NODE_KEEP;
    refuses(&s, PBI_PRIORITY, "does not fit: move 2 (compute 2) needs 6 unit, 1 over the cap of 5 unit");
    s.flags[0] = PB_NODE_GIVEN;
    refuses(&s, PBI_PRIORITY, "does not fit: move 1 (compute 2) needs 6 unit, 1 over the cap of 5 unit");
}

/* 0, 1, 2 are made; 3 needs room for one more; then 4 reads 0 and 3, 5 reads 1, 6 reads 2. */
static void policies_evict_different_values(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    small_game_add(&s, 9, 1, 0);
    small_game_add(&s, 1, 2, 0);
    small_game_add(&s, 5, 3, 0);
    small_game_add(&s, 1, 2, 0);
    small_game_add(&s, 1, 1, bit(0) | bit(3));
    small_game_add(&s, 1, 1, bit(1));
    small_game_add(&s, 1, 1, bit(2));
    s.cap = 7;
    plans(&s, PBI_OLDEST, "c0 f0 c1 f1 c2 c3 c0 c4 f0 f3 f4 c1 c5 f1 f5 c6"); /* 0, and for its return 1 */
    plans(&s, PBI_LEAST_RECENT, "c0 f0 c1 f1 c2 c3 c0 c4 f0 f3 f4 c1 c5 f1 f5 c6");
    plans(&s, PBI_LARGEST, "c0 c1 c2 f2 c3 c4 f0 f3 f4 c5 f1 f5 c2 c6");
    plans(&s, PBI_PRIORITY, "c0 c1 f1 c2 c3 c4 f0 f3 f4 c1 c5 f1 f5 c6"); /* scores 9/3, 1/4, 5/3 */
    refuses(&s, PBI_ABORT, "does not fit: move 3 (compute 3) needs 8 unit, 1 over the cap of 7 unit");
}

static void tiers_take_what_is_dear_to_make(void **state)
{
    (void)state;
    small_game s;
    detour(&s);
    s.kind = PB_GAME_TIERED;
    s.tier_count = 2;
    s.tiers[0] = (pb_tier){.store_cost = 100, .load_cost = 1, .cap = PB_UNLIMITED};
    s.tiers[1] = (pb_tier){.store_cost = 1, .load_cost = 1, .load_per_unit = 1, .cap = PB_UNLIMITED};
    plans(&s, PBI_PRIORITY, "c0 c1 s0:2 f0 c2 f1 c3 f2 l0:2 c4"); /* 1 + 3 is less than 10 */
    s.cost[0] = 4;
    plans(&s, PBI_PRIORITY, "c0 c1 f0 c2 f1 c3 f2 c0 c4"); /* as dear as making it */
    s.flags[0] = PB_NODE_ONCE;
    plans(&s, PBI_PRIORITY, "c0 c1 s0:2 f0 c2 f1 c3 f2 l0:2 c4"); /* no other way */
    s.tiers[1].cap = 1;
    plans(&s, PBI_PRIORITY, "c0 c1 s0:1 f0 c2 f1 c3 f2 l0:1 c4"); /* no room in the cheap one */
    s.tiers[0].cap = 2;
    plans(&s, PBI_PRIORITY, "c0 c1 s0:1 f0 c2 f1 c3 f2 l0:1 d0:1 c4");
    s.tiers[0].cap = 1;
    refuses(&s, PBI_PRIORITY, "does not fit: move 2 (compute 2) needs 6 unit, 1 over the cap of 5 unit");
}

static void given_values_in_slow_memory_come_and_go(void **state)
{
    (void)state;
    small_game s;
    detour(&s);
    s.kind = PB_GAME_TIERED;
    s.tier_count = 1;
    s.tiers[0] = (pb_tier){.load_cost = 1, .cap = PB_UNLIMITED};
    s.flags[0] = PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW;
    plans(&s, PBI_PRIORITY, "l0:1 c1 f0 c2 f1 c3 f2 l0:1 c4"); /* a copy is there: no store */
    s.flags[0] |= PB_NODE_KEEP;
    s.in[4] = bit(3);
    s.cap = 6;
    plans(&s, PBI_PRIORITY, "l0:1 c1 c2 f1 c3 f2 c4");
}

static void the_reversible_game_uncomputes_what_it_evicts(void **state)
{
    (void)state;
    small_game s;
    small_chain(&s, 4);
    s.kind = PB_GAME_REVERSIBLE;
    plans(&s, PBI_OLDEST, "c0 c1 c2 c3 u2 u1 u0");
    s.cap = 3; /* 0 goes for 3, and comes back to undo 1 */
    plans(&s, PBI_OLDEST, "c0 c1 c2 u0 c3 u2 c0 u1 u0");
    refuses(&s, PBI_ABORT, "does not fit: move 3 (compute 3) needs 4 unit, 1 over the cap of 3 unit");
    s.flags[0] = PB_NODE_ONCE;
    refuses(&s, PBI_OLDEST, "does not fit: move 5 (compute 1) needs 4 unit, 1 over the cap of 3 unit");
}

/* 2 reads 1 and stays, 4 reads 0 and 3. When 3 needs room, 0 is the oldest but will be read; 1 will not. */
static void the_reversible_game_undoes_first_what_nothing_will_need(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    s.kind = PB_GAME_REVERSIBLE;
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 1, 1, bit(1));
    small_game_add(&s, 1, 2, 0);
    s.workspace[3] = 1;
    small_game_add(&s, 1, 0, bit(0) | bit(3));
    s.cap = 5;
    plans(&s, PBI_OLDEST, "c0 c1 c2 u1 c3 c4 u3 u0");
}

static void the_limit_ends_planning(void **state)
{
    (void)state;
    small_game s;
    bench b;
    detour(&s);
    for (uint64_t limit = 5; limit <= 6; limit++) {
        bench_open(&b, &s);
        assert_int_equal(plan(&b, PBI_PRIORITY, limit), limit == 6 ? PB_OK : PB_ELIMIT);
        if (limit == 5)
            assert_string_equal(b.ctx.error.message, "limit hit: more than 5 computations; raise its option limit");
        bench_close(&b);
    }
}

/* Whatever the policy: a plan is legal, so within the cap; and with room for everything there always is one. */
static void random_games_are_planned_within_their_cap(void **state)
{
    (void)state;
    unsigned found = 0, tight = 0;
    for (uint64_t seed = 1, cases = test_cases(4000); seed <= cases; seed++) {
        small_game s;
        bench b;
        pb_bounds bounds;
        pbi_rng rng = {seed};
        small_game_random_large(seed, PB_GAME_ALL, &s);
        bench_open(&b, &s);
        assert_int_equal(pb_bounds_make(&b.ctx, &b.game, &bounds), PB_OK);
        if (!bounds.impossible) {
            uint64_t room = b.game.graph->total_size;
            b.game.cap =
                seed % 4 ? bounds.least_cap + pbi_rng_below(&rng, room - bounds.least_cap / 2 + 1) : UINT64_MAX;
            pb_status status = plan(&b, all_policies[seed % POLICIES], 100000);
            assert_true(status == PB_OK || status == PB_ELIMIT);
            if (status == PB_OK && b.plan.outcome == PB_FOUND) {
                found++;
                tight += b.game.cap != UINT64_MAX && bench_totals(&b).compute_count > b.game.graph->needed_count;
                bench_totals(&b);
            } else {
                assert_int_not_equal(b.game.cap, UINT64_MAX);
                assert_true(status != PB_OK || b.plan.reason);
            }
        }
        bench_close(&b);
    }
    assert_true(found * 2 > test_cases(4000) && tight);
}

static void refused_allocations_are_clean(void **state)
{
    (void)state;
    small_game s;
    bench b;
    detour(&s);
    bench_open(&b, &s);
    for (int kind = 0; kind < 2; kind++) {
        bool done = false;
        b.game.kind = kind ? PB_GAME_REVERSIBLE : PB_GAME_REMAT;
        b.game.cap = 20;
        for (uint64_t refuse = 1; !done; refuse++) {
            failing_allocator memory = {.refuse = refuse};
            bench c = {.game = b.game};
            failing_context(&c.ctx, &memory);
            pb_arena_init(&c.arena, &c.ctx);
            pbi_plan_reset(&c.plan, &c.arena);
            pb_status status = plan(&c, PBI_OLDEST, 1000);
            done = status == PB_OK;
            assert_true(done || status == PB_ENOMEM);
            pb_arena_release(&c.arena);
            assert_int_equal(c.ctx.memory_used, 0);
            assert_int_equal(memory.blocks, 0);
        }
    }
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_room_nothing_is_made_twice),
        cmocka_unit_test(what_is_missing_is_made_again),
        cmocka_unit_test(abort_reports_the_move_and_its_need),
        cmocka_unit_test(what_cannot_be_made_again_stays),
        cmocka_unit_test(policies_evict_different_values),
        cmocka_unit_test(tiers_take_what_is_dear_to_make),
        cmocka_unit_test(given_values_in_slow_memory_come_and_go),
        cmocka_unit_test(the_reversible_game_uncomputes_what_it_evicts),
        cmocka_unit_test(the_reversible_game_undoes_first_what_nothing_will_need),
        cmocka_unit_test(the_limit_ends_planning),
        cmocka_unit_test(random_games_are_planned_within_their_cap),
        cmocka_unit_test(refused_allocations_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
