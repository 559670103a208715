"""Small builders of ONNX models, without weights: what the tests of the reader and its fixtures are made of."""

from __future__ import annotations

import math
from typing import Any, Sequence

import onnx
from onnx import TensorProto, helper

Dims = Sequence["int | str | None"]


class Net:
    """A model under construction. Operators return the names of their outputs; weights have shapes and no numbers.

    Parameters
    ----------
    opset : int
        Version of the operator set.
    dtype : int
        Type of inputs and weights.
    """

    def __init__(self, opset: int = 17, dtype: int = TensorProto.FLOAT) -> None:
        self.opset, self.dtype = opset, dtype
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.count = 0
        self.scope = ""

    def input(self, name: str, dims: Dims, dtype: int | None = None) -> str:
        """Declare an input."""
        self.inputs.append(helper.make_tensor_value_info(name, dtype or self.dtype, dims))
        return name

    def weight(self, *dims: int, dtype: int | None = None, name: str | None = None) -> str:
        """Add an initializer whose numbers stand in another file, so that it takes a few bytes."""
        self.count += 1
        tensor = TensorProto(name=name or f"w{self.count}", dims=dims, data_type=dtype or self.dtype)
        tensor.data_location = TensorProto.EXTERNAL
        entry = tensor.external_data.add()
        entry.key, entry.value = "location", "weights.bin"
        self.initializers.append(tensor)
        return tensor.name

    def const(self, values: Any, dtype: int = TensorProto.INT64, dims: Sequence[int] | None = None) -> str:
        """Add an initializer with numbers."""
        self.count += 1
        values = values if isinstance(values, (list, tuple)) else [values]
        name = f"c{self.count}"
        self.initializers.append(helper.make_tensor(name, dtype, [len(values)] if dims is None else dims, values))
        return name

    def op(self, kind: str, *inputs: str, outputs: int = 1, name: str | None = None, **attributes: Any) -> Any:
        """Add a node; its output's name, or the list of them."""
        self.count += 1
        label = name or f"{self.scope}/{kind}_{self.count}"
        made = [f"{label}_out{i}" if i else f"{label}_out" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), made, name=label, **attributes))
        return made[0] if outputs == 1 else made

    def model(self, *outputs: str) -> onnx.ModelProto:
        """The model with these outputs."""
        infos = [onnx.ValueInfoProto(name=name) for name in outputs]
        graph = helper.make_graph(self.nodes, "net", self.inputs, infos, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], producer_name="tests")
        model.ir_version = 8
        return model


def conv(net: Net, x: str, inputs: int, outputs: int, kernel: int, stride: int = 1, group: int = 1,
         norm: bool = True, act: str | None = "Relu") -> str:
    """Convolution, normalisation and activation, as in residual networks."""
    pad = kernel // 2
    x = net.op("Conv", x, net.weight(outputs, inputs // group, kernel, kernel), kernel_shape=[kernel] * 2,
               strides=[stride] * 2, pads=[pad] * 4, group=group)
    if norm:
        x = net.op("BatchNormalization", x, *(net.weight(outputs) for _ in range(4)))
    return net.op(act, x) if act else x


def resnet(depth: int = 18, batch: int | str = 8, image: int = 224, classes: int = 1000) -> onnx.ModelProto:
    """ResNet-18, -34 or -50 with batch normalisation."""
    blocks = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3)}[depth]
    wide = depth >= 50
    net = Net()
    x = net.input("images", [batch, 3, image, image])
    net.scope = "stem"
    x = conv(net, x, 3, 64, 7, 2)
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, count in enumerate(blocks):
        width = 64 << stage
        for i in range(count):
            net.scope = f"stage{stage + 1}/block{i}"
            stride = 2 if stage and i == 0 else 1
            out = width * 4 if wide else width
            if wide:
                y = conv(net, x, channels, width, 1)
                y = conv(net, y, width, width, 3, stride)
                y = conv(net, y, width, out, 1, act=None)
            else:
                y = conv(net, x, channels, width, 3, stride)
                y = conv(net, y, width, out, 3, act=None)
            if stride > 1 or channels != out:
                x = conv(net, x, channels, out, 1, stride, act=None)
            x, channels = net.op("Relu", net.op("Add", y, x)), out
    net.scope = "head"
    x = net.op("Flatten", net.op("GlobalAveragePool", x), axis=1)
    return net.model(net.op("Gemm", x, net.weight(classes, channels), net.weight(classes), transB=1))


def mobilenet(batch: int | str = 4) -> onnx.ModelProto:
    """Inverted residuals with depthwise convolutions and Clip, as in MobileNetV2."""
    net = Net(opset=12)
    low, high = net.const(0.0, TensorProto.FLOAT, []), net.const(6.0, TensorProto.FLOAT, [])
    x = net.input("images", [batch, 3, 224, 224])

    def clipped(y: str, *shape: int, **options: Any) -> str:
        return net.op("Clip", conv(net, y, *shape, act=None, **options), low, high)

    x, channels = clipped(x, 3, 32, 3, stride=2), 32
    for expand, out, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1)):
        for i in range(count):
            hidden = channels * expand
            y = clipped(x, channels, hidden, 1) if expand > 1 else x
            y = clipped(y, hidden, hidden, 3, stride=stride if i == 0 else 1, group=hidden)
            y = conv(net, y, hidden, out, 1, act=None)
            x, channels = (net.op("Add", x, y) if channels == out and i else y), out
    x = net.op("Reshape", net.op("GlobalAveragePool", x), net.const([0, -1]))
    return net.model(net.op("Gemm", x, net.weight(1000, channels), net.weight(1000), transB=1))


def unet(batch: int | str = 2, image: int = 128) -> onnx.ModelProto:
    """Down, up by transposed convolution and by resizing, with skips that are concatenated."""
    net = Net()
    x = net.input("images", [batch, 3, image, image])
    skips, channels = [], 3
    for level in range(3):
        x = conv(net, conv(net, x, channels, 16 << level, 3), 16 << level, 16 << level, 3)
        channels = 16 << level
        skips.append((x, channels))
        x = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = conv(net, x, channels, 2 * channels, 3)
    channels *= 2
    for level, (skip, width) in enumerate(reversed(skips)):
        if level % 2:
            x = net.op("Resize", x, "", net.const([1.0, 1.0, 2.0, 2.0], TensorProto.FLOAT), mode="linear")
            x = conv(net, x, channels, width, 1)
        else:
            x = net.op("ConvTranspose", x, net.weight(channels, width, 2, 2), net.weight(width), strides=[2, 2])
        x = conv(net, net.op("Concat", skip, x, axis=1), 2 * width, width, 3)
        channels = width
    return net.model(conv(net, x, channels, 4, 1, norm=False, act=None))


def attention(net: Net, x: str, width: int, heads: int, mask: str | None = None) -> str:
    """Attention as exporters write it: shapes taken apart and put together again while the model runs."""
    head = width // heads
    one = net.const(0, dims=[])
    two = net.const(1, dims=[])
    shape = net.op("Shape", x)
    axis0, head_dim = net.const([0]), net.const([head])
    batch = net.op("Unsqueeze", net.op("Gather", shape, one, axis=0), axis0)
    tokens = net.op("Unsqueeze", net.op("Gather", shape, two, axis=0), axis0)
    split = net.op("Concat", batch, tokens, net.const([heads]), head_dim, axis=0)
    parts = []
    for _ in range(3):
        y = net.op("Add", net.op("MatMul", x, net.weight(width, width)), net.weight(width))
        parts.append(net.op("Transpose", net.op("Reshape", y, split), perm=[0, 2, 1, 3]))
    q, k, v = parts
    scores = net.op("MatMul", q, net.op("Transpose", k, perm=[0, 1, 3, 2]))
    scores = net.op("Div", scores, net.const(math.sqrt(head), TensorProto.FLOAT, []))
    if mask:
        scores = net.op("Add", scores, mask)
    y = net.op("MatMul", net.op("Softmax", scores, axis=-1), v)
    y = net.op("Reshape", net.op("Transpose", y, perm=[0, 2, 1, 3]),
               net.op("Concat", batch, tokens, net.const([width]), axis=0))
    return net.op("Add", net.op("MatMul", y, net.weight(width, width)), net.weight(width))


def layer_norm(net: Net, x: str, width: int, whole: bool) -> str:
    """Layer normalisation, as one operator or taken apart as before opset 17."""
    if whole:
        return net.op("LayerNormalization", x, net.weight(width), net.weight(width), axis=-1)
    centred = net.op("Sub", x, net.op("ReduceMean", x, axes=[-1]))
    square = net.op("Pow", centred, net.const(2.0, TensorProto.FLOAT, []))
    deviation = net.op("Sqrt", net.op("Add", net.op("ReduceMean", square, axes=[-1]),
                                      net.const(1e-5, TensorProto.FLOAT, [])))
    return net.op("Add", net.op("Mul", net.op("Div", centred, deviation), net.weight(width)), net.weight(width))


def gelu(net: Net, x: str) -> str:
    """The error function's form, taken apart."""
    y = net.op("Erf", net.op("Div", x, net.const(math.sqrt(2), TensorProto.FLOAT, [])))
    y = net.op("Mul", x, net.op("Add", y, net.const(1.0, TensorProto.FLOAT, [])))
    return net.op("Mul", y, net.const(0.5, TensorProto.FLOAT, []))


def transformer(kind: str = "bert", batch: int | str = 2, tokens: int | str = 64, width: int = 64, heads: int = 4,
                blocks: int = 2, vocabulary: int = 1000) -> onnx.ModelProto:
    """BERT-, GPT-2- and ViT-like encoders of a few blocks."""
    net = Net(opset=13 if kind == "bert" else 17)
    mask = None
    if kind == "vit":
        x = net.input("images", [batch, 3, 64, 64])
        x = net.op("Conv", x, net.weight(width, 3, 8, 8), net.weight(width), kernel_shape=[8, 8], strides=[8, 8])
        x = net.op("Transpose", net.op("Reshape", x, net.const([0, width, -1])), perm=[0, 2, 1])
        first = net.op("Expand", net.weight(1, 1, width), net.op(
            "Concat", net.op("Shape", x, start=0, end=1) if net.opset >= 15 else "", net.const([1, width]), axis=0))
        x = net.op("Add", net.op("Concat", first, x, axis=1), net.weight(1, 65, width))
    else:
        ids = net.input("ids", [batch, tokens], TensorProto.INT64)
        count = net.op("Gather", net.op("Shape", ids), net.const(1, dims=[]), axis=0)
        places = net.op("Unsqueeze", net.op("Range", net.const(0, dims=[]), count, net.const(1, dims=[])),
                        net.const([0]))
        table = net.weight(vocabulary, width, name="tokens")
        x = net.op("Add", net.op("Gather", table, ids), net.op("Gather", net.weight(512, width), places))
        if kind == "bert":
            given = net.input("mask", [batch, tokens], TensorProto.INT64)
            mask = net.op("Unsqueeze", given, net.const([1, 2]))
            mask = net.op("Sub", net.const(1.0, TensorProto.FLOAT, []), net.op("Cast", mask, to=TensorProto.FLOAT))
            mask = net.op("Mul", mask, net.const(-10000.0, TensorProto.FLOAT, []))
    whole = kind != "bert"
    for i in range(blocks):
        net.scope = f"block{i}"
        if kind == "bert":
            x = layer_norm(net, net.op("Add", x, attention(net, x, width, heads, mask)), width, whole)
        else:
            x = net.op("Add", x, attention(net, layer_norm(net, x, width, whole), width, heads))
        y = x if kind == "bert" else layer_norm(net, x, width, whole)
        y = gelu(net, net.op("Add", net.op("MatMul", y, net.weight(width, 4 * width)), net.weight(4 * width)))
        y = net.op("Add", net.op("MatMul", y, net.weight(4 * width, width)), net.weight(width))
        x = net.op("Add", x, y)
        if kind == "bert":
            x = layer_norm(net, x, width, whole)
    net.scope = "head"
    if kind == "vit":
        x = net.op("Gather", x, net.const(0, dims=[]), axis=1)
        return net.model(net.op("Gemm", x, net.weight(width, 10), net.weight(10)))
    if kind == "gpt2":  # the table of tokens is used twice
        return net.model(net.op("MatMul", x, net.op("Transpose", "tokens", perm=[1, 0])))
    return net.model(x)
