"""Small networks whose training steps are timed to measure this computer: kernels run there as in other steps.

A kernel that is called alone, again and again, finds other things in caches than one that follows the operation before
it in a step; memory-bound kernels then differ by a quarter. Sizes are drawn evenly by magnitude, the same ones every
time. The networks have the layers of common ones, and are none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

from .probes import Draw


class Network(NamedTuple):
    """What `capture` takes."""

    model: nn.Module
    inputs: tuple
    loss: Callable[..., Any]


def networks(dtype: torch.dtype, device: str, quick: bool) -> Iterator[Callable[[], Network]]:
    """Makers of each network; with `quick` one of each kind."""
    kinds = ((transformer, 10), (residual, 9), (images, 7), (separable, 4), (layers, 5))
    for kind, count in kinds:
        draw = Draw()
        for _ in range(1 if quick else count):
            made = kind(draw)
            yield lambda made=made: placed(*made, dtype, device)


def placed(make: Callable[[], nn.Module], shape: tuple[int, ...], classes: int, *where: Any) -> Network:
    """The network on its device with random inputs: tokens, or numbers of this shape."""
    dtype, device = where
    model = make().to(device=device, dtype=dtype)
    if classes < 0:  # an image for an image
        x = torch.randn(shape, device=device).to(dtype)
        return Network(model, (x, torch.randn(shape, device=device).to(dtype)), nn.MSELoss())
    if len(shape) == 2 and hasattr(model, "words"):
        x, labels = torch.randint(classes, shape, device=device), torch.randint(classes, shape, device=device)
        return Network(model, (x, labels), lambda out, y: F.cross_entropy(out.flatten(0, 1), y.flatten()))
    x = torch.randn(shape, device=device).to(dtype)
    return Network(model, (x, torch.randint(classes, shape[:1], device=device)), nn.CrossEntropyLoss())


class RootNorm(nn.Module):
    """The root mean square norm, written out."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.scale * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class Attention(nn.Module):
    """Attention of several heads: fused, or written out with a mask."""

    def __init__(self, width: int, heads: int, fused: bool, causal: bool) -> None:
        super().__init__()
        self.heads, self.fused, self.causal = heads, fused, causal
        self.inputs, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.inputs(x).split(width, 2)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        if self.fused:
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        else:
            scores = q @ k.transpose(-2, -1) * (q.shape[-1] ** -0.5)
            if self.causal:
                mask = torch.ones(length, length, device=x.device).bool().tril().logical_not()
                scores = scores.masked_fill(mask, float("-inf"))
            mixed = F.softmax(scores, -1) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Gated(nn.Module):
    """Two layers with a gate."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.gate, self.up, self.down = nn.Linear(width, inner), nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, form: dict[str, Any]) -> None:
        super().__init__()
        norm = RootNorm if form["gated"] else nn.LayerNorm
        self.one, self.two = norm(width), norm(width)
        self.attention = Attention(width, heads, form["fused"], form["causal"])
        if form["gated"]:
            self.inner: nn.Module = Gated(width, 8 * width // 3 // 16 * 16)
        else:
            act = nn.GELU(approximate="tanh" if form["tanh"] else "none")
            self.inner = nn.Sequential(nn.Linear(width, 4 * width), act, nn.Linear(4 * width, width), nn.Dropout(0.1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.one(x))
        return x + self.inner(self.two(x))


class Language(nn.Module):
    def __init__(self, vocabulary: int, length: int, width: int, heads: int, form: dict[str, Any]) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads, form) for _ in range(2)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        place = torch.arange(x.shape[1], device=x.device)
        return self.head(self.norm(self.blocks(self.words(x) + self.places(place))))


def transformer(draw: Draw) -> tuple:
    while True:
        deep, heads = draw.of(16, 32, 32, 64, 64), draw.of(2, 3, 4, 6, 8)
        batch, length, width = draw.between(2, 32), draw.between(32, 400, 8), deep * heads
        tokens = batch * length
        if 300 < tokens < 4000 and 64 <= width <= 512 and tokens * width < 4e5 and tokens * heads * length < 2.5e6:
            break
    form = {"causal": draw.of(True, False), "tanh": draw.of(True, False)}
    form |= {"fused": draw.of(True, False, False), "gated": draw.of(True, False, False)}
    words = draw.between(200, 4000, 8)
    return lambda: Language(words, length, width, heads, form), (batch, length), words


class Residual(nn.Module):
    """Two convolutions, or three with a narrow one in the middle."""

    def __init__(self, inputs: int, width: int, stride: int, narrow: bool) -> None:
        super().__init__()
        if narrow:
            inner = max(8, width // 4)
            sizes = [(inputs, inner, 1, 1), (inner, inner, 3, stride), (inner, width, 1, 1)]
        else:
            sizes = [(inputs, width, 3, stride), (width, width, 3, 1)]
        parts: list[nn.Module] = []
        for one, two, kernel, step in sizes:
            parts += [nn.Conv2d(one, two, kernel, step, kernel // 2, bias=False), nn.BatchNorm2d(two), nn.ReLU()]
        self.body = nn.Sequential(*parts[:-1])
        same = stride == 1 and inputs == width
        self.past: nn.Module = nn.Identity()
        if not same:
            self.past = nn.Sequential(nn.Conv2d(inputs, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.body(x) + self.past(x))


def residual(draw: Draw) -> tuple:
    batch, image, width = draw.between(6, 32), draw.of(48, 56, 64, 72, 80, 96), draw.between(16, 48, 8)
    while batch * image * image * width > 4e6:
        batch = max(2, 3 * batch // 4)
        width = max(16, width - 8)
    narrow, kernel = draw.of(True, False), draw.of(3, 5, 7)
    first = 4 * width if narrow else width

    def make() -> nn.Module:
        stem = [nn.Conv2d(3, width, kernel, 2, kernel // 2, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
        stem += [nn.MaxPool2d(3, 2, 1)] if kernel > 3 else []
        rows = [(width, first, 1), (first, first, 1), (first, 2 * first, 2), (2 * first, 2 * first, 1)]
        body = [Residual(*row, narrow) for row in rows]
        return nn.Sequential(*stem, *body, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 * first, 24))

    return make, (batch, 3, image, image), 24


class Hourglass(nn.Module):
    """Halves an image, doubles it again, and joins it with what it was."""

    def __init__(self, width: int, group: bool) -> None:
        super().__init__()

        def block(inputs: int, outputs: int) -> nn.Module:
            if group:
                return nn.Sequential(nn.GroupNorm(4, inputs), nn.SiLU(), nn.Conv2d(inputs, outputs, 3, padding=1))
            conv = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
            return nn.Sequential(conv, nn.BatchNorm2d(outputs), nn.ReLU())

        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.last = nn.Conv2d(width, 3, 3 if group else 1, padding=int(group))
        self.down, self.inner = block(width, width), nn.Sequential(block(width, 2 * width), block(2 * width, 2 * width))
        self.shrink: nn.Module = nn.AvgPool2d(2) if group else nn.MaxPool2d(2)
        self.grow: nn.Module = nn.ConvTranspose2d(2 * width, width, 2, 2)
        if group:
            self.grow = nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(2 * width, width, 3, padding=1))
        self.up = nn.Sequential(block(2 * width, width), block(width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.down(self.first(x))
        inner = self.grow(self.inner(self.shrink(x)))
        return self.last(self.up(torch.cat([x, inner], 1)))


def images(draw: Draw) -> tuple:
    batch, image, width = draw.between(2, 6), draw.of(40, 48, 56, 64, 80), draw.between(16, 56, 4)
    while batch * image * image * width > 7e5:
        batch, width = max(1, batch // 2), max(12, width - 4)
    group = draw.of(True, False)
    return lambda: Hourglass(width, group), (batch, 3, image, image), -1


def separable(draw: Draw) -> tuple:
    batch, image, width = draw.between(4, 12), draw.of(40, 48, 56, 64, 72), draw.between(8, 32, 8)
    act = draw.of(nn.Hardswish, nn.SiLU, nn.ReLU6)
    sizes, inputs = [], width
    for stride in (1, 2, 1, 2):
        outputs = inputs * draw.of(1, 1, 2)
        sizes.append((inputs, inputs * draw.of(3, 4, 6), outputs, draw.of(3, 3, 5), stride))
        inputs = outputs

    def make() -> nn.Module:
        parts: list[nn.Module] = [nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), act()]
        for one, wide, two, kernel, stride in sizes:
            parts += [nn.Conv2d(one, wide, 1, bias=False), nn.BatchNorm2d(wide), act()]
            parts += [nn.Conv2d(wide, wide, kernel, stride, kernel // 2, groups=wide, bias=False)]
            parts += [nn.BatchNorm2d(wide), act()]
            parts += [nn.Conv2d(wide, two, 1, bias=False), nn.BatchNorm2d(two)]
        return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 30))

    return make, (batch, 3, image, image), 30


def layers(draw: Draw) -> tuple:
    batch, width = draw.between(500, 8000, 8), draw.between(64, 512, 16)
    while batch * width * width > 4e8:
        batch //= 2
    act = draw.of(nn.ReLU, nn.GELU, nn.Tanh, nn.SiLU)

    def make() -> nn.Module:
        rest = [part for _ in range(3) for part in (nn.Linear(width, width), act())]
        return nn.Sequential(nn.Linear(width // 2, width), act(), *rest, nn.Linear(width, 16))

    return make, (batch, width // 2), 16
