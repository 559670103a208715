/* Claims about what nodes of training steps state for machines: flop, bytes, operation and type, worked out by hand. */
#include "test_generate.h"

static const char *word_of(const pb_graph *g, uint32_t word) { return word == PB_NO_WORD ? "" : g->words[word]; }

static void expect_work(const pb_graph *g, const char *name, const char *op, uint64_t flops, uint64_t bytes)
{
    const pb_node_work *w = &g->work[node_of(g, name)];
    if (!w->has_flops || !w->has_bytes || w->flops != flops || w->bytes != bytes || strcmp(word_of(g, w->op), op) != 0)
        fail_msg("%s is %s of %llu flop and %llu bytes, not %s of %llu and %llu", name, word_of(g, w->op),
                 (unsigned long long)w->flops, (unsigned long long)w->bytes, op, (unsigned long long)flops,
                 (unsigned long long)bytes);
}

static void expect_type(const pb_graph *g, const char *name, const char *type)
{
    assert_string_equal(word_of(g, g->work[node_of(g, name)].dtype), type);
}

static void products_read_their_parameters(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "mlp", "depth=2 batch=3 inputs=5 width=7 classes=2");
    uint64_t weights = (7 * 7 + 7) * 4, x = 3 * 7 * 4;
    expect_work(g, "layer1.fc", "matmul", 2 * 3 * 7 * 7, x + weights + x);
    expect_work(g, "layer1.fc.dx", "matmul", 2 * 3 * 7 * 7, x + weights + x);
    /* Added to the buffer: it is read and written. */
    expect_work(g, "layer1.fc.dw", "matmul", 2 * 3 * 7 * 7, x + x + 2 * weights);
    expect_work(g, "layer1.relu", "elementwise", 3 * 7, 2 * x);
    expect_work(g, "layer1.relu.dx", "elementwise", 3 * 7, 3 * x);
    expect_work(g, "head.loss", "loss", 5 * 3 * 2, 3 * 2 * 4 + 3 * 4 + 4);
    expect_work(g, "head.loss.dx", "loss.dx", 3 * 3 * 2, 3 * 2 * 4 + 3 * 4 + 3 * 2 * 4);
    expect_type(g, "layer1.fc.dw", "float32");
    unmake(&m);
    g = make_sound(&m, "mlp", "depth=2 batch=3 inputs=5 width=7 classes=2 grads=keep");
    expect_work(g, "layer1.fc.dw", "matmul", 2 * 3 * 7 * 7, x + x + weights);
    unmake(&m);
}

static void convolutions_count_images_weights_and_patches(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "resnet", "depth=18 batch=2 image=64");
    /* 3 x 3 with stride 2, from 64 channels of 16 x 16 to 128 of 8 x 8. */
    uint64_t x = 2 * 64 * 16 * 16 * 4, y = 2 * 128 * 8 * 8 * 4, w = 64 * 128 * 9 * 4;
    uint64_t flops = UINT64_C(2) * 2 * 8 * 8 * 64 * 9 * 128;
    expect_work(g, "stage2.block0.conv1", "conv", flops, x + w + y);
    expect_work(g, "stage2.block0.conv1.dx", "conv.dx", flops, y + w + x);
    expect_work(g, "stage2.block0.conv1.dw", "conv.dw", flops, y + x + 2 * w);
    /* Gain and bias; mean and deviation are saved. */
    uint64_t pair = 2 * 128 * 4;
    expect_work(g, "stage2.block0.norm1", "norm", 7 * (y / 4), y + pair + y + pair);
    expect_work(g, "stage2.block0.norm1.dx", "norm.dx", 10 * (y / 4), y + y + pair + pair + y);
    expect_work(g, "stage2.block0.norm1.dw", "reduce", 4 * (y / 4), y + y + pair + 2 * pair);
    expect_work(g, "stage2.block0.add", "elementwise", y / 4, 3 * y);
    expect_work(g, "stage1.block1.relu.dsum", "elementwise", x / 4, 3 * x);
    /* 3 x 3 max-pool from 32 x 32 to 16 x 16, with a byte for each index. */
    expect_work(g, "stem.pool", "pool", 9 * (x / 4), 4 * x + x + x / 4);
    expect_work(g, "stem.pool.dx", "pool.dx", 4 * (x / 4), x + x / 4 + 4 * x);
    expect_work(g, "head.pool", "pool", 2 * 512 * 2 * 2, 2 * 512 * 4 * 4 + 2 * 512 * 4);
    unmake(&m);
    g = make_sound(&m, "resnet", "depth=18 batch=2 image=64 workspace=im2col");
    uint64_t patches = 2 * (2 * 8 * 8 * 64 * 9 * 4); /* of both images, written and read */
    expect_work(g, "stage2.block0.conv1", "conv", flops, x + w + y + patches);
    expect_work(g, "stage2.block0.conv1.dx", "conv.dx", flops, y + w + x + patches);
    expect_work(g, "stage2.block0.conv1.dw", "conv.dw", flops, y + x + 2 * w + patches);
    unmake(&m);
}

static void a_concatenation_moves_its_inputs_once(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "unet", "depth=1 batch=1 image=8 width=4");
    uint64_t skip = 4 * 64 * 4;
    expect_work(g, "up0.concat", "copy", 0, 4 * skip);
    expect_work(g, "up0.concat.dx0", "copy", 0, 2 * skip);
    /* Transposed, from 8 channels of 4 x 4. */
    expect_work(g, "up0.upconv", "conv", 2 * 16 * 8 * 4 * 4, 8 * 16 * 4 + 8 * 4 * 4 * 4 + skip);
    unmake(&m);
}

static void a_transformer_states_its_kernels(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "transformer", "blocks=1 batch=2 sequence=6 width=8 heads=4 vocabulary=100");
    uint64_t x = 12 * 8 * 4, scores = 2 * 4 * 6 * 6 * 4, saved = 2 * 12 * 4, pair = 2 * 8 * 4, ids = 12 * 4;
    expect_work(g, "block0.norm1", "norm", 7 * 12 * 8, x + pair + x + saved);
    expect_work(g, "block0.norm1.dx", "norm.dx", 10 * 12 * 8, x + x + pair + saved + x);
    expect_work(g, "block0.scores", "matmul", 2 * 2 * 6 * 6 * 8, 2 * x + scores);
    expect_work(g, "block0.scores.dx0", "matmul", 2 * 2 * 6 * 6 * 8, scores + 2 * x);
    expect_work(g, "block0.probs", "softmax", 5 * (scores / 4), 2 * scores);
    expect_work(g, "block0.probs.dx", "softmax.dx", 4 * (scores / 4), 3 * scores);
    expect_work(g, "block0.gelu", "math", 10 * 12 * 32, 8 * x);
    expect_work(g, "block0.gelu.dx", "math", 14 * 12 * 32, 12 * x);
    /* Only the selected rows of the table, and the rows of the positions. */
    uint64_t positions = 6 * 8 * 4;
    expect_work(g, "embedding.embed", "embed", 12 * 8, ids + x + positions + x);
    expect_work(g, "embedding.embed.dw", "embed.dw", 12 * 8, x + ids + positions + 2 * x);
    unmake(&m);
    g = make_sound(&m, "transformer", "blocks=1 batch=2 sequence=6 width=8 heads=4 vocabulary=100 grads=keep");
    expect_work(g, "embedding.embed.dw", "embed.dw", 12 * 8, x + ids + positions + 106 * 8 * 4 + 2 * x);
    unmake(&m);
    g = make_sound(&m, "transformer", "blocks=1 batch=2 sequence=6 width=8 heads=4 vocabulary=100 attention=flash");
    uint64_t sums = 12 * 4 * 4, product = 2 * 12 * 8 * 6, squares = 12 * 4 * 6;
    expect_work(g, "block0.attention", "attention", 2 * product + 5 * squares, 3 * x + x + sums);
    expect_work(g, "block0.attention.dx0", "attention.dx", 5 * product + 9 * squares, x + 4 * x + sums + 3 * x);
    unmake(&m);
}

static void masks_are_drawn_or_seeds_are_read(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "mlp", "depth=1 width=10 batch=6 dropout=0.1");
    expect_work(g, "layer0.drop.mask", "dropout", 8 * 60, 60);
    expect_work(g, "layer0.drop", "elementwise", 60, 240 + 60 + 240);
    expect_work(g, "layer0.drop.dx", "elementwise", 60, 240 + 60 + 240);
    unmake(&m);
    g = make_sound(&m, "mlp", "depth=1 width=10 batch=6 dropout=0.1 dropout-state=seed");
    expect_work(g, "layer0.drop", "dropout", 9 * 60, 240 + 8 + 240);
    unmake(&m);
}

static void updates_read_and_write_their_state(void **state)
{
    (void)state;
    made m;
    uint64_t parameters = 784 * 10 + 10;
    const pb_graph *g = make_sound(&m, "mlp", "depth=1 width=10 grads=update optimizer=adam");
    expect_work(g, "layer0.fc.update", "update", 12 * parameters, parameters * 4 * (1 + 2 + 4));
    unmake(&m);
    g = make_sound(&m, "mlp", "depth=1 width=10 grads=update optimizer=sgd dtype=bf16");
    expect_work(g, "layer0.fc.update", "update", 2 * parameters, parameters * 2 * 3);
    expect_type(g, "layer0.fc.update", "bfloat16");
    unmake(&m);
}

/* 2 bytes for what kernels read; 4 for the optimiser's parameters, gradients, and each number of its state. */
static void mixed_precision_has_two_copies_of_the_parameters(void **state)
{
    (void)state;
    made m;
    uint64_t first = 784 * 10 + 10, parameters = first + 10 * 10 + 10;
    const pb_graph *g = make_sound(&m, "mlp", "depth=1 width=10 batch=3 optimizer=adam dtype=mixed norm=layer");
    assert_int_equal(g->fixed_size, (parameters + 20) * (2 + 4 + 4 + 8));
    assert_int_equal(size_of(g, "layer0.fc"), 3 * 10 * 2);
    assert_int_equal(size_of(g, "layer0.norm.saved"), 2 * 3 * 4);
    expect_work(g, "layer0.fc", "matmul", 2 * 3 * 784 * 10, 3 * 784 * 2 + first * 2 + 3 * 10 * 2);
    expect_work(g, "layer0.fc.dw", "matmul", 2 * 3 * 784 * 10, 3 * 784 * 2 + 3 * 10 * 2 + 2 * first * 4);
    expect_type(g, "layer0.fc", "bfloat16");
    unmake(&m);
    g = make_sound(&m, "mlp", "depth=1 width=10 batch=3 grads=update optimizer=adam dtype=mixed");
    assert_int_equal(g->fixed_size, parameters * (2 + 4 + 8));
    assert_int_equal(size_of(g, "layer0.fc.dw"), first * 4);
    expect_work(g, "layer0.fc.update", "update", 12 * first, first * (4 * (1 + 2 + 4) + 2));
    expect_type(g, "layer0.fc.update", "float32");
    unmake(&m);
}

static void tf32_multiplies_float32(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "resnet", "depth=18 batch=1 image=32 dtype=tf32");
    expect_type(g, "stem.conv", "tf32");
    expect_type(g, "stem.conv.dw", "tf32");
    expect_type(g, "head.fc", "tf32");
    expect_type(g, "stem.norm", "float32");
    expect_type(g, "stem.pool.dsum", "float32");
    assert_int_equal(size_of(g, "stem.conv"), 64 * 16 * 16 * 4);
    unmake(&m);
}

/* ---- over all families ---- */

static bool reads_a_part(const char *op, const char *name)
{
    return strcmp(op, "filter") == 0 || strstr(name, "concat.dx");
}

/* Bytes cover the value and everything that the edges name; flops are the cost, unless data only moves. */
static void expect_sound_work(const pb_graph *g)
{
    assert_non_null(g->work);
    for (pb_node v = 0; v < g->node_count; v++) {
        const pb_node_work *w = &g->work[v];
        const char *name = pb_graph_name(g, v), *op = word_of(g, w->op);
        assert_int_equal(w->has_flops && w->has_bytes && *op, pb_graph_is_computed(g, v));
        if (!pb_graph_is_computed(g, v))
            continue;
        uint64_t least = g->size[v];
        for (uint32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
            least += g->size[g->in[i]];
        for (pb_node part = 0; part < g->node_count; part++)
            if (g->owner && g->owner[part] == v)
                least += g->size[part];
        if (w->bytes < least && !reads_a_part(op, name))
            fail_msg("%s moves %llu bytes, but reads and writes values of %llu", name, (unsigned long long)w->bytes,
                     (unsigned long long)least);
        assert_true(w->bytes >= g->size[v]);
        assert_int_equal(w->flops, strcmp(op, "copy") ? g->cost[v] : 0);
    }
}

static void every_network_states_its_work(void **state)
{
    (void)state;
    static const struct {
        const char *family, *words;
    } networks[] = {
        {"mlp", "depth=3 norm=batch activation=gelu dropout=0.1"},
        {"mlp", "depth=3 norm=layer dropout=0.1 dropout-state=seed grads=update optimizer=adam dtype=mixed"},
        {"resnet", "batch=2 image=64"},
        {"resnet", "depth=18 batch=2 image=64 workspace=im2col grads=keep dtype=f16"},
        {"resnet", "depth=18 batch=2 image=64 dtype=tf32 grads=update optimizer=momentum"},
        {"unet", "batch=2 image=64"},
        {"transformer", "blocks=2 batch=2 sequence=16"},
        {"transformer", "blocks=2 batch=2 sequence=16 attention=flash dropout=0.1 grads=keep dtype=mixed"},
        {"pipeline", "width=300 height=200 tile=64"},
        {"pipeline", "width=300 height=200 tile=64 input=given kind=blur halo=9"},
    };
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        made m;
        expect_sound_work(make_sound(&m, networks[i].family, networks[i].words));
        unmake(&m);
    }
}

static void other_families_state_none(void **state)
{
    (void)state;
    static const char *const families[] = {"chain", "adjoint-chain", "tree",  "merkle",
                                           "grid",  "butterfly",     "adder", "layered"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        made m;
        assert_null(make_sound(&m, families[i], "")->work);
        unmake(&m);
    }
}

static void filters_read_their_halo(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "pipeline", "width=100 height=50 tile=32 stages=2 halo=3");
    expect_work(g, "input.0_0", "copy", 0, 2 * 32 * 32 * 4);
    expect_work(g, "blur1.0_0", "filter", 32 * 32 * 2 * 49, 35 * 35 * 4 + 32 * 32 * 4);
    expect_work(g, "blur1.1_3", "filter", 4 * 18 * 2 * 49, 7 * 21 * 4 + 4 * 18 * 4);
    expect_work(g, "transform2.0_1", "filter", 32 * 32 * 15, 2 * 32 * 32 * 4);
    unmake(&m);
}

/* ---- totals of published networks ---- */

static double total_flops(const pb_graph *g, bool forward)
{
    double sum = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        const char *name = pb_graph_name(g, v);
        bool back = strstr(name, ".dx") || strstr(name, ".dw") || strstr(name, ".dsum");
        if (!forward || !back)
            sum += (double)g->work[v].flops;
    }
    return sum;
}

static void expect_about(double value, double expected, double tolerance)
{
    if (value < expected * (1 - tolerance) || value > expected * (1 + tolerance))
        fail_msg("%g is not within %g %% of %g", value, 100 * tolerance, expected);
}

static void totals_agree_with_published_figures(void **state)
{
    (void)state;
    made m;
    const pb_graph *g = make_sound(&m, "resnet", "depth=50 batch=1");
    double forward = total_flops(g, true);
    expect_about(forward, 8.2e9, 0.05); /* 4.1 G multiply-adds */
    expect_about(total_flops(g, false), 3 * forward, 0.05);
    unmake(&m);
    /* 6 flop per parameter and token, and 12 per layer, channel and pair of tokens for the attention; the separate output
     * layer stands for the embedding table. */
    g = make_sound(&m, "transformer", "sequence=1024 batch=1");
    expect_about(total_flops(g, false), 6.0 * 124439808 * 1024 + 12.0 * 12 * 768 * 1024 * 1024, 0.05);
    unmake(&m);
    g = make_sound(&m, "transformer", "sequence=256 batch=4");
    expect_about(total_flops(g, false), 6.0 * 124439808 * 1024, 0.15);
    unmake(&m);
    /* G multiply-adds: the first level, three and the lowest one down, four up, transposed convolutions, the head. */
    g = make_sound(&m, "unet", "batch=1 image=256 channels=3 classes=2");
    expect_about(total_flops(g, true), 2e9 * (2.529 + 3 * 3.624 + 3.624 + 4 * 7.248 + 4 * 0.537 + 0.008), 0.01);
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_read_their_parameters),
        cmocka_unit_test(convolutions_count_images_weights_and_patches),
        cmocka_unit_test(a_concatenation_moves_its_inputs_once),
        cmocka_unit_test(a_transformer_states_its_kernels),
        cmocka_unit_test(masks_are_drawn_or_seeds_are_read),
        cmocka_unit_test(updates_read_and_write_their_state),
        cmocka_unit_test(mixed_precision_has_two_copies_of_the_parameters),
        cmocka_unit_test(tf32_multiplies_float32),
        cmocka_unit_test(every_network_states_its_work),
        cmocka_unit_test(other_families_state_none),
        cmocka_unit_test(filters_read_their_halo),
        cmocka_unit_test(totals_agree_with_published_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
