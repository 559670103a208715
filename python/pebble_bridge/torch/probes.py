"""The calls whose kernels are timed to measure this computer: the operations of training steps, over a range of sizes.

Sizes are spread over what fits caches and what does not, few channels and many, short rows and long; `quick` ones are
enough for a first impression. Every probe is an operation with its arguments, so that flops and bytes are counted as in
a captured step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

aten = torch.ops.aten


class Probe(NamedTuple):
    """A call; its tensors are copied, so that operands rotate through memory."""

    target: Any
    args: tuple
    kwargs: dict[str, Any] = {}  # noqa: RUF012


class Maker:
    """Makes tensors of one type on one device."""

    def __init__(self, dtype: torch.dtype, device: str, quick: bool) -> None:
        self.kind = {"dtype": dtype, "device": device}
        self.quick = quick

    def __call__(self, *shape: int) -> torch.Tensor:
        return torch.randn(*shape, device=self.kind["device"]).to(self.kind["dtype"])

    def indices(self, limit: int, *shape: int) -> torch.Tensor:
        return torch.randint(limit, shape, device=self.kind["device"])

    def some(self, sizes: list) -> list:
        """All sizes, or with `quick` every fourth."""
        return sizes[1::4] if self.quick and len(sizes) > 4 else sizes


def probes(make: Maker) -> Iterator[Probe]:
    """Every probe, one kind of operation after the other."""
    for kind in (products, batched_products, convolutions, depthwise, attention, norms, rows, streams, math, pools, others):
        yield from kind(make)


PRODUCTS = [
    (32, 64, 64), (128, 64, 64), (128, 64, 10), (512, 32, 128), (256, 128, 128), (512, 256, 256), (2048, 128, 128),
    (2048, 128, 384), (2048, 512, 128), (2048, 128, 512), (2048, 128, 1024), (1024, 256, 256), (6144, 256, 256),
    (4096, 64, 64), (768, 64, 192), (768, 256, 64), (256, 512, 512), (512, 1024, 1024), (128, 2048, 1000), (6144, 256, 10),
    (24, 512, 10), (16, 384, 1536), (1000, 784, 300), (64, 4096, 1024),
]  # fmt: skip


def products(make: Maker) -> Iterator[Probe]:
    """A linear layer: rows, inputs, outputs; forward, and the gradients of its input and its weight."""
    for rows, inputs, outputs in make.some(PRODUCTS):
        x, weight, gradient = make(rows, inputs), make(outputs, inputs), make(rows, outputs)
        yield Probe(aten.addmm.default, (make(outputs), x, weight.t()))
        yield Probe(aten.mm.default, (gradient, weight))
        yield Probe(aten.mm.default, (gradient.t(), x))


BATCHED = [
    (8, 32, 16), (64, 128, 32), (16, 96, 16), (12, 64, 64), (48, 64, 32), (32, 128, 64), (8, 256, 64), (24, 197, 64),
    (64, 50, 32), (4, 512, 64),
]  # fmt: skip


def batched_products(make: Maker) -> Iterator[Probe]:
    """Attention that is written out: heads of the batch, length, size of a head; queries with keys, weights with values."""
    for heads, length, deep in make.some(BATCHED):
        query, scores = make(heads, length, deep), make(heads, length, length)
        yield Probe(aten.bmm.default, (query, make(heads, deep, length)))
        yield Probe(aten.bmm.default, (query, make(heads, length, deep).transpose(1, 2)))
        yield Probe(aten.bmm.default, (scores, query))
        yield Probe(aten.bmm.default, (scores.transpose(1, 2), query))


CONVOLUTIONS = [  # batch, inputs, outputs, image, kernel, stride
    (2, 8, 8, 32, 3, 1), (16, 16, 16, 32, 3, 1), (24, 3, 16, 64, 3, 1), (24, 16, 16, 64, 3, 1), (24, 16, 32, 64, 3, 2),
    (24, 32, 32, 32, 3, 1), (24, 32, 64, 32, 3, 2), (24, 64, 64, 16, 3, 1), (24, 128, 128, 8, 3, 1),
    (24, 16, 32, 64, 1, 2), (24, 32, 64, 32, 1, 2), (24, 64, 128, 16, 1, 2), (16, 3, 24, 112, 7, 2), (2, 3, 64, 96, 7, 2),
    (16, 24, 24, 28, 1, 1), (16, 24, 24, 28, 3, 1), (16, 24, 96, 28, 1, 1), (16, 96, 24, 28, 1, 1), (16, 96, 48, 28, 1, 1),
    (16, 48, 48, 28, 3, 2), (16, 48, 48, 14, 3, 1), (16, 48, 192, 14, 1, 1), (16, 192, 48, 14, 1, 1),
    (16, 96, 384, 7, 1, 1), (16, 384, 96, 7, 1, 1), (16, 96, 96, 7, 3, 1), (16, 192, 768, 4, 1, 1), (16, 768, 192, 4, 1, 1),
    (16, 192, 192, 4, 3, 1), (4, 3, 16, 112, 3, 1), (4, 16, 16, 112, 3, 1), (4, 32, 16, 112, 3, 1), (4, 16, 32, 56, 3, 1),
    (4, 32, 32, 56, 3, 1), (4, 64, 32, 56, 3, 1), (4, 64, 64, 28, 3, 1), (4, 128, 64, 28, 3, 1), (4, 128, 128, 14, 3, 1),
    (4, 16, 4, 112, 1, 1), (8, 64, 64, 56, 3, 1), (8, 64, 256, 56, 1, 1), (2, 256, 512, 28, 1, 2), (1, 32, 32, 128, 3, 1),
    (16, 8, 16, 64, 3, 1), (2, 256, 256, 14, 3, 1), (32, 32, 64, 16, 5, 1),
]  # fmt: skip
TRANSPOSED = [(4, 128, 64, 14), (4, 64, 32, 28), (4, 32, 16, 56), (2, 64, 64, 32), (1, 128, 64, 16), (8, 16, 8, 32)]


def convolution(make: Maker, batch: int, inputs: int, outputs: int, image: int, *shape: int) -> Iterator[Probe]:
    """A convolution and its gradients; `shape` is kernel, stride and groups."""
    kernel, stride, groups = shape
    x, weight = make(batch, inputs, image, image), make(outputs, inputs // groups, kernel, kernel)
    pad = kernel // 2
    last = (image + 2 * pad - kernel) // stride + 1
    rest = image - ((last - 1) * stride - 2 * pad + kernel)
    how = ([stride] * 2, [pad] * 2, [1, 1])
    gradient = make(batch, outputs, last, last)
    yield Probe(aten.convolution.default, (x, weight, None, *how, False, [0, 0], groups))
    yield Probe(aten.convolution.default, (gradient, weight, None, *how, True, [rest] * 2, groups))
    part = [False, True, False]
    yield Probe(aten.convolution_backward.default, (gradient, x, weight, None, *how, False, [0, 0], groups, part))


def convolutions(make: Maker) -> Iterator[Probe]:
    for size in make.some(CONVOLUTIONS):
        yield from convolution(make, *size, 1)
    for batch, inputs, outputs, image in make.some(TRANSPOSED):
        x, weight = make(batch, inputs, image, image), make(inputs, outputs, 2, 2)
        gradient, how = make(batch, outputs, 2 * image, 2 * image), ([2, 2], [0, 0], [1, 1])
        yield Probe(aten.convolution.default, (x, weight, None, *how, True, [0, 0], 1))
        yield Probe(aten.convolution.default, (gradient, weight, None, *how, False, [0, 0], 1))
        part = [False, True, False]
        yield Probe(aten.convolution_backward.default, (gradient, x, weight, None, *how, True, [0, 0], 1, part))


def depthwise(make: Maker) -> Iterator[Probe]:
    for batch, channels, image, kernel, stride in make.some(
        [(8, 32, 56, 3, 1), (8, 96, 28, 3, 1), (4, 144, 28, 3, 2), (16, 384, 14, 3, 1), (2, 96, 28, 7, 1), (8, 192, 7, 7, 1)]
    ):
        yield from convolution(make, batch, channels, channels, image, kernel, stride, channels)


def attention(make: Maker) -> Iterator[Probe]:
    """Fused attention: batch, heads, length, size of a head; whole and causal."""
    for batch, heads, length, deep in make.some(
        [(2, 2, 32, 16), (4, 4, 64, 16), (8, 4, 128, 32), (16, 4, 128, 32), (2, 12, 197, 64), (4, 8, 256, 64), (1, 8, 1024, 64)]
    ):
        query, key, value, gradient = (make(batch, heads, length, deep) for _ in range(4))
        for causal in (False, True):
            if query.device.type == "cpu":
                forward = aten._scaled_dot_product_flash_attention_for_cpu.default
                back = aten._scaled_dot_product_flash_attention_for_cpu_backward.default
                out, sums = forward(query, key, value, 0.0, causal)
                yield Probe(forward, (query, key, value, 0.0, causal))
                yield Probe(back, (gradient, query, key, value, out, sums, 0.0, causal))
            elif query.dtype in (torch.float16, torch.bfloat16):
                forward = aten._scaled_dot_product_flash_attention.default
                back = aten._scaled_dot_product_flash_attention_backward.default
                out, sums, *state = forward(query, key, value, 0.0, causal)
                yield Probe(forward, (query, key, value, 0.0, causal))
                yield Probe(back, (gradient, query, key, value, out, sums, *state[:4], 0.0, causal, *state[4:6]))


IMAGES = [
    (2, 8, 16), (4, 16, 32), (24, 16, 64), (24, 32, 32), (24, 64, 16), (24, 128, 8), (16, 24, 56), (16, 96, 28),
    (16, 24, 28), (16, 48, 14), (16, 192, 14), (16, 384, 7), (16, 768, 4), (4, 16, 112), (4, 32, 56), (4, 64, 28), (4, 128, 14),
    (8, 64, 56), (32, 256, 14),
]  # fmt: skip
ROWS = [(64, 64), (256, 32), (512, 64), (384, 128), (2048, 128), (4096, 64), (1024, 512), (788, 768), (8192, 128), (4096, 768)]


def norms(make: Maker) -> Iterator[Probe]:
    for batch, channels, image in make.some(IMAGES):
        x, scale, stats = make(batch, channels, image, image), make(channels), make(channels).abs()
        train = (scale, scale, stats, stats, True, 0.1, 1e-5)
        yield Probe(aten._native_batch_norm_legit_functional.default, (x, *train))
        saved = (scale, stats, stats, stats, stats, True, 1e-5, [True] * 3)
        yield Probe(aten.native_batch_norm_backward.default, (x, x + 1, *saved))
    for count, width in make.some(ROWS):
        x, scale = make(count, width), make(width)
        out, mean, spread = aten.native_layer_norm.default(x, [width], scale, scale, 1e-5)
        yield Probe(aten.native_layer_norm.default, (x, [width], scale, scale, 1e-5))
        yield Probe(aten.native_layer_norm_backward.default, (out, x, [width], mean, spread, scale, scale, [True] * 3))
    for batch, channels, image in make.some([(2, 32, 16), (4, 64, 28), (4, 128, 32), (8, 64, 56)]):
        x, scale = make(batch, channels, image, image), make(channels)
        args = (scale, scale, batch, channels, image * image, 8, 1e-5)
        out, mean, spread = aten.native_group_norm.default(x, *args)
        yield Probe(aten.native_group_norm.default, (x, *args))
        rest = (scale, batch, channels, image * image, 8, [True] * 3)
        yield Probe(aten.native_group_norm_backward.default, (out, x, mean, spread, *rest))


LINES = [(128, 10), (6144, 10), (1984, 64), (380, 256), (2032, 1024), (8192, 128), (2048, 128), (6144, 96), (512, 1000)]


def rows(make: Maker) -> Iterator[Probe]:
    """Softmax and losses: rows and classes; pixels and classes."""
    kind = make.kind["dtype"]
    for count, width in make.some(LINES):
        x, labels = make(count, width), make.indices(width, count)
        out = aten._log_softmax.default(x, -1, False)
        one, weight = make(1).reshape(()), torch.tensor(float(count), device=x.device)
        for forward, back in (
            (aten._softmax.default, aten._softmax_backward_data.default),
            (aten._log_softmax.default, aten._log_softmax_backward_data.default),
        ):
            yield Probe(forward, (x, -1, False))
            yield Probe(back, (x, out, -1, kind))
        yield Probe(aten.nll_loss_forward.default, (out, labels, None, 1, -100))
        yield Probe(aten.nll_loss_backward.default, (one, out, labels, None, 1, -100, weight.to(kind)))
    for batch, classes, image in make.some([(1, 4, 32), (2, 4, 64), (4, 4, 112), (2, 16, 64)]):
        x, labels = make(batch, classes, image, image), make.indices(classes, batch, image, image)
        out = aten._log_softmax.default(x, 1, False)
        weight = torch.tensor(float(labels.numel()), device=x.device).to(kind)
        yield Probe(aten._log_softmax.default, (x, 1, False))
        yield Probe(aten._log_softmax_backward_data.default, (x, out, 1, kind))
        yield Probe(aten.nll_loss2d_forward.default, (out, labels, None, 1, -100))
        yield Probe(aten.nll_loss2d_backward.default, (weight.clone(), out, labels, None, 1, -100, weight))


LENGTHS = [1 << 8, 1 << 11, 1 << 13, 1 << 15, 100_000, 1 << 18, 600_000, 1 << 20, 1_600_000, 1 << 22]


def streams(make: Maker) -> Iterator[Probe]:
    """Elementwise operations and copies."""
    for count in make.some(LENGTHS):
        x, y = make(count), make(count)
        yield Probe(aten.relu.default, (x,))
        yield Probe(aten.add.Tensor, (x, y))
        yield Probe(aten.div.Scalar, (x, 3.0))
        yield Probe(aten.threshold_backward.default, (x, y, 0))
        yield Probe(aten.masked_fill.Scalar, (x.view(8, -1), (y > 0).view(8, -1), 0.0))
        yield Probe(aten.cat.default, ([x, y],))
        yield Probe(aten.zeros_like.default, (x,))
        yield Probe(aten.native_dropout.default, (x, 0.1, True))
    for batch, length, heads, deep in make.some([(2, 32, 2, 16), (4, 96, 4, 16), (16, 128, 4, 32), (4, 197, 12, 64)]):
        x = make(batch, length, heads, deep)
        how = {"memory_format": torch.contiguous_format}
        yield Probe(aten.clone.default, (x.transpose(1, 2),), how)
        yield Probe(aten.clone.default, (x.permute(0, 2, 3, 1),), how)
        yield Probe(aten.slice_backward.default, (x[:, :-1], [batch, length, heads, deep], 1, 0, length - 1, 1))
    for batch, channels, image in make.some([(1, 16, 32), (4, 16, 112), (4, 32, 56), (4, 64, 28)]):
        x = make(batch, channels, image, image)
        yield Probe(aten.cat.default, ([x, x + 1], 1))


def math(make: Maker) -> Iterator[Probe]:
    for count in make.some(LENGTHS):
        x, y = make(count), make(count)
        for function in (aten.exp.default, aten.tanh.default, aten.sigmoid.default, aten.silu.default, aten.erf.default):
            yield Probe(function, (x,))
        for how in ("none", "tanh"):
            yield Probe(aten.gelu.default, (x,), {"approximate": how})
            yield Probe(aten.gelu_backward.default, (y, x), {"approximate": how})
        yield Probe(aten.silu_backward.default, (y, x))


def pools(make: Maker) -> Iterator[Probe]:
    for batch, channels, image, kernel, stride, pad in make.some(
        [(2, 8, 32, 2, 2, 0), (4, 16, 112, 2, 2, 0), (4, 32, 56, 2, 2, 0), (4, 64, 28, 2, 2, 0), (16, 24, 56, 3, 2, 1),
         (2, 16, 32, 3, 2, 1), (4, 64, 56, 3, 2, 1)]  # fmt: skip
    ):
        x = make(batch, channels, image, image)
        args = ([kernel] * 2, [stride] * 2, [pad] * 2)
        out, where = aten.max_pool2d_with_indices.default(x, *args)
        yield Probe(aten.max_pool2d_with_indices.default, (x, *args))
        one = make(1).expand(x.shape)
        back = aten.max_pool2d_with_indices_backward.default
        yield Probe(back, (out, one, *args, [1, 1], False, where))
        yield Probe(aten.avg_pool2d.default, (x, *args))
        yield Probe(aten.avg_pool2d_backward.default, (out, one, *args, False, True, None))


def others(make: Maker) -> Iterator[Probe]:
    """Sums and embeddings."""
    for count, width in make.some([*ROWS, (6144, 256), (6144, 10), (2048, 512), (768, 192), (128, 64)]):
        yield Probe(aten.sum.dim_IntList, (make(count, width), [0], True))
    for batch, channels, image in make.some([(2, 64, 4), (24, 128, 8), (16, 768, 4), (8, 256, 14), (4, 16, 56)]):
        yield Probe(aten.mean.dim, (make(batch, channels, image, image), [2, 3]))
    for count in make.some([1 << 12, 1 << 16, 1 << 20]):
        yield Probe(aten.sum.default, (make(count),))
    for words, width, length in make.some([(64, 32, 64), (256, 64, 384), (1024, 128, 2048), (5000, 256, 1024), (128, 128, 2048)]):
        index = make.indices(words, 4, length // 4)
        yield Probe(aten.embedding.default, (make(words, width), index))
        yield Probe(aten.embedding_dense_backward.default, (make(4, length // 4, width), index, words, -1, False))
