"""Comparisons of a captured step with the model, at the precision of the numbers in it."""

from __future__ import annotations

import contextlib

import pytest

torch = pytest.importorskip("torch")

import torch_models as models  # noqa: E402
from pebble_bridge import torch as planning  # noqa: E402
from pebble_bridge.torch import measure  # noqa: E402
from pebble_bridge.torch.capture import Captured  # noqa: E402
from torch import nn  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")
SIZES = {"batch": 2, "length": 16, "layers": 1, "heads": 2, "width": 16}
MODES = ["float32", "float64", "autocast to bfloat16", "autocast to float16", "bfloat16"]


def in_mode(mode: str, model: nn.Module):
    """Converts a model, and returns the context in which it is planned."""
    dtype = getattr(torch, mode.split()[-1])
    if mode.startswith("autocast"):
        return torch.autocast("cpu", dtype=dtype)
    model.to(dtype)
    return contextlib.nullcontext()


class Branches(nn.Module):
    """The gradient of x is a sum of four, which capture and autograd may add in different orders."""

    def __init__(self, width: int = 32):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.ways = nn.ModuleList(nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        x = self.first(x.to(self.first.weight.dtype)).tanh()
        return sum((way(x) * x).tanh() for way in self.ways).square().mean()


@pytest.mark.parametrize("mode", MODES)
def test_orders_of_sums_are_no_difference(mode):
    model = Branches()
    with in_mode(mode, model):
        planner = planning.Planner(model, torch.randn(64, 32), options=planning.Options(time=0.5))
        eps = measure.precision_of(planner.captured.program)
    assert eps == torch.finfo(getattr(torch, mode.split()[-1])).eps


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["blocks.0.mlp.2.bias", "blocks.0.attention.qkv.weight"])
def test_a_wrong_gradient_is_noticed_at_any_precision(mode, name, monkeypatch):
    model, inputs, loss = models.gpt(**SIZES)
    right = Captured.plain_results

    def wrong(captured):
        outputs, gradients = right(captured)
        gradients[captured.parameter_names.index(name)] *= 1.2
        return outputs, gradients

    monkeypatch.setattr(Captured, "plain_results", wrong)
    with in_mode(mode, model), pytest.raises(planning.Unsupported, match=f"the gradient of {name} .* differs"):
        planning.Planner(model, inputs, loss)


def test_differences_are_measured_by_their_root_mean_square():
    expected = torch.randn(1000)
    noise, half, whole = torch.randn(1000), torch.finfo(torch.bfloat16).eps, torch.finfo(torch.float32).eps
    assert measure.nearly_equal(expected, expected + 1e-2 * noise, half)
    assert not measure.nearly_equal(expected, expected + 1e-2 * noise, whole)
    assert not measure.nearly_equal(expected, expected.roll(1), half)
    assert not measure.nearly_equal(torch.zeros(1000), 1e-6 * noise, whole)
    assert measure.nearly_equal(torch.zeros(1000), 1e-6 * noise, whole, scale=1.0)
    assert not measure.nearly_equal(torch.arange(3), torch.arange(1, 4), half)


def test_what_is_not_finite_must_agree():
    eps = torch.finfo(torch.float16).eps
    holes = torch.tensor([1.0, float("inf"), float("nan"), 2.0])
    assert measure.nearly_equal(holes, holes.clone(), eps)
    assert not measure.nearly_equal(holes, torch.tensor([1.0, 3.0, float("nan"), 2.0]), eps)
    assert not measure.nearly_equal(holes, torch.tensor([1.0, float("inf"), float("nan"), 4.0]), eps)
    assert not measure.nearly_equal(torch.ones(2), torch.tensor([1.0, float("nan")]), eps)
    assert measure.magnitude(torch.tensor([3.0, float("inf"), 4.0])) == pytest.approx(12.5**0.5)
    assert measure.magnitude(torch.zeros(0)) == 0.0 and measure.magnitude(torch.ones(2, dtype=torch.long)) == 0.0


@pytest.mark.parametrize(("mode", "p"), [("float32", 0.15), ("float32", 0.1), ("bfloat16", 0.1), ("float16", 0.3)])
def test_dropout_has_the_factor_of_eager_pytorch(mode, p):
    """On processors it is 1 / (1 - p) in the precision of the tensor, for values and for gradients."""
    model, x = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Dropout(p), nn.Linear(64, 8)), torch.randn(32, 16)
    model.to(getattr(torch, mode))
    x = x.to(getattr(torch, mode))
    planning.budget(model, "100%", time=0.2, verbose=False)

    def results():
        torch.manual_seed(1)
        output = model(x)
        output.backward(torch.ones_like(output))
        found = [output.detach(), *(parameter.grad for parameter in model.parameters())]
        model.zero_grad()
        return found

    planned = results()
    assert planning.plans(model)
    planning.release(model)
    assert all(map(torch.equal, planned, results()))
