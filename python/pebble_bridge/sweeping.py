"""Sweeps: plans for many caps, strategies and weights."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ._session import Session
from .errors import InvalidArgument, NothingFound
from .graph import Graph, a_graph
from .machines import machine_text
from .planning import cap_text, many_weights_text, tiers_text, time_text
from .progress import watching
from .results import Metrics, Plan, whole
from .stores import Crew, plan_in_store, store_folder

__all__ = ["Cell", "Sweep", "sweep"]


@dataclass(frozen=True)
class Cell:
    """One strategy under one cap and weights.

    Attributes
    ----------
    index : int
        Its index in `Sweep.cells`.
    cap : int or None
        The cap; None for no limit.
    cap_share : float or None
        The cap as a share of the peak in program order.
    strategy, chosen, game : str
        The requested strategy, the strategy of the plan, and the game.
    weights : tuple
        Of peak, flux and work.
    outcome : str
        As in `Plan`, or "missing" if the sweep was stopped first.
    reason : str or None
        Why there is no plan.
    metrics : Metrics or None
        The figures of the plan.
    lower_bound : int or None
        No plan has a smaller makespan under this cap.
    policy : str or None
        The eviction policy; None if the strategy takes none.
    """

    index: int
    cap: int | None
    cap_share: float | None
    strategy: str
    chosen: str | None
    game: str
    weights: tuple[float, float, float]
    outcome: str
    reason: str | None
    metrics: Metrics | None
    lower_bound: int | None
    policy: str | None = None


class Sweep:
    """The result of `sweep`. Within a strategy, the cost never rises with the cap. Iterates over its cells."""

    def __init__(self, graph: Graph, session: Session, handle: int, stopped: str | None) -> None:
        self.graph = graph
        self._session, self._handle = session, handle
        self.stopped = stopped

    @property
    def interrupted(self) -> bool:
        """Ctrl-C stopped the sweep: cells may be missing, or could be better."""
        return self.stopped == "interrupt"

    @cached_property
    def document(self) -> dict[str, Any]:
        """The whole sweep, as in a ``pebble-sweep/1`` document."""
        return json.loads(self.to_json())["sweeps"][0]

    @cached_property
    def cells(self) -> list[Cell]:
        """By weights, then by strategy, then by descending cap."""
        return [_cell(k, row) for k, row in enumerate(self.document["cells"])]

    @property
    def caps(self) -> list[int | None]:
        """The caps, descending."""
        return [None if cap is None else whole(cap) for cap in self.document["caps"]]

    @property
    def written_peak(self) -> int:
        """The peak in program order; a cap of 100 % means this."""
        return whole(self.document["written_peak"])

    @property
    def front(self) -> list[Cell]:
        """The cells that no other cell beats in both peak and makespan, by descending peak."""
        return [self.cells[k] for k in self.document["front"]]

    @property
    def knee(self) -> Cell | None:
        """The point of the front where it bends most."""
        at = self.document["knee"]
        return None if at is None else self.cells[at]

    @property
    def flips(self) -> list[dict[str, Any]]:
        """The caps between which another strategy becomes the cheapest."""
        return self.document["flips"]

    def plan(self, cell: Cell | int) -> Plan:
        """The plan of a cell."""
        session = Session()
        at = cell.index if isinstance(cell, Cell) else cell
        if not 0 <= at < len(self):
            raise InvalidArgument(f"the sweep has no cell {at}; its cells are 0 to {len(self) - 1}")
        handle = session.make("pb_session_cell", self._handle, at)
        if not handle:
            raise NothingFound("the sweep was stopped before this cell was planned; sweep again with more time")
        session.keeps = self  # the moves are in the memory of the sweep
        return Plan(self.graph, session, handle, self.stopped)

    def lines(self) -> dict[str, list[Cell]]:
        """For each strategy its cells with a plan, by descending cap; for the first weights only."""
        first = self.cells[0].weights if self.cells else None
        found: dict[str, list[Cell]] = {}
        for cell in self.cells:
            if cell.metrics and cell.weights == first:
                found.setdefault(f"{cell.strategy} ({cell.game})", []).append(cell)
        return found

    def to_json(self) -> str:
        """The sweep as a ``pebble-sweep/1`` document."""
        return self._write("json")

    def to_csv(self) -> str:
        """The sweep as CSV, one row per cell."""
        return self._write("csv")

    def to_svg(self) -> str:
        """Overhead versus cap as an SVG drawing."""
        return self._write("svg")

    def _write(self, form: str) -> str:
        return Session().write("pb_session_write_sweep", self._handle, form.encode()).decode()

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def _repr_html_(self) -> str:
        from .html import sweep_html

        return sweep_html(self)

    def plot(self, ax: Any = None) -> Any:
        """Plots overhead versus cap with matplotlib, a line for each strategy; returns the axes."""
        from .plots import plot_sweep

        return plot_sweep(self, ax)

    def __repr__(self) -> str:
        fitting = sum(cell.metrics is not None for cell in self.cells)
        return f"<Sweep: {len(self.caps)} caps, {fitting} of {len(self)} cells with a plan>"


def _cell(index: int, row: dict[str, Any]) -> Cell:
    cap, bound = row["cap"], row["lower_bound"]
    return Cell(
        index,
        None if cap is None else whole(cap),
        row["cap_share"],
        row["strategy"],
        row["chosen"],
        row["game"],
        tuple(row["weights"]),
        row["outcome"],
        row["reason"],
        Metrics.of(row["metrics"]) if row["metrics"] else None,
        None if bound is None else whole(bound),
        row["policy"],
    )


def sweep(
    graph: Graph,
    caps: str | Sequence[int | str] | None = None,
    *,
    machine: Any = None,
    points: int = 20,
    game: str | None = None,
    strategies: str | Sequence[str] = "auto",
    policy: str | None = None,
    weights: Sequence[float | str] | Sequence[Sequence[float | str] | str] | str = (0, 0, 1),
    time: float | str | None = None,
    ticks: int | None = None,
    seed: int = 1,
    threads: int = 1,
    tiers: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
    progress: Any = None,
    store: str | os.PathLike[str] | None = None,
    executor: Any = None,
    tasks: int | None = None,
) -> Sweep:
    """Plans under many caps: shows how much work a smaller memory costs.

    Parameters
    ----------
    graph, machine, game, policy, ticks, seed, tiers, progress
        As in `plan`.
    caps : str or sequence of int or str, optional
        ``"100%..30%,20%,least"`` or a list. Default: from the peak in program order down to the
        smallest cap with a known plan.
    points : int
        The number of caps in a range.
    strategies : str or sequence of str
        One or more strategies; "all" for all except portfolios.
    weights : three numbers, or texts with units as for `plan`, or a sequence of such
        Every combination is planned.
    time : seconds or str, optional
        The time limit for all plans together.
    threads : int
        How many plans are computed at the same time; with an executor, by each task.
    store : path, optional
        A folder that keeps every cell: a sweep that was interrupted continues when it is called again, and other
        processes can plan its cells (`work`, ``pebble work``). Not together with `time`.
    executor : object with the interface of concurrent.futures.Executor, optional
        Plans the cells: a process pool, ``mpi4py.futures``, Dask's ``client.get_executor()``, submitit. Its workers need
        this package, and the folder of `store`; without `store`, a temporary folder on this computer.
    tasks : int, optional
        How many tasks the executor gets, each a worker that plans cells until none is left. Default: its number
        of workers.

    Examples
    --------
    >>> import pebble_bridge as pb
    >>> s = pb.sweep(pb.generate("adjoint-chain", 20), "100%..40%", points=4)
    >>> [(c.cap, c.metrics.work) for c in s]
    [(22, 40), (18, 44), (14, 48), (9, 53)]
    """
    if caps is not None and not isinstance(caps, str):
        caps = ",".join(cap_text(cap) for cap in caps)
    if not isinstance(strategies, str):
        strategies = ",".join(strategies)
    listed = many_weights_text(weights)
    session = Session(
        caps=caps,
        machine=machine_text(machine),
        points=points,
        game=game,
        strategy=strategies,
        policy=policy,
        weights=listed,
        time=time_text(time),
        ticks=ticks,
        seed=seed,
        threads=threads,
        tiers=tiers_text(tiers),
    )
    if executor is None and tasks is not None:
        raise InvalidArgument("tasks are for an executor; give one, or use threads")
    with watching(progress, graph) as watch:
        if store is not None or executor is not None:
            with store_folder(store) as folder:
                handle = plan_in_store(session, a_graph(graph), folder, Crew(executor, tasks, threads), watch)
        else:
            handle = session.make_long("pb_session_sweep", a_graph(graph), watch=watch)
    return Sweep(graph, session, handle, session.stopped())
