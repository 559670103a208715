"""Sweeps in a store: the same results by threads, processes and executors, and after workers die."""

import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

import pebble_bridge as pb

SWEEP = {"points": 5, "ticks": 3000, "strategies": "last-use,search"}


@pytest.fixture(scope="module")
def graph():
    return pb.generate("layered", nodes=30, seed=2)


def cells(sweep):
    """What does not depend on the clock."""
    rows = json.loads(sweep.to_json())["sweeps"][0]["cells"]
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]


@pytest.fixture(scope="module")
def expected(graph, tmp_path_factory):
    return cells(pb.sweep(graph, "100%..60%", store=tmp_path_factory.mktemp("store") / "serial", **SWEEP))


def test_a_store_continues(graph, tmp_path, expected):
    first = pb.sweep(graph, "100%..60%", store=tmp_path / "s", **SWEEP)
    assert cells(first) == expected
    rows = sorted((path.name, path.stat().st_mtime_ns) for path in tmp_path.rglob("*.row.*"))
    assert len(rows) == len(first) == 10
    assert cells(pb.sweep(graph, "100%..60%", store=tmp_path / "s", **SWEEP)) == expected
    assert rows == sorted((path.name, path.stat().st_mtime_ns) for path in tmp_path.rglob("*.row.*"))
    assert pb.work(tmp_path / "s") == pb.Work(0, 0, 0, 0)


def test_plans_of_a_store_are_plans(graph, tmp_path):
    sweep = pb.sweep(graph, "100%..60%", store=tmp_path / "s", **SWEEP)
    plan = sweep.plan(sweep.front[0])
    assert plan.metrics == sweep.front[0].metrics
    assert pb.verify(graph, plan).legal


@pytest.mark.parametrize("kind", [ProcessPoolExecutor, ThreadPoolExecutor])
def test_executors_make_the_same(graph, expected, kind, tmp_path):
    with kind(2) as executor:
        assert cells(pb.sweep(graph, "100%..60%", executor=executor, **SWEEP)) == expected
        in_store = pb.sweep(graph, "100%..60%", executor=executor, tasks=3, store=tmp_path / "s", **SWEEP)
        assert cells(in_store) == expected


class Dying:
    """An executor whose tasks fail, as those of a cluster that is shut down."""

    _max_workers = 2

    def __init__(self, failing):
        self.pool, self.failing, self.count = ThreadPoolExecutor(1), failing, 0

    def submit(self, task, *arguments):
        self.count += 1
        if self.count <= self.failing:
            return self.pool.submit(os.path.getsize, "/nothing/like/it")
        return self.pool.submit(task, *arguments)


def test_what_dying_tasks_leave_is_planned_here(graph, expected):
    assert cells(pb.sweep(graph, "100%..60%", executor=Dying(1), **SWEEP)) == expected
    with pytest.raises(pb.NothingFound, match="no task of the executor ended well"):
        pb.sweep(graph, "100%..60%", executor=Dying(2), **SWEEP)


def test_workers_that_are_killed_lose_nothing(graph, expected, tmp_path):
    script = f"import pebble_bridge as pb; pb.work({str(tmp_path / 's')!r})"
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))

    def killer():
        for _ in range(3):
            worker = subprocess.Popen([sys.executable, "-c", script], env=environment, stderr=subprocess.DEVNULL)
            time.sleep(0.3)
            worker.send_signal(signal.SIGKILL)
            worker.wait()

    thread = threading.Thread(target=killer)
    thread.start()
    sweep = pb.sweep(graph, "100%..60%", store=tmp_path / "s", **SWEEP)
    thread.join()
    assert cells(sweep) == expected


def test_wrong_use_is_explained(graph, tmp_path):
    with pytest.raises(pb.InvalidArgument, match="time"):
        pb.sweep(graph, "100%..60%", time=1, store=tmp_path / "s")
    with pytest.raises(pb.InvalidArgument, match="tasks"):
        pb.sweep(graph, "100%..60%", tasks=2)
    with pytest.raises(pb.PebbleError, match="not a store"):
        pb.work(tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("module", ["mpi4py.futures", "dask.distributed", "submitit"])
def test_executors_of_clusters(graph, expected, module, tmp_path, monkeypatch):
    for name in ("ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM", "MCA_rmaps_base_oversubscribe"):
        monkeypatch.setenv("OMPI_" + name, "1")  # of Open MPI: this may run in a container with one processor
    try:
        library = importlib.import_module(module)
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"{module} is not installed: {error}")
    if module == "mpi4py.futures":
        executor = library.MPIPoolExecutor(2)
    elif module == "submitit":
        executor = library.LocalExecutor(folder=tmp_path / "jobs")
    else:
        executor = library.Client(n_workers=2, threads_per_worker=1, dashboard_address=None).get_executor()
    assert cells(pb.sweep(graph, "100%..60%", executor=executor, tasks=2, store=tmp_path / "s", **SWEEP)) == expected
