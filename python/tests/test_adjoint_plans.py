"""Plans of uneven chains, run as schedules."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

np = pytest.importorskip("numpy")
pytest.importorskip("checkpoint_schedules", reason="checkpoint_schedules is not installed")

import pebble_bridge as pb  # noqa: E402
from adjoint_executor import execute, store_all_gradient  # noqa: E402
from pebble_bridge import adjoint, schedules  # noqa: E402


def work_of(run, costs, reverse) -> int:
    """Of the steps that were run untaped, and of the taped ones with their adjoints."""
    return sum(run.steps_by_number[i] * c for i, c in enumerate(costs)) + sum(costs) + len(costs) * reverse


@pytest.mark.parametrize("s", [1, 2, 4])
def test_equal_steps_are_revolve(s: int) -> None:
    n = 14
    plan = pb.plan(schedules.chain_graph([1] * n), s + 1)
    run = execute(schedules.PlanSchedule(plan), n, {"RAM": s})
    assert run.forward_steps == adjoint.revolve_cost(n, s).forward_steps
    assert np.array_equal(run.gradient, store_all_gradient(n))


@pytest.mark.parametrize("s", [2, 3])
def test_uneven_steps_cost_what_the_plan_says(s: int) -> None:
    costs = [1, 9, 2, 14, 3, 3, 25, 1, 8, 2]
    plan = pb.plan(schedules.chain_graph(costs, reverse_costs=2), s + 1).require()
    run = execute(schedules.PlanSchedule(plan), len(costs), {"RAM": s})
    assert np.array_equal(run.gradient, store_all_gradient(len(costs)))
    assert work_of(run, costs, 2) == plan.metrics.work
    uniform = execute(schedules.Revolve(len(costs), s), len(costs), {"RAM": s})
    assert plan.metrics.work <= work_of(uniform, costs, 2), (
        "costs are known: never worse than taking all steps for equal"
    )


def test_uneven_states_keep_to_the_bytes() -> None:
    sizes = [4, 1, 6, 2, 2, 8, 1, 3]
    costs = [5, 3, 8, 1, 4, 2, 6, 2]
    plan = pb.plan(schedules.chain_graph(costs, state_sizes=sizes, tape_sizes=2), "70%").require()
    run = execute(schedules.PlanSchedule(plan), len(costs))
    assert np.array_equal(run.gradient, store_all_gradient(len(costs)))
    assert work_of(run, costs, 1) == plan.metrics.work


def test_slow_memory_is_disk() -> None:
    graph = pb.generate("adjoint-chain", 12, form="inputs", inplace="yes", grad_size=0)
    plan = pb.plan(graph, 2, tiers={"store_cost": 1, "load_cost": 1}).require()
    schedule = schedules.PlanSchedule(plan)
    run = execute(schedule, 12, {"RAM": 1, "DISK": 12}, tidy=False)
    assert np.array_equal(run.gradient, store_all_gradient(12))
    assert run.writes.get("DISK", 0) > 0


def test_a_graph_of_another_shape_is_refused() -> None:
    with pytest.raises(pb.PebbleError, match="chain"):
        schedules.PlanSchedule(pb.plan(pb.generate("tree", height=3), None))


def test_no_plan_no_schedule() -> None:
    with pytest.raises(pb.PebbleError):
        schedules.PlanSchedule(pb.plan(schedules.chain_graph([1, 1, 1]), 1))


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="2 entries for 3 steps"):
        schedules.chain_graph([1, 1, 1], state_sizes=[1, 1])
