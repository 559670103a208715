/* ops.c -- the supported operators: one row each. docs/onnx.md shows the table. */
#include "io/onnx/model.h"

enum { ALL = 255, FIRST = 1, TWO = 3, THREE = 7 };

/* Columns: operator, shape, min inputs, rule of the backward pass and what kernels do (tape/tape.h), inputs that are
 * read, flop per element of the forward and of the backward pass. Costs that depend on more are set with the shape. */
#define ROW(op, shape, least, kind, work, data, flops, grads)                                        \
    {                                                                                                \
        op, pbi_onnx_shape_##shape, least, PBI_OP_##kind, PBI_WORK_##work, data, flops, grads, false \
    }
#define RANDOM_ROW(op, shape, least, data)                                                    \
    {                                                                                         \
        op, pbi_onnx_shape_##shape, least, PBI_OP_BLOCKED, PBI_WORK_DROPOUT, data, 8, 0, true \
    }

static const pbi_onnx_rule rules[] = {
    /* Element by element, of one input. */
    ROW("Relu", same, 1, RELU, ELEMENTWISE, FIRST, 1, 1),
    ROW("LeakyRelu", same, 1, BY_OUTPUT, ELEMENTWISE, FIRST, 2, 2),
    ROW("ThresholdedRelu", same, 1, BY_OUTPUT, ELEMENTWISE, FIRST, 1, 1),
    ROW("Elu", same, 1, BY_OUTPUT, MATH, FIRST, 6, 3),
    ROW("Selu", same, 1, BY_OUTPUT, MATH, FIRST, 6, 3),
    ROW("Celu", same, 1, BY_OUTPUT, MATH, FIRST, 6, 3),
    ROW("Sigmoid", same, 1, BY_OUTPUT, MATH, FIRST, 6, 3),
    ROW("Tanh", same, 1, BY_OUTPUT, MATH, FIRST, 6, 3),
    ROW("Exp", same, 1, BY_OUTPUT, MATH, FIRST, 4, 1),
    ROW("Sqrt", same, 1, BY_OUTPUT, MATH, FIRST, 2, 2),
    ROW("Reciprocal", same, 1, BY_OUTPUT, ELEMENTWISE, FIRST, 1, 3),
    ROW("HardSigmoid", same, 1, BY_OUTPUT, ELEMENTWISE, FIRST, 4, 2),
    ROW("Gelu", same, 1, GELU, MATH, FIRST, 10, 14),
    ROW("Erf", same, 1, BY_INPUT, MATH, FIRST, 8, 8),
    ROW("Log", same, 1, BY_INPUT, MATH, FIRST, 4, 1),
    ROW("Abs", same, 1, BY_INPUT, ELEMENTWISE, FIRST, 1, 1),
    ROW("Sin", same, 1, BY_INPUT, MATH, FIRST, 6, 7),
    ROW("Cos", same, 1, BY_INPUT, MATH, FIRST, 6, 7),
    ROW("Tan", same, 1, BY_OUTPUT, MATH, FIRST, 8, 3),
    ROW("Asin", same, 1, BY_INPUT, MATH, FIRST, 8, 5),
    ROW("Acos", same, 1, BY_INPUT, MATH, FIRST, 8, 5),
    ROW("Atan", same, 1, BY_INPUT, MATH, FIRST, 8, 4),
    ROW("Sinh", same, 1, BY_INPUT, MATH, FIRST, 8, 8),
    ROW("Cosh", same, 1, BY_INPUT, MATH, FIRST, 8, 8),
    ROW("Softplus", same, 1, BY_INPUT, MATH, FIRST, 8, 6),
    ROW("Softsign", same, 1, BY_INPUT, ELEMENTWISE, FIRST, 3, 4),
    ROW("HardSwish", same, 1, BY_INPUT, ELEMENTWISE, FIRST, 5, 5),
    ROW("Mish", same, 1, BY_INPUT, MATH, FIRST, 14, 18),
    ROW("Swish", same, 1, BY_INPUT, MATH, FIRST, 7, 9),
    ROW("Clip", same, 1, BY_INPUT, ELEMENTWISE, ALL, 2, 2),
    ROW("Shrink", same, 1, BY_INPUT, ELEMENTWISE, FIRST, 2, 1),
    ROW("Neg", same, 1, SCALED, ELEMENTWISE, FIRST, 1, 1),
    ROW("Floor", same, 1, BLOCKED, ELEMENTWISE, FIRST, 1, 0),
    ROW("Ceil", same, 1, BLOCKED, ELEMENTWISE, FIRST, 1, 0),
    ROW("Round", same, 1, BLOCKED, ELEMENTWISE, FIRST, 1, 0),
    ROW("Sign", same, 1, BLOCKED, ELEMENTWISE, FIRST, 1, 0),
    ROW("Not", same, 1, BLOCKED, ELEMENTWISE, FIRST, 1, 0),
    ROW("BitwiseNot", same, 1, BLOCKED, ELEMENTWISE, FIRST, 1, 0),
    ROW("IsNaN", compare, 1, BLOCKED, ELEMENTWISE, FIRST, 1, 0),
    ROW("IsInf", compare, 1, BLOCKED, ELEMENTWISE, FIRST, 1, 0),
    ROW("Cast", cast, 1, MOVED, ELEMENTWISE, FIRST, 1, 1),
    ROW("CastLike", cast, 2, MOVED, ELEMENTWISE, FIRST, 1, 1),
    /* Of several, broadcast. */
    ROW("Add", broadcast, 2, ADD, ELEMENTWISE, ALL, 1, 1),
    ROW("Sum", broadcast, 1, ADD, ELEMENTWISE, ALL, 1, 1),
    ROW("Mean", broadcast, 1, CONCAT, ELEMENTWISE, ALL, 1, 1),
    ROW("Sub", broadcast, 2, SUB, ELEMENTWISE, ALL, 1, 1),
    ROW("Mul", broadcast, 2, MUL, ELEMENTWISE, ALL, 1, 1),
    ROW("Div", broadcast, 2, DIV, ELEMENTWISE, ALL, 1, 2),
    ROW("Pow", broadcast, 2, POW, MATH, ALL, 10, 12),
    ROW("PRelu", slope, 2, SLOPE, ELEMENTWISE, ALL, 2, 2),
    ROW("Min", broadcast, 1, CHOICE, ELEMENTWISE, ALL, 1, 2),
    ROW("Max", broadcast, 1, CHOICE, ELEMENTWISE, ALL, 1, 2),
    ROW("Mod", broadcast, 2, BLOCKED, ELEMENTWISE, ALL, 2, 0),
    ROW("BitShift", broadcast, 2, BLOCKED, ELEMENTWISE, ALL, 1, 0),
    ROW("BitwiseAnd", broadcast, 2, BLOCKED, ELEMENTWISE, ALL, 1, 0),
    ROW("BitwiseOr", broadcast, 2, BLOCKED, ELEMENTWISE, ALL, 1, 0),
    ROW("BitwiseXor", broadcast, 2, BLOCKED, ELEMENTWISE, ALL, 1, 0),
    ROW("Equal", compare, 2, BLOCKED, ELEMENTWISE, ALL, 1, 0),
    ROW("Less", compare, 2, BLOCKED, ELEMENTWISE, ALL, 1, 0),
    ROW("LessOrEqual", compare, 2, BLOCKED, ELEMENTWISE, ALL, 1, 0),
    ROW("Greater", compare, 2, BLOCKED, ELEMENTWISE, ALL, 1, 0),
    ROW("GreaterOrEqual", compare, 2, BLOCKED, ELEMENTWISE, ALL, 1, 0),
    ROW("And", compare, 2, BLOCKED, ELEMENTWISE, ALL, 1, 0),
    ROW("Or", compare, 2, BLOCKED, ELEMENTWISE, ALL, 1, 0),
    ROW("Xor", compare, 2, BLOCKED, ELEMENTWISE, ALL, 1, 0),
    ROW("Where", where, 3, WHERE, ELEMENTWISE, ALL, 1, 1),
    /* Products. */
    ROW("Conv", conv, 2, CONV, CONV, ALL, 0, 0),
    ROW("ConvTranspose", conv_transpose, 2, CONV, CONV, ALL, 0, 0),
    ROW("Gemm", gemm, 2, LINEAR, MATMUL, ALL, 0, 0),
    ROW("MatMul", matmul, 2, MATMUL, MATMUL, ALL, 0, 0),
    ROW("MatMulInteger", matmul, 2, BLOCKED, MATMUL, ALL, 0, 0),
    ROW("Einsum", einsum, 1, MATMUL, MATMUL, ALL, 0, 0),
    ROW("Attention", attention, 3, ATTENTION, ATTENTION, ALL, 0, 0),
    ROW("LSTM", recurrent, 3, RECURRENT, MATMUL, ALL, 0, 0),
    ROW("GRU", recurrent, 3, RECURRENT, MATMUL, ALL, 0, 0),
    ROW("RNN", recurrent, 3, RECURRENT, MATMUL, ALL, 0, 0),
    ROW("SoftmaxCrossEntropyLoss", class_loss, 2, SCORES, LOSS, ALL, 0, 0),
    ROW("NegativeLogLikelihoodLoss", class_loss, 2, SCORES, LOSS, ALL, 0, 0),
    /* Normalisation and pooling. */
    ROW("BatchNormalization", norm, 3, NORM, NORM, ALL, 0, 0),
    ROW("LayerNormalization", norm, 2, NORM, NORM, ALL, 0, 0),
    ROW("InstanceNormalization", norm, 3, NORM, NORM, ALL, 0, 0),
    ROW("GroupNormalization", norm, 3, NORM, NORM, ALL, 0, 0),
    ROW("RMSNormalization", norm, 2, NORM, NORM, ALL, 0, 0),
    ROW("LRN", same, 1, BY_BOTH, NORM, FIRST, 12, 18),
    ROW("MeanVarianceNormalization", same, 1, BY_BOTH, NORM, FIRST, 7, 10),
    ROW("LpNormalization", same, 1, BY_BOTH, NORM, FIRST, 4, 6),
    ROW("Softmax", same, 1, SOFTMAX, SOFTMAX, FIRST, 5, 4),
    ROW("LogSoftmax", same, 1, SOFTMAX, SOFTMAX, FIRST, 5, 5),
    ROW("Hardmax", same, 1, BLOCKED, SOFTMAX, FIRST, 1, 0),
    ROW("Dropout", dropout, 1, DROPOUT, ELEMENTWISE, FIRST, 1, 1),
    ROW("MaxPool", pool, 1, MAX_POOL, POOL, FIRST, 0, 1),
    ROW("AveragePool", pool, 1, MEAN_POOL, POOL, FIRST, 0, 1),
    ROW("LpPool", pool, 1, BY_BOTH, POOL, FIRST, 0, 3),
    ROW("GlobalAveragePool", global_pool, 1, MEAN_POOL, POOL, FIRST, 1, 1),
    ROW("GlobalMaxPool", global_pool, 1, BY_BOTH, POOL, FIRST, 1, 2),
    ROW("ReduceMean", reduce, 1, MOVED, REDUCE, FIRST, 1, 1),
    ROW("ReduceSum", reduce, 1, MOVED, REDUCE, FIRST, 1, 1),
    ROW("ReduceMax", reduce, 1, BY_BOTH, REDUCE, FIRST, 1, 2),
    ROW("ReduceMin", reduce, 1, BY_BOTH, REDUCE, FIRST, 1, 2),
    ROW("ReduceProd", reduce, 1, BY_BOTH, REDUCE, FIRST, 1, 2),
    ROW("ReduceL1", reduce, 1, BY_INPUT, REDUCE, FIRST, 2, 1),
    ROW("ReduceL2", reduce, 1, BY_BOTH, REDUCE, FIRST, 2, 2),
    ROW("ReduceSumSquare", reduce, 1, BY_INPUT, REDUCE, FIRST, 2, 2),
    ROW("ReduceLogSum", reduce, 1, BY_BOTH, REDUCE, FIRST, 1, 2),
    ROW("ReduceLogSumExp", reduce, 1, BY_BOTH, REDUCE, FIRST, 6, 6),
    ROW("ArgMax", arg, 1, BLOCKED, REDUCE, FIRST, 1, 0),
    ROW("ArgMin", arg, 1, BLOCKED, REDUCE, FIRST, 1, 0),
    ROW("CumSum", same, 2, MOVED, REDUCE, FIRST, 1, 1),
    /* The same numbers in another layout. */
    ROW("Identity", view, 1, MOVED, COPY, FIRST, 1, 1),
    ROW("Reshape", reshape, 1, MOVED, COPY, FIRST, 1, 1),
    ROW("Flatten", flatten, 1, MOVED, COPY, FIRST, 1, 1),
    ROW("Squeeze", squeeze, 1, MOVED, COPY, FIRST, 1, 1),
    ROW("Unsqueeze", unsqueeze, 1, MOVED, COPY, FIRST, 1, 1),
    ROW("Transpose", transpose, 1, MOVED, COPY, FIRST, 1, 1),
    ROW("Expand", expand, 2, MOVED, SPREAD, FIRST, 1, 1),
    ROW("Tile", tile, 2, MOVED, SPREAD, FIRST, 1, 1),
    ROW("Concat", concat, 1, CONCAT, COPY, ALL, 1, 0),
    ROW("Split", split, 1, MOVED, COPY, FIRST, 1, 1),
    ROW("Slice", slice, 1, MOVED, SLICE, FIRST, 0, 1),
    ROW("Pad", pad, 1, MOVED, COPY, FIRST, 1, 1),
    ROW("Trilu", same, 1, MOVED, ELEMENTWISE, FIRST, 1, 1),
    ROW("Resize", resize, 1, MOVED, ELEMENTWISE, FIRST, 8, 8),
    ROW("Upsample", resize, 1, MOVED, ELEMENTWISE, FIRST, 8, 8),
    ROW("DepthToSpace", depth_to_space, 1, MOVED, COPY, FIRST, 1, 1),
    ROW("SpaceToDepth", space_to_depth, 1, MOVED, COPY, FIRST, 1, 1),
    ROW("Gather", gather, 2, PICKED, GATHER, TWO, 0, 0),
    ROW("GatherElements", gather_elements, 2, PICKED, GATHER, TWO, 0, 0),
    ROW("GatherND", gather_nd, 2, PICKED, GATHER, TWO, 0, 0),
    ROW("ScatterND", same, 3, PICKED, COPY, THREE, 1, 1),
    ROW("ScatterElements", same, 3, PICKED, COPY, THREE, 1, 1),
    ROW("Scatter", same, 3, PICKED, COPY, THREE, 1, 1),
    ROW("TopK", topk, 1, SORTED, OTHER, FIRST, 5, 1),
    ROW("OneHot", one_hot, 3, BLOCKED, COPY, FIRST, 1, 0),
    /* Quantisation. */
    ROW("QuantizeLinear", quantize, 2, BLOCKED, ELEMENTWISE, ALL, 3, 0),
    ROW("DynamicQuantizeLinear", quantize, 1, BLOCKED, REDUCE, ALL, 5, 0),
    ROW("DequantizeLinear", dequantize, 2, BLOCKED, ELEMENTWISE, ALL, 2, 0),
    /* Generated numbers, and numbers from shapes. */
    ROW("Constant", constant, 0, BLOCKED, COPY, 0, 1, 0),
    ROW("ConstantOfShape", constant_of_shape, 1, BLOCKED, COPY, 0, 1, 0),
    ROW("Shape", shape, 1, BLOCKED, COPY, 0, 1, 0),
    ROW("Size", size, 1, BLOCKED, COPY, 0, 1, 0),
    ROW("Range", range, 3, BLOCKED, COPY, 0, 1, 0),
    ROW("NonZero", nonzero, 1, BLOCKED, COPY, FIRST, 1, 0),
    ROW("EyeLike", random, 1, BLOCKED, COPY, 0, 1, 0),
    RANDOM_ROW("RandomNormal", random, 0, 0),
    RANDOM_ROW("RandomUniform", random, 0, 0),
    RANDOM_ROW("RandomNormalLike", random, 1, 0),
    RANDOM_ROW("RandomUniformLike", random, 1, 0),
    RANDOM_ROW("Bernoulli", random, 1, FIRST),
};

const pbi_onnx_rule *pbi_onnx_rule_find(const char *op)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(op, rules[i].op) == 0)
            return &rules[i];
    return NULL;
}

const char *pbi_onnx_advice(const char *op)
{
    static const struct {
        const char *start, *advice;
    } known[] = {
        {"If",
         "branches are not supported; fix the input shapes and simplify the model (onnxsim), which takes the branch"},
        {"Loop", "loops are not supported; export the model with the loop unrolled"},
        {"Scan", "loops are not supported; export the model with the loop unrolled"},
        {"Sequence",
         "sequences of tensors are not supported; export the model with tensors only, or simplify it (onnxsim)"},
        {"SplitToSequence", "sequences of tensors are not supported; export the model with tensors only"},
        {"ConcatFromSequence", "sequences of tensors are not supported; export the model with tensors only"},
        {"Optional", "optional values are not supported; export the model with tensors only"},
        {"NonZero", "the size of its result depends on the numbers; leave this part out of the exported model"},
        {"NonMaxSuppression",
         "the size of its result depends on the numbers; export the model without its post-processing"},
        {"Unique", "the size of its result depends on the numbers; leave this part out of the exported model"},
        {"Compress", "the size of its result depends on the numbers; leave this part out of the exported model"},
        {"QLinear",
         "operators on quantized numbers are not supported; export the model with QuantizeLinear and DequantizeLinear"},
        {"String", "texts are not supported; leave this part out of the exported model"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(op, known[i].start, strlen(known[i].start)) == 0)
            return known[i].advice;
    return "this operator is not supported; rewrite it with those in docs/onnx.md, or export the model with another "
           "opset";
}
