/* test_graph_order.c -- program order, depth, and cycles by their nodes. */
#include "base/rng.h"
#include "graph_fixture.h"
#include "support/cases.h"

static void nodes_in_topological_numbering_keep_it(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a b c d");
    bench_edges(&t, "a>c b>d");
    assert_int_equal(bench_freeze(&t), PB_OK);
    expect_order(t.g, "0 1 2 3");
    assert_false(t.g->order_named);
    bench_close(&t);
}

static void the_smallest_ready_index_goes_first(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a b c d e");
    bench_edges(&t, "d>a e>b c>b");
    assert_int_equal(bench_freeze(&t), PB_OK);
    expect_order(t.g, "2 3 0 4 1"); /* c, d, then a is ready, e, b */
    bench_close(&t);
}

static void given_nodes_and_byproducts_are_left_out(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_node(&t, "part", 0, 1, 0);
    bench_node(&t, "reader", 1, 1, 0);
    bench_node(&t, "owner", 1, 1, 0);
    bench_node(&t, "input", 0, 1, PB_NODE_GIVEN);
    bench_edges(&t, "part>reader input>owner");
    pb_builder_set_byproduct(t.b, 0, 2);
    assert_int_equal(bench_freeze(&t), PB_OK);
    expect_order(t.g, "2 1"); /* the owner makes what the reader reads */
    expect_row(t.g->depth, 0, 4, "1 2 1 0");
    assert_int_equal(t.g->max_depth, 2);
    bench_close(&t);
}

static void depth_is_the_longest_path(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a b c d lone");
    bench_edges(&t, "a>d a>b b>c c>d");
    assert_int_equal(bench_freeze(&t), PB_OK);
    expect_row(t.g->depth, 0, 5, "0 1 2 3 0");
    assert_int_equal(t.g->max_depth, 3);
    bench_close(&t);
}

/* ---- named orders ---- */

static void a_named_order_is_taken(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a b c");
    bench_node(&t, "x", 0, 1, PB_NODE_GIVEN);
    bench_edges(&t, "a>c x>b");
    bench_order(&t, "b x a c"); /* given nodes may be listed, and are left out */
    assert_int_equal(bench_freeze(&t), PB_OK);
    expect_order(t.g, "1 0 2");
    assert_true(t.g->order_named);
    bench_close(&t);
}

static void faults_of_a_named_order_name_the_culprit(void **state)
{
    (void)state;
    static const struct {
        const char *order, *message;
    } cases[] = {
        {"a b", "`order` does not list node \"c\"; add it"},
        {"a b a c", "`order` lists node \"a\" twice"},
        {"c a b", "`order` computes \"c\" before \"a\", which it reads"},
        {"b a c", "`order` computes \"b\" before \"w\", which it reads"}, /* w comes with a */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench t;
        bench_open(&t);
        bench_nodes(&t, "a b c");
        bench_node(&t, "w", 0, 1, 0);
        bench_edges(&t, "a>c w>b");
        pb_builder_set_byproduct(t.b, 3, 0);
        bench_order(&t, cases[i].order);
        bench_refused(&t, PB_EGRAPH, cases[i].message);
        bench_close(&t);
    }
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a b");
    pb_builder_add_order(t.b, 0);
    pb_builder_add_order(t.b, 7);
    bench_refused(&t, PB_EGRAPH, "`order` names node 7, but the graph has 2 nodes");
    bench_close(&t);
}

/* ---- cycles ---- */

/* Every arrow of "...: a -> b -> c -> a" must be an edge (or owner and by-product), and the ends must be equal. The
 * number of arrows, or those left out with "...". */
static unsigned check_cycle_text(const bench *t, const uint8_t *edge, const pb_node *owner, unsigned n)
{
    const char *at = strstr(t->ctx.error.message, ": ");
    assert_non_null(at);
    at += 2;
    pb_node first = PB_NO_NODE, before = PB_NO_NODE, v = PB_NO_NODE;
    unsigned arrows = 0;
    for (;;) {
        size_t length = strcspn(at, " ;");
        if (strncmp(at, "...", 3) == 0) {
            unsigned more = (unsigned)strtoul(strchr(at, '(') + 1, NULL, 10);
            arrows += more + 1;
            before = PB_NO_NODE;
            at = strstr(at, "-> ") + 3;
            continue;
        }
        v = bench_find(t, at, length);
        if (first == PB_NO_NODE)
            first = v;
        else if (before != PB_NO_NODE) {
            assert_true(edge[before * n + v] || (owner && owner[v] == before));
            arrows++;
        }
        before = v;
        if (at[length] != ' ')
            break;
        assert_int_equal(strncmp(at + length, " -> ", 4), 0);
        at += length + 4;
    }
    assert_int_equal(v, first);
    return arrows;
}

static void a_cycle_is_printed_along_its_edges(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a b c d e");
    bench_edges(&t, "a>b b>c c>d d>b d>e"); /* e is behind the cycle, a before it */
    bench_refused(&t, PB_EGRAPH, "the graph has a cycle of 3 nodes: b -> c -> d -> b; remove one of its edges");
    pb_builder_clear(t.b);
    bench_nodes(&t, "a b");
    bench_edges(&t, "a>b b>a");
    bench_refused(&t, PB_EGRAPH, "the graph has a cycle of 2 nodes: a -> b -> a; remove one of its edges");
    bench_close(&t);
}

static void a_long_cycle_is_shortened_in_the_middle(void **state)
{
    (void)state;
    enum { N = 12 };
    for (unsigned length = 2; length <= N; length++) {
        bench t;
        uint8_t edge[N * N] = {0};
        bench_open(&t);
        for (unsigned i = 0; i < N; i++)
            bench_node(&t, NULL, 1, 1, 0);
        for (unsigned i = 0; i < length; i++) {
            pb_builder_add_edge(t.b, i, (i + 1) % length);
            edge[i * N + (i + 1) % length] = 1;
        }
        char count[40];
        snprintf(count, sizeof count, "a cycle of %u nodes: ", length);
        bench_refused(&t, PB_EGRAPH, count);
        assert_int_equal(check_cycle_text(&t, edge, NULL, N), length);
        bench_close(&t);
    }
}

static void cycles_of_random_graphs_are_real(void **state)
{
    (void)state;
    enum { N = 9 };
    unsigned cycles = 0;
    for (uint64_t seed = 1, cases = test_cases(1500); seed <= cases; seed++) {
        pbi_rng rng = {seed};
        bench t;
        uint8_t edge[N * N] = {0};
        pb_node owner[N];
        memset(owner, 0xff, sizeof owner);
        bench_open(&t);
        for (pb_node v = 0; v < N; v++)
            bench_node(&t, NULL, 0, 1, 0);
        if (seed % 3 == 0) {
            owner[N - 1] = (pb_node)pbi_rng_below(&rng, N - 1);
            pb_builder_set_byproduct(t.b, N - 1, owner[N - 1]);
        }
        for (int i = 0; i < 11; i++) {
            pb_node u = (pb_node)pbi_rng_below(&rng, N), v = (pb_node)pbi_rng_below(&rng, N);
            if (u == v || owner[v] != PB_NO_NODE)
                continue;
            edge[u * N + v] = 1;
            pb_builder_add_edge(t.b, u, v);
        }
        pb_status status = bench_freeze(&t);
        if (status != PB_OK) {
            assert_int_equal(status, PB_EGRAPH);
            unsigned said = 0;
            assert_int_equal(sscanf(t.ctx.error.message, "the graph has a cycle of %u nodes", &said), 1);
            assert_int_equal(check_cycle_text(&t, edge, owner, N), said);
            cycles++;
        }
        bench_close(&t);
    }
    assert_true(cycles > 10);
}

/* The plainest way: again and again the smallest index whose inputs (and owner) are done. */
static void the_order_is_the_smallest_on_random_dags(void **state)
{
    (void)state;
    enum { N = 14 };
    for (uint64_t seed = 1, cases = test_cases(1500); seed <= cases; seed++) {
        pbi_rng rng = {seed};
        bench t;
        uint32_t in[N] = {0};
        pb_node label[N], expected[N];
        uint32_t count = 0, done = 0, given = 0, parts = 0;
        bench_open(&t);
        for (pb_node v = 0; v < N; v++) { /* a random numbering of a dag in which i reads only what is below i */
            label[v] = v;
            pb_node other = (pb_node)pbi_rng_below(&rng, v + 1);
            label[v] = label[other];
            label[other] = v;
        }
        for (pb_node i = 0; i < N; i++) {
            pb_node v = label[i];
            if (i && pbi_rng_below(&rng, 6) == 0)
                given |= 1u << v;
            else if (i && pbi_rng_below(&rng, 6) == 0 && !((given | parts) >> label[i - 1] & 1)) {
                parts |= 1u << v;
                in[v] = 1u << label[i - 1];
            } else
                for (pb_node k = 0; k < i; k++)
                    in[v] |= pbi_rng_below(&rng, 4) == 0 ? 1u << label[k] : 0;
        }
        for (pb_node v = 0; v < N; v++)
            bench_node(&t, NULL, 0, 1, given >> v & 1 ? PB_NODE_GIVEN : 0);
        for (pb_node v = 0; v < N; v++)
            for (pb_node u = 0; u < N; u++)
                if (in[v] >> u & 1)
                    assert_int_equal(
                        parts >> v & 1 ? pb_builder_set_byproduct(t.b, v, u) : pb_builder_add_edge(t.b, u, v), PB_OK);
        while (done != (1u << N) - 1)
            for (pb_node v = 0; v < N; v++)
                if (!(done >> v & 1) && (in[v] & ~done) == 0) {
                    done |= 1u << v;
                    if (!((given | parts) >> v & 1))
                        expected[count++] = v;
                    break;
                }
        assert_int_equal(bench_freeze(&t), PB_OK);
        assert_int_equal(t.g->order_count, count);
        assert_memory_equal(t.g->order, expected, count * sizeof *expected);
        bench_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_in_topological_numbering_keep_it),
        cmocka_unit_test(the_smallest_ready_index_goes_first),
        cmocka_unit_test(given_nodes_and_byproducts_are_left_out),
        cmocka_unit_test(depth_is_the_longest_path),
        cmocka_unit_test(a_named_order_is_taken),
        cmocka_unit_test(faults_of_a_named_order_name_the_culprit),
        cmocka_unit_test(a_cycle_is_printed_along_its_edges),
        cmocka_unit_test(a_long_cycle_is_shortened_in_the_middle),
        cmocka_unit_test(cycles_of_random_graphs_are_real),
        cmocka_unit_test(the_order_is_the_smallest_on_random_dags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
