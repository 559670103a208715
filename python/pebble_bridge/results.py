"""Plans, their moves and figures, and verdicts about them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from . import _arrays
from ._library import BORROWED, NO_NODE, lib
from ._session import Session
from .errors import Infeasible, NothingFound
from .graph import Graph, write_bytes
from .machines import PER_SECOND, Machine

__all__ = ["Metrics", "Move", "Moves", "Plan", "Verdict"]

OPS = tuple(lib.pb_op_label(k).decode() for k in range(6))


def whole(value: Any) -> int:
    """An integer of a document; large ones are strings there."""
    return int(value)


class Move(NamedTuple):
    """One move of a schedule.

    Attributes
    ----------
    op : str
        "compute", "free", "uncompute", "store", "load" or "drop".
    node : int
        The node it applies to.
    tier : int
        The slow memory of store, load and drop, counted from 1; 0 with the others.
    over : int or None
        The input whose memory the computed value takes over.
    also : tuple of int
        By-products that are computed too.
    borrowed : bool
        The value is computed into borrowed memory.
    """

    op: str
    node: int
    tier: int = 0
    over: int | None = None
    also: tuple[int, ...] = ()
    borrowed: bool = False


class Moves(Sequence[Move]):
    """The moves of a plan, and their arrays.

    Attributes
    ----------
    op, node, tier, over : array
        One entry per move: the operation as an index into `Moves.ops`, the node, the tier (255: borrowed memory), and
        the input taken over (0xFFFFFFFF: none).
    """

    ops = OPS

    def __init__(self, handle: int) -> None:
        count = lib.pb_result_move_count(handle)
        rows = _arrays.empty(4 * count, 4)
        lib.pb_result_moves(handle, 0, count, _arrays.pointer(rows, 4))
        columns = (_arrays.numbers(rows[k::4], width, "moves") for k, width in enumerate((1, 4, 1, 4)))
        self.op, self.node, self.tier, self.over = columns
        self._also = _arrays.empty(lib.pb_result_also(handle, None, None), 4)
        self._also_start = _arrays.empty(count + 1, 8)
        lib.pb_result_also(handle, _arrays.pointer(self._also_start, 8), _arrays.pointer(self._also, 4))

    def __len__(self) -> int:
        return len(self.op)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[k] for k in range(*at.indices(len(self)))]
        k = at + len(self) if at < 0 else at
        if not 0 <= k < len(self):
            raise IndexError(f"move {at} is out of range: there are {len(self)} moves")
        tier, over = int(self.tier[k]), int(self.over[k])
        also = self._also[int(self._also_start[k]) : int(self._also_start[k + 1])]
        return Move(
            OPS[self.op[k]],
            int(self.node[k]),
            0 if tier == BORROWED else tier,
            None if over == NO_NODE else over,
            tuple(int(w) for w in also),
            tier == BORROWED,
        )

    def __iter__(self) -> Iterator[Move]:
        return (self[k] for k in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(f"{m.op} {m.node}" for m in self[:6])
        return f"<Moves: {len(self)}: {shown}{', ...' if len(self) > 6 else ''}>"


@dataclass(frozen=True)
class Metrics:
    """The figures of a verified plan, exact.

    Attributes
    ----------
    peak : int
        The largest memory during any move, or at the start.
    work, io, makespan : int
        Cost of computations, of transfers, and both together.
    recompute, recompute_count, uncompute : int
        Work in addition to computing every needed node once, and the number of these computations; work of uncomputing.
    flux : int
        Memory integrated over time.
    moves, depth : int
        The number of moves, and the length of the critical path.
    cost : int or float
        The weighted cost.
    overhead : float
        Makespan divided by the cost of needed nodes, minus 1.
    gap : float or None
        How far the makespan is above the lower bound, as a share of it.
    borrowed : int
        The peak of borrowed memory.
    """

    peak: int
    work: int
    io: int
    makespan: int
    recompute: int
    recompute_count: int
    uncompute: int
    flux: int
    moves: int
    depth: int
    cost: int | float
    overhead: float
    gap: float | None
    borrowed: int = 0

    @classmethod
    def of(cls, document: dict[str, Any]) -> Metrics:
        """The metrics from a document of the library."""
        exact = {k: whole(document[k]) for k in cls.__annotations__ if k in document and k not in _INEXACT}
        cost = document["cost"]
        if isinstance(cost, str):
            cost = float(cost) if "." in cost else int(cost)
        return cls(**exact, cost=cost, overhead=document["overhead"], gap=document["gap"])


_INEXACT = ("cost", "overhead", "gap")


class Plan:
    """The result of planning: a verified plan, or the reason why there is none.

    Returned by `plan`, `compare`, `sweep` and `Plan.read`.

    Attributes
    ----------
    graph : Graph
        The planned graph.
    interrupted : bool
        Ctrl-C stopped the planning: this is the best plan found by then.
    """

    def __init__(self, graph: Graph, session: Session, handle: int, stopped: str | None = None) -> None:
        self.graph = graph
        self._session, self._handle = session, handle
        self.stopped = stopped

    @classmethod
    def read(cls, graph: Graph, source: str | os.PathLike[str] | bytes) -> Plan:
        """Reads and verifies the plan in a schedule file.

        Raises
        ------
        InvalidArgument
            The schedule is illegal, belongs to another graph, or states wrong figures.
        """
        from .planning import _judge_file  # circular import

        plan, verdict = _judge_file(graph, source, None, False)
        verdict.require()
        return plan

    @property
    def interrupted(self) -> bool:
        return self.stopped == "interrupt"

    @cached_property
    def _summary(self) -> dict[str, Any]:
        return json.loads(Session().write("pb_session_write_plan", self._handle, b"summary"))

    def _text(self, form: str) -> str:
        return Session().write("pb_session_write_plan", self._handle, form.encode()).decode(errors="replace")

    def __bool__(self) -> bool:
        return bool(lib.pb_result_has_plan(self._handle))

    @property
    def outcome(self) -> str:
        """ "optimal", "found", "infeasible" or "gave_up"."""
        return self._summary["outcome"]

    @cached_property
    def reason(self) -> str | None:
        """Why there is no plan; None if there is one."""
        return self._text("reason") or None

    @property
    def note(self) -> str | None:
        """The property of the graph that the strategy relies on."""
        return self._summary.get("note")

    @property
    def lower_bound(self) -> int | None:
        """No plan has a smaller makespan; None if unknown."""
        bound = self._summary["lower_bound"]
        return None if bound is None else whole(bound)

    @property
    def bound_kind(self) -> str | None:
        """ "free-order" (for any order of computation) or "fixed-order"."""
        return self._summary["bound_kind"]

    @property
    def cap(self) -> int | None:
        """The cap; None for no limit."""
        cap = self._summary["cap"]
        return None if cap is None else whole(cap)

    @property
    def game(self) -> str:
        """ "remat", "reversible" or "tiered"."""
        return self._summary["game"]

    @property
    def strategy(self) -> str:
        """The strategy that computed the plan."""
        return self._summary["strategy"]

    @property
    def options(self) -> dict[str, Any]:
        """Seed, ticks, threads, and the strategy's own settings."""
        return self._summary["options"]

    @property
    def policy(self) -> str | None:
        """The policy that decided what was evicted; None if none was used."""
        return self._summary["policy"]

    @property
    def policy_asked(self) -> str | None:
        """The requested policy, if it was not needed; else None."""
        return self._summary.get("policy_asked")

    @cached_property
    def machine(self) -> Machine | None:
        """The machine whose times the costs are; None without one."""
        document = self._summary.get("machine")
        return Machine(document) if document else None

    @property
    def cost_unit(self) -> str:
        """The unit of work, io and makespan: that of the machine, or of the graph without one."""
        return self.graph.cost_unit if self.machine is None else self.machine.time_unit

    @property
    def runtime(self) -> float | None:
        """The makespan in seconds; None if costs are not times, or there is no plan."""
        per_second = PER_SECOND.get(self.cost_unit)
        return None if per_second is None or self.metrics is None else self.metrics.makespan / per_second

    @property
    def weights(self) -> tuple[float, float, float]:
        """The weights of peak, flux and work."""
        return tuple(self._summary["weights"])

    @property
    def tiers(self) -> list[dict[str, int | str | None]]:
        """Caps of slow memory and its prices, or the names of the machine's links to store and load by."""
        links = ("store", "load")
        return [
            {k: v if v is None or k in links else whole(v) for k, v in tier.items()} for tier in self._summary["tiers"]
        ]

    @property
    def seconds(self) -> float:
        """The planning time."""
        return self._summary.get("seconds", 0.0)

    @cached_property
    def asked(self) -> str:
        """The requested strategy: "auto" if `strategy` is its choice."""
        return self._text("strategy")

    @cached_property
    def metrics(self) -> Metrics | None:
        """The figures of the plan; None if there is no plan."""
        stated = self._summary["metrics"]
        return Metrics.of(stated) if stated and self else None

    def _measured(self) -> Metrics:
        """The metrics of a plan that must exist."""
        found = self.require().metrics
        assert found is not None
        return found

    @cached_property
    def moves(self) -> Moves:
        """The moves, list-like; empty if there is no plan."""
        return Moves(self._handle)

    def require(self) -> Plan:
        """Returns this plan if it exists.

        Raises
        ------
        Infeasible
            It is proved that no plan fits.
        NothingFound
            No plan was found.
        """
        if self:
            return self
        kind = Infeasible if self.outcome == "infeasible" else NothingFound
        raise kind(self.reason or "no plan was found; raise the cap or the time")

    # ---- files and texts ----

    def to_json(self) -> str:
        """The plan as a ``pebble-schedule/1`` document."""
        return self._text("schedule")

    def to_bytes(self) -> bytes:
        """The plan in the binary format."""
        return Session().write("pb_session_write_plan_binary", self._handle)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the schedule file; binary if its name ends in ``.pbs``."""
        self.require()
        binary = Path(path).suffix == ".pbs"
        write_bytes(path, self.to_bytes() if binary else self.to_json().encode())

    def to_svg(self) -> str:
        """Memory over time as an SVG drawing: stacked by group, with the cap and the peak."""
        return self.export("svg")

    def to_html(self) -> str:
        """One file that plays the plan in any browser, offline. Needs the command ``pebble``."""
        from .player import player_html

        return player_html(self.require())

    def show(self, height: int = 640) -> Any:
        """The plan, playing: a frame in a notebook; elsewhere ``.open()`` shows it in the browser."""
        from .player import Player

        return Player(self.require(), height)

    def export(self, form: str) -> str:
        """The plan for other programs.

        Parameters
        ----------
        form : {"decisions", "csv", "json", "dot", "svg", "trace", "actions"}
            Text; one row per move; the same as JSON; a drawing of the graph; a drawing of memory over time; for Chrome
            and Perfetto; for adjoint codes.
        """
        self.require()
        return self._text(form)

    def memory(self) -> tuple[Any, Any]:
        """Memory over time.

        Returns
        -------
        time, memory : arrays
            One entry per move: work + io until its end, and fast memory during it.
        """
        time, fast = (_arrays.empty(len(self.moves), 8) for _ in range(2))
        Session().do("pb_session_memory", self._handle, _arrays.pointer(time, 8), _arrays.pointer(fast, 8), None)
        return time, fast

    def profile(self, buckets: int, axis: str = "time") -> tuple[Any, Any]:
        """Fast and slow memory over equal parts of the time, or of the moves: the maximum in each part."""
        fast, slow = (_arrays.empty(buckets, 8) for _ in range(2))
        Session().do(
            "pb_session_profile",
            self._handle,
            axis.encode(),
            buckets,
            _arrays.pointer(fast, 8),
            _arrays.pointer(slow, 8),
        )
        return fast, slow

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan.read, (self.graph, self.require().to_bytes())

    def plot(self, ax: Any = None) -> Any:
        """Plots memory over time with matplotlib; returns the axes."""
        from .plots import plot_plan

        return plot_plan(self, ax)

    def _repr_html_(self) -> str:
        from .html import plan_html

        return plan_html(self)

    def __repr__(self) -> str:
        if not self:
            return f"<Plan: {self.outcome}: {self.reason}>"
        m = self._measured()
        cap = "no cap" if self.cap is None else f"cap {self.cap}"
        return f"<Plan: {self.outcome} by {self.strategy}: peak {m.peak}, {cap}, work {m.work}, {m.moves} moves>"


@dataclass(frozen=True)
class Verdict:
    """The verifier's result for a schedule.

    Attributes
    ----------
    legal : bool
        No rule of the game is broken.
    rule : str or None
        The first broken rule.
    step : int or None
        The move that breaks it, from 0; the number of moves if only the end is wrong.
    sentence : str or None
        What is wrong: a broken rule or, if the moves are legal, wrong figures, addresses, or another graph.
    metrics : Metrics or None
        The figures of legal moves.
    node : str or None
        The node at which the rule is broken.
    same_graph : bool
        The schedule is for this graph, or does not name one.
    """

    legal: bool
    rule: str | None
    step: int | None
    sentence: str | None
    metrics: Metrics | None
    node: str | None = None
    same_graph: bool = True

    def __bool__(self) -> bool:
        return self.legal and self.sentence is None

    def require(self) -> Verdict:
        """Returns this verdict if nothing is wrong, else raises `InvalidArgument` with the sentence."""
        from .errors import InvalidArgument

        if self:
            return self
        raise InvalidArgument(self.sentence or "the schedule is illegal; plan the graph again")
