/* test_graph_onnx_work.c -- what nodes of ONNX models state for machines: flop, bytes, operation and type. */
#define READER_FORMAT PB_FORMAT_ONNX
#include "unit/circuit_fixture.h"

#include "pebble/generate.h"
#include "support/onnx_writer.h"

enum { FLOAT = 1, INT64 = 7, FLOAT16 = 10 };

static onnx_writer w; /* of one test at a time */

static void open_model(desk *d, bool train)
{
    pb_read_options options = {.format = PB_FORMAT_ONNX, .train = train};
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    slow_memory memory = {w.bytes, w.length, 0, 7, SIZE_MAX};
    if (pb_graph_read_with(&d->ctx, slow_source(&memory), &options, &d->arena, &d->g) != PB_OK)
        fail_msg("%s", d->ctx.error.message);
}

static const char *word_of(const pb_graph *g, uint32_t word) { return word == PB_NO_WORD ? "" : g->words[word]; }

static void expect_work(const desk *d, const char *name, const char *op, uint64_t flops, uint64_t bytes)
{
    pb_node v = pb_graph_find(d->g, name);
    if (v == PB_NO_NODE)
        fail_msg("there is no node '%s'", name);
    const pb_node_work *work = &d->g->work[v];
    if (work->flops != flops || work->bytes != bytes || strcmp(word_of(d->g, work->op), op) != 0)
        fail_msg("%s is %s of %llu flop and %llu bytes, not %s of %llu and %llu", name, word_of(d->g, work->op),
                 (unsigned long long)work->flops, (unsigned long long)work->bytes, op, (unsigned long long)flops,
                 (unsigned long long)bytes);
}

static void expect_type(const desk *d, const char *name, const char *type)
{
    assert_string_equal(word_of(d->g, d->g->work[pb_graph_find(d->g, name)].dtype), type);
}

static void groups_divide_the_flops_of_a_convolution(void **state)
{
    (void)state;
    desk d;
    onnx_begin_model(&w, 17);
    onnx_input(&w, "x", FLOAT, (int64_t[]){2, 8, 10, 10}, 4);
    onnx_weight(&w, "first", FLOAT, (int64_t[]){8, 8, 1, 1}, 4);
    onnx_weight(&w, "grouped", FLOAT, (int64_t[]){16, 2, 3, 3}, 4);
    onnx_weight(&w, "deep", FLOAT, (int64_t[]){16, 1, 3, 3}, 4);
    onnx_weight(&w, "bias", FLOAT, (int64_t[]){16}, 1);
    onnx_node(&w, "Conv", "x first", "a", NULL);
    onnx_node(&w, "Conv", "a grouped", "b", "group=4 strides=2,2 pads=1,1,1,1");
    onnx_node(&w, "Conv", "b deep bias", "c", "group=16 pads=1,1,1,1");
    onnx_output(&w, "c");
    onnx_end_model(&w);
    open_model(&d, true);
    uint64_t a = 2 * 8 * 100 * 4, b = 2 * 16 * 25 * 4, grouped = 16 * 2 * 9, deep = 16 * 9;
    uint64_t flops = 2 * (b / 4) * 2 * 9; /* two input channels for each output */
    expect_work(&d, "b", "conv", flops, a + grouped * 4 + b);
    expect_work(&d, "b.dx", "conv.dx", flops, b + grouped * 4 + a);
    expect_work(&d, "b.dw", "conv.dw", flops, b + a + 2 * grouped * 4);
    flops = 2 * (b / 4) * 9;
    expect_work(&d, "c", "depthwise", flops, b + deep * 4 + 16 * 4 + b);
    expect_work(&d, "c.dx", "depthwise.dx", flops, b + deep * 4 + b);
    expect_work(&d, "c.dw", "depthwise.dw", flops, b + b + 2 * deep * 4);
    expect_work(&d, "c.db", "reduce", b / 4, b + 2 * 16 * 4);
    shut(&d);
}

static void moves_count_what_they_move(void **state)
{
    (void)state;
    desk d;
    onnx_begin_model(&w, 17);
    onnx_input(&w, "ids", INT64, (int64_t[]){3, 5}, 2);
    onnx_weight(&w, "table", FLOAT16, (int64_t[]){1000, 8}, 2);
    onnx_integers(&w, "from", (int64_t[]){1}, 1);
    onnx_integers(&w, "to", (int64_t[]){3}, 1);
    onnx_node(&w, "Gather", "table ids", "rows", NULL);
    onnx_node(&w, "Slice", "rows from to", "part", NULL);
    onnx_node(&w, "Transpose", "part", "turned", "perm=2,1,0");
    onnx_node(&w, "Split", "turned", "left right", "axis=0");
    onnx_node(&w, "Tanh", "left", "bent", NULL);
    onnx_node(&w, "Mul", "bent right", "y", NULL);
    onnx_node(&w, "Greater", "y bent", "mask", NULL);
    onnx_node(&w, "ReduceSum", "y", "sum", NULL);
    onnx_output(&w, "sum");
    onnx_output(&w, "mask");
    onnx_end_model(&w);
    open_model(&d, false);
    uint64_t rows = 15 * 8 * 2, part = 2 * 5 * 8 * 2, half = part / 2, count = half / 2;
    expect_work(&d, "rows", "embed", 15 * 8, rows + 15 * 8 + rows); /* not the whole table */
    expect_type(&d, "rows", "float16");
    expect_work(&d, "part", "copy", 0, 2 * part);
    expect_work(&d, "turned", "copy", 0, 2 * part);
    expect_work(&d, "left", "copy", 0, 2 * part);
    expect_work(&d, "bent", "math", 6 * count, 2 * half);
    expect_work(&d, "y", "elementwise", count, 3 * half);
    expect_work(&d, "mask", "elementwise", count, 2 * half + count);
    expect_type(&d, "mask", "float16"); /* what it compares */
    expect_work(&d, "sum", "reduce", count, half + 2);
    shut(&d);
    open_model(&d, true);
    expect_work(&d, "part.dx", "copy", 0, part + rows);
    expect_work(&d, "rows.dw", "embed.dw", 15 * 8, rows + 15 * 8 + 2 * rows);
    expect_work(&d, "sum.dx", "elementwise", count, 2 + half);
    shut(&d);
}

/* ---- ResNet-50, against the generator ---- */

static const char *numbered(char *text, const char *name, int number)
{
    snprintf(text, 32, "%s%d", name, number);
    return text;
}

/* Convolution `number` and its normalisation; its result is n<number>. */
static void conv_norm(int number, const char *in, int64_t channels, int64_t out, int kernel, int stride)
{
    char name[2][32], inputs[128], attributes[64];
    onnx_weight(&w, numbered(name[0], "w", number), FLOAT, (int64_t[]){out, channels, kernel, kernel}, 4);
    snprintf(inputs, sizeof inputs, "%s w%d", in, number);
    int pad = kernel / 2;
    snprintf(attributes, sizeof attributes, "strides=%d,%d pads=%d,%d,%d,%d", stride, stride, pad, pad, pad, pad);
    onnx_node(&w, "Conv", inputs, numbered(name[0], "c", number), attributes);
    static const char *const parts[] = {"g", "b", "m", "v"};
    int length = snprintf(inputs, sizeof inputs, "c%d", number);
    for (int i = 0; i < 4; i++) {
        onnx_weight(&w, numbered(name[0], parts[i], number), FLOAT, &out, 1);
        length += snprintf(inputs + length, sizeof inputs - (size_t)length, " %s%d", parts[i], number);
    }
    onnx_node(&w, "BatchNormalization", inputs, numbered(name[1], "n", number), NULL);
}

static void relu(int number)
{
    char name[2][32];
    onnx_node(&w, "Relu", numbered(name[0], "n", number), numbered(name[1], "r", number), NULL);
}

static void write_resnet50(int64_t batch)
{
    static const int blocks[] = {3, 4, 6, 3};
    int at = 1;
    int64_t channels = 64;
    char in[32] = "pool", names[64], out[32];
    onnx_begin_model(&w, 17);
    onnx_input(&w, "images", FLOAT, (int64_t[]){batch, 3, 224, 224}, 4);
    conv_norm(0, "images", 3, 64, 7, 2);
    relu(0);
    onnx_node(&w, "MaxPool", "r0", "pool", "kernel_shape=3,3 strides=2,2 pads=1,1,1,1");
    for (int stage = 0; stage < 4; stage++)
        for (int i = 0; i < blocks[stage]; i++, at += 4) {
            int64_t width = 64 << stage;
            int stride = stage && i == 0 ? 2 : 1;
            conv_norm(at, in, channels, width, 1, 1);
            relu(at);
            conv_norm(at + 1, numbered(names, "r", at), width, width, 3, stride);
            relu(at + 1);
            conv_norm(at + 2, numbered(names, "r", at + 1), width, 4 * width, 1, 1);
            if (i == 0)
                conv_norm(at + 3, in, channels, 4 * width, 1, stride);
            if (i == 0)
                numbered(in, "n", at + 3);
            snprintf(names, sizeof names, "n%d %s", at + 2, in);
            onnx_node(&w, "Add", names, numbered(out, "s", at), NULL);
            onnx_node(&w, "Relu", out, numbered(in, "y", at), NULL);
            channels = 4 * width;
        }
    onnx_weight(&w, "fc", FLOAT, (int64_t[]){2048, 1000}, 2);
    onnx_weight(&w, "bias", FLOAT, (int64_t[]){1000}, 1);
    onnx_node(&w, "GlobalAveragePool", in, "mean", NULL);
    onnx_node(&w, "Flatten", "mean", "flat", NULL);
    onnx_node(&w, "Gemm", "flat fc bias", "logits", NULL);
    onnx_output(&w, "logits");
    onnx_end_model(&w);
}

typedef struct totals {
    double flops, bytes;
} totals;

static totals totals_of(const pb_graph *g, const char *op)
{
    totals sum = {0, 0};
    for (pb_node v = 0; v < g->node_count; v++)
        if (pb_graph_is_computed(g, v) && strcmp(word_of(g, g->work[v].op), op) == 0) {
            sum.flops += (double)g->work[v].flops;
            sum.bytes += (double)g->work[v].bytes;
        }
    return sum;
}

static void a_resnet_does_the_same_as_the_generated_one(void **state)
{
    (void)state;
    static const char *const ops[] = {"conv",    "conv.dx", "conv.dw",     "norm",  "norm.dx",
                                      "pool.dx", "pool",    "elementwise", "matmul"};
    desk d;
    write_resnet50(2);
    open_model(&d, true);
    const pb_graph *other;
    assert_int_equal(pb_generate(&d.ctx, "resnet", &(pb_option){"batch", "2"}, 1, &d.arena, &other), PB_OK);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        totals read = totals_of(d.g, ops[i]), made = totals_of(other, ops[i]);
        double flops = read.flops / made.flops, bytes = read.bytes / made.bytes;
        if (!(flops > 0.9999 && flops < 1.0001 && bytes > 0.998 && bytes < 1.002))
            fail_msg("%s: %g and %g flop, %g and %g bytes", ops[i], read.flops, made.flops, read.bytes, made.bytes);
    }
    shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_divide_the_flops_of_a_convolution),
        cmocka_unit_test(moves_count_what_they_move),
        cmocka_unit_test(a_resnet_does_the_same_as_the_generated_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
