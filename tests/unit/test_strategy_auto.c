/* test_strategy_auto.c -- what the portfolio takes of memory and time on graphs that are not small. */
#include "strategy_fixture.h"

/* A clock that only polls move. */
typedef struct watch {
    uint64_t now, end;
} watch;

static pb_stop watch_stop(void *state)
{
    watch *w = state;
    return ++w->now >= w->end ? PB_STOP_TIME : PB_GO_ON;
}

static uint64_t watch_now(void *state) { return ((watch *)state)->now; }

static void open_transformer(desk *d, const char *blocks, uint64_t percent)
{
    desk_generate(d, "transformer", 1, (pb_option[]){{"blocks", blocks}});
    desk_cap(d, percent);
}

static double bytes_each(const desk *d)
{
    const pb_graph *g = d->game.graph;
    return (double)d->ctx.memory_peak / ((double)g->node_count + (double)g->edge_count);
}

static void large_training_steps_take_little_memory(void **state)
{
    (void)state;
    desk d;
    open_transformer(&d, "150", 50);
    assert_true(d.game.graph->node_count > 5000);
    assert_int_equal(pb_plan(&d.ctx, &d.game, &(pb_request){.strategy = "auto", .seed = 1}, &d.arena, &d.p), PB_OK);
    assert_true(d.p.schedule.metrics.gap < 0.0002);
    if (bytes_each(&d) > 400)
        fail_msg("%g bytes for each node and edge", bytes_each(&d));
    desk_shut(&d);
}

/* Once a plan is near the bound, the rows that go on looking have to do with little memory too. */
static void patience_takes_little_memory(void **state)
{
    (void)state;
    desk d;
    open_transformer(&d, "150", 50);
    pb_request request = {.strategy = "auto", .seed = 1, .patient = true};
    d.ctx.tick_limit = 300000;
    assert_int_equal(pb_plan(&d.ctx, &d.game, &request, &d.arena, &d.p), PB_OK);
    assert_non_null(d.p.certificate);
    if (bytes_each(&d) > 400)
        fail_msg("%g bytes for each node and edge", bytes_each(&d));
    desk_shut(&d);
}

static void ask_within(desk *d, watch *w, uint64_t time, uint64_t told)
{
    pb_request request = {.strategy = "auto", .seed = 1, .patient = true, .time_ns = told};
    *w = (watch){.end = time};
    assert_int_equal(pb_plan(&d->ctx, &d->game, &request, &d->arena, &d->p), PB_OK);
    assert_int_equal(d->ctx.stopped, PB_STOP_TIME);
}

static void bounds_leave_time_for_a_plan(void **state)
{
    (void)state;
    desk d;
    watch w = {.end = UINT64_MAX};
    pb_bounds bounds;
    open_transformer(&d, "60", 50);
    d.ctx.stop = watch_stop;
    d.ctx.clock_ns = watch_now;
    d.ctx.callback_state = &w;
    assert_int_equal(pb_bounds_make(&d.ctx, &d.game, &bounds), PB_OK);
    assert_int_equal(pb_bounds_tighten(&d.ctx, &d.game, 0, &bounds), PB_OK);
    uint64_t time = w.now;
    ask_within(&d, &w, time, 0);
    assert_null(d.p.certificate); /* all of it went to the bound */
    ask_within(&d, &w, time, time);
    assert_non_null(d.p.certificate);
    assert_true(d.p.schedule.lower_bound >= d.game.graph->needed_cost);
    desk_shut(&d);
}

/* A stop of the whole is one of the share, and memory is counted as ever. */
static void a_stop_within_the_share_stops_all(void **state)
{
    (void)state;
    desk d;
    watch w;
    open_transformer(&d, "60", 50);
    d.ctx.stop = watch_stop;
    d.ctx.clock_ns = watch_now;
    d.ctx.callback_state = &w;
    size_t used = d.ctx.memory_used;
    ask_within(&d, &w, 5, 1000000);
    assert_null(d.p.certificate);
    assert_string_equal(d.p.schedule.reason, "the time limit was reached; allow more time");
    assert_true(d.ctx.memory_peak > used);
    desk_shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_training_steps_take_little_memory),
        cmocka_unit_test(patience_takes_little_memory),
        cmocka_unit_test(bounds_leave_time_for_a_plan),
        cmocka_unit_test(a_stop_within_the_share_stops_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
