/* test_run.c -- workloads under a cap: peak and results against the plan, and the largest batch that fits. */
#include "pebble/full.h"
#include "support/outside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static uint64_t clock_now(void *state)
{
    struct timespec t;
    (void)state;
    timespec_get(&t, TIME_UTC);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

typedef struct case_ {
    pb_context ctx;
    pb_arena arena;
    pb_workload *w;
    pb_profiled profiled;
} case_;

static const pb_option small[] = {{"steps", "12"}, {"batch", "2"}, {"bytes", "256"}, {"work", "3"}};

static void open_case(case_ *c)
{
    pb_context_init(&c->ctx);
    c->ctx.clock_ns = clock_now;
    pb_arena_init(&c->arena, &c->ctx);
    assert_int_equal(pb_workload_open(&c->ctx, "synthetic", small, 4, &c->w), PB_OK);
    assert_int_equal(pb_profile_workload(&c->ctx, c->w, 3, &c->arena, &c->profiled), PB_OK);
}

static void close_case(case_ *c)
{
    pb_workload_close(c->w);
    pb_arena_release(&c->arena);
}

static void count_steps(void *state, uint64_t step)
{
    uint64_t *steps = state;
    assert_int_equal(step, (*steps)++);
}

static void any_cap_runs_in_its_peak_with_the_same_bits(void **state)
{
    (void)state;
    case_ c;
    pb_run_figures all, some;
    const pb_certificate *everything;
    open_case(&c);
    const pb_graph *g = c.profiled.graph;
    pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .weights = PB_WEIGHTS_DEFAULT};
    assert_int_equal(pb_run_program_order(&c.ctx, g, true, &c.arena, &everything), PB_OK);
    assert_int_equal(pb_run_plan(&c.ctx, c.w, everything, &(pb_run_options){.steps = 3}, &c.arena, &all), PB_OK);
    assert_int_equal(all.peak, g->total_size);
    assert_int_equal(all.recomputed, 0);
    assert_string_not_equal(all.digest[0], all.digest[1]); /* the parameters move */
    assert_non_null(strstr(all.text, "gradient"));
    unsigned with_recomputation = 0;
    for (uint64_t values = 14; values >= 4; values--) {
        pb_plan_result planned;
        pb_packing packing;
        uint64_t seen = 0;
        pb_run_options options = {.steps = 3, .packing = &packing, .after = count_steps, .after_state = &seen};
        game.cap = values * 512 + 128;
        assert_int_equal(pb_run_plan_make(&c.ctx, &game, &PB_REQUEST_DEFAULT, &c.arena, &planned, &packing), PB_OK);
        assert_non_null(planned.certificate);
        assert_int_equal(pb_run_plan(&c.ctx, c.w, planned.certificate, &options, &c.arena, &some), PB_OK);
        assert_int_equal(seen, 3);
        assert_int_equal(some.peak, planned.schedule.metrics.peak);
        assert_true(some.peak <= some.block && some.block <= game.cap);
        assert_int_equal(some.recomputed, planned.schedule.metrics.recompute_count);
        assert_int_equal(pb_run_differs(&all, &some), UINT64_MAX);
        assert_true(some.kernel_ns >= some.recompute_ns);
        /* Memory during a kernel is at most the peak. */
        assert_true(some.flux <= (double)some.peak * 3 * (double)(some.time.high + some.fill_ns + 1));
        with_recomputation += some.recomputed > 0;
    }
    assert_true(with_recomputation > 5);
    close_case(&c);
}

static void slow_memory_gives_the_same_bits(void **state)
{
    (void)state;
    case_ c;
    pb_plan_result planned;
    pb_packing packing;
    pb_run_figures all, some;
    const pb_certificate *everything;
    open_case(&c);
    pb_game game = {.graph = c.profiled.graph,
                    .kind = PB_GAME_TIERED,
                    .cap = 4 * 512 + 128,
                    .weights = PB_WEIGHTS_DEFAULT,
                    .tier_count = 1,
                    .tiers = {{.store_cost = 1, .load_cost = 1, .cap = PB_UNLIMITED}}};
    assert_int_equal(pb_run_program_order(&c.ctx, game.graph, true, &c.arena, &everything), PB_OK);
    assert_int_equal(pb_run_plan(&c.ctx, c.w, everything, &(pb_run_options){.steps = 2}, &c.arena, &all), PB_OK);
    assert_int_equal(pb_run_plan_make(&c.ctx, &game, &PB_REQUEST_DEFAULT, &c.arena, &planned, &packing), PB_OK);
    assert_non_null(planned.certificate);
    assert_true(planned.schedule.metrics.io > 0);
    pb_run_options options = {.steps = 2};
    assert_int_equal(pb_run_plan(&c.ctx, c.w, planned.certificate, &options, &c.arena, &some), PB_EINVAL);
    options.slow_path = ".";
    assert_int_equal(pb_run_plan(&c.ctx, c.w, planned.certificate, &options, &c.arena, &some), PB_OK);
    assert_int_equal(some.peak, planned.schedule.metrics.peak);
    assert_true(some.stored_bytes > 0 && some.loaded_bytes >= some.stored_bytes);
    assert_int_equal(pb_run_differs(&all, &some), UINT64_MAX);
    close_case(&c);
}

/* One kernel needs workspace that it did not state: it is granted, or the rest is planned anew, or the run ends. Never more than the
 * cap, and never other results. */
static void kernels_that_need_more_stay_within_the_cap(void **state)
{
    (void)state;
    case_ c;
    pb_plan_result planned;
    pb_packing packing;
    pb_run_figures all, some;
    const pb_certificate *everything;
    uint64_t granted = 0, replanned = 0, ended = 0;
    open_case(&c);
    pb_game game = {.graph = c.profiled.graph, .kind = PB_GAME_REMAT, .cap = 10 * 512, .weights = PB_WEIGHTS_DEFAULT};
    assert_int_equal(pb_run_program_order(&c.ctx, game.graph, true, &c.arena, &everything), PB_OK);
    assert_int_equal(pb_run_plan(&c.ctx, c.w, everything, &(pb_run_options){.steps = 2}, &c.arena, &all), PB_OK);
    assert_int_equal(pb_run_plan_make(&c.ctx, &game, &PB_REQUEST_DEFAULT, &c.arena, &planned, &packing), PB_OK);
    for (unsigned bytes = 256; bytes <= 6144; bytes += 256) {
        char text[16];
        pb_option options[5];
        pb_workload *w;
        memcpy(options, small, sizeof small);
        snprintf(text, sizeof text, "%u", bytes);
        options[4] = (pb_option){"unsaid", text};
        assert_int_equal(pb_workload_open(&c.ctx, "synthetic", options, 5, &w), PB_OK);
        pb_run_options how = {.steps = 2, .max_bytes = game.cap, .replan = &PB_REQUEST_DEFAULT};
        pb_status status = pb_run_plan(&c.ctx, w, planned.certificate, &how, &c.arena, &some);
        if (status == PB_OK) {
            assert_true(some.more_bytes == bytes || some.replanned > 0);
            assert_true(some.peak <= game.cap);
            assert_int_equal(pb_run_differs(&all, &some), UINT64_MAX);
            granted += some.replanned == 0;
            replanned += some.replanned > 0;
        } else {
            assert_int_equal(status, PB_ELIMIT);
            assert_non_null(strstr(c.ctx.error.message, "workspace"));
            ended++;
        }
        pb_workload_close(w);
    }
    assert_true(granted && replanned && ended);
    close_case(&c);
}

static void a_difference_is_found_where_it_begins(void **state)
{
    (void)state;
    static const char one[3][PB_HASH_TEXT] = {"aa", "bb", "cc"}, two[3][PB_HASH_TEXT] = {"aa", "bc", "cd"};
    pb_run_figures a = {.steps = 3, .digest = one}, b = {.steps = 3, .digest = two};
    assert_int_equal(pb_run_differs(&a, &b), 1);
    b.steps = 1;
    assert_int_equal(pb_run_differs(&a, &b), UINT64_MAX);
}

static void addresses_that_overlap_are_refused(void **state)
{
    (void)state;
    case_ c;
    pb_plan_result planned;
    pb_packing packing;
    pb_run_figures figures;
    open_case(&c);
    pb_game game = {.graph = c.profiled.graph, .kind = PB_GAME_REMAT, .cap = 10 * 512, .weights = PB_WEIGHTS_DEFAULT};
    assert_int_equal(pb_run_plan_make(&c.ctx, &game, &PB_REQUEST_DEFAULT, &c.arena, &planned, &packing), PB_OK);
    pb_run_options options = {.packing = &packing};
    assert_int_equal(pb_run_plan(&c.ctx, c.w, planned.certificate, &options, &c.arena, &figures), PB_OK);
    assert_int_equal(figures.block, packing.size);
    packing.offset[2] = packing.offset[1];
    assert_int_equal(pb_run_plan(&c.ctx, c.w, planned.certificate, &options, &c.arena, &figures), PB_EINVAL);
    assert_non_null(strstr(c.ctx.error.message, "overlap"));
    close_case(&c);
}

static void what_does_not_fit_is_no_plan(void **state)
{
    (void)state;
    case_ c;
    pb_plan_result planned;
    pb_packing packing;
    open_case(&c);
    pb_game game = {.graph = c.profiled.graph, .kind = PB_GAME_REMAT, .cap = 700, .weights = PB_WEIGHTS_DEFAULT};
    assert_int_equal(pb_run_plan_make(&c.ctx, &game, &PB_REQUEST_DEFAULT, &c.arena, &planned, &packing), PB_OK);
    assert_null(planned.certificate);
    assert_int_equal(planned.schedule.outcome, PB_INFEASIBLE);
    close_case(&c);
}

/* No time at all: a plan is made quickly all the same. Where one for the cap does not fit by its addresses (12 parameters take two lines
 * of 64 bytes), one for less is no proof for the cap. */
static void too_little_time_is_enough_for_some_plan(void **state)
{
    (void)state;
    static const uint64_t caps[] = {10 * 512 + 128, 10 * 512 + 96};
    case_ c;
    open_case(&c);
    for (int i = 0; i < 2; i++) {
        pb_plan_result planned;
        pb_packing packing;
        pb_run_figures figures;
        pb_request request = PB_REQUEST_DEFAULT;
        pb_game game = {
            .graph = c.profiled.graph, .kind = PB_GAME_REMAT, .cap = caps[i], .weights = PB_WEIGHTS_DEFAULT};
        request.time_ns = 1;
        assert_int_equal(pb_run_plan_make(&c.ctx, &game, &request, &c.arena, &planned, &packing), PB_OK);
        assert_non_null(planned.certificate);
        assert_true(packing.size <= caps[i]);
        assert_int_equal(planned.schedule.cap, caps[i]);
        assert_int_equal(pb_certificate_game(planned.certificate)->cap, caps[i]);
        if (i) {
            assert_int_equal(planned.schedule.outcome, PB_FOUND);
            assert_non_null(strstr(planned.schedule.note, "planned for "));
            assert_true(planned.schedule.metrics.peak <= 9 * 512 + 96);
        }
        pb_run_options options = {.packing = &packing, .max_bytes = caps[i]};
        assert_int_equal(pb_run_plan(&c.ctx, c.w, planned.certificate, &options, &c.arena, &figures), PB_OK);
        assert_int_equal(figures.peak, planned.schedule.metrics.peak);
    }
    close_case(&c);
}

static void fit_grows_from_way_to_way(void **state)
{
    (void)state;
    case_ c;
    pb_fit fit;
    open_case(&c);
    pb_fit_request request = {.workload = "synthetic",
                              .options = small,
                              .option_count = 4,
                              .cap = 100000,
                              .max_overhead = PB_FIT_FORWARD,
                              .plan = PB_REQUEST_DEFAULT};
    assert_int_equal(pb_fit_find(&c.ctx, &request, &c.arena, &fit), PB_OK);
    /* 26 values of 256 bytes an item, and 12 parameters in two lines of 64 bytes. */
    assert_int_equal(fit.row[PB_FIT_STORE_ALL].value, (100000 - 128) / (26 * 256));
    /* Program order: all states, and two gradients at the turn. */
    assert_int_equal(fit.row[PB_FIT_PROGRAM_ORDER].value, (100000 - 128) / (14 * 256));
    assert_true(fit.row[PB_FIT_ORDER].value >= fit.row[PB_FIT_PROGRAM_ORDER].value);
    assert_true(fit.row[PB_FIT_PLAN].value > fit.row[PB_FIT_ORDER].value);
    assert_true(fit.row[PB_FIT_PLAN].overhead > 0);
    assert_true(fit.row[PB_FIT_PLAN].forward_passes > 0 && fit.row[PB_FIT_PLAN].forward_passes <= 1);
    assert_int_equal(fit.profile_value, fit.row[PB_FIT_STORE_ALL].value);
    for (int way = 0; way < PB_FIT_WAYS; way++) {
        assert_true(fit.row[way].ran && fit.row[way].bounded);
        assert_true(fit.row[way].measured.block <= request.cap);
    }
    request.max_overhead = 0; /* nothing may be recomputed */
    pb_fit none;
    assert_int_equal(pb_fit_find(&c.ctx, &request, &c.arena, &none), PB_OK);
    assert_true(none.row[PB_FIT_PLAN].value >= none.row[PB_FIT_ORDER].value);
    assert_true(none.row[PB_FIT_PLAN].value <= fit.row[PB_FIT_PLAN].value);
    assert_true(none.row[PB_FIT_PLAN].overhead == 0);
    close_case(&c);
}

static void fit_tells_what_cannot_be(void **state)
{
    (void)state;
    case_ c;
    pb_fit fit;
    open_case(&c);
    pb_fit_request request = {.workload = "synthetic", .cap = 64, .plan = PB_REQUEST_DEFAULT};
    assert_int_equal(pb_fit_find(&c.ctx, &request, &c.arena, &fit), PB_OK);
    for (int way = 0; way < PB_FIT_WAYS; way++)
        assert_true(fit.row[way].value == 0 && !fit.row[way].ran);
    request.vary = "length";
    assert_int_equal(pb_fit_find(&c.ctx, &request, &c.arena, &fit), PB_EUNKNOWN);
    request.vary = NULL;
    request.cap = PB_UNLIMITED;
    assert_int_equal(pb_fit_find(&c.ctx, &request, &c.arena, &fit), PB_EINVAL);
    request.cap = 4096;
    request.workload = "synthetical";
    assert_int_equal(pb_fit_find(&c.ctx, &request, &c.arena, &fit), PB_EUNKNOWN);
    close_case(&c);
}

static pb_stop stop_at_once(void *state)
{
    (void)state;
    return PB_STOP_INTERRUPT;
}

/* Stops a search when it plans with recomputation at a value of this size. */
typedef struct stopper {
    uint64_t value;
    bool stop;
} stopper;

static void look(void *state, const char *what, uint64_t done, uint64_t total)
{
    stopper *s = state;
    (void)total;
    s->stop |= strcmp(what, pb_fit_way_name(PB_FIT_PLAN)) == 0 && done > s->value;
}

static pb_stop stop_then(void *state)
{
    const stopper *s = state;
    return s->stop ? PB_STOP_TIME : PB_GO_ON;
}

/* 27 items fit in the best order: 54 of them fit with recomputation, and the search is stopped on its way to 108. */
static void a_fit_that_is_stopped_tells_what_it_found(void **state)
{
    (void)state;
    case_ c;
    pb_fit fit;
    stopper s = {.value = 54};
    open_case(&c);
    pb_fit_request request = {.workload = "synthetic",
                              .options = small,
                              .option_count = 4,
                              .cap = 100000,
                              .max_overhead = 10,
                              .plan = PB_REQUEST_DEFAULT};
    c.ctx.stop = stop_then;
    c.ctx.progress = look;
    c.ctx.callback_state = &s;
    assert_int_equal(pb_fit_find(&c.ctx, &request, &c.arena, &fit), PB_OK);
    assert_true(fit.stopped);
    assert_int_equal(fit.row[PB_FIT_ORDER].value, 27);
    assert_int_equal(fit.row[PB_FIT_PLAN].value, 54);
    assert_false(fit.row[PB_FIT_PLAN].ran);
    assert_true(fit.row[PB_FIT_PLAN].overhead > 0 && fit.row[PB_FIT_PLAN].forward_passes > 0);
    assert_non_null(fit.row[PB_FIT_PLAN].strategy);
    s = (stopper){.value = 10}; /* before any plan of the last way: what the way before it found fits */
    c.ctx.stopped = PB_GO_ON;
    assert_int_equal(pb_fit_find(&c.ctx, &request, &c.arena, &fit), PB_OK);
    assert_true(fit.stopped);
    assert_int_equal(fit.row[PB_FIT_PLAN].value, 27);
    assert_true(fit.row[PB_FIT_PLAN].ran);
    close_case(&c);
}

static void stops_are_clean(void **state)
{
    (void)state;
    case_ c;
    pb_fit fit;
    pb_run_figures figures;
    const pb_certificate *everything;
    open_case(&c);
    assert_int_equal(pb_run_program_order(&c.ctx, c.profiled.graph, false, &c.arena, &everything), PB_OK);
    c.ctx.stop = stop_at_once;
    assert_int_equal(pb_run_plan(&c.ctx, c.w, everything, &(pb_run_options){.steps = 3}, &c.arena, &figures),
                     PB_ECANCELLED);
    pb_fit_request request = {.workload = "synthetic", .cap = 1 << 20, .plan = PB_REQUEST_DEFAULT};
    assert_int_equal(pb_fit_find(&c.ctx, &request, &c.arena, &fit), PB_OK);
    assert_true(fit.stopped);
    assert_int_equal(fit.row[PB_FIT_STORE_ALL].value, 0);
    close_case(&c);
}

/* Profile, plan and run with request k refused, for every k until none is. */
static pb_status all_of_it(pb_context *ctx)
{
    pb_arena arena;
    pb_workload *w = NULL;
    pb_profiled profiled;
    pb_plan_result planned = {0};
    pb_packing packing;
    pb_run_figures figures;
    pb_arena_init(&arena, ctx);
    pb_status status = pb_workload_open(ctx, "synthetic", small, 4, &w);
    if (status == PB_OK)
        status = pb_profile_workload(ctx, w, 1, &arena, &profiled);
    if (status == PB_OK) {
        pb_game game = {.graph = profiled.graph, .kind = PB_GAME_REMAT, .cap = 10 * 512, .weights = PB_WEIGHTS_DEFAULT};
        pb_request request = {.strategy = "chain", .seed = 1};
        status = pb_run_plan_make(ctx, &game, &request, &arena, &planned, &packing);
    }
    if (status == PB_OK && planned.certificate)
        status = pb_run_plan(ctx, w, planned.certificate, &(pb_run_options){.steps = 1}, &arena, &figures);
    pb_workload_close(w);
    pb_arena_release(&arena);
    return status;
}

static void refused_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    bool done = false;
    uint64_t k = 0;
    while (!done) {
        outside o = {.refuse_at = ++k};
        pb_context ctx;
        outside_context(&ctx, &o);
        ctx.clock_ns = clock_now;
        pb_status status = all_of_it(&ctx);
        done = o.requests < k;
        assert_true(status == PB_ENOMEM || status == PB_OK);
        assert_int_equal(o.live_blocks, 0);
    }
    assert_true(k > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_cap_runs_in_its_peak_with_the_same_bits),
        cmocka_unit_test(slow_memory_gives_the_same_bits),
        cmocka_unit_test(kernels_that_need_more_stay_within_the_cap),
        cmocka_unit_test(a_difference_is_found_where_it_begins),
        cmocka_unit_test(addresses_that_overlap_are_refused),
        cmocka_unit_test(what_does_not_fit_is_no_plan),
        cmocka_unit_test(too_little_time_is_enough_for_some_plan),
        cmocka_unit_test(fit_grows_from_way_to_way),
        cmocka_unit_test(fit_tells_what_cannot_be),
        cmocka_unit_test(a_fit_that_is_stopped_tells_what_it_found),
        cmocka_unit_test(stops_are_clean),
        cmocka_unit_test(refused_memory_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
