/* test_session_machine.c -- machines across the flat border: what graphs state for them, times, and models from samples. */
#include "unit/session_fixture.h"

static const char *const two_memories =
    "{\"format\":\"pebble-machine/1\",\"name\":\"box\",\"time_unit\":\"ns\",\"memories\":[{\"name\":\"ram\"},"
    "{\"name\":\"disk\"}],\"processors\":[{\"name\":\"cpu\",\"memory\":\"ram\"}]}";

/* b computes 6 flops from 24 bytes; c states only its time; a is given on disk. */
static pb_status noted_graph(pb_session *s, const pb_graph **out)
{
    static const uint64_t cost[] = {1, 1, 1}, size[] = {8, 8, 8}, time[] = {70}, reserve[] = {5};
    static const uint64_t flops[] = {UINT64_MAX, 6, UINT64_MAX}, bytes[] = {UINT64_MAX, 24, UINT64_MAX};
    static const uint32_t op[] = {UINT32_MAX, 0, UINT32_MAX}, dtype[] = {UINT32_MAX, 1, UINT32_MAX};
    static const uint32_t a[] = {0}, b[] = {1}, c[] = {2}, from[] = {0, 1}, to[] = {1, 2};
    static const uint16_t flags[] = {PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW, 0, 0};
    pb_status status = pb_session_count_nodes(s, "flops", 3, flops);
    if (status == PB_OK)
        status = pb_session_count_nodes(s, "bytes", 3, bytes);
    if (status == PB_OK)
        status = pb_session_word_nodes(s, "op", 3, op, "matmul", 7);
    if (status == PB_OK)
        status = pb_session_word_nodes(s, "dtype", 3, dtype, "int8\0float32", 13);
    if (status == PB_OK)
        status = pb_session_add_nodes(s, 3, cost, size, NULL, flags);
    if (status == PB_OK)
        status = pb_session_add_pairs(s, "edge", 2, from, to);
    if (status == PB_OK)
        status = pb_session_add_notes(s, "time", "cpu", 1, c, time);
    if (status == PB_OK)
        status = pb_session_add_notes(s, "on", "cpu", 1, b, NULL);
    if (status == PB_OK)
        status = pb_session_add_notes(s, "in", "disk", 1, a, NULL);
    if (status == PB_OK)
        status = pb_session_add_notes(s, "keep", "ram", 1, c, NULL);
    if (status == PB_OK)
        status = pb_session_add_notes(s, "fixed", "ram", 1, NULL, reserve);
    if (status == PB_OK)
        status = pb_session_carry_machine(s, two_memories);
    return status == PB_OK ? pb_session_make_graph(s, "noted", NULL, "byte", 0, out) : status;
}

static void what_nodes_state_comes_back(void **state)
{
    (void)state;
    static const char *const kinds[] = {"time", "on", "in", "keep", "fixed"}, *const names[] = {"cpu", "cpu", "disk",
                                                                                                "ram", "ram"};
    static const uint32_t nodes[] = {2, 1, 0, 2, PB_NO_NODE};
    static const uint64_t values[] = {70, 0, 0, 0, 5};
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    uint64_t flops[3], bytes[3], value[1];
    uint32_t op[3], dtype[3], node[1], word[1];
    must(s, noted_graph(s, &g));
    assert_true(pb_graph_work_arrays(g, flops, bytes, op, dtype));
    assert_int_equal(flops[1], 6);
    assert_int_equal(bytes[1], 24);
    assert_true(flops[0] == UINT64_MAX && bytes[2] == UINT64_MAX && op[0] == UINT32_MAX);
    assert_string_equal(pb_graph_word(g, op[1]), "matmul");
    assert_string_equal(pb_graph_word(g, dtype[1]), "float32");
    assert_null(pb_graph_word(g, 99));
    for (int k = 0; k < 5; k++) {
        assert_int_equal(pb_graph_notes(g, kinds[k], 0, NULL, NULL, NULL), 1);
        assert_int_equal(pb_graph_notes(g, kinds[k], 1, node, word, value), 1);
        assert_int_equal(node[0], nodes[k]);
        assert_string_equal(pb_graph_word(g, word[0]), names[k]);
        assert_int_equal(value[0], values[k]);
    }
    assert_int_equal(pb_graph_notes(g, "colour", 1, node, word, value), 0);
    must(s, pb_session_write_graph_machine(s, g));
    assert_true(text_has(s, "\"name\":\"box\""));
    pb_session_free(s);
}

static void a_graph_that_states_nothing_says_so(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    must(s, small_graph(s, &g));
    assert_false(pb_graph_work_arrays(g, NULL, NULL, NULL, NULL));
    must(s, pb_session_write_graph_machine(s, g));
    assert_string_equal(pb_session_text(s, NULL), "");
    refused_as(s, pb_session_time_graph(s, g, &g), PB_EINVAL, "machine: expected one");
    pb_session_free(s);
}

static void wrong_work_is_refused_and_the_next_graph_starts_empty(void **state)
{
    (void)state;
    static const uint64_t one[] = {1, 1};
    static const uint32_t far[] = {5, 0};
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    refused_as(s, pb_session_count_nodes(s, "weight", 2, one), PB_EINVAL, "flops or bytes");
    refused_as(s, pb_session_word_nodes(s, "weight", 2, far, "", 0), PB_EINVAL, "op or dtype");
    refused_as(s, pb_session_word_nodes(s, "op", 2, far, "x", 2), PB_EINVAL, "no name");
    refused_as(s, pb_session_add_notes(s, "colour", "cpu", 1, far, one), PB_EINVAL, "notes are");
    refused_as(s, pb_session_carry_machine(s, "a100-4"), PB_EUNKNOWN, "a100-40");
    must(s, pb_session_count_nodes(s, "flops", 1, one));
    refused_as(s, pb_session_add_nodes(s, 2, one, one, NULL, NULL), PB_EINVAL, "as many");
    must(s, pb_session_add_nodes(s, 2, one, one, NULL, NULL));
    must(s, pb_session_make_graph(s, NULL, NULL, NULL, 0, &g));
    assert_false(pb_graph_work_arrays(g, NULL, NULL, NULL, NULL));
    pb_session_free(s);
}

static void samples_become_a_machine_that_times_a_graph(void **state)
{
    (void)state;
    /* 2 flops and 4 bytes in 1 ns. */
    static const uint64_t rows[] = {200, 400, 100, 2000, 4000, 1000, 20000, 40000, 10000, 200000, 400000, 100000};
    pb_session *s = open_session(NULL);
    const pb_graph *g, *timed;
    must(s, pb_session_add_samples(s, "matmul", "float32", 4, rows));
    must(s, pb_session_fit_machine(s, two_memories));
    assert_true(text_has(s, "\"samples\":4"));
    const char *machine = strstr(pb_session_text(s, NULL), "\"machine\":");
    assert_non_null(machine);
    machine += strlen("\"machine\":");
    char *copy = calloc(1, strlen(machine));
    memcpy(copy, machine, strlen(machine) - 2); /* without "}\n" of the object around it */
    must(s, pb_session_set(s, "machine", copy));
    must(s, noted_graph(s, &g));
    must(s, pb_session_time_graph(s, g, &timed));
    assert_true(text_has(s, "\"kept\":1"));
    assert_true(text_has(s, "\"op\":\"matmul\""));
    assert_int_equal(pb_graph_notes(timed, "time", 0, NULL, NULL, NULL), 2);
    refused_as(s, pb_session_fit_machine(s, two_memories), PB_EINVAL, "no measurements");
    must(s, pb_session_rescale_machine(s, copy, 2));
    refused_as(s, pb_session_rescale_machine(s, "nothing", 2), PB_EUNKNOWN, "nothing");
    free(copy);
    pb_session_free(s);
}

static void machines_are_written_by_name(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    must(s, pb_session_write_machine(s, "a100-40"));
    assert_true(text_has(s, "\"format\":\"pebble-machine/1\""));
    refused_as(s, pb_session_write_machine(s, "a100-4"), PB_EUNKNOWN, "a100-40");
    must(s, pb_session_about(s));
    assert_true(text_has(s, "\"machines\":["));
    assert_true(text_has(s, "\"red-blue\""));
    pb_session_free(s);
}

static void a_refused_allocation_is_reported(void **state)
{
    (void)state;
    for (uint64_t k = 1;; k++) {
        refusal r = {.refused = k};
        pb_session *s = open_session(&r);
        const pb_graph *g;
        pb_status status = noted_graph(s, &g);
        pb_session_free(s);
        if (status == PB_OK)
            break;
        assert_int_equal(status, PB_ENOMEM);
        assert_true(k < 1000);
    }
}

static void without_a_session_nothing_happens(void **state)
{
    (void)state;
    assert_int_equal(pb_session_count_nodes(NULL, "flops", 0, NULL), PB_EINVAL);
    assert_int_equal(pb_session_word_nodes(NULL, "op", 0, NULL, NULL, 0), PB_EINVAL);
    assert_int_equal(pb_session_add_notes(NULL, "on", "x", 0, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_carry_machine(NULL, "t4"), PB_EINVAL);
    assert_int_equal(pb_session_write_machine(NULL, "t4"), PB_EINVAL);
    assert_int_equal(pb_session_write_graph_machine(NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_time_graph(NULL, NULL, NULL), PB_EINVAL);
    assert_int_equal(pb_session_add_samples(NULL, "op", NULL, 0, NULL), PB_EINVAL);
    assert_int_equal(pb_session_fit_machine(NULL, "t4"), PB_EINVAL);
    assert_int_equal(pb_session_rescale_machine(NULL, "t4", 1), PB_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nodes_state_comes_back),
        cmocka_unit_test(a_graph_that_states_nothing_says_so),
        cmocka_unit_test(wrong_work_is_refused_and_the_next_graph_starts_empty),
        cmocka_unit_test(samples_become_a_machine_that_times_a_graph),
        cmocka_unit_test(machines_are_written_by_name),
        cmocka_unit_test(a_refused_allocation_is_reported),
        cmocka_unit_test(without_a_session_nothing_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
