"""Decisions for torch's own ways to save memory: its knapsack, its checkpoints, selective or not."""

from __future__ import annotations

import itertools
import random

import pytest

torch = pytest.importorskip("torch")

import torch_models as models  # noqa: E402
from pebble_bridge import torch as planning  # noqa: E402
from pebble_bridge.torch import _adapter, measure  # noqa: E402
from pebble_bridge.torch.knapsack import pack  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


def best_of_all(sizes, worths, capacity) -> float:
    choices = itertools.product((0, 1), repeat=len(sizes))
    return max(
        sum(w for w, c in zip(worths, choice, strict=True) if c)
        for choice in choices
        if sum(s for s, c in zip(sizes, choice, strict=True) if c) <= capacity
    )


def test_packing_is_exact():
    draw = random.Random(4)
    for _ in range(150):
        count = draw.randint(0, 10)
        sizes = [draw.choice([0, 1, 3, 7, 20, 1000]) * draw.randint(1, 5) for _ in range(count)]
        worths = [draw.choice([0.0, 1.0, 2.5, draw.random()]) for _ in range(count)]
        capacity = draw.randint(0, max(1, sum(sizes)))
        choice = pack(sizes, worths, capacity)
        assert choice.optimal and len(set(choice.packed)) == len(choice.packed)
        assert sum(sizes[i] for i in choice.packed) <= capacity
        assert sum(worths[i] for i in choice.packed) == pytest.approx(best_of_all(sizes, worths, capacity))


def test_packing_of_many_items_is_quick_and_within_the_capacity():
    draw = random.Random(5)
    sizes = [draw.randint(1, 10**9) for _ in range(300)]
    worths = [draw.random() for _ in sizes]
    choice = pack(sizes, worths, sum(sizes) // 3, states=2000)
    assert sum(sizes[i] for i in choice.packed) <= sum(sizes) // 3
    bound = sorted(zip(worths, sizes, strict=True), key=lambda pair: -pair[0] / pair[1])
    room, relaxed = sum(sizes) // 3, 0.0
    for worth, size in bound:
        relaxed += worth * min(1.0, room / size)
        room = max(0, room - size)
    assert sum(worths[i] for i in choice.packed) >= 0.999 * relaxed


@pytest.mark.parametrize("runtime", [None, "measured"])
def test_torch_takes_the_solver(runtime):
    model, inputs, loss = models.gpt(batch=2, length=32, layers=2)
    captured = planning.capture(model, inputs, loss)
    solver = planning.KnapsackSolver(planning.MeasuredRuntime() if runtime else None)

    def peak_of(budget, solver):
        step = _adapter.partitioned_step(captured.run, budget, solver)

        def run():
            step(captured.parameters, captured.buffers, captured.example_inputs)

        with measure.untouched(captured):
            run()
            gradients = [p.grad for p in captured.parameters]
        with measure.untouched(captured):
            return measure.measure_peak(run), gradients

    with measure.untouched(captured):
        captured.plain_step()
        expected = [p.grad for p in captured.parameters]
    everything, _ = peak_of(1.0, "dp")
    less, gradients = peak_of(0.3, solver)
    assert solver.last is not None and solver.last.optimal
    assert less < everything
    assert all(torch.allclose(a, b, rtol=1e-4, atol=1e-6) for a, b in zip(gradients, expected, strict=True))
    assert isinstance(solver.uuid(), str) and solver.uuid() == solver.uuid()


def test_checkpoints_by_module():
    model, inputs, loss = models.gpt(batch=4, length=48, layers=4)
    planned = planning.fit(model, inputs, loss, "45%", time=1.5, verbose=False)
    names = planning.modules_to_checkpoint(planned)
    known = dict(model.named_modules())
    assert names and all(name in known for name in names)
    assert not any(a != b and a.startswith(b + ".") for a in names for b in names)
    assert all(f'get_submodule("{name}")' in planning.as_code(planned) for name in names)
    captured = planned.captured
    with measure.untouched(captured):
        captured.plain_step()
        expected = [p.grad for p in captured.parameters]
    with planning.checkpointed(model, names), measure.untouched(captured):
        peak = measure.measure_peak(captured.plain_step)
        assert all(torch.equal(p.grad, g) for p, g in zip(captured.parameters, expected, strict=True))
    assert peak < planned.plain_peak
    assert all("forward" not in vars(module) for module in model.modules())
    with pytest.raises(planning.Unsupported, match='no module "nowhere"'), planning.checkpointed(model, ["nowhere"]):
        pass


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("gpt", {"batch": 4, "length": 48, "layers": 3}), ("resnet18", {"batch": 2, "image": 64, "width": 8})],
)
def test_selective_checkpoints_save_what_the_plan_keeps(name, sizes):
    model, inputs, loss = models.CASES[name](**sizes)
    planned = planning.fit(model, inputs, loss, "70%", time=1.5, verbose=False)
    captured, blocks = planned.captured, models.BLOCKS[name](model)
    with measure.untouched(captured):
        captured.plain_step()
        expected = [p.grad for p in captured.parameters]
    contexts = {block: planning.selective_contexts(planned, block) for block in blocks}
    with planning.checkpointed(model, blocks, contexts), measure.untouched(captured):
        peak = measure.measure_peak(captured.plain_step)
        assert all(torch.equal(p.grad, g) for p, g in zip(captured.parameters, expected, strict=True))
    assert peak < planned.plain_peak
    with pytest.raises(planning.Unsupported, match="no operation in a module"):
        planning.selective_contexts(planned, "nowhere")
