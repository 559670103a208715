"""Schedules that store states and tapes: legal, within their room, and never more expensive than others."""

from __future__ import annotations

import random
import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

np = pytest.importorskip("numpy")
cs = pytest.importorskip("checkpoint_schedules", reason="checkpoint_schedules is not installed")

from adjoint_executor import execute, store_all_gradient  # noqa: E402
from pebble_bridge import InvalidArgument, RangeError, adjoint, schedules  # noqa: E402


@pytest.mark.parametrize(("n", "s"), [(1, 1), (2, 1), (7, 1), (10, 2), (23, 4), (40, 12), (60, 3)])
def test_equal_sizes_take_as_few_steps_as_the_reference(n: int, s: int) -> None:
    schedule = schedules.Mixed(n, s)
    run = execute(schedule, n, {"RAM": s})
    assert np.array_equal(run.gradient, store_all_gradient(n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = execute(cs.MixedCheckpointSchedule(n, s, storage=cs.StorageType.RAM), n)
    assert run.forward_steps == schedule.cost == theirs.forward_steps
    assert run.forward_steps <= adjoint.revolve_cost(n, s).forward_steps
    assert schedule.is_exhausted


def test_the_published_case() -> None:
    """1,000 steps with 20 units: 2.82 runs of the program instead of 3.75 with states only."""
    assert schedules.Mixed(1000, 20).cost == 2823
    assert adjoint.revolve_cost(1000, 20).forward_steps == 3747


def test_sizes_and_levels_are_kept() -> None:
    draw = random.Random(4)
    for _ in range(60):
        n, sizes = draw.randint(1, 25), (draw.randint(1, 3), draw.randint(1, 5))
        ram, disk = draw.randint(sizes[0], 12), draw.choice([0, draw.randint(0, 12)])
        costs = {"forward_cost": draw.randint(1, 4), "write_cost": draw.randint(0, 4), "read_cost": draw.randint(0, 4)}
        prices = {"tape_write_cost": costs["write_cost"], "tape_read_cost": costs["read_cost"]}
        schedule = schedules.Mixed(n, ram, disk, state_size=sizes[0], tape_size=sizes[1], **costs, **prices)
        run = execute(schedule, n, {"RAM": ram, "DISK": disk}, sizes=sizes)
        assert np.array_equal(run.gradient, store_all_gradient(n))
        assert run.cost(costs["forward_cost"], 0, costs["write_cost"], costs["read_cost"], n) == schedule.cost
        if not disk and ram // sizes[0]:
            assert run.forward_steps <= adjoint.revolve_cost(n, ram // sizes[0]).forward_steps


@pytest.mark.parametrize("asked_ahead", [False, True])
def test_online_is_never_worse_than_states_alone(asked_ahead: bool) -> None:
    for s in (1, 2, 3, 5):
        for n in (1, 2, 3, 7, 12, 30, 41):
            schedule = schedules.OnlineMixed(s)
            run = execute(schedule, n, {"RAM": s}, finalize=True, asked_ahead=asked_ahead)
            states = execute(schedules.Online(s), n, {"RAM": s}, finalize=True, asked_ahead=asked_ahead)
            assert np.array_equal(run.gradient, store_all_gradient(n))
            assert run.forward_steps <= states.forward_steps
            assert run.forward_steps >= adjoint.mixed(n, [(s,)]).cost


def test_online_with_sizes_and_a_disk() -> None:
    for n in (1, 5, 17, 40):
        schedule = schedules.OnlineMixed(7, 9, state_size=2, tape_size=3, write_cost=2, read_cost=2)
        run = execute(schedule, n, {"RAM": 7, "DISK": 9}, finalize=True, sizes=(2, 3))
        assert np.array_equal(run.gradient, store_all_gradient(n))
        assert run.forward_steps - n <= schedule.cost


def test_bad_arguments_are_told() -> None:
    with pytest.raises(InvalidArgument, match="no level has room for a state of size 3"):
        schedules.Mixed(9, 2, state_size=3)
    with pytest.raises(InvalidArgument, match="at least 1"):
        schedules.Mixed(9, 2, tape_size=0)
    with pytest.raises(RangeError, match="larger units"):
        schedules.Mixed(10**5, 10**4, 10**4, write_cost=1)
    with pytest.raises(InvalidArgument, match="needs a smaller size"):
        adjoint.mixed(None, [(None,)])
    stream = adjoint.mixed(None, [(4,)])
    stream.step(5)
    stream.end()
    with pytest.raises(InvalidArgument):
        stream.end()


def test_pyadjoint_runs_them() -> None:
    pyadjoint = pytest.importorskip("pyadjoint", reason="pyadjoint is not installed")

    def gradient(steps: int, schedule: object | None) -> float:
        tape = pyadjoint.Tape()
        with pyadjoint.set_working_tape(tape):
            pyadjoint.continue_annotation()
            if schedule is not None:
                tape.enable_checkpointing(schedule)
            x = x0 = pyadjoint.AdjFloat(1.5)
            total = pyadjoint.AdjFloat(0.0)
            for _ in tape.timestepper(iter(range(steps))):
                x = x + 0.01 * (x * x - 0.3 * x)
                total = total + x * x
            reduced = pyadjoint.ReducedFunctional(total, pyadjoint.Control(x0))
            with pyadjoint.stop_annotating():
                return float(reduced.derivative())

    plain = gradient(40, None)
    assert (
        plain == gradient(40, schedules.Mixed(40, 4)) == gradient(40, schedules.Mixed(40, 9, state_size=2, tape_size=3))
    )
