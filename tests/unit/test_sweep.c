/* test_sweep.c -- caps x strategies x weights: monotone, verified, the same for any number of threads, stoppable. */
#include "api_fixture.h"
#include "oracle/brute_force.h"
#include "support/cases.h"

enum { MOST = 40 };

typedef struct sweep_bench {
    bench b;
    uint64_t caps[MOST];
    pb_sweep_request request;
    pb_sweep s;
} sweep_bench;

/* Every cap from a little above the peak in program order down to a little below what can fit. */
static void sweep_open(sweep_bench *t, const small_game *s)
{
    uint64_t peak;
    bench_open(&t->b, s);
    t->request = (pb_sweep_request){.plan = PB_REQUEST_DEFAULT, .caps = t->caps};
    assert_int_equal(pb_graph_program_peak(&t->b.ctx, t->b.game.graph, &peak), PB_OK);
    uint64_t step = 1 + peak / 10;
    for (uint64_t cap = peak + step;; cap -= step) {
        t->caps[t->request.cap_count++] = cap;
        if (cap < step || t->request.cap_count == MOST)
            break;
    }
    t->b.ctx.tick_limit = 20000;
}

static void sweep_run(sweep_bench *t)
{
    pb_status status = pb_sweep_make(&t->b.ctx, &t->b.game, &t->request, &t->b.arena, &t->s);
    if (status != PB_OK)
        fail_msg("%s", t->b.ctx.error.message);
}

static const pb_sweep_cell *cell_at(const pb_sweep *s, uint32_t w, uint32_t l, uint32_t k)
{
    return &s->cells[pb_sweep_at(s, w, l, k)];
}

/* The laws of every sweep, stopped or not. */
static void check_sweep(const sweep_bench *t)
{
    const pb_sweep *s = &t->s;
    for (uint32_t i = 0; i < s->cell_count; i++) {
        const pb_sweep_cell *c = &s->cells[i];
        uint64_t cap = s->caps[pb_sweep_cap_of(s, i)];
        assert_int_equal(c->game->cap, cap);
        assert_int_equal(c->schedule.cap, cap);
        assert_int_equal(c->schedule.game, s->lines[pb_sweep_line_of(s, i)].game);
        if (!c->certificate)
            continue;
        assert_true(c->present);
        assert_ptr_equal(pb_certificate_game(c->certificate), c->game);
        assert_true(c->schedule.metrics.peak <= cap);
        assert_true(c->schedule.metrics.makespan >= c->schedule.lower_bound);
        assert_true(c->schedule.outcome == PB_FOUND || c->schedule.outcome == PB_OPTIMAL);
        assert_true(c->from == PB_NO_CELL || c->from < s->cell_count);
    }
    for (uint32_t w = 0; w < s->weights_count; w++)
        for (uint32_t l = 0; l < s->line_count; l++)
            for (uint32_t k = 1; k < s->cap_count; k++) {
                const pb_sweep_cell *large = cell_at(s, w, l, k - 1), *small = cell_at(s, w, l, k);
                assert_true(s->caps[k] < s->caps[k - 1]);
                if (small->certificate) {
                    assert_non_null(large->certificate);
                    assert_true(pb_u128_compare(large->schedule.metrics.cost, small->schedule.metrics.cost) <= 0);
                }
                if (large->schedule.outcome == PB_INFEASIBLE && large->present)
                    assert_int_equal(small->schedule.outcome, PB_INFEASIBLE);
                if (large->schedule.bound_kind != PB_BOUND_NONE)
                    assert_true(small->schedule.lower_bound >= large->schedule.lower_bound);
            }
}

static const pb_weights both[] = {{0, 0, 1, 0}, {3, 0, 1, 0}};

static void the_cost_never_rises_with_the_cap(void **state)
{
    (void)state;
    unsigned reused = 0, settled = 0;
    for (uint64_t seed = 1, cases = test_cases(150); seed <= cases; seed++) {
        small_game s;
        sweep_bench t;
        small_game_random_large(seed, PB_GAME_ALL, &s);
        sweep_open(&t, &s);
        t.request.strategies = seed % 3 ? "auto,demand,every-k:k=2" : "all";
        t.request.game = seed % 3 ? (unsigned)s.kind : 0;
        t.request.weights = both;
        t.request.weights_count = 1 + (uint32_t)(seed % 2);
        t.request.plan.seed = seed;
        sweep_run(&t);
        assert_int_equal(t.s.stopped, PB_GO_ON);
        check_sweep(&t);
        for (uint32_t i = 0; i < t.s.cell_count; i++) {
            assert_true(t.s.cells[i].present);
            reused += t.s.cells[i].certificate && t.s.cells[i].from != i;
            settled += !t.s.cells[i].planned;
        }
        bench_close(&t.b);
    }
    assert_true(reused && settled);
}

static void what_is_claimed_is_true(void **state)
{
    (void)state;
    bf_space *space = bf_space_new();
    bf_space_limit(space, 100000);
    unsigned optimal = 0, infeasible = 0;
    for (uint64_t seed = 1, cases = test_cases(100); seed <= cases; seed++) {
        small_game s;
        sweep_bench t;
        bf_problem problem;
        bf_answer answer;
        small_game_random(seed, PB_GAME_ALL, &s);
        s.weights = both[seed % 2];
        sweep_open(&t, &s);
        t.request.game = (unsigned)s.kind;
        sweep_run(&t);
        check_sweep(&t);
        for (uint32_t k = 0; k < t.s.cap_count && bf_from_game(&t.b.game, &problem); k++) {
            const pb_schedule *f = &cell_at(&t.s, 0, 0, k)->schedule;
            problem.cap = t.s.caps[k];
            if (!bf_least_cost(space, &problem, &answer))
                continue;
            if (f->outcome == PB_INFEASIBLE)
                assert_false(answer.feasible);
            if (f->outcome == PB_OPTIMAL)
                assert_true(answer.feasible && answer.value == f->metrics.cost.low);
            optimal += f->outcome == PB_OPTIMAL;
            infeasible += f->outcome == PB_INFEASIBLE;
        }
        bench_close(&t.b);
    }
    bf_space_free(space);
    assert_true(optimal && infeasible);
}

static void threads_do_not_change_the_plans(void **state)
{
    (void)state;
    for (uint64_t seed = 1, cases = test_cases(20); seed <= cases; seed++) {
        small_game s;
        sweep_bench one, many;
        small_game_random_large(seed, PB_GAME_REMAT, &s);
        sweep_open(&one, &s);
        sweep_open(&many, &s);
        one.request.strategies = many.request.strategies = "auto,search,demand";
        many.request.plan.threads = 4;
        sweep_run(&one);
        sweep_run(&many);
        assert_int_equal(one.s.cell_count, many.s.cell_count);
        for (uint32_t i = 0; i < one.s.cell_count; i++) {
            const pb_schedule *f = &one.s.cells[i].schedule, *g = &many.s.cells[i].schedule;
            assert_int_equal(f->outcome, g->outcome);
            assert_int_equal(one.s.cells[i].from, many.s.cells[i].from);
            assert_int_equal(f->lower_bound, g->lower_bound);
            assert_int_equal(f->moves.count, g->moves.count);
            assert_int_equal(f->threads, g->threads);
            if (f->moves.count)
                assert_memory_equal(f->moves.move, g->moves.move, (size_t)f->moves.count * sizeof *f->moves.move);
        }
        bench_close(&one.b);
        bench_close(&many.b);
    }
}

static void a_stop_keeps_what_there_is(void **state)
{
    (void)state;
    small_game s;
    bool finished = false, partial = false, filled = false;
    small_adjoint(&s, 7);
    for (uint64_t n = 1; !finished && n < 1000000; n += 1 + n / 5) {
        sweep_bench t;
        sweep_open(&t, &s);
        t.request.strategies = "demand,search";
        bench_stop_at(&t.b, n, n % 2 ? PB_STOP_INTERRUPT : PB_STOP_TIME);
        sweep_run(&t);
        finished = t.b.polls < n;
        assert_int_equal(t.s.stopped, finished ? PB_GO_ON : n % 2 ? PB_STOP_INTERRUPT : PB_STOP_TIME);
        check_sweep(&t);
        bool missing = false, there = false;
        for (uint32_t i = 0; i < t.s.cell_count; i++) {
            missing = missing || !t.s.cells[i].present;
            there = there || t.s.cells[i].certificate;
            filled = filled || (!finished && t.s.cells[i].certificate && t.s.cells[i].from != i);
        }
        partial = partial || (missing && there);
        bench_close(&t.b);
    }
    assert_true(finished && partial && filled);
}

static uint64_t tick_clock(void *state)
{
    bench *b = state;
    return b->now += 1000;
}

static void the_time_is_shared_among_the_cells(void **state)
{
    (void)state;
    small_game s;
    sweep_bench t;
    small_game_random_large(3, PB_GAME_REMAT, &s);
    sweep_open(&t, &s);
    t.b.ctx.tick_limit = 0;
    t.b.ctx.clock_ns = tick_clock;
    t.b.ctx.callback_state = &t.b;
    t.request.strategies = "search";
    t.request.plan.patient = true; /* each cell would go on for ever */
    t.request.time_ns = 20000000;
    sweep_run(&t);
    check_sweep(&t);
    assert_int_equal(t.s.stopped, PB_GO_ON);
    assert_true(t.b.now >= 1000 && t.b.now < 3 * t.request.time_ns);
    for (uint32_t i = 0; i < t.s.cell_count; i++)
        assert_true(t.s.cells[i].present); /* the last had their share */
    bench_close(&t.b);
}

/* The clock of a command with a limit on time: each look takes some of it. */
static pb_stop stop_in_time(void *state)
{
    const sweep_bench *t = state;
    return tick_clock(&((sweep_bench *)state)->b) >= t->request.time_ns ? PB_STOP_TIME : PB_GO_ON;
}

static uint64_t clock_of_sweep(void *state) { return tick_clock(&((sweep_bench *)state)->b); }

/* Looking for the least cap is no reason to have no time for the others. */
static void the_ends_of_the_range_leave_time_for_the_cells(void **state)
{
    (void)state;
    small_game s;
    sweep_bench t;
    uint32_t plans = 0;
    enum { LOOKS = 20 * 1000 }; /* at the clock, after the time is up */
    small_game_random_large(3, PB_GAME_REMAT, &s);
    sweep_open(&t, &s);
    t.b.ctx.tick_limit = 0;
    t.b.ctx.stop = stop_in_time;
    t.b.ctx.clock_ns = clock_of_sweep;
    t.b.ctx.callback_state = &t;
    t.request.time_ns = 400000;
    assert_int_equal(pb_sweep_choose_caps(&t.b.ctx, &t.b.game, NULL, 8, &t.b.arena, &t.request), PB_OK);
    assert_true(t.b.now > 0 && t.b.now <= t.request.time_ns / 5 * 3 + LOOKS);
    t.b.ctx.stop = NULL;
    t.request.time_ns -= t.b.now;
    sweep_run(&t);
    check_sweep(&t);
    for (uint32_t i = 0; i < t.s.cell_count; i++) {
        plans += t.s.cells[i].certificate != NULL;
        assert_true(t.s.cells[i].present || strstr(t.s.cells[i].schedule.reason, "the time was up"));
    }
    assert_true(t.s.cell_count > 1 && plans > 0);
    bench_close(&t.b);
}

static void plans_at_hand_serve_portfolios_only(void **state)
{
    (void)state;
    small_game s;
    sweep_bench t;
    pb_request plain = {.seed = 1, .strategy = "last-use"};
    pb_plan_result known;
    small_adjoint(&s, 6);
    sweep_open(&t, &s);
    assert_int_equal(pb_plan(&t.b.ctx, &t.b.game, &plain, &t.b.arena, &known), PB_OK);
    t.b.ctx.tick_limit = 1; /* nothing else is found */
    t.request.cap_count = 1;
    t.request.strategies = "auto,search";
    t.request.known = &known;
    t.request.known_count = 1;
    t.caps[0] = known.schedule.metrics.peak;
    sweep_run(&t);
    assert_non_null(t.s.cells[0].certificate);
    assert_int_equal(t.s.cells[0].schedule.metrics.makespan, known.schedule.metrics.makespan);
    t.request.strategies = "search";
    sweep_run(&t);
    assert_true(!t.s.cells[0].certificate || t.s.cells[0].from == 0);
    bench_close(&t.b);
}

static void each_strategy_has_its_game(void **state)
{
    (void)state;
    small_game s;
    sweep_bench t;
    small_chain(&s, 8);
    sweep_open(&t, &s);
    t.request.strategies = "auto,bennett:k=2,every-k:k=2,limit=99,eager-uncompute";
    sweep_run(&t);
    assert_int_equal(t.s.line_count, 4);
    assert_int_equal(t.s.lines[0].game, PB_GAME_REMAT);
    assert_true(t.s.lines[0].portfolio);
    assert_string_equal(t.s.lines[1].spec, "bennett:k=2");
    assert_int_equal(t.s.lines[1].game, PB_GAME_REVERSIBLE);
    assert_string_equal(t.s.lines[2].spec, "every-k:k=2,limit=99");
    assert_int_equal(t.s.games, PB_GAME_REMAT | PB_GAME_REVERSIBLE);
    assert_int_equal(t.s.proved_least[0], 2);
    assert_int_equal(t.s.least_peak[0], 2);
    t.request.game = PB_GAME_REVERSIBLE;
    sweep_run(&t);
    assert_int_equal(t.s.lines[0].game, PB_GAME_REVERSIBLE);
    bench_close(&t.b);
}

static void faults_of_the_request_are_errors(void **state)
{
    (void)state;
    static const struct {
        const char *strategies;
        uint32_t caps;
        const char *message;
    } cases[] = {
        {"auto,sqr", 2, "there is no strategy `sqr`; did you mean sqrt?"},
        {"auto", 0, "a sweep needs at least one cap; add one"},
        {"", 2, "a sweep needs at least one strategy; add one"},
        {"every-k:k=0", 2, "k must be a whole number from 1 to 4294967295, not \"0\""},
    };
    small_game s;
    small_adjoint(&s, 5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sweep_bench t;
        sweep_open(&t, &s);
        t.s.cell_count = 4711;
        t.request.strategies = cases[i].strategies;
        t.request.cap_count = cases[i].caps;
        assert_int_not_equal(pb_sweep_make(&t.b.ctx, &t.b.game, &t.request, &t.b.arena, &t.s), PB_OK);
        assert_string_equal(t.b.ctx.error.message, cases[i].message);
        assert_int_equal(t.s.cell_count, 4711);
        bench_close(&t.b);
    }
}

typedef struct counter {
    uint64_t requests, refused;
} counter;

static void *refusing(void *state, void *block, size_t old_bytes, size_t new_bytes)
{
    counter *c = state;
    (void)old_bytes;
    if (!new_bytes) {
        free(block);
        return NULL;
    }
    return ++c->requests == c->refused ? NULL : realloc(block, new_bytes);
}

static void a_refused_allocation_is_clean(void **state)
{
    (void)state;
    small_game s;
    bool finished = false;
    unsigned failures = 0;
    small_adjoint(&s, 5);
    for (uint64_t n = 1; !finished && n < 100000; n += 1 + n / 50) {
        sweep_bench t;
        counter c = {0, 0};
        sweep_open(&t, &s);
        t.b.ctx.tick_limit = 2000;
        t.request.strategies = "auto,demand";
        pb_context ctx = t.b.ctx;
        pb_arena arena;
        ctx.resize = refusing;
        ctx.allocator_state = &c;
        ctx.memory_used = 0;
        c.refused = n;
        pb_arena_init(&arena, &ctx);
        pb_status status = pb_sweep_make(&ctx, &t.b.game, &t.request, &arena, &t.s);
        assert_true(status == PB_OK || status == PB_ENOMEM);
        failures += status == PB_ENOMEM;
        if (status == PB_OK)
            check_sweep(&t);
        finished = c.requests < n;
        pb_arena_release(&arena);
        assert_int_equal(ctx.memory_used, 0);
        bench_close(&t.b);
    }
    assert_true(finished && failures);
}

static void caps_are_evenly_spaced(void **state)
{
    (void)state;
    small_game s;
    bench b;
    uint64_t *caps;
    uint32_t count;
    small_tiny(&s);
    bench_open(&b, &s);
    assert_int_equal(pb_sweep_caps(&b.arena, 100, 0, 5, &caps, &count), PB_OK);
    assert_int_equal(count, 5);
    assert_int_equal(caps[0], 100);
    assert_int_equal(caps[1], 75);
    assert_int_equal(caps[4], 0);
    assert_int_equal(pb_sweep_caps(&b.arena, 7, 5, 50, &caps, &count), PB_OK);
    assert_int_equal(count, 3);
    assert_int_equal(pb_sweep_caps(&b.arena, 7, 7, 50, &caps, &count), PB_OK);
    assert_int_equal(count, 1);
    assert_int_equal(pb_sweep_caps(&b.arena, UINT64_MAX - 1, 1, 3, &caps, &count), PB_OK);
    assert_int_equal(count, 3);
    assert_int_equal(caps[2], 1);
    assert_int_equal(pb_sweep_caps(&b.arena, 1, 2, 3, &caps, &count), PB_EINVAL);
    bench_close(&b);
}

static void empty_and_single_graphs_have_sweeps(void **state)
{
    (void)state;
    for (uint32_t nodes = 0; nodes < 2; nodes++) {
        small_game s;
        sweep_bench t;
        small_chain(&s, nodes);
        sweep_open(&t, &s);
        sweep_run(&t);
        check_sweep(&t);
        assert_non_null(t.s.cells[0].certificate);
        bench_close(&t.b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cost_never_rises_with_the_cap),
        cmocka_unit_test(what_is_claimed_is_true),
        cmocka_unit_test(threads_do_not_change_the_plans),
        cmocka_unit_test(a_stop_keeps_what_there_is),
        cmocka_unit_test(the_time_is_shared_among_the_cells),
        cmocka_unit_test(plans_at_hand_serve_portfolios_only),
        cmocka_unit_test(each_strategy_has_its_game),
        cmocka_unit_test(faults_of_the_request_are_errors),
        cmocka_unit_test(a_refused_allocation_is_clean),
        cmocka_unit_test(caps_are_evenly_spaced),
        cmocka_unit_test(empty_and_single_graphs_have_sweeps),
        cmocka_unit_test(the_ends_of_the_range_leave_time_for_the_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
