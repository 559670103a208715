"""Models with a budget under changing shapes and states: how plans are reused, found again, saved, and dropped."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import time
import warnings

import pytest

torch = pytest.importorskip("torch")

from pebble_bridge import torch as planning  # noqa: E402
from pebble_bridge.torch import shapes  # noqa: E402
from pebble_bridge.torch.budget import bypassing  # noqa: E402
from pebble_bridge.torch.errors import DoesNotFit  # noqa: E402
from torch import nn  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


class Net(nn.Module):
    """Linear layers and GELU on sequences, with dropout; `beta` is a number in Python."""

    def __init__(self, depth: int = 4, width: int = 32) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.dropout = nn.Dropout(0.1)
        self.beta = 1.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = self.dropout(nn.functional.gelu(layer(x)))
        return (self.beta * x**2).mean()


def budgeted(limit="70%", model=None, **options):
    model = (model or Net()).train()
    return planning.budget(model, limit, **{"time": 0.3, "verbose": False, **options})


def batch(length: int, count: int = 8, width: int = 32) -> torch.Tensor:
    return torch.randn(count, length, width)


def step(model, *inputs):
    model.zero_grad()
    torch.manual_seed(7)
    loss = model(*inputs)
    loss.backward()
    return [loss.detach(), *(p.grad.clone() for p in model.parameters() if p.grad is not None)]


def plain(model, *inputs):
    """The same step of the model without a plan."""
    with bypassing():
        return step(model, *inputs)


def assert_equal(found, expected):
    assert all(torch.allclose(a, b, rtol=1e-5, atol=1e-7) for a, b in zip(found, expected, strict=True))


@pytest.fixture
def measured(monkeypatch):
    """Counts the steps whose costs were measured."""
    from pebble_bridge.torch import measure

    calls: list[int] = []
    profile = measure.profile

    def count(captured, repeats=3):
        calls.append(1)
        return profile(captured, repeats)

    monkeypatch.setattr(measure, "profile", count)
    return calls


# -- shapes ----------------------------------------------------------------------------------------------------------


def test_a_new_shape_is_not_measured_and_runs_within_the_budget(measured):
    model = budgeted()
    for length in (64, 48, 40, 64, 80, 96, 33):
        x = batch(length)
        assert_equal(step(model, x), plain(model, x))
    assert len(measured) == 1
    found = planning.plans(model)
    assert len(found) == 6
    assert all(0 < plan.measured_peak <= plan.budget for plan in found)
    assert sum(plan.estimated for plan in found) == 5


def test_a_percentage_is_of_the_largest_step_so_far():
    model = budgeted("70%")
    step(model, batch(64))
    first = planning.plans(model)[0]
    assert first.budget == int(0.7 * first.plain_peak)
    step(model, batch(32))
    small = planning.plans(model)[0]
    assert small.budget == first.budget and small.plan.metrics.recompute_count == 0
    step(model, batch(128))
    large = planning.plans(model)[0]
    assert large.plain_peak == pytest.approx(2 * first.plain_peak, rel=0.1)
    assert large.budget == int(0.7 * large.plain_peak)
    planning.warmup(model)
    step(model, batch(64))
    planning.warmup(model)
    again = planning.plans(model)[0]
    assert again.budget == large.budget and again.plan.metrics.recompute_count == 0  # has more memory now


def test_the_moves_of_a_plan_are_used_for_a_shape_in_between(monkeypatch):
    model = budgeted("60%", time=0.5)
    step(model, batch(64))
    monkeypatch.setattr(shapes.BACKGROUND, "add", lambda request: None)
    x = batch(60)
    assert_equal(step(model, x), plain(model, x))
    found = planning.plans(model)[0]
    assert found.borrowed and found.measured_peak <= found.budget
    assert "moves of another shape" in repr(found) and "estimated" in repr(found)


def test_a_better_plan_comes_from_the_background(monkeypatch):
    model = budgeted("60%")
    step(model, batch(64))
    first = planning.plans(model)[0]

    def slow(self, planner):  # a plan that recomputes more than needed
        planned = planner.fit(int(0.7 * self.budget))
        planned.budget = self.budget
        return planned

    monkeypatch.setattr(shapes.Shapes, "borrow", lambda *_: None)
    monkeypatch.setattr(shapes.Shapes, "quick", slow)
    x = batch(63)
    assert_equal(step(model, x), plain(model, x))
    before = planning.plans(model)[0]
    deadline = time.monotonic() + 20
    while planning.plans(model)[0] is before and time.monotonic() < deadline:
        assert_equal(step(model, x), plain(model, x))
    after = planning.plans(model)[0]
    assert after.plan.metrics.makespan < before.plan.metrics.makespan
    assert after.measured_peak <= after.budget == first.budget


def test_a_plan_over_the_budget_is_not_used(monkeypatch):
    model = budgeted("60%")
    step(model, batch(64))
    estimate = shapes.Shapes.estimate

    def without_workspaces(self, program, graph, kin):
        peak = estimate(self, program, graph, kin)
        for operation in program.operations:
            operation.workspace = 0
        return peak

    monkeypatch.setattr(shapes.Shapes, "estimate", without_workspaces)
    for length in (63, 65):
        step(model, batch(length))
        found = planning.plans(model)[0]
        assert found.measured_peak <= found.budget


def test_a_step_that_does_not_fit_is_refused():
    model = budgeted("64KiB", Net(width=16))
    step(model, batch(8, 2, 16))
    with pytest.raises(DoesNotFit):
        step(model, batch(512, 8, 16))
    step(model, batch(8, 2, 16))


def test_other_operations_are_measured(measured):
    class Branches(Net):
        def forward(self, x):
            return super().forward(x if x.shape[1] > 40 else x.sin())

    model = budgeted("80%", Branches())
    for length in (64, 32, 30):
        x = batch(length)
        assert_equal(step(model, x), plain(model, x))
    assert len(measured) == 2


def test_storages_that_kernels_keep_are_known_for_other_shapes(monkeypatch):
    class Loss(Net):
        def forward(self, x):
            for layer in self.layers:
                x = nn.functional.gelu(layer(x))
            return nn.functional.mse_loss(x, torch.zeros_like(x))

    model = budgeted("60%", Loss())
    step(model, batch(64))
    learned: list[int] = []
    monkeypatch.setattr(shapes.Planner, "learn", lambda *_: learned.append(1))
    for length in (60, 68):
        x = batch(length)
        assert_equal(step(model, x), plain(model, x))
    assert not learned  # no trial was over the budget


def test_costs_are_interpolated():
    points = [(100, 50), (300, 250)]
    assert [shapes.between(at, points) for at in (50, 100, 200, 300, 600)] == [25, 50, 150, 250, 500]
    assert shapes.between(10, [(10, 7), (10, 9)]) == 9


def test_counted_costs_and_offloading_with_other_shapes():
    for options in ({"costs": "flops"}, {"offload": True}, {"random": "once"}):
        model = budgeted("60%", **options)
        for length in (64, 48, 72):
            x = batch(length)
            assert_equal(step(model, x), plain(model, x))
        assert all(plan.measured_peak <= plan.budget for plan in planning.plans(model))


# -- states ----------------------------------------------------------------------------------------------------------


def captures(monkeypatch) -> list[int]:
    from pebble_bridge.torch import _adapter

    calls: list[int] = []
    trace = _adapter.trace

    def count(*arguments):
        calls.append(1)
        return trace(*arguments)

    monkeypatch.setattr(_adapter, "trace", count)
    return calls


def test_modes_and_frozen_parameters_find_their_plans(monkeypatch):
    model, x, calls = budgeted(), batch(64), captures(monkeypatch)
    step(model, x)
    for round in range(3):
        model.eval()
        with torch.no_grad():
            model(x)
        model.train()
        step(model, x)
        model.layers[0].requires_grad_(False)
        frozen = step(model, x)
        assert len(frozen) == 1 + 2 * 3
        model.requires_grad_(False)
        assert not model(x).requires_grad
        model.requires_grad_(True)
        step(model, x)
        assert len(calls) == 2 or round == 0
    assert len(calls) == 2


def test_two_models_that_train_in_turns_find_their_plans(monkeypatch):
    class Generator(Net):
        def forward(self, x):
            return nn.functional.gelu(self.layers[0](x))

    generator, critic, calls = budgeted("120%", Generator()), budgeted("120%"), captures(monkeypatch)
    x = batch(16)

    def turns():
        generator.zero_grad(), critic.zero_grad()
        torch.manual_seed(3)
        critic.requires_grad_(True)
        (critic(x) - critic(generator(x).detach())).backward()
        critic.requires_grad_(False)
        critic(generator(x)).backward()
        return [p.grad.clone() for model in (critic, generator) for p in model.parameters() if p.grad is not None]

    for round in range(3):
        found = turns()
        with bypassing():
            assert_equal(found, turns())
        if round == 0:
            first = len(calls)
    assert len(calls) == first


def test_a_changed_attribute_is_seen_and_a_moving_one_is_named(monkeypatch):
    model, x, calls = budgeted(), batch(32), captures(monkeypatch)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for index in range(8):
            model.beta = 1.0 + index
            assert_equal(step(model, x), plain(model, x))
    messages = [str(warning.message) for warning in caught if "captured again" in str(warning.message)]
    assert len(messages) == 1 and "model.beta has changed 3 times" in messages[0] and "register_buffer" in messages[0]
    assert len(calls) == 8
    assert len(planning.plans(model)) == 4  # not one for each value


# -- plans ahead, and in files ---------------------------------------------------------------------------------------


def test_warmup_plans_for_batches_and_for_shapes(monkeypatch):
    model = budgeted("60%")
    made = planning.warmup(model, [batch(64), (batch(48),), {"x": torch.empty(8, 56, 32, device="meta")}])
    assert len(made) == 3 and all(plan.measured_peak <= plan.budget for plan in made)
    assert all(parameter.grad is None for parameter in model.parameters())
    calls = captures(monkeypatch)
    for inputs in (batch(64), batch(48)):
        assert_equal(step(model, inputs), plain(model, inputs))
    x = batch(56)
    model(x=x).backward()
    assert not calls


def test_plans_are_saved_and_loaded(tmp_path, measured):
    torch.manual_seed(1)
    model, x = budgeted("60%"), batch(64)
    step(model, x)
    step(model, batch(60))
    planning.warmup(model)
    known = planning.save(model, tmp_path / "plans.json")
    assert known >= 2 and len(measured) == 1
    other = budgeted("60%")
    assert planning.load(other, tmp_path / "plans.json") == known
    assert_equal(step(other, x), plain(other, x))
    assert len(measured) == 1
    found, before = planning.plans(other)[0], planning.plans(model)[-1]
    assert found.plan.moves == before.plan.moves and not found.borrowed and not found.estimated
    assert 0 < found.measured_peak <= found.budget == before.budget
    stricter = budgeted("60%", random="once")
    assert planning.load(stricter, tmp_path / "plans.json") == 0  # other options


def test_a_cache_folder_has_the_plans_of_other_processes(tmp_path, measured):
    x = batch(64)
    step(budgeted("60%", cache=tmp_path), x)
    assert len(list(tmp_path.iterdir())) == 1
    again = budgeted("60%", cache=tmp_path)
    assert_equal(step(again, x), plain(again, x))
    other = budgeted("60%", Net(depth=3), cache=tmp_path)
    step(other, x)
    assert len(measured) == 2  # the first and the other model


@pytest.mark.parametrize("damage", ["cut", "changed", "foreign", "schedule", "missing"])
def test_a_damaged_file_is_reported_and_not_used(tmp_path, damage, measured):
    file, x = tmp_path / "plans.json", batch(16)
    model = budgeted("80%")
    step(model, x)
    planning.save(model, file)
    text = file.read_text()
    document = json.loads(text)
    if damage == "cut":
        file.write_text(text[:-40])
    elif damage == "changed":
        document["plans"][0]["budget"] += 1
        file.write_text(json.dumps(document))
    elif damage == "foreign":
        file.write_text("{}")
    elif damage == "missing":
        file.unlink()
    else:
        from pebble_bridge.torch import saved

        known = saved.read(file)
        known[0].schedule = known[0].schedule[: len(known[0].schedule) // 2]
        saved.write(file, known)
    other = budgeted("80%")
    if damage == "schedule":
        assert planning.load(other, file) == 1
    else:
        with pytest.warns(UserWarning, match=r"plans\.json is not used: .*planned as without it"):
            assert planning.load(other, file) == 0
    assert_equal(step(other, x), plain(other, x))
    assert planning.plans(other)[0].measured_peak <= planning.plans(other)[0].budget


def test_a_model_with_a_budget_is_pickled_saved_and_copied(tmp_path, measured):
    model, x = budgeted("60%", cache=tmp_path / "cache"), batch(64)
    expected = step(model, x)
    torch.save(model, tmp_path / "model.pt")
    copies = [
        pickle.loads(pickle.dumps(model)),
        torch.load(tmp_path / "model.pt", weights_only=False),
        copy.deepcopy(model),
    ]
    for other in copies:
        assert other.forward is not model.forward and other.forward.model is other
        assert_equal(step(other, x), expected)
        assert planning.plans(other)[0].plan.moves == planning.plans(model)[0].plan.moves
    assert len(measured) == 1


# -- memory ----------------------------------------------------------------------------------------------------------


def live_bytes() -> int:
    """Bytes of all tensors that exist."""
    gc.collect()
    storages = {}
    for thing in gc.get_objects():
        if type(thing) in (torch.Tensor, nn.Parameter):
            storages[thing.untyped_storage().data_ptr()] = thing.untyped_storage().nbytes()
    return sum(storages.values())


def test_memory_does_not_grow_with_changing_lengths():
    model = budgeted("60%")
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    sizes = []
    for index in range(100):
        loss = model(batch(24 + 8 * (index % 5)))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if index in (20, 60, 99):
            planning.warmup(model)
            del loss
            sizes.append(live_bytes())
    assert sizes[0] == sizes[1] == sizes[2]
    assert len(planning.plans(model)) == 5


def test_kinds_that_are_not_used_are_dropped(monkeypatch):
    from pebble_bridge.torch.budget import Budgeted

    monkeypatch.setitem(Budgeted.entry_of.__globals__, "KINDS", 3)
    model = budgeted("80%", Net(depth=1))
    for length in (8, 9, 10, 8, 11, 12):
        step(model, batch(length))
    lengths = [plan.captured.example_inputs[0].shape[1] for plan in planning.plans(model)]
    assert lengths == [12, 11, 8] and set(model.forward.used) == set(model.forward.entries)


def test_a_peak_is_not_measured_while_a_plan_is_made():
    model = budgeted()
    with pytest.raises(planning.TorchPlanError, match="run the step once before"):
        planning.measure_peak(lambda: step(model, batch(16)))
    assert planning.measure_peak(lambda: step(model, batch(16))) > 0
