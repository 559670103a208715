/* test_flat_plan.c -- plans, comparisons and sweeps across the flat border. */
#include "unit/session_fixture.h"

#include <pthread.h>

static const pb_plan_result *plan_at(pb_session *s, const pb_graph *g, const char *cap)
{
    const pb_plan_result *p;
    must(s, pb_session_set(s, "cap", cap));
    must(s, pb_session_plan(s, g, NULL, &p));
    return p;
}

static void a_plan_comes_back_as_arrays(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    uint32_t rows[8 * PB_MOVE_FIELDS];
    uint64_t time[8], fast[8], slow[8], part[2];
    must(s, small_graph(s, &g));
    const pb_plan_result *p = plan_at(s, g, "4");
    assert_true(pb_result_has_plan(p));
    assert_int_equal(pb_result_move_count(p), 3);
    assert_int_equal(pb_result_moves(p, 0, 8, rows), 3);
    static const uint32_t last[] = {PB_COMPUTE, 2, 0, PB_NO_NODE};
    assert_memory_equal(rows + 2 * PB_MOVE_FIELDS, last, sizeof last);
    assert_int_equal(pb_result_moves(p, 2, 8, rows), 1);
    assert_memory_equal(rows, last, sizeof last);
    assert_int_equal(pb_result_moves(p, 9, 8, rows), 0);
    must(s, pb_session_memory(s, p, time, fast, slow));
    assert_int_equal(time[2], 5);
    assert_int_equal(fast[2], 4);
    assert_int_equal(slow[2], 0);
    must(s, pb_session_profile(s, p, "time", 2, part, NULL));
    assert_int_equal(part[1], 4);
    refused_as(s, pb_session_profile(s, p, "width", 2, part, NULL), PB_EINVAL, "moves or time");
    refused_as(s, pb_session_profile(s, p, "time", 0, part, NULL), PB_EINVAL, "one part");
    assert_string_equal(pb_op_label(PB_UNCOMPUTE), "uncompute");
    assert_null(pb_op_label(PB_OP_COUNT));
    pb_session_free(s);
}

static void a_plan_is_written_in_every_form(void **state)
{
    (void)state;
    static const char *const forms[] = {"schedule", "summary", "decisions", "csv", "json", "dot", "trace", "explain"};
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    must(s, small_graph(s, &g));
    const pb_plan_result *p = plan_at(s, g, "4");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        must(s, pb_session_write_plan(s, p, forms[i]));
    must(s, pb_session_write_plan(s, p, "strategy"));
    assert_string_equal(pb_session_text(s, NULL), "auto");
    must(s, pb_session_write_plan(s, p, "reason"));
    assert_string_equal(pb_session_text(s, NULL), "");
    must(s, pb_session_explain(s, p, 0, "text"));
    must(s, pb_session_explain(s, p, PB_NO_NODE, "json"));
    refused_as(s, pb_session_write_plan(s, p, "music"), PB_EUNKNOWN, "music");
    refused_as(s, pb_session_explain(s, p, 3, "text"), PB_EINVAL, "no node 3");
    refused_as(s, pb_session_explain(s, p, 0, "music"), PB_EINVAL, "text or json");
    pb_session_free(s);
}

static void where_there_is_no_plan_there_is_a_reason(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    must(s, small_graph(s, &g));
    const pb_plan_result *p = plan_at(s, g, "3");
    assert_false(pb_result_has_plan(p));
    assert_int_equal(pb_result_move_count(p), 0);
    must(s, pb_session_write_plan(s, p, "summary"));
    assert_true(text_has(s, "\"outcome\":\"infeasible\""));
    must(s, pb_session_write_plan(s, p, "reason"));
    assert_true(text_has(s, "; the cap is "));
    refused_as(s, pb_session_write_plan(s, p, "csv"), PB_EINVAL, "there is no plan");
    refused_as(s, pb_session_memory(s, p, NULL, NULL, NULL), PB_EINVAL, "there is no plan");
    refused_as(s, pb_session_profile(s, p, "time", 1, NULL, NULL), PB_EINVAL, "there is no plan");
    refused_as(s, pb_session_explain(s, p, 0, "text"), PB_EINVAL, "there is no plan");
    pb_session_free(s);
}

static void wrong_settings_are_told_by_the_call(void **state)
{
    (void)state;
    static const char *const wrong[][3] = {
        {"cap", "lots", "expected a size"},
        {"game", "chess", "remat, reversible, tiered or timed"},
        {"game", "timed", "needs a machine"},
        {"weights", "1,2", "weights"},
        {"strategy", "luck", "luck"},
        {"policy", "none", "policy"},
        {"seed", "-1", "whole number"},
        {"threads", "2000", "0 to 1024"},
        {"ticks", "many", "whole number"},
        {"time", "soon", "expected a time"},
        {"patient", "2", "0 to 1"},
        {"tiers", "speed=3", "tiers: `speed=3` is not a field of a tier"},
        {"tiers", "cap=far", "expected a size"},
        {"tiers", ";;;;;;;;", "at most 8"},
        {"borrow", "some", "expected a size"},
        {"memory", "all", "whole number"},
        {"memory", "1", "memory"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        pb_session *s = open_session(NULL);
        const pb_graph *g;
        const pb_plan_result *p = NULL;
        must(s, small_graph(s, &g));
        must(s, pb_session_set(s, "strategy", "last-use"));
        must(s, pb_session_set(s, wrong[i][0], wrong[i][1]));
        pb_status status = pb_session_plan(s, g, NULL, &p);
        assert_int_not_equal(status, PB_OK);
        refused_as(s, status, status, wrong[i][2]);
        assert_null(p);
        must(s, pb_session_set(s, wrong[i][0], NULL));
        must(s, pb_session_plan(s, g, NULL, &p)); /* it goes on after a failure */
        pb_session_free(s);
    }
}

static void a_plan_to_begin_from_is_of_this_graph_and_game(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL), *other = open_session(NULL);
    const pb_graph *g, *twin, *chain;
    const pb_plan_result *p;
    must(s, small_graph(s, &g));
    must(other, small_graph(other, &twin));
    must(other, pb_session_generate(other, "chain", "nodes=3", &chain));
    const pb_plan_result *start = plan_at(s, g, "4"), *none = plan_at(s, g, "3");
    must(other, pb_session_plan(other, twin, start, &p)); /* another copy of it */
    refused_as(other, pb_session_plan(other, chain, start, &p), PB_EINVAL, "for another graph");
    refused_as(other, pb_session_plan(other, twin, none, &p), PB_EINVAL, "has no plan");
    must(other, pb_session_set(other, "game", "reversible"));
    refused_as(other, pb_session_plan(other, twin, start, &p), PB_EINVAL, "for the remat game");
    pb_session_free(other);
    pb_session_free(s);
}

static void tiers_make_the_game_tiered(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    const pb_plan_result *p;
    must(s, pb_session_generate(s, "adjoint-chain", "steps=12", &g));
    must(s, pb_session_set(s, "tiers", "store_cost=1,load_cost=1,cap=3;store_cost=2,load_cost=2"));
    p = plan_at(s, g, "4");
    assert_true(pb_result_has_plan(p));
    must(s, pb_session_write_plan(s, p, "summary"));
    assert_true(text_has(s, "\"game\":\"tiered\""));
    assert_true(text_has(s, "\"cap\":3}"));
    must(s, pb_session_set(s, "game", "remat"));
    refused_as(s, pb_session_plan(s, g, NULL, &p), PB_EINVAL, "slow memory is part of the tiered game");
    pb_session_free(s);
}

static void moves_are_judged(void **state)
{
    (void)state;
    static const uint32_t moves[] = {PB_COMPUTE, 0,          0,          PB_NO_NODE, PB_COMPUTE, 1,
                                     0,          PB_NO_NODE, PB_COMPUTE, 2,          0,          PB_NO_NODE};
    static const uint32_t half[] = {PB_COMPUTE, 0, 0, PB_NO_NODE, PB_OP_COUNT, 1, 0, PB_NO_NODE};
    static const uint32_t *second = moves + PB_MOVE_FIELDS, *odd = half + PB_MOVE_FIELDS;
    static const uint32_t far[] = {PB_STORE, 0, PB_MOVE_BORROWED + 1, PB_NO_NODE}, fallen[] = {0};
    static const uint64_t start[] = {1, 0};
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    const pb_plan_result *p;
    must(s, small_graph(s, &g));
    must(s, pb_session_add_moves(s, 3, moves, NULL, NULL));
    must(s, pb_session_judge_moves(s, g, &p));
    assert_true(pb_result_has_plan(p));
    assert_true(text_has(s, "{\"legal\":true"));
    assert_true(text_has(s, "\"work\":5"));
    must(s, pb_session_add_moves(s, 1, second, NULL, NULL)); /* the moves before are gone */
    must(s, pb_session_judge_moves(s, g, &p));
    assert_false(pb_result_has_plan(p));
    assert_true(text_has(s, "\"rule\":\"input-not-resident\""));
    assert_true(text_has(s, "\"move\":0"));
    refused_as(s, pb_session_add_moves(s, 1, odd, NULL, NULL), PB_EINVAL, "as a move");
    refused_as(s, pb_session_add_moves(s, 1, far, NULL, NULL), PB_EINVAL, "as the place of a move");
    refused_as(s, pb_session_add_moves(s, 1, NULL, NULL, NULL), PB_EINVAL, "rows of four");
    refused_as(s, pb_session_add_moves(s, 1, moves, start, fallen), PB_EINVAL, "must not decrease");
    refused_as(s, pb_session_add_moves(s, 2, half, NULL, NULL), PB_EINVAL, "as a move");
    must(s, pb_session_add_moves(s, 3, moves, NULL, NULL)); /* the first of the two is gone as well */
    must(s, pb_session_judge_moves(s, g, &p));
    assert_true(pb_result_has_plan(p));
    assert_int_equal(pb_result_move_count(p), 3);
    pb_session_free(s);
}

static void a_schedule_file_is_judged(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL), *other = open_session(NULL);
    const pb_graph *g, *chain;
    const pb_plan_result *p;
    uint64_t length;
    must(s, small_graph(s, &g));
    must(s, pb_session_write_plan_binary(s, plan_at(s, g, "4")));
    const char *bytes = pb_session_text(s, &length);
    must(other, pb_session_judge_file(other, g, bytes, length, &p));
    assert_true(pb_result_has_plan(p) && text_has(other, "\"message\":null"));
    must(other, pb_session_set(other, "cap", "3"));
    must(other, pb_session_judge_file(other, g, bytes, length, &p));
    assert_true(!pb_result_has_plan(p) && text_has(other, "over-cap"));
    must(other, pb_session_set(other, "cap", NULL));
    must(other, pb_session_generate(other, "chain", "nodes=3", &chain));
    must(other, pb_session_judge_file(other, chain, bytes, length, &p));
    assert_true(text_has(other, "made for another graph"));
    assert_int_equal(pb_session_judge_file(other, g, "{", 1, &p), PB_EFORMAT);
    pb_session_free(other);
    pb_session_free(s);
}

static void places_and_byproducts_cross_the_border(void **state)
{
    (void)state;
    static const uint64_t cost[] = {1, 1, 0}, size[] = {2, 2, 1}, start[] = {0, 0, 1, 1};
    static const uint32_t from[] = {0}, to[] = {1}, part[] = {2}, owner[] = {1}, also[] = {2};
    static const uint32_t moves[] = {PB_COMPUTE, 0, 0, PB_NO_NODE, PB_COMPUTE, 1, 0, 0, PB_STORE, 1, 2, PB_NO_NODE};
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    const pb_plan_result *p;
    uint32_t seen[3 * PB_MOVE_FIELDS], seen_also[1];
    uint64_t seen_start[4];
    must(s, pb_session_add_nodes(s, 3, cost, size, NULL, NULL));
    must(s, pb_session_add_pairs(s, "edge", 1, from, to));
    must(s, pb_session_add_pairs(s, "inplace", 1, to, from));
    must(s, pb_session_add_pairs(s, "byproduct_of", 1, part, owner));
    must(s, pb_session_make_graph(s, NULL, NULL, NULL, 0, &g));
    must(s, pb_session_set(s, "tiers", "store_cost=1;store_cost=5"));
    must(s, pb_session_add_moves(s, 3, moves, start, also));
    must(s, pb_session_judge_moves(s, g, &p));
    assert_true(pb_result_has_plan(p) && text_has(s, "\"io\":5"));
    assert_int_equal(pb_result_moves(p, 0, 3, seen), 3);
    assert_memory_equal(seen, moves, sizeof moves);
    assert_int_equal(pb_result_also(p, NULL, NULL), 1);
    assert_int_equal(pb_result_also(p, seen_start, seen_also), 1);
    assert_memory_equal(seen_start, start, sizeof start);
    assert_int_equal(seen_also[0], 2);
    pb_session_free(s);
}

static void borrowed_memory_crosses_the_border(void **state)
{
    (void)state;
    static const uint32_t moves[] = {PB_COMPUTE, 0,          PB_MOVE_BORROWED, PB_NO_NODE, PB_COMPUTE, 1,
                                     0,          PB_NO_NODE, PB_UNCOMPUTE,     0,          0,          PB_NO_NODE};
    static const uint32_t from[] = {0}, to[] = {1};
    static const uint64_t one[] = {1, 1};
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    const pb_plan_result *p;
    uint32_t seen[3 * PB_MOVE_FIELDS];
    must(s, pb_session_add_nodes(s, 2, one, one, NULL, NULL));
    must(s, pb_session_add_pairs(s, "edge", 1, from, to));
    must(s, pb_session_make_graph(s, NULL, NULL, NULL, 0, &g));
    must(s, pb_session_set(s, "borrow", "1"));
    must(s, pb_session_set(s, "cap", "1"));
    must(s, pb_session_add_moves(s, 3, moves, NULL, NULL));
    must(s, pb_session_judge_moves(s, g, &p));
    assert_true(text_has(s, "{\"legal\":true"));
    pb_result_moves(p, 0, 3, seen);
    assert_memory_equal(seen, moves, sizeof moves);
    pb_session_free(s);
}

static void strategies_stand_side_by_side(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    const pb_comparison *c;
    must(s, pb_session_generate(s, "adjoint-chain", "steps=8", &g));
    must(s, pb_session_set(s, "cap", "6"));
    must(s, pb_session_set(s, "strategy", "chain,every-k:k=3"));
    must(s, pb_session_compare(s, g, &c));
    assert_int_equal(pb_comparison_row_count(c), 2);
    assert_true(pb_result_has_plan(pb_comparison_row(c, 0)));
    assert_null(pb_comparison_row(c, 2));
    must(s, pb_session_write_comparison(s, c));
    assert_true(text_has(s, "\"winner\":\"chain\""));
    must(s, pb_session_set(s, "strategy", "knot"));
    refused_as(s, pb_session_compare(s, g, &c), PB_EUNKNOWN, "knot");
    pb_session_free(s);
}

static void a_sweep_has_its_cells(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    const pb_sweep *w;
    const pb_plan_result *p;
    must(s, pb_session_generate(s, "adjoint-chain", "steps=8", &g));
    must(s, pb_session_set(s, "caps", "100%..least"));
    must(s, pb_session_set(s, "points", "3"));
    must(s, pb_session_set(s, "weights", "0,0,1;1,0,0"));
    must(s, pb_session_sweep(s, g, &w));
    must(s, pb_session_write_sweep(s, w, "json"));
    assert_true(text_has(s, "pebble-sweep/1"));
    must(s, pb_session_write_sweep(s, w, "csv"));
    must(s, pb_session_write_sweep(s, w, "svg"));
    assert_true(text_has(s, "<svg"));
    refused_as(s, pb_session_write_sweep(s, w, "music"), PB_EINVAL, "json, csv or svg");
    must(s, pb_session_cell(s, w, 0, &p));
    assert_true(pb_result_has_plan(p));
    assert_int_equal(w->cell_count, 6);
    refused_as(s, pb_session_cell(s, w, 6, &p), PB_EINVAL, "no cell 6");
    must(s, pb_session_set(s, "caps", "100%..,"));
    refused_as(s, pb_session_sweep(s, g, &w), PB_EINVAL, "or a range such as");
    must(s, pb_session_set(s, "caps", NULL));
    must(s, pb_session_set(s, "points", "0"));
    refused_as(s, pb_session_sweep(s, g, &w), PB_EINVAL, "points");
    pb_session_free(s);
}

static void infos_are_told(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    must(s, small_graph(s, &g));
    must(s, pb_session_info(s, g));
    assert_true(text_has(s, "\"written_peak\":4") && text_has(s, "{\"game\":\"reversible\""));
    assert_false(text_has(s, "tiered"));
    must(s, pb_session_set(s, "tiers", "store_cost=1"));
    must(s, pb_session_info(s, g));
    assert_true(text_has(s, "{\"game\":\"tiered\""));
    pb_session_free(s);
}

typedef struct waiter {
    pb_session *s;
    const pb_graph *g;
    const pb_plan_result *p;
    pb_status status;
} waiter;

static void *plan_in_a_thread(void *state)
{
    waiter *w = state;
    w->status = pb_session_plan(w->s, w->g, NULL, &w->p);
    return NULL;
}

/* A search that would take minutes, stopped by another thread once it has a plan, which is then the answer. */
static void another_thread_may_stop_it(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    waiter w = {.s = s};
    pthread_t thread;
    char what[96];
    uint64_t numbers[PB_PROGRESS_FIELDS] = {0}, *plans = &numbers[2];
    must(s, pb_session_generate(s, "layered", "nodes=150", &w.g));
    must(s, pb_session_set(s, "cap", "75%"));
    must(s, pb_session_set(s, "strategy", "search"));
    must(s, pb_session_set(s, "time", "10m"));
    assert_int_equal(pthread_create(&thread, NULL, plan_in_a_thread, &w), 0);
    while (!*plans)
        pb_session_progress(s, what, sizeof what, numbers);
    pb_session_stop(s);
    pthread_join(thread, NULL);
    must(s, w.status);
    assert_true(pb_result_has_plan(w.p));
    assert_int_equal(pb_session_stopped(s), PB_STOP_INTERRUPT);
    assert_int_not_equal(pb_session_plan(s, w.g, NULL, &w.p), PB_OK); /* still asked to stop */
    pb_session_go_on(s);
    must(s, pb_session_set(s, "time", "50ms"));
    must(s, pb_session_plan(s, w.g, w.p, &w.p));
    assert_int_equal(pb_session_stopped(s), PB_STOP_TIME);
    pb_session_free(s);
}

static void count_calls(void *state, const char *what, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    assert_non_null(what);
    ++*(int *)state;
}

static void a_watch_is_called(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    int calls = 0;
    must(s, small_graph(s, &g));
    pb_session_watch(s, count_calls, &calls);
    plan_at(s, g, "4");
    assert_true(calls > 0);
    int before = calls;
    pb_session_watch(s, NULL, NULL);
    plan_at(s, g, "4");
    assert_int_equal(calls, before);
    pb_session_free(s);
}

/* Whatever is refused, the answer is no memory or an answer: a strategy that runs out of it gives up. */
static void any_allocation_may_be_refused(void **state)
{
    (void)state;
    for (refusal r = {.refused = 1};; r.refused++) {
        pb_session *s = open_session(&r);
        const pb_graph *g = NULL;
        const pb_plan_result *p = NULL;
        const pb_comparison *c = NULL;
        const pb_sweep *w = NULL;
        pb_status status = small_graph(s, &g);
        if (status == PB_OK)
            status = pb_session_set(s, "strategy", "last-use");
        if (status == PB_OK)
            status = pb_session_plan(s, g, NULL, &p);
        if (status == PB_OK)
            status = pb_session_write_plan(s, p, "schedule");
        if (status == PB_OK)
            status = pb_session_compare(s, g, &c);
        if (status == PB_OK)
            status = pb_session_write_comparison(s, c);
        if (status == PB_OK)
            status = pb_session_set(s, "caps", "5,4");
        if (status == PB_OK)
            status = pb_session_sweep(s, g, &w);
        bool reached = r.count >= r.refused;
        assert_true(status == PB_OK || (reached && status == PB_ENOMEM));
        pb_session_free(s);
        if (!reached)
            break;
        assert_true(r.refused < 5000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_comes_back_as_arrays),
        cmocka_unit_test(a_plan_is_written_in_every_form),
        cmocka_unit_test(where_there_is_no_plan_there_is_a_reason),
        cmocka_unit_test(wrong_settings_are_told_by_the_call),
        cmocka_unit_test(a_plan_to_begin_from_is_of_this_graph_and_game),
        cmocka_unit_test(tiers_make_the_game_tiered),
        cmocka_unit_test(moves_are_judged),
        cmocka_unit_test(a_schedule_file_is_judged),
        cmocka_unit_test(places_and_byproducts_cross_the_border),
        cmocka_unit_test(borrowed_memory_crosses_the_border),
        cmocka_unit_test(strategies_stand_side_by_side),
        cmocka_unit_test(a_sweep_has_its_cells),
        cmocka_unit_test(infos_are_told),
        cmocka_unit_test(another_thread_may_stop_it),
        cmocka_unit_test(a_watch_is_called),
        cmocka_unit_test(any_allocation_may_be_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
