"""A model with a budget that changes between two steps: the next step is planned anew and computes what eager computes."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch")

from pebble_bridge import torch as planning  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.nn.utils import parametrizations, parametrize, prune  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")
WIDTH, WORDS = 16, 20


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.first = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.norm, self.drop = nn.BatchNorm1d(WIDTH), nn.Dropout(0.3)
        self.second, self.head = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WORDS, bias=False)
        self.scale, self.factors, self.table, self.heads = 1.0, [1.0, 2.0], {"deep": {"z": 2.0}}, 2

    def forward(self, x, labels):
        h = self.first(self.embed(x)).tanh()
        h = self.drop(self.norm(h.flatten(0, 1)).view_as(h))
        q = h.view(*h.shape[:2], self.heads, -1).transpose(1, 2)
        h = h + F.scaled_dot_product_attention(q, q, q, is_causal=True).transpose(1, 2).reshape(h.shape)
        h = self.second(h) * self.scale * self.factors[1] * self.table["deep"]["z"]
        return F.cross_entropy(self.head(h).flatten(0, 1), labels.flatten())


class Twice(nn.Linear):
    def forward(self, x):
        return super().forward(x) * 2


class Adapter(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner, self.down, self.up = inner.requires_grad_(False), nn.Linear(WIDTH, 2), nn.Linear(2, WIDTH)

    def forward(self, x):
        return self.inner(x) + self.up(self.down(x))


class Double(nn.Module):
    def forward(self, weight):
        return 2 * weight


def double(model):
    model.double()


def assign_state(model):
    state = {key: 2 * value if value.is_floating_point() else value for key, value in model.state_dict().items()}
    model.load_state_dict(state, assign=True)


def replace_forward(model):
    model.first.forward = lambda x: 2 * F.linear(x, model.first.weight)


CHANGES = {
    "a forward hook": lambda m: m.first.register_forward_hook(lambda *a: 2 * a[2]),
    "a pre-hook": lambda m: m.second.register_forward_pre_hook(lambda *a: (3 * a[1][0],)),
    "a backward hook": lambda m: m.second.register_full_backward_hook(lambda *a: (3 * a[1][0],)),
    "a forward": replace_forward,
    "a class": lambda m: setattr(m.first, "__class__", Twice),
    "a number": lambda m: setattr(m, "scale", 3.0),
    "an entry of a list": lambda m: m.factors.__setitem__(1, 5.0),
    "an entry of a dict": lambda m: m.table["deep"].__setitem__("z", 0.25),
    "an integer": lambda m: setattr(m, "heads", 4),
    "assigned parameters": assign_state,
    "a type": double,
    "tied weights": lambda m: setattr(m.head, "weight", m.embed.weight),
    "frozen weights": lambda m: m.first.requires_grad_(False),
    "eval of a part": lambda m: m.norm.eval(),
    "momentum": lambda m: setattr(m.norm, "momentum", 0.9),
    "weight norm": lambda m: parametrizations.weight_norm(m.first),
    "spectral norm": lambda m: parametrizations.spectral_norm(m.first),
    "a parametrization": lambda m: parametrize.register_parametrization(m.second, "weight", Double()),
    "pruning": lambda m: prune.l1_unstructured(m.second, "weight", 0.5),
    "an adapter": lambda m: setattr(m, "first", Adapter(m.first)),
    "a removed bias": lambda m: setattr(m.first, "bias", None),
    "a replaced buffer": lambda m: setattr(m.norm, "running_mean", torch.ones(WIDTH)),
}


def step(model):
    model.zero_grad()
    x = torch.arange(24).view(3, 8) % WORDS
    torch.manual_seed(5)
    loss = model(x, labels=x.flip(1))
    loss.backward()
    return [loss.detach(), *(parameter.grad for parameter in model.parameters()), *model.buffers()]


def agree(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None) and (one is None or torch.equal(one, other))


def pair():
    """A model with a budget that has run a step, and the same one without."""
    model = Net()
    plain = copy.deepcopy(model)
    planning.budget(model, "110%", costs="flops", time=0.1, verbose=False)
    agree(step(model), step(plain))
    assert len(planning.plans(model)) == 1
    return model, plain


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_model_is_planned_anew(what):
    model, plain = pair()
    for each in (model, plain):
        torch.manual_seed(3)
        CHANGES[what](each)
    agree(step(model), step(plain))
    assert len(planning.plans(model)) == 2


def test_settings_of_torch_are_followed():
    model, plain = pair()
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        agree(step(model), step(plain))
    torch.use_deterministic_algorithms(True)
    try:
        agree(step(model), step(plain))
    finally:
        torch.use_deterministic_algorithms(False)
    assert len(planning.plans(model)) == 3
    agree(step(model), step(plain))
    assert len(planning.plans(model)) == 3


def test_a_replaced_function_of_torch_is_noticed(monkeypatch):
    model, _ = pair()
    before = F.cross_entropy
    monkeypatch.setattr(F, "cross_entropy", lambda *args: 2 * before(*args))
    ((entry,),) = model.forward.entries.values()
    with pytest.raises(planning.Unsupported, match=r"torch\.nn\.functional changed from cross_entropy"):
        entry.captured.state.check()


@pytest.mark.parametrize("inside", [False, True])
def test_a_model_that_is_compiled_after_its_budget_runs_its_plan(inside):
    model, plain = pair()
    compiled = model if inside else torch.compile(model, backend="eager")
    if inside:
        model.compile(backend="eager")
    used = model.forward.used
    used.clear()
    for _ in range(2):
        agree(step(compiled), step(plain))
    assert used and len(planning.plans(model)) == 1


def test_a_model_with_a_budget_can_be_exported():
    model = planning.budget(nn.Sequential(nn.Linear(4, 4), nn.Tanh()).eval(), "100%", verbose=False)
    exported = torch.export.export(model, (torch.zeros(2, 4),))
    assert torch.equal(exported.module()(torch.ones(2, 4)), model(torch.ones(2, 4)).detach())


class Hidden(nn.Module):
    """Returns values that its backward pass reads for the last time in an operation that could overwrite them."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 64), nn.Linear(64, 64)

    def forward(self, x):
        hidden = self.first(x)
        last = self.second(F.gelu(hidden))
        return {"loss": F.gelu(last).square().mean(), "hidden": hidden, "last": last}


def test_outputs_are_not_overwritten_in_the_backward_pass():
    model = planning.budget(Hidden(), "80%", time=1, verbose=False)
    for _ in range(3):
        output = model(torch.randn(32, 8))
        before = [output["hidden"].detach().clone(), output["last"].detach().clone()]
        output["loss"].backward()
        assert all(map(torch.equal, before, [output["hidden"], output["last"]]))
    program = planning.plans(model)[0].captured.program
    returned = {program.value_of[node] for node in program.results[: program.early]}
    assert len(returned) == 3 and not any(returned & set(operation.over) for operation in program.operations)


def test_a_loss_outside_of_the_model_that_keeps_memory_has_room():
    """On processors the scalar of mse_loss holds a storage as large as its input until the backward pass is over."""
    torch.manual_seed(0)
    model = nn.Sequential(*(nn.Sequential(nn.Linear(32, 32), nn.GELU()) for _ in range(6)))
    x, y = torch.randn(512, 32), torch.randn(512, 32)

    def step():
        model.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        return loss

    step()
    limit = int(0.75 * planning.measure_peak(step))
    planning.budget(model, limit, time=1, verbose=False)
    step()
    assert next(iter(model.forward.kept_by_caller.values())) >= y.nbytes
    step()
    assert planning.measure_peak(step) <= limit and planning.plans(model)[0].captured.program.held >= y.nbytes
