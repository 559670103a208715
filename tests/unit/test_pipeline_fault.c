/* test_pipeline_fault.c -- one strategy with a bug: its plan is refused and reported, and the others go on.
 *
 * The pipeline is compiled in once more, with a table of functions in which `demand` is wrong.
 */
#include "plan/strategy.h"

#include "api_fixture.h"

static pb_status plan_wrongly(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    (void)ctx;
    (void)game;
    (void)options;
    plan->outcome = PB_FOUND; /* with no moves at all */
    return PB_OK;
}

static bool all_wrong;

static pbi_plan_function some_function(const pb_strategy *row)
{
    bool wrong = all_wrong || strcmp(row->name, "demand") == 0;
    return wrong ? plan_wrongly : pbi_strategy_function(row);
}

#define pbi_strategy_function some_function
#include "../../src/api/pipeline/pipeline.c"     /* NOLINT */
#include "../../src/api/pipeline/run_strategy.c" /* NOLINT */
#undef pbi_strategy_function

static unsigned told;

static void count_messages(void *state, const char *message)
{
    (void)state;
    told += strstr(message, "strategy demand made an illegal plan") != NULL;
}

static void a_portfolio_goes_on_without_the_faulty(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_adjoint(&s, 5);
    s.cap = 7;
    bench_open(&b, &s);
    b.ctx.log = count_messages;
    b.ctx.tick_limit = 50000;
    told = 0;
    b.game.weights = (pb_weights){3, 1, 1, 0}; /* nothing is proved before demand has its turn */
    bench_plan(&b, NULL);
    assert_non_null(b.p.certificate);
    assert_true(told > 0);
    bench_close(&b);
}

static void a_portfolio_of_faults_is_a_fault(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_adjoint(&s, 5);
    bench_open(&b, &s);
    all_wrong = true;
    assert_int_equal(bench_ask(&b, NULL, NULL), PB_EBUG);
    assert_non_null(strstr(b.ctx.error.message, "made an illegal plan"));
    all_wrong = false;
    assert_int_equal(bench_ask(&b, "demand", NULL), PB_EBUG); /* asked alone, it is the answer */
    bench_close(&b);
}

static void a_comparison_has_the_faulty_row_and_the_others(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pb_comparison c;
    pb_compare_request request = {
        .strategies = "last-use,demand,cache-all", .games = PB_GAME_REMAT, .plan = {.seed = 1}};
    small_adjoint(&s, 5);
    bench_open(&b, &s);
    assert_int_equal(pb_compare(&b.ctx, &b.game, &request, &b.arena, &c), PB_OK);
    assert_int_equal(c.row_count, 3);
    assert_int_equal(c.rows[1].schedule.outcome, PB_GAVE_UP);
    assert_null(c.rows[1].certificate);
    assert_non_null(strstr(c.rows[1].schedule.reason, "strategy demand made an illegal plan"));
    assert_non_null(c.rows[2].certificate);
    assert_int_equal(c.winner, 0);
    bench_close(&b);
}

static void a_sweep_has_the_faulty_cells_and_the_others(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pb_sweep sweep;
    uint64_t caps[] = {20, 13, 9};
    pb_sweep_request request = {
        .strategies = "demand,last-use", .caps = caps, .cap_count = 3, .plan = PB_REQUEST_DEFAULT};
    small_adjoint(&s, 5);
    bench_open(&b, &s);
    assert_int_equal(pb_sweep_make(&b.ctx, &b.game, &request, &b.arena, &sweep), PB_OK);
    assert_null(sweep.cells[0].certificate);
    assert_non_null(strstr(sweep.cells[0].schedule.reason, "strategy demand made an illegal plan"));
    assert_non_null(sweep.cells[3].certificate);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_portfolio_goes_on_without_the_faulty),
        cmocka_unit_test(a_portfolio_of_faults_is_a_fault),
        cmocka_unit_test(a_comparison_has_the_faulty_row_and_the_others),
        cmocka_unit_test(a_sweep_has_the_faulty_cells_and_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
