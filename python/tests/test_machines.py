"""Machines: what nodes state for them, plans in times, and machines from measurements."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import pebble_bridge as pb

BOX = {
    "format": "pebble-machine/1",
    "name": "box",
    "time_unit": "us",
    "memories": [{"name": "ram", "cap": 100}, {"name": "disk"}],
    "processors": [
        {"name": "cpu", "memory": "ram", "overhead": 2, "bandwidth": 10**6, "rates": {"float32": 4 * 10**6}},
    ],
    "links": [
        {"name": "out", "from": "ram", "to": "disk", "bandwidth": 10**6, "latency": 1},
        {"name": "in", "from": "disk", "to": "ram", "bandwidth": 10**6, "latency": 1},
    ],
}


def stated(**more: object) -> pb.Graph:
    """a is given; b states its work, c only traffic, d a measured time."""
    return pb.Graph(
        cost=[0, 1, 1, 1],
        size=[8, 8, 8, 8],
        edges=[("a", "b"), ("b", "c"), ("c", "d")],
        names=["a", "b", "c", "d"],
        given=["a"],
        flops={"b": 400},
        bytes={"b": 16, "c": 30},
        op=[None, "matmul", "copy", None],
        dtype={"b": "float32", "c": "float32"},
        times={"d": {"cpu": 50, "gpu": 5}},
        size_unit="byte",
        **more,
    )


def test_what_nodes_state_comes_back() -> None:
    g = stated(on={"b": ["gpu", "cpu"], "c": "cpu"}, keep={"d": "ram", "c": True}, fixed={"ram": 5}, machine=BOX)
    again = pb.Graph.from_json(g.to_json())
    assert again.hash == g.hash
    for graph in (g, again):
        assert graph.flops == [None, 400, None, None]
        assert graph.bytes == [None, 16, 30, None]
        assert graph.op == [None, "matmul", "copy", None]
        assert graph.dtype == [None, "float32", "float32", None]
        assert graph.times == {3: {"cpu": 50, "gpu": 5}}
        assert graph.on == {1: ["gpu", "cpu"], 2: ["cpu"]}
        assert (graph.keep, graph.keep_in, graph.fixed) == ([2, 3], {3: "ram"}, {"ram": 5})
        assert graph.machine == pb.Machine(BOX)
    slow = pb.Graph([0, 1], [1, 1], [(0, 1)], given={0: "slow"}, starts_in={0: "disk"})
    assert slow.starts_in == {0: "disk"}


def test_a_graph_without_work_states_nothing(tiny: pb.Graph) -> None:
    assert tiny.flops == tiny.op == [None] * 3
    assert (tiny.times, tiny.on, tiny.starts_in, tiny.fixed, tiny.machine) == ({}, {}, {}, {}, None)


def test_costs_become_times() -> None:
    p = pb.plan(stated(), machine=BOX)
    assert p.metrics is not None
    assert p.metrics.work == (2 + 100) + (2 + 30) + 50
    assert (p.cap, p.cost_unit, p.runtime, p.machine) == (100, "us", 184e-6, pb.Machine(BOX))
    assert pb.verify(stated(), p)
    assert pickle.loads(pickle.dumps(p)).runtime == p.runtime


def test_the_graphs_own_machine_is_the_default_and_false_switches_it_off() -> None:
    g = stated(machine=BOX)
    assert pb.plan(g, None).cost_unit == "us"
    plain = pb.plan(g, None, machine=False)
    assert (plain.cost_unit, plain.runtime, plain.machine) == ("step", None, None)
    assert plain.metrics is not None and plain.metrics.work == 3
    with pytest.raises(pb.InvalidArgument, match="cap: expected a size"):
        pb.plan(g, machine=False)


def test_tiers_come_from_the_machine() -> None:
    steps = pb.generate("adjoint-chain", 100)
    p = pb.plan(steps, machine="red-blue", game="tiered")
    assert p.metrics is not None and p.metrics.makespan == 354 and p.runtime is None
    assert p.tiers[0]["store"] and p.tiers[0]["load"]


def test_compare_sweep_and_info_take_a_machine() -> None:
    g = stated()
    assert pb.compare(g, machine=BOX, strategies="cache-all", game="remat").rows[0].metrics.work == 184
    assert pb.sweep(g, "100%", machine=BOX, strategies="last-use").cells[0].metrics.work == 184
    assert {least.game for least in pb.info(g, machine=BOX).games} == {"remat", "reversible", "tiered"}


def test_machines_by_name_file_and_document(tmp_path: Path) -> None:
    names = [machine["name"] for machine in pb.machines()]
    assert "a100-40" in names and "red-blue" in names
    m = pb.Machine(BOX)
    m.write(tmp_path / "box.json")
    assert pb.Machine(tmp_path / "box.json") == m == pickle.loads(pickle.dumps(m)) == pb.Machine(m.to_json())
    assert m.seconds(5) == 5e-6 and pb.Machine("red-blue").seconds(5) is None
    assert "link out from ram to disk: 1 MB/s" in str(m)
    assert "2 memories" in repr(m)
    assert len(pb.Machine("a100-40*4").processors) == 4


@pytest.mark.parametrize(
    "machine, kind, sentence",
    [
        ("a10040", pb.UnknownName, "did you mean a100-40"),
        ("nowhere.json", pb.ReadWriteError, "cannot be read"),
        (BOX | {"processors": []}, pb.FormatError, "no processors"),
        (5, pb.InvalidArgument, "expected a name, a file or a Machine"),
        (None, pb.InvalidArgument, "machines.. lists the names"),
    ],
)
def test_wrong_machines_are_refused(machine: object, kind: type, sentence: str) -> None:
    with pytest.raises(kind, match=sentence):
        pb.Machine(machine)  # type: ignore[arg-type]


def test_measurements_become_a_machine_that_times_graphs() -> None:
    base = {**BOX, "time_unit": "ns", "processors": [{"name": "cpu", "memory": "ram"}]}
    # 1000 ns, and 2 flops or 4 bytes in a nanosecond
    sizes = [10**k * m for k in range(3, 7) for m in (1, 3)]
    samples = [pb.Sample("matmul", "float32", 2 * n, n, 1000 + n) for n in sizes]
    samples += [pb.Sample("copy", "float32", 0, 4 * n, 1000 + n) for n in sizes]
    m = pb.Machine.fit(samples, base)
    assert {(row["op"], row["samples"]) for row in m.fitted} == {("matmul", 8), ("copy", 8)}
    assert all(row["error"] < 0.05 for row in m.fitted)
    g = pb.Graph(
        [1, 1, 1], [1, 1, 1], flops=[200_000, 0, None], bytes=[100_000, 80_000, None], op=["matmul", "copy", None],
        dtype=["float32", "float32", None],
    )
    timed = g.timed(m)
    assert timed.time_report is not None and timed.time_report["outside"] == 0 and timed.time_report["unknown"] == 1
    assert timed.times[0]["cpu"] == pytest.approx(101_000, rel=0.05)
    assert timed.times[1]["cpu"] == pytest.approx(21_000, rel=0.05)
    twice = g.timed(m.rescaled(2))
    assert twice.times[0]["cpu"] == pytest.approx(2 * timed.times[0]["cpu"], rel=0.01)
    with pytest.raises(pb.InvalidArgument, match="no measurements"):
        pb.Machine.fit([], base)
    with pytest.raises(pb.InvalidArgument, match="machine: expected one"):
        g.timed()
