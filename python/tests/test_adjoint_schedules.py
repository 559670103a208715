"""Schedules for users of checkpoint_schedules: legal, within their storage, never more expensive than others."""

from __future__ import annotations

import sys
from math import comb
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

np = pytest.importorskip("numpy")
cs = pytest.importorskip("checkpoint_schedules", reason="checkpoint_schedules is not installed")

from adjoint_executor import execute, store_all_gradient  # noqa: E402
from pebble_bridge import adjoint, schedules  # noqa: E402


def least_forward_steps(n: int, s: int) -> int:
    """Griewank and Walther: n taped steps and t(n, s) = r n - C(s+r, r-1) others."""
    if n == 1:
        return 1
    r = next(r for r in range(n + 1) if n <= comb(s + r, s))
    return n + r * n - comb(s + r, r - 1)


def search_forward_steps(n: int, s: int) -> int:
    """The same number by trying every first snapshot: the formula's own oracle."""
    best = {(1, s): 1 for s in range(s + 1)}
    for slots in range(1, s + 1):
        for length in range(2, n + 1):
            if slots == 1:
                best[length, 1] = length + length * (length - 1) // 2
            else:
                best[length, slots] = min(m + best[m, slots] + best[length - m, slots - 1] for m in range(1, length))
    return best[n, s]


@pytest.mark.parametrize(
    ("n", "s"), [(1, 1), (2, 1), (7, 1), (10, 2), (10, 3), (10, 5), (10, 10), (23, 4), (50, 2), (57, 5)]
)
def test_revolve_runs_in_the_fewest_steps(n: int, s: int) -> None:
    schedule = schedules.Revolve(n, s)
    run = execute(schedule, n, {"RAM": s})
    assert np.array_equal(run.gradient, store_all_gradient(n))
    assert run.forward_steps == schedule.cost.forward_steps == least_forward_steps(n, s) == search_forward_steps(n, s)
    assert run.writes.get("RAM", 0) == schedule.cost.writes
    assert schedule.is_exhausted and schedule.r == n == schedule.max_n


def test_revolve_figures_as_published() -> None:
    """Known totals, taped steps included."""
    assert [adjoint.revolve_cost(10, s).forward_steps for s in (2, 3, 5, 10)] == [30, 25, 23, 19]
    assert adjoint.revolve_cost(50, 2).forward_steps == 335
    assert adjoint.revolve_cost(10**12, 100).forward_steps == least_forward_steps(10**12, 100)


@pytest.mark.parametrize("s", [1, 2, 3, 6])
def test_revolve_is_never_dearer_than_theirs(s: int) -> None:
    for n in (2, 5, 11, 24, 40):
        ours = execute(schedules.Revolve(n, s), n, {"RAM": s}).forward_steps
        for theirs in (cs.Revolve(n, s), cs.MultistageCheckpointSchedule(n, s, 0)):
            run = execute(theirs, n)
            assert run.most.get("RAM", 0) <= s
            assert ours <= run.forward_steps, type(theirs).__name__


def test_revolve_on_disk() -> None:
    run = execute(schedules.Revolve(20, 3, storage="DISK"), 20, {"DISK": 3})
    assert run.most == {"DISK": 3} and np.array_equal(run.gradient, store_all_gradient(20))


TWO_LEVELS = [  # n, ram, disk, uf, ub, wd, rd and the least cost, found by exhaustive search over all schedules
    (4, 1, 1, 1, 1, 1, 1, 14),
    (4, 1, 1, 1, 1, 0, 0, 12),
    (4, 1, 1, 1, 5, 2, 2, 30),
    (4, 1, 1, 1, 20, 5, 5, 90),
    (4, 1, 2, 2, 1, 3, 3, 24),
    (4, 1, 2, 5, 1, 2, 2, 47),
    (9, 1, 2, 5, 1, 2, 2, 131),
]


@pytest.mark.parametrize(("n", "ram", "disk", "uf", "ub", "wd", "rd", "least"), TWO_LEVELS)
def test_multilevel_costs_the_least(n, ram, disk, uf, ub, wd, rd, least) -> None:
    schedule = schedules.MultiLevel(n, ram, disk, forward_cost=uf, reverse_cost=ub, write_cost=wd, read_cost=rd)
    run = execute(schedule, n, {"RAM": ram, "DISK": disk})
    assert np.array_equal(run.gradient, store_all_gradient(n))
    assert run.cost(uf, ub, wd, rd, n) == schedule.cost == least
    theirs = execute(cs.HRevolve(n, ram, disk, uf=uf, ub=ub, wd=wd, rd=rd), n, tidy=False)
    assert run.cost(uf, ub, wd, rd, n) <= theirs.cost(uf, ub, wd, rd, n)


def test_what_the_other_package_loses_where_steps_cost_more_than_adjoint_steps() -> None:
    """Its 1.0.4 exchanges the two step costs: 203 instead of 131. A later version may not; ours never costs more."""
    ours = execute(schedules.MultiLevel(9, 1, 2, forward_cost=5, reverse_cost=1), 9).cost(5, 1, 2, 2, 9)
    theirs = execute(cs.HRevolve(9, 1, 2, uf=5, ub=1, wd=2, rd=2), 9, tidy=False).cost(5, 1, 2, 2, 9)
    assert ours == 131 <= theirs
    from importlib.metadata import version

    if version("checkpoint_schedules") == "1.0.4":
        assert theirs == 203


@pytest.mark.parametrize("n", [6, 13, 20, 33])
def test_multilevel_is_never_dearer_than_their_disk_schedules(n: int) -> None:
    ram = 2
    for uf, ub, wd, rd in ((1, 1, 2, 2), (1, 3, 5, 1), (4, 1, 3, 6)):
        ours = schedules.MultiLevel(n, ram, n, forward_cost=uf, reverse_cost=ub, write_cost=wd, read_cost=rd)
        cost = execute(ours, n, {"RAM": ram, "DISK": n}).cost(uf, ub, wd, rd, n)
        for make in (cs.DiskRevolve, cs.PeriodicDiskRevolve):
            theirs = execute(make(n, ram, uf=uf, ub=ub, wd=wd, rd=rd), n, tidy=False)
            assert theirs.most.get("RAM", 0) <= ram
            assert cost <= theirs.cost(uf, ub, wd, rd, n), make.__name__


@pytest.mark.parametrize("s", [1, 2, 3, 5])
@pytest.mark.parametrize("asked_ahead", [False, True])
def test_online_runs_no_step_too_often(s: int, asked_ahead: bool) -> None:
    for n in (1, 2, 3, 7, 12, 30, 41):
        schedule = schedules.Online(s)
        run = execute(schedule, n, {"RAM": s}, finalize=True, asked_ahead=asked_ahead)
        assert np.array_equal(run.gradient, store_all_gradient(n))
        requested = n + asked_ahead
        r = next(r for r in range(requested + 2) if requested + 1 <= comb(s + r, s))
        assert max(run.steps_by_number.values()) <= r
        assert schedule.max_n == n and schedule.is_exhausted


def test_online_refuses_a_length_it_has_passed() -> None:
    schedule = schedules.Online(3)
    for _ in range(6):
        next(schedule)
    with pytest.raises(RuntimeError, match="steps, not 2"):
        schedule.finalize(2)


def test_storage_types() -> None:
    types = cs.StorageType
    assert schedules.Revolve(10, 2).uses_storage_type(types.RAM)
    assert not schedules.Revolve(10, 2).uses_storage_type(types.DISK)
    assert schedules.MultiLevel(10, 2, 2).uses_storage_type(types.DISK)
    assert isinstance(schedules.Revolve(10, 2), cs.CheckpointSchedule)


def test_bad_arguments_are_told() -> None:
    with pytest.raises(ValueError, match="common factor"):
        schedules.MultiLevel(5, 1, 1, forward_cost=0.5)
    with pytest.raises(ValueError, match="RAM or DISK"):
        schedules.Revolve(5, 2, storage="TAPE")
    with pytest.raises(Exception, match="snapshot"):
        schedules.Revolve(5, 0)


def test_without_the_other_package(root) -> None:
    """Creating a schedule reports the missing package, and actions do not need it."""
    import subprocess

    code = (
        f"import sys; sys.path.insert(0, {str(root / 'python')!r}); sys.modules['checkpoint_schedules'] = None\n"
        "import pebble_bridge as pb\nfrom pebble_bridge import schedules\n"
        "plan = pb.plan(schedules.chain_graph([1, 2, 3]), 3)\n"
        "assert [a.kind for a in schedules.plan_actions(plan)][-1] == 'EndReverse'\n"
        "try:\n    schedules.Revolve(5, 2)\nexcept ImportError as e:\n    print(e)"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install checkpoint_schedules" in output


def test_the_pyadjoint_example_runs(root) -> None:
    pytest.importorskip("pyadjoint", reason="pyadjoint is not installed")
    import subprocess

    run = subprocess.run(
        [sys.executable, str(root / "examples/python/adjoint_pyadjoint.py"), "60", "4"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(root / "python"), "PATH": "/usr/bin:/bin"},
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "bit by bit" in run.stdout
