/* test_graph_hash.c -- the hash of a graph: fixed vectors, equal for equal meaning, different for any other. */
#include "graph_fixture.h"

static void hash_of(bench *t, char hash[PB_HASH_TEXT])
{
    assert_int_equal(bench_freeze(t), PB_OK);
    assert_int_equal(pb_graph_hash(&t->ctx, t->g, hash), PB_OK);
}

/* The hashes below were worked out from docs/formats.md with another SHA-256. */
static void the_empty_graph_has_its_documented_hash(void **state)
{
    (void)state;
    bench t;
    char hash[PB_HASH_TEXT];
    bench_open(&t);
    hash_of(&t, hash);
    assert_string_equal(hash, "c7f2f62b665fc12dd88fabce89c9bc729390c58c0c66b63335a3387e926afe89");
    bench_close(&t);
}

static void a_plain_graph_has_a_fixed_hash(void **state)
{
    (void)state;
    bench t;
    char hash[PB_HASH_TEXT];
    bench_open(&t);
    bench_nodes(&t, "a b");
    bench_node(&t, "c", 3, 2, 0);
    bench_edges(&t, "b>c a>b a>c a>b");
    hash_of(&t, hash);
    assert_string_equal(hash, "bd40deee9b88c5554703bcd0130372da28a1f902e39d0961246643d50366c44b");
    bench_close(&t);
}

/* Every field that takes part: names with blanks, UTF-8 and no letters, given, slow, once, keep, by-products, groups.
 */
static void a_graph_with_everything_has_a_fixed_hash(void **state)
{
    (void)state;
    bench t;
    char hash[PB_HASH_TEXT];
    bench_open(&t);
    bench_node(&t, "in x", 0, 2, PB_NODE_GIVEN);
    bench_node(&t, "slow", 0, 3, PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW);
    pb_node_spec node = {.name = "caf\xc3\xa9", .cost = 5, .size = 7, .workspace = 1, .flags = PB_NODE_ONCE};
    pb_node_spec part = {.name = "part", .size = 4, .flags = PB_NODE_KEEP, .group = "block"};
    pb_node_spec last = {.name = "", .cost = 9, .size = 1, .group = "block"};
    assert_int_equal(pb_builder_add_node(t.b, &node, NULL), PB_OK);
    assert_int_equal(pb_builder_add_node(t.b, &part, NULL), PB_OK);
    assert_int_equal(pb_builder_add_node(t.b, &last, NULL), PB_OK);
    static const pb_node edges[][2] = {{3, 4}, {0, 2}, {2, 4}, {1, 4}};
    for (int i = 0; i < 4; i++)
        pb_builder_add_edge(t.b, edges[i][0], edges[i][1]);
    pb_builder_add_inplace(t.b, 4, 3);
    pb_builder_add_inplace(t.b, 4, 2);
    pb_builder_set_byproduct(t.b, 3, 2);
    pb_builder_set_fixed_size(t.b, UINT64_C(9000000000000000000));
    hash_of(&t, hash);
    assert_string_equal(hash, "8b5226f35f20b4c142254fbfa2d5dd8c2bae5c73a64d6e461f0862ee8a582026");
    bench_close(&t);
}

/* ---- one graph, and every single change of it ---- */

enum {
    PLAIN,
    SAME_EDGES_TWICE,
    SAME_TARGETS_NAMED,
    SAME_ORDER_NAMED,
    SAME_TITLES,
    SAME_EXTRA,
    OTHER_NAME, /* the first that must differ */
    OTHER_COST,
    OTHER_SIZE,
    OTHER_WORKSPACE,
    OTHER_GIVEN,
    OTHER_SLOW,
    OTHER_ONCE,
    OTHER_KEEP,
    OTHER_TARGET,
    OTHER_GROUP,
    NO_GROUP,
    OTHER_EDGE,
    MORE_EDGE,
    LESS_EDGE,
    OTHER_INPLACE,
    OTHER_OWNER,
    OTHER_ORDER,
    OTHER_FIXED,
    MORE_NODE,
    CHANGES
};

static void changed_hash(int change, char hash[PB_HASH_TEXT])
{
    bench t;
    bench_open(&t);
    uint16_t input = change == OTHER_SLOW ? PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW : PB_NODE_GIVEN;
    pb_node_spec specs[] = {
        {.name = "x", .size = 1, .flags = change == OTHER_GIVEN ? 0 : input},
        {.name = change == OTHER_NAME ? "A" : "a", .cost = change == OTHER_COST ? 2 : 1, .size = 1},
        {.name = "b",
         .cost = 1,
         .size = change == OTHER_SIZE ? 3 : 2,
         .flags = change == OTHER_ONCE ? PB_NODE_ONCE : 0},
        {.name = "w", .size = 1, .flags = change == OTHER_KEEP ? PB_NODE_KEEP : 0},
        {.name = "c", .cost = 4, .size = 1, .workspace = change == OTHER_WORKSPACE},
    };
    specs[1].group = change == NO_GROUP ? NULL : change == OTHER_GROUP ? "h" : "g";
    for (int i = 0; i < 5; i++)
        assert_int_equal(pb_builder_add_node(t.b, &specs[i], NULL), PB_OK);
    bench_edges(&t, change == OTHER_NAME ? "x>A x>b A>c w>c" : "x>a x>b a>c w>c");
    bench_edges(&t, change == OTHER_EDGE ? "x>c" : change == LESS_EDGE ? "" : "b>c");
    bench_edges(&t, change == SAME_EDGES_TWICE ? "a>c x>a" : change == MORE_EDGE ? "a>b" : "");
    pb_builder_add_inplace(t.b, 4, change == OTHER_INPLACE ? 3 : 1);
    pb_builder_set_byproduct(t.b, 3, change == OTHER_OWNER ? 2 : 1);
    if (change == SAME_TARGETS_NAMED || change == OTHER_TARGET)
        pb_builder_add_target(t.b, change == OTHER_TARGET ? 2 : 4);
    if (change == SAME_ORDER_NAMED || change == OTHER_ORDER)
        bench_order(&t, change == OTHER_ORDER ? "b a c" : "x a w b c");
    if (change == SAME_TITLES)
        assert_int_equal(pb_builder_set_texts(t.b, "name", "ns", "byte"), PB_OK);
    if (change == SAME_EXTRA)
        assert_int_equal(pb_builder_set_extra(t.b, 2, "\"k\":1", 5), PB_OK);
    if (change == MORE_NODE)
        bench_node(&t, "z", 0, 0, 0);
    pb_builder_set_fixed_size(t.b, change == OTHER_FIXED);
    hash_of(&t, hash);
    bench_close(&t);
}

static void equal_meaning_gives_equal_hashes(void **state)
{
    (void)state;
    char plain[PB_HASH_TEXT], hash[PB_HASH_TEXT];
    changed_hash(PLAIN, plain);
    for (int change = PLAIN; change < OTHER_NAME; change++) {
        changed_hash(change, hash);
        assert_string_equal(hash, plain);
    }
}

static void any_change_of_the_model_changes_the_hash(void **state)
{
    (void)state;
    static char hash[CHANGES][PB_HASH_TEXT];
    changed_hash(PLAIN, hash[PLAIN]);
    for (int a = OTHER_NAME; a < CHANGES; a++) {
        changed_hash(a, hash[a]);
        assert_string_not_equal(hash[a], hash[PLAIN]);
        for (int b = OTHER_NAME; b < a; b++)
            if (strcmp(hash[a], hash[b]) == 0)
                fail_msg("changes %d and %d have the same hash", a, b);
    }
}

/* Lengths before texts: a name cannot pretend to be the next field. */
static void names_cannot_imitate_other_lines(void **state)
{
    (void)state;
    char a[PB_HASH_TEXT], b[PB_HASH_TEXT];
    bench t;
    bench_open(&t);
    bench_node(&t, "p 1 1 0 ---t\nnode 1:q", 1, 1, 0);
    hash_of(&t, a);
    bench_close(&t);
    bench_open(&t);
    bench_nodes(&t, "p q");
    hash_of(&t, b);
    assert_string_not_equal(a, b);
    bench_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_empty_graph_has_its_documented_hash),  cmocka_unit_test(a_plain_graph_has_a_fixed_hash),
        cmocka_unit_test(a_graph_with_everything_has_a_fixed_hash), cmocka_unit_test(equal_meaning_gives_equal_hashes),
        cmocka_unit_test(any_change_of_the_model_changes_the_hash), cmocka_unit_test(names_cannot_imitate_other_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
