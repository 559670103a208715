"""What capture finds in a step: storages, views, modules, random operations, and why a model cannot be captured."""

from __future__ import annotations

import functools
import json

import pytest

torch = pytest.importorskip("torch")

import torch_models as models  # noqa: E402
from pebble_bridge import torch as planning  # noqa: E402
from pebble_bridge.torch import _adapter, lower, measure, refusals  # noqa: E402
from pebble_bridge.torch.runner import compile_step, program_order_moves  # noqa: E402
from torch import nn  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


@functools.cache
def captured_of(name: str):
    """A capture that several tests look at, and none changes."""
    torch.manual_seed(0)
    return planning.capture(*models.CASES[name](**({"counts": (1, 2, 1, 1)} if name == "resnet50" else {})))


def operations(captured, kind: str) -> list:
    return [operation for operation in captured.program.operations if operation.target.startswith(f"aten.{kind}")]


def test_views_own_no_memory():
    captured = planning.capture(*models.gpt(layers=1))
    made = {operation.node.target for operation in captured.program.operations}
    views = [
        torch.ops.aten.view.default,
        torch.ops.aten.transpose.int,
        torch.ops.aten.split.Tensor,
        torch.ops.aten.t.default,
        torch.ops.aten.expand.default,
        torch.ops.aten._unsafe_view.default,
        torch.ops.aten.slice.Tensor,
    ]
    assert not made & set(views)
    linear = operations(captured, "addmm")[0]
    assert linear.values[0].size == 2 * 32 * 96 * 4


@pytest.mark.parametrize("name", list(models.CASES))
def test_the_model_of_memory_is_the_allocators(name):
    captured = captured_of(name)
    measure.profile(captured, repeats=1)
    held = most = 0
    for kind, what, _ in program_order_moves(captured.program):
        if kind == "compute":
            held += sum(value.size for value in what.values)
            most = max(most, held + what.workspace)
        else:
            held -= what.size
    step = compile_step(captured.program, program_order_moves(captured.program))
    given = captured.given(captured.example_inputs)
    with torch.no_grad():
        assert measure.measure_peak(lambda: step(given, None, None)) == most


def test_peaks_of_known_allocations_are_exact():
    def run():
        a = torch.empty(1000, dtype=torch.uint8)
        b = torch.empty(500, dtype=torch.uint8)
        del a
        c = torch.empty(700, dtype=torch.uint8)
        return b, c

    assert measure.measure_peak(run) == 1500


def test_modules_of_forward_and_backward():
    captured = captured_of("resnet18")
    convolutions = [o for o in captured.program.operations if o.module == "stages.1.0.conv2"]
    assert {o.backward for o in convolutions} == {False, True}
    assert {o.module for o in operations(captured, "max_pool2d_with_indices_backward")} == {"stem.3"}
    assert all(o.module == "" for o in operations(captured, "nll_loss"))


def test_in_place_operations_and_statistics_become_results():
    captured = captured_of("resnet18")
    assert len(captured.buffer_places) == sum(1 for _ in captured.model.buffers())
    assert all(not operation.node.target._schema.is_mutable for operation in captured.program.operations)


def test_random_operations_are_once_and_chained():
    captured = planning.capture(*models.mlp(depth=6, dropout=0.5))
    drawn = [operation for operation in captured.program.operations if operation.random]
    assert len(drawn) == 4 and all(operation.once for operation in drawn)
    graph = lower.lower(captured.program).graph
    document = json.loads(graph.to_json())
    once = [i for i, node in enumerate(document["nodes"]) if node.get("once")]
    assert len(once) == 4
    tokens = {i for i, node in enumerate(document["nodes"]) if node["name"].endswith(".drawn")}
    assert sum(1 for u, _ in document["edges"] if u in tokens) == 3
    replayed = json.loads(lower.lower(captured.program, random="replay").graph.to_json())
    assert not any(node.get("once") for node in replayed["nodes"])


def test_small_masks_are_kept_by_default():
    def once(width: int) -> int:
        captured = planning.capture(*models.mlp(depth=6, width=width, dropout=0.5))
        graph = json.loads(lower.lower(captured.program, random="auto").graph.to_json())
        return sum(1 for node in graph["nodes"] if node.get("once"))

    assert once(16) == 4 and once(128) == 0
    with pytest.raises(planning.Unsupported, match='random="never": expected "auto"'):
        planning.Planner(*models.mlp(), options=planning.Options(random="never"))


def test_only_draws_from_the_default_generator_can_be_repeated():
    aten, graph, cpu = torch.ops.aten, torch.fx.Graph(), torch.device("cpu")
    plain = graph.call_function(aten.rand.default, ([3],))
    own = graph.call_function(aten.rand.generator, ([3],), {"generator": torch.Generator()})
    custom = graph.call_function(torch.ops.prims.normal.default, ([3],))
    assert _adapter.generator_of(plain, cpu) is torch.default_generator
    assert _adapter.generator_of(own, cpu) is None and _adapter.generator_of(custom, cpu) is None
    assert _adapter.generator_of(plain, torch.device("meta")) is None


def test_a_draw_that_nobody_reads_still_happens():
    class Wasteful(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            torch.rand(3)
            return nn.functional.dropout(self.layer(x), 0.5).sum()

    model, x = Wasteful(), torch.randn(2, 4)
    planned = planning.fit(model, x, None, 100000, time=0.5, verbose=False)
    torch.manual_seed(9)
    expected = model(x)
    torch.manual_seed(9)
    assert torch.equal(planned(x), expected)


def test_collectives_and_draws_are_document_apart_from_the_rest():
    aten = torch.ops.aten
    assert _adapter.is_random(aten.bernoulli.p) and _adapter.is_random(aten.native_dropout.default)
    assert not _adapter.is_random(aten.relu.default) and not _adapter.has_effects(aten.relu.default)
    assert _adapter.has_effects(aten.relu_.default)
    if torch.distributed.is_available():
        assert _adapter.has_effects(torch.ops._c10d_functional.all_reduce.default)


def test_overwriting_is_offered_where_layouts_agree():
    captured = captured_of("resnet18")
    assert all(operation.over for operation in operations(captured, "relu"))
    for inplace in (True, False):
        found = planning.capture(*models.mlp(depth=3), inplace=inplace).program.operations
        assert any(operation.over for operation in found) is inplace


class WritesParts(nn.Module):
    """A recurrence that writes its states into one tensor, and other writes into parts."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.cell, self.kind = nn.Linear(8, 8), kind

    def forward(self, x):
        out, state = torch.zeros_like(x), torch.zeros_like(x[:, 0])
        for step in range(x.shape[1]):
            state = torch.tanh(x[:, step] + self.cell(state))
            if self.kind == "select":
                out[:, step] = state
            elif self.kind == "slice":
                out[:, step : step + 1, 2:6] = state[:, None, 2:6]
            elif self.kind == "number":
                out[:, step] = state
                out[:, step, :2] = 1.5
            else:
                out[torch.arange(len(x)), step] = state
        return (out * out).sum()


@pytest.mark.parametrize("kind", ["select", "slice", "number", "index"])
def test_writes_into_parts_of_a_tensor_copy_nothing(kind):
    """torch makes each of these writes a copy of the whole tensor when it captures."""
    model, x = WritesParts(kind), torch.randn(16, 24, 8)
    plain = model(x)
    plain.backward()
    expected = model.cell.weight.grad.clone()
    model.zero_grad()
    planned = planning.fit(model, x, None, "100%", time=0.5, verbose=False)
    assert torch.equal(planned(x), plain) and torch.equal(model.cell.weight.grad, expected)
    whole = x.numel() * 4
    large = [one for one in planned.captured.program.operations if one.main.size >= whole]
    writes = [one for one in large if "scatter" in one.target]
    assert len(writes) >= 2 * 24 - 1 and not any(one.target == "aten.copy" for one in large)
    copies = [move for move in planned.moves if move[0] == "compute" and move[1] in writes and move[2][1] is None]
    assert len(copies) <= 2


class Shifts(nn.Module):
    """Writes parts of a tensor into other parts of it, of another type, and into what the model returns."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(6))

    def forward(self, x):
        y = x * self.weight
        z = y + 1
        y[:, 3:] = y[:, :3]
        y[:, 2] = y[:, 3] * 2
        y[0, :2] = torch.tensor([1, 2])
        y[1] += z[0]
        z[:, 0] = y[:, 5]
        return (y.tanh() * z).sum(), y, z


def test_writes_between_parts_and_converting_writes_are_those_of_eager():
    model, x = Shifts(), torch.randn(5, 6)
    plain = model(x)
    plain[0].backward()
    expected, model.weight.grad = model.weight.grad, None
    planning.budget(model, "100%", time=0.5, verbose=False)
    found = model(x)
    found[0].backward()
    assert all(map(torch.equal, found, plain)) and torch.equal(model.weight.grad, expected)


def test_gradients_of_convolution_inputs_do_not_read_the_input():
    captured = captured_of("unet")
    kinds = {operation.node.args[10][0] for operation in operations(captured, "convolution_backward")}
    assert kinds == {False}, "every input's gradient is a transposed convolution of its own"


@pytest.mark.parametrize(
    ("version", "fine"), [("2.13.0", True), ("2.13.1+cu128", True), ("2.12.0", False), ("3.0", False), ("dev", False)]
)
def test_versions(version, fine):
    if fine:
        _adapter.check_version(version)
    else:
        with pytest.raises(planning.UnsupportedTorch, match=f"supports torch 2.13, and this is torch {version}"):
            _adapter.check_version(version)


class Steps(nn.Module):
    def __init__(self, forward):
        super().__init__()
        self.layer, self.run = nn.Linear(4, 4), forward
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        return self.run(self, self.layer(x))


PLAIN = torch.ones(4)
REFUSED = {
    "shape from data": (
        lambda self, y: y[y > 0].sum(),
        r"nonzero returns .* depends on data \(test_torch_capture\.py, line \d+.*torch.where",
    ),
    "repeated": (lambda self, y: y.repeat_interleave((y[0] > 0).long(), 1).sum(), "repeat_interleave its output_size"),
    "counted": (lambda self, y: y.sum() * (y[0] > 0).long().bincount().sum(), r"bincount.*num_classes"),
    "unique": (lambda self, y: y.sum() * (y > 0).unique().sum(), r"_unique2.*outside of the step and pass it in"),
    "one hot": (
        lambda self, y: y.sum() * nn.functional.one_hot((y > 0).long()).sum(),
        r"one_hot reads the largest class from data \(.*\): give it num_classes",
    ),
    "packed": (
        lambda self, y: nn.utils.rnn.pack_padded_sequence(y[None], torch.tensor([2]), True).data.sum(),
        "leave the sequences padded",
    ),
    "CTC": (
        lambda self, y: nn.functional.ctc_loss(y[None], torch.ones(2, 1).long(), (1, 1), (1, 1)),
        r"_ctc_loss.*custom_op that returns the losses and their gradient",
    ),
    "branch on data": (lambda self, y: y.sum() if y.mean() > 0 else y.mean(), r"turns data into a number.*torch.where"),
    "number for Python": (lambda self, y: y.sum() * y.max().item(), r"(_local_scalar_dense|data).*(item|torch.where)"),
    "compared": (
        lambda self, y: y.sum() if torch.equal(y, y * 2) else y.mean(),
        r"aten\.equal turns data into a number .*\(test_torch_capture\.py, line \d+: lambda self, y: y\.sum",
    ),
    "numpy": (
        lambda self, y: y.sum() * float(y.detach().numpy().sum()),
        r"cannot be captured as one graph \(test_torch_capture\.py, line \d+: lambda.*numpy\(\) is not supported",
    ),
    "an error of its own": (
        lambda self, y: next(iter(())),
        r"as one graph \(test_torch_capture\.py, line \d+: lambda self, y: next.*\): StopIteration",
    ),
    "plain tensor": (
        lambda self, y: (y * PLAIN).sum(),
        r"aten\.mul\.Tensor reads a tensor .* or an input \(test_torch_capture\.py, line \d+: lambda.*register_buffer",
    ),
    "sparse": (lambda self, y: y.to_sparse().sum(), r"_to_sparse returns .*\(called in the model itself\)"),
    "no loss": (lambda self, y: y, r"the loss must be one number, and it is \(2, 4\)"),
    "detached": (lambda self, y: y.detach().sum(), r"does not depend on any parameter"),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_models_that_cannot_be_planned_are_rejected_with_a_reason(case):
    forward, sentence = REFUSED[case]
    with pytest.raises(planning.Unsupported, match=sentence):
        planning.capture(Steps(forward), torch.randn(2, 4))


def test_the_lines_of_the_docs_plan_a_ctc_loss(root):
    import re

    blocks = re.findall(r"^```python\n(.*?)^```$", (root / "docs" / "torch.md").read_text(), re.M | re.S)
    names: dict = {}
    exec(next(block for block in blocks if "_ctc_loss" in block), names)
    model, x = nn.Linear(8, 6), torch.randn(9, 2, 8)
    rest = (torch.randint(1, 6, (2, 3)), torch.tensor([9, 8]), torch.tensor([3, 2]))
    planned = planning.fit(model, (x, *rest), names["ctc_loss"], "300%", time=0.3, verbose=False)
    found, gradient = planned(x, *rest), model.weight.grad.clone()
    model.zero_grad()
    expected = nn.functional.ctc_loss(model(x).log_softmax(2), *rest)
    expected.backward()
    assert torch.allclose(found, expected) and torch.allclose(gradient, model.weight.grad, atol=1e-6)


def test_an_operator_without_a_fake_form_is_named():
    @torch.library.custom_op("pebble_test::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    twice.register_autograd(lambda ctx, grad: grad * 2)
    with pytest.raises(planning.Unsupported, match=r"pebble_test::twice has no fake implementation.*register_fake"):
        planning.capture(Steps(lambda self, y: twice(y).sum()), torch.randn(2, 4))
    twice.register_fake(lambda x: torch.empty_like(x))
    captured = planning.capture(Steps(lambda self, y: twice(y).sum()), torch.randn(2, 4))
    assert any("twice" in operation.target for operation in captured.program.operations)


def test_guards_on_data_name_the_line_of_the_model():
    from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

    def branches():
        raise GuardOnDataDependentSymNode(None, "Could not guard on data-dependent expression u0 > 1\n\nMore lines")

    try:
        branches()
    except GuardOnDataDependentSymNode as error:
        message = refusals.why_not(error)
    assert "depends on data (test_torch_capture.py, line " in message and "raise GuardOnData" in message
    assert message.endswith("(torch: Could not guard on data-dependent expression u0 > 1)")


def test_a_custom_operator_that_writes_is_named():
    @torch.library.custom_op("pebble_test::increase", mutates_args=("x",))
    def increase(x: torch.Tensor) -> None:
        x.add_(1)

    def forward(self, y):
        copy = y.detach().clone()
        increase(copy)
        return (y * copy).sum()

    with pytest.raises(planning.Unsupported, match=r"pebble_test\.increase writes to its arguments"):
        planning.capture(Steps(forward), torch.randn(2, 4))


def test_inputs_are_checked():
    model, inputs, loss = models.mlp(depth=3, width=16, batch=8)
    with pytest.raises(planning.Unsupported, match="input 1 is int: a step takes only tensors"):
        planning.capture(model, (inputs[0], 3), loss)
    with pytest.raises(planning.Unsupported, match="input 0 requires a gradient"):
        planning.capture(model, (inputs[0].clone().requires_grad_(), inputs[1]), loss)
    with pytest.raises(planning.Unsupported, match=r"torch\.nn\.Module, not function"):
        planning.capture(lambda x: x, inputs, loss)
    with pytest.raises(planning.Unsupported, match="model_inputs=N"):
        planning.capture(model, inputs, lambda *values: values[0].sum())
    with pytest.raises(planning.Unsupported, match="no parameter of the model requires a gradient"):
        planning.capture(nn.ReLU(), torch.randn(3), None)
    captured = planning.capture(model, inputs, lambda *values: values[0].logsumexp(1).sum(), model_inputs=1)
    assert captured.program.operations


def test_the_input_that_a_model_writes_to_is_named():
    with pytest.raises(planning.Unsupported, match="writes to its input 0: copy it first"):
        planning.capture(WritesInput(), torch.randn(2, 4))


class WritesInput(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        x.add_(1)
        return self.layer(x).sum()


def test_a_step_that_is_not_what_the_model_does_is_refused():
    calls = []

    def counts(self, y):
        calls.append(1)
        return (y * len(calls)).sum()

    with pytest.raises(planning.Unsupported, match="the loss in the captured step differs from the model's"):
        planning.Planner(Steps(counts), torch.randn(2, 4))


class WithModule(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.lstm = inner

    def forward(self, x):
        return self.lstm(x)[0].square().mean()


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (nn.LSTM, {}),
        (nn.LSTM, {"dropout": 0.4, "bidirectional": True}),
        (nn.GRU, {"dropout": 0.4, "batch_first": True}),
    ],
)
def test_recurrent_networks_are_captured_as_eager_runs_them(kind, options):
    model, x = WithModule(kind(4, 8, num_layers=2, **options)), torch.randn(3, 2, 4)
    planned = planning.fit(model, x, None, "150%", time=0.5, verbose=False)
    torch.manual_seed(3)
    planned(x)
    found = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    torch.manual_seed(3)
    model(x).backward()
    assert all(torch.equal(a, p.grad) for a, p in zip(found, model.parameters(), strict=True))


def test_an_lstm_is_one_kernel_for_each_layer():
    planner = planning.Planner(WithModule(nn.LSTM(4, 8, num_layers=2)), torch.randn(5, 2, 4))
    kernels = [operation.target for operation in planner.captured.program.operations if "rnn" in operation.target]
    assert kernels == ["aten.mkldnn_rnn_layer"] * 2 + ["aten.mkldnn_rnn_layer_backward"] * 2


class Resized(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, x):
        y = self.first(x)
        for mode in ("nearest", "bilinear", "bicubic"):
            y = nn.functional.interpolate(y, scale_factor=2 if mode == "nearest" else 0.75, mode=mode).tanh()
        return nn.functional.softshrink(y, 0.1).square().mean()


def test_interpolation_is_its_kernel_and_not_a_gather():
    model, x = Resized(), torch.randn(2, 3, 12, 12)
    planned = planning.fit(model, x, None, "150%", time=0.2, verbose=False)
    planned(x)
    found = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    model(x).backward()
    assert all(torch.equal(a, p.grad) for a, p in zip(found, model.parameters(), strict=True))
    targets = {operation.target for operation in planned.captured.program.operations}
    assert "aten.upsample_bilinear2d_backward" in targets and not any("index" in target for target in targets)


class SkipsFullMasks(nn.Module):
    """Omits a mask without padding, unless it is compiled: the shortcut is right for one batch only."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x, mask):
        y = self.layer(x)
        if torch.compiler.is_compiling() or not bool(mask.all()):
            y = y.masked_fill(~mask, 0.0)
        return y.square().mean()


def test_shortcuts_for_one_batch_are_not_captured():
    model, x = SkipsFullMasks(), torch.randn(3, 4)
    planned = planning.fit(model, (x, torch.ones(3, 4, dtype=torch.bool)), None, "150%", time=0.5, verbose=False)
    assert not torch.compiler.is_compiling()
    mask = torch.rand(3, 4) > 0.5
    assert torch.equal(planned(x, mask), model(x, mask).detach())


@pytest.mark.parametrize("activation", [nn.SiLU, nn.Mish])
def test_backward_kernels_are_those_of_eager_autograd(activation):
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(8, 32), activation(), nn.Linear(32, 1), nn.Flatten(0)), torch.randn(64, 8)
    captured = planning.capture(model, (x,), lambda y: y.square().mean())
    names = [str(operation.node.target) for operation in captured.program.operations]
    assert f"aten.{activation.__name__.lower()}_backward.default" in names and "aten.sigmoid.default" not in names


class MixesTokens(nn.Module):
    """Layers along another dimension than the last: the kernels' layouts are not those of torch's fake tensors."""

    def __init__(self):
        super().__init__()
        self.one, self.two, self.norm, self.head = nn.Linear(6, 8), nn.Linear(8, 6), nn.BatchNorm1d(4), nn.Linear(4, 2)

    def forward(self, x):
        y = nn.functional.dropout(self.two(nn.functional.dropout(self.one(x.transpose(1, 2)), 0.1)), 0.1)
        x = x + y.transpose(1, 2)
        return self.head(self.norm(x.transpose(1, 2)).transpose(1, 2)).square().mean()


def test_transposed_values_have_the_layouts_of_their_kernels():
    model = nn.Sequential(nn.Linear(4, 4), MixesTokens())
    planned = planning.fit(model, torch.randn(3, 6, 4), None, "120%", time=0.5, verbose=False)
    assert planned.measured_peak <= planned.budget


def test_convolutions_without_padding_are_captured():
    model = nn.Sequential(nn.Conv2d(3, 4, 3, padding="valid"), nn.Conv2d(4, 4, 3, 2, padding="valid"))
    planned = planning.fit(model, torch.randn(2, 3, 9, 9), lambda y: y.square().mean(), "150%", time=0.5, verbose=False)
    assert planned.measured_peak <= planned.budget
