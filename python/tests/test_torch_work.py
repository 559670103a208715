"""What captured operations state for machines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import torch_models  # noqa: E402
from torch import nn  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

import pebble_bridge as pb  # noqa: E402
from pebble_bridge import measure as command  # noqa: E402
from pebble_bridge import torch as planning  # noqa: E402
from pebble_bridge.torch import kernels, probes  # noqa: E402
from pebble_bridge.torch.capture import capture  # noqa: E402
from pebble_bridge.torch.networks import Network  # noqa: E402
from pebble_bridge.torch.pricing import StepGraph  # noqa: E402
from pebble_bridge.torch.variants import variant_of  # noqa: E402
from pebble_bridge.torch.work import Work, counted, work_of  # noqa: E402

aten = torch.ops.aten


def work(target: object, *args: object, **kwargs: object) -> Work:
    return work_of(target, args, kwargs, target(*args, **kwargs))  # type: ignore[operator]


def conv(groups: int = 1, transposed: bool = False) -> tuple:
    shape = (8, 8 // groups, 3, 3)
    return (torch.ones(2, 8, 6, 6), torch.ones(shape), None, [1, 1], [1, 1], [1, 1], transposed, [0, 0], groups)


def test_products() -> None:
    a, b, stack = torch.ones(3, 4), torch.ones(4, 5), torch.ones(2, 3, 4)
    assert work(aten.mm.default, a, b) == ("matmul", "float32", 2 * 3 * 4 * 5, 4 * (12 + 20 + 15))
    assert work(aten.addmm.default, torch.ones(5), a, b).flops == 120
    assert work(aten.bmm.default, stack, torch.ones(2, 4, 5)).flops == 240
    assert work(aten.mm.default, a.bfloat16(), b.bfloat16())[1:] == ("bfloat16", 120, 94)


@pytest.mark.parametrize("groups, kind", [(1, "conv"), (2, "conv"), (8, "depthwise")])
def test_convolutions_count_their_groups(groups: int, kind: str) -> None:
    once = 2 * 2 * 36 * 8 * (8 // groups) * 9
    args = conv(groups)
    assert work(aten.convolution.default, *args)[:3] == (kind, "float32", once)
    assert work(aten.convolution.default, *conv(groups, True))[:3] == (f"{kind}.dx", "float32", once)
    tail = (None, *args[3:])
    for mask, name, flops in (
        ([True, False, False], f"{kind}.dx", once),
        ([False, True, False], f"{kind}.dw", once),
        ([True, True, False], f"{kind}.dw", 2 * once),
    ):
        found = work(aten.convolution_backward.default, torch.ones(2, 8, 6, 6), args[0], args[1], *tail, mask)
        assert (found.op, found.flops) == (name, flops)


def test_strided_convolutions_count_their_results() -> None:
    x, w = torch.ones(1, 3, 9, 9), torch.ones(4, 3, 3, 3)
    assert work(aten.convolution.default, x, w, None, [2], [1], [1], False, [0], 1).flops == 2 * 25 * 4 * 27


def test_attention_does_not_write_scores() -> None:
    q = torch.ones(2, 4, 16, 8)
    flash = aten._scaled_dot_product_flash_attention_for_cpu.default
    out, sums = flash(q, q, q)
    once = 2 * 8 * 16 * 16 * 8
    forward = work(flash, q, q.clone(), q.clone())
    assert forward == ("attention", "float32", 2 * once, 4 * (4 * q.numel() + sums.numel()))
    assert work(flash, q, q, q, 0.0, True).flops == 2 * once  # one block of keys
    long = torch.empty(1, 1, 1024, 8, device="meta")
    skipped = counted("_scaled_dot_product_flash_attention", flash, (long, long, long, 0.0, True), {}, [long] * 3, [])
    assert skipped == ("attention", 2 * 16 * (1024 * 1025 // 2))
    back = aten._scaled_dot_product_flash_attention_for_cpu_backward.default
    assert work(back, out, q, q, q, out, sums, 0.0, False)[:3] == ("attention.dx", "float32", 5 * once)


def test_bytes_are_those_that_the_kernel_touches() -> None:
    x = torch.ones(10, 6)
    assert work(aten.add.Tensor, x, x).bytes == 4 * 2 * 60  # the same tensor is read once
    assert work(aten.mul.Tensor, x, torch.ones(6).expand(10, 6)).bytes == 4 * (60 + 6 + 60)
    assert work(aten.clone.default, x[:, :3], memory_format=torch.contiguous_format).bytes == 4 * 60
    assert work(aten.zeros_like.default, x).bytes == 4 * 60
    table, rows = torch.ones(1000, 6), torch.zeros(4, dtype=torch.int64)
    assert work(aten.embedding.default, table, rows)[:3] == ("embed", "float32", 0)
    assert work(aten.embedding.default, table, rows).bytes == 8 * 4 + 2 * 4 * 24


@pytest.mark.parametrize(
    "kind, call",
    [
        ("elementwise", lambda x: (aten.relu.default, x)),
        ("elementwise", lambda x: (aten.gt.Scalar, x, 0)),
        ("elementwise", lambda x: (aten.pow.Tensor_Scalar, x, 2)),
        ("elementwise", lambda x: (aten._to_copy.default, x.bfloat16())),
        ("math", lambda x: (aten.gelu.default, x)),
        ("math", lambda x: (aten.tanh.default, x)),
        ("norm", lambda x: (aten.native_layer_norm.default, x, [6], None, None, 1e-5)),
        ("softmax", lambda x: (aten._softmax.default, x, -1, False)),
        ("reduce", lambda x: (aten.sum.dim_IntList, x, [0])),
        ("copy", lambda x: (aten.cat.default, [x, x])),
        ("dropout", lambda x: (aten.native_dropout.default, x, 0.5, True)),
        ("loss", lambda x: (aten.mse_loss.default, x, x.clone())),
        ("pool", lambda x: (aten.avg_pool2d.default, x[None], [2, 2])),
        ("other", lambda x: (aten.sort.default, x)),
    ],
)
def test_kinds(kind: str, call: object) -> None:
    target, *args = call(torch.ones(10, 6))  # type: ignore[operator]
    kwargs = {"dtype": torch.float32} if target is aten._to_copy.default else {}
    assert work(target, *args, **kwargs).op == kind


def test_every_operation_of_a_step_states_its_work() -> None:
    model, inputs, loss = torch_models.gpt(layers=1, fused=True)
    program = capture(model, inputs, loss).program
    known = [operation.work for operation in program.operations]
    assert all(found.bytes and found.op != "other" for found in known)
    kinds = {"matmul", "attention", "attention.dx", "norm", "norm.dx", "math", "embed", "embed.dw"}
    assert kinds <= {found.op for found in known}


def test_mixed_precision_states_the_type_of_the_kernel() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))

    def loss(x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return model(x).float().mean()

    class Whole(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = model

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return loss(x)

    program = capture(Whole(), torch.ones(4, 8)).program
    kinds = {(operation.work.op, operation.work.dtype) for operation in program.operations}
    assert ("matmul", "bfloat16") in kinds and ("matmul", "float32") not in kinds


def test_a_machine_prices_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    model, inputs, loss = torch_models.mlp(depth=4, width=16, batch=64)
    planned = planning.fit(model, inputs, loss, "70%", machine="a100-40", time=0.5)
    assert "times of machine a100-40" in capsys.readouterr().out
    assert planned.plan.machine == pb.Machine("a100-40") and planned.plan.cost_unit == "ns"
    assert planned.plan.runtime is not None and planned.plan.runtime < 1e-3
    assert planned.measured_peak <= planned.budget
    assert planned.lowered.graph.op[0] == "matmul"
    counted = planning.fit(model, inputs, loss, "70%", machine="t4", costs="flops", time=0.5)
    assert counted.plan.runtime is not None and "µs" in counted.report()


def test_machines_that_cannot_price_a_step_are_refused() -> None:
    model, inputs, loss = torch_models.mlp(depth=2, width=8, batch=4)
    with pytest.raises(planning.Unsupported, match="abstract"):
        planning.fit(model, inputs, loss, machine="red-blue")
    with pytest.raises(planning.Unsupported, match="no links"):
        planning.fit(model, inputs, loss, machine={**pb.Machine("t4").document, "links": []}, offload=True)


def test_kernels_become_a_machine_that_predicts_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    made = probes.Maker(torch.float32, "cpu", True)
    few = [next(kind(made)) for kind in (probes.products, probes.norms, probes.functions, probes.streams)]
    inputs = (torch.randn(300, 24), torch.randn(300, 24))
    tiny = Network(nn.Sequential(nn.Linear(24, 24), nn.Tanh()), inputs, nn.MSELoss())
    monkeypatch.setattr(kernels, "networks", lambda *_: iter([lambda: tiny]))
    monkeypatch.setattr(kernels, "probes", lambda make: iter(few))
    monkeypatch.setattr(kernels, "ENOUGH_NS", 1000)
    monkeypatch.setattr(kernels, "ROTATION", 1 << 16)
    machine = kernels.measure_machine("few", quick=True)
    fitted = {row["op"] for row in machine.fitted}
    assert {"matmul", "norm", "math", "elementwise", "loss", "reduce"} <= fitted  # alone, and in a step
    assert machine.document["reference"]["what"] == kernels.REFERENCE and len(machine.links) == 2
    assert kernels.rescaled(machine).name == "few"
    with pytest.raises(pb.InvalidArgument, match="no reference"):
        kernels.rescaled(pb.Machine("t4"))
    model, inputs, loss = torch_models.mlp(depth=3, width=16, batch=64)
    planned = planning.fit(model, inputs, loss, "90%", machine=machine, time=0.2, verbose=False)
    assert 0 < planned.plan.runtime < 1  # type: ignore[operator]
    assert any(row["modelled"] for row in planned.lowered.graph.time_report["rows"])


def test_every_probe_is_of_a_kind_that_it_measures() -> None:
    made = probes.Maker(torch.float32, "cpu", True)
    with torch.no_grad(), FakeTensorMode():
        found = {work(probe.target, *probe.args, **probe.kwargs).op for probe in probes.probes(made)}
    assert "other" not in found and len(found) == 24


def variant(target: Any, *args: Any, **kwargs: Any) -> Work:
    out = target(*args, **kwargs)
    return variant_of(target, args, kwargs, out, work_of(target, args, kwargs, out))


def test_kernels_of_one_kind_that_differ_in_speed_are_variants() -> None:
    x, images = torch.ones(2, 6, 4, 8), torch.ones(2, 24, 8, 8)
    contiguous = {"memory_format": torch.contiguous_format}
    assert variant(aten.clone.default, x, **contiguous).op == "copy same"
    assert variant(aten.clone.default, x.transpose(1, 2), **contiguous).op == "copy rows"
    assert variant(aten.clone.default, x.permute(0, 2, 3, 1), **contiguous).op == "copy transposed"
    assert variant(aten.mm.default, x[0, 0].t(), x[0, 0]).op == "matmul plain tn"
    assert variant(aten.bmm.default, x[0], x[0].transpose(1, 2)).op == "matmul batched nt"
    assert variant(aten.add.Tensor, x, x).op == "elementwise of 2"
    assert variant(aten.add.Tensor, x, torch.ones(8)).op == "elementwise of 1 and a part"
    assert variant(aten.mul.Tensor, x, 2.0).op == "elementwise of 1"
    assert variant(aten.sum.dim_IntList, x, [0]).op == "reduce columns"
    assert variant(aten.mean.dim, x, [-1]).op == "reduce rows"
    assert variant(aten.sum.dim_IntList, x, [0, 2, 3]).op == "reduce planes"
    assert variant(aten._softmax.default, x, -1, False).op == "softmax short rows"
    assert variant(aten._softmax.default, x, 1, False).op == "softmax columns"
    assert variant(aten.gelu.default, x, approximate="tanh").op == "math gelu tanh"
    how = (None, [1, 1], [0, 0], [1, 1], False, [0, 0])
    one = variant(aten.convolution.default, images, torch.ones(40, 24, 1, 1), *how, 1)
    assert one.op == "conv 1x1" and one.flops == 2 * 2 * 64 * 48 * 32  # channels in blocks of 16
    assert variant(aten.convolution.default, images, torch.ones(24, 1, 3, 3), *how, 24).op == "depthwise small"
    assert variant(aten.convolution.default, images[:, :3], torch.ones(16, 3, 3, 3), *how, 1).op == "conv from few"
    assert variant(aten.convolution.default, images, torch.ones(3, 24, 3, 3), *how, 1).op == "conv to few"


def test_a_step_is_priced_by_variants_that_the_machine_has() -> None:
    base = {**kernels.base_of("two", "cpu", 1)}
    coarse = [(Work("matmul", "float32", n, n), n) for n in (1000, 2000, 4000, 8000, 16000, 32000)]
    timed = [kernels.Timed(work, work._replace(op="matmul plain nt"), 10 * n) for work, n in coarse]
    timed += [kernels.Timed(work, work._replace(op="matmul plain nn"), 1000 * n) for work, n in coarse]
    timed += [kernels.Timed(work._replace(dtype="int64"), work._replace(dtype="int64"), n) for work, n in coarse[:3]]
    machine = kernels.machine_of(timed, base)
    assert {"matmul", "matmul plain nt", "matmul plain nn"} == {m["op"] for m in machine.processors[0]["models"]}
    assert {m["dtype"] for m in machine.processors[0]["models"]} == {"float32"}  # three sizes are too few
    assert set(machine.processors[0]["rates"]) == {"matmul/float32", "float32", "other"}  # of kinds only
    fields: dict[str, Any] = {"cost": [1] * 3, "size": [1] * 3, "edges": [(0, 1), (1, 2)]}
    stated = {"flops": 4000, "bytes": 4000, "op": "matmul", "dtype": "float32"}
    fields |= {what: dict.fromkeys(range(3), value) for what, value in stated.items()}
    kinds = {0: "matmul plain nt", 1: "matmul plain nn", 2: "matmul plain tt"}
    graph = StepGraph({node: Work(kind, "float32", 4000, 4000) for node, kind in kinds.items()}, **fields)
    times = [graph.timed(machine).times[node]["cpu"] for node in range(3)]
    assert times[0] == pytest.approx(40_000, rel=0.05) and times[1] == pytest.approx(4_000_000, rel=0.05)
    assert times[0] < times[2]  # a variant that was not measured has the time of its kind
    report = graph.timed(machine).time_report
    assert report is not None and sum(row["nodes"] for row in report["rows"]) == 3 and report["kept"] == 0
    assert pb.Graph(**fields).timed("t4").times == graph.timed("t4").times  # a machine without variants


def test_a_call_alone_counts_where_no_step_had_a_similar_one() -> None:
    near, far = Work("copy rows", "float32", 0, 1000), Work("copy rows", "float32", 0, 5000)
    alone = [kernels.Timed(work, work, 9) for work in (near, far, near._replace(op="copy same"))]
    in_steps = [kernels.Timed(near, near._replace(bytes=1400), 5)]
    assert kernels.missing(alone, in_steps) == alone[1:]


def test_the_command_measures_and_rescales(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = probes.Maker(torch.float32, "cpu", True)
    monkeypatch.setattr(kernels, "probes", lambda make: iter([next(probes.streams(made))]))
    monkeypatch.setattr(kernels, "networks", lambda *_: iter(()))
    monkeypatch.setattr(kernels, "pin_allocator", lambda: None)
    monkeypatch.setattr(kernels, "ROTATION", 1 << 16)
    here, now = str(tmp_path / "here.json"), str(tmp_path / "now.json")
    assert command.main(["-o", here, "--quick", "--device", "cpu", "--name", "mine"]) == 0
    assert command.main(["--rescale", here, "-o", now]) == 0
    assert pb.Machine(now).name == "mine"
    assert command.main(["--rescale", str(tmp_path / "nothing.json"), "-o", now]) == 1
