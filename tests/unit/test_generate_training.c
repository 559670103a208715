/* Claims about training steps: shapes and flops worked out by hand, what the backward pass reads, what is counted where. */
#include "test_generate.h"

static bool has_flag(const pb_graph *g, const char *name, unsigned flag) { return g->flags[node_of(g, name)] & flag; }

static void expect_part(const pb_graph *g, const char *part, const char *owner)
{
    assert_true(has_flag(g, part, PB_NODE_BYPRODUCT));
    assert_int_equal(g->owner[node_of(g, part)], node_of(g, owner));
}

static void mlp_costs_and_sizes_follow_from_its_shapes(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "mlp", "depth=2 batch=3 inputs=5 width=7 classes=2");
    assert_string_equal(g->cost_unit, "flop");
    assert_string_equal(g->size_unit, "byte");
    assert_int_equal(cost_of(g, "layer0.fc"), 2 * 3 * 5 * 7);
    assert_int_equal(cost_of(g, "layer0.fc.dw"), 2 * 3 * 5 * 7);
    assert_int_equal(cost_of(g, "layer1.fc"), 2 * 3 * 7 * 7);
    assert_int_equal(cost_of(g, "layer1.fc.dx"), 2 * 3 * 7 * 7);
    assert_int_equal(cost_of(g, "head.fc"), 2 * 3 * 7 * 2);
    assert_int_equal(cost_of(g, "layer0.relu"), 3 * 7);
    assert_int_equal(cost_of(g, "head.loss"), 5 * 3 * 2);
    assert_int_equal(size_of(g, "batch"), 3 * 5 * 4);
    assert_int_equal(size_of(g, "labels"), 3 * 4);
    assert_int_equal(size_of(g, "layer1.relu"), 3 * 7 * 4);
    assert_int_equal(size_of(g, "layer1.fc.dx"), 3 * 7 * 4);
    assert_int_equal(size_of(g, "head.fc"), 3 * 2 * 4);
    assert_int_equal(size_of(g, "layer1.fc.dw"), 0);
    uint64_t parameters = (5 * 7 + 7) + (7 * 7 + 7) + (7 * 2 + 2);
    assert_int_equal(g->fixed_size, 2 * 4 * parameters); /* weights, and the buffer of their gradients */
    /* fc, relu and two or three gradients a layer; the first needs no gradient of the batch. */
    assert_int_equal(g->node_count, 2 + 2 * 2 + 2 + 3 + 2 + 3);
    unmake(&m);
}

static void mlp_gradients_read_what_was_saved(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "mlp", "depth=2");
    expect_reads(g, "layer0.fc", "batch");
    expect_reads(g, "head.loss", "head.fc labels");
    expect_reads(g, "head.loss.dx", "head.fc labels");
    expect_reads(g, "head.fc.dx", "head.loss.dx");
    expect_reads(g, "head.fc.dw", "head.loss.dx layer1.relu");
    expect_reads(g, "layer1.relu.dx", "head.fc.dx layer1.relu");
    expect_reads(g, "layer1.fc.dw", "layer1.relu.dx layer0.relu");
    expect_reads(g, "layer0.fc.dw", "layer0.relu.dx batch");
    assert_int_equal(pb_graph_find(g, "layer0.fc.dx"), PB_NO_NODE);
    assert_true(has_flag(g, "batch", PB_NODE_GIVEN) && has_flag(g, "labels", PB_NODE_GIVEN));
    assert_true(has_flag(g, "head.loss", PB_NODE_TARGET) && has_flag(g, "layer0.fc.dw", PB_NODE_TARGET));
    assert_int_equal(g->target_count, 4);
    assert_true(may_overwrite(g, "layer1.relu", "layer1.fc"));
    assert_true(may_overwrite(g, "layer1.relu.dx", "head.fc.dx"));
    assert_false(may_overwrite(g, "layer1.relu.dx", "layer1.relu"));
    assert_string_equal(g->group_names[g->group[node_of(g, "layer1.fc.dw")]], "layer1");
    unmake(&m);
}

static void gelu_and_norms_save_their_inputs(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "mlp", "depth=1 activation=gelu norm=batch width=7 batch=3");
    expect_reads(g, "layer0.gelu.dx", "head.fc.dx layer0.norm");
    expect_reads(g, "layer0.norm.dx", "layer0.gelu.dx layer0.fc layer0.norm.saved");
    expect_reads(g, "layer0.norm.dw", "layer0.gelu.dx layer0.fc layer0.norm.saved");
    expect_part(g, "layer0.norm.saved", "layer0.norm");
    assert_int_equal(size_of(g, "layer0.norm.saved"), 2 * 7 * 4);
    unmake(&m);
    g = make_sound(&m, "mlp", "depth=1 norm=layer width=7 batch=3");
    assert_int_equal(size_of(g, "layer0.norm.saved"), 2 * 3 * 4);
    unmake(&m);
}

static void weight_gradients_are_accumulated_kept_or_consumed(void **state)
{
    (void)state;
    made m;
    uint64_t parameters = (784 * 10 + 10) + (10 * 10 + 10);
    const pb_graph *g = make_sound(&m, "mlp", "depth=1 width=10 optimizer=adam");
    assert_int_equal(g->fixed_size, parameters * 4 * (1 + 1 + 2));
    unmake(&m);
    g = make_sound(&m, "mlp", "depth=1 width=10 grads=keep dtype=f16 optimizer=momentum");
    assert_int_equal(g->fixed_size, parameters * (2 + 4));
    assert_int_equal(size_of(g, "layer0.fc.dw"), (784 * 10 + 10) * 2);
    assert_true(has_flag(g, "layer0.fc.dw", PB_NODE_KEEP));
    unmake(&m);
    g = make_sound(&m, "mlp", "depth=1 width=10 grads=update optimizer=adam");
    assert_int_equal(g->fixed_size, parameters * 4 * 3);
    expect_reads(g, "layer0.fc.update", "layer0.fc.dw");
    assert_int_equal(cost_of(g, "layer0.fc.update"), 12 * (784 * 10 + 10));
    assert_int_equal(size_of(g, "layer0.fc.update"), 0);
    assert_true(has_flag(g, "layer0.fc.update", PB_NODE_TARGET));
    assert_false(has_flag(g, "layer0.fc.dw", PB_NODE_TARGET));
    unmake(&m);
    g = make_sound(&m, "mlp", "depth=1 width=10 grads=update");
    assert_true(has_flag(g, "layer0.fc.dw", PB_NODE_TARGET));
    assert_int_equal(g->fixed_size, parameters * 4);
    unmake(&m);
}

static void random_draws_happen_once(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "mlp", "depth=1 width=10 batch=6 dropout=0.1");
    expect_reads(g, "layer0.drop.mask", "");
    expect_reads(g, "layer0.drop", "layer0.relu layer0.drop.mask");
    expect_reads(g, "layer0.drop.dx", "head.fc.dx layer0.drop.mask");
    assert_true(has_flag(g, "layer0.drop.mask", PB_NODE_ONCE));
    assert_false(has_flag(g, "layer0.drop", PB_NODE_ONCE));
    assert_int_equal(size_of(g, "layer0.drop.mask"), 60);
    unmake(&m);
    g = make_sound(&m, "mlp", "depth=1 width=10 batch=6 dropout=0.1 dropout-state=seed");
    expect_reads(g, "layer0.drop.dx", "head.fc.dx layer0.drop.seed");
    assert_true(has_flag(g, "layer0.drop.seed", PB_NODE_ONCE));
    assert_int_equal(size_of(g, "layer0.drop.seed"), 8);
    unmake(&m);
}

/* Parameter counts of the published networks. */
static void resnets_have_the_published_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *depth;
        uint64_t parameters;
    } known[] = {{"depth=18", 11689512},
                 {"depth=34", 21797672},
                 {"depth=50", 25557032},
                 {"depth=101", 44549160},
                 {"depth=152", 60192808}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        made m;
        const pb_graph *g = make_sound(&m, "resnet", known[i].depth);
        assert_int_equal(g->fixed_size, known[i].parameters * 8);
        unmake(&m);
    }
}

static void resnet_costs_and_reads_follow_its_shapes(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "resnet", "batch=2");
    uint64_t forward = 0;
    for (pb_node v = 0; v < g->node_count; v++)
        if (strstr(pb_graph_name(g, v), "conv") && !strstr(pb_graph_name(g, v), ".d"))
            forward += g->cost[v];
    forward += cost_of(g, "head.fc");
    forward += cost_of(g, "stage1.block0.short") + cost_of(g, "stage2.block0.short") +
               cost_of(g, "stage3.block0.short") + cost_of(g, "stage4.block0.short");
    assert_int_equal(forward, UINT64_C(2) * 2 * 4089184256); /* 4.089 G multiply-adds an image */
    assert_int_equal(cost_of(g, "stem.conv"), UINT64_C(2) * 2 * 112 * 112 * 64 * 3 * 7 * 7);
    assert_int_equal(size_of(g, "stem.conv"), 2 * 112 * 112 * 64 * 4);
    assert_int_equal(size_of(g, "stem.pool"), 2 * 56 * 56 * 64 * 4);
    assert_int_equal(size_of(g, "stem.pool.saved"), 2 * 56 * 56 * 64);
    assert_int_equal(size_of(g, "stage4.block2.relu"), 2 * 7 * 7 * 2048 * 4);
    expect_reads(g, "stem.pool.dx", "stem.pool.saved stem.pool.dsum");
    expect_reads(g, "stage2.block0.add", "stage2.block0.norm3 stage2.block0.short_norm");
    expect_reads(g, "stage2.block1.add", "stage2.block1.norm3 stage2.block0.relu");
    expect_reads(g, "stage2.block1.relu.dx", "stage2.block1.relu stage2.block1.relu.dsum");
    /* The residual's gradient reaches both ways without a copy. */
    expect_reads(g, "stage2.block1.norm3.dx", "stage2.block1.relu.dx stage2.block1.conv3 stage2.block1.norm3.saved");
    expect_reads(g, "stage2.block0.relu.dsum", "stage2.block1.relu.dx stage2.block1.conv1.dx");
    expect_reads(g, "stage2.block1.conv2.dw", "stage2.block1.norm2.dx stage2.block1.relu1");
    unmake(&m);
}

static void convolutions_may_ask_for_workspace(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "resnet", "depth=18 batch=2 workspace=im2col");
    uint64_t patches = UINT64_C(56) * 56 * 64 * 9 * 4; /* one image's, whatever the batch */
    assert_int_equal(g->workspace[node_of(g, "stage1.block0.conv1")], patches);
    assert_int_equal(g->workspace[node_of(g, "stage1.block0.conv1.dx")], patches);
    assert_int_equal(g->workspace[node_of(g, "stage1.block0.conv1.dw")], patches);
    assert_int_equal(g->workspace[node_of(g, "stage1.block0.relu1")], 0);
    unmake(&m);
}

static void unet_skips_reach_across(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "unet", "depth=2 batch=1 image=17 width=8");
    expect_reads(g, "up0.concat", "down0.relu2 up0.upconv");
    expect_reads(g, "up1.concat", "down1.relu2 up1.upconv");
    expect_reads(g, "down0.pool", "down0.relu2");
    expect_reads(g, "up0.concat.dx0", "up0.conv1.dx");
    expect_reads(g, "down0.relu2.dsum", "up0.concat.dx0 down0.pool.dx");
    assert_int_equal(size_of(g, "down1.relu1"), 9 * 9 * 16 * 4);
    assert_int_equal(size_of(g, "bottom.conv1"), 5 * 5 * 32 * 4);
    assert_int_equal(size_of(g, "up0.upconv"), 17 * 17 * 8 * 4);
    assert_int_equal(size_of(g, "up0.concat"), 17 * 17 * 16 * 4);
    assert_int_equal(size_of(g, "up0.concat.dx1"), 17 * 17 * 8 * 4);
    assert_int_equal(cost_of(g, "up0.upconv"), 2 * 9 * 9 * 16 * 8 * 4);
    assert_int_equal(size_of(g, "head.conv"), 17 * 17 * 2 * 4);
    unmake(&m);
    g = make_sound(&m, "unet", "depth=0 convs=1 image=4 batch=1");
    expect_reads(g, "bottom.conv1", "images");
    unmake(&m);
}

static void a_transformer_has_the_published_parameters(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "transformer", "sequence=1024 grads=keep");
    uint64_t gpt2 = 124439808, own_head = UINT64_C(50257) * 768 + 50257;
    assert_int_equal(g->fixed_size, (gpt2 + own_head) * 4);
    unmake(&m);
}

static void transformer_costs_follow_from_its_shapes(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "transformer", "blocks=1 batch=2 sequence=6 width=8 heads=4 vocabulary=11");
    assert_int_equal(cost_of(g, "block0.q"), 2 * 12 * 8 * 8);
    assert_int_equal(cost_of(g, "block0.scores"), 2 * 2 * 6 * 6 * 8);
    assert_int_equal(cost_of(g, "block0.context"), 2 * 2 * 6 * 6 * 8);
    assert_int_equal(cost_of(g, "block0.fc1"), 2 * 12 * 8 * 32);
    assert_int_equal(size_of(g, "block0.scores"), 2 * 4 * 6 * 6 * 4);
    assert_int_equal(size_of(g, "block0.context"), 12 * 8 * 4);
    assert_int_equal(size_of(g, "block0.gelu"), 12 * 32 * 4);
    assert_int_equal(size_of(g, "head.fc"), 12 * 11 * 4);
    assert_int_equal(size_of(g, "tokens"), 12 * 4);
    assert_int_equal(size_of(g, "block0.norm1.saved"), 2 * 12 * 4);
    unmake(&m);
}

static void attention_gradients_read_what_was_saved(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "transformer", "blocks=2");
    expect_reads(g, "block1.add1", "block0.add2 block1.proj");
    expect_reads(g, "block1.context", "block1.probs block1.v");
    expect_reads(g, "block1.context.dx0", "block1.proj.dx block1.v");
    expect_reads(g, "block1.context.dx1", "block1.proj.dx block1.probs");
    expect_reads(g, "block1.probs.dx", "block1.context.dx0 block1.probs");
    expect_reads(g, "block1.scores.dx0", "block1.probs.dx block1.k");
    expect_reads(g, "block1.scores.dx1", "block1.probs.dx block1.q");
    expect_reads(g, "block1.q.dw", "block1.scores.dx0 block1.norm1");
    /* norm1 feeds q, k and v: two additions. */
    expect_reads(g, "block1.norm1.dsum", "block1.v.dx block1.k.dx");
    expect_reads(g, "block1.norm1.dsum2", "block1.norm1.dsum block1.q.dx");
    expect_reads(g, "block1.norm1.dx", "block1.norm1.dsum2 block0.add2 block1.norm1.saved");
    /* The residual stream: past the MLP, then past the attention. */
    expect_reads(g, "block1.add1.dsum", "head.norm.dx block1.norm2.dx");
    expect_reads(g, "block1.proj.dx", "block1.add1.dsum");
    expect_reads(g, "block0.add2.dsum", "block1.add1.dsum block1.norm1.dx");
    expect_reads(g, "embedding.embed.dw", "embedding.embed.dsum tokens");
    assert_true(may_overwrite(g, "block0.add2.dsum", "block1.norm1.dx"));
    unmake(&m);
}

static void flash_attention_saves_row_sums_only(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "transformer", "blocks=1 batch=2 sequence=6 width=8 heads=4 attention=flash");
    assert_int_equal(pb_graph_find(g, "block0.scores"), PB_NO_NODE);
    expect_reads(g, "block0.attention", "block0.q block0.k block0.v");
    expect_reads(g, "block0.attention.dx0",
                 "block0.proj.dx block0.q block0.k block0.v block0.attention block0.attention.saved");
    expect_part(g, "block0.attention.dx1", "block0.attention.dx0");
    expect_part(g, "block0.attention.dx2", "block0.attention.dx0");
    expect_reads(g, "block0.k.dx", "block0.attention.dx1");
    assert_int_equal(size_of(g, "block0.attention.saved"), 2 * 6 * 4 * 4);
    assert_int_equal(size_of(g, "block0.attention.dx2"), 12 * 8 * 4);
    unmake(&m);
    make_sound(&m, "transformer", "blocks=2 attention=flash dropout=0.1 dropout-state=seed");
    unmake(&m);
}

static void a_block_has_the_same_nodes_whatever_the_depth(void **state)
{
    (void)state;
    uint32_t nodes[3], edges[3];
    for (int i = 0; i < 3; i++) {
        char words[32];
        snprintf(words, sizeof words, "blocks=%d", i + 1);
        made m;
        const pb_graph *g = make_sound(&m, "transformer", words);
        nodes[i] = g->node_count;
        edges[i] = g->edge_count;
        unmake(&m);
    }
    assert_int_equal(nodes[2] - nodes[1], nodes[1] - nodes[0]);
    assert_int_equal(edges[2] - edges[1], edges[1] - edges[0]);
    assert_int_equal(nodes[1] - nodes[0], 16 + 26); /* forward with two saved statistics, backward */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mlp_costs_and_sizes_follow_from_its_shapes),
        cmocka_unit_test(mlp_gradients_read_what_was_saved),
        cmocka_unit_test(gelu_and_norms_save_their_inputs),
        cmocka_unit_test(weight_gradients_are_accumulated_kept_or_consumed),
        cmocka_unit_test(random_draws_happen_once),
        cmocka_unit_test(resnets_have_the_published_parameters),
        cmocka_unit_test(resnet_costs_and_reads_follow_its_shapes),
        cmocka_unit_test(convolutions_may_ask_for_workspace),
        cmocka_unit_test(unet_skips_reach_across),
        cmocka_unit_test(a_transformer_has_the_published_parameters),
        cmocka_unit_test(transformer_costs_follow_from_its_shapes),
        cmocka_unit_test(attention_gradients_read_what_was_saved),
        cmocka_unit_test(flash_attention_saves_row_sums_only),
        cmocka_unit_test(a_block_has_the_same_nodes_whatever_the_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
