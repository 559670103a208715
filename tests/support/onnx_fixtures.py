#!/usr/bin/env python3
"""Writes the ONNX models of tests/fuzz/corpus/graph_onnx/, which are committed: needs the onnx package.

    python3 tests/support/onnx_fixtures.py
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python" / "tests"))

import onnx_models as models  # noqa: E402
from onnx import ModelProto, TensorProto, helper  # noqa: E402
from onnx_models import Net, conv  # noqa: E402


def image_net() -> ModelProto:
    """A residual block, pooling and a head."""
    net = Net()
    x = conv(net, net.input("images", [2, 3, 16, 16]), 3, 8, 3)
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    net.scope = "block"
    x = net.op("Relu", net.op("Add", conv(net, x, 8, 8, 3, act=None), x))
    net.scope = "head"
    x = net.op("Flatten", net.op("GlobalAveragePool", net.op("Dropout", x)))
    return net.model(net.op("Gemm", x, net.weight(10, 8), net.weight(10), transB=1))


def text_net(batch: int | str, tokens: int | str) -> ModelProto:
    """One block of attention with shapes worked out while the model runs, and tokens used twice."""
    return models.transformer("gpt2", batch, tokens, width=16, heads=2, blocks=1, vocabulary=50)


def mixed_net() -> ModelProto:
    """Outputs behind the first, picks, random numbers, products by equation and numbers of a few bits."""
    net = Net(opset=20)
    x = net.input("x", [4, 6])
    a, b, _ = net.op("Split", x, net.const([1, 2, 1]), outputs=3, axis=0)
    best, places = net.op("TopK", b, net.const([3]), outputs=2)
    picked = net.op("GatherElements", b, places, axis=1)
    noise = net.op("RandomNormalLike", picked)
    y = net.op("Einsum", net.op("Add", net.op("Mul", best, noise), picked), net.weight(3, 5), equation="ij,jk->ik")
    whole = net.op("QuantizeLinear", y, net.const(0.5, TensorProto.FLOAT, []), net.const(0, TensorProto.INT8, []))
    where = net.op("Where", net.op("Greater", a, net.const(0.0, TensorProto.FLOAT, [])), a, net.op("Neg", a))
    return net.model(whole, net.op("ReduceMax", where, keepdims=0), net.op("Pad", y, net.const([0, 1, 2, 0])))


def attention_net() -> ModelProto:
    """The operator of opset 23, and a normalisation by groups."""
    net = Net(opset=23)
    q, k, v = (net.op("MatMul", net.input(name, [2, 5, 8]), net.weight(8, 8)) for name in "qkv")
    y = net.op("Attention", q, k, v, q_num_heads=2, kv_num_heads=2)
    return net.model(net.op("RMSNormalization", y, net.weight(8)))


def wide_net() -> ModelProto:
    """Sizes that pass 2^64 when they are multiplied."""
    net = Net()
    x = net.input("x", [2**40, 2**20])
    return net.model(net.op("MatMul", x, net.weight(2**20, 2**20)))


def control_net() -> ModelProto:
    """A branch."""
    net = Net()
    condition = net.input("c", [], TensorProto.BOOL)
    branch = helper.make_graph([], "b", [], [])
    return net.model(net.op("If", condition, then_branch=branch, else_branch=branch))


def main() -> None:
    folder = ROOT / "tests" / "fuzz" / "corpus" / "graph_onnx"
    folder.mkdir(parents=True, exist_ok=True)
    image = image_net().SerializeToString()
    files = {
        "image.onnx": image,
        "text.onnx": text_net(2, 8).SerializeToString(),
        "text_open.onnx": text_net("batch", "tokens").SerializeToString(),
        "bert.onnx": models.transformer("bert", 1, 4, width=8, heads=2, blocks=1, vocabulary=9).SerializeToString(),
        "mixed.onnx": mixed_net().SerializeToString(),
        "attention.onnx": attention_net().SerializeToString(),
        "wide.onnx": wide_net().SerializeToString(),
        "if.onnx": control_net().SerializeToString(),
        "cut.onnx": image[: len(image) // 2],
        "long.onnx": image[:20] + b"\x3a\xff\xff\x7f" + image[20:40],
        "empty.onnx": b"\x08\x08\x3a\x00",
        "group.onnx": b"\x08\x08\x3a\x02\x0b\x0c",
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
        print(f"{len(data):6} {name}")


if __name__ == "__main__":
    main()
