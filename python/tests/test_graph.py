"""Graphs from arrays, files and families, and back."""

from __future__ import annotations

import gc
import pickle
import re
from pathlib import Path

import pebble_bridge as pb
import pytest

numpy = pytest.importorskip("numpy")


def everything() -> pb.Graph:
    return pb.Graph(
        cost=[0, 2, 3, 0, 5],
        size=[5, 6, 7, 8, 9],
        edges=[("x", "y"), ("y", "z"), ("w", "last"), ("z", "last")],
        names=["x", "y", "z", "w", "last"],
        workspace=[0, 1, 0, 0, 4],
        given=["x"],
        once=["y"],
        keep=["z"],
        inplace={"z": ["y"]},
        byproduct_of={"w": "y"},
        groups={"x": "one", "z": "two"},
        targets=["last"],
        order=["y", "z", "last"],
        fixed_size=11,
        name="all",
        cost_unit="flop",
        size_unit="byte",
    )


def test_open_sizes_of_a_model_are_asked_for_as_python_writes_them():
    models = Path(__file__).resolve().parents[2] / "tests/fuzz/corpus/graph_onnx"
    with pytest.raises(pb.GraphError, match=re.escape('as in dims={"batch": 1, "tokens": 1}')) as refused:
        pb.Graph.read(models / "text_open.onnx")
    assert "--" not in str(refused.value)
    assert len(pb.Graph.read(models / "text_open.onnx", dims={"batch": 1, "tokens": 4}))


def test_everything_comes_back():
    g = everything()
    assert (g.node_count, g.edge_count, len(g)) == (5, 4, 5)
    assert g.cost.tolist() == [0, 2, 3, 0, 5] and g.size.tolist() == [5, 6, 7, 8, 9]
    assert g.workspace.tolist() == [0, 1, 0, 0, 4]
    assert g.names == ["x", "y", "z", "w", "last"]
    assert sorted(zip(*(side.tolist() for side in g.edges), strict=True)) == [(0, 1), (1, 2), (2, 4), (3, 4)]
    assert (g.given, g.once, g.keep) == ({0: True}, [1], [2])
    assert (g.inplace, g.byproduct_of) == ({2: [1]}, {3: 1})
    assert g.groups == ["one", None, "two", None, None]
    assert g.targets.tolist() == [4] and g.order.tolist() == [1, 2, 4]
    assert (g.name, g.cost_unit, g.size_unit, g.fixed_size) == ("all", "flop", "byte", 11)
    assert (g.inputs("last"), g.readers(1)) == ([2, 3], [2])
    assert g.total_size == 46 and g.needed_cost == 10 and g.depth == 3


def test_costs_with_decimals_are_counted_in_a_finer_unit():
    nodes = '{"name":"a","cost":0.5,"size":1},{"name":"b","cost":1,"size":2},{"name":"c","cost":25e-1,"size":3}'
    g = pb.Graph.from_json('{"format":"pebble-graph/1","nodes":[' + nodes + '],"edges":[[0,1],[1,2]]}')
    assert g.cost.tolist() == [5, 10, 25] and g.cost_unit == "0.1 step"
    assert pb.Graph.from_json(g.to_json()).hash == g.hash
    p = pb.plan(g, 5, tiers={"store_cost": 0.25, "load_cost": "0.5"})
    assert '"store_cost":2.5,"load_cost":5,' in p.to_json()  # prices are in steps, as in the file
    with pytest.raises(pb.FormatError, match="at most 12 decimals"):
        pb.Graph.from_json('{"format":"pebble-graph/1","nodes":[{"cost":0.30000000000000004,"size":1}]}')


def test_slow_values_are_told_apart():
    g = pb.Graph([0, 0, 1], [1, 1, 1], [(0, 2), (1, 2)], given={0: True, 1: "slow"})
    assert g.given == {0: True, 1: "slow"}


@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1), (1, 2)],
        ((0, 1), (1, 2)),
        ([0, 1], [1, 2]),
        (numpy.array([0, 1]), numpy.array([1, 2], dtype="i2")),
        numpy.array([[0, 1], [1, 2]]),
        iter([(0, 1), (1, 2)]),
        [["a", "b"], ["b", "c"]],
    ],
    ids=["pairs", "tuple of pairs", "two lists", "two arrays", "table", "iterator", "names"],
)
def test_edges_come_in_many_forms(edges):
    g = pb.Graph([1, 1, 1], [1, 1, 1], edges, names=["a", "b", "c"])
    assert [side.tolist() for side in g.edges] == [[0, 1], [1, 2]]


def test_arrays_of_any_whole_type_are_taken():
    for kind in ("u1", "i4", "u8", "i8", ">i4"):
        g = pb.Graph(numpy.array([1, 2], dtype=kind), numpy.array([3, 4], dtype=kind)[::1])
        assert g.cost.tolist() == [1, 2] and g.size.tolist() == [3, 4]
    strided = numpy.arange(8, dtype="u8")[::2]
    assert pb.Graph(strided, strided).cost.tolist() == [0, 2, 4, 6]
    assert pb.Graph([2**64 - 1], [1]).cost.tolist() == [2**64 - 1]


def test_views_are_the_librarys_own_and_outlive_the_graph():
    g = pb.generate("chain", 1000)
    cost = g.cost
    assert not cost.flags.owndata
    with pytest.raises(ValueError):
        cost[0] = 9
    del g
    gc.collect()
    pb.generate("chain", 1000)
    assert int(cost.sum()) == 1000


def test_numbers_of_numpy_are_nodes_too():
    first, second = numpy.uint32(0), numpy.int64(1)
    g = pb.Graph(
        [1, 1, 0], [1, 1, 1], [(first, second)], inplace={second: first}, byproduct_of={2: second}, keep=[second]
    )
    assert (g.inplace, g.byproduct_of, g.keep, g.index(second)) == ({1: [0]}, {2: 1}, [1], 1)


def test_empty_graphs_are_graphs():
    g = pb.Graph([], [])
    assert (g.node_count, g.names, g.written_peak, g.shape) == (0, [], 0, "empty")
    assert pb.plan(g, 0).outcome == "optimal"


@pytest.mark.parametrize(
    ("make", "kind", "piece"),
    [
        (lambda: pb.Graph([1], [1], [(0, 0)]), pb.GraphError, "itself"),
        (lambda: pb.Graph([1, 1], [1, 1], [(0, 1), (1, 0)]), pb.GraphError, "cycle"),
        (lambda: pb.Graph([1], [1], [(0, 5)]), pb.GraphError, "5"),
        (lambda: pb.Graph([1], [1, 2]), pb.InvalidArgument, "size has 2 entries and cost has 1"),
        (lambda: pb.Graph([1], [1], workspace=[]), pb.InvalidArgument, "workspace has 0 entries"),
        (lambda: pb.Graph([-1], [1]), pb.RangeError, "cost: expected numbers from 0"),
        (lambda: pb.Graph([2**64], [1]), pb.RangeError, "cost: expected numbers from 0"),
        (lambda: pb.Graph(numpy.array([-1]), [1]), pb.RangeError, "cost"),
        (lambda: pb.Graph([1.5], [1]), pb.InvalidArgument, "expected integers"),
        (lambda: pb.Graph(numpy.array([1.5]), [1]), pb.InvalidArgument, "float64"),
        (lambda: pb.Graph(numpy.ones((2, 2), dtype=int), [1]), pb.InvalidArgument, "expected one dimension, not 2"),
        (lambda: pb.Graph([1], [1], [(0, 1, 2)]), pb.InvalidArgument, "pairs of nodes"),
        (lambda: pb.Graph([1], [1], ([0], [0, 0])), pb.InvalidArgument, "equal length, not 1 and 2"),
        (lambda: pb.Graph([1], [1], numpy.zeros((2, 3), dtype=int)), pb.InvalidArgument, "shape"),
        (lambda: pb.Graph([1], [1], [("a", "b")]), pb.InvalidArgument, "no node `a`"),
        (lambda: pb.Graph([1, 1], [1, 1], names=["a", "a"]), pb.GraphError, "a"),
        (lambda: pb.Graph([1, 1], [1, 1], names=["a"]), pb.InvalidArgument, "names has 1 entries and cost has 2"),
        (lambda: pb.Graph([1], [1], names=["a\0b"]), pb.InvalidArgument, "NUL"),
        (lambda: pb.Graph([1], [1], names=[1]), pb.InvalidArgument, "names: expected strings, not int"),
        (lambda: pb.Graph([1], [1], given=[3]), pb.InvalidArgument, "given: there is no node 3"),
        (lambda: pb.Graph([1], [1], given={0: "far"}), pb.InvalidArgument, "slow"),
        (lambda: pb.Graph([1], [1], groups=[]), pb.InvalidArgument, "groups has 0 entries"),
        (lambda: pb.Graph([1], [1], groups={4: "x"}), pb.InvalidArgument, "no node 4"),
        (lambda: pb.Graph([1, 1], [1, 1], order=[0]), pb.GraphError, "order"),
        (lambda: pb.Graph([2**63, 2**63], [1, 1]), pb.RangeError, ""),
        (lambda: pb.Graph.from_json('{"format":"pebble-graph/1",\n"nodes":[}'), pb.FormatError, "line 2"),
        (lambda: pb.Graph.read("no/such/file"), pb.ReadWriteError, "cannot be read"),
        (lambda: pb.Graph([1], [1]).index("b"), pb.InvalidArgument, "no node `b`"),
        (lambda: pb.Graph([1], [1]).index(1), pb.InvalidArgument, "no node 1"),
        (lambda: pb.Graph([1], [1]).to_text("blif"), pb.InvalidArgument, "json, dot or csv"),
        (lambda: pb.generate("chan", 4), pb.UnknownName, "did you mean chain"),
        (lambda: pb.generate("chain", nods=4), pb.UnknownName, "did you mean nodes"),
        (lambda: pb.generate("chain", 4, 5, 6, 7), pb.InvalidArgument, "positional parameters"),
        (lambda: pb.generate("chain", 4, nodes=4), pb.InvalidArgument, "twice"),
        (lambda: pb.generate("chain", "many"), pb.PebbleError, "many"),
    ],
)
def test_errors_have_a_message(make, kind, piece):
    with pytest.raises(kind) as caught:
        make()
    assert piece in str(caught.value)
    assert isinstance(caught.value, pb.PebbleError)


def test_faults_of_files_have_a_place():
    with pytest.raises(pb.FormatError) as caught:
        pb.Graph.from_json('{"format":"pebble-graph/1",\n"nodes":[}')
    assert caught.value.line == 2 and caught.value.column > 1 and "line 2" not in caught.value.sentence


@pytest.mark.parametrize("ending", ["json", "dot", "csv"])
def test_files_are_written_and_read_again(tmp_path, tiny, ending):
    path = tmp_path / f"g.{ending}"
    tiny.write(path)
    again = pb.Graph.read(path)
    assert again.cost.tolist() == tiny.cost.tolist() and again.names == tiny.names
    assert ending == "csv" or again.hash == tiny.hash  # a table has no name of the graph
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_file_that_cannot_be_written_is_told(tmp_path, tiny):
    with pytest.raises(pb.ReadWriteError, match="cannot be written"):
        tiny.write(tmp_path / "no" / "folder.json")


def test_circuits_are_read_and_notes_kept():
    text = b"INPUT(a)\nINPUT(b)\nOUTPUT(c)\nc = AND(a, b)\n"
    assert pb.Graph.read(text).node_count == 1
    assert pb.Graph.read(text, inputs="given").node_count == 3
    with pytest.raises(pb.InvalidArgument, match="free, given or computed"):
        pb.Graph.read(text, inputs="maybe")


def test_documents_and_pickles_keep_the_graph():
    g = everything()
    assert pb.Graph.from_json(g.to_json()).hash == g.hash
    assert pickle.loads(pickle.dumps(g)).hash == g.hash


def test_sizes_are_read_as_the_command_reads_them(tiny):
    assert [tiny.parse_size(t) for t in ("50%", 3, "12.5%", "none")] == [2, 3, 1, None]


def test_large_graphs_cross_quickly():
    n = 200_000
    one = numpy.ones(n, dtype="u8")
    g = pb.Graph(one, one, (numpy.arange(n - 1), numpy.arange(1, n)))
    assert g.shape == "chain" and len(g.names) == n
    p = pb.plan(g, 2, strategy="last-use")
    assert len(p.moves) >= n and p.metrics.peak == 2


def test_what_lives_in_the_library_is_not_pickled():
    g = pb.generate("chain", 10)
    for found in (pb.sweep(g, points=2), pb.compare(g, 4, strategies="chain"), g._session):
        with pytest.raises(TypeError, match="pickle their plans"):
            pickle.dumps(found)
    assert pickle.loads(pickle.dumps(pb.sweep(g, points=2).plan(0))).metrics.peak <= 10


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"names": ["a"]}, "names has 1 entries and cost has 3"),
        ({"name": "a\0b"}, "contains a NUL"),
        ({"name": "a\udcff"}, "UTF-8"),
        ({"names": ["a", "b", "\udcff"]}, "UTF-8"),
        ({"edges": [(0, -1)]}, "numbers from 0"),
        ({"edges": [(0, 1.5)]}, "not 1.5"),
        ({"keep": [True, False, False]}, "instead of a mask"),
    ],
)
def test_wrong_strings_and_nodes_are_rejected(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        pb.Graph(**{"cost": [1, 1, 1], "size": [1, 1, 1], "edges": [(0, 1)], **wrong})


def test_nodes_and_graphs_are_what_they_say():
    g = pb.generate("chain", 3)
    for call in (
        lambda: g.index(1.9),
        lambda: pb.plan("g.json", 4),
        lambda: pb.compare(None, 4),
        lambda: pb.plan(g, 4, start="plan.json"),
        lambda: pb.verify(g, None),
        lambda: pb.plan(g, 4, strategy="auto\0"),
        lambda: pb.explain(pb.generate("chain", 9), pb.plan(g, 4), 8),
    ):
        with pytest.raises(pb.InvalidArgument):
            call()


def test_paths_need_not_be_text(tmp_path):
    path = str(tmp_path / "g\udcff.json")
    pb.generate("chain", 3).write(path)
    assert pb.Graph.read(path).node_count == 3
