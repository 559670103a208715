/* tests/unit/test_evict.c -- each policy's first pick, and the set of candidates under random use. */
#include "plan/evict/evict.h"
#include "plan_fixture.h"
#include "support/cases.h"
#include "support/io_case.h"

typedef struct crowd {
    bench b;
    pbi_evict e;
    uint8_t resident[SMALL_MAX];
} crowd;

/* Nodes 0 .. 4 without edges, made in that order, all resident; costs 8, 1, 6, 4, 3, sizes 2, 1, 9, 4, 3. */
static void open_crowd(crowd *c, pbi_policy policy, uint64_t seed)
{
    static const uint64_t cost[] = {8, 1, 6, 4, 3}, size[] = {2, 1, 9, 4, 3};
    small_game s;
    small_game_init(&s);
    for (int i = 0; i < 5; i++)
        small_game_add(&s, cost[i], size[i], 0);
    bench_open(&c->b, &s);
    memset(c->resident, 1, sizeof c->resident);
    assert_int_equal(pbi_evict_init(&c->e, c->b.game.graph, policy, seed, c->resident, &c->b.arena), PB_OK);
    for (pb_node v = 0; v < 5; v++)
        pbi_evict_made(&c->e, v);
}

static void add_all(crowd *c)
{
    for (pb_node v = 0; v < 5; v++)
        pbi_evict_add(&c->e, v, true);
}

/* Takes all out in the policy's order. */
static void drained_is(crowd *c, const char *expected)
{
    char text[40] = "";
    size_t used = 0;
    for (pb_node v; (v = pbi_evict_first(&c->e)) != PB_NO_NODE;) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu32, used ? " " : "", v);
        pbi_evict_remove(&c->e, v);
    }
    assert_string_equal(text, expected);
    bench_close(&c->b);
}

static void abort_takes_nothing(void **state)
{
    (void)state;
    crowd c;
    open_crowd(&c, PBI_ABORT, 1);
    add_all(&c);
    drained_is(&c, "");
}

static void oldest_takes_what_was_made_first(void **state)
{
    (void)state;
    crowd c;
    open_crowd(&c, PBI_OLDEST, 1);
    pbi_evict_touched(&c.e, 0); /* reading does not make it younger */
    pbi_evict_made(&c.e, 1);    /* recomputing it does */
    add_all(&c);
    drained_is(&c, "0 2 3 4 1");
}

static void least_recent_takes_what_was_not_read(void **state)
{
    (void)state;
    crowd c;
    open_crowd(&c, PBI_LEAST_RECENT, 1);
    pbi_evict_touched(&c.e, 0);
    pbi_evict_touched(&c.e, 3);
    pbi_evict_made(&c.e, 1);
    add_all(&c);
    drained_is(&c, "2 4 0 3 1");
}

static void largest_takes_by_size(void **state)
{
    (void)state;
    crowd c;
    open_crowd(&c, PBI_LARGEST, 1);
    add_all(&c);
    drained_is(&c, "2 3 4 0 1");
}

static void random_goes_by_the_seed(void **state)
{
    (void)state;
    unsigned firsts = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        crowd c, again;
        open_crowd(&c, PBI_RANDOM, seed);
        open_crowd(&again, PBI_RANDOM, seed);
        add_all(&c);
        add_all(&again);
        pb_node v = pbi_evict_first(&c.e);
        assert_int_equal(v, pbi_evict_first(&again.e));
        firsts |= bit(v);
        bench_close(&c.b);
        bench_close(&again.b);
    }
    assert_int_equal(firsts, 31); /* any of the five, over the seeds */
}

/* Cost over size and staleness: made at 1 .. 5, so with the clock at 5 the staleness is 5, 4, 3, 2, 1 and the scores
 * are 8/10, 1/4, 6/27, 4/8, 3/3. */
static void priority_weighs_cost_size_and_time(void **state)
{
    (void)state;
    crowd c;
    open_crowd(&c, PBI_PRIORITY, 1);
    add_all(&c);
    drained_is(&c, "2 1 3 0 4");
    open_crowd(&c, PBI_PRIORITY, 1);
    pbi_evict_touched(&c.e, 2); /* the clock moves on: 8/12, 1/5, 6/9, 4/12, 3/6 */
    add_all(&c);
    drained_is(&c, "1 3 4 0 2"); /* 0 and 2 tie: the smaller index first */
}

static void idle_values_go_before_those_that_are_read_again(void **state)
{
    (void)state;
    static const pbi_policy policies[] = {PBI_OLDEST, PBI_LEAST_RECENT, PBI_RANDOM, PBI_LARGEST, PBI_PRIORITY};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        crowd c;
        open_crowd(&c, policies[i], 3);
        for (pb_node v = 0; v < 5; v++)
            pbi_evict_add(&c.e, v, v == 1 || v == 4);
        unsigned first = 0;
        for (int k = 0; k < 2; k++) {
            pb_node v = pbi_evict_first(&c.e);
            first |= bit(v);
            pbi_evict_remove(&c.e, v);
        }
        assert_int_equal(first, bit(1) | bit(4));
        bench_close(&c.b);
    }
}

static void adding_again_moves_a_candidate(void **state)
{
    (void)state;
    crowd c;
    open_crowd(&c, PBI_LARGEST, 1);
    add_all(&c);
    pbi_evict_add(&c.e, 2, false); /* now read again: last */
    assert_int_equal(c.e.count, 5);
    pbi_evict_remove(&c.e, 3);
    pbi_evict_remove(&c.e, 3); /* nothing when it is none */
    drained_is(&c, "4 0 1 2");
}

/* 2 reads 0 and 1; 3 is a by-product of 2. */
static void remaking_counts_missing_inputs_one_level_deep(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_evict e;
    uint8_t resident[4] = {1, 1, 1, 1};
    small_game_init(&s);
    small_game_add(&s, 10, 1, 0);
    small_game_add(&s, 20, 1, bit(0));
    small_game_add(&s, 3, 1, bit(0) | bit(1));
    small_game_add(&s, 0, 1, 0);
    s.owner[3] = 2;
    bench_open(&b, &s);
    assert_int_equal(pbi_evict_init(&e, b.game.graph, PBI_PRIORITY, 1, resident, &b.arena), PB_OK);
    assert_int_equal(pbi_evict_recompute_cost(&e, 2), 3);
    assert_int_equal(pbi_evict_recompute_cost(&e, 3), 3); /* by its owner */
    resident[1] = 0;
    assert_int_equal(pbi_evict_recompute_cost(&e, 2), 23);
    resident[0] = 0;
    assert_int_equal(pbi_evict_recompute_cost(&e, 2), 33);
    assert_int_equal(pbi_evict_recompute_cost(&e, 1), 30);
    bench_close(&b);
}

static void remaking_costs_saturate(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_evict e;
    uint8_t resident[3] = {0, 0, 0};
    small_game_init(&s);
    small_game_add(&s, UINT64_C(1) << 63, 1, 0);
    small_game_add(&s, 1, 1, bit(0));
    small_game_add(&s, (UINT64_C(1) << 63) - 2, 1, bit(0) | bit(1));
    bench_open(&b, &s);
    assert_int_equal(pbi_evict_init(&e, b.game.graph, PBI_PRIORITY, 1, resident, &b.arena), PB_OK);
    assert_int_equal(pbi_evict_recompute_cost(&e, 2), UINT64_MAX);
    bench_close(&b);
}

static void policies_read_back_by_name(void **state)
{
    (void)state;
    static const char *const names[] = {"abort", "oldest", "least-recent", "random", "largest", "priority"};
    uint32_t count;
    const pb_policy *rows = pb_policies(&count);
    assert_int_equal(count, 6);
    for (uint32_t i = 0; i < count; i++) {
        pbi_policy policy;
        assert_string_equal(rows[i].name, names[i]);
        assert_true(strlen(rows[i].summary) > 5);
        assert_true(pbi_policy_parse(names[i], &policy));
        assert_int_equal(policy, i);
        assert_string_equal(pbi_policy_name(policy), names[i]);
    }
    pbi_policy policy = PBI_ABORT;
    assert_true(pbi_policy_parse(NULL, &policy));
    assert_int_equal(policy, PBI_PRIORITY);
    assert_false(pbi_policy_parse("lru", &policy));
    assert_false(pbi_policy_parse("", &policy));
}

/* Random adds, removals, touches; the first must always be the least by the policy's own order. */
static void the_first_is_always_the_least(void **state)
{
    (void)state;
    static const pbi_policy policies[] = {PBI_OLDEST, PBI_LEAST_RECENT, PBI_LARGEST};
    for (uint64_t seed = 1, cases = test_cases(300); seed <= cases; seed++) {
        small_game s;
        bench b;
        pbi_evict e;
        uint8_t resident[SMALL_MAX] = {0}, in[SMALL_MAX] = {0}, idle[SMALL_MAX] = {0};
        uint64_t key[SMALL_MAX] = {0};
        pbi_rng rng = {seed};
        pbi_policy policy = policies[seed % 3];
        small_game_init(&s);
        for (int i = 0; i < SMALL_MAX; i++)
            small_game_add(&s, 1, pbi_rng_below(&rng, 9), 0);
        bench_open(&b, &s);
        assert_int_equal(pbi_evict_init(&e, b.game.graph, policy, seed, resident, &b.arena), PB_OK);
        for (int step = 0; step < 200; step++) {
            pb_node v = (pb_node)pbi_rng_below(&rng, SMALL_MAX);
            if (in[v] && pbi_rng_below(&rng, 2)) {
                pbi_evict_remove(&e, v);
                in[v] = 0;
            } else {
                if (!in[v] && pbi_rng_below(&rng, 2))
                    pbi_evict_made(&e, v);
                else if (!in[v])
                    pbi_evict_touched(&e, v);
                idle[v] = pbi_rng_below(&rng, 2) == 0;
                in[v] = 1;
                key[v] = policy == PBI_OLDEST ? e.made[v] : policy == PBI_LARGEST ? 100 - s.size[v] : e.touched[v];
                pbi_evict_add(&e, v, idle[v]);
            }
            pb_node least = PB_NO_NODE;
            for (pb_node u = 0; u < SMALL_MAX; u++)
                if (in[u] &&
                    (least == PB_NO_NODE || idle[u] > idle[least] || (idle[u] == idle[least] && key[u] < key[least])))
                    least = u;
            assert_int_equal(pbi_evict_first(&e), least);
        }
        bench_close(&b);
    }
}

static void a_refused_allocation_is_said(void **state)
{
    (void)state;
    crowd c;
    open_crowd(&c, PBI_OLDEST, 1);
    failing_allocator memory = {.refuse = 1};
    pb_context ctx;
    pb_arena arena;
    pbi_evict e;
    failing_context(&ctx, &memory);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pbi_evict_init(&e, c.b.game.graph, PBI_OLDEST, 1, c.resident, &arena), PB_ENOMEM);
    pb_arena_release(&arena);
    bench_close(&c.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(abort_takes_nothing),
        cmocka_unit_test(oldest_takes_what_was_made_first),
        cmocka_unit_test(least_recent_takes_what_was_not_read),
        cmocka_unit_test(largest_takes_by_size),
        cmocka_unit_test(random_goes_by_the_seed),
        cmocka_unit_test(priority_weighs_cost_size_and_time),
        cmocka_unit_test(idle_values_go_before_those_that_are_read_again),
        cmocka_unit_test(adding_again_moves_a_candidate),
        cmocka_unit_test(remaking_counts_missing_inputs_one_level_deep),
        cmocka_unit_test(remaking_costs_saturate),
        cmocka_unit_test(policies_read_back_by_name),
        cmocka_unit_test(the_first_is_always_the_least),
        cmocka_unit_test(a_refused_allocation_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
