/* test_same_bounds.c -- the same question has the same bounds, whoever answers: info, plans by any strategy, comparisons, sweeps and the
 * calls for other languages. */
#include "pebble/bindings.h"
#include "pebble/generate.h"
#include "pebble/summary.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct question {
    const char *family, *key, *value; /* of the graph */
    pb_game_kind kind;
    uint64_t cap;
    uint64_t store, load;   /* of one slow tier */
    const char *strategies; /* each of them is asked alone */
    uint64_t lower_bound;   /* what all must answer; 0: whatever it is */
} question;

typedef struct desk {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
} desk;

static void open_desk(desk *d, const question *q)
{
    pb_option option = {q->key, q->value};
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    d->game = (pb_game){.kind = q->kind, .cap = q->cap, .weights = PB_WEIGHTS_DEFAULT};
    if (pb_generate(&d->ctx, q->family, &option, 1, &d->arena, &d->game.graph) != PB_OK)
        fail_msg("%s: %s", q->family, d->ctx.error.message);
    if (q->kind == PB_GAME_TIERED) {
        d->game.tier_count = 1;
        d->game.tiers[0] = (pb_tier){.store_cost = q->store, .load_cost = q->load, .cap = PB_UNLIMITED};
    }
}

static pb_request asking(void)
{
    pb_request request = PB_REQUEST_DEFAULT;
    request.prove = request.find_least = true;
    return request;
}

/* The next name of a list, copied to `name`. */
static const char *next_name(const char *at, char name[64])
{
    size_t length = strcspn(at, ",");
    snprintf(name, 64, "%.*s", (int)length, at);
    return at[length] ? at + length + 1 : at + length;
}

/* What one strategy says alone. */
static void plan_alone(desk *d, const char *name, pb_plan_result *out)
{
    pb_request request = asking();
    request.strategy = name;
    assert_int_equal(pb_plan(&d->ctx, &d->game, &request, &d->arena, out), PB_OK);
}

/* The number behind a key of the last text of a session. */
static uint64_t number_in(pb_session *s, const char *key)
{
    uint64_t length;
    const char *text = pb_session_text(s, &length), *at = text ? strstr(text, key) : NULL;
    if (!at)
        fail_msg("no %s in the answer", key);
    return strtoull(at + strlen(key), NULL, 10);
}

static void expect(const question *q, const char *who, uint64_t is, uint64_t wanted)
{
    if (is != wanted)
        fail_msg("%s %s, %s game, cap %" PRIu64 ": %s says %" PRIu64 ", not %" PRIu64, q->family, q->value,
                 pb_game_kind_name(q->kind), q->cap, who, is, wanted);
}

static void compare_all(desk *d, const question *q, const char *list, uint64_t bound)
{
    pb_comparison c;
    pb_compare_request request = {.strategies = list, .games = (unsigned)q->kind, .plan = asking()};
    assert_int_equal(pb_compare(&d->ctx, &d->game, &request, &d->arena, &c), PB_OK);
    assert_true(c.row_count > 0);
    for (uint32_t i = 0; i < c.row_count; i++)
        expect(q, list, c.rows[i].schedule.lower_bound, bound);
}

static void sweep_all(desk *d, const question *q, uint64_t bound)
{
    pb_sweep sweep;
    pb_sweep_request request = {
        .strategies = q->strategies, .game = (unsigned)q->kind, .caps = &q->cap, .cap_count = 1, .plan = asking()};
    assert_int_equal(pb_sweep_make(&d->ctx, &d->game, &request, &d->arena, &sweep), PB_OK);
    for (uint32_t i = 0; i < sweep.cell_count; i++)
        expect(q, "sweep", sweep.cells[i].schedule.lower_bound, bound);
}

static uint64_t from_outside(const question *q, const char *strategy)
{
    char cap[32], tier[80], parameters[64];
    const pb_graph *g;
    const pb_plan_result *p;
    pb_session *s = pb_session_new();
    assert_non_null(s);
    snprintf(cap, sizeof cap, "%" PRIu64, q->cap);
    snprintf(tier, sizeof tier, "store_cost=%" PRIu64 ",load_cost=%" PRIu64, q->store, q->load);
    snprintf(parameters, sizeof parameters, "%s=%s", q->key, q->value);
    assert_int_equal(pb_session_generate(s, q->family, parameters, &g), PB_OK);
    assert_int_equal(pb_session_set(s, "cap", cap), PB_OK);
    assert_int_equal(pb_session_set(s, "game", pb_game_kind_name(q->kind)), PB_OK);
    assert_int_equal(pb_session_set(s, "strategy", strategy), PB_OK);
    if (q->kind == PB_GAME_TIERED)
        assert_int_equal(pb_session_set(s, "tiers", tier), PB_OK);
    assert_int_equal(pb_session_plan(s, g, NULL, &p), PB_OK);
    assert_int_equal(pb_session_write_plan(s, p, "summary"), PB_OK);
    uint64_t bound = number_in(s, "\"lower_bound\":");
    pb_session_free(s);
    return bound;
}

static void ask_everybody(const question *q)
{
    desk d;
    char name[64];
    pb_plan_result planned;
    uint64_t bound = q->lower_bound;
    open_desk(&d, q);
    for (const char *at = q->strategies; *at;) {
        at = next_name(at, name);
        plan_alone(&d, name, &planned);
        bound = bound ? bound : planned.schedule.lower_bound;
        expect(q, name, planned.schedule.lower_bound, bound);
        compare_all(&d, q, name, bound);
    }
    compare_all(&d, q, q->strategies, bound);
    sweep_all(&d, q, bound);
    next_name(q->strategies, name);
    expect(q, "pb_session_plan", from_outside(q, name), bound);
    pb_arena_release(&d.arena);
}

static void work_is_bounded_alike(void **state)
{
    static const question questions[] = {
        {"adjoint-chain", "steps", "100", PB_GAME_TIERED, 11, 100, 100, "two-level,griewank,chain", 354},
        {"adjoint-chain", "steps", "12", PB_GAME_TIERED, 6, 5, 5, "two-level,last-use,chain", 0},
        {"adjoint-chain", "steps", "40", PB_GAME_REMAT, 9, 0, 0, "griewank,dtr,chain", 0},
        {"chain", "nodes", "64", PB_GAME_REVERSIBLE, 8, 0, 0, "bennett,lange,edge-rank,knill", 369},
        {"chain", "nodes", "12", PB_GAME_REVERSIBLE, 5, 0, 0, "bennett,demand,exact,auto", 0},
        {"tree", "height", "3", PB_GAME_REVERSIBLE, 7, 0, 0, "eager-uncompute,edge-rank,exact", 0},
        {"pyramid", "height", "3", PB_GAME_REMAT, 5, 0, 0, "demand,recompute-all,exact,auto", 0},
        {"pyramid", "height", "3", PB_GAME_REVERSIBLE, 6, 0, 0, "demand,bennett,exact", 0},
        {"butterfly", "stages", "2", PB_GAME_REMAT, 6, 0, 0, "demand,last-use,exact", 0},
        {"layered", "nodes", "14", PB_GAME_REMAT, 20000, 0, 0, "demand,exact", 0},
        {"layered", "nodes", "14", PB_GAME_REVERSIBLE, 40000, 0, 0, "demand,exact", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        ask_everybody(&questions[i]);
}

/* The proven minimum of every game, and what follows for the cap below it. */
static void caps_are_bounded_alike(void **state)
{
    static const struct {
        const char *family, *key, *value;
        pb_game_kind kind;
        uint64_t least; /* proved */
        const char *strategy;
    } cases[] = {
        {"tree", "height", "10", PB_GAME_REVERSIBLE, 14, "bennett"},
        {"chain", "nodes", "64", PB_GAME_REVERSIBLE, 7, "bennett"},
        {"tree", "height", "10", PB_GAME_REMAT, 12, "demand"},
        {"pyramid", "height", "4", PB_GAME_REMAT, 6, "demand"},
        {"pyramid", "height", "3", PB_GAME_REVERSIBLE, 6, "demand"},
        {"chain", "nodes", "10", PB_GAME_REMAT, 2, "demand"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        question q = {.family = cases[i].family, .key = cases[i].key, .value = cases[i].value, .kind = cases[i].kind};
        desk d;
        pb_info info = {.game_count = 0};
        pb_plan_result planned;
        pb_sweep sweep;
        pb_request request = asking();
        q.cap = cases[i].least - 1;
        open_desk(&d, &q);
        pb_game open = d.game;
        open.cap = PB_UNLIMITED;
        assert_int_equal(pb_info_make(&d.ctx, d.game.graph, &info), PB_OK);
        assert_int_equal(pb_info_add_game(&d.ctx, &open, &request, &d.arena, &info), PB_OK);
        expect(&q, "info", info.games[0].bounds.least_cap, cases[i].least);
        expect(&q, "info's plan", info.games[0].known ? info.games[0].cap : 0, cases[i].least);
        plan_alone(&d, cases[i].strategy, &planned);
        assert_int_equal(planned.schedule.outcome, PB_INFEASIBLE);
        assert_non_null(planned.least);
        expect(&q, "plan", planned.least->bounds.least_cap, cases[i].least);
        expect(&q, "plan's known cap", planned.least->cap, cases[i].least);
        expect(&q, "the summary", planned.schedule.least_known, cases[i].least);
        pb_sweep_request swept = {
            .strategies = cases[i].strategy, .game = (unsigned)q.kind, .caps = &q.cap, .cap_count = 1, .plan = request};
        assert_int_equal(pb_sweep_make(&d.ctx, &d.game, &swept, &d.arena, &sweep), PB_OK);
        unsigned at = q.kind == PB_GAME_REMAT ? 0 : 1;
        expect(&q, "sweep", sweep.proved_least[at], cases[i].least);
        swept.caps = &cases[i].least; /* where no row proves anything about caps */
        assert_int_equal(pb_sweep_make(&d.ctx, &d.game, &swept, &d.arena, &sweep), PB_OK);
        expect(&q, "a sweep that fits", sweep.proved_least[at], cases[i].least);
        pb_arena_release(&d.arena);
    }
}

/* A clock that advances by ten microseconds at each call. */
static uint64_t now_ns;
static uint64_t slow_clock(void *state)
{
    (void)state;
    return now_ns += 10000;
}
static pb_stop stop_late(void *state)
{
    (void)state;
    return slow_clock(NULL) >= UINT64_C(400000000) ? PB_STOP_TIME : PB_GO_ON;
}

/* Planning uses up the time limit; the bound is as strong as without a limit. */
static void a_sweep_out_of_time_has_the_same_bound(void **state)
{
    question q = {.family = "pyramid", .key = "height", .value = "3", .kind = PB_GAME_REMAT, .cap = 7};
    desk d;
    pb_sweep sweep;
    (void)state;
    open_desk(&d, &q);
    d.game.weights.beta = 1; /* nothing is proved of the plan, so that the search goes on */
    d.ctx.clock_ns = slow_clock;
    d.ctx.stop = stop_late;
    pb_sweep_request request = {.strategies = "search", .game = PB_GAME_REMAT, .caps = &q.cap, .cap_count = 1};
    request.plan = asking();
    request.plan.patient = true;
    request.time_ns = 400000000;
    assert_int_equal(pb_sweep_make(&d.ctx, &d.game, &request, &d.arena, &sweep), PB_OK);
    assert_true(now_ns >= request.time_ns);
    expect(&q, "a sweep out of time", sweep.proved_least[0], 5);
    pb_arena_release(&d.arena);
}

/* A row that could not know it is infeasible, too, where another one proves it. */
static void proofs_hold_for_every_row(void **state)
{
    question q = {.family = "pyramid", .key = "height", .value = "3", .kind = PB_GAME_REMAT, .cap = 4};
    desk d;
    pb_comparison c;
    pb_compare_request request = {.strategies = "demand,last-use,search", .games = PB_GAME_REMAT, .plan = asking()};
    (void)state;
    open_desk(&d, &q);
    assert_int_equal(pb_compare(&d.ctx, &d.game, &request, &d.arena, &c), PB_OK);
    for (uint32_t i = 0; i < c.row_count; i++)
        assert_int_equal(c.rows[i].schedule.outcome, PB_INFEASIBLE);
    assert_int_equal(c.least_count, 1);
    assert_true(c.least[0]->known && c.least[0]->cap == 5 && c.least[0]->bounds.least_cap == 5);
    pb_arena_release(&d.arena);
}

/* Without proofs of its own, a plan is settled by the search for the smallest cap. */
static void the_smallest_cap_settles_a_plan(void **state)
{
    question q = {.family = "pyramid", .key = "height", .value = "4", .kind = PB_GAME_REMAT, .cap = 5};
    desk d;
    pb_plan_result planned;
    pb_request request = asking();
    (void)state;
    request.strategy = "demand";
    request.prove = false;
    open_desk(&d, &q);
    assert_int_equal(pb_plan(&d.ctx, &d.game, &request, &d.arena, &planned), PB_OK);
    assert_int_equal(planned.schedule.outcome, PB_INFEASIBLE);
    assert_true(planned.least && planned.least->bounds.least_cap == 6);
    pb_arena_release(&d.arena);
}

/* The sentence that people read. */
static void the_smallest_cap_is_named(void **state)
{
    question q = {.family = "pyramid", .key = "height", .value = "3", .kind = PB_GAME_REMAT, .cap = 5};
    desk d;
    char text[512];
    (void)state;
    open_desk(&d, &q);
    pb_least_fact l = {.kind = PB_GAME_REMAT, .bounds = {.least_cap = 4}, .known = true, .cap = 7, .strategy = "order"};
    pb_least_fact_text(&l, &d.game, 10, text, sizeof text);
    assert_string_equal(text, "no plan found for 5 pebble; the smallest cap with a known plan is 7 pebble");
    l.bounds.least_cap = 6;
    pb_least_fact_text(&l, &d.game, 10, text, sizeof text);
    assert_string_equal(text, "no plan needs less than 6 pebble; the smallest cap with a known plan is 7 pebble");
    l.bounds.least_cap = 7;
    pb_least_fact_text(&l, &d.game, 10, text, sizeof text);
    assert_string_equal(text, "no plan fits 5 pebble; the smallest cap that works is 7 pebble");
    l.cap = 5;
    l.bounds.least_cap = 4;
    pb_least_fact_text(&l, &d.game, 10, text, sizeof text);
    assert_string_equal(text, "no plan found for 5 pebble this way, but order has one for 5 pebble");
    pb_graph bytes = *d.game.graph;
    bytes.size_unit = "byte";
    pb_cap_text(UINT64_C(3) << 29, &bytes, UINT64_C(4) << 30, text, sizeof text);
    assert_string_equal(text, "37.5 % (1.5 GiB)");
    pb_cap_option_text((UINT64_C(3) << 29) + 1, &bytes, UINT64_C(4) << 30, text, sizeof text);
    assert_string_equal(text, "37.6%");
    pb_arena_release(&d.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_bounded_alike),     cmocka_unit_test(caps_are_bounded_alike),
        cmocka_unit_test(proofs_hold_for_every_row), cmocka_unit_test(the_smallest_cap_settles_a_plan),
        cmocka_unit_test(the_smallest_cap_is_named), cmocka_unit_test(a_sweep_out_of_time_has_the_same_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
