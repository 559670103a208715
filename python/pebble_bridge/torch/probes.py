"""The calls whose kernels are timed to measure this computer: the operations of training steps, over a range of sizes.

Sizes are drawn evenly by magnitude, the same ones every time: what fits caches and what does not, few channels and
many, short rows and long; most channels are multiples of 16, as in most networks, because kernels depend on it. Every
probe is an operation with its arguments, so that flops and bytes are counted as in a captured step.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from functools import partial
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

    def draw(self, count: int, one: Callable[[Draw], tuple], cost: Callable[..., float]) -> list[tuple]:
        """Sizes by `one`, those within the limits of `cost` (as a share of what is affordable); with `quick` fewer."""
        draw, found = Draw(), []
        while len(found) < (max(2, count // 4) if self.quick else count):
            size = one(draw)
            if cost(*size) <= 1:
                found.append(size)
        return found

    def lengths(self) -> list[int]:
        return LENGTHS[1::4] if self.quick else LENGTHS


class Draw:
    """Random numbers that are the same every time."""

    def __init__(self) -> None:
        self.random = random.Random(1)

    def between(self, low: int, high: int, step: int = 1) -> int:
        """Evenly by magnitude, a multiple of `step`."""
        value = math.exp(self.random.uniform(math.log(low), math.log(high)))
        return max(step, step * round(value / step))

    def of(self, *choices: Any) -> Any:
        return self.random.choice(choices)


def probes(make: Maker) -> Iterator[Probe]:
    """Every probe, one kind of operation after the other."""
    heavy = (products, batched_products, convolutions, depthwise, attention)
    for kind in (*heavy, norms, rows, streams, functions, pools, others):
        yield from kind(make)


def products(make: Maker) -> Iterator[Probe]:
    """A linear layer: rows, inputs, outputs; forward, and the gradients of its input and its weight."""
    sizes = make.draw(
        30,
        lambda d: (d.between(24, 8192, 8), d.between(32, 2048, 16), d.between(32, 2048, 16)),
        lambda rows, inputs, outputs: rows * inputs * outputs / 6e8 + max(rows, inputs) * max(inputs, outputs) / 4e6,
    )
    for rows, inputs, outputs in [*sizes, (100, 200, 10), (5000, 200, 10)]:
        x, weight, gradient = make(rows, inputs), make(outputs, inputs), make(rows, outputs)
        yield Probe(aten.addmm.default, (make(outputs), x, weight.t()))
        yield Probe(aten.mm.default, (gradient, weight))
        yield Probe(aten.mm.default, (gradient.t(), x))


def batched_products(make: Maker) -> Iterator[Probe]:
    """Attention that is written out, for heads of the batch, length and size of a head: queries with keys, weights with
    values, masks."""
    sizes = make.draw(
        12,
        lambda d: (d.between(4, 100), d.between(16, 500), d.of(16, 32, 32, 64, 64, 64, 80, 128)),
        lambda heads, length, deep: heads * length * max(length, deep) / 2.5e6,
    )
    for heads, length, deep in sizes:
        query, scores = make(heads, length, deep), make(heads, length, length)
        yield Probe(aten.bmm.default, (query, make(heads, deep, length)))
        yield Probe(aten.bmm.default, (query, make(heads, length, deep).transpose(1, 2)))
        yield Probe(aten.bmm.default, (scores, query))
        yield Probe(aten.bmm.default, (scores.transpose(1, 2), query))
        mask = torch.ones(1, length, length, device=scores.device).bool()
        yield Probe(aten.masked_fill.Scalar, (scores, mask.tril().logical_not(), float("-inf")))


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
    if inputs > 4:  # nothing needs the gradient of an image
        yield Probe(aten.convolution.default, (gradient, weight, None, *how, True, [rest] * 2, groups))
    part = [False, True, False]
    yield Probe(aten.convolution_backward.default, (gradient, x, weight, None, *how, False, [0, 0], groups, part))


def image_of(draw: Draw) -> tuple[int, int, int]:
    """Batch, channels and side of an image; the smaller the image the more channels."""
    side, step = draw.of(4, 7, 8, 10, 14, 16, 20, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128), draw.of(8, 16, 16, 16, 16)
    return draw.between(1, 32), draw.between(max(16, 256 // side), min(1024, 6000 // side), step), side


def filter_of(draw: Draw, kernels: tuple[int, ...], stride: int) -> tuple[int, ...]:
    """Batch, inputs, outputs, side, kernel and stride."""
    batch, channels, side = image_of(draw)
    outputs = max(16, channels * draw.of(1, 2, 4, 4, 4, 8, 16) // 4)
    return batch, channels, outputs, side, draw.of(*kernels), stride


def picture_of(draw: Draw) -> tuple[int, ...]:
    """The same for few inputs, as of the first layer, or few outputs, as of the last one."""
    batch, _, side = image_of(draw)
    few, channels = draw.of(1, 3, 3, 4), draw.between(16, 96, 8)
    sizes = (channels, few) if draw.of(True, False) else (few, channels)
    return batch, *sizes, max(16, side), draw.of(3, 3, 5, 7), draw.of(1, 2)


def filter_cost(batch: int, inputs: int, outputs: int, side: int, kernel: int, stride: int) -> float:
    """Large kernels are for few channels."""
    pixels = batch * side * side
    flops = 2 * pixels * inputs * outputs * kernel * kernel / stride**2
    few = kernel > 3 and inputs * outputs > 4096
    return 2.0 if few else flops / 6e8 + pixels * max(inputs, outputs) / 3e6


def convolutions(make: Maker) -> Iterator[Probe]:
    for count, kernels, stride in ((36, (3, 3, 3, 3, 5, 7), 1), (26, (1,), 1), (10, (3, 3, 5), 2), (8, (1,), 2)):
        for size in make.draw(count, partial(filter_of, kernels=kernels, stride=stride), filter_cost):
            yield from convolution(make, *size, 1)
    for size in make.draw(20, picture_of, filter_cost):
        yield from convolution(make, *size, 1)
    for batch, inputs, side in make.draw(8, image_of, lambda batch, inputs, side: batch * inputs * side * side / 5e5):
        outputs = max(8, inputs // 2)
        x, weight = make(batch, inputs, side, side), make(inputs, outputs, 2, 2)
        gradient, how = make(batch, outputs, 2 * side, 2 * side), ([2, 2], [0, 0], [1, 1])
        yield Probe(aten.convolution.default, (x, weight, None, *how, True, [0, 0], 1))
        yield Probe(aten.convolution.default, (gradient, weight, None, *how, False, [0, 0], 1))
        part = [False, True, False]
        yield Probe(aten.convolution_backward.default, (gradient, x, weight, None, *how, True, [0, 0], 1, part))


def depthwise(make: Maker) -> Iterator[Probe]:
    for count, shapes in ((22, ((3, 1), (3, 1), (3, 1), (3, 2))), (16, ((5, 1), (7, 1), (7, 1), (5, 2)))):
        sizes = make.draw(
            count,
            lambda d: (*image_of(d), *d.of(*shapes)),  # noqa: B023
            lambda batch, channels, side, kernel, _: batch * channels * side * side * kernel * kernel / 2e7,
        )
        for batch, channels, side, kernel, stride in sizes:
            yield from convolution(make, batch, channels, channels, side, kernel, stride, channels)


def attention(make: Maker) -> Iterator[Probe]:
    """Fused attention: batch, heads, length, size of a head; whole and causal."""
    sizes = make.draw(
        10,
        lambda d: (d.between(1, 16), d.between(2, 16), d.between(16, 1000), d.of(32, 64, 64, 64, 128)),
        lambda batch, heads, length, deep: batch * heads * length * length * deep / 2e8,
    )
    for batch, heads, length, deep in sizes:
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


def image_cost(batch: int, channels: int, side: int) -> float:
    return batch * channels * side * side / 3e6


def lines_of(draw: Draw) -> tuple[int, int]:
    """Rows and their length."""
    return draw.between(32, 8192), draw.between(16, 2048, 8)


def lines_cost(rows: int, width: int) -> float:
    return rows * width / 3e6


def norms(make: Maker) -> Iterator[Probe]:
    for batch, channels, image in make.draw(24, image_of, image_cost):
        x, scale, stats = make(batch, channels, image, image), make(channels), make(channels).abs()
        train = (scale, scale, stats, stats, True, 0.1, 1e-5)
        yield Probe(aten._native_batch_norm_legit_functional.default, (x, *train))
        saved = (scale, stats, stats, stats, stats, True, 1e-5, [True] * 3)
        yield Probe(aten.native_batch_norm_backward.default, (x, x + 1, *saved))
    for count, width in make.draw(14, lines_of, lines_cost):
        x, scale = make(count, width), make(width)
        out, mean, spread = aten.native_layer_norm.default(x, [width], scale, scale, 1e-5)
        yield Probe(aten.native_layer_norm.default, (x, [width], scale, scale, 1e-5))
        yield Probe(aten.native_layer_norm_backward.default, (out, x, [width], mean, spread, scale, scale, [True] * 3))
    for batch, channels, image in make.draw(6, image_of, image_cost):
        x, scale = make(batch, channels, image, image), make(channels)
        args = (scale, scale, batch, channels, image * image, 8, 1e-5)
        out, mean, spread = aten.native_group_norm.default(x, *args)
        yield Probe(aten.native_group_norm.default, (x, *args))
        rest = (scale, batch, channels, image * image, 8, [True] * 3)
        yield Probe(aten.native_group_norm_backward.default, (out, x, mean, spread, *rest))


def rows(make: Maker) -> Iterator[Probe]:
    """Softmax and losses: rows and classes; pixels and classes."""
    kind = make.kind["dtype"]
    short = [(200, 10), (5000, 10), (40, 20), (1500, 2), (600, 24), (20_000, 5)]
    for count, width in [*make.draw(10, lines_of, lines_cost), *short]:
        x, labels = make(count, width), make.indices(width, count)
        out = aten._log_softmax.default(x, -1, False)
        one, weight = make(1).reshape(()), torch.tensor(float(count), device=x.device)
        for forward, back in (
            (aten._softmax.default, aten._softmax_backward_data.default),
            (aten._log_softmax.default, aten._log_softmax_backward_data.default),
        ):
            yield Probe(forward, (x, -1, False))
            yield Probe(back, (x, out, -1, kind))
        yield Probe(aten._safe_softmax.default, (x, -1))
        yield Probe(aten.nll_loss_forward.default, (out, labels, None, 1, -100))
        yield Probe(aten.nll_loss_backward.default, (one, out, labels, None, 1, -100, weight.to(kind)))
    for batch, classes, image in [(1, 4, 40), (3, 6, 80), (6, 3, 100), (2, 20, 70)]:
        x, labels = make(batch, classes, image, image), make.indices(classes, batch, image, image)
        out = aten._log_softmax.default(x, 1, False)
        weight = torch.tensor(float(labels.numel()), device=x.device).to(kind)
        yield Probe(aten._log_softmax.default, (x, 1, False))
        yield Probe(aten._log_softmax_backward_data.default, (x, out, 1, kind))
        yield Probe(aten.nll_loss2d_forward.default, (out, labels, None, 1, -100))
        yield Probe(aten.nll_loss2d_backward.default, (weight.clone(), out, labels, None, 1, -100, weight))


LENGTHS = [200, 2000, 8000, 30_000, 80_000, 200_000, 400_000, 800_000, 1_300_000, 2_500_000, 4_000_000]


def streams(make: Maker) -> Iterator[Probe]:
    """Elementwise operations and copies."""
    for count in make.lengths():
        x, y = make(count), make(count)
        yield Probe(aten.relu.default, (x,))
        yield Probe(aten.add.Tensor, (x, y))
        yield Probe(aten.div.Scalar, (x, 3.0))
        yield Probe(aten.threshold_backward.default, (x, y, 0))
        yield Probe(aten.masked_fill.Scalar, (x.view(8, -1), (y > 0).view(8, -1), 0.0))
        yield Probe(aten.cat.default, ([x, y],))
        yield Probe(aten.zeros_like.default, (x,))
        yield Probe(aten.native_dropout.default, (x, 0.1, True))
        yield Probe(aten.native_dropout_backward.default, (x, y > 0, 1.1))
    yield from rearranged(make)
    yield from images(make)


def rearranged(make: Maker) -> Iterator[Probe]:
    """Copies of the heads of attention and of their gradients, and sums of tensors of unequal sizes."""
    how = {"memory_format": torch.contiguous_format}
    sizes = make.draw(
        9,
        lambda d: (d.between(1, 16), d.between(16, 1000, 4), d.of(2, 4, 8, 12), d.of(16, 32, 32, 64, 64, 80)),
        lambda batch, length, heads, deep: batch * length * heads * deep / 3e6,
    )
    for batch, length, heads, deep in sizes:
        x = make(batch, length, heads, deep)
        part = make(batch, length, heads, 3 * deep).view(batch, length, -1)[..., : heads * deep].view(x.shape)
        yield Probe(aten.clone.default, (part.transpose(1, 2),), how)
        yield Probe(aten.clone.default, (x.transpose(1, 2),), how)
        yield Probe(aten.clone.default, (x.permute(0, 2, 3, 1),), how)
        yield Probe(aten.cat.default, ([x[..., deep // 2 :], x[..., : deep // 2]], -1))
        yield Probe(aten.slice_backward.default, (x[:, :-1], [batch, length, heads, deep], 1, 0, length - 1, 1))
        rows = x.view(batch, length, heads * deep)
        yield Probe(aten.add.Tensor, (rows, make(heads * deep)))
        yield Probe(aten.mul.Tensor, (rows, make(batch, length, 1)))


def images(make: Maker) -> Iterator[Probe]:
    """Copies and rescaling of images."""
    for batch, channels, side in make.draw(7, image_of, image_cost):
        x = make(batch, channels, side, side)
        yield Probe(aten.cat.default, ([x, x + 1], 1))
        twice = torch.arange(2 * side, device=x.device) // 2
        places = [None, None, twice.view(-1, 1), twice]
        yield Probe(aten._unsafe_index.Tensor, (x, places))
        double = make(batch, channels, 2 * side, 2 * side)
        yield Probe(aten._unsafe_index_put.default, (x, places, double, True))
        yield Probe(aten.mul.Tensor, (x, make(batch, channels, 1, 1)))
        yield Probe(aten.sum.dim_IntList, (x, [0, 2, 3], True))


def functions(make: Maker) -> Iterator[Probe]:
    for count in make.lengths():
        x, y = make(count), make(count)
        for function in (aten.exp, aten.tanh, aten.sigmoid, aten.silu, aten.erf):
            yield Probe(function.default, (x,))
        for how in ("none", "tanh"):
            yield Probe(aten.gelu.default, (x,), {"approximate": how})
            yield Probe(aten.gelu_backward.default, (y, x), {"approximate": how})
        yield Probe(aten.silu_backward.default, (y, x))
        yield Probe(aten.hardswish.default, (x,))
        yield Probe(aten.hardswish_backward.default, (y, x))
        yield Probe(aten.where.self, (y > 0, x, y))
        yield Probe(aten.mse_loss.default, (x, y))
        yield Probe(aten.mse_loss_backward.default, (make(1).reshape(()), x, y, 1))
        yield Probe(aten.pow.Tensor_Scalar, (x, 2))
        yield Probe(aten.pow.Tensor_Scalar, (x, 3.5))


def pools(make: Maker) -> Iterator[Probe]:
    for batch, channels, image in make.draw(10, lambda d: (*image_of(d)[:2], d.between(8, 128)), image_cost):
        kernel, stride, pad = (2, 2, 0) if channels % 16 else (3, 2, 1)
        x = make(batch, channels, image, image).relu()  # speed depends on what is compared
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
    for count, width in [*make.draw(14, lines_of, lines_cost), (5000, 10)]:
        yield Probe(aten.sum.dim_IntList, (make(count, width), [0], True))
    for batch, channels, image in make.draw(6, image_of, image_cost):
        yield Probe(aten.mean.dim, (make(batch, channels, image, image), [2, 3]))
    for count in [2000, 10_000, 60_000, 200_000, 1_000_000, 3_000_000]:
        yield Probe(aten.sum.default, (make(count),))
    for count, width in make.draw(8, lines_of, lines_cost):
        yield Probe(aten.mean.dim, (make(count, width), [-1], True))
    tables = [(80, 40, 80), (300, 80, 400), (1500, 160, 1600), (5000, 256, 1000), (20_000, 400, 3000), (30_000, 96, 600)]
    for words, width, length in tables:
        index = make.indices(words, 4, length // 4)
        yield Probe(aten.embedding.default, (make(words, width), index))
        yield Probe(aten.embedding_dense_backward.default, (make(4, length // 4, width), index, words, -1, False))
