/* test_graph_check.c -- the audit passes sound graphs and names each broken fact. */
#include "graph_fixture.h"
#include "support/small_game.h"

/* a (given), b reads a, w comes with b, c reads b and w and may overwrite b, d reads c; target d. */
static void open_sound(bench *t)
{
    bench_open(t);
    bench_node(t, "a", 0, 1, PB_NODE_GIVEN);
    bench_nodes(t, "b");
    bench_node(t, "w", 0, 1, 0);
    bench_nodes(t, "c d");
    bench_edges(t, "a>b b>c w>c c>d");
    pb_builder_add_inplace(t->b, 3, 1);
    pb_builder_set_byproduct(t->b, 2, 1);
    assert_int_equal(bench_freeze(t), PB_OK);
}

/* The graph with one array replaced must be called broken, with this fact. */
static void expect_broken(bench *t, const pb_graph *g, const char *fact)
{
    size_t used = t->ctx.memory_used;
    assert_int_equal(pb_graph_check(&t->ctx, g), PB_EBUG);
    if (!strstr(t->ctx.error.message, fact))
        fail_msg("no `%s` in `%s`", fact, t->ctx.error.message);
    assert_int_equal(t->ctx.memory_used, used);
}

static void broken_rows_are_found(void **state)
{
    (void)state;
    bench t;
    open_sound(&t);
    pb_graph g = *t.g;
    g.edge_count++;
    expect_broken(&t, &g, "rows do not add up to the edge count");
    /* rows of in: a | b w | c, that is 0 1 2 3 */
    g = *t.g;
    static const pb_node swapped[] = {0, 2, 1, 3}, twice[] = {0, 1, 1, 3}, stranger[] = {0, 1, 2, 0};
    g.in = swapped;
    expect_broken(&t, &g, "inputs do not ascend at node 3");
    g.in = twice;
    expect_broken(&t, &g, "inputs do not ascend at node 3");
    g.in = stranger;
    expect_broken(&t, &g, "an input does not list its reader at node 4");
    g = *t.g;
    static const pb_node foreign[] = {0};
    g.inplace = foreign;
    expect_broken(&t, &g, "`inplace` lists a node that is not an input at node 3");
    bench_close(&t);
}

static void broken_orders_are_found(void **state)
{
    (void)state;
    bench t;
    open_sound(&t);
    pb_graph g = *t.g; /* the order is b c d */
    static const pb_node twice[] = {1, 3, 3}, wrong[] = {3, 1, 4}, given[] = {1, 3, 0};
    g.order = twice;
    expect_broken(&t, &g, "the order repeats at node 3");
    g.order = wrong;
    expect_broken(&t, &g, "the order breaks an edge at node 3");
    g.order = given;
    expect_broken(&t, &g, "the order is not exactly the computed nodes");
    g = *t.g;
    g.order_count = 2;
    expect_broken(&t, &g, "the order is not exactly the computed nodes at node 4");
    g = *t.g;
    static const uint32_t depth[] = {0, 1, 2, 2, 3}; /* w has the depth of its reader */
    g.depth = depth;
    expect_broken(&t, &g, "depth does not grow at node 3");
    bench_close(&t);
}

static void broken_flags_are_found(void **state)
{
    (void)state;
    bench t;
    uint16_t flags[5];
    open_sound(&t);
    pb_graph g = *t.g;
    memcpy(flags, t.g->flags, sizeof flags);
    g.flags = flags;
    assert_int_equal(pb_graph_check(&t.ctx, &g), PB_OK);
    flags[1] &= (uint16_t)~PB_NODE_NEEDED;
    expect_broken(&t, &g, "an input of a needed node is not needed at node 3");
    flags[1] |= PB_NODE_NEEDED;
    flags[3] |= PB_NODE_TARGET;
    expect_broken(&t, &g, "the target list and flags differ at node 3");
    flags[3] &= (uint16_t)~PB_NODE_TARGET;
    flags[4] &= (uint16_t)~PB_NODE_TARGET;
    expect_broken(&t, &g, "the target list is too long");
    bench_close(&t);
}

static void broken_byproducts_are_found(void **state)
{
    (void)state;
    bench t;
    open_sound(&t);
    pb_graph g = *t.g;
    static const pb_node none[] = {PB_NO_NODE, PB_NO_NODE, PB_NO_NODE, PB_NO_NODE, PB_NO_NODE};
    g.owner = none;
    assert_int_equal(pb_graph_check(&t.ctx, &g), PB_EBUG);
    g = *t.g;
    static const pb_node part[] = {4};
    g.part = part;
    expect_broken(&t, &g, "an owner does not list its by-product at node 2");
    bench_close(&t);
}

static void sound_graphs_pass(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        small_game s;
        pb_context ctx;
        pb_arena arena;
        pb_game game;
        small_game_random_large(seed, PB_GAME_ALL, &s);
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        assert_true(small_game_build(&ctx, &s, &arena, &game));
        if (pb_graph_check(&ctx, game.graph) != PB_OK)
            fail_msg("%s", ctx.error.message);
        pb_arena_release(&arena);
    }
    bench t;
    bench_open(&t);
    assert_int_equal(bench_freeze(&t), PB_OK); /* no nodes at all */
    t.ctx.memory_limit = 1;
    assert_int_equal(pb_graph_check(&t.ctx, t.g), PB_ENOMEM);
    bench_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_rows_are_found),  cmocka_unit_test(broken_orders_are_found),
        cmocka_unit_test(broken_flags_are_found), cmocka_unit_test(broken_byproducts_are_found),
        cmocka_unit_test(sound_graphs_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
