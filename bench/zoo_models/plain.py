"""Models in plain torch, as research code writes them."""
from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
import torch_models  # of python/tests
from torch import nn

from .case import Case


def tested(name: str, **sizes: int | float | bool) -> Callable[[], Case]:
    """A network of the tests."""

    def build() -> Case:
        model, (inputs, target), loss = torch_models.CASES[name](**sizes)
        argument = {"gpt": "tokens", "mlp": "input"}.get(name, "x")
        return Case(model.train(), {argument: inputs}, lambda output, target: loss(output, target), {"target": target})

    return build


def cross_entropy(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits.flatten(0, -2), target.flatten())


class Recurrent(nn.Module):
    """A language model by an LSTM or a GRU."""

    def __init__(self, kind: type[nn.RNNBase], vocabulary: int, width: int) -> None:
        super().__init__()
        self.embed, self.dropout = nn.Embedding(vocabulary, width), nn.Dropout(0.2)
        self.layers, self.head = kind(width, width, 2, batch_first=True, dropout=0.2), nn.Linear(width, vocabulary)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.dropout(self.layers(self.dropout(self.embed(tokens)))[0]))


def recurrent(kind: type[nn.RNNBase]) -> Case:
    tokens = torch.randint(500, (32, 49))
    return Case(Recurrent(kind, 500, 96), {"tokens": tokens[:, :-1].clone()}, cross_entropy, {"target": tokens[:, 1:].clone()})


class Translator(nn.Module):
    """nn.Transformer with masks of padding."""

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.embed, self.places = nn.Embedding(vocabulary, width, padding_idx=0), nn.Parameter(torch.randn(128, width) * 0.02)
        self.body = nn.Transformer(width, 4, 3, 3, 3 * width, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        causal = nn.Transformer.generate_square_subsequent_mask(target.size(1))
        parts = [self.embed(tokens) + self.places[: tokens.size(1)] for tokens in (source, target)]
        return self.head(self.body(*parts, tgt_mask=causal, src_key_padding_mask=source == 0, memory_key_padding_mask=source == 0))


def translator() -> Case:
    source, target = torch.randint(1, 500, (12, 80)), torch.randint(1, 500, (12, 61))
    source[::2, 60:] = 0
    return Case(Translator(500, 96), {"source": source, "target": target[:, :-1].clone()}, cross_entropy, {"target": target[:, 1:].clone()})


class Adversary(nn.Module):
    """A discriminator's step: real images and generated ones, which get no gradient."""

    def __init__(self, width: int) -> None:
        super().__init__()

        def down(a: int, b: int) -> nn.Module:
            return nn.Sequential(nn.Conv2d(a, b, 4, 2, 1, bias=False), nn.BatchNorm2d(b), nn.LeakyReLU(0.2, inplace=True))

        def up(a: int, b: int) -> nn.Module:
            return nn.Sequential(nn.ConvTranspose2d(a, b, 4, 2, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True))

        self.discriminator = nn.Sequential(nn.Conv2d(3, width, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True), down(width, 2 * width),
                                           down(2 * width, 4 * width), nn.Conv2d(4 * width, 1, 8))  # fmt: skip
        self.generator = nn.Sequential(nn.ConvTranspose2d(32, 4 * width, 8), up(4 * width, 2 * width), up(2 * width, width),
                                       nn.ConvTranspose2d(width, 3, 4, 2, 1), nn.Tanh()).requires_grad_(False)  # fmt: skip

    def forward(self, real: torch.Tensor, noise: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        with torch.no_grad():
            made = self.generator(noise)
        return self.discriminator(real).flatten(), self.discriminator(made.detach()).flatten()


def adversary() -> Case:
    def loss(output: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        real, made = output
        return (F.binary_cross_entropy_with_logits(real, torch.full_like(real, 0.9))
                + F.binary_cross_entropy_with_logits(made, torch.zeros_like(made)))  # fmt: skip

    return Case(Adversary(24), {"real": torch.randn(32, 3, 64, 64), "noise": torch.randn(32, 32, 1, 1)}, loss)


class GraphLayer(nn.Module):
    """Messages along edges, added up at their ends, over the degree."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.message, self.update, self.norm = nn.Linear(2 * width, width), nn.Linear(2 * width, width), nn.LayerNorm(width)

    def forward(self, nodes: torch.Tensor, start: torch.Tensor, end: torch.Tensor) -> torch.Tensor:
        messages = F.relu(self.message(torch.cat([nodes[start], nodes[end]], -1)))
        total = torch.zeros_like(nodes).index_add(0, end, messages)
        degree = torch.zeros(nodes.size(0)).index_add(0, end, torch.ones(end.size(0))).clamp_min(1)
        return self.norm(nodes + F.relu(self.update(torch.cat([nodes, total / degree[:, None]], -1))))


class GraphNet(nn.Module):
    def __init__(self, features: int, width: int, layers: int, classes: int) -> None:
        super().__init__()
        self.first, self.head = nn.Linear(features, width), nn.Linear(width, classes)
        self.layers = nn.ModuleList(GraphLayer(width) for _ in range(layers))

    def forward(self, nodes: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        nodes = self.first(nodes)
        for layer in self.layers:
            nodes = F.dropout(layer(nodes, edges[0], edges[1]), 0.1, self.training)
        return self.head(nodes)


def graph() -> Case:
    values = {"nodes": torch.randn(2000, 32), "edges": torch.randint(2000, (2, 12000))}
    return Case(GraphNet(32, 64, 4, 7), values, F.cross_entropy, {"target": torch.randint(7, (2000,))})


class PointNet(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()

        def shared(*widths: int) -> nn.Module:
            return nn.Sequential(*(layer for a, b in zip(widths, widths[1:]) for layer in (nn.Conv1d(a, b, 1), nn.BatchNorm1d(b), nn.ReLU())))

        self.turn, self.angles = shared(3, 32, 64, 128), nn.Linear(128, 9)
        self.local, self.wide = shared(3, 64, 64), shared(64, 64, 128, 256)
        self.head = nn.Sequential(nn.Linear(256, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Dropout(0.3), nn.Linear(128, classes))

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        turn = self.angles(self.turn(points).max(-1).values).view(-1, 3, 3) + torch.eye(3)
        return self.head(self.wide(self.local(turn @ points)).max(-1).values)


def points() -> Case:
    return Case(PointNet(10), {"points": torch.randn(16, 3, 512)}, F.cross_entropy, {"target": torch.randint(10, (16,))})


class Denoiser(nn.Module):
    """The network of the tests, with an image as its output."""

    def __init__(self) -> None:
        super().__init__()
        self.body = torch_models.UNet(3, 12, 3, 1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return image - self.body(image)


def denoiser() -> Case:
    clean = torch.rand(4, 3, 80, 80)
    return Case(Denoiser(), {"image": clean + 0.1 * torch.randn_like(clean)}, lambda output, clean: F.mse_loss(output, clean), {"clean": clean})


class Variational(nn.Module):
    """Encoder, a sample by the reparametrisation, decoder."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.encode = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.SiLU(), nn.Conv2d(width, 2 * width, 3, 2, 1), nn.SiLU(),
                                    nn.Conv2d(2 * width, 16, 1))  # fmt: skip
        self.decode = nn.Sequential(nn.Conv2d(8, 2 * width, 1), nn.SiLU(), nn.ConvTranspose2d(2 * width, width, 4, 2, 1), nn.SiLU(),
                                    nn.ConvTranspose2d(width, width, 4, 2, 1), nn.SiLU(), nn.Conv2d(width, 3, 3, padding=1))  # fmt: skip

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        mean, logvar = self.encode(image).chunk(2, 1)
        return self.decode(mean + torch.randn_like(mean) * (0.5 * logvar).exp()), mean, logvar


def variational() -> Case:
    def loss(output: tuple[torch.Tensor, ...], image: torch.Tensor) -> torch.Tensor:
        made, mean, logvar = output
        divergence = -0.5 * (1 + logvar - mean.square() - logvar.exp()).sum((1, 2, 3)).mean()
        return F.mse_loss(made, image, reduction="sum") / len(image) + divergence

    image = torch.rand(16, 3, 64, 64)
    return Case(Variational(24), {"image": image}, loss, {"image": image.clone()})


class Mixer(nn.Module):
    def __init__(self, width: int, patches: int, layers: int, classes: int) -> None:
        super().__init__()

        def mlp(size: int, wide: int) -> nn.Module:
            return nn.Sequential(nn.Linear(size, wide), nn.GELU(), nn.Dropout(0.1), nn.Linear(wide, size), nn.Dropout(0.1))

        self.cut, self.head = nn.Conv2d(3, width, 8, 8), nn.Linear(width, classes)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * layers + 1))
        self.tokens = nn.ModuleList(mlp(patches, 2 * patches) for _ in range(layers))
        self.channels = nn.ModuleList(mlp(width, 4 * width) for _ in range(layers))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.cut(image).flatten(2).transpose(1, 2)
        for i, (tokens, channels) in enumerate(zip(self.tokens, self.channels)):
            x = x + tokens(self.norms[2 * i](x).transpose(1, 2)).transpose(1, 2)
            x = x + channels(self.norms[2 * i + 1](x))
        return self.head(self.norms[-1](x).mean(1))


def mixer() -> Case:
    return Case(Mixer(96, 64, 5, 10), {"image": torch.randn(16, 3, 64, 64)}, F.cross_entropy, {"target": torch.randint(10, (16,))})


class WaveNet(nn.Module):
    """Dilated causal convolutions with gates, residuals and skips."""

    def __init__(self, width: int, levels: int, dilations: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(levels, width)
        self.dilations = [2 ** (i % (dilations // 2)) for i in range(dilations)]
        self.gates = nn.ModuleList(nn.Conv1d(width, 2 * width, 2, dilation=d) for d in self.dilations)
        self.residuals = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in self.dilations)
        self.skips = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in self.dilations)
        self.head = nn.Sequential(nn.ReLU(), nn.Conv1d(width, width, 1), nn.ReLU(), nn.Conv1d(width, levels, 1))

    def forward(self, sound: torch.Tensor) -> torch.Tensor:
        x, total = self.embed(sound).transpose(1, 2), 0
        for dilation, gate, residual, skip in zip(self.dilations, self.gates, self.residuals, self.skips):
            value, open_ = gate(F.pad(x, (dilation, 0))).chunk(2, 1)
            y = torch.tanh(value) * torch.sigmoid(open_)
            x, total = x + residual(y), total + skip(y)
        return self.head(total)


def wavenet() -> Case:
    sound = torch.randint(128, (4, 1025))
    return Case(WaveNet(32, 128, 12), {"sound": sound[:, :-1].clone()}, F.cross_entropy, {"target": sound[:, 1:].clone()})


class NeuralODE(nn.Module):
    """A differential equation by Runge-Kutta steps of one network."""

    def __init__(self, features: int, width: int, steps: int) -> None:
        super().__init__()
        self.steps = steps
        self.slope = nn.Sequential(nn.Linear(features + 1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, features))
        self.head = nn.Linear(features, 10)

    def rate(self, time: float, state: torch.Tensor) -> torch.Tensor:
        return self.slope(torch.cat([state, torch.full_like(state[:, :1], time)], -1))

    def forward(self, state: torch.Tensor) -> torch.Tensor:
        h = 1 / self.steps
        for i in range(self.steps):
            a = self.rate(i * h, state)
            b = self.rate((i + 0.5) * h, state + 0.5 * h * a)
            c = self.rate((i + 0.5) * h, state + 0.5 * h * b)
            d = self.rate((i + 1) * h, state + h * c)
            state = state + h / 6 * (a + 2 * b + 2 * c + d)
        return self.head(state)


def ode() -> Case:
    return Case(NeuralODE(32, 64, 10), {"state": torch.randn(1024, 32)}, F.cross_entropy, {"target": torch.randint(10, (1024,))})


class Equilibrium(nn.Module):
    """A fixed point of one block, by unrolled iterations."""

    def __init__(self, width: int, rounds: int) -> None:
        super().__init__()
        self.rounds, self.first, self.head = rounds, nn.Conv2d(3, width, 3, padding=1), nn.Linear(width, 10)
        self.one, self.two = (nn.Conv2d(width, width, 3, padding=1, bias=False) for _ in range(2))
        self.norms = nn.ModuleList(nn.GroupNorm(8, width) for _ in range(3))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.first(image)
        z = torch.zeros_like(x)
        for _ in range(self.rounds):
            y = self.norms[0](F.relu(self.one(z)))
            z = self.norms[2](F.relu(z + self.norms[1](x + self.two(y))))
        return self.head(z.mean((2, 3)))


def equilibrium() -> Case:
    return Case(Equilibrium(24, 8), {"image": torch.randn(8, 3, 32, 32)}, F.cross_entropy, {"target": torch.randint(10, (8,))})


class Siamese(nn.Module):
    """One network on an anchor, a similar image and another one."""

    def __init__(self) -> None:
        super().__init__()
        self.body = torch_models.ResNet(torch_models.BasicBlock, (1, 1, 1), 12, 32, False)

    def forward(self, anchor: torch.Tensor, positive: torch.Tensor, negative: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(F.normalize(self.body(image), dim=-1) for image in (anchor, positive, negative))


def siamese() -> Case:
    values = {name: torch.randn(8, 3, 48, 48) for name in ("anchor", "positive", "negative")}
    return Case(Siamese(), values, lambda output: F.triplet_margin_loss(*output, margin=0.5))


MODELS: dict[str, Callable[[], Case]] = {
    "mlp": tested("mlp", depth=8, width=128, batch=4096),
    "mlp-dropout": tested("mlp", depth=8, width=128, batch=2048, dropout=0.1),
    "resnet18": tested("resnet18", batch=16, image=48, width=12, pooled=False),
    "resnet50": tested("resnet50", batch=16, image=80, width=8),
    "unet": tested("unet", batch=4, image=80, width=12, depth=3),
    "gpt": tested("gpt", batch=8, length=96, layers=4, heads=4, width=96, vocabulary=500, dropout=0.1),
    "lstm": lambda: recurrent(nn.LSTM),
    "gru": lambda: recurrent(nn.GRU),
    "transformer": translator,
    "gan": adversary,
    "gnn": graph,
    "pointnet": points,
    "denoiser": denoiser,
    "vae": variational,
    "mixer": mixer,
    "wavenet": wavenet,
    "neural-ode": ode,
    "equilibrium": equilibrium,
    "siamese": siamese,
}
