/* test_flat_graph.c -- sessions, and graphs across the flat border. */
#include "unit/session_fixture.h"

#include "support/onnx_writer.h"

static void arrays_come_back_as_they_went_in(void **state)
{
    (void)state;
    static const uint64_t cost[] = {1, 2, 3, 0}, size[] = {5, 6, 7, 8}, space[] = {0, 1, 0, 0};
    static const uint16_t flags[] = {PB_NODE_GIVEN, PB_NODE_ONCE, PB_NODE_KEEP | PB_NODE_TARGET, 0};
    static const uint32_t group[] = {0, UINT32_MAX, 1, 0}, from[] = {0, 1}, to[] = {1, 2}, in_v[] = {2}, in_u[] = {1};
    static const uint32_t part[] = {3}, owner[] = {1}, order[] = {1, 2};
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    uint64_t count;
    uint32_t width;
    must(s, pb_session_name_nodes(s, 4, "x\0y\0z\0w", 8));
    must(s, pb_session_group_nodes(s, 4, group, "one\0two", 8));
    must(s, pb_session_add_nodes(s, 4, cost, size, space, flags));
    must(s, pb_session_add_pairs(s, "edge", 2, from, to));
    must(s, pb_session_add_pairs(s, "inplace", 1, in_v, in_u));
    must(s, pb_session_add_pairs(s, "byproduct_of", 1, part, owner));
    must(s, pb_session_add_list(s, "order", 2, order));
    must(s, pb_session_make_graph(s, "all", "flop", "byte", 9, &g));
    assert_memory_equal(pb_graph_array(g, "cost", &count, &width), cost, sizeof cost);
    assert_int_equal(count, 4);
    assert_int_equal(width, 8);
    assert_memory_equal(pb_graph_array(g, "size", &count, &width), size, sizeof size);
    assert_memory_equal(pb_graph_array(g, "workspace", &count, &width), space, sizeof space);
    assert_memory_equal(pb_graph_array(g, "in", &count, &width), from, sizeof from);
    assert_int_equal(width, 4);
    assert_memory_equal(pb_graph_array(g, "order", &count, &width), order, sizeof order);
    assert_memory_equal(pb_graph_array(g, "name_text", &count, &width), "x\0y\0z\0w", 8);
    assert_int_equal(count, 8);
    const uint16_t *seen = pb_graph_array(g, "flags", &count, &width);
    assert_int_equal(width, 2);
    assert_true(seen[0] & PB_NODE_GIVEN && seen[1] & PB_NODE_ONCE && seen[2] & PB_NODE_KEEP &&
                seen[2] & PB_NODE_TARGET);
    assert_int_equal(((const uint32_t *)pb_graph_array(g, "owner", &count, &width))[3], 1);
    assert_int_equal(((const uint32_t *)pb_graph_array(g, "inplace", &count, &width))[0], 1);
    assert_null(pb_graph_array(g, "colour", &count, &width));
    assert_int_equal(pb_graph_number(g, "node_count"), 4);
    assert_int_equal(pb_graph_number(g, "fixed_size"), 9);
    assert_int_equal(pb_graph_number(g, "targets_named"), 1);
    assert_int_equal(pb_graph_number(g, "colour"), UINT64_MAX);
    assert_string_equal(pb_graph_text(g, "cost_unit"), "flop");
    assert_string_equal(pb_graph_text(g, "size_unit"), "byte");
    assert_string_equal(pb_graph_text(g, "name"), "all");
    assert_string_equal(pb_graph_text(g, "shape"), "general");
    assert_null(pb_graph_text(g, "colour"));
    assert_string_equal(pb_graph_node_name(g, 2), "z");
    assert_null(pb_graph_node_name(g, 4));
    assert_string_equal(pb_graph_group_label(g, 1), "two");
    assert_null(pb_graph_group_label(g, 2));
    assert_int_equal(pb_graph_find_node(g, "w"), 3);
    assert_int_equal(pb_graph_find_node(g, "v"), PB_NO_NODE);
    pb_session_free(s);
}

static void nodes_without_names_are_called_by_their_index(void **state)
{
    (void)state;
    static const uint64_t one[] = {1, 1};
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    must(s, pb_session_add_nodes(s, 2, one, one, NULL, NULL));
    must(s, pb_session_make_graph(s, NULL, NULL, NULL, 0, &g));
    assert_string_equal(pb_graph_node_name(g, 1), "1");
    pb_session_free(s);
}

static void an_empty_graph_is_one(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    uint64_t count, peak;
    uint32_t width;
    must(s, pb_session_make_graph(s, NULL, NULL, NULL, 0, &g));
    assert_int_equal(pb_graph_number(g, "node_count"), 0);
    pb_graph_array(g, "name_text", &count, &width);
    assert_int_equal(count, 0);
    must(s, pb_session_program_peak(s, g, &peak));
    assert_int_equal(peak, 0);
    pb_session_free(s);
}

static void wrong_arrays_are_refused_with_a_sentence(void **state)
{
    (void)state;
    static const uint64_t one[] = {1, 1};
    static const uint16_t odd[] = {0, PB_NODE_NEEDED};
    static const uint32_t loop[] = {0}, far[] = {7}, groups[] = {0, 3};
    pb_session *s = open_session(NULL);
    const pb_graph *g = NULL;
    refused_as(s, pb_session_name_nodes(s, 2, "a", 2), PB_EINVAL, "expected one name per node");
    refused_as(s, pb_session_name_nodes(s, 1, "ab", 2), PB_EINVAL, "NUL");
    refused_as(s, pb_session_group_nodes(s, 2, groups, "x", 2), PB_EINVAL, "no name");
    refused_as(s, pb_session_group_nodes(s, 2, NULL, "x", 2), PB_EINVAL, "NUL");
    refused_as(s, pb_session_add_nodes(s, 2, one, NULL, NULL, NULL), PB_EINVAL, "costs and sizes");
    refused_as(s, pb_session_add_nodes(s, 2, one, one, NULL, odd), PB_EINVAL, "flags");
    must(s, pb_session_name_nodes(s, 1, "a", 2));
    refused_as(s, pb_session_add_nodes(s, 2, one, one, NULL, NULL), PB_EINVAL, "must be as many as nodes");
    refused_as(s, pb_session_add_pairs(s, "knot", 0, NULL, NULL), PB_EINVAL, "edge, inplace or byproduct_of");
    refused_as(s, pb_session_add_pairs(s, "edge", 1, loop, NULL), PB_EINVAL, "two arrays");
    refused_as(s, pb_session_add_list(s, "knot", 0, NULL), PB_EINVAL, "target or order");
    must(s, pb_session_make_graph(s, NULL, NULL, NULL, 0, &g)); /* empties the desk */
    g = NULL;
    must(s, pb_session_add_nodes(s, 2, one, one, NULL, NULL));
    must(s, pb_session_add_pairs(s, "edge", 1, loop, loop));
    refused_as(s, pb_session_make_graph(s, NULL, NULL, NULL, 0, &g), PB_EGRAPH, "itself");
    assert_null(g);
    must(s, pb_session_add_nodes(s, 2, one, one, NULL, NULL)); /* the loop is forgotten */
    must(s, pb_session_make_graph(s, NULL, NULL, NULL, 0, &g));
    must(s, pb_session_add_nodes(s, 1, one, one, NULL, NULL));
    must(s, pb_session_add_list(s, "target", 1, far));
    refused_as(s, pb_session_make_graph(s, NULL, NULL, NULL, 0, &g), PB_EGRAPH, "");
    pb_session_free(s);
}

static void files_tell_where_they_are_wrong(void **state)
{
    (void)state;
    static const char bad[] = "{\"format\":\"pebble-graph/1\",\n \"nodes\":[}";
    pb_session *s = open_session(NULL);
    const pb_graph *g = NULL;
    assert_int_equal(pb_session_read_graph(s, bad, sizeof bad - 1, NULL, &g), PB_EFORMAT);
    assert_int_equal(pb_session_line(s), 2);
    assert_true(pb_session_column(s) > 0);
    assert_null(g);
    must(s, pb_session_set(s, "inputs", "sideways"));
    refused_as(s, pb_session_read_graph(s, "", 0, NULL, &g), PB_EINVAL,
               "inputs: there is no choice `sideways`; choose free, given or computed");
    pb_session_free(s);
}

static void a_graph_is_written_and_read_again(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL), *other = open_session(NULL);
    const pb_graph *g, *again;
    uint64_t length, peak, size;
    char hash[PB_HASH_TEXT];
    must(s, small_graph(s, &g));
    must(s, pb_session_write_graph(s, g, "hash"));
    snprintf(hash, sizeof hash, "%s", pb_session_text(s, NULL));
    must(s, pb_session_write_graph(s, g, "json"));
    const char *text = pb_session_text(s, &length);
    must(other, pb_session_read_graph(other, text, length, "tiny.json", &again));
    must(other, pb_session_write_graph(other, again, "hash"));
    assert_string_equal(pb_session_text(other, NULL), hash);
    must(s, pb_session_write_graph(s, g, "dot"));
    assert_true(text_has(s, "digraph"));
    refused_as(s, pb_session_write_graph(s, g, "blif"), PB_EINVAL, "json, dot or csv");
    must(s, pb_session_program_peak(s, g, &peak));
    assert_int_equal(peak, 4);
    must(s, pb_session_size(s, g, "50%", &size));
    assert_int_equal(size, 2);
    refused_as(s, pb_session_size(s, g, "much", &size), PB_EINVAL, "expected a size");
    assert_int_equal(size, 2);
    pb_session_free(other);
    pb_session_free(s);
}

static void families_take_lines(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    must(s, pb_session_generate(s, "adjoint-chain", "steps=3\ngrad-size=2", &g));
    assert_int_equal(pb_graph_number(g, "node_count"), 7);
    refused_as(s, pb_session_generate(s, "adjoint-chain", "steps", &g), PB_EINVAL, "key=value");
    refused_as(s, pb_session_generate(s, "knot", "", &g), PB_EUNKNOWN, "knot");
    refused_as(s, pb_session_generate(s, "chain", "nodes=zero", &g), PB_EINVAL, "");
    pb_session_free(s);
}

static void settings_are_known_or_refused(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    must(s, pb_session_set(s, "cap", "5"));
    must(s, pb_session_set(s, "cap", NULL));
    refused_as(s, pb_session_set(s, "colour", "red"), PB_EUNKNOWN, "colour");
    refused_as(s, pb_session_set(s, NULL, "red"), PB_EUNKNOWN, "no setting");
    assert_string_equal(pb_session_notes(s), "");
    pb_session_free(s);
    pb_session_free(NULL);
}

static void what_there_is_is_told(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    must(s, pb_session_about(s));
    assert_true(text_has(s, "{\"version\":\"" PB_VERSION "\""));
    assert_true(text_has(s, "{\"name\":\"auto\""));
    assert_true(text_has(s, "{\"name\":\"oldest\""));
    assert_true(text_has(s, "{\"name\":\"transformer\""));
    pb_session_free(s);
}

static void a_failure_drops_what_was_added(void **state)
{
    (void)state;
    static const uint64_t one[] = {1};
    static const uint32_t nowhere[] = {7};
    pb_session *s = open_session(NULL);
    const pb_graph *g;
    must(s, pb_session_add_nodes(s, 1, one, one, NULL, NULL));
    refused_as(s, pb_session_add_pairs(s, "bridge", 1, nowhere, nowhere), PB_EINVAL, "expected pairs of kind");
    must(s, small_graph(s, &g));
    assert_int_equal(g->node_count, 3);
    must(s, pb_session_name_nodes(s, 1, "lost", 5)); /* the caller's, who gives up below */
    refused_as(s, pb_session_group_nodes(s, 1, nowhere, "", 1), PB_EINVAL, "no name");
    must(s, pb_session_add_nodes(s, 1, one, one, NULL, NULL));
    must(s, pb_session_make_graph(s, NULL, NULL, NULL, 0, &g));
    assert_string_equal(pb_graph_node_name(g, 0), "0");
    pb_session_free(s);
}

static void models_are_read_by_the_settings(void **state)
{
    (void)state;
    onnx_writer *w = calloc(1, sizeof *w);
    assert_non_null(w);
    onnx_begin_model(w, 17);
    onnx_input(w, "x", 1, (int64_t[]){-1, 4}, 2);
    onnx_weight(w, "m", 1, (int64_t[]){4, 2}, 2);
    onnx_node(w, "MatMul", "x m", "y", NULL);
    onnx_output(w, "y");
    onnx_end_model(w);
    pb_session *s = open_session(NULL);
    const pb_graph *g = NULL;
    refused_as(s, pb_session_read_graph(s, w->bytes, w->length, NULL, &g), PB_EGRAPH, "dims={\"n\": 1}");
    must(s, pb_session_set(s, "dims", "n=5"));
    must(s, pb_session_read_graph(s, w->bytes, w->length, NULL, &g));
    assert_int_equal(g->size[0], 5 * 4 * 4);
    must(s, pb_session_set(s, "dims", NULL));
    must(s, pb_session_set(s, "batch", "3"));
    must(s, pb_session_set(s, "train", "1"));
    must(s, pb_session_set(s, "optimizer", "adam"));
    must(s, pb_session_read_graph(s, w->bytes, w->length, NULL, &g));
    assert_int_equal(g->fixed_size, 8 * 4 * 4);
    assert_int_not_equal(pb_graph_find_node(g, "y.dw"), PB_NO_NODE);
    must(s, pb_session_set(s, "train", NULL));
    refused_as(s, pb_session_read_graph(s, w->bytes, w->length, NULL, &g), PB_EINVAL,
               "optimizer: only a training step uses this");
    must(s, pb_session_set(s, "optimizer", NULL));
    must(s, pb_session_set(s, "dims", "n"));
    refused_as(s, pb_session_read_graph(s, w->bytes, w->length, NULL, &g), PB_EINVAL, "NAME=N");
    must(s, pb_session_set(s, "dims", NULL));
    must(s, pb_session_set(s, "batch", "0"));
    refused_as(s, pb_session_read_graph(s, w->bytes, w->length, NULL, &g), PB_EINVAL,
               "expected a number of at least 1");
    pb_session_free(s);
    free(w);
}

static void a_stop_is_heard_by_readers_too(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    const pb_graph *g = NULL;
    pb_session_stop(s);
    assert_int_equal(pb_session_generate(s, "chain", "nodes=100000", &g), PB_ECANCELLED);
    assert_int_equal(pb_session_stopped(s), PB_STOP_INTERRUPT);
    pb_session_go_on(s);
    must(s, pb_session_generate(s, "chain", "nodes=100000", &g));
    assert_int_equal(pb_session_stopped(s), PB_GO_ON);
    pb_session_free(s);
}

static void any_allocation_may_be_refused(void **state)
{
    (void)state;
    for (refusal r = {.refused = 1};; r.refused++) {
        pb_session *s = open_session(&r);
        const pb_graph *g = NULL;
        pb_status status = small_graph(s, &g);
        if (status == PB_OK)
            status = pb_session_write_graph(s, g, "json");
        if (status == PB_OK)
            status = pb_session_about(s);
        bool reached = r.count >= r.refused;
        assert_int_equal(status, reached ? PB_ENOMEM : PB_OK);
        pb_session_free(s);
        if (!reached)
            break;
        assert_true(r.refused < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_come_back_as_they_went_in),
        cmocka_unit_test(nodes_without_names_are_called_by_their_index),
        cmocka_unit_test(an_empty_graph_is_one),
        cmocka_unit_test(wrong_arrays_are_refused_with_a_sentence),
        cmocka_unit_test(files_tell_where_they_are_wrong),
        cmocka_unit_test(a_graph_is_written_and_read_again),
        cmocka_unit_test(families_take_lines),
        cmocka_unit_test(settings_are_known_or_refused),
        cmocka_unit_test(what_there_is_is_told),
        cmocka_unit_test(a_failure_drops_what_was_added),
        cmocka_unit_test(models_are_read_by_the_settings),
        cmocka_unit_test(a_stop_is_heard_by_readers_too),
        cmocka_unit_test(any_allocation_may_be_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
