/* test_graph_onnx.c -- ONNX models that tests write byte by byte: nodes, sizes, costs, the backward pass, and every error. */
#define READER_FORMAT PB_FORMAT_ONNX
#include "unit/circuit_fixture.h"

#include "pebble/layout.h"
#include "support/onnx_writer.h"

enum { FLOAT = 1, INT64 = 7 };

static onnx_writer w; /* of one test at a time */

static pb_status open_with(desk *d, const pb_read_options *options)
{
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    slow_memory memory = {w.bytes, w.length, 0, 7, SIZE_MAX};
    pb_read_options model = options ? *options : (pb_read_options){.path = NULL};
    model.format = PB_FORMAT_ONNX;
    d->g = NULL;
    return pb_graph_read_with(&d->ctx, slow_source(&memory), &model, &d->arena, &d->g);
}

static void must_open_model(desk *d, const pb_read_options *options)
{
    if (open_with(d, options) != PB_OK)
        fail_msg("%s", d->ctx.error.message);
    const char *fault = graph_round_trips(&d->ctx, d->g);
    if (fault)
        fail_msg("%s", fault);
}

static pb_node node_of(const desk *d, const char *name)
{
    pb_node v = pb_graph_find(d->g, name);
    if (v == PB_NO_NODE)
        fail_msg("there is no node %s", name);
    return v;
}

static uint64_t size_of(const desk *d, const char *name) { return d->g->size[node_of(d, name)]; }
static uint64_t cost_of(const desk *d, const char *name) { return d->g->cost[node_of(d, name)]; }

/* x -> Conv -> Relu -> MaxPool -> Flatten -> Gemm. */
static void write_image_net(void)
{
    onnx_begin_model(&w, 17);
    onnx_input(&w, "x", FLOAT, (int64_t[]){2, 3, 8, 8}, 4);
    onnx_weight(&w, "kernel", FLOAT, (int64_t[]){4, 3, 3, 3}, 4);
    onnx_weight(&w, "bias", FLOAT, (int64_t[]){4}, 1);
    onnx_weight(&w, "matrix", FLOAT, (int64_t[]){64, 5}, 2);
    onnx_node(&w, "Conv", "x kernel bias", "conv", "pads=1,1,1,1");
    onnx_node(&w, "Relu", "conv", "relu", NULL);
    onnx_node(&w, "MaxPool", "relu", "pool", "kernel_shape=2,2 strides=2,2");
    onnx_node(&w, "Flatten", "pool", "flat", NULL);
    onnx_node(&w, "Gemm", "flat matrix", "y", NULL);
    onnx_output(&w, "y");
    onnx_end_model(&w);
}

static void a_forward_graph_has_sizes_costs_and_flags(void **state)
{
    (void)state;
    desk d;
    write_image_net();
    must_open_model(&d, NULL);
    assert_string_equal(all_of(&d), "x conv relu pool y");
    assert_string_equal(inputs_of(&d, "y"), "pool");
    assert_int_equal(size_of(&d, "x"), 2 * 3 * 64 * 4);
    assert_int_equal(size_of(&d, "conv"), 2 * 4 * 64 * 4);
    assert_int_equal(size_of(&d, "pool"), 2 * 4 * 16 * 4);
    assert_int_equal(cost_of(&d, "conv"), 2 * (2 * 4 * 64) * 27);
    assert_int_equal(cost_of(&d, "relu"), 2 * 4 * 64);
    assert_int_equal(cost_of(&d, "pool"), 2 * 4 * 16 * 4);
    assert_int_equal(cost_of(&d, "y"), 2 * 2 * 64 * 5);
    assert_int_equal(d.g->fixed_size, (4 * 27 + 4 + 64 * 5) * 4);
    assert_int_equal(d.g->flags[node_of(&d, "x")] & PB_NODE_GIVEN, PB_NODE_GIVEN);
    assert_int_equal(d.g->flags[node_of(&d, "y")] & PB_NODE_KEEP, PB_NODE_KEEP);
    assert_int_equal(d.g->inplace_start[node_of(&d, "relu") + 1] - d.g->inplace_start[node_of(&d, "relu")], 1);
    assert_string_equal(d.g->cost_unit, "flop");
    assert_string_equal(d.g->size_unit, "byte");
    shut(&d);
}

static void a_training_step_reads_what_its_rules_say(void **state)
{
    (void)state;
    desk d;
    write_image_net();
    must_open_model(&d, &(pb_read_options){.train = true, .optimizer = "adam"});
    assert_string_equal(all_of(&d),
                        "x conv relu pool pool.saved y loss loss.dx y.dx y.dw pool.dx relu.dx conv.dw conv.db");
    assert_string_equal(inputs_of(&d, "y.dx"), "loss.dx");
    assert_string_equal(inputs_of(&d, "y.dw"), "pool loss.dx");
    assert_string_equal(inputs_of(&d, "pool.dx"), "pool.saved y.dx");
    assert_string_equal(inputs_of(&d, "relu.dx"), "relu pool.dx");
    assert_string_equal(inputs_of(&d, "conv.dw"), "x relu.dx");
    assert_string_equal(inputs_of(&d, "conv.db"), "relu.dx");
    assert_int_equal(cost_of(&d, "conv.dw"), cost_of(&d, "conv"));
    assert_int_equal(size_of(&d, "conv.dw"), 0);
    assert_int_equal(d.g->fixed_size, (4 * 27 + 4 + 64 * 5) * 4 * 4); /* values, gradients, two moments */
    assert_string_equal(list_of(&d, d.g->targets, d.g->target_count), "loss y.dw conv.dw conv.db");
    shut(&d);
    must_open_model(&d, &(pb_read_options){.train = true, .grads = "keep"});
    assert_int_equal(size_of(&d, "conv.dw"), 4 * 27 * 4);
    assert_int_equal(d.g->flags[node_of(&d, "conv.db")] & PB_NODE_KEEP, PB_NODE_KEEP);
    assert_int_equal(d.g->fixed_size, (4 * 27 + 4 + 64 * 5) * 4);
    shut(&d);
}

/* Down five steps and up again with a skip at each, as in a U-Net. */
static void write_skips(const char *up)
{
    char last[24] = "x", in[64], out[24];
    onnx_begin_model(&w, 17);
    onnx_input(&w, "x", FLOAT, (int64_t[]){2, 8}, 2);
    onnx_weight(&w, "m", FLOAT, (int64_t[]){8, 8}, 2);
    for (int i = 0; i < 9; i++) {
        snprintf(out, sizeof out, "%s%d", i < 5 ? "down" : up, i < 5 ? i : 8 - i);
        if (i < 5)
            snprintf(in, sizeof in, "%s m", last);
        else
            snprintf(in, sizeof in, "%s down%d", last, 8 - i);
        onnx_node(&w, i < 5 ? "MatMul" : "Add", in, out, NULL);
        snprintf(last, sizeof last, "%s", out);
    }
    onnx_output(&w, last);
    onnx_end_model(&w);
}

static void a_model_without_training_has_no_backward_nodes(void **state)
{
    (void)state;
    static const char *const ups[] = {"up", "backward"};
    for (int form = 0; form < 4; form++) {
        desk d;
        uint8_t lane[64];
        bool train = form >= 2, found = !train;
        write_skips(ups[form & 1]);
        must_open_model(&d, &(pb_read_options){.train = train});
        assert_true(d.g->node_count <= sizeof lane);
        assert_int_equal(pb_layout_backward(&d.ctx, d.g, lane, &found), PB_OK);
        assert_int_equal(found, train);
        shut(&d);
    }
}

static void shape_arithmetic_leaves_no_nodes(void **state)
{
    (void)state;
    desk d;
    onnx_begin_model(&w, 17);
    onnx_input(&w, "x", FLOAT, (int64_t[]){-1, 6, 4}, 3);
    onnx_integers(&w, "zero", (int64_t[]){0}, 1);
    onnx_integers(&w, "rest", (int64_t[]){-1}, 1);
    onnx_integers(&w, "two", (int64_t[]){2}, 1);
    onnx_node(&w, "Relu", "x", "a", NULL);
    onnx_node(&w, "Shape", "a", "shape", NULL);
    onnx_node(&w, "Gather", "shape zero", "batch", "axis=0");
    onnx_node(&w, "Mul", "batch two", "twice", NULL);
    onnx_node(&w, "Concat", "twice rest", "target", "axis=0");
    onnx_node(&w, "Reshape", "a target", "b", NULL);
    onnx_node(&w, "Transpose", "b", "c", NULL);
    onnx_node(&w, "Slice", "c two rest zero", "y", NULL);
    onnx_output(&w, "y");
    onnx_end_model(&w);
    assert_int_equal(open_with(&d, NULL), PB_EGRAPH);
    assert_non_null(strstr(d.ctx.error.message, "give each of them a number: n"));
    shut(&d);
    must_open_model(&d, &(pb_read_options){.dims = &(pb_option){"n", "5"}, .dim_count = 1});
    assert_string_equal(all_of(&d), "x a c y");
    assert_string_equal(inputs_of(&d, "c"), "a");
    assert_int_equal(size_of(&d, "c"), 5 * 24 * 4);
    assert_int_equal(size_of(&d, "y"), (12 - 3) * 10 * 4);
    shut(&d);
    must_open_model(&d, &(pb_read_options){.batch = 5});
    assert_int_equal(size_of(&d, "x"), 5 * 24 * 4);
    shut(&d);
}

static void further_outputs_are_by_products_and_random_numbers_come_once(void **state)
{
    (void)state;
    desk d;
    onnx_begin_model(&w, 18);
    onnx_input(&w, "x", FLOAT, (int64_t[]){6, 4}, 2);
    onnx_weight(&w, "m", FLOAT, (int64_t[]){4, 4}, 2);
    onnx_integers(&w, "parts", (int64_t[]){1, 2, 3}, 3);
    onnx_node(&w, "MatMul", "x m", "a", NULL);
    onnx_node(&w, "Split", "a parts", "p q r", "axis=0");
    onnx_node(&w, "RandomNormalLike", "r", "noise", NULL);
    onnx_node(&w, "Mul", "r noise", "s", NULL);
    onnx_node(&w, "ReduceSum", "s", "t", "keepdims=0");
    onnx_node(&w, "ReduceSum", "q", "u", "keepdims=0");
    onnx_node(&w, "Add", "t u", "y", NULL);
    onnx_output(&w, "y");
    onnx_end_model(&w);
    must_open_model(&d, &(pb_read_options){.train = true});
    assert_int_equal(d.g->owner[node_of(&d, "q")], node_of(&d, "p"));
    assert_int_equal(size_of(&d, "r"), 3 * 4 * 4);
    assert_int_equal(d.g->flags[node_of(&d, "noise")] & PB_NODE_ONCE, PB_NODE_ONCE);
    /* The gradient of what was split gathers those of the parts that were used. */
    assert_string_equal(inputs_of(&d, "p.dx"), "u.dx s.dx0");
    assert_string_equal(inputs_of(&d, "s.dx0"), "noise t.dx");
    shut(&d);
}

static void a_table_used_twice_is_counted_once(void **state)
{
    (void)state;
    desk d;
    onnx_begin_model(&w, 17);
    onnx_input(&w, "ids", INT64, (int64_t[]){3}, 1);
    onnx_weight(&w, "table", FLOAT, (int64_t[]){10, 4}, 2);
    onnx_node(&w, "Gather", "table ids", "e", NULL);
    onnx_node(&w, "Transpose", "table", "turned", NULL);
    onnx_node(&w, "MatMul", "e turned", "y", NULL);
    onnx_output(&w, "y");
    onnx_end_model(&w);
    must_open_model(&d, &(pb_read_options){.train = true, .grads = "update", .optimizer = "sgd"});
    assert_int_equal(d.g->fixed_size, 160);
    assert_string_equal(inputs_of(&d, "table.dsum"), "turned.dw e.dw");
    assert_string_equal(list_of(&d, d.g->targets, d.g->target_count), "loss e.update");
    assert_string_equal(inputs_of(&d, "e.dw"), "ids y.dx0");
    shut(&d);
}

/* A model of one node over x [2,3], y [4,5] and numbers n [2]. */
static void write_one_node(const char *op, const char *in, const char *attributes)
{
    onnx_begin_model(&w, 17);
    onnx_input(&w, "x", FLOAT, (int64_t[]){2, 3}, 2);
    onnx_input(&w, "y", FLOAT, (int64_t[]){4, 5}, 2);
    onnx_input(&w, "n", INT64, (int64_t[]){2}, 1);
    onnx_integers(&w, "c", (int64_t[]){4, -1}, 2);
    onnx_node(&w, op, in, "z", attributes);
    onnx_output(&w, "z");
    onnx_end_model(&w);
}

static void faults_of_nodes_name_them(void **state)
{
    (void)state;
    static const struct {
        const char *op, *in, *attributes, *sentence;
    } faults[] = {
        {"Loop", "x", NULL, "loops are not supported; export the model with the loop unrolled"},
        {"If", "x", NULL, "branches are not supported"},
        {"SequenceAt", "x", NULL, "sequences of tensors are not supported"},
        {"Nonsense", "x", NULL, "rewrite it with those in docs/onnx.md"},
        {"Add", "x", NULL, "input 1 is missing"},
        {"Add", "x -", NULL, "input 1 is missing"},
        {"Add", "x y", NULL, "cannot be broadcast; check the sizes of the inputs, and the model with onnx.checker"},
        {"MatMul", "x y", NULL, "has 3 columns, but the second has 4 rows"},
        {"Gemm", "x y", NULL, "has 3 columns, but the second has 4 rows"},
        {"Reshape", "x c", NULL, "6 elements, which do not fill the new shape"},
        {"Reshape", "x n", NULL, "depends on the numbers in \"n\""},
        {"Relu", "nowhere", NULL, "which no earlier operator produces"},
        {"Relu", "z", NULL, "which no earlier operator produces"},
        {"Softmax", "-", NULL, "input 0 is missing"},
        {"Concat", "x y", "axis=0", "differ outside of axis 0"},
        {"Concat", "x x", "axis=7", "axis 7 does not exist in a tensor of rank 2"},
        {"Conv", "x y", NULL, "must have the rank of its input"},
        {"MaxPool", "x", NULL, "needs a batch"},
        {"Transpose", "x", "perm=1,1", "axis 1 is named twice"},
        {"Einsum", "x y", "equation=ab,bc", "stands for two sizes, 3 and 4"},
        {"Einsum", "x", "equation=a", "fewer letters"},
        {"Split", "x c", "axis=1", "2 sizes for 1 outputs"},
        {"Range", "n n n", NULL, "not known before the model runs"},
        {"Squeeze", "x", "axes=0,1", "its size is 2, not 1"},
    };
    for (size_t i = 0; i < COUNT(faults); i++) {
        desk d;
        write_one_node(faults[i].op, faults[i].in, faults[i].attributes);
        assert_int_equal(open_with(&d, NULL), PB_EGRAPH);
        if (!strstr(d.ctx.error.message, faults[i].sentence) || !strstr(d.ctx.error.message, faults[i].op))
            fail_msg("%s: %s", faults[i].op, d.ctx.error.message);
        shut(&d);
    }
}

static void options_that_do_not_fit_are_told(void **state)
{
    (void)state;
    static const pb_option wrong = {"k", "3"}, zero = {"n", "0"};
    static const pb_dim_words words = {"dims={", "\"", "\": 1", ", ", "}"};
    static const struct {
        pb_read_options options;
        const char *sentence;
    } cases[] = {
        {{.dims = &wrong, .dim_count = 1}, "no open dimension \"k\"; choose from: n"},
        {{.dims = &zero, .dim_count = 1}, "expected a whole number of at least 1"},
        {{.batch = 0}, "inputs open; give each of them a number: n"}, /* of no front end */
        {{.dim_words = &words}, "give each of them a number, as in dims={\"n\": 1}"},
        {{.batch = 1, .train = true}, "nothing to train"},
        {{.batch = 1, .optimizer = "magic"}, "there is no optimizer"},
        {{.batch = 1, .grads = "lose"}, "accumulate, keep or update"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        desk d;
        onnx_begin_model(&w, 17);
        onnx_input(&w, "x", FLOAT, (int64_t[]){-1}, 1);
        onnx_node(&w, "Relu", "x", "y", NULL);
        onnx_output(&w, "y");
        onnx_end_model(&w);
        assert_int_not_equal(open_with(&d, &cases[i].options), PB_OK);
        if (!strstr(d.ctx.error.message, cases[i].sentence))
            fail_msg("%s", d.ctx.error.message);
        shut(&d);
    }
}

/* Whatever is cut off or turned over, there is a sentence, and no more memory than there are bytes to justify it. */
static void damaged_files_are_refused_or_read_cleanly(void **state)
{
    (void)state;
    write_image_net();
    onnx_writer whole = w;
    for (size_t cut = 0; cut < whole.length; cut++) {
        desk d;
        w.length = cut;
        assert_int_not_equal(open_with(&d, NULL), PB_OK);
        assert_int_not_equal(d.ctx.error.message[0], 0);
        shut(&d);
    }
    for (size_t i = 0; i < whole.length; i++)
        for (int bit = 0; bit < 8; bit++) {
            desk d;
            w = whole;
            w.bytes[i] = (char)(w.bytes[i] ^ 1 << bit);
            pb_status status = open_with(&d, &(pb_read_options){.train = true});
            if (status != PB_OK)
                assert_int_not_equal(d.ctx.error.message[0], 0);
            assert_true(d.ctx.memory_peak < 4 << 20);
            shut(&d);
        }
}

static void places_are_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        uint64_t column;
        const char *sentence;
    } cases[] = {
        {"\x08\x08", 2, 3, "byte 2: the file has no graph"},
        {"\x08\x08\x3a\x05\x0a", 5, 6, "byte 5: the file ends inside"},
        {"\x08\x08\x3a\x02\x0a\x7f", 6, 5,
         "byte 4: field 1 has a length of 127 bytes, but its message has only 0 left"},
        {"\x08\x08\x3a\x01\x0b", 5, 5, "byte 4: a field has wire type 3"},
        {"\x08\x08\x02", 3, 3, "byte 2: there is no field 0"},
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11, 2, "more than 64 bits"},
        {"\x08\x08\x3d\x01\x01\x01\x01", 7, 3,
         "field 7 has wire type 5 instead of 2; this is not an ONNX model, or it is damaged"},
        {"\x08\x08\x3a\x03\x12\x01\xff", 7, 7, "not UTF-8"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        desk d;
        memcpy(w.bytes, cases[i].bytes, cases[i].length);
        w.length = cases[i].length;
        assert_int_equal(open_with(&d, NULL), PB_EFORMAT);
        if (!strstr(d.ctx.error.message, cases[i].sentence) || d.ctx.error.column != cases[i].column)
            fail_msg("column %llu: %s", (unsigned long long)d.ctx.error.column, d.ctx.error.message);
        shut(&d);
    }
}

static void models_are_told_by_their_content(void **state)
{
    (void)state;
    write_image_net();
    desk d;
    pb_context_init(&d.ctx);
    pb_arena_init(&d.arena, &d.ctx);
    assert_int_equal(graph_from(&d.ctx, w.bytes, w.length, SIZE_MAX, PB_FORMAT_AUTO, &d.arena, &d.g), PB_OK);
    assert_int_equal(d.g->node_count, 5);
    shut(&d);
}

static void a_refused_allocation_is_clean_wherever_it_comes(void **state)
{
    (void)state;
    enum { NODES = 1500 };
    onnx_begin_model(&w, 17);
    onnx_input(&w, "v0", FLOAT, (int64_t[]){2, 3}, 2);
    for (int i = 0; i < NODES; i++) {
        char in[16], out[16];
        snprintf(in, sizeof in, "v%d", i);
        snprintf(out, sizeof out, "v%d", i + 1);
        onnx_node(&w, "Relu", in, out, NULL);
    }
    onnx_output(&w, "v1500");
    onnx_end_model(&w);
    const char *wrong = graph_refusals_are_clean(w.bytes, w.length, PB_FORMAT_ONNX);
    if (wrong)
        fail_msg("%s", wrong);
}

static void names_of_the_way_back_are_all_different(void **state)
{
    (void)state;
    static const char *const ways[] = {"accumulate", "keep", "update"};
    for (size_t i = 0; i < COUNT(ways); i++) {
        desk d;
        onnx_begin_model(&w, 17);
        onnx_input(&w, "x", FLOAT, (int64_t[]){4, 10}, 2);
        for (int k = 0; k < 5; k++)
            onnx_weight(&w, (char[]){(char)('a' + k), 0}, FLOAT, (int64_t[]){2, 3}, 2);
        onnx_node(&w, "Concat", "a b c d e", "w", "axis=0");
        onnx_node(&w, "MatMul", "x w", "y", NULL);
        onnx_node(&w, "ReduceMean", "y", "loss", "keepdims=0"); /* the model's own */
        onnx_output(&w, "loss");
        onnx_end_model(&w);
        must_open_model(&d, &(pb_read_options){.train = true, .grads = ways[i], .optimizer = "sgd"});
        assert_string_equal(inputs_of(&d, "loss2"), "loss");
        assert_string_equal(inputs_of(&d, "loss.dx"), "loss2.dx");
        assert_string_equal(inputs_of(&d, "w.dw"), "y.dx1");
        assert_string_equal(inputs_of(&d, "w.db4"), "y.dx1");
        shut(&d);
    }
}

static void one_kernel_reads_the_same_whatever_is_asked_of_it(void **state)
{
    (void)state;
    desk d;
    onnx_begin_model(&w, 23);
    onnx_input(&w, "q", FLOAT, (int64_t[]){1, 2, 3, 4}, 4);
    onnx_input(&w, "v", FLOAT, (int64_t[]){1, 2, 3, 4}, 4);
    onnx_weight(&w, "m", FLOAT, (int64_t[]){4, 4}, 2);
    onnx_node(&w, "MatMul", "q m", "k", NULL);
    onnx_node(&w, "Attention", "q k v", "y", NULL);
    onnx_output(&w, "y");
    onnx_end_model(&w);
    must_open_model(&d, &(pb_read_options){.train = true});
    assert_string_equal(inputs_of(&d, "y.dx1"), "q v k y y.saved loss.dx"); /* of the keys alone */
    shut(&d);
}

static void bounds_that_are_computed_are_read(void **state)
{
    (void)state;
    desk d;
    onnx_begin_model(&w, 17);
    onnx_input(&w, "x", FLOAT, (int64_t[]){4, 4}, 2);
    onnx_weight(&w, "m", FLOAT, (int64_t[]){4, 4}, 2);
    onnx_node(&w, "MatMul", "x m", "p", NULL);
    onnx_node(&w, "ReduceMin", "x", "low", "keepdims=0");
    onnx_node(&w, "Clip", "p low", "y", NULL);
    onnx_output(&w, "y");
    onnx_end_model(&w);
    must_open_model(&d, &(pb_read_options){.train = true});
    assert_string_equal(inputs_of(&d, "y"), "p low");
    assert_string_equal(inputs_of(&d, "y.dx0"), "p low loss.dx");
    shut(&d);
}

static void a_first_output_may_be_left_out(void **state)
{
    (void)state;
    desk d;
    onnx_begin_model(&w, 17);
    onnx_input(&w, "x", FLOAT, (int64_t[]){5, 2, 3}, 3);
    onnx_weight(&w, "gates", FLOAT, (int64_t[]){1, 28, 3}, 3);
    onnx_weight(&w, "again", FLOAT, (int64_t[]){1, 28, 7}, 3);
    onnx_node(&w, "LSTM", "x gates again", "- last", "hidden_size=7");
    onnx_output(&w, "last");
    onnx_end_model(&w);
    must_open_model(&d, NULL);
    assert_string_equal(all_of(&d), "x last");
    assert_int_equal(size_of(&d, "last"), 2 * 7 * 4);
    assert_int_equal(cost_of(&d, "last"), 2 * 28 * (3 + 7) * 5 * 2);
    shut(&d);
    onnx_begin_model(&w, 17);
    onnx_input(&w, "x", FLOAT, (int64_t[]){2, 6}, 2);
    onnx_weight(&w, "m", FLOAT, (int64_t[]){6, 6}, 2);
    onnx_node(&w, "MatMul", "x m", "p", NULL);
    onnx_node(&w, "Split", "p", "- b c", "axis=1");
    onnx_node(&w, "Sum", "b c b", "y", NULL);
    onnx_output(&w, "y");
    onnx_end_model(&w);
    must_open_model(&d, &(pb_read_options){.train = true});
    assert_int_equal(d.g->owner[node_of(&d, "c")], node_of(&d, "b"));
    assert_int_equal(cost_of(&d, "y"), 2 * 2 * 2); /* two sums */
    assert_string_equal(inputs_of(&d, "b.dx"), "loss.dx b.dsum");
    shut(&d);
}

static void a_dimension_has_one_size(void **state)
{
    (void)state;
    static const pb_option twice[] = {{"n", "3"}, {"n", "4"}};
    const pb_read_options cases[] = {{.dims = twice, .dim_count = 2}, {.dims = twice, .dim_count = 1, .batch = 4}};
    desk d;
    onnx_begin_model(&w, 17);
    onnx_input(&w, "x", FLOAT, (int64_t[]){-1, 3}, 2);
    onnx_node(&w, "Relu", "x", "y", NULL);
    onnx_output(&w, "y");
    onnx_end_model(&w);
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(open_with(&d, &cases[i]), PB_EINVAL);
        assert_non_null(strstr(d.ctx.error.message, "two sizes, 3 and 4"));
        shut(&d);
    }
    must_open_model(&d, &(pb_read_options){.dims = twice, .dim_count = 1, .batch = 3});
    assert_int_equal(size_of(&d, "y"), 3 * 3 * 4);
    shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_forward_graph_has_sizes_costs_and_flags),
        cmocka_unit_test(a_training_step_reads_what_its_rules_say),
        cmocka_unit_test(a_model_without_training_has_no_backward_nodes),
        cmocka_unit_test(shape_arithmetic_leaves_no_nodes),
        cmocka_unit_test(further_outputs_are_by_products_and_random_numbers_come_once),
        cmocka_unit_test(a_table_used_twice_is_counted_once),
        cmocka_unit_test(names_of_the_way_back_are_all_different),
        cmocka_unit_test(one_kernel_reads_the_same_whatever_is_asked_of_it),
        cmocka_unit_test(bounds_that_are_computed_are_read),
        cmocka_unit_test(a_first_output_may_be_left_out),
        cmocka_unit_test(a_dimension_has_one_size),
        cmocka_unit_test(faults_of_nodes_name_them),
        cmocka_unit_test(options_that_do_not_fit_are_told),
        cmocka_unit_test(damaged_files_are_refused_or_read_cleanly),
        cmocka_unit_test(places_are_bytes),
        cmocka_unit_test(models_are_told_by_their_content),
        cmocka_unit_test(a_refused_allocation_is_clean_wherever_it_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
