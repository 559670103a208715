/* Claims about chains, trees, lattices, layered graphs and pipelines. */
#include "test_generate.h"

static void expect_counts(const char *family, const char *words, uint32_t nodes, uint32_t edges)
{
    made m;
    const pb_graph *g = make_sound(&m, family, words);
    if (g->node_count != nodes || g->edge_count != edges)
        fail_msg("%s %s: %u nodes and %u edges, not %u and %u", family, words, g->node_count, g->edge_count, nodes,
                 edges);
    unmake(&m);
}

static void counts_follow_their_closed_forms(void **state)
{
    (void)state;
    char words[64];
    for (uint32_t n = 0; n <= 5; n++) {
        snprintf(words, sizeof words, "nodes=%u", n);
        expect_counts("chain", words, n, n ? n - 1 : 0);
    }
    for (uint32_t n = 1; n <= 5; n++) {
        snprintf(words, sizeof words, "steps=%u", n);
        expect_counts("adjoint-chain", words, 2 * n + 1, n + 3 * n - 1);
        snprintf(words, sizeof words, "steps=%u form=inputs", n);
        expect_counts("adjoint-chain", words, 2 * n, n - 1 + 2 * n - 1);
    }
    for (uint32_t h = 0; h <= 8; h++) {
        uint32_t binary = (2u << h) - 1;
        snprintf(words, sizeof words, "height=%u", h);
        expect_counts("tree", words, binary, binary - 1);
        expect_counts("merkle", words, binary, binary - 1);
        snprintf(words, sizeof words, "height=%u proofs=1", h);
        expect_counts("merkle-proofs", words, binary + 2, binary - 1 + 1 + h + 1);
        snprintf(words, sizeof words, "height=%u proofs=%u batch=multi", h, 1u << h); /* everything is on a path */
        expect_counts("merkle-proofs", words, binary + 2, binary - 1 + 2);
        snprintf(words, sizeof words, "height=%u queries=2 path=3", h);
        expect_counts("recursive-checks", words, binary + 12 * ((1u << h) - 1), (12 + 8 + 4) * ((1u << h) - 1));
        snprintf(words, sizeof words, "height=%u", h);
        expect_counts("pyramid", words, (h + 1) * (h + 2) / 2, h * (h + 1));
        snprintf(words, sizeof words, "stages=%u", h);
        expect_counts("butterfly", words, (h + 1) << h, h << (h + 1));
        snprintf(words, sizeof words, "height=%u data-size=1024", h);
        expect_counts("merkle", words, binary + (1u << h), binary - 1 + (1u << h));
    }
    expect_counts("tree", "height=3 arity=3", 1 + 3 + 9 + 27, 3 + 9 + 27);
    expect_counts("tree", "height=7 arity=1", 8, 7);
    expect_counts("grid", "rows=1 cols=1", 1, 0);
    expect_counts("grid", "rows=4 cols=7", 28, 4 * 6 + 3 * 7);
    expect_counts("grid", "rows=7 cols=4", 28, 4 * 6 + 3 * 7);
}

static void a_chain_reads_the_node_before(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "chain", "nodes=4 cost=3 size=5");
    assert_int_equal(g->shape, PB_SHAPE_CHAIN);
    expect_reads(g, "n0", "");
    expect_reads(g, "n3", "n2");
    assert_int_equal(cost_of(g, "n2"), 3);
    assert_int_equal(size_of(g, "n2"), 5);
    unmake(&m);
    make_sound(&m, "chain", "nodes=0");
    assert_int_equal(m.g->node_count, 0);
    unmake(&m);
}

static void profiles_shape_costs_and_sizes(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "chain", "nodes=5 cost=10 size=100 profile=ramp spread=3");
    for (pb_node v = 0; v < 5; v++) {
        assert_int_equal(g->cost[v], 10 + 5 * v);
        assert_int_equal(g->size[v], 100 + 50 * v);
    }
    unmake(&m);
    g = make_sound(&m, "chain", "nodes=8 cost=10 size=100 profile=layers spread=8");
    const uint64_t sizes[] = {800, 800, 400, 400, 200, 200, 100, 100};
    const uint64_t costs[] = {80, 10, 10, 80, 10, 10, 80, 10};
    assert_memory_equal(g->size, sizes, sizeof sizes);
    assert_memory_equal(g->cost, costs, sizeof costs);
    unmake(&m);
    g = make_sound(&m, "chain", "nodes=1000 cost=10 size=0 profile=random spread=3");
    uint64_t least = UINT64_MAX, most = 0;
    for (pb_node v = 0; v < 1000; v++) {
        least = g->cost[v] < least ? g->cost[v] : least;
        most = g->cost[v] > most ? g->cost[v] : most;
        assert_int_equal(g->size[v], 0);
    }
    assert_int_equal(least, 10);
    assert_int_equal(most, 30);
    unmake(&m);
}

static void adjoint_gradients_read_both_ends_of_their_step(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "adjoint-chain", "steps=4 grad-size=3");
    assert_int_equal(g->shape, PB_SHAPE_ADJOINT_CHAIN);
    expect_reads(g, "x_0", "");
    assert_true(g->flags[0] & PB_NODE_GIVEN);
    expect_reads(g, "x_1", "x_0");
    expect_reads(g, "x_4", "x_3");
    expect_reads(g, "g_3", "x_3 x_4");
    expect_reads(g, "g_2", "x_2 x_3 g_3");
    expect_reads(g, "g_1", "x_1 x_2 g_2");
    expect_reads(g, "g_0", "x_0 x_1 g_1");
    const char *const order[] = {"x_1", "x_2", "x_3", "x_4", "g_3", "g_2", "g_1", "g_0"};
    assert_int_equal(g->order_count, 8);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(g->order[i], node_of(g, order[i]));
        assert_int_equal(cost_of(g, order[i]), 1);
        assert_int_equal(size_of(g, order[i]), i < 4 ? 1 : 3);
    }
    assert_int_equal(g->target_count, 1);
    assert_int_equal(g->targets[0], node_of(g, "g_0"));
    assert_null(g->inplace_start);
    unmake(&m);
}

static void adjoint_saved_form_reads_by_products(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "adjoint-chain", "steps=2 form=saved saved-size=7 step-size=2 grad-cost=3");
    expect_reads(g, "x_2", "x_1");
    expect_reads(g, "g_1", "x_1 s_1");
    expect_reads(g, "g_0", "x_0 s_0 g_1");
    assert_int_equal(g->owner[node_of(g, "s_0")], node_of(g, "x_1"));
    assert_int_equal(g->owner[node_of(g, "s_1")], node_of(g, "x_2"));
    assert_int_equal(size_of(g, "s_1"), 7);
    assert_int_equal(cost_of(g, "g_1"), 3);
    unmake(&m);
}

static void adjoint_inputs_form_runs_steps_again(void **state)
{
    (void)state;
    made m;
    const pb_graph *g =
        make_sound(&m, "adjoint-chain", "steps=3 form=inputs grad-size=0 step-cost=5 grad-cost=2 inplace=yes");
    expect_reads(g, "x_2", "x_1");
    expect_reads(g, "g_2", "x_2");
    expect_reads(g, "g_1", "x_1 g_2");
    expect_reads(g, "g_0", "x_0 g_1");
    assert_int_equal(pb_graph_find(g, "x_3"), PB_NO_NODE);
    assert_int_equal(cost_of(g, "x_1"), 5);
    assert_int_equal(cost_of(g, "g_2"), 7);
    assert_int_equal(size_of(g, "g_2"), 0);
    assert_true(may_overwrite(g, "x_2", "x_1"));
    assert_false(may_overwrite(g, "x_1", "x_0"));
    assert_true(may_overwrite(g, "g_0", "g_1"));
    assert_false(may_overwrite(g, "g_0", "x_0"));
    unmake(&m);
    /* A drawn step costs the same when its gradient runs it again. */
    g = make_sound(&m, "adjoint-chain", "steps=6 form=inputs profile=random grad-cost=0 step-cost=1000");
    for (int i = 1; i < 6; i++) {
        char step[8], gradient[8];
        snprintf(step, sizeof step, "x_%d", i);
        snprintf(gradient, sizeof gradient, "g_%d", i - 1);
        assert_int_equal(cost_of(g, step), cost_of(g, gradient));
    }
    assert_int_not_equal(cost_of(g, "x_1"), cost_of(g, "x_2"));
    unmake(&m);
}

static void a_complete_tree_is_written_in_postorder(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "tree", "height=2");
    assert_int_equal(g->shape, PB_SHAPE_IN_TREE);
    const char *const order[] = {"n3", "n4", "n1", "n5", "n6", "n2", "n0"};
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(g->order[i], node_of(g, order[i]));
    expect_reads(g, "n0", "n1 n2");
    expect_reads(g, "n2", "n5 n6");
    expect_reads(g, "n3", "");
    assert_int_equal(g->target_count, 1);
    assert_int_equal(g->targets[0], node_of(g, "n0"));
    uint64_t peak;
    assert_int_equal(pb_graph_program_peak(&m.ctx, g, &peak), PB_OK);
    assert_int_equal(peak, 4); /* height + 2 pebbles */
    unmake(&m);
}

/* Every shape: one root, everyone else read once, at most `arity` children, inputs before readers. */
static void every_tree_shape_is_an_in_tree(void **state)
{
    (void)state;
    static const char *const trees[] = {"shape=skewed nodes=1",
                                        "shape=skewed nodes=2",
                                        "shape=skewed nodes=1000",
                                        "shape=skewed nodes=1000 skew=0",
                                        "shape=skewed nodes=1000 skew=1",
                                        "shape=skewed nodes=1000 skew=0.5 arity=5",
                                        "shape=skewed nodes=100000 arity=1",
                                        "shape=random nodes=1",
                                        "shape=random nodes=1000",
                                        "shape=random nodes=100000 arity=1",
                                        "shape=random nodes=1000 arity=7 profile=random",
                                        "shape=complete height=4 arity=4"};
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        made m;
        const pb_graph *g = make_sound(&m, "tree", trees[i]);
        const char *arity_text = strstr(trees[i], "arity=");
        uint32_t arity = arity_text ? (uint32_t)(arity_text[6] - '0') : 2;
        assert_int_equal(g->edge_count, g->node_count - 1);
        for (pb_node v = 0; v < g->node_count; v++) {
            assert_true(g->in_start[v + 1] - g->in_start[v] <= arity);
            assert_int_equal(g->out_start[v + 1] - g->out_start[v], v != g->node_count - 1);
            assert_int_equal(g->order[v], v);
        }
        unmake(&m);
    }
}

static void skew_one_is_a_caterpillar(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "tree", "shape=skewed nodes=101 skew=1");
    assert_int_equal(g->max_depth, 50);
    unmake(&m);
    g = make_sound(&m, "tree", "shape=skewed nodes=127 skew=0.5");
    assert_int_equal(g->max_depth, 6);
    unmake(&m);
}

static void merkle_parents_may_overwrite_children(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "merkle", "height=2 data-size=1024 leaf-cost=16 inner-cost=2 load-cost=3");
    assert_string_equal(g->cost_unit, "hash");
    assert_string_equal(g->size_unit, "byte");
    expect_reads(g, "root", "h1_0 h1_1");
    expect_reads(g, "h1_1", "h0_2 h0_3");
    expect_reads(g, "h0_3", "data_3");
    assert_true(may_overwrite(g, "h1_1", "h0_2") && may_overwrite(g, "h1_1", "h0_3"));
    assert_false(may_overwrite(g, "h0_3", "data_3"));
    assert_int_equal(size_of(g, "root"), 32);
    assert_int_equal(size_of(g, "data_0"), 1024);
    assert_int_equal(cost_of(g, "data_0"), 3);
    assert_int_equal(cost_of(g, "h0_1"), 16);
    assert_int_equal(cost_of(g, "root"), 2);
    assert_int_equal(g->order[2], node_of(g, "data_1"));
    assert_int_equal(g->order[4], node_of(g, "h1_0"));
    unmake(&m);
    g = make_sound(&m, "merkle", "height=2 data-size=1 data=given");
    assert_true(g->flags[node_of(g, "data_3")] & PB_NODE_GIVEN);
    unmake(&m);
    g = make_sound(&m, "merkle", "height=0");
    expect_reads(g, "root", "");
    assert_int_equal(g->node_count, 1);
    unmake(&m);
}

static void a_merkle_proof_keeps_the_siblings(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "merkle", "height=3 proof=6"); /* leaf 5 */
    uint32_t kept = 0;
    for (pb_node v = 0; v < g->node_count; v++)
        kept += (g->flags[v] & PB_NODE_KEEP) != 0;
    assert_int_equal(kept, 3);
    assert_true(g->flags[node_of(g, "h0_4")] & PB_NODE_KEEP);
    assert_true(g->flags[node_of(g, "h1_3")] & PB_NODE_KEEP);
    assert_true(g->flags[node_of(g, "h2_0")] & PB_NODE_KEEP);
    assert_int_equal(g->target_count, 1);
    unmake(&m);
}

static void lattices_read_their_neighbours(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "pyramid", "height=3 inputs=given");
    expect_reads(g, "p1_0", "p0_0 p0_1");
    expect_reads(g, "p2_1", "p1_1 p1_2");
    expect_reads(g, "p3_0", "p2_0 p2_1");
    assert_true(g->flags[node_of(g, "p0_3")] & PB_NODE_GIVEN);
    assert_int_equal(g->target_count, 1);
    assert_int_equal(g->targets[0], node_of(g, "p3_0"));
    unmake(&m);
    g = make_sound(&m, "grid", "rows=3 cols=4");
    expect_reads(g, "c0_0", "");
    expect_reads(g, "c0_3", "c0_2");
    expect_reads(g, "c2_0", "c1_0");
    expect_reads(g, "c2_3", "c2_2 c1_3");
    assert_int_equal(g->targets[0], node_of(g, "c2_3"));
    unmake(&m);
    g = make_sound(&m, "butterfly", "stages=3");
    expect_reads(g, "b1_5", "b0_5 b0_4");
    expect_reads(g, "b2_5", "b1_5 b1_7");
    expect_reads(g, "b3_5", "b2_5 b2_1");
    assert_int_equal(g->target_count, 8);
    assert_int_equal(g->max_depth, 3);
    unmake(&m);
}

static void layered_graphs_are_covered_and_as_dense_as_asked(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "layered", "nodes=5000 width=20 degree=4 skip=0.2 reach=5 max-cost=99");
    uint32_t skips = 0, most = 0;
    uint64_t sizes = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        uint32_t layer = 0, at = 0, last_layer = 0;
        assert_int_equal(sscanf(pb_graph_name(g, v), "l%u_%u", &layer, &at), 2);
        assert_int_equal(sscanf(pb_graph_name(g, g->node_count - 1), "l%u_", &last_layer), 1);
        bool near = layer == 0;
        for (uint32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
            uint32_t from = 0;
            sscanf(pb_graph_name(g, g->in[i]), "l%u_", &from);
            assert_true(from < layer && layer - from <= 5);
            near |= layer - from == 1;
            skips += layer - from > 1;
            most = layer - from > most ? layer - from : most;
        }
        assert_true(near);
        assert_true(layer == last_layer || g->out_start[v] != g->out_start[v + 1]);
        assert_true(g->cost[v] <= 99 && g->size[v] >= 1 && g->size[v] <= 8000);
        sizes += g->size[v];
    }
    assert_int_equal(most, 5);
    assert_in_range(g->edge_count, 4 * 5000 * 85 / 100, 4 * 5000);
    assert_in_range(skips, g->edge_count * 15 / 100, g->edge_count * 25 / 100);
    assert_in_range(sizes / 5000, 1800, 2200);
    unmake(&m);
}

static void small_layered_graphs_are_sound(void **state)
{
    (void)state;
    char words[64];
    for (int n = 0; n < 30; n++) {
        made m;
        snprintf(words, sizeof words, "nodes=%d seed=%d reach=2 skip=1", n, n);
        assert_int_equal(make_sound(&m, "layered", words)->node_count, n);
        unmake(&m);
    }
}

static void pipeline_tiles_read_what_their_halo_touches(void **state)
{
    (void)state;
    made m;
    /* Tiles of 4 in 10 x 8 pixels: columns 4, 4, 2 wide, rows 4, 4 high. */
    const pb_graph *g = make_sound(&m, "pipeline", "width=10 height=8 tile=4 halo=2 stages=4 pixel-size=3");
    assert_int_equal(g->node_count, 5 * 6);
    expect_reads(g, "blur1.0_0", "input.0_0 input.0_1 input.1_0 input.1_1");
    expect_reads(g, "blur1.1_1", "input.0_0 input.0_1 input.0_2 input.1_0 input.1_1 input.1_2");
    expect_reads(g, "transform2.1_2", "blur1.1_2");
    expect_reads(g, "edges3.0_2", "transform2.0_1 transform2.0_2 transform2.1_1 transform2.1_2");
    assert_int_equal(size_of(g, "input.0_0"), 4 * 4 * 3);
    assert_int_equal(size_of(g, "detect4.1_2"), 2 * 4 * 3);
    assert_int_equal(cost_of(g, "blur1.0_0"), 16 * 25 * 2);
    assert_int_equal(cost_of(g, "transform2.0_2"), 8 * 15);
    assert_int_equal(cost_of(g, "edges3.0_0"), 16 * 9 * 4);
    assert_int_equal(cost_of(g, "input.0_0"), 48);
    assert_true(may_overwrite(g, "transform2.1_2", "blur1.1_2"));
    assert_false(may_overwrite(g, "edges3.0_0", "transform2.0_0"));
    assert_int_equal(g->target_count, 6);
    assert_int_equal(g->order[6], node_of(g, "blur1.0_0"));
    assert_string_equal(g->group_names[g->group[node_of(g, "edges3.1_1")]], "edges3");
    unmake(&m);
    /* A halo wider than a tile reaches over several. */
    g = make_sound(&m, "pipeline", "width=50 height=1 tile=2 halo=5 stages=1 kind=blur");
    expect_reads(g, "blur1.0_10", "input.0_7 input.0_8 input.0_9 input.0_10 input.0_11 input.0_12 input.0_13");
    unmake(&m);
}

static void fused_pipelines_need_less_memory_as_written(void **state)
{
    (void)state;
    made m;
    uint64_t by_stage, by_tile;
    const pb_graph *g = make_sound(&m, "pipeline", "stages=6 tile=64");
    assert_int_equal(pb_graph_program_peak(&m.ctx, g, &by_stage), PB_OK);
    unmake(&m);
    g = make_sound(&m, "pipeline", "stages=6 tile=64 order=tile");
    assert_int_equal(pb_graph_program_peak(&m.ctx, g, &by_tile), PB_OK);
    unmake(&m);
    assert_true(by_tile * 2 < by_stage);
    g = make_sound(&m, "pipeline", "stages=2 tile=64 order=tile input=slow result=keep");
    assert_true(g->flags[0] & PB_NODE_GIVEN_SLOW);
    assert_true(g->flags[g->node_count - 1] & PB_NODE_KEEP);
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_follow_their_closed_forms),
        cmocka_unit_test(a_chain_reads_the_node_before),
        cmocka_unit_test(profiles_shape_costs_and_sizes),
        cmocka_unit_test(adjoint_gradients_read_both_ends_of_their_step),
        cmocka_unit_test(adjoint_inputs_form_runs_steps_again),
        cmocka_unit_test(adjoint_saved_form_reads_by_products),
        cmocka_unit_test(a_complete_tree_is_written_in_postorder),
        cmocka_unit_test(every_tree_shape_is_an_in_tree),
        cmocka_unit_test(skew_one_is_a_caterpillar),
        cmocka_unit_test(merkle_parents_may_overwrite_children),
        cmocka_unit_test(a_merkle_proof_keeps_the_siblings),
        cmocka_unit_test(lattices_read_their_neighbours),
        cmocka_unit_test(layered_graphs_are_covered_and_as_dense_as_asked),
        cmocka_unit_test(small_layered_graphs_are_sound),
        cmocka_unit_test(pipeline_tiles_read_what_their_halo_touches),
        cmocka_unit_test(fused_pipelines_need_less_memory_as_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
