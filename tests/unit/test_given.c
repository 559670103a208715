/* test_given.c -- plans that the user brings: lists of values to keep, lists of computations, schedules. */
#include "api_fixture.h"
#include "pebble/generate.h"

typedef struct asked {
    bench b;
    pb_file_text file;
    pb_status status;
} asked;

/* An adjoint chain of 9 steps and a strategy with a file. */
static void open_with(asked *a, const char *text)
{
    static const pb_option steps = {"steps", "9"};
    memset(&a->b, 0, sizeof a->b);
    pb_context_init(&a->b.ctx);
    pb_arena_init(&a->b.arena, &a->b.ctx);
    a->b.game = (pb_game){.kind = PB_GAME_REMAT, .weights = PB_WEIGHTS_DEFAULT};
    a->b.game.cap = 6;
    assert_int_equal(pb_generate(&a->b.ctx, "adjoint-chain", &steps, 1, &a->b.arena, &a->b.game.graph), PB_OK);
    a->file = (pb_file_text){"f", text, strlen(text)};
}

static const pb_schedule *plan(asked *a, const char *strategy)
{
    pb_request request = {.strategy = strategy, .seed = 1, .files = &a->file, .file_count = 1, .attempts = true};
    a->status = pb_plan(&a->b.ctx, &a->b.game, &request, &a->b.arena, &a->b.p);
    return &a->b.p.schedule;
}

static uint64_t computed(const pb_moves *moves, pb_node v)
{
    uint64_t count = 0;
    for (pb_step k = 0; k < moves->count; k++)
        count += moves->move[k].op == PB_COMPUTE && moves->move[k].node == v;
    return count;
}

/* Resident values when the first gradient is computed, of those that are not inputs of it. */
static uint32_t held_at_the_turn(const pb_graph *g, const pb_moves *moves, pb_node first, bool *listed)
{
    uint32_t others = 0;
    bool *resident = calloc(g->node_count, sizeof *resident);
    assert_non_null(resident);
    for (pb_step k = 0; k < moves->count && moves->move[k].node != first; k++)
        resident[moves->move[k].node] = moves->move[k].op == PB_COMPUTE;
    for (uint32_t i = g->in_start[first]; i < g->in_start[first + 1]; i++)
        resident[g->in[i]] = false;
    for (pb_node v = 0; v < g->node_count; v++)
        others += resident[v] && !listed[v] && !(g->flags[v] & PB_NODE_GIVEN);
    free(resident);
    return others;
}

static pb_node node(const asked *a, const char *name)
{
    pb_node v = pb_graph_find(a->b.game.graph, name);
    assert_true(v != PB_NO_NODE);
    return v;
}

static void listed_values_are_computed_once_and_nothing_else_is_held_at_the_turn(void **state)
{
    (void)state;
    asked a;
    static const char *const names[] = {"x_3", "x_6"};
    open_with(&a, "# mine\nx_3\r\n  x_6  \n\n");
    a.b.game.cap = PB_UNLIMITED;
    const pb_schedule *s = plan(&a, "keep:file=f");
    assert_int_equal(a.status, PB_OK);
    assert_true(s->has_metrics);
    assert_string_equal(s->options[0].value, "f");
    bool *listed = calloc(a.b.game.graph->node_count, sizeof *listed);
    assert_non_null(listed);
    for (int i = 0; i < 2; i++) {
        listed[node(&a, names[i])] = true;
        assert_int_equal(computed(&s->moves, node(&a, names[i])), 1);
    }
    assert_int_equal(computed(&s->moves, node(&a, "x_4")), 2); /* at most twice, although there is room to keep it */
    assert_int_equal(held_at_the_turn(a.b.game.graph, &s->moves, node(&a, "g_8"), listed), 0);
    free(listed);
    bench_close(&a.b);
}

static void patterns_and_errors_of_a_list(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"x_3\nx_99\n", "f:2: there is no node or group `x_99`; did you mean x_9?"},
        {"\nq*\n", "f:2: no node and no group matches `q*`; correct the pattern"},
    };
    asked a;
    open_with(&a, "x_*\n");
    a.b.game.cap = PB_UNLIMITED;
    const pb_schedule *s = plan(&a, "keep:file=f");
    assert_int_equal(s->metrics.recompute_count, 0);
    bench_close(&a.b);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        open_with(&a, wrong[i].text);
        a.b.game.cap = PB_UNLIMITED;
        plan(&a, "keep:file=f");
        assert_int_equal(a.status, PB_EFORMAT);
        assert_string_equal(a.b.ctx.error.message, wrong[i].message);
        bench_close(&a.b);
    }
    open_with(&a, "");
    plan(&a, "keep:file=other"); /* files are not read unless the caller allows it */
    assert_int_equal(a.status, PB_EINVAL);
    assert_int_equal(plan(&a, "keep")->outcome, PB_GAVE_UP);
    bench_close(&a.b);
}

static const char program[] = "x_1\nx_2\nx_3\nx_4\nx_5\nx_6\nx_7\nx_8\nx_9\n"
                              "g_8\ng_7\ng_6\ng_5\ng_4\ng_3\ng_2\ng_1\ng_0\n";

static void a_list_of_computations_is_a_plan(void **state)
{
    (void)state;
    asked a;
    open_with(&a, program);
    a.b.game.cap = PB_UNLIMITED;
    uint64_t peak = bench_plan(&a.b, "last-use")->metrics.peak;
    const pb_schedule *s = plan(&a, "schedule:file=f");
    assert_int_equal(a.status, PB_OK);
    assert_true(s->has_metrics);
    assert_int_equal(s->metrics.peak, peak);
    a.b.game.cap = peak - 1;
    s = plan(&a, "schedule:file=f");
    assert_int_equal(s->outcome, PB_GAVE_UP);
    assert_int_equal(a.b.p.failed_need, peak);
    assert_int_equal(a.b.p.attempt.count, a.b.p.failed_step + 1);
    bench_close(&a.b);
    open_with(&a, "x_1\nx_3\n");
    plan(&a, "schedule:file=f");
    assert_int_equal(a.status, PB_EFORMAT);
    assert_string_equal(a.b.ctx.error.message, "f:2: x_3 reads x_2, which no line before computes; add it");
    bench_close(&a.b);
    open_with(&a, "x_1\n"); /* legal moves, but no target */
    a.b.game.cap = PB_UNLIMITED;
    s = plan(&a, "schedule:file=f");
    assert_int_equal(a.status, PB_OK);
    assert_int_equal(s->outcome, PB_GAVE_UP);
    assert_non_null(strstr(s->reason, "illegal"));
    bench_close(&a.b);
}

static void own_plans_are_rows_of_a_comparison(void **state)
{
    (void)state;
    asked a;
    pb_comparison c;
    open_with(&a, program);
    a.b.game.cap = PB_UNLIMITED;
    pb_compare_request request = {.strategies = "all,schedule:file=f", .games = PB_GAME_REMAT | PB_GAME_REVERSIBLE};
    request.plan = (pb_request){.seed = 1, .files = &a.file, .file_count = 1};
    assert_int_equal(pb_compare(&a.b.ctx, &a.b.game, &request, &a.b.arena, &c), PB_OK);
    uint32_t own = 0;
    for (uint32_t i = 0; i < c.row_count; i++)
        own += strcmp(c.rows[i].asked, "schedule") == 0;
    assert_int_equal(own, 1); /* in its own game only, and not in `all` */
    request.games = PB_GAME_REVERSIBLE;
    assert_int_equal(pb_compare(&a.b.ctx, &a.b.game, &request, &a.b.arena, &c), PB_EINVAL);
    bench_close(&a.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listed_values_are_computed_once_and_nothing_else_is_held_at_the_turn),
        cmocka_unit_test(patterns_and_errors_of_a_list),
        cmocka_unit_test(a_list_of_computations_is_a_plan),
        cmocka_unit_test(own_plans_are_rows_of_a_comparison),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
