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

SIZES = {"batch": 2, "length": 16, "layers": 1, "heads": 2, "width": 16}
MODES = ["float32", "float64", "autocast to bfloat16", "autocast to float16", "bfloat16"]


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


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
