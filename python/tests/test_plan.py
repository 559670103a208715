"""Plans, verdicts, figures, exports."""

from __future__ import annotations

import json
import pickle
from itertools import pairwise

import pebble_bridge as pb
import pytest
from pebble_bridge import Move


def test_a_policy_is_never_ignored_in_silence():
    graph = pb.generate("adjoint-chain", steps=6)
    plan = pb.plan(graph, "80%", policy="oldest", ticks=1000)
    assert plan.strategy == "chain" and plan.policy is None and plan.policy_asked == "oldest"
    plan = pb.plan(graph, "80%", policy="oldest", strategy="demand")
    assert plan.policy == "oldest" and plan.policy_asked is None
    plan = pb.plan(graph, "80%", policy="oldest", strategy="chain")
    assert plan.policy is None and plan.policy_asked == "oldest"
    plan = pb.plan(graph, "75%", policy="oldest", strategy="cache-all", seed=1)
    assert plan and plan.policy == "oldest" and plan.metrics.peak <= 6
    rows = pb.compare(graph, "80%", policy="oldest", strategies=["chain", "demand"], game="remat")
    assert [(row.strategy, row.policy) for row in rows] == [("chain", None), ("demand", "oldest")]
    cells = pb.sweep(graph, [6], policy="oldest", strategies=["chain", "demand"], game="remat").cells
    assert [cell.policy for cell in cells] == [None, "oldest"]


def test_a_plan_has_its_figures(chain):
    p = pb.plan(chain, 8)
    assert (p.outcome, p.strategy, p.asked, p.game, p.cap) == ("optimal", "chain", "auto", "remat", 8)
    assert p and p.reason is None and p.stopped is None and not p.interrupted
    m = p.metrics
    assert m.peak <= 8 and m.work == m.makespan == 58 and m.recompute == 18 and m.moves == len(p.moves)
    assert (p.lower_bound, p.bound_kind, m.gap) == (58, "free-order", 0.0)
    assert p.weights == (0, 0, 1) and p.tiers == [] and p.policy is None and p.options["seed"] == 1
    assert "adjoint chain" in p.note and p.seconds >= 0 and p.require() is p and p.graph is chain


def test_moves_are_listlike(tiny):
    p = pb.plan(tiny, 4)
    assert p.moves[0] == Move("compute", 0) and p.moves[-1] == p.moves[len(p.moves) - 1]
    assert list(p.moves) == p.moves[:] and p.moves == list(p.moves) and p.moves != p.moves[:1]
    assert Move("compute", 0) in p.moves
    with pytest.raises(IndexError):
        p.moves[99]
    assert [p.moves.ops[k] for k in p.moves.op] == [m.op for m in p.moves]


def test_infeasible_caps_are_proved_and_require_raises(tiny):
    p = pb.plan(tiny, 3)
    assert not p and p.outcome == "infeasible" and p.metrics is None and len(p.moves) == 0
    assert "; the cap is " in p.reason
    with pytest.raises(pb.Infeasible) as caught:
        p.require()
    assert caught.value.sentence == p.reason
    for call in (lambda: p.write("x.json"), lambda: p.export("csv")):
        with pytest.raises(pb.Infeasible):
            call()
    with pytest.raises(pb.InvalidArgument, match="no plan"):
        p.memory()


def test_what_does_not_fit_gives_up_with_the_move(chain):
    p = pb.plan(chain, 8, strategy="cache-all")
    assert p.outcome == "gave_up" and "does not fit: move" in p.reason
    with pytest.raises(pb.NothingFound):
        p.require()


@pytest.mark.parametrize(
    ("arguments", "kind", "piece"),
    [
        ({"cap": "lots"}, pb.InvalidArgument, "expected a size"),
        ({"cap": -3}, pb.InvalidArgument, "expected a size"),
        ({"cap": 8, "game": "chess"}, pb.UnknownName, "chess"),
        ({"cap": 8, "strategy": "luck"}, pb.UnknownName, "luck"),
        ({"cap": 8, "strategy": "every-k:j=3"}, pb.UnknownName, "its options"),
        ({"cap": 8, "policy": "luck", "strategy": "demand"}, pb.UnknownName, "luck"),
        ({"cap": 8, "weights": (1, 2)}, pb.InvalidArgument, "three numbers"),
        ({"cap": 8, "weights": (-1, 0, 1)}, pb.InvalidArgument, "weights"),
        ({"cap": 8, "time": "soon"}, pb.InvalidArgument, "expected a time"),
        ({"cap": 8, "time": -1}, pb.InvalidArgument, "seconds"),
        ({"cap": 8, "seed": -1}, pb.InvalidArgument, "seed"),
        ({"cap": 8, "threads": 5000}, pb.InvalidArgument, "threads"),
        ({"cap": 8, "tiers": {"speed": 3}}, pb.InvalidArgument, "there is no `speed`"),
        ({"cap": 8, "tiers": {"store_cost": -3}}, pb.InvalidArgument, "store_cost: expected a price"),
        ({"cap": 8, "tiers": {}, "game": "remat"}, pb.InvalidArgument, "tiered"),
    ],
)
def test_wrong_requests_are_refused(chain, arguments, kind, piece):
    with pytest.raises(kind) as caught:
        pb.plan(chain, **arguments)
    assert piece in str(caught.value)


def test_caps_are_read_as_the_command_reads_them(chain):
    assert pb.plan(chain, "50%").cap == 11
    assert pb.plan(chain, None).cap is None and pb.plan(chain, "none").cap is None
    assert pb.plan(pb.generate("unet"), "1.5GiB", strategy="dtr").cap == 3 << 29


def test_weights_count(chain):
    work, peak = pb.plan(chain, 12), pb.plan(chain, 12, weights=(1.5, 0, 0))
    assert peak.metrics.peak < work.metrics.peak and work.metrics.work < peak.metrics.work
    assert peak.metrics.cost == 1.5 * peak.metrics.peak and peak.weights == (1.5, 0, 0)
    assert pb.plan(chain, 12, weights=(1e-9, 0, 1)).weights[0] == 1e-9
    assert pb.plan(chain, 12, weights=("2step/pebble", 0, 1)).weights == (2, 0, 1)
    assert pb.plan(chain, 12, weights="work=3").weights == (0, 0, 3)
    with pytest.raises(pb.InvalidArgument, match="`s` is not a unit of this graph's costs"):
        pb.plan(chain, 12, weights="peak=1s/pebble")


def test_equal_requests_give_equal_plans():
    g = pb.generate("layered", nodes=120)
    a, b = (pb.plan(g, "70%", strategy="search", ticks=20000, seed=7) for _ in range(2))
    assert a.moves == b.moves and a.options["ticks"] == 20000


def test_tiered_moves_name_their_tier():
    chain = pb.generate("adjoint-chain", 12)
    p = pb.plan(chain, 5, tiers=[{"store_cost": 1, "load_cost": 1, "cap": 2}, {"store_cost": 2, "load_cost": 2}])
    assert p.game == "tiered" and len(p.tiers) == 2 and p.tiers[0]["cap"] == 2 and p.tiers[1]["cap"] is None
    assert {m.tier for m in p.moves if m.op in ("store", "load", "drop")} <= {1, 2}
    assert p.metrics.io > 0 and {m.tier for m in p.moves if m.op == "compute"} == {0}
    assert pb.verify(chain, p)
    assert pb.verify(chain, p.moves, cap=5, tiers=p.tiers).metrics == p.metrics.__class__(
        **{**p.metrics.__dict__, "gap": None}
    )


def test_reversible_plans_uncompute(chain):
    p = pb.plan(pb.generate("chain", 12), 5, game="reversible")
    assert p.metrics.uncompute > 0 and {m.op for m in p.moves} == {"compute", "uncompute"}


def test_in_place_and_byproducts_are_in_the_moves():
    g = pb.Graph([1, 1, 0, 1], [2, 2, 1, 1], [(0, 1), (1, 3), (2, 3)], inplace={1: [0]}, byproduct_of={2: 1})
    p = pb.plan(g, 4)
    made = next(m for m in p.moves if m.node == 1 and m.op == "compute")
    assert made.over == 0 and made.also == (2,)
    assert pb.verify(g, list(p.moves), cap=4).legal


def test_a_search_begins_from_a_plan():
    g = pb.generate("layered", nodes=150)
    first = pb.plan(g, "70%", strategy="search", ticks=200000)
    again = pb.plan(g, "70%", strategy="search", ticks=1000, start=first.require())
    assert again.metrics.makespan <= first.metrics.makespan


def test_borrowed_memory_is_counted():
    g = pb.generate("chain", 6)
    p = pb.plan(g, 3, borrow=4)
    assert p.require().metrics.borrowed <= 4 and pb.verify(g, p)


def test_a_time_limit_holds():
    g = pb.generate("layered", nodes=2000)
    p = pb.plan(g, "60%", time=0.3)
    assert p.seconds < 3 and p.stopped in (None, "time")


# ---- verify ----


def test_the_first_broken_rule_is_named(tiny):
    v = pb.verify(tiny, [("compute", 0), Move("compute", 2)])
    assert (v.legal, bool(v), v.rule, v.step, v.node, v.metrics) == (False, False, "input-not-resident", 1, "c", None)
    assert "input b is not resident" in v.sentence
    with pytest.raises(pb.InvalidArgument, match="not resident"):
        v.require()
    assert pb.verify(tiny, [("compute", 0), ("compute", 1), ("compute", 2)], cap=3).rule == "over-cap"
    assert pb.verify(tiny, []).rule == "target-not-computed"
    assert pb.verify(tiny, [("compute", 9)]).rule == "no-such-node"


def test_legal_moves_are_measured(tiny):
    v = pb.verify(tiny, [("compute", 0), ("compute", 1), ("compute", 2), ("free", 0)], cap="100%").require()
    assert v.metrics.peak == 4 and v.metrics.work == 5 and v.metrics.flux == 15


@pytest.mark.parametrize(
    ("moves", "piece"),
    [
        ([("jump", 0)], "move 0: there is no operation `jump`"),
        ([("compute",)], "move 0: expected a Move"),
        ([("compute", -1)], "node"),
        ([("store", 0, 300)], "tier"),
        ([3], "move 0: expected a Move"),
    ],
)
def test_what_is_not_a_move_is_rejected(tiny, moves, piece):
    with pytest.raises(pb.PebbleError) as caught:
        pb.verify(tiny, moves)
    assert piece in str(caught.value)


@pytest.mark.parametrize("ending", ["json", "pbs"])
def test_files_are_written_verified_and_read(tmp_path, tiny, chain, ending):
    p, path = pb.plan(tiny, 4), tmp_path / f"plan.{ending}"
    p.write(path)
    assert pb.verify(tiny, path) and pb.verify(tiny, str(path)) and pb.verify(tiny, path.read_bytes())
    assert pb.Plan.read(tiny, path).moves == p.moves and pb.Plan.read(tiny, path).metrics == p.metrics
    assert pb.verify(tiny, path, cap=3).rule == "over-cap"
    other = pb.verify(pb.generate("chain", 3), path)
    assert other.legal and not other and "another graph" in other.sentence and not other.same_graph
    twin = pb.Graph.from_json(tiny.to_json().replace('"a"', '"other"'))
    assert not pb.verify(twin, path) and pb.verify(twin, path, any_graph=True)
    with pytest.raises(pb.InvalidArgument):
        pb.Plan.read(chain, path)


def test_wrong_figures_are_found(tiny):
    document = json.loads(pb.plan(tiny, 4).to_json())
    document["metrics"]["work"] = 4
    v = pb.verify(tiny, json.dumps(document).encode())
    assert v.legal and not v and "4 in the file, but 5 in the replay" in v.sentence
    with pytest.raises(pb.FormatError):
        pb.verify(tiny, b"{")


def test_plans_are_pickled_with_their_graph(chain):
    p = pb.plan(chain, 8)
    again = pickle.loads(pickle.dumps(p))
    assert again.moves == p.moves and again.metrics == p.metrics and again.graph.hash == chain.hash
    with pytest.raises(pb.Infeasible):
        pickle.dumps(pb.plan(chain, 1))


def test_a_search_begins_from_plans_of_its_own_graph_and_game(chain, tiny):
    twin = pb.Graph.from_json(chain.to_json())
    assert pb.plan(twin, 8, start=pb.plan(chain, 8)).outcome == "optimal"
    with pytest.raises(pb.InvalidArgument, match="for another graph"):
        pb.plan(chain, 8, start=pb.plan(tiny, 4))
    with pytest.raises(pb.InvalidArgument, match="for the remat game"):
        pb.plan(chain, 20, start=pb.plan(chain, 8), game="reversible")
    with pytest.raises(pb.InvalidArgument, match="has no plan"):
        pb.plan(chain, 8, start=pb.plan(chain, 1))


# ---- exports and curves ----


def test_a_plan_is_exported_in_every_form(chain):
    p = pb.plan(chain, 8)
    assert json.loads(p.to_json())["format"] == "pebble-schedule/1"
    assert p.export("decisions") and p.export("csv").count("\n") == len(p.moves) + 1
    assert "digraph" in p.export("dot") and json.loads(p.export("trace")) and "Forward" in p.export("actions")
    assert json.loads(p.export("json"))
    with pytest.raises(pb.UnknownName, match="music"):
        p.export("music")


def test_the_memory_curve_is_the_plans(chain):
    p = pb.plan(chain, 8)
    time, memory = p.memory()
    assert len(time) == len(memory) == len(p.moves)
    assert max(memory) == p.metrics.peak and time[-1] == p.metrics.makespan
    assert all(a <= b for a, b in pairwise(time))
    fast, slow = p.profile(10)
    assert max(fast) == p.metrics.peak and not any(slow)
    assert len(p.profile(7, "moves")[0]) == 7
    with pytest.raises(pb.InvalidArgument, match="moves or time"):
        p.profile(7, "width")


def test_texts_for_people(tiny):
    assert repr(pb.plan(tiny, 4)).startswith("<Plan: optimal by ")
    assert "infeasible" in repr(pb.plan(tiny, 3))
    assert repr(tiny) == "<Graph 'tiny': 3 nodes, 3 edges>" and "compute 0" in repr(pb.plan(tiny, 4).moves)


def test_priorities_decide_what_stays():
    edges = [("d", "e"), ("c", "e"), ("e", "f"), ("b", "f"), ("f", "g"), ("a", "g")]
    for kept, late in (("b", "a"), ("a", "b")):
        g = pb.Graph([1] * 7, [1] * 7, edges, names=list("abcdefg"), order=list("abcdefg"), priority={kept: 3})
        assert list(g.priority) == [3 * (name == kept) for name in "abcdefg"]
        plan = pb.plan(g, 4, strategy="cache-all", policy="priority")
        computes = [g.names[m.node] for m in plan.moves if m.op == "compute"]
        assert computes.index("e") < len(computes) - 1 - computes[::-1].index(late)
    assert len(pb.Graph([1], [1]).priority) == 0
    with pytest.raises(ValueError):
        pb.Graph([1], [1], priority={0: -1})
