/* test_pipeline.c -- plan, verify, measure, bound: what is claimed, what is refused, what a stop leaves. */
#include "api_fixture.h"
#include "pebble/generate.h"
#include "support/cases.h"
#include "support/io_case.h"
#include "support/outside.h"
#include "support/plan_check.h"

static void answers_carry_where_they_come_from(void **state)
{
    (void)state;
    small_game s;
    bench b;
    char hash[PB_HASH_TEXT];
    small_tiny(&s);
    s.cap = 9;
    bench_open(&b, &s);
    assert_int_equal(pb_graph_hash(&b.ctx, b.game.graph, hash), PB_OK);
    pb_request request = {.strategy = "every-k:k=2", .seed = 77, .threads = 0};
    assert_int_equal(pb_plan(&b.ctx, &b.game, &request, &b.arena, &b.p), PB_OK);
    const pb_schedule *p = &b.p.schedule;
    assert_string_equal(p->graph_hash, hash);
    assert_int_equal(p->game, PB_GAME_REMAT);
    assert_int_equal(p->cap, 9);
    assert_int_equal(p->seed, 77);
    assert_int_equal(p->threads, 1);
    assert_string_equal(p->strategy, "every-k");
    assert_string_equal(b.p.asked, "every-k");
    assert_string_equal(p->options[0].key, "k");
    assert_string_equal(p->options[0].value, "2");
    assert_string_equal(p->version, PB_VERSION);
    assert_null(p->policy);
    assert_int_equal(b.p.failed_step, UINT64_MAX);
    assert_int_equal(b.p.failed_node, PB_NO_NODE);
    assert_true(b.p.seconds == 0);
    bench_close(&b);
}

static void the_empty_graph_is_done_at_once(void **state)
{
    (void)state;
    static const pb_game_kind kinds[] = {PB_GAME_REMAT, PB_GAME_REVERSIBLE, PB_GAME_TIERED};
    for (int i = 0; i < 3; i++) {
        small_game s;
        bench b;
        small_game_init(&s);
        s.kind = kinds[i];
        s.cap = 0;
        bench_open(&b, &s);
        const pb_schedule *p = bench_plan(&b, NULL);
        assert_int_equal(p->outcome, PB_OPTIMAL);
        assert_int_equal(p->moves.count, 0);
        assert_true(p->has_metrics);
        assert_int_equal(p->metrics.peak, 0);
        bench_close(&b);
    }
}

static void optimal_is_claimed_only_where_the_bound_is_met(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_tiny(&s);
    bench_open(&b, &s);
    const pb_schedule *p = bench_plan(&b, "last-use");
    assert_int_equal(p->outcome, PB_OPTIMAL); /* nothing twice */
    assert_int_equal(p->bound_kind, PB_BOUND_FREE_ORDER);
    assert_int_equal(p->lower_bound, 5);
    assert_true(p->metrics.gap == 0);
    assert_false(p->has_cost_bound);
    bench_close(&b);
    small_adjoint(&s, 9);
    s.cap = 7;
    bench_open(&b, &s);
    p = bench_plan(&b, "recompute-all"); /* far more than it takes */
    assert_int_equal(p->outcome, PB_FOUND);
    assert_true(p->metrics.recompute > 0);
    assert_true(p->metrics.gap > 0);
    bench_close(&b);
}

static void weights_decide_what_is_optimal(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_chain(&s, 4);
    s.weights = (pb_weights){1, 0, 1, 0};
    bench_open(&b, &s);
    const pb_schedule *p = bench_plan(&b, "last-use");
    assert_int_equal(p->outcome, PB_OPTIMAL); /* peak 2 is the least there is */
    assert_true(p->has_cost_bound);
    assert_int_equal(p->cost_bound.low, 2);
    p = bench_plan(&b, "cache-all");
    assert_int_equal(p->outcome, PB_FOUND); /* no work too many, but peak 4 */
    assert_int_equal(p->metrics.cost.low, 4);
    assert_true(p->metrics.gap == 0);
    bench_close(&b);
}

static void infeasible(const small_game *s, const char *reason)
{
    bench b;
    bench_open(&b, s);
    const pb_schedule *p = bench_plan(&b, NULL);
    assert_int_equal(p->outcome, PB_INFEASIBLE);
    assert_string_equal(p->reason, reason);
    assert_null(b.p.certificate);
    assert_false(p->has_metrics);
    assert_int_equal(p->moves.count, 0);
    bench_close(&b);
}

static void infeasible_says_what_does_not_fit(void **state)
{
    (void)state;
    small_game s;
    small_tiny(&s);
    s.cap = 3;
    infeasible(&s, "computing 2 alone needs 4 unit; the cap is 3 unit");
    s.flags[small_game_add(&s, 0, 9, 0)] = PB_NODE_GIVEN;
    infeasible(&s, "the start alone needs 9 unit; the cap is 3 unit");
    small_tiny(&s);
    s.flags[0] = s.flags[1] = s.flags[2] = PB_NODE_KEEP;
    s.size[2] = 9;
    s.in[2] = bit(1);
    s.cap = 10;
    infeasible(&s, "the end alone needs 11 unit; the cap is 10 unit");
    small_tiny(&s);
    s.flags[0] = PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW;
    infeasible(&s, "0 is given in slow memory, which the remat game does not have; use the tiered game");
    s.kind = PB_GAME_TIERED;
    s.tier_count = 1;
    infeasible(&s, "the given values in slow memory, up to 0, exceed the cap of tier 1");
}

static void infeasible_counts_what_may_be_borrowed(void **state)
{
    (void)state;
    small_game s;
    small_tiny(&s);
    s.cap = 1;
    s.borrow = 2;
    infeasible(&s, "computing 2 alone needs 4 unit; the cap and the borrowed memory are 3 unit");
    s.borrow = 9;
    s.flags[2] = PB_NODE_KEEP;
    infeasible(&s, "the end alone needs 2 unit; the cap is 1 unit, and borrowed values cannot be kept");
    s.flags[2] = 0;
    s.kind = PB_GAME_REVERSIBLE;
    infeasible(&s, "the end alone needs 2 unit; the cap is 1 unit, and borrowed values cannot be kept");
}

/* The target need not stay, but plans leave it in memory of our own: that is no proof. */
static void a_plan_without_a_place_is_told_as_such(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_tiny(&s);
    s.cap = 1;
    s.borrow = 9;
    bench_open(&b, &s);
    const pb_schedule *p = bench_plan(&b, NULL);
    assert_int_equal(p->outcome, PB_GAVE_UP);
    assert_non_null(strstr(p->reason, "cannot be split into the two"));
    bench_close(&b);
}

static void refusals_say_which_and_why(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_chain(&s, 4);
    s.cap = 3;
    bench_open(&b, &s);
    const pb_schedule *p = bench_plan(&b, "bennett");
    assert_int_equal(p->outcome, PB_GAVE_UP);
    assert_string_equal(p->reason, "does not apply: bennett does not play the remat game");
    p = bench_plan(&b, "cache-all");
    assert_int_equal(p->outcome, PB_GAVE_UP);
    assert_string_equal(p->reason, "does not fit: move 3 (compute 3) needs 4 unit, 1 over the cap of 3 unit");
    assert_int_equal(b.p.failed_step, 3);
    assert_int_equal(b.p.failed_node, 3);
    assert_int_equal(b.p.failed_need, 4);
    p = bench_plan(&b, "recompute-all:limit=2");
    assert_int_equal(p->outcome, PB_GAVE_UP);
    assert_string_equal(p->reason, "limit hit: more than 2 computations; raise its option limit");
    b.ctx.tick_limit = 1;
    p = bench_plan(&b, "sqrt");
    assert_int_equal(p->outcome, PB_GAVE_UP);
    assert_string_equal(p->reason, "the limit of 1 ticks was reached; allow more ticks");
    assert_int_equal(p->ticks, 1);
    bench_close(&b);
}

static void wrong_requests_are_errors(void **state)
{
    (void)state;
    static const struct {
        const char *strategy, *policy;
        pb_status status;
        const char *message;
    } cases[] = {
        {"sqr", NULL, PB_EUNKNOWN, "there is no strategy `sqr`; did you mean sqrt?"},
        {"demand", "lru", PB_EUNKNOWN, "there is no policy \"lru\"; `pebble help plan` lists them"},
        {"demand:policy=oldst", NULL, PB_EUNKNOWN, "there is no policy `oldst`; did you mean oldest?"},
        {"auto:policy=oldst", NULL, PB_EUNKNOWN, /* though demand is never reached */
         "there is no policy `oldst`; did you mean oldest?"},
        {"every-k:k=x", NULL, PB_EINVAL, "k must be a whole number from 1 to 4294967295, not \"x\""},
        {"every-k:k=", NULL, PB_EINVAL, "k must be a whole number from 1 to 4294967295, not \"\""},
    };
    small_game s;
    bench b;
    small_tiny(&s);
    bench_open(&b, &s);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        b.p.failed_need = 4711;
        assert_int_equal(bench_ask(&b, cases[i].strategy, cases[i].policy), cases[i].status);
        assert_string_equal(b.ctx.error.message, cases[i].message);
        assert_int_equal(b.p.failed_need, 4711); /* untouched */
    }
    bench_close(&b);
}

static void a_policy_in_the_spec_wins(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_tiny(&s);
    bench_open(&b, &s);
    assert_int_equal(bench_ask(&b, "demand", NULL), PB_OK);
    assert_string_equal(b.p.schedule.policy, "priority");
    assert_int_equal(bench_ask(&b, "demand", "oldest"), PB_OK);
    assert_string_equal(b.p.schedule.policy, "oldest");
    assert_int_equal(bench_ask(&b, "demand:policy=largest", "oldest"), PB_OK);
    assert_string_equal(b.p.schedule.policy, "largest");
    bench_close(&b);
}

/* On random games auto is exactly as good as the best of the others, and names it. */
static void auto_keeps_the_best(void **state)
{
    (void)state;
    uint32_t rows;
    const pb_strategy *row = pb_strategies(&rows);
    unsigned plans = 0, unlucky = 0, reversible = 0;
    for (uint64_t seed = 1, cases = test_cases(test_is_sample() ? 60 : 150); seed <= cases; seed++) {
        small_game s;
        bench b;
        pb_bounds bounds;
        char why[PLAN_WHY];
        small_game_random_large(seed, PB_GAME_ALL, &s);
        bench_open(&b, &s);
        assert_int_equal(pb_bounds_make(&b.ctx, &b.game, &bounds), PB_OK);
        b.game.cap = bounds.least_cap + seed % 7;
        bool any = false;
        pb_u128 least = {UINT64_MAX, UINT64_MAX}, searched = least;
        for (uint32_t i = 0; i < rows; i++) {
            if (row[i].strength == PB_PORTFOLIO)
                continue;
            const pb_schedule *p = bench_plan(&b, row[i].name);
            any = any || b.p.certificate;
            if (b.p.certificate && row[i].strength == PB_ANYTIME)
                searched = p->metrics.cost;
            else if (b.p.certificate && pb_u128_compare(p->metrics.cost, least) < 0)
                least = p->metrics.cost;
        }
        const pb_schedule *p = bench_plan(&b, "auto");
        assert_string_equal(b.p.asked, "auto");
        assert_int_equal(b.p.certificate != NULL, any);
        if (!plan_is_honest(&b.game, &b.p, why))
            fail_msg("seed %" PRIu64 ": %s", seed, why);
        if (any) {
            plans++;
            assert_true(pb_u128_compare(p->metrics.cost, least) <= 0);
            /* a search that begins from the best row goes other ways than one that does not */
            bool dearer = pb_u128_compare(p->metrics.cost, searched) > 0;
            unlucky += dearer;
            reversible += dearer && b.game.kind == PB_GAME_REVERSIBLE;
            assert_string_not_equal(p->strategy, "auto");
        }
        bench_close(&b);
    }
    assert_true(plans > (test_is_sample() ? 0 : 5));
    if (unlucky > 1 + plans / 100 || reversible > plans / 200)
        fail_msg("%u of %u plans are above those of search alone, %u of them reversible", unlucky, plans, reversible);
}

static void a_stop_keeps_the_best_so_far(void **state)
{
    (void)state;
    small_game s;
    unsigned kept = 0, nothing = 0;
    bool ran_out = false;
    small_adjoint(&s, 9);
    s.cap = 8;
    s.weights = (pb_weights){1, 0, 1, 0}; /* no bound is met: every row is asked */
    for (uint64_t n = 1; !ran_out && n < 100000; n += 1 + n / 20) {
        bench b;
        char why[PLAN_WHY];
        bench_open(&b, &s);
        bench_stop_at(&b, n, PB_STOP_INTERRUPT);
        pb_status status = bench_ask(&b, "auto", NULL);
        ran_out = b.polls < n;
        if (status == PB_OK) {
            assert_non_null(b.p.certificate);
            assert_true(plan_is_honest(&b.game, &b.p, why));
            assert_int_equal(b.ctx.stopped, ran_out ? PB_GO_ON : PB_STOP_INTERRUPT);
            kept++;
        } else {
            assert_int_equal(status, PB_ECANCELLED);
            nothing++;
        }
        bench_close(&b);
    }
    assert_true(kept > 1 && nothing && ran_out);
}

static uint64_t ticking(void *state) { return ((bench *)state)->now += 500000000; }

static void time_is_an_answer_and_is_measured(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_tiny(&s);
    bench_open(&b, &s);
    bench_stop_at(&b, 1, PB_STOP_TIME);
    b.ctx.clock_ns = ticking;
    const pb_schedule *p = bench_plan(&b, NULL);
    assert_int_equal(p->outcome, PB_GAVE_UP);
    assert_string_equal(p->reason, "the time limit was reached; allow more time");
    assert_true(b.p.seconds == 0.5);
    assert_int_equal(b.ctx.stopped, PB_STOP_TIME);
    b.stop_at = 0; /* an old stop is forgotten */
    p = bench_plan(&b, NULL);
    assert_int_equal(p->outcome, PB_OPTIMAL);
    bench_close(&b);
}

static void numbers_beyond_the_range_give_up(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_chain(&s, 2);
    s.cost[0] = UINT64_C(1) << 63;
    s.kind = PB_GAME_REVERSIBLE;
    bench_open(&b, &s);
    const pb_schedule *p = bench_plan(&b, "bennett");
    assert_int_equal(p->outcome, PB_GAVE_UP);
    assert_string_equal(p->reason, "the work of any schedule exceeds 2^64; use a coarser cost unit");
    bench_close(&b);
    small_chain(&s, 1);
    s.cost[0] = UINT64_C(1) << 62;
    s.size[0] = UINT64_C(1) << 62;
    s.weights = (pb_weights){0, 16, 1, 0};
    bench_open(&b, &s);
    p = bench_plan(&b, "last-use"); /* a cost of 2^128 */
    assert_int_equal(p->outcome, PB_GAVE_UP);
    assert_int_equal(p->moves.count, 0);
    assert_false(p->has_metrics);
    bench_close(&b);
}

/* Keeping everything is optimal in work where it fits, but never needed: auto takes the plan that frees. */
static void auto_leaves_the_baseline_out(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    const pb_graph *g;
    pb_plan_result p;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    pb_option params[] = {{"nodes", "20"}};
    assert_int_equal(pb_generate(&ctx, "chain", params, 1, &arena, &g), PB_OK);
    pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    assert_int_equal(pb_plan(&ctx, &game, &PB_REQUEST_DEFAULT, &arena, &p), PB_OK);
    assert_int_equal(p.schedule.outcome, PB_OPTIMAL);
    assert_int_equal(p.schedule.metrics.peak, 2);
    pb_arena_release(&arena);
}

/* With room for everything several rows are optimal. The exact one is asked first, and what it rests on is reported. */
static void auto_asks_the_exact_row_of_the_shape_first(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_adjoint(&s, 6);
    bench_open(&b, &s);
    const pb_schedule *p = bench_plan(&b, "auto");
    assert_string_equal(p->strategy, "chain");
    assert_int_equal(p->outcome, PB_OPTIMAL);
    assert_non_null(strstr(p->note, "adjoint chain"));
    p = bench_plan(&b, "last-use");
    assert_int_equal(p->outcome, PB_OPTIMAL);
    assert_null(p->note); /* it looks at no shape */
    bench_close(&b);
    small_chain(&s, 6);
    s.kind = PB_GAME_REVERSIBLE;
    bench_open(&b, &s);
    p = bench_plan(&b, "auto");
    assert_string_equal(p->strategy, "knill");
    assert_string_equal(p->note, "the graph is a chain");
    bench_close(&b);
    small_tiny(&s);
    bench_open(&b, &s);
    p = bench_plan(&b, "auto");
    assert_string_not_equal(p->strategy, "chain");
    p = bench_plan(&b, "chain");
    assert_null(p->note); /* no plan, nothing it rests on */
    bench_close(&b);
}

/* A search with no time of its own returns the plan it began from; what is no plan is refused. */
static void a_search_begins_from_the_plan_given(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    const pb_graph *g;
    pb_plan_result first, again;
    pb_option params[] = {{"steps", "30"}};
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pb_generate(&ctx, "adjoint-chain", params, 1, &arena, &g), PB_OK);
    pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .cap = 6, .weights = PB_WEIGHTS_DEFAULT};
    pb_request request = {.strategy = "chain", .seed = 1};
    assert_int_equal(pb_plan(&ctx, &game, &request, &arena, &first), PB_OK);
    assert_int_equal(first.schedule.outcome, PB_OPTIMAL);
    request = (pb_request){.strategy = "search", .seed = 1, .start = &first.schedule.moves};
    ctx.tick_limit = 1;
    assert_int_equal(pb_plan(&ctx, &game, &request, &arena, &again), PB_OK);
    assert_non_null(again.certificate);
    assert_int_equal(again.schedule.metrics.makespan, first.schedule.metrics.makespan);
    pb_moves wrong;
    pb_moves_init(&wrong, &arena);
    assert_int_equal(pb_moves_add(&wrong, PB_FREE, 0, 0), PB_OK);
    request.start = &wrong;
    assert_int_equal(pb_plan(&ctx, &game, &request, &arena, &again), PB_EINVAL);
    pb_arena_release(&arena);
}

/* Which thread is first must not matter. */
static void threads_give_the_same_plan_again(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    const pb_graph *g;
    pb_plan_result p[2];
    pb_option params[] = {{"nodes", "80"}};
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pb_generate(&ctx, "layered", params, 1, &arena, &g), PB_OK);
    pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .cap = g->total_size / 4, .weights = PB_WEIGHTS_DEFAULT};
    ctx.tick_limit = 60000;
    for (int i = 0; i < 2; i++) {
        pb_request request = {.strategy = "search", .seed = 5, .threads = 3};
        assert_int_equal(pb_plan(&ctx, &game, &request, &arena, &p[i]), PB_OK);
        assert_non_null(p[i].certificate);
        assert_int_equal(p[i].schedule.threads, 3);
    }
    assert_int_equal(p[0].schedule.moves.count, p[1].schedule.moves.count);
    for (pb_step k = 0; k < p[0].schedule.moves.count; k++)
        assert_int_equal(p[0].schedule.moves.move[k].node, p[1].schedule.moves.move[k].node);
    pb_arena_release(&arena);
}

/* Whatever request for memory is refused: an honest plan or a clean end. */
static void auto_with_slow_memory_bears_a_refusal_anywhere(void **state)
{
    (void)state;
    uint64_t requests = 1;
    for (uint64_t k = 0; k <= requests; k += 1 + k / 16) {
        char why[PLAN_WHY];
        pb_context ctx;
        pb_arena arena;
        pb_plan_result p;
        const pb_graph *g;
        outside o = {0};
        pb_option params[] = {{"nodes", "80"}};
        outside_context(&ctx, &o);
        pb_arena_init(&arena, &ctx);
        assert_int_equal(pb_generate(&ctx, "layered", params, 1, &arena, &g), PB_OK);
        pb_game game = {
            .graph = g, .kind = PB_GAME_TIERED, .cap = 25607, .weights = PB_WEIGHTS_DEFAULT, .tier_count = 1};
        game.tiers[0] = (pb_tier){.store_cost = 5000, .load_cost = 5000, .cap = PB_UNLIMITED};
        ctx.tick_limit = 5000;
        o.refuse_at = k ? o.requests + k : 0;
        uint64_t before = o.requests;
        pb_status status = pb_plan(&ctx, &game, &(pb_request){.seed = 1}, &arena, &p);
        if (status != PB_ENOMEM) {
            assert_int_equal(status, PB_OK);
            assert_true(plan_is_honest(&game, &p, why));
        }
        requests = k ? requests : o.requests - before;
        pb_arena_release(&arena);
        assert_int_equal(o.live_blocks, 0);
    }
    assert_true(requests > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_carry_where_they_come_from),
        cmocka_unit_test(the_empty_graph_is_done_at_once),
        cmocka_unit_test(optimal_is_claimed_only_where_the_bound_is_met),
        cmocka_unit_test(weights_decide_what_is_optimal),
        cmocka_unit_test(infeasible_says_what_does_not_fit),
        cmocka_unit_test(infeasible_counts_what_may_be_borrowed),
        cmocka_unit_test(a_plan_without_a_place_is_told_as_such),
        cmocka_unit_test(refusals_say_which_and_why),
        cmocka_unit_test(wrong_requests_are_errors),
        cmocka_unit_test(a_policy_in_the_spec_wins),
        cmocka_unit_test(auto_keeps_the_best),
        cmocka_unit_test(a_stop_keeps_the_best_so_far),
        cmocka_unit_test(time_is_an_answer_and_is_measured),
        cmocka_unit_test(auto_leaves_the_baseline_out),
        cmocka_unit_test(auto_asks_the_exact_row_of_the_shape_first),
        cmocka_unit_test(numbers_beyond_the_range_give_up),
        cmocka_unit_test(a_search_begins_from_the_plan_given),
        cmocka_unit_test(threads_give_the_same_plan_again),
        cmocka_unit_test(auto_with_slow_memory_bears_a_refusal_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
