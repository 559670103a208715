"""The networks that the tests and bench/torch_table plan: written here in full, so that nothing but torch is needed.

Each maker returns ``(model, inputs, loss)`` as ``pebble_bridge.torch.fit`` takes them. Sizes are arguments: tests ask
for small ones, the table for such that activations dominate parameters.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

Case = tuple[nn.Module, tuple[torch.Tensor, ...], Callable]


def mlp(depth: int = 6, width: int = 64, batch: int = 128, classes: int = 10, dropout: float = 0.0) -> Case:
    """Blocks of a linear layer, GELU and, with `dropout`, dropout; a linear layer at the end."""

    def block(draws: bool) -> nn.Module:
        return nn.Sequential(nn.Linear(width, width), nn.GELU(), *([nn.Dropout(dropout)] if draws else []))

    blocks = [block(dropout > 0 and i > 0) for i in range(depth - 1)]
    inputs = (torch.randn(batch, width), torch.randint(classes, (batch,)))
    return nn.Sequential(*blocks, nn.Linear(width, classes)), inputs, nn.CrossEntropyLoss()


class BasicBlock(nn.Module):
    """Two 3x3 convolutions and a shortcut, as in ResNet-18."""

    expansion = 1

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = shortcut(inputs, width, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        y += self.shortcut(x)
        return self.relu(y)


class Bottleneck(nn.Module):
    """A 3x3 convolution between two 1x1 ones and a shortcut, as in ResNet-50."""

    expansion = 4

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = shortcut(inputs, 4 * width, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        y += self.shortcut(x)
        return self.relu(y)


def shortcut(inputs: int, outputs: int, stride: int) -> nn.Module:
    if stride == 1 and inputs == outputs:
        return nn.Identity()
    return nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))


class ResNet(nn.Module):
    """Residual network; `block` and `counts` as in the paper. The stem is a 7x7 convolution and max pooling as for
    ImageNet, or, with `pooled` false, a 3x3 one as for small images."""

    def __init__(
        self, block: type, counts: tuple[int, ...], width: int = 64, classes: int = 10, pooled: bool = True
    ) -> None:
        super().__init__()
        first = nn.Conv2d(3, width, 7, 2, 3, bias=False) if pooled else nn.Conv2d(3, width, 3, 1, 1, bias=False)
        self.stem = nn.Sequential(
            first, nn.BatchNorm2d(width), nn.ReLU(inplace=True), *([nn.MaxPool2d(3, 2, 1)] if pooled else [])
        )
        stages, channels = [], width
        for i, count in enumerate(counts):
            blocks = []
            for j in range(count):
                blocks.append(block(channels, width << i, 2 if i and not j else 1))
                channels = (width << i) * block.expansion
            stages.append(nn.Sequential(*blocks))
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(channels, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.stages(self.stem(x)).mean((2, 3)))


def resnet18(batch: int = 2, image: int = 32, width: int = 16, classes: int = 10, pooled: bool = True) -> Case:
    inputs = (torch.randn(batch, 3, image, image), torch.randint(classes, (batch,)))
    return ResNet(BasicBlock, (2, 2, 2, 2), width, classes, pooled), inputs, nn.CrossEntropyLoss()


def resnet50(
    batch: int = 2,
    image: int = 32,
    width: int = 8,
    classes: int = 10,
    pooled: bool = True,
    counts: tuple[int, ...] = (3, 4, 6, 3),
) -> Case:
    inputs = (torch.randn(batch, 3, image, image), torch.randint(classes, (batch,)))
    return ResNet(Bottleneck, counts, width, classes, pooled), inputs, nn.CrossEntropyLoss()


class DoubleConv(nn.Sequential):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
        )


def level(inputs: int, outputs: int, blocks: int) -> nn.Module:
    return nn.Sequential(DoubleConv(inputs, outputs), *(DoubleConv(outputs, outputs) for _ in range(blocks - 1)))


class UNet(nn.Module):
    """Down by pooling, up by transposed convolutions, skips by concatenation; one class per pixel. Each level has
    `blocks` double convolutions on either side: one as in the paper, two as in later ones."""

    def __init__(self, depth: int, width: int, classes: int, blocks: int) -> None:
        super().__init__()
        widths = [width << i for i in range(depth + 1)]
        self.first = level(3, width, blocks)
        self.down = nn.ModuleList(level(a, b, blocks) for a, b in itertools.pairwise(widths))
        self.rise = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in itertools.pairwise(widths))
        self.up = nn.ModuleList(level(2 * a, a, blocks) for a in widths[:-1])
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skips = [self.first(x)]
        for down in self.down:
            skips.append(down(F.max_pool2d(skips[-1], 2)))
        y = skips.pop()
        for rise, up in zip(reversed(self.rise), reversed(self.up), strict=False):
            y = up(torch.cat([skips.pop(), rise(y)], 1))
        return self.head(y)


def unet(batch: int = 1, image: int = 32, width: int = 8, depth: int = 3, classes: int = 4, blocks: int = 1) -> Case:
    inputs = (torch.randn(batch, 3, image, image), torch.randint(classes, (batch, image, image)))
    return UNet(depth, width, classes, blocks), inputs, nn.CrossEntropyLoss()


class Attention(nn.Module):
    """Causal self-attention, written out as in GPT-2; `fused` calls torch's own kernel instead."""

    def __init__(self, width: int, heads: int, context: int, dropout: float, fused: bool) -> None:
        super().__init__()
        self.heads, self.fused = heads, fused
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.attention_dropout = nn.Dropout(dropout)
        self.residual_dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context, context).tril().bool().view(1, 1, context, context))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in self.qkv(x).split(width, 2))
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
            scores = scores.masked_fill(~self.mask[:, :, :length, :length], float("-inf"))
            y = self.attention_dropout(scores.softmax(-1)) @ v
        return self.residual_dropout(self.out(y.transpose(1, 2).reshape(batch, length, width)))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, context: int, dropout: float, fused: bool) -> None:
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, context, dropout, fused)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width), nn.Dropout(dropout)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    """A GPT-2-like decoder with tied embeddings; returns the logits."""

    def __init__(
        self, vocabulary: int, context: int, layers: int, heads: int, width: int, dropout: float, fused: bool
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(context, width)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.Sequential(*(Block(width, heads, context, dropout, fused) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        places = torch.arange(tokens.size(1), device=tokens.device)
        return self.head(self.norm(self.blocks(self.dropout(self.tokens(tokens) + self.places(places)))))


def next_token_loss(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


def gpt(
    batch: int = 2,
    length: int = 32,
    layers: int = 2,
    heads: int = 2,
    width: int = 32,
    vocabulary: int = 64,
    dropout: float = 0.0,
    fused: bool = False,
) -> Case:
    tokens = torch.randint(vocabulary, (batch, length))
    return GPT(vocabulary, length, layers, heads, width, dropout, fused), (tokens, tokens.clone()), next_token_loss


CASES: dict[str, Callable[..., Case]] = {
    "mlp": mlp,
    "resnet18": resnet18,
    "resnet50": resnet50,
    "unet": unet,
    "gpt": gpt,
}

# The blocks that people wrap with torch.utils.checkpoint, by module name.
BLOCKS: dict[str, Callable[[nn.Module], list[str]]] = {
    "mlp": lambda model: [name for name, module in model.named_children() if isinstance(module, nn.Sequential)],
    "resnet18": lambda model: [name for name, module in model.named_modules() if isinstance(module, BasicBlock)],
    "resnet50": lambda model: [name for name, module in model.named_modules() if isinstance(module, Bottleneck)],
    "unet": lambda model: [name for name, module in model.named_modules() if isinstance(module, DoubleConv)],
    "gpt": lambda model: [name for name, module in model.named_modules() if isinstance(module, Block)],
}
