"""Models that cannot be captured as a whole: parts of them are planned, with eager code in between."""

from __future__ import annotations

import copy
import itertools
import random
from typing import NamedTuple

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

import torch.nn.functional as F  # noqa: E402
from pebble_bridge import torch as planning  # noqa: E402
from pebble_bridge.torch import joint  # noqa: E402
from pebble_bridge.torch.joint import BACKWARD, EAGER, FORWARD, Figures, Moment, Path, Problem  # noqa: E402
from torch import nn  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

WIDTH, ROWS = 16, 256


class Block(nn.Module):
    def __init__(self, dropout=0.1):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return x + self.dropout(self.down(F.gelu(self.up(self.norm(x)))))


class Branches(nn.Module):
    """A branch on data after each block."""

    def __init__(self, count=2, **settings):
        super().__init__()
        self.blocks = nn.ModuleList(Block(**settings) for _ in range(count))

    def forward(self, x, scale=1.0):
        for block in self.blocks:
            x = block(x)
            if x.abs().max() > 1e6:  # the line in messages
                x = x / 2
        return (x * scale).square().mean()


class Skips(Branches):
    """Blocks are left out at random, as by layerdrop; one draws from numpy, one from Python."""

    share = 0.5

    def forward(self, x):
        for place, block in enumerate(self.blocks):
            if place == 0 or torch.rand([]) < self.share:
                x = block(x)
        x = x + float(np.random.uniform()) + random.random()
        return x.square().mean()


class Result(NamedTuple):
    loss: torch.Tensor
    states: dict


class Matches(nn.Module):
    """Nested outputs, a loss that assigns rows to targets on the host, a statistic, and a block that is called twice."""

    def __init__(self):
        super().__init__()
        self.block, self.norm, self.head = Block(), nn.Sequential(nn.BatchNorm1d(WIDTH), nn.GELU()), nn.Linear(WIDTH, 4)

    def forward(self, x, target):
        first = self.block(x)
        second = self.norm(self.block(first))
        found = self.head(second)
        order = np.argsort(found.detach().float().sum(1).numpy())  # the matching
        loss = (found[torch.from_numpy(order)] - target).abs().mean()
        return Result(loss, {"first": first, "others": [second.detach()]})


def seeded(seed):
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)


def step(model, *batch, seed=0, dtype=None):
    """The loss, the gradients and the buffers after a step from the same generators."""
    seeded(seed)
    model.zero_grad()
    with torch.autocast("cpu", dtype or torch.bfloat16, enabled=dtype is not None):
        output = model(*batch)
    loss = output.loss if isinstance(output, Result) else output
    loss.backward()
    gradients = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
    return [loss.detach(), *gradients, *(b.clone() for b in model.buffers())]


def peak_of(model, *batch, seed=0):
    step(model, *batch, seed=seed)
    seeded(seed)
    model.zero_grad()

    def loss_of(output):
        return output.loss if isinstance(output, Result) else output

    def run():
        loss_of(model(*batch)).backward()

    return planning.measure_peak(run)


def same(one, other):
    return all(
        (a is None and b is None) or (a is not None and b is not None and torch.equal(a, b))
        for a, b in zip(one, other, strict=True)
    )


def pair_of(model, limit, **settings):
    """The model with a budget, and a copy without."""
    eager = copy.deepcopy(model)
    planning.budget(model, limit, **{"time": 0.5, "verbose": False, **settings})
    return model, eager


def test_blocks_around_a_branch_are_planned_together():
    batch = torch.randn(ROWS, WIDTH)
    model, eager = pair_of(Branches(), "55%")
    plain = peak_of(eager, batch)
    assert same(step(model, batch), step(eager, batch))
    found = planning.plans(model)[0]
    assert found.plain_peak == pytest.approx(plain, rel=0.02)
    assert [call.name for call in found.calls] == ["blocks.0", "blocks.1"]
    assert peak_of(model, batch) <= found.budget == int(0.55 * found.plain_peak)
    assert any(call.figures.saved < call.fastest.saved for call in found.calls)
    text = found.report()
    assert "test_torch_regions.py, line" in text and "if x.abs().max() > 1e6" in text
    assert "blocks.1" in found.explain("blocks.1.up")
    # nothing of this stays in the model
    assert all("forward" not in vars(module) for module in model.blocks.modules())
    assert same(step(copy.deepcopy(planning.release(model)), batch), step(eager, batch))


def test_limits_of_a_step_with_regions():
    batch = torch.randn(ROWS, WIDTH)
    model, eager = pair_of(Branches(2, dropout=0.0), "70%")
    step(model, batch)
    # two forward passes before one backward pass, and a hook of a parameter
    calls = []
    hook = model.blocks[0].up.weight.register_hook(lambda grad: calls.append(grad.shape))
    model.zero_grad(), eager.zero_grad()
    (model(batch) + model(batch * 2)).backward()
    (eager(batch) + eager(batch * 2)).backward()
    assert all(torch.allclose(a.grad, b.grad) for a, b in zip(model.parameters(), eager.parameters(), strict=True))
    assert calls == [model.blocks[0].up.weight.shape]
    hook.remove()
    loss = model(batch)
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        loss.backward()
    loss = model(batch)
    with torch.no_grad():
        model.blocks[1].up.weight.mul_(1.0)
    with pytest.raises(RuntimeError, match=r"planned region blocks\.1.*after backward"):
        loss.backward()
    with pytest.raises(planning.Unsupported, match="create_graph"):
        torch.autograd.grad(model(batch), model.blocks[0].up.weight, create_graph=True)


@pytest.mark.long
def test_other_calls_shapes_and_states_of_a_model_with_regions():
    batch = torch.randn(ROWS, WIDTH)
    model, eager = pair_of(Branches(), "80%")
    assert same(step(model, batch), step(eager, batch))
    assert same(step(model, batch, 2.0), step(eager, batch, 2.0))
    smaller = batch[: ROWS // 2]
    assert same(step(model, smaller), step(eager, smaller))
    assert len(planning.plans(model)) >= 2
    for one in (model, eager):
        one.blocks[1].dropout.p = 0.5
    assert same(step(model, batch), step(eager, batch))
    for one in (model.eval(), eager.eval()):
        one.blocks[1].requires_grad_(False)
    assert same(step(model, batch), step(eager, batch))


def test_blocks_that_are_left_out_at_random():
    batch = torch.randn(ROWS, WIDTH)
    model, eager = Skips(), None
    model, eager = pair_of(model, "60%")
    model.share = eager.share = 1.0
    whole = peak_of(eager, batch)
    model.share = eager.share = 0.5
    budget = int(0.6 * whole)
    planning.budget(model, budget, time=0.5, verbose=False)
    for seed in range(6):
        assert same(step(model, batch, seed=seed), step(eager, batch, seed=seed))
    model.share = 1.0  # all blocks at once, which no step before did
    step(model, batch)
    assert peak_of(model, batch) <= budget
    assert planning.plans(model)[0].measured_peak <= budget


def test_a_shared_block_nested_outputs_statistics_and_a_loss_on_the_host():
    batch = torch.randn(ROWS, WIDTH), torch.randn(ROWS, 4)
    model, eager = pair_of(Matches(), "75%")
    for _ in range(3):  # statistics go on
        assert same(step(model, *batch), step(eager, *batch))
    found = planning.plans(model)[0]
    assert [(call.name, call.number) for call in found.calls] == [("block", 0), ("block", 1), ("norm", 0)]
    output = model(*batch)
    assert isinstance(output, Result) and output.states["others"][0].shape == (ROWS, WIDTH)
    assert peak_of(model, *batch) <= found.budget
    with torch.no_grad():
        assert model(*batch).loss.requires_grad is False

    def kept():
        output = model(*batch)
        output.loss.backward()
        return output

    kept(), kept()  # outputs that the caller keeps during the backward pass count from the second step on
    model.zero_grad()
    assert planning.measure_peak(kept) <= found.budget


def test_autocast_to_bfloat16():
    batch = torch.randn(ROWS, WIDTH)
    model, eager = pair_of(Branches(1, dropout=0.0), "90%")
    for dtype in (torch.bfloat16, None):
        assert same(step(model, batch, dtype=dtype), step(eager, batch, dtype=dtype))
    assert len(planning.plans(model)) == 2


class Writes(nn.Module):
    """Eager code that writes to the output of one block and to the input of another, after they have run."""

    def __init__(self):
        super().__init__()
        self.one, self.two = Block(0.0), nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh())

    def forward(self, x):
        x = self.one(x)
        x[x.detach().abs().sum(1) > 1e6] = 0
        x.mul_(2)
        y = self.two(x)
        return (y + x.mean().item()).square().mean()


def test_code_between_regions_that_writes_in_place():
    batch = torch.randn(ROWS, WIDTH)
    model, eager = pair_of(Writes(), "90%")
    for _ in range(2):
        assert same(step(model, batch), step(eager, batch))


class Reads(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return self.layer(x).square().mean() * (2 if self.layer(x).sum().item() > 0 else 1)  # refused


def test_a_model_without_regions_is_refused_with_its_line():
    model = planning.budget(Reads(), "60%", time=1, verbose=False)
    with pytest.raises(planning.Unsupported, match=r"test_torch_regions\.py, line \d+: .*No part of the model"):
        model(torch.randn(ROWS, WIDTH))


def test_a_budget_that_eager_code_exceeds_is_proved_impossible():
    model = planning.budget(Branches(2), ROWS * WIDTH, time=1, verbose=False)
    with pytest.raises(planning.DoesNotFit, match="no plan exists.*code outside of planned regions holds") as caught:
        model(torch.randn(ROWS, WIDTH))
    assert caught.value.proved


# -- plans of all calls together ------------------------------------------------------------------------------------


def chain(count, plans, base):
    """The moments of a chain of calls, forward and backward."""
    calls = list(range(count))
    moments = []
    for call in calls:
        moments.append(Moment(FORWARD, base, set(calls[:call]), call))
        moments.append(Moment(EAGER, base, set(calls[: call + 1]), call))
    moments += [Moment(BACKWARD, base, set(calls[:call]), call) for call in reversed(calls)]
    return Path(calls, moments, dict.fromkeys(calls, 1)), dict.fromkeys(calls, plans)


def test_the_choice_is_near_the_best_one_and_within_the_limit():
    source = random.Random(1)
    found = best = solved = 0
    for _ in range(60):
        plans = [Figures(source.randint(0, 20), source.randint(5, 30), source.randint(5, 30), source.randint(0, 50)) for _ in range(4)]
        path, choices = chain(4, plans, source.randint(0, 5))
        problem = Problem(path.moments, choices)
        every = [torch.tensor(choice) for choice in itertools.product(range(4), repeat=4)]
        cap = source.choice(sorted({problem.peak(choice) for choice in every}))
        costs = [problem.cost(choice) for choice in every if problem.peak(choice) <= cap]
        choice = problem.solve(cap)
        if choice is not None:
            assert problem.peak(choice) <= cap
            found, best, solved = found + problem.cost(choice), best + min(costs), solved + 1
    assert solved >= 57
    assert found <= 1.05 * best


def test_plans_hold_for_the_calls_of_all_paths_at_once():
    plans = [Figures(10, 12, 5, 0), Figures(0, 12, 15, 7)]
    whole, choices = chain(4, plans, 3)

    def without(*missing):
        kept = [moment for moment in whole.moments if moment.call not in missing]
        live = [Moment(m.kind, m.base, m.live - set(missing), m.call) for m in kept]
        return Path([call for call in whole.calls if call not in missing], live, whole.growth)

    joined = joint.together([without(1), without(2, 3), without(0)])
    for choice in itertools.product(range(2), repeat=4):
        chosen = torch.tensor(choice)
        assert Problem(joined, choices).peak(chosen) >= Problem(whole.moments, choices).peak(chosen)
    assert without(1).covers([0, 3]) and not without(1).covers([0, 1])
