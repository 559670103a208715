"""Calls of a model with a budget in surroundings of other code: tensors that its code keeps, checkpoints around it, transforms."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from pebble_bridge import torch as planning  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")
collected: dict[str, torch.Tensor] = {}


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        return x + self.two(torch.tanh(self.one(x)))


class Routed(nn.Module):
    """Keeps an auxiliary loss in an attribute, as mixtures of experts do, and a table that is the same at each call."""

    def __init__(self) -> None:
        super().__init__()
        self.layers, self.head = nn.ModuleList(Layer() for _ in range(4)), nn.Linear(16, 4)
        self.table, self.losses = None, []

    def forward(self, x):
        if self.table is None:
            self.table = torch.arange(16) / 16
        self.losses.clear()
        for layer in self.layers:
            x = layer(x + self.table)
            self.losses.append(x.square().mean())
        self.balance = x.logsumexp(-1).mean()
        return self.head(x)


class Tabled(Routed):
    """Keeps only the table."""

    def forward(self, x):
        if self.table is None:
            self.table = torch.arange(16) / 16
        for layer in self.layers:
            x = layer(x + self.table)
        return self.head(x)


def seeded(kind: type[nn.Module]) -> nn.Module:
    torch.manual_seed(0)
    return kind()


def gradients(model: nn.Module, loss: torch.Tensor) -> list[torch.Tensor]:
    model.zero_grad()
    loss.backward()
    return [parameter.grad.clone() for parameter in model.parameters()]


def budgeted(model: nn.Module, limit: str = "100%") -> nn.Module:
    return planning.budget(model, limit, time=0.3, verbose=False)


def batches():
    return [torch.randn(64, 16, generator=torch.Generator().manual_seed(seed)) for seed in range(3)]


def test_tensors_that_forward_keeps_are_those_of_this_step():
    def run(model, x):
        output = model(x)
        return output.mean() + 0.1 * model.balance + sum(model.losses)

    plain = seeded(Routed)
    expected = [gradients(plain, run(plain, x)) for x in batches()]
    model = budgeted(seeded(Routed))
    for x, wanted in zip(batches(), expected, strict=True):
        found = gradients(model, run(model, x))
        assert all(torch.allclose(a, b, rtol=1e-5, atol=1e-7) for a, b in zip(wanted, found, strict=True))
        assert len(model.losses) == 4
    assert "regions" in str(planning.plans(model)[0].report())  # its layers are planned


def test_a_table_that_forward_keeps_is_no_obstacle():
    model = budgeted(seeded(Tabled))
    for x in batches():
        model(x).mean().backward()
    (planned,) = planning.plans(model)
    assert planned.plan.metrics.peak > 0  # the plan of the whole model


def test_what_a_hook_collects_is_of_this_step():
    def keep(module, args, output):
        collected["layer"] = output

    plain, model = seeded(Tabled), seeded(Tabled)
    for one in (plain, model):
        one.layers[1].register_forward_hook(keep)
    budgeted(model)
    for x in batches():
        expected = gradients(plain, plain(x).mean() + collected["layer"].square().mean())
        before = collected["layer"]
        found = gradients(model, model(x).mean() + collected["layer"].square().mean())
        assert collected["layer"] is not before
        assert torch.allclose(collected["layer"], before)
        assert all(torch.allclose(a, b, rtol=1e-5, atol=1e-7) for a, b in zip(expected, found, strict=True))


@pytest.mark.parametrize("reentrant", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_checkpoint_around_a_planned_layer(reentrant):
    def run(model, x):
        for layer in model.layers:
            x = checkpoint(layer, x, use_reentrant=reentrant)
        return model.head(x).mean()

    x = batches()[0].requires_grad_()
    plain, model = seeded(Tabled), seeded(Tabled)
    for layer in model.layers:
        budgeted(layer)
    for _ in range(2):
        expected, found = gradients(plain, run(plain, x)), gradients(model, run(model, x))
        assert all(torch.equal(a, b) for a, b in zip(expected, found, strict=True))


def test_transforms_and_other_parameters_are_refused():
    model, x = budgeted(seeded(Tabled)), batches()[0]
    values = {name: parameter.detach().clone().requires_grad_() for name, parameter in model.named_parameters()}
    with pytest.raises(planning.Unsupported, match="replaced by another tensor during this call.*release"):
        torch.func.functional_call(model, values, (x,))
    with pytest.raises(planning.Unsupported, match=r"inside a transform of torch\.func.*release"):
        torch.func.grad(lambda own: torch.func.functional_call(model, own, (x,)).mean())(values)
    planning.release(model)
    torch.func.functional_call(model, values, (x,)).mean().backward()


def test_data_parallel_is_refused():
    with pytest.raises(planning.Unsupported, match="DataParallel.*DistributedDataParallel"):
        planning.budget(nn.DataParallel(seeded(Tabled)))


@pytest.mark.long
def test_copies_of_data_parallel_are_refused():
    model, x = budgeted(seeded(Tabled)), batches()[0]
    model(x).mean().backward()
    with pytest.raises(planning.Unsupported, match="a copy of the model.*DataParallel"):
        model._replicate_for_data_parallel()(x)  # what DataParallel calls on each device
