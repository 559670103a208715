/* test_graph_builder.c -- what the builder gathers, refuses at once, and survives. */
#include "graph_fixture.h"

static void names_are_copied_and_found(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    char name[] = "alpha";
    bench_node(&t, name, 1, 1, 0);
    memset(name, 'x', sizeof name - 1);
    bench_nodes(&t, "beta");
    assert_int_equal(pb_builder_find(t.b, "alpha", 5), 0);
    assert_int_equal(pb_builder_find(t.b, "beta", 4), 1);
    assert_int_equal(pb_builder_find(t.b, "betas", 4), 1); /* the length counts */
    assert_int_equal(pb_builder_find(t.b, "bet", 3), PB_NO_NODE);
    assert_int_equal(pb_builder_find(t.b, "betas", 5), PB_NO_NODE);
    assert_int_equal(pb_builder_find(t.b, "", 0), PB_NO_NODE);
    assert_int_equal(pb_builder_node_count(t.b), 2);
    bench_close(&t);
}

static void an_empty_builder_finds_nothing(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    assert_int_equal(pb_builder_find(t.b, "a", 1), PB_NO_NODE);
    assert_int_equal(pb_builder_node_count(t.b), 0);
    bench_close(&t);
}

static void a_node_without_a_name_is_named_by_its_index(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_node(&t, NULL, 1, 1, 0);
    bench_node(&t, "other", 1, 1, 0);
    bench_node(&t, NULL, 1, 1, 0);
    assert_int_equal(pb_builder_find(t.b, "0", 1), 0);
    assert_int_equal(pb_builder_find(t.b, "2", 1), 2);
    assert_int_equal(pb_builder_find(t.b, "1", 1), PB_NO_NODE);
    bench_close(&t);
}

static void duplicate_names_are_refused_with_both_nodes(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a b");
    pb_node v = 77;
    assert_int_equal(pb_builder_add_node(t.b, &(pb_node_spec){.name = "a"}, &v), PB_EGRAPH);
    assert_string_equal(t.ctx.error.message, "two nodes are named \"a\": 0 and 2; rename one");
    assert_int_equal(v, 77);
    assert_int_equal(pb_builder_node_count(t.b), 2);
    bench_node(&t, "2", 1, 1, 0); /* node 2 by chance; node 3 then has a name of its own */
    assert_int_equal(bench_node(&t, NULL, 1, 1, 0), 3);
    assert_int_equal(pb_builder_add_node(t.b, &(pb_node_spec){.name = "3"}, NULL), PB_EGRAPH);
    assert_string_equal(t.ctx.error.message, "two nodes are named \"3\": 3 and 4; rename one");
    bench_close(&t);
}

static void long_names_are_cut_in_sentences_only(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    char name[1000];
    memset(name, 'n', sizeof name);
    pb_node_spec spec = {.name = name, .name_length = sizeof name, .size = 1};
    assert_int_equal(pb_builder_add_node(t.b, &spec, NULL), PB_OK);
    assert_int_equal(pb_builder_add_node(t.b, &spec, NULL), PB_EGRAPH);
    assert_true(strlen(t.ctx.error.message) < 200);
    assert_int_equal(bench_freeze(&t), PB_OK);
    assert_int_equal(strlen(pb_graph_name(t.g, 0)), sizeof name);
    bench_close(&t);
}

static void names_and_groups_with_nul_are_refused(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    assert_int_equal(pb_builder_add_node(t.b, &(pb_node_spec){.name = "a\0b", .name_length = 3}, NULL), PB_EGRAPH);
    assert_string_equal(t.ctx.error.message, "the name of node 0 contains a NUL character; remove it");
    assert_int_equal(pb_builder_add_node(t.b, &(pb_node_spec){.name = "a", .group = "g\0h", .group_length = 3}, NULL),
                     PB_EGRAPH);
    assert_string_equal(t.ctx.error.message, "the group of node 0 contains a NUL character; remove it");
    assert_int_equal(pb_builder_node_count(t.b), 0);
    bench_close(&t);
}

static void thousands_of_names_stay_apart(void **state)
{
    (void)state;
    enum { NODES = 20000 };
    bench t;
    bench_open(&t);
    char name[24];
    for (unsigned i = 0; i < NODES; i++) {
        snprintf(name, sizeof name, "n%u", i * 7919);
        bench_node(&t, name, 0, 0, 0);
    }
    for (unsigned i = 0; i < NODES; i++) {
        int length = snprintf(name, sizeof name, "n%u", i * 7919);
        assert_int_equal(pb_builder_find(t.b, name, (size_t)length), i);
    }
    assert_int_equal(pb_builder_find(t.b, "n1", 2), PB_NO_NODE);
    bench_close(&t);
}

static void flags_that_freeze_works_out_cannot_be_set(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_node(&t, "a", 1, 1, PB_NODE_BYPRODUCT | PB_NODE_HAS_PARTS | PB_NODE_NEEDED | PB_NODE_ONCE);
    bench_node(&t, "b", 1, 1, PB_NODE_TARGET);
    assert_int_equal(bench_freeze(&t), PB_OK);
    assert_int_equal(t.g->flags[0], PB_NODE_ONCE); /* not needed: the one target does not read it */
    assert_int_equal(t.g->flags[1], PB_NODE_TARGET | PB_NODE_NEEDED);
    bench_close(&t);
}

static void clearing_forgets_everything(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a b");
    bench_edges(&t, "a>b");
    pb_builder_set_fixed_size(t.b, 9);
    assert_int_equal(pb_builder_set_texts(t.b, "old", "ns", "byte"), PB_OK);
    pb_builder_clear(t.b);
    assert_int_equal(pb_builder_node_count(t.b), 0);
    assert_int_equal(pb_builder_find(t.b, "a", 1), PB_NO_NODE);
    bench_nodes(&t, "b");
    assert_int_equal(bench_freeze(&t), PB_OK);
    assert_int_equal(t.g->node_count, 1);
    assert_int_equal(t.g->edge_count, 0);
    assert_int_equal(t.g->fixed_size, 0);
    assert_string_equal(t.g->name, "");
    bench_close(&t);
}

static void texts_left_out_stay_as_they_are(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    assert_int_equal(pb_builder_set_texts(t.b, "g", NULL, "byte"), PB_OK);
    assert_int_equal(pb_builder_set_texts(t.b, NULL, "ns", NULL), PB_OK);
    assert_int_equal(bench_freeze(&t), PB_OK);
    assert_string_equal(t.g->name, "g");
    assert_string_equal(t.g->cost_unit, "ns");
    assert_string_equal(t.g->size_unit, "byte");
    bench_close(&t);
}

static void extra_fields_must_ascend(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a b c");
    assert_int_equal(pb_builder_set_extra(t.b, 1, "\"x\":1", 5), PB_OK);
    assert_int_equal(pb_builder_set_extra(t.b, 1, "\"x\":1", 5), PB_EINVAL);
    assert_int_equal(pb_builder_set_extra(t.b, 0, "\"x\":1", 5), PB_EINVAL);
    assert_int_equal(pb_builder_set_extra(t.b, 2, "\"y\":22", 6), PB_OK);
    assert_int_equal(pb_builder_set_extra(t.b, PB_NO_NODE, "\"z\":3", 5), PB_OK);
    assert_int_equal(bench_freeze(&t), PB_OK);
    assert_int_equal(t.g->extra_count, 2);
    assert_int_equal(t.g->extra_node[1], 2);
    assert_string_equal(t.g->extra_text[1], "\"y\":22");
    assert_string_equal(t.g->extra, "\"z\":3");
    bench_close(&t);
}

/* ---- memory ---- */

/* Refuses one request only, so that the refused call can be repeated. */
typedef struct hiccup {
    uint64_t requests, refuse;
} hiccup;

static void *hiccup_resize(void *state, void *block, size_t old_bytes, size_t new_bytes)
{
    hiccup *h = state;
    (void)old_bytes;
    if (!new_bytes) {
        free(block);
        return NULL;
    }
    return ++h->requests == h->refuse ? NULL : realloc(block, new_bytes);
}

static pb_status again(pb_status status, bool *refused, uint32_t before, const pb_builder *b)
{
    if (status == PB_ENOMEM) {
        *refused = true;
        assert_int_equal(pb_builder_node_count(b), before); /* the refused call has added nothing */
    }
    return status;
}

static void a_refused_call_can_be_made_again(void **state)
{
    (void)state;
    enum { NODES = 3000 };
    char expected[PB_HASH_TEXT] = "", hash[PB_HASH_TEXT];
    bool refused = true;
    for (uint64_t refuse = 0; refused; refuse++) {
        bench t;
        bench_open(&t);
        hiccup h = {.refuse = refuse};
        refused = refuse == 0; /* the first round refuses nothing and gives the hash */
        t.ctx.resize = hiccup_resize;
        t.ctx.allocator_state = &h;
        for (pb_node v = 0; v < NODES; v++) {
            char group[16];
            snprintf(group, sizeof group, "layer%u", v / 4);
            pb_node_spec spec = {.cost = 1, .size = 1, .flags = PB_NODE_TARGET, .group = group};
            while (again(pb_builder_add_node(t.b, &spec, NULL), &refused, v, t.b) != PB_OK) {
            }
            while (v && again(pb_builder_add_edge(t.b, v - 1, v), &refused, v + 1, t.b) != PB_OK) {
            }
        }
        pb_status status = pb_builder_freeze(t.b, &t.arena, &t.g);
        if (status != PB_OK) {
            refused = true;
            assert_int_equal(status, PB_ENOMEM);
            assert_int_equal(pb_builder_freeze(t.b, &t.arena, &t.g), PB_OK);
        }
        assert_int_equal(t.g->node_count, NODES);
        assert_int_equal(pb_graph_hash(&t.ctx, t.g, hash), PB_OK);
        if (refuse == 0)
            memcpy(expected, hash, sizeof hash);
        assert_string_equal(hash, expected);
        bench_close(&t);
    }
}

static void the_memory_limit_ends_building_cleanly(void **state)
{
    (void)state;
    pb_context ctx;
    pb_context_init(&ctx);
    ctx.memory_limit = 400000;
    pb_builder *b;
    assert_int_equal(pb_builder_new(&ctx, &b), PB_OK);
    pb_status status = PB_OK;
    uint32_t count = 0;
    for (; count < 1000000 && status == PB_OK; count++)
        status = pb_builder_add_node(b, &(pb_node_spec){.size = 1}, NULL);
    assert_int_equal(status, PB_ENOMEM);
    assert_non_null(strstr(ctx.error.message, "memory limit of 400000 bytes"));
    assert_true(count > 1000 && ctx.memory_peak <= ctx.memory_limit);
    pb_builder_free(b);
    pb_builder_free(NULL);
    assert_int_equal(ctx.memory_used, 0);
    ctx.memory_limit = 1;
    assert_int_equal(pb_builder_new(&ctx, &b), PB_ENOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_copied_and_found),
        cmocka_unit_test(an_empty_builder_finds_nothing),
        cmocka_unit_test(a_node_without_a_name_is_named_by_its_index),
        cmocka_unit_test(duplicate_names_are_refused_with_both_nodes),
        cmocka_unit_test(long_names_are_cut_in_sentences_only),
        cmocka_unit_test(names_and_groups_with_nul_are_refused),
        cmocka_unit_test(thousands_of_names_stay_apart),
        cmocka_unit_test(flags_that_freeze_works_out_cannot_be_set),
        cmocka_unit_test(clearing_forgets_everything),
        cmocka_unit_test(texts_left_out_stay_as_they_are),
        cmocka_unit_test(extra_fields_must_ascend),
        cmocka_unit_test(a_refused_call_can_be_made_again),
        cmocka_unit_test(the_memory_limit_ends_building_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
