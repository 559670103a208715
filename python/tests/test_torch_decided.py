"""Models whose Python code reads numbers from inputs and buffers: each number has its plan."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch")

from pebble_bridge import torch as planning  # noqa: E402
from torch import nn  # noqa: E402


class Chooses(nn.Module):
    """Chooses a layer by its mask, which it also writes to, and a factor by a buffer."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 4)
        self.register_buffer("kind", torch.tensor(1))

    def forward(self, x, mask):
        copy = mask.clone()
        copy[0] = 1
        y = self.one(x) if bool(copy.all()) else self.two(x) * mask.sum().item()
        copy.zero_()
        return (y * 2 if self.kind.item() == 2 else y).square().mean() * torch.tensor(3).item()


def results(model, *batch):
    model.zero_grad()
    loss = model(*batch)
    loss.backward()
    return [loss.detach(), *(p.grad for p in model.parameters() if p.grad is not None)]


def test_numbers_that_inputs_and_buffers_decide_have_plans():
    torch.manual_seed(0)
    model, x = Chooses(), torch.randn(3, 4)
    whole, first, last = torch.ones(3), torch.tensor([0.0, 1, 1]), torch.tensor([1.0, 1, 0])
    eager = copy.deepcopy(model)
    planning.budget(model, "150%", time=0.5, verbose=False)
    for mask, kind, count in ((whole, 1, 1), (first, 1, 1), (last, 1, 2), (whole, 1, 2), (whole, 2, 3)):
        for one in (model, eager):
            one.kind.fill_(kind)
        pairs = zip(results(model, x, mask), results(eager, x, mask), strict=True)
        assert all(torch.allclose(found, expected) for found, expected in pairs)
        assert len(planning.plans(model)) == count


def test_a_step_of_fit_rejects_inputs_with_other_numbers():
    model, x = Chooses(), torch.randn(3, 4)
    step = planning.fit(model, (x, torch.ones(3)), None, "150%", time=0.5, verbose=False)
    step(x, torch.tensor([0.0, 1, 1]))
    with pytest.raises(planning.Unsupported, match="reads a number from its inputs.*call fit again"):
        step(x, torch.tensor([1.0, 1, 0]))


def test_numbers_that_parameters_decide_are_rejected():
    class Branches(nn.Linear):
        def forward(self, x):
            y = super().forward(x)
            return y.sum() if y.mean() > 0 else y.mean()

    with pytest.raises(planning.Unsupported, match="turns data into a number"):
        planning.capture(Branches(4, 4), torch.randn(2, 4))
