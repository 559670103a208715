/* test_session_simple.c -- the calls of pebble.h: files by path, one message, and sessions that are NULL. */
#define _XOPEN_SOURCE 700
#include "unit/session_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- without a session ---- */

/* Every function that takes a session, in the order of the headers. */
static void calls_on_no_session_are_safe(void **state)
{
    (void)state;
    pb_session_free(NULL);
    assert_int_equal(pb_session_set(NULL, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_load_graph(NULL, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_make_plan(NULL, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_save_plan(NULL, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_status(NULL), PB_EINVAL);
    assert_string_equal(pb_session_message(NULL), "");
    pb_session_stop(NULL);
    pb_session_go_on(NULL);
    assert_int_equal(pb_session_stopped(NULL), 0);
    assert_int_equal(pb_session_line(NULL), 0);
    assert_int_equal(pb_session_column(NULL), 0);
    assert_string_equal(pb_session_notes(NULL), "");
    assert_string_equal(pb_session_text(NULL, NULL), "");
    pb_session_progress(NULL, NULL, 0, NULL);
    pb_session_watch(NULL, NULL, NULL);
    assert_int_equal(pb_session_about(NULL), PB_EINVAL);
    assert_int_equal(pb_session_name_nodes(NULL, 0, NULL, 0), PB_EINVAL);
    assert_int_equal(pb_session_group_nodes(NULL, 0, NULL, NULL, 0), PB_EINVAL);
    assert_int_equal(pb_session_add_nodes(NULL, 0, NULL, NULL, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_add_pairs(NULL, NULL, 0, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_add_list(NULL, NULL, 0, NULL), PB_EINVAL);
    assert_int_equal(pb_session_make_graph(NULL, NULL, NULL, NULL, 0, NULL), PB_EINVAL);
    assert_int_equal(pb_session_read_graph(NULL, NULL, 0, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_generate(NULL, NULL, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_write_graph(NULL, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_program_peak(NULL, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_size(NULL, NULL, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_plan(NULL, NULL, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_add_moves(NULL, 0, NULL, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_judge_moves(NULL, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_judge_file(NULL, NULL, NULL, 0, NULL), PB_EINVAL);
    assert_int_equal(pb_session_write_plan(NULL, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_write_plan_binary(NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_explain(NULL, NULL, 0, NULL), PB_EINVAL);
    assert_int_equal(pb_session_memory(NULL, NULL, NULL, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_profile(NULL, NULL, NULL, 0, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_compare(NULL, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_write_comparison(NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_sweep(NULL, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_write_sweep(NULL, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_cell(NULL, NULL, 0, NULL), PB_EINVAL);
    assert_int_equal(pb_session_info(NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_revolve(NULL, 0, 0, NULL), PB_EINVAL);
    assert_int_equal(pb_session_add_level(NULL, 0, 0, 0), PB_EINVAL);
    assert_int_equal(pb_session_multilevel(NULL, 0, 0, 0, NULL), PB_EINVAL);
    assert_int_equal(pb_session_online(NULL, 0, NULL), PB_EINVAL);
    assert_int_equal(pb_session_revolve_count(NULL, 0, 0), PB_EINVAL);
}

/* ---- files ---- */

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static const char chain[] =
    "{\"format\":\"pebble-graph/1\",\"nodes\":[{\"cost\":1,\"size\":1},{\"cost\":1,\"size\":1}],\"edges\":[[0,1]]}";

static int enter_folder(void **state)
{
    static char folder[] = "/tmp/pebble-session-XXXXXX";
    *state = folder;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    return chdir("/") == 0 && rmdir(*state) == 0 ? 0 : -1; /* rmdir: no temporary file is left */
}

static void a_graph_is_loaded_planned_and_saved(void **state)
{
    (void)state;
    static const char *const paths[] = {"plan.json", "plan.pbs"};
    write_text("graph.json", chain);
    for (int i = 0; i < 2; i++) {
        pb_session *s = pb_session_new();
        const pb_graph *g;
        const pb_plan_result *p;
        struct stat info;
        char begin[5] = "";
        assert_int_equal(pb_session_set(s, "cap", "100%"), PB_OK);
        assert_int_equal(pb_load_graph(s, "graph.json", &g), PB_OK);
        assert_int_equal(pb_make_plan(s, g, &p), PB_OK);
        assert_int_equal(pb_save_plan(s, p, paths[i]), PB_OK);
        assert_int_equal(pb_save_plan(s, p, paths[i]), PB_OK); /* in place of the old file */
        assert_int_equal(pb_session_status(s), PB_OK);
        assert_string_equal(pb_session_message(s), "");
        assert_int_equal(stat(paths[i], &info), 0);
        FILE *file = fopen(paths[i], "rb");
        assert_int_equal(fread(begin, 1, 4, file), 4);
        fclose(file);
        assert_int_equal(begin[0] == '{', i == 0); /* .pbs is binary */
        unlink(paths[i]);
        pb_session_free(s);
    }
    unlink("graph.json");
}

static void every_failure_has_one_message(void **state)
{
    (void)state;
    pb_session *s = pb_session_new();
    const pb_graph *g = NULL;
    const pb_plan_result *p = NULL;
    refused_as(s, pb_load_graph(s, "none.json", &g), PB_EIO, "none.json: cannot be read: No such file");
    write_text("bad.json", "{\"nodes\":[}");
    refused_as(s, pb_load_graph(s, "bad.json", &g), PB_EFORMAT, "bad.json:1:11: expected a value");
    assert_int_equal(pb_session_line(s), 1);
    must(s, pb_session_set(s, "batch", "0"));
    refused_as(s, pb_load_graph(s, "bad.json", &g), PB_EINVAL, "batch: expected a number of at least 1");
    assert_int_equal(strncmp(pb_session_message(s), "batch", 5), 0);
    must(s, pb_session_set(s, "batch", NULL));
    assert_null(g);
    refused_as(s, pb_session_set(s, "capp", "1"), PB_EUNKNOWN, "there is no setting `capp`; did you mean cap?");
    refused_as(s, pb_load_graph(s, NULL, &g), PB_EINVAL, "needs a path");
    refused_as(s, pb_make_plan(s, NULL, &p), PB_EINVAL, "needs a graph");
    refused_as(s, pb_save_plan(s, NULL, "plan.json"), PB_EINVAL, "needs a plan");
    must(s, small_graph(s, &g));
    must(s, pb_session_set(s, "store_cost", "x"));
    refused_as(s, pb_make_plan(s, g, &p), PB_EINVAL, "store_cost: expected a price");
    assert_null(p);
    must(s, pb_session_set(s, "store_cost", NULL));
    must(s, pb_make_plan(s, g, &p));
    refused_as(s, pb_save_plan(s, p, "no/such/folder.json"), PB_EIO, "no/such/folder.json: cannot be written: No such");
    refused_as(s, pb_save_plan(s, p, "/"), PB_EIO, "/: cannot be written: Is a directory");
    unlink("bad.json");
    pb_session_free(s);
}

/* Every call prices the graph again, so that the machine may change in between. */
static void a_machine_is_a_setting(void **state)
{
    (void)state;
    const pb_graph *g;
    const pb_plan_result *p;
    pb_session *s = open_session(NULL);
    must(s, pb_session_generate(s, "adjoint-chain", "steps=100\ngrad-size=0", &g));
    must(s, pb_session_set(s, "machine", "red-blue"));
    must(s, pb_session_set(s, "game", "tiered"));
    must(s, pb_session_plan(s, g, NULL, &p));
    assert_int_equal(p->schedule.metrics.makespan, 335);
    assert_string_equal(p->schedule.machine->name, "red-blue");
    assert_int_equal(pb_session_plan(s, g, p, &p), PB_OK); /* from an earlier plan */
    must(s, pb_session_set(s, "machine", "laptop"));
    must(s, pb_session_plan(s, g, NULL, &p));
    assert_int_equal(p->schedule.cap, 12000000000);
    assert_int_equal(p->schedule.metrics.overhead > 0, false);
    must(s, pb_session_set(s, "machine", "lptop"));
    assert_int_equal(pb_session_plan(s, g, NULL, &p), PB_EUNKNOWN);
    assert_string_equal(pb_session_message(s), "machine: there is no machine `lptop`; did you mean laptop?");
    pb_session_free(s);
}

static void no_plan_is_a_status_with_the_reason(void **state)
{
    (void)state;
    pb_session *s = pb_session_new();
    const pb_graph *g;
    const pb_plan_result *p = NULL;
    char message[1024];
    uint64_t length;
    must(s, small_graph(s, &g));
    must(s, pb_session_set(s, "cap", "3"));
    assert_int_equal(pb_make_plan(s, g, &p), PB_ENOPLAN);
    assert_int_equal(pb_session_status(s), PB_ENOPLAN);
    assert_non_null(p);
    assert_false(pb_result_has_plan(p));
    snprintf(message, sizeof message, "%s", pb_session_message(s));
    must(s, pb_session_write_plan(s, p, "reason"));
    assert_string_equal(pb_session_text(s, &length), message);
    assert_non_null(strstr(message, "smallest cap"));
    refused_as(s, pb_save_plan(s, p, "plan.json"), PB_EINVAL, "there is no plan to save");
    assert_int_not_equal(access("plan.json", F_OK), 0);
    pb_session_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_on_no_session_are_safe),        cmocka_unit_test(a_graph_is_loaded_planned_and_saved),
        cmocka_unit_test(every_failure_has_one_message),       cmocka_unit_test(a_machine_is_a_setting),
        cmocka_unit_test(no_plan_is_a_status_with_the_reason),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
