"""Stores: folders of cells that any number of processes plan."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ._session import Progress, Session
from .errors import NothingFound
from .planning import time_text

__all__ = ["Crew", "Work", "plan_in_store", "store_folder", "work"]


class Work(NamedTuple):
    """What a worker has done.

    Attributes
    ----------
    done : int
        Cells planned.
    returned : int
        Cells put back unfinished, after a stop.
    taken_over : int
        Cells taken over from workers that died.
    failed : int
        Cells given up, because too many workers died with them.
    """

    done: int
    returned: int
    taken_over: int
    failed: int


def work(
    store: str | os.PathLike[str],
    *,
    sweep: str | None = None,
    threads: int = 1,
    time: float | str | None = None,
    wait: bool = False,
) -> Work:
    """Plans cells of a store until none is left, next to any number of other workers.

    Parameters
    ----------
    store : path
        The folder, as of `sweep`.
    sweep : str, optional
        The id of one sweep; default: all of the store.
    threads : int
        How many cells are planned at the same time.
    time : seconds or str, optional
        Stop after this time; cells that are not finished are put back.
    wait : bool
        Wait for cells that other workers plan, and plan those that they lose.

    Examples
    --------
    >>> import tempfile, pebble_bridge as pb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     s = pb.sweep(pb.generate("chain", 9), [3, 2], store=folder)
    ...     pb.work(folder).done
    0
    """
    return _work(Session(time=time_text(time)), os.fspath(store), sweep, threads, wait)


def _work(
    session: Session,
    store: str,
    sweep: str | None,
    threads: int,
    wait: bool,
    watch: Callable[[Progress], None] | None = None,
) -> Work:
    only = sweep.encode() if sweep else None
    session.do_long("pb_session_store_work", os.fsencode(store), only, threads, wait, watch=watch)
    return Work(**json.loads(session.written()))


class Crew(NamedTuple):
    """Who plans the cells of a sweep: tasks of an executor, or without one threads of this process."""

    executor: Any
    tasks: int | None
    threads: int

    def count(self) -> int:
        if self.tasks is not None:
            return self.tasks
        return getattr(self.executor, "_max_workers", None) or os.cpu_count() or 1


def _task(store: str, sweep: str, threads: int) -> int:
    """A worker, in a process of the executor."""
    return work(store, sweep=sweep, threads=threads).done


def plan_in_store(
    session: Session, graph: Any, folder: str, crew: Crew, watch: Callable[[Progress], None] | None
) -> int:
    """Adds a sweep to a store, has its cells planned, and returns the handle of the result."""
    session.do_long("pb_session_store_add", graph, os.fsencode(folder), watch=watch)
    sweep = session.written().decode()
    if crew.executor is not None:
        _run_tasks(crew, folder, sweep)
    # The rest: all of it without an executor, else what tasks that died have left.
    _work(session, folder, sweep, crew.threads, True, watch)
    return session.make("pb_session_store_collect", os.fsencode(folder), sweep.encode())


def _run_tasks(crew: Crew, folder: str, sweep: str) -> None:
    tasks = [crew.executor.submit(_task, folder, sweep, crew.threads) for _ in range(crew.count())]
    failures, successes = [], 0
    for task in tasks:
        try:
            task.result()
            successes += 1
        except Exception as error:
            failures.append(error)
    if failures and not successes:
        raise NothingFound(
            f"no task of the executor ended well, the first with: {failures[0]}; what was planned is kept in {folder}"
        ) from failures[0]


@contextlib.contextmanager
def store_folder(store: str | os.PathLike[str] | None) -> Iterator[str]:
    """The folder of a store; a temporary one for None."""
    if store is not None:
        yield os.path.abspath(os.fspath(store))
        return
    with tempfile.TemporaryDirectory(prefix="pebble-store-") as folder:
        yield folder
