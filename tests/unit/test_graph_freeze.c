/* test_graph_freeze.c -- from lists to an immutable graph: rows, flags, needs, sums, and what is refused. */
#include "graph_fixture.h"
#include "support/io_case.h"
#include "support/small_game.h"

static void an_empty_graph_is_a_graph(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    pb_builder_set_fixed_size(t.b, 5);
    assert_int_equal(bench_freeze(&t), PB_OK);
    assert_int_equal(t.g->node_count, 0);
    assert_int_equal(t.g->edge_count, 0);
    assert_int_equal(t.g->order_count, 0);
    assert_int_equal(t.g->target_count, 0);
    assert_int_equal(t.g->needed_count, 0);
    assert_int_equal(t.g->total_size, 5);
    assert_string_equal(t.g->name, "");
    assert_string_equal(t.g->cost_unit, "step");
    assert_string_equal(t.g->size_unit, "unit");
    assert_null(t.g->owner);
    assert_null(t.g->inplace_start);
    assert_null(t.g->group);
    bench_close(&t);
}

static void rows_ascend_and_merge_duplicates(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a b c d e");
    bench_edges(&t, "c>e a>e c>e b>e a>d a>e b>d c>e");
    assert_int_equal(bench_freeze(&t), PB_OK);
    assert_int_equal(t.g->edge_count, 5);
    expect_inputs(t.g, 4, "0 1 2");
    expect_inputs(t.g, 3, "0 1");
    expect_inputs(t.g, 0, "");
    expect_readers(t.g, 0, "3 4");
    expect_readers(t.g, 1, "3 4");
    expect_readers(t.g, 2, "4");
    expect_readers(t.g, 4, "");
    bench_close(&t);
}

static void the_builder_can_go_on_after_freezing(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a");
    assert_int_equal(bench_freeze(&t), PB_OK);
    const pb_graph *first = t.g;
    bench_nodes(&t, "b");
    bench_edges(&t, "a>b");
    assert_int_equal(bench_freeze(&t), PB_OK);
    assert_int_equal(first->node_count, 1);
    assert_int_equal(t.g->node_count, 2);
    assert_string_equal(pb_graph_name(first, 0), "a");
    bench_close(&t);
}

static void sinks_are_targets_where_none_are_named(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a b c lone part");
    bench_edges(&t, "a>b a>c");
    assert_int_equal(pb_builder_set_byproduct(t.b, 4, 1), PB_OK); /* no cost of its own */
    bench_refused(&t, PB_EGRAPH, "by-product \"part\" has a cost or workspace; move it to \"b\"");
    pb_builder_clear(t.b);
    bench_nodes(&t, "a b c lone");
    bench_node(&t, "part", 0, 1, 0);
    bench_edges(&t, "a>b a>c");
    assert_int_equal(pb_builder_set_byproduct(t.b, 4, 1), PB_OK);
    assert_int_equal(bench_freeze(&t), PB_OK);
    expect_row(t.g->targets, 0, t.g->target_count, "1 2 3"); /* a by-product that nothing reads is no sink */
    assert_false(t.g->targets_named);
    assert_int_equal(t.g->flags[4] & PB_NODE_NEEDED, 0);
    bench_close(&t);
}

static void named_targets_decide_what_is_needed(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_node(&t, "a", 1, 1, 0);
    bench_node(&t, "b", 2, 1, 0);
    bench_node(&t, "c", 4, 1, 0);
    bench_node(&t, "d", 8, 1, PB_NODE_KEEP);
    bench_node(&t, "e", 16, 1, 0);
    bench_edges(&t, "a>b b>c a>d c>e");
    assert_int_equal(pb_builder_add_target(t.b, 1), PB_OK);
    assert_int_equal(pb_builder_add_target(t.b, 1), PB_OK); /* twice is once */
    assert_int_equal(bench_freeze(&t), PB_OK);
    expect_row(t.g->targets, 0, t.g->target_count, "1");
    assert_true(t.g->targets_named);
    assert_int_equal(t.g->needed_count, 3); /* a, b and, being kept, d */
    assert_int_equal(t.g->needed_cost, 1 + 2 + 8);
    assert_int_equal(t.g->flags[2] & PB_NODE_NEEDED, 0);
    assert_int_equal(t.g->flags[4], 0);
    bench_close(&t);
}

/* A by-product that is read makes its owner needed, and through it the owner's inputs. */
static void needs_pass_through_byproducts(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "x owner reader aside");
    bench_node(&t, "part", 0, 3, 0);
    bench_edges(&t, "x>owner part>reader x>aside");
    assert_int_equal(pb_builder_set_byproduct(t.b, 4, 1), PB_OK);
    assert_int_equal(pb_builder_add_target(t.b, 2), PB_OK);
    assert_int_equal(bench_freeze(&t), PB_OK);
    assert_int_equal(t.g->needed_count, 3);
    assert_int_equal(t.g->needed_cost, 3);
    for (pb_node v = 0; v < 5; v++)
        assert_int_equal((t.g->flags[v] & PB_NODE_NEEDED) != 0, v != 3);
    assert_int_equal(t.g->flags[1] & PB_NODE_HAS_PARTS, PB_NODE_HAS_PARTS);
    assert_int_equal(t.g->flags[4] & PB_NODE_BYPRODUCT, PB_NODE_BYPRODUCT);
    assert_int_equal(t.g->owner[4], 1);
    assert_int_equal(t.g->owner[1], PB_NO_NODE);
    expect_row(t.g->part, t.g->part_start[1], t.g->part_start[2], "4");
    assert_int_equal(t.g->depth[4], 1);
    assert_int_equal(t.g->depth[2], 2);
    bench_close(&t);
}

static void given_nodes_cost_nothing(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_node(&t, "a", 100, 1, PB_NODE_GIVEN);
    bench_node(&t, "b", 3, 1, PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW);
    bench_node(&t, "c", 5, 1, 0);
    bench_edges(&t, "a>c b>c");
    assert_int_equal(bench_freeze(&t), PB_OK);
    assert_int_equal(t.g->needed_cost, 5);
    assert_int_equal(t.g->needed_count, 1);
    expect_order(t.g, "2");
    assert_int_equal(t.g->total_size, 3);
    bench_close(&t);
}

static void groups_are_listed_once(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    static const char *const groups[] = {"enc", NULL, "dec", "enc"};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pb_builder_add_node(t.b, &(pb_node_spec){.group = groups[i]}, NULL), PB_OK);
    assert_int_equal(bench_freeze(&t), PB_OK);
    assert_int_equal(t.g->group_count, 2);
    assert_string_equal(t.g->group_names[t.g->group[0]], "enc");
    assert_int_equal(t.g->group[1], UINT32_MAX);
    assert_string_equal(t.g->group_names[t.g->group[2]], "dec");
    assert_int_equal(t.g->group[3], t.g->group[0]);
    bench_close(&t);
}

static void inplace_rows_ascend_and_merge(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a b c");
    bench_edges(&t, "a>c b>c");
    pb_builder_add_inplace(t.b, 2, 1);
    pb_builder_add_inplace(t.b, 2, 0);
    pb_builder_add_inplace(t.b, 2, 1);
    assert_int_equal(bench_freeze(&t), PB_OK);
    expect_row(t.g->inplace, t.g->inplace_start[2], t.g->inplace_start[3], "0 1");
    expect_row(t.g->inplace, t.g->inplace_start[0], t.g->inplace_start[2], "");
    bench_close(&t);
}

/* ---- what is refused, by name ---- */

static void loops_and_bad_ends_are_refused(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a b");
    bench_edges(&t, "a>b b>b");
    bench_refused(&t, PB_EGRAPH, "edge 1 leads from node \"b\" to itself");
    pb_builder_clear(t.b);
    bench_nodes(&t, "a b");
    pb_builder_add_edge(t.b, 0, 1);
    pb_builder_add_edge(t.b, 0, 2);
    bench_refused(&t, PB_EGRAPH, "edge 1 names node 2, but the graph has 2 nodes");
    bench_nodes(&t, "c"); /* ends may come later */
    assert_int_equal(bench_freeze(&t), PB_OK);
    pb_builder_add_target(t.b, 9);
    bench_refused(&t, PB_EGRAPH, "target 0 is node 9, but the graph has 3 nodes");
    bench_close(&t);
}

static void given_nodes_that_read_are_refused(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a");
    bench_node(&t, "input", 0, 1, PB_NODE_GIVEN);
    bench_edges(&t, "a>input");
    bench_refused(&t, PB_EGRAPH, "given node \"input\" reads \"a\"");
    pb_builder_clear(t.b);
    bench_node(&t, "odd", 0, 1, PB_NODE_GIVEN_SLOW);
    bench_refused(&t, PB_EGRAPH, "node \"odd\" starts in slow memory, which only given values can; mark it as given");
    bench_close(&t);
}

static void inplace_of_what_is_not_read_is_refused(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a b c");
    bench_edges(&t, "a>b");
    pb_builder_add_inplace(t.b, 1, 2);
    bench_refused(&t, PB_EGRAPH, "node \"b\" lists \"c\" in `inplace`, but does not read it");
    bench_close(&t);
}

static void byproduct_faults_name_both_nodes(void **state)
{
    (void)state;
    static const struct {
        uint16_t owner_flags, part_flags;
        uint64_t cost;
        const char *edges, *message;
    } cases[] = {
        {PB_NODE_GIVEN, 0, 0, "",
         "node \"w\" is a by-product of \"v\", which is given or a by-product itself; name a computed node"},
        {0, PB_NODE_GIVEN, 0, "", "node \"w\" is both given and a by-product; remove one of the two"},
        {0, 0, 0, "u>w", "by-product \"w\" has inputs of its own; move them to \"v\""},
        {0, 0, 7, "", "by-product \"w\" has a cost or workspace; move it to \"v\""},
        {0, 0, 0, "w>v", "the graph has a cycle of 2 nodes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench t;
        bench_open(&t);
        bench_node(&t, "u", 1, 1, 0);
        bench_node(&t, "v", 1, 1, cases[i].owner_flags);
        bench_node(&t, "w", cases[i].cost, 1, cases[i].part_flags);
        bench_edges(&t, cases[i].edges);
        pb_builder_set_byproduct(t.b, 2, 1);
        bench_refused(&t, PB_EGRAPH, cases[i].message);
        bench_close(&t);
    }
    bench t;
    bench_open(&t);
    bench_nodes(&t, "u v");
    bench_node(&t, "w", 0, 1, 0);
    bench_node(&t, "x", 0, 1, 0);
    pb_builder_set_byproduct(t.b, 2, 1);
    pb_builder_set_byproduct(t.b, 2, 1); /* said twice is fine */
    assert_int_equal(bench_freeze(&t), PB_OK);
    pb_builder_set_byproduct(t.b, 3, 2);
    bench_refused(&t, PB_EGRAPH,
                  "node \"x\" is a by-product of \"w\", which is given or a by-product itself; name a computed node");
    pb_builder_set_byproduct(t.b, 2, 0);
    bench_refused(&t, PB_EGRAPH, "node \"w\" is a by-product of two nodes; remove one of them");
    bench_close(&t);
}

static void sums_beyond_64_bits_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint64_t size0, size1, cost0, cost1, workspace, fixed;
        pb_status status;
    } cases[] = {
        {UINT64_MAX - 2, 1, 0, 0, 0, 0, PB_OK},
        {UINT64_MAX - 1, 1, 0, 0, 0, 0, PB_ERANGE}, /* 2^64-1 itself means "unlimited" */
        {UINT64_MAX, 1, 0, 0, 0, 0, PB_ERANGE},
        {1, 1, UINT64_MAX, 0, 0, 0, PB_OK},
        {1, 1, UINT64_MAX, 1, 0, 0, PB_ERANGE},
        {5, 5, 0, 0, UINT64_MAX - 11, 0, PB_OK},
        {5, 5, 0, 0, UINT64_MAX - 10, 0, PB_ERANGE},
        {5, 5, 0, 0, 0, UINT64_MAX - 11, PB_OK},
        {5, 5, 0, 0, 1, UINT64_MAX - 11, PB_ERANGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench t;
        bench_open(&t);
        pb_node_spec first = {.size = cases[i].size0, .cost = cases[i].cost0, .workspace = cases[i].workspace};
        assert_int_equal(pb_builder_add_node(t.b, &first, NULL), PB_OK);
        bench_node(&t, "b", cases[i].cost1, cases[i].size1, 0);
        pb_builder_set_fixed_size(t.b, cases[i].fixed);
        if (cases[i].status == PB_OK) {
            assert_int_equal(bench_freeze(&t), PB_OK);
            assert_int_equal(t.g->total_size, cases[i].size0 + cases[i].size1 + cases[i].fixed);
        } else {
            bench_refused(&t, cases[i].status, "exceeds 2^64");
        }
        bench_close(&t);
    }
}

static void a_refused_allocation_leaves_nothing_behind(void **state)
{
    (void)state;
    uint64_t refuse = 0;
    bool done = false;
    while (!done) {
        small_game s;
        pb_context ctx;
        failing_allocator memory = {.refuse = ++refuse};
        pb_arena arena;
        pb_game game;
        failing_context(&ctx, &memory);
        pb_arena_init(&arena, &ctx);
        small_game_random_large(3, PB_GAME_ALL, &s);
        done = small_game_build(&ctx, &s, &arena, &game);
        if (!done)
            assert_int_equal(ctx.memory_used, 0);
        pb_arena_release(&arena);
        assert_int_equal(ctx.memory_used, 0);
        assert_int_equal(memory.blocks, 0);
    }
    assert_true(refuse > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_graph_is_a_graph),
        cmocka_unit_test(rows_ascend_and_merge_duplicates),
        cmocka_unit_test(the_builder_can_go_on_after_freezing),
        cmocka_unit_test(sinks_are_targets_where_none_are_named),
        cmocka_unit_test(named_targets_decide_what_is_needed),
        cmocka_unit_test(needs_pass_through_byproducts),
        cmocka_unit_test(given_nodes_cost_nothing),
        cmocka_unit_test(groups_are_listed_once),
        cmocka_unit_test(inplace_rows_ascend_and_merge),
        cmocka_unit_test(loops_and_bad_ends_are_refused),
        cmocka_unit_test(given_nodes_that_read_are_refused),
        cmocka_unit_test(inplace_of_what_is_not_read_is_refused),
        cmocka_unit_test(byproduct_faults_name_both_nodes),
        cmocka_unit_test(sums_beyond_64_bits_are_refused),
        cmocka_unit_test(a_refused_allocation_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
