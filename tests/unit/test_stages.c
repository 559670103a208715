/* test_stages.c -- pipelines: published figures of known schedules, and bounds and plans against all orders of tiny ones. */
#include "base/rng.h"
#include "pebble/api.h"
#include "pebble/generate.h"
#include "support/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct bench {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_plan_result result;
    uint64_t bound;
} bench;

/* "key=value key=value" as parameters. */
static uint32_t split(char *text, pb_option *out)
{
    uint32_t count = 0;
    for (char *at = strtok(text, " "); at; at = strtok(NULL, " ")) {
        char *equals = strchr(at, '=');
        *equals = '\0';
        out[count++] = (pb_option){at, equals + 1};
    }
    return count;
}

static pb_status open_bench(bench *b, const char *params, pb_objective objective)
{
    char text[400];
    pb_option options[16];
    const pb_graph *g, *priced;
    const pb_timing *timing;
    memset(b, 0, sizeof *b);
    pb_context_init(&b->ctx);
    pb_arena_init(&b->arena, &b->ctx);
    snprintf(text, sizeof text, "%s", params);
    pb_status status = pb_generate(&b->ctx, "stages", options, split(text, options), &b->arena, &g);
    if (status != PB_OK)
        return status;
    assert_int_equal(pb_timing_make(&b->ctx, g, g->machine, &b->arena, &timing), PB_OK);
    assert_int_equal(pb_timing_graph(&b->ctx, timing, &b->arena, &priced), PB_OK);
    b->game = (pb_game){.graph = priced,
                        .kind = PB_GAME_TIMED,
                        .cap = g->machine->memories[0].cap,
                        .weights = PB_WEIGHTS_DEFAULT,
                        .timing = timing,
                        .objective = objective};
    return PB_OK;
}

static void close_bench(bench *b) { pb_arena_release(&b->arena); }

/* Plans, verified by the pipeline; the value under the objective, or UINT64_MAX. */
static uint64_t plan(bench *b, const char *strategy, uint64_t ticks)
{
    pb_request request = {.strategy = strategy, .threads = 1, .seed = 1};
    b->ctx.tick_limit = ticks;
    pb_status status = pb_plan(&b->ctx, &b->game, &request, &b->arena, &b->result);
    if (status != PB_OK)
        fail_msg("%s: %s", strategy, b->ctx.error.message);
    if (!b->result.certificate)
        return UINT64_MAX;
    const pb_metrics *m = &b->result.schedule.metrics;
    b->bound = b->result.schedule.lower_bound;
    return b->game.objective == PB_OBJECTIVE_SPAN ? m->span : m->makespan;
}

static uint64_t span_of(const char *params, const char *strategy)
{
    bench b;
    assert_int_equal(open_bench(&b, params, PB_OBJECTIVE_SPAN), PB_OK);
    uint64_t value = plan(&b, strategy, 200000);
    close_bench(&b);
    return value;
}

/* The largest peak of a device. */
static uint64_t peak_of(const char *params, const char *strategy)
{
    bench b;
    assert_int_equal(open_bench(&b, params, PB_OBJECTIVE_SPAN), PB_OK);
    plan(&b, strategy, 200000);
    uint64_t most = 0;
    for (uint32_t i = 0; i < b.game.timing->machine->memory_count; i++)
        most = b.result.schedule.metrics.peaks[i] > most ? b.result.schedule.metrics.peaks[i] : most;
    close_bench(&b);
    return most;
}

/* ---- published figures ---- */

static void bubbles_are_the_published_ones(void **state)
{
    (void)state;
    for (unsigned p = 2; p <= 6; p++) {
        char text[200];
        uint64_t m = 4 * p, f = 3, b = 4, w = 2;
        snprintf(text, sizeof text, "stages=%u micro-batches=%u forward=3 backward=4 weight=2 memory=2 cap=1000", p,
                 4 * p);
        uint64_t work = m * (f + b + w);
        assert_int_equal(span_of(text, "gpipe"), work + (p - 1) * (f + b));
        assert_int_equal(span_of(text, "1f1b"), work + (p - 1) * (f + b));
        snprintf(text, sizeof text, "stages=%u micro-batches=%u forward=3 backward=3 weight=3 memory=2 cap=1000", p,
                 4 * p);
        assert_int_equal(span_of(text, "zb-h1"), m * 9 + (p - 1) * 3);
        assert_int_equal(span_of(text, "zb-h2"), m * 9);
        snprintf(text, sizeof text,
                 "stages=%u chunks=2 micro-batches=%u forward=3 backward=4 weight=2 memory=2 cap=1000", p, 4 * p);
        assert_int_equal(span_of(text, "interleaved-1f1b"), 2 * work + (p - 1) * (f + b));
    }
}

static void memories_are_the_published_ones(void **state)
{
    (void)state;
    for (unsigned p = 2; p <= 6; p++) {
        char text[200];
        snprintf(text, sizeof text, "stages=%u micro-batches=%u memory=2 cap=1000", p, 4 * p);
        assert_int_equal(peak_of(text, "gpipe"), 2 * 4 * p);
        assert_int_equal(peak_of(text, "1f1b"), 2 * p);
        assert_int_equal(peak_of(text, "zb-h1"), 2 * p);
        assert_int_equal(peak_of(text, "zb-h2"), 2 * (2 * p - 1));
    }
    /* In units of what 1F1B holds; the constant parts matter less with more devices. */
    const char *v = "stages=24 chunks=2 placement=v micro-batches=60 memory=2 cap=1000";
    assert_int_equal(peak_of(v, "zb-v"), 24 * 4);
    assert_in_range(peak_of(v, "v-half"), 24 * 4 / 2, 24 * 4 / 2 + 6);
    assert_in_range(peak_of(v, "v-min"), 24 * 4 / 3, 24 * 4 / 3 + 6);
}

static void known_schedules_recompute_where_they_must(void **state)
{
    (void)state;
    const char *params = "stages=4 micro-batches=8 memory=4 memory-b=2 recompute=yes boundary=1 cap=10";
    assert_int_equal(span_of(params, "1f1b:recompute=none"), UINT64_MAX);
    uint64_t some = span_of(params, "1f1b:recompute=per-stage"), all = span_of(params, "1f1b:recompute=full");
    assert_true(some < all);
    assert_true(all < UINT64_MAX);
    assert_int_equal(span_of(params, "1f1b"), some);
    assert_int_equal(span_of("stages=4 micro-batches=8 cap=4", "1f1b"), UINT64_MAX);
    assert_int_equal(span_of("stages=4 micro-batches=8 cap=400", "v-min"), UINT64_MAX);
}

/* ---- all orders of tiny pipelines, by code of its own ---- */

enum { MOST_P = 3, MOST_M = 3, MOST_STEPS = 3 * MOST_M };

typedef struct tiny {
    uint32_t p, m;
    uint64_t f[MOST_P], b[MOST_P], w[MOST_P], sb[MOST_P], sw[MOST_P], transfer, cap;
    uint8_t order[MOST_P][MOST_STEPS]; /* 0 F, 1 B, 2 W; the k-th of a kind is micro-batch k */
    uint64_t best_makespan, best_span;
} tiny;

/* The longest paths from the first step of device `from`, and ends by device; false if the orders wait in a circle. */
static bool run_orders(const tiny *t, int from, int64_t end[MOST_P], int64_t makespan_start)
{
    int64_t f[MOST_P][MOST_M], b[MOST_P][MOST_M], now[MOST_P];
    uint32_t at[MOST_P] = {0}, count[MOST_P][3] = {{0}};
    const int64_t never = -1000000000;
    for (uint32_t d = 0; d < t->p; d++)
        now[d] = from < 0 ? makespan_start : (int)d == from ? 0 : never;
    bool going = true;
    while (going) {
        going = false;
        for (uint32_t d = 0; d < t->p; d++) {
            while (at[d] < 3 * t->m) {
                uint8_t kind = t->order[d][at[d]];
                uint32_t k = count[d][kind];
                int64_t start = now[d];
                if (kind == 0 && d) {
                    if (count[d - 1][0] <= k)
                        break;
                    int64_t input = f[d - 1][k] + (int64_t)t->transfer;
                    start = input > start ? input : start;
                }
                if (kind == 1 && d + 1 < t->p) {
                    if (count[d + 1][1] <= k)
                        break;
                    int64_t input = b[d + 1][k] + (int64_t)t->transfer;
                    start = input > start ? input : start;
                }
                int64_t stop = start + (int64_t)(kind == 0 ? t->f[d] : kind == 1 ? t->b[d] : t->w[d]);
                if (kind == 0)
                    f[d][k] = stop;
                if (kind == 1)
                    b[d][k] = stop;
                count[d][kind]++;
                now[d] = stop;
                at[d]++;
                going = true;
            }
        }
    }
    for (uint32_t d = 0; d < t->p; d++) {
        end[d] = now[d];
        if (at[d] < 3 * t->m)
            return false;
    }
    return true;
}

static void judge_orders(tiny *t)
{
    int64_t end[MOST_P], path[MOST_P][MOST_P], makespan = 0;
    if (!run_orders(t, -1, end, 0))
        return;
    for (uint32_t d = 0; d < t->p; d++) {
        makespan = end[d] > makespan ? end[d] : makespan;
        run_orders(t, (int)d, path[d], 0);
    }
    t->best_makespan = (uint64_t)makespan < t->best_makespan ? (uint64_t)makespan : t->best_makespan;
    /* The least span: the least S without a circle of devices whose paths are longer than S for each. */
    int64_t span = 0;
    for (uint32_t d = 0; d < t->p; d++) {
        span = path[d][d] > span ? path[d][d] : span;
        for (uint32_t e = 0; e < t->p; e++) {
            int64_t two = (path[d][e] + path[e][d] + 1) / 2;
            span = e != d && two > span ? two : span;
            for (uint32_t g = 0; g < t->p; g++) {
                int64_t three = (path[d][e] + path[e][g] + path[g][d] + 2) / 3;
                span = e != d && g != d && g != e && three > span ? three : span;
            }
        }
    }
    t->best_span = (uint64_t)span < t->best_span ? (uint64_t)span : t->best_span;
}

static void try_orders(tiny *t, uint32_t d, uint32_t f, uint32_t b, uint32_t w)
{
    if (d == t->p) {
        judge_orders(t);
        return;
    }
    if (w == t->m) {
        try_orders(t, d + 1, 0, 0, 0);
        return;
    }
    uint64_t use = (f - b) * t->sb[d] + (f - w) * t->sw[d];
    uint8_t *next = &t->order[d][f + b + w];
    if (f < t->m && use + t->sb[d] + t->sw[d] <= t->cap) {
        *next = 0;
        try_orders(t, d, f + 1, b, w);
    }
    if (b < f) {
        *next = 1;
        try_orders(t, d, f, b + 1, w);
    }
    if (w < b) {
        *next = 2;
        try_orders(t, d, f, b, w + 1);
    }
}

static void list(char *text, const char *key, const uint64_t *value, uint32_t count)
{
    sprintf(text + strlen(text), " %s=", key);
    for (uint32_t i = 0; i < count; i++)
        sprintf(text + strlen(text), i ? ",%u" : "%u", (unsigned)value[i]);
}

static void no_order_is_below_the_bound_or_the_plan(void **state)
{
    (void)state;
    pbi_rng r = {7};
    uint64_t optimal = 0, cases = test_cases(60);
    for (uint64_t i = 0; i < cases; i++) {
        tiny t = {.p = 2 + (uint32_t)pbi_rng_below(&r, 2), .best_makespan = UINT64_MAX, .best_span = UINT64_MAX};
        t.m = t.p == 3 ? 2 : 2 + (uint32_t)pbi_rng_below(&r, 2);
        t.transfer = pbi_rng_below(&r, 3);
        uint64_t saved[MOST_P], least = 0;
        for (uint32_t d = 0; d < t.p; d++) {
            t.f[d] = 1 + pbi_rng_below(&r, 4);
            t.b[d] = 1 + pbi_rng_below(&r, 4);
            t.w[d] = pbi_rng_below(&r, 4);
            t.sb[d] = pbi_rng_below(&r, 3);
            t.sw[d] = pbi_rng_below(&r, 3);
            saved[d] = t.sb[d] + t.sw[d];
            least = saved[d] > least ? saved[d] : least;
        }
        t.cap = least + pbi_rng_below(&r, 2 * least + 1);
        try_orders(&t, 0, 0, 0, 0);
        char text[400];
        sprintf(text, "stages=%u micro-batches=%u transfer=%u cap=%u", t.p, t.m, (unsigned)t.transfer, (unsigned)t.cap);
        list(text, "forward", t.f, t.p);
        list(text, "backward", t.b, t.p);
        list(text, "weight", t.w, t.p);
        list(text, "memory", saved, t.p);
        list(text, "memory-b", t.sb, t.p);
        for (int span = 0; span < 2; span++) {
            bench b;
            if (open_bench(&b, text, span ? PB_OBJECTIVE_SPAN : PB_OBJECTIVE_MAKESPAN) != PB_OK)
                fail_msg("%s", b.ctx.error.message);
            uint64_t best = span ? t.best_span : t.best_makespan, found = plan(&b, "stages", 20000);
            if (b.bound > best || found < best)
                fail_msg("%s: bound %u, least %u, plan %u", text, (unsigned)b.bound, (unsigned)best, (unsigned)found);
            if (found != best)
                print_message("%s: least %u, plan %u\n", text, (unsigned)best, (unsigned)found);
            optimal += found == best;
            close_bench(&b);
        }
    }
    assert_true(optimal * 20 >= 2 * cases * 19); /* the search finds nearly all of them */
}

/* ---- recomputation ---- */

static void more_memory_is_never_worse_and_bounds_hold(void **state)
{
    (void)state;
    for (int span = 0; span < 2; span++) {
        uint64_t before = UINT64_MAX;
        for (unsigned cap = 7; cap <= 21; cap += 2) {
            char text[200];
            bench b;
            snprintf(
                text, sizeof text,
                "stages=3 micro-batches=6 forward=3 backward=4 weight=2 memory=4 memory-b=2 recompute=yes boundary=1 "
                "cap=%u",
                cap);
            assert_int_equal(open_bench(&b, text, span ? PB_OBJECTIVE_SPAN : PB_OBJECTIVE_MAKESPAN), PB_OK);
            uint64_t value = plan(&b, "stages", 60000);
            assert_true(value <= before);
            assert_true(b.bound <= value);
            before = value;
            close_bench(&b);
        }
    }
}

/* ---- errors ---- */

static void malformed_instances_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *params, *part;
    } cases[] = {
        {"stages=2 forward=1,2,3", "a list of 2"},
        {"stages=2 placement=0,2", "part 1 is on device 2"},
        {"stages=2 placement=0,x", "placement must be loop, v, or a list of 2"},
        {"stages=2 memory=4 cap=3", "part 0, which does not fit device 0"},
        {"stages=2 memory=4 cap=9,5 fixed=1,2", "part 1, which does not fit device 1"},
        {"stages=2 memory=1,4 memory-b=1,5", "part 1 has 5 of 4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench b;
        assert_int_equal(open_bench(&b, cases[i].params, PB_OBJECTIVE_MAKESPAN), PB_EINVAL);
        if (!strstr(b.ctx.error.message, cases[i].part))
            fail_msg("'%s' has no '%s'", b.ctx.error.message, cases[i].part);
        close_bench(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bubbles_are_the_published_ones),
        cmocka_unit_test(memories_are_the_published_ones),
        cmocka_unit_test(known_schedules_recompute_where_they_must),
        cmocka_unit_test(no_order_is_below_the_bound_or_the_plan),
        cmocka_unit_test(more_memory_is_never_worse_and_bounds_hold),
        cmocka_unit_test(malformed_instances_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
