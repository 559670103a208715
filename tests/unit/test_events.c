/* test_events.c -- the events that a handler gets while plans are made, and that it changes nothing. */
#include "api_fixture.h"
#include "pebble/generate.h"

typedef struct ear {
    uint32_t begins, bounds, plans, rows;
    bool in_order;  /* a row ends after it began */
    uint64_t least; /* makespan of the plans of the row at hand */
    uint64_t peak;  /* the largest of all plans */
    uint64_t bound;
    const char *last; /* strategy that began */
    pb_plan_result row[8];
} ear;

static void on_event(void *state, const pb_event *event)
{
    ear *e = state;
    assert_non_null(event->game);
    switch (event->kind) {
    case PB_EVENT_BEGIN:
        e->begins++;
        e->last = event->strategy;
        e->least = UINT64_MAX;
        break;
    case PB_EVENT_BOUND:
        e->bounds++;
        assert_non_null(event->bounds);
        assert_true(event->bounds->makespan >= e->bound); /* only better ones */
        e->bound = event->bounds->makespan;
        break;
    case PB_EVENT_PLAN:
        e->plans++;
        assert_non_null(event->strategy);
        e->least = event->makespan < e->least ? event->makespan : e->least;
        e->peak = event->peak > e->peak ? event->peak : e->peak;
        break;
    case PB_EVENT_ROW:
        assert_true(e->rows < e->begins && e->rows < 8);
        assert_string_equal(event->strategy, e->last);
        assert_string_equal(event->planned->asked, e->last);
        e->row[e->rows++] = *event->planned;
        break;
    }
}

typedef struct network {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
} network;

static void network_open(network *n, unsigned percent)
{
    const pb_graph *g;
    uint64_t peak;
    pb_option params[] = {{"depth", "2"}};
    pb_context_init(&n->ctx);
    pb_arena_init(&n->arena, &n->ctx);
    assert_int_equal(pb_generate(&n->ctx, "unet", params, 1, &n->arena, &g), PB_OK);
    assert_int_equal(pb_graph_program_peak(&n->ctx, g, &peak), PB_OK);
    n->game = (pb_game){.graph = g, .kind = PB_GAME_REMAT, .cap = peak / 100 * percent, .weights = PB_WEIGHTS_DEFAULT};
    n->ctx.tick_limit = 50000;
}

static void network_close(network *n)
{
    pb_arena_release(&n->arena);
    assert_int_equal(n->ctx.memory_used, 0);
}

static void a_comparison_is_told_row_by_row(void **state)
{
    (void)state;
    network n;
    ear e = {0};
    pb_comparison c;
    pb_event_handler handler = {on_event, &e};
    pb_compare_request request = {.strategies = "last-use,chen,sqrt,auto",
                                  .games = PB_GAME_REMAT,
                                  .plan = {.seed = 1, .threads = 1, .handler = &handler}};
    network_open(&n, 60);
    assert_int_equal(pb_compare(&n.ctx, &n.game, &request, &n.arena, &c), PB_OK);
    assert_int_equal(c.row_count, 4);
    assert_int_equal(e.begins, 4);
    assert_int_equal(e.rows, 4);
    assert_true(e.bounds >= 1 && e.plans >= 1);
    for (uint32_t i = 0; i < 4; i++) {
        assert_ptr_equal(e.row[i].certificate, c.rows[i].certificate); /* a copy is as good as the row */
        assert_string_equal(e.row[i].asked, c.rows[i].asked);
        if (c.rows[i].certificate)
            assert_int_equal(e.row[i].schedule.metrics.makespan, c.rows[i].schedule.metrics.makespan);
    }
    assert_true(e.peak <= n.game.cap);
    assert_true(e.bound <= c.rows[c.winner].schedule.metrics.makespan);
    network_close(&n);
}

/* Of a search and of a portfolio: the last word is the plan itself. */
static void plans_on_the_way_lead_to_the_plan(void **state)
{
    (void)state;
    static const char *const strategies[] = {"search", "auto"};
    for (size_t i = 0; i < 2; i++)
        for (uint32_t threads = 1; threads <= 2; threads++) {
            network n;
            ear e = {.least = UINT64_MAX};
            pb_plan_result p;
            pb_event_handler handler = {on_event, &e};
            pb_request request = {.strategy = strategies[i], .seed = 1, .threads = threads, .handler = &handler};
            network_open(&n, 60);
            assert_int_equal(pb_plan(&n.ctx, &n.game, &request, &n.arena, &p), PB_OK);
            assert_non_null(p.certificate);
            assert_true(e.plans > 0 && e.peak <= n.game.cap);
            if (threads == 1) /* with more, the others report only through the portfolio */
                assert_int_equal(e.least, p.schedule.metrics.makespan);
            network_close(&n);
        }
}

static void listening_changes_nothing(void **state)
{
    (void)state;
    static const char *const strategies[] = {"search", "auto", "chen"};
    for (size_t i = 0; i < 3; i++) {
        network n;
        ear e = {.least = UINT64_MAX};
        pb_plan_result with, without;
        pb_event_handler handler = {on_event, &e};
        pb_request request = {.strategy = strategies[i], .seed = 7, .threads = 1};
        network_open(&n, 55);
        assert_int_equal(pb_plan(&n.ctx, &n.game, &request, &n.arena, &without), PB_OK);
        request.handler = &handler;
        assert_int_equal(pb_plan(&n.ctx, &n.game, &request, &n.arena, &with), PB_OK);
        assert_int_equal(with.schedule.moves.count, without.schedule.moves.count);
        assert_memory_equal(with.schedule.moves.move, without.schedule.moves.move,
                            with.schedule.moves.count * sizeof(pb_move));
        network_close(&n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_comparison_is_told_row_by_row),
        cmocka_unit_test(plans_on_the_way_lead_to_the_plan),
        cmocka_unit_test(listening_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
