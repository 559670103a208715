"""Comparisons, sweeps, explanations, infos, streams of actions, and what there is."""

from __future__ import annotations

import json
import subprocess

import pebble_bridge as pb
import pytest
from pebble_bridge import adjoint


def test_a_comparison_has_rows_and_a_winner(chain, quick):
    c = pb.compare(chain, 12, strategies=quick)
    assert len(c) == len(c.rows) >= len(quick) and {r.game for r in c} == {"remat", "reversible"}
    best = c.winner
    assert best.metrics.cost == min(r.metrics.cost for r in c if r.metrics) and best.plan.metrics == best.metrics
    assert pb.verify(chain, best.plan) and c.cap == 12 and c.written_peak == 22
    refused = next(r for r in c if r.metrics is None)
    assert refused.reason and not refused.plan
    ranked = c.ranked()
    assert ranked[0].game == "remat" and ranked[-1].metrics is None
    assert "winner" in repr(c)


def test_a_comparison_is_what_the_command_prints(root, tmp_path):
    chain = pb.generate("adjoint-chain", 8)
    chain.write(tmp_path / "g.json")
    options = ["--cap", "7", "--strategy", "chain,sqrt", "--json"]
    command = [root / "build/pebble", "compare", tmp_path / "g.json", *options]
    printed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    result = pb.compare(chain, 7, strategies=["chain", "sqrt"]).document
    for document in (printed, result):
        for row in document["strategies"]:
            row["seconds"] = 0
    assert printed == result


def test_comparisons_where_nothing_fits(tiny, quick):
    c = pb.compare(tiny, 3, game="remat", strategies=quick)
    assert c.winner is None and "none" in repr(c) and all(r.outcome in ("infeasible", "gave_up") for r in c)
    with pytest.raises(pb.UnknownName):
        pb.compare(tiny, 3, strategies="luck")


def test_work_never_rises_with_the_cap():
    g = pb.generate("layered", nodes=60)
    s = pb.sweep(g, points=6, strategies=["auto", "demand"], ticks=20000)
    assert s.caps == sorted(s.caps, reverse=True) and len(s) == len(s.cells) == 2 * len(s.caps)
    for line in s.lines().values():
        work = [c.metrics.makespan for c in line]
        assert work == sorted(work)
    for cell in s.front:
        assert pb.verify(g, s.plan(cell)) and s.plan(cell.index).metrics.peak <= cell.cap
    assert s.written_peak == g.written_peak and isinstance(s.flips, list)
    with pytest.raises(pb.InvalidArgument, match="no cell"):
        s.plan(999)


def test_caps_of_a_sweep_come_in_many_forms(chain):
    assert pb.sweep(chain, [22, "50%", 8]).caps == [22, 11, 8]
    assert pb.sweep(chain, "50%").caps == [11]
    assert pb.sweep(chain, "20..10", points=3).caps == [20, 15, 10]
    least = pb.sweep(chain, "least").cells[0]
    assert least.metrics and pb.info(chain, game="remat").games[0].known == least.cap
    for wrong in ("20..", "many", "none..3"):
        with pytest.raises(pb.InvalidArgument):
            pb.sweep(chain, wrong)
    with pytest.raises(pb.InvalidArgument, match="points"):
        pb.sweep(chain, points=0)


def test_weights_of_a_sweep_are_combined():
    s = pb.sweep(pb.generate("adjoint-chain", 8), [9, 6], weights=[(0, 0, 1), (1, 0, 0)])
    assert len(s) == 4 and {c.weights for c in s} == {(0, 0, 1), (1, 0, 0)}
    units = pb.sweep(pb.generate("adjoint-chain", 8), [9], weights=("2step", 0, 1))
    assert {c.weights for c in units} == {(2, 0, 1)}
    assert json.loads(s.to_json())["format"] == "pebble-sweep/1"
    assert s.to_csv().count("\n") == 5 and "<svg" in s.to_svg()


def test_explanations_have_text_and_figures(chain):
    p = pb.plan(chain, 8)
    e = pb.explain(chain, p)
    assert str(e) == e.text and e.dict["again_count"] == p.metrics.recompute_count
    one = pb.explain(chain, p, "x_3")
    assert "x_3" in one.text and one.dict
    assert pb.explain(chain, p.to_json().encode(), 3).text == one.text
    with pytest.raises(pb.InvalidArgument, match="no node `q`"):
        pb.explain(chain, p, "q")
    with pytest.raises(pb.Infeasible):
        pb.explain(chain, pb.plan(chain, 1))


def test_infos_tell_what_is_proved_and_known(tiny):
    i = pb.info(tiny)
    assert i.written_peak == 4 and [g.game for g in i.games] == ["remat", "reversible"]
    assert i.games[0].proved == i.games[0].known == 4 and i.document["nodes"] == 3
    assert [g.game for g in pb.info(tiny, tiers={"store_cost": 1}).games] == ["remat", "reversible", "tiered"]
    assert "remat from 4" in repr(i)


def test_what_there_is(root):
    names = {s["name"] for s in pb.strategies()}
    assert {"auto", "search", "chain", "bennett"} <= names
    assert {p["name"] for p in pb.policies()} >= {"oldest", "random", "priority"}
    assert {f["name"] for f in pb.families()} >= {"chain", "unet"}
    v = pb.version()
    assert pb.__version__ == v.pebble and v.library == str(root / "build/libpebble.so") and v.pebble in str(v)


def test_every_public_name_is_documented(root):
    page = (root / "docs/python.md").read_text()
    for name in pb.__all__:
        assert getattr(pb, name).__doc__, name
        assert f"`{name}" in page or f".{name}`" in page, f"docs/python.md does not have {name}"


# ---- adjoint codes ----


def replay(actions, steps):
    """Carries out a schedule on states that are numbers: every step is reversed once, from its own tape."""
    state, tape, kept, undone, ran = 0, None, {}, steps, 0
    for a in actions:
        if a.kind == "Forward":
            assert a.n0 == state
            if a.write_restart:
                kept[a.target, a.slot] = a.n0
            if a.write_reverse:
                tape = (a.n0, a.n1)
            ran += a.n1 - a.n0
            state = a.n1
        elif a.kind == "Reverse":
            assert tape == (a.n0, a.n1) and a.n1 == undone
            undone = a.n0
        elif a.kind in ("Copy", "Move"):
            assert kept[a.source, a.slot] == a.n0
            state = a.n0
            if a.kind == "Move":
                del kept[a.source, a.slot]
    assert undone == 0
    return ran


def test_revolve_reverses_every_step_with_the_fewest():
    for steps, snapshots in ((1, 1), (10, 3), (100, 5)):
        actions = list(adjoint.revolve(steps, snapshots))
        cost = adjoint.revolve_cost(steps, snapshots)
        assert replay(actions, steps) == cost.forward_steps and len(actions) == cost.actions
    assert adjoint.revolve_cost(10**14, 40).forward_steps > 10**14


def test_levels_cost_what_they_say():
    stream = adjoint.multilevel(30, [adjoint.Level(2), (28, 3, 1)], forward_cost=2, reverse_cost=1)
    assert stream.cost > 0 and replay(stream, 30) > 30


def test_online_streams_end_after_end():
    stream = adjoint.online(4)
    forward = [stream.step()[0] for _ in range(5)] + stream.step(20)
    with pytest.raises(pb.InvalidArgument, match="after end"):
        next(iter(stream))
    back = list(stream.end())
    replay(forward + back, 25)
    for late in (stream.end, stream.step):
        with pytest.raises(pb.InvalidArgument, match=r"adjoint\.online\(\)"):
            late()


@pytest.mark.parametrize(
    "make",
    [
        lambda: adjoint.revolve(5, 0),
        lambda: adjoint.revolve(-1, 3),
        lambda: adjoint.revolve_cost(2**63, 3),
        lambda: adjoint.online(0),
        lambda: adjoint.online(2**40),
        lambda: adjoint.multilevel(5, [(1, 5, 5), (1, 1, 1)]),
        lambda: adjoint.multilevel(5, [(1,)] * 20),
    ],
)
def test_wrong_streams_are_refused(make):
    with pytest.raises(pb.PebbleError) as caught:
        make()
    assert len(caught.value.sentence) > 10
