"""Planned steps against plain ones: peaks by the allocator, gradients by the bit, curves over twenty steps."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import torch_models as models  # noqa: E402
from pebble_bridge import torch as planning  # noqa: E402
from pebble_bridge import verify  # noqa: E402
from pebble_bridge.torch import measure  # noqa: E402
from torch import nn  # noqa: E402

SMALL = {
    "mlp": {"depth": 8, "width": 32, "batch": 1024},
    "resnet18": {"batch": 8, "image": 32, "width": 8, "pooled": False},
    "resnet50": {"batch": 8, "image": 64, "width": 4, "counts": (2, 2, 2, 2)},
    "unet": {"batch": 2, "image": 32, "width": 4, "depth": 2},
    "gpt": {"batch": 4, "length": 48, "layers": 2, "heads": 2, "width": 32},
}


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


def plain_results(captured):
    """Loss, gradients and buffers after a plain step; nothing is left behind."""
    with measure.untouched(captured):
        torch.manual_seed(7)
        loss = captured.plain_step()
        return loss, [p.grad for p in captured.parameters], [b.clone() for b in captured.buffers]


def planned_results(planned):
    captured = planned.captured
    with measure.untouched(captured):
        torch.manual_seed(7)
        loss = planned(*captured.example_inputs)
        return loss, [p.grad for p in captured.parameters], [b.clone() for b in captured.buffers]


def same(one, other) -> bool:
    pairs = zip([one[0], *one[1], *one[2]], [other[0], *other[1], *other[2]], strict=True)
    return all(a is b or torch.equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("name", list(SMALL))
def test_budgets_hold_and_gradients_are_equal(name):
    model, inputs, loss = models.CASES[name](**SMALL[name])
    planner = planning.Planner(model, inputs, loss, options=planning.Options(time=1.0))
    expected = plain_results(planner.captured)
    budgets = ["90%", "75%", "60%"]
    found = planning.sweep(planner, budgets)
    work = None
    for budget, planned in zip(budgets, found, strict=True):
        if isinstance(planned, planning.DoesNotFit):
            assert planned.proved, f"nothing found for {budget}: {planned}"
            continue
        assert planned.measured_peak <= planned.budget == int(float(budget[:-1]) * planner.plain_peak / 100)
        assert (
            abs(planned.measured_peak - planned.planned_peak) <= 4096
        )  # by-products that are not needed, a few numbers each
        assert verify(planned.lowered.graph, planned.plan)
        assert same(planned_results(planned), expected)
        assert work is None or planned.plan.metrics.makespan >= work
        work = planned.plan.metrics.makespan
    assert not isinstance(found[1], planning.DoesNotFit)


@pytest.mark.parametrize(("random", "budget"), [("once", "75%"), ("replay", "50%"), ("auto", "50%")])
def test_loss_curves_are_identical_with_dropout(random, budget):
    def train(steps, prepare):
        torch.manual_seed(3)
        model, inputs, loss = models.gpt(batch=4, length=48, layers=2, heads=2, width=32, dropout=0.2)
        step = prepare(model, inputs, loss)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        torch.manual_seed(5)
        curve = []
        for _ in range(steps):
            tokens = torch.randint(64, inputs[0].shape)
            optimizer.zero_grad(set_to_none=True)
            curve.append(step(tokens, tokens).item())
            optimizer.step()
        return curve

    def plain(model, inputs, loss):
        def step(tokens, labels):
            value = loss(model(tokens), labels)
            value.backward()
            return value

        return step

    def planned(model, inputs, loss):
        step = planning.fit(model, inputs, loss, budget, random=random, time=1.5, verbose=False)
        drawn = [what for kind, what, _ in step.moves if kind == "compute" and what.random]
        assert drawn and all(what.once for what in drawn)
        assert random != "once" or len(drawn) == len(set(drawn))
        return step

    curve = train(20, plain)
    assert train(20, planned) == curve
    assert curve[-1] != curve[0]


def test_replay_draws_again_and_the_result_is_the_same():
    model, inputs, loss = models.mlp(depth=10, width=32, batch=512, dropout=0.3)
    planned = planning.fit(model, inputs, loss, "40%", random="replay", time=1.5, verbose=False)
    drawn = [what for kind, what, _ in planned.moves if kind == "compute" and what.random]
    assert len(drawn) > len(set(drawn)), "this budget is meant to need masks twice"
    assert same(planned_results(planned), plain_results(planned.captured))


def test_large_masks_are_drawn_again_by_default_where_keeping_them_does_not_fit():
    case = models.gpt(batch=8, length=64, layers=4, heads=2, width=64, dropout=0.2)
    planner = planning.Planner(*case, options=planning.Options(time=8.0))
    with pytest.raises(planning.DoesNotFit, match="no plan exists"):
        planner.with_options(random="once").fit("25%")
    planned = planner.fit("25%")
    drawn = [what for kind, what, _ in planned.moves if kind == "compute" and what.random]
    assert len(drawn) > len(set(drawn)) and planned.measured_peak <= planned.budget
    assert same(planned_results(planned), plain_results(planned.captured))


def test_random_operations_keep_the_order_of_the_program():
    model, inputs, loss = models.mlp(depth=8, width=32, batch=512, dropout=0.3)
    planned = planning.fit(model, inputs, loss, "80%", time=1.0, verbose=False)
    order = [what.index for kind, what, _ in planned.moves if kind == "compute" and what.random]
    assert order == sorted(order) and len(order) == 6


def test_running_statistics_move_once_per_step_and_training_goes_on_equally():
    def train(planned):
        torch.manual_seed(1)
        model, inputs, loss = models.resnet18(**SMALL["resnet18"])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        step = planning.fit(model, inputs, loss, "80%", time=1.0, verbose=False) if planned else None
        for _ in range(3):
            optimizer.zero_grad(set_to_none=True)
            if step:
                step(*inputs)
            else:
                loss(model(inputs[0]), inputs[1]).backward()
            optimizer.step()
        return model.state_dict()

    plain, planned = train(False), train(True)
    assert plain["stem.1.num_batches_tracked"] == 3
    assert all(torch.equal(plain[key], planned[key]) for key in plain)


def test_gradients_accumulate_as_backward_does():
    model, inputs, loss = models.mlp(depth=4, width=16, batch=64)
    planned = planning.fit(model, inputs, loss, "90%", time=1.0, verbose=False)
    planned(*inputs)
    once = [p.grad.clone() for p in model.parameters()]
    planned(*inputs)
    assert all(torch.equal(p.grad, 2 * g) for p, g in zip(model.parameters(), once, strict=True))


def test_values_wait_on_the_host_outside_of_the_measured_memory():
    model, inputs, loss = models.gpt(**SMALL["gpt"])
    planner = planning.Planner(model, inputs, loss, options=planning.Options(time=2.0, offload=True))
    for operation in planner.captured.program.operations:
        operation.cost *= 1000  # so that a way to the host and back pays
    planned = planner.fit("60%")
    assert planned.measured_peak <= planned.budget
    assert planned.host_peak > 0 and planned.host.used == 0
    assert {"store", "load"} <= {kind for kind, _, _ in planned.moves}
    assert same(planned_results(planned), plain_results(planned.captured))


def test_costs_by_flops_run_nothing_beforehand(monkeypatch):
    model, inputs, loss = models.mlp(**SMALL["mlp"])
    monkeypatch.setattr(measure, "plain_peak", lambda captured: pytest.fail("the plain step was run"))
    planned = planning.fit(model, inputs, loss, "60%", costs="flops", time=1.0, verbose=False)
    assert planned.plain_peak is None and planned.measured_peak <= planned.budget
    assert same(planned_results(planned), plain_results(planned.captured))


def test_a_kernel_that_takes_more_than_was_measured_is_planned_again():
    model, inputs, loss = models.unet(**SMALL["unet"])
    planner = planning.Planner(model, inputs, loss, options=planning.Options(time=0.7))
    for operation in planner.captured.program.operations:
        operation.workspace = 0  # as if nothing had been seen
    planned = planner.fit("80%")
    assert planned.measured_peak <= planned.budget
    assert any(operation.workspace for operation in planner.captured.program.operations)


def part_of_a_buffer(name: str, share: int):
    """tanh, returned as a part of a storage that is larger by ``1 / share`` of it."""

    def kernel(x: torch.Tensor) -> torch.Tensor:
        return torch.cat((x.tanh(), x[: len(x) // share]))[: len(x)]

    operator = torch.library.custom_op(f"pebble_test::{name}", kernel, mutates_args=())
    operator.register_fake(torch.empty_like)
    operator.register_autograd(
        lambda ctx, grad: grad * (1 - ctx.saved_tensors[0] ** 2),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(output),
    )
    return operator


half, most = part_of_a_buffer("half_of_a_buffer", 1), part_of_a_buffer("most_of_a_buffer", 4)


class Apply(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


@pytest.mark.parametrize("costs", ["measured", "flops"])
@pytest.mark.parametrize(
    ("activation", "loss"),
    [
        (torch.tanh, nn.functional.mse_loss),
        (torch.tanh, nn.functional.smooth_l1_loss),
        (torch.tanh, nn.functional.soft_margin_loss),
        (half, nn.functional.l1_loss),
        (most, nn.functional.l1_loss),
    ],
    ids=["mse", "smooth_l1", "soft_margin", "half", "most"],
)
def test_storages_that_are_larger_than_their_tensors_are_counted(activation, loss, costs):
    width = 32
    model = nn.Sequential(*[nn.Sequential(nn.Linear(width, width), Apply(activation)) for _ in range(8)])
    inputs = torch.randn(256, width), torch.randn(256, width)
    planned = planning.fit(model, inputs, lambda out, y: loss(out, y), "75%", costs=costs, time=3.0, verbose=False)
    assert planned.measured_peak <= planned.budget
    assert costs == "flops" or abs(planned.measured_peak - planned.planned_peak) <= 4096
    assert same(planned_results(planned), plain_results(planned.captured))


CACHE: list[torch.Tensor] = []


@torch.library.custom_op("pebble_test::keeps_memory", mutates_args=())
def keeps_memory(x: torch.Tensor) -> torch.Tensor:
    CACHE[:] = [x.new_empty(2 * x.numel())]  # until the next call: more than its workspace
    return x.tanh()


keeps_memory.register_fake(torch.empty_like)
keeps_memory.register_autograd(
    lambda ctx, grad: (CACHE.clear(), grad * (1 - ctx.saved_tensors[0] ** 2))[1],
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(output),
)


def test_memory_that_no_kernel_explains_is_left_free():
    layers = [layer for _ in range(8) for layer in (nn.Linear(32, 32), nn.Tanh())]
    model = nn.Sequential(nn.Linear(32, 32), Apply(keeps_memory), *layers)
    options = planning.Options(time=3.0)
    planner = planning.Planner(model, torch.randn(256, 32), lambda out: out.square().mean(), options=options)
    CACHE.clear()
    planned = planner.fit("75%")
    assert planned.measured_peak <= planned.budget
    CACHE.clear()


def test_report_names_modules_and_prints_both_peaks(capsys):
    model, inputs, loss = models.gpt(**SMALL["gpt"])
    planned = planning.fit(model, inputs, loss, "55%", time=1.0)
    line = capsys.readouterr().out
    assert "measured" in line and "planned" in line and "(55 % of" in line
    report = planned.report()
    assert "blocks.0.mlp.0" in report and "frees" in report and "recomputing it would cost" in report
    text = planned.explain("blocks.1.attention")
    assert "_softmax" in text and "blocks.0" not in text
    assert "choose one of" in planned.explain("nowhere")


def test_other_shapes_and_counts_are_refused():
    model, inputs, loss = models.mlp(depth=3, width=16, batch=64)
    planned = planning.fit(model, inputs, loss, "100%", time=0.5, verbose=False)
    with pytest.raises(planning.Unsupported, match=r"input 0 is float32\[32, 16\].*planned for float32\[64, 16\]"):
        planned(inputs[0][:32], inputs[1][:32])
    with pytest.raises(planning.Unsupported, match="takes 2 inputs, and got 1"):
        planned(inputs[0])


@pytest.mark.parametrize("budget", ["sixty", -5, 0.5, "60 parsecs"])
def test_budgets_that_mean_nothing_are_refused(budget):
    model, inputs, loss = models.mlp(depth=3, width=16, batch=64)
    with pytest.raises(planning.DoesNotFit, match="budget"):
        planning.fit(model, inputs, loss, budget, time=0.5, verbose=False)


def test_a_budget_below_the_gradients_is_proved_infeasible():
    model, inputs, loss = models.mlp(depth=3, width=64, batch=8)
    with pytest.raises(planning.DoesNotFit, match="no plan exists") as caught:
        planning.fit(model, inputs, loss, 1000, time=0.5, verbose=False)
    assert caught.value.proved


def test_layouts_frozen_unused_and_expanded_gradients():
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Parameter(torch.randn(64, 32)), nn.Parameter(torch.randn(64, 32))
            self.summed, self.unused = nn.Parameter(torch.randn(5)), nn.Parameter(torch.randn(3))
            self.frozen = nn.Parameter(torch.randn(32, 32), requires_grad=False)
            self.conv = nn.Conv2d(2, 3, 3)
            self.conv.weight = nn.Parameter(self.conv.weight.detach().to(memory_format=torch.channels_last))

        def forward(self, x):
            return (
                ((self.one + self.two) @ self.frozen @ x).tanh().sum()
                + self.summed.sum()
                + self.conv(x.view(1, 2, 16, -1)).sum()
            )

    model, x = Odd(), torch.randn(32, 16)
    planned = planning.fit(model, x, None, "120%", time=0.5, verbose=False)
    planned(x)
    found = {name: p.grad for name, p in model.named_parameters()}
    model.zero_grad(set_to_none=True)
    model(x).backward()
    for name, parameter in model.named_parameters():
        if parameter.grad is None:
            assert found[name] is None
        else:
            assert torch.equal(found[name], parameter.grad) and found[name].stride() == parameter.grad.stride()
    storages = {p.grad.untyped_storage().data_ptr() for p in model.parameters() if p.grad is not None}
    assert len(storages) == 5


def test_a_planned_step_reaches_below_checkpointing_every_block():
    model, inputs, loss = models.gpt(batch=4, length=48, layers=4, heads=2, width=32)
    planner = planning.Planner(model, inputs, loss, options=planning.Options(time=3.0))
    captured = planner.captured
    with planning.checkpointed(model, models.BLOCKS["gpt"](model)), measure.untouched(captured):
        known = measure.measure_peak(captured.plain_step)
    assert known < planner.plain_peak
    planned = planner.fit(known - 1)
    assert planned.measured_peak < known


def test_a_plan_with_other_results_is_never_returned(monkeypatch):
    model, inputs, loss = models.mlp(depth=4, width=16, batch=64)
    planner = planning.Planner(model, inputs, loss, options=planning.Options(time=0.5))
    right = measure.program_order

    def wrong(captured, start):
        return tuple(None if result is None else result + 1 for result in right(captured, start))

    monkeypatch.setattr(measure, "program_order", wrong)
    with pytest.raises(planning.TorchPlanError, match="differ from those in program order"):
        planner.fit("90%")


def test_a_planner_serves_a_model_that_was_trained_since():
    model, (x, y), loss = models.mlp(depth=6, width=32, batch=256)
    planner = planning.Planner(model, (x, y), loss, options=planning.Options(time=0.5))
    step, optimizer = planner.fit("80%"), torch.optim.SGD(model.parameters(), lr=1.0)
    for _ in range(3):
        optimizer.zero_grad()
        step(x, y)
        optimizer.step()
    assert same(planned_results(planner.fit("60%")), plain_results(planner.captured))
    model.eval()
    with pytest.raises(planning.Unsupported, match="is in the mode of eval"):
        planner.fit("60%")


def test_readmes_lines_run(root):
    import re

    code = re.findall(r"^```python\n(.*?)^```$", (root / "README.md").read_text(), re.M | re.S)[0]
    names: dict = {}
    torch.manual_seed(0)
    exec(code, names)
    assert names["step"].measured_peak <= names["step"].budget and torch.isfinite(names["loss"])
