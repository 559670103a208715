"""Many caps, strategies and weights at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ._session import Session
from .errors import InvalidArgument, NothingFound
from .graph import Graph, a_graph
from .planning import cap_text, many_weights_text, tiers_text, time_text
from .progress import watching
from .results import Metrics, Plan, whole

__all__ = ["Cell", "Sweep", "sweep"]


@dataclass(frozen=True)
class Cell:
    """One strategy under one cap and weights.

    Attributes
    ----------
    index : int
        Its place in `Sweep.cells`.
    cap : int or None
        The memory that was allowed.
    cap_share : float or None
        As a share of what the program as written needs.
    strategy, chosen, game : str
        The strategy as asked for, the one whose plan it is, and the game.
    weights : tuple
        Of peak, flux and work.
    outcome : str
        As in `Plan`, or "missing" where a stop came first.
    reason : str or None
        Why there is no plan.
    metrics : Metrics or None
        The figures of the plan.
    lower_bound : int or None
        No plan has a smaller makespan under this cap.
    policy : str or None
        What was evicted first; None where the strategy takes no policy.
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
    """What `sweep` found: within a strategy the cost never rises with the cap. Iterates over its cells."""

    def __init__(self, graph: Graph, session: Session, handle: int, stopped: str | None) -> None:
        self.graph = graph
        self._session, self._handle = session, handle
        self.stopped = stopped

    @property
    def interrupted(self) -> bool:
        """Ctrl-C came before the end: cells may be missing, or could be better."""
        return self.stopped == "interrupt"

    @cached_property
    def document(self) -> dict[str, Any]:
        """All of it, as in a ``pebble-sweep/1`` document."""
        return json.loads(self.to_json())["sweeps"][0]

    @cached_property
    def cells(self) -> list[Cell]:
        """Weights by weights, strategy by strategy, caps falling."""
        return [_cell(k, told) for k, told in enumerate(self.document["cells"])]

    @property
    def caps(self) -> list[int | None]:
        """The caps, falling."""
        return [None if cap is None else whole(cap) for cap in self.document["caps"]]

    @property
    def written_peak(self) -> int:
        """What the program as written needs: the 100 %."""
        return whole(self.document["written_peak"])

    @property
    def front(self) -> list[Cell]:
        """The cells that no other beats in both peak and makespan, peak falling."""
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
            raise InvalidArgument(f"the sweep has no cell {at}")
        handle = session.make("pb_session_cell", self._handle, at)
        if not handle:
            raise NothingFound("a stop came before this cell was planned")
        session.keeps = self  # the moves lie in the memory of the sweep
        return Plan(self.graph, session, handle, self.stopped)

    def lines(self) -> dict[str, list[Cell]]:
        """For each strategy its cells with a plan, caps falling; of several weights the first."""
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
        """One row a cell."""
        return self._write("csv")

    def to_svg(self) -> str:
        """Overhead against the cap as a drawing."""
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
        """Overhead against the cap with matplotlib, a line for each strategy; returns the axes."""
        from .plots import plot_sweep

        return plot_sweep(self, ax)

    def __repr__(self) -> str:
        fitting = sum(cell.metrics is not None for cell in self.cells)
        return f"<Sweep: {len(self.caps)} caps, {fitting} of {len(self)} cells with a plan>"


def _cell(index: int, told: dict[str, Any]) -> Cell:
    cap, bound = told["cap"], told["lower_bound"]
    return Cell(
        index,
        None if cap is None else whole(cap),
        told["cap_share"],
        told["strategy"],
        told["chosen"],
        told["game"],
        tuple(told["weights"]),
        told["outcome"],
        told["reason"],
        Metrics.of(told["metrics"]) if told["metrics"] else None,
        None if bound is None else whole(bound),
        told["policy"],
    )


def sweep(
    graph: Graph,
    caps: str | Sequence[int | str] | None = None,
    *,
    points: int = 20,
    game: str | None = None,
    strategies: str | Sequence[str] = "auto",
    policy: str | None = None,
    weights: Sequence[float] | Sequence[Sequence[float]] = (0, 0, 1),
    time: float | str | None = None,
    ticks: int | None = None,
    seed: int = 1,
    threads: int = 1,
    tiers: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
    progress: Any = None,
) -> Sweep:
    """Plans under many caps: what memory costs in work.

    Parameters
    ----------
    graph, game, policy, ticks, seed, tiers, progress
        As in `plan`.
    caps : str or sequence of int or str, optional
        ``"100%..30%,20%,least"`` or a list. Without: from what the program as written needs to the least that works.
    points : int
        How many caps a range has.
    strategies : str or sequence of str
        A line for each; "all" for all but portfolios.
    weights : three numbers, or a sequence of such
        Every combination is planned.
    time : seconds or str, optional
        For all plans together.
    threads : int
        How many plans are made at a time.

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
    with watching(progress, graph) as watch:
        handle = session.make_patiently("pb_session_sweep", a_graph(graph), watch=watch)
    return Sweep(graph, session, handle, session.stopped())
