"""Planning and verification."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _arrays
from ._library import BORROWED, NO_NODE
from ._session import Session
from .errors import InvalidArgument
from .graph import Graph, a_graph, read_bytes
from .machines import machine_text
from .progress import watching
from .results import OPS, Metrics, Move, Plan, Verdict, whole

__all__ = ["plan", "verify"]

#: The default of caps: the first memory of the machine.
MACHINE = "the memory of the machine"
_TIER_KEYS = ("store_cost", "load_cost", "store_per_unit", "load_per_unit", "cap")


def plan(
    graph: Graph,
    cap: int | str | None = MACHINE,
    *,
    machine: Any = None,
    game: str | None = None,
    strategy: str = "auto",
    policy: str | None = None,
    weights: Sequence[float | str] | str = (0, 0, 1),
    time: float | str | None = None,
    ticks: int | None = None,
    seed: int = 1,
    threads: int = 1,
    tiers: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
    start: Plan | None = None,
    borrow: int | str | None = None,
    progress: Any = None,
) -> Plan:
    """Plans a graph under a memory cap. The plan is verified.

    Parameters
    ----------
    graph : Graph
        The graph to plan.
    cap : int, str or None
        The memory limit: a number in the graph's unit, "60%" of the peak in program order, "8GiB"; None for no limit.
        May be left out with a machine: its first memory is the limit.
    machine : Machine, str, path or mapping, optional
        Costs become times on this machine: a built-in name, a file, or a `Machine`. Default: the graph's own. False:
        none, costs stay as they are.
    game : {"remat", "reversible", "tiered"}, optional
        Default: tiered if `tiers` are given, else remat. With a machine, its slow memories are the default tiers.
    strategy : str
        ``NAME`` or ``NAME:key=value,...``; "auto" tries several and returns the best.
    policy : str, optional
        The eviction policy, for strategies whose plan does not fit.
    weights : three numbers, or texts with units
        The weights of peak, flux and work in the cost to minimise: ``(0, 0, 1)``,
        ``("0.5s/GiB", 0, 1)`` or ``"peak=0.5s/GiB"``.
    time : seconds or "500ms", optional
        The time limit of the search. Without `time` and `ticks` a search ends when it no longer improves.
    ticks : int, optional
        Planning effort of each strategy: equal ticks give equal plans on every machine.
    seed, threads : int
        The random seed, and the number of threads, of the search.
    tiers : mapping or sequence of mappings, optional
        Slow memory, fastest first: ``{"store_cost": 1, "load_cost": 1, "store_per_unit": 0, "load_per_unit": 0,
        "cap": None}``, all optional. Prices may have decimals, and are in the cost unit of the graph's file.
    start : Plan, optional
        A plan of the same game to start from.
    borrow : int or str, optional
        Memory in addition to the cap that contains other data and must be restored.
    progress : bool or callable, optional
        True shows a line in terminals and notebooks; a callable gets a `Progress` ten times a second.

    Returns
    -------
    Plan
        See `Plan.outcome`, or call `Plan.require` to raise if there is no plan. After Ctrl-C: the best plan so far.

    Raises
    ------
    Cancelled
        Stopped by Ctrl-C before anything was found.

    Examples
    --------
    >>> import pebble_bridge as pb
    >>> p = pb.plan(pb.generate("adjoint-chain", 8), "60%")
    >>> p.outcome, p.metrics.peak, p.metrics.work
    ('optimal', 6, 21)
    """
    session = Session(
        cap=cap_text(cap, graph, machine),
        machine=machine_text(machine),
        game=game,
        strategy=strategy,
        policy=policy,
        weights=weights_text(weights),
        time=time_text(time),
        ticks=ticks,
        seed=seed,
        threads=threads,
        tiers=tiers_text(tiers),
        borrow=borrow,
    )
    if start is not None and not isinstance(start, Plan):
        raise InvalidArgument(f"start: expected a Plan, not {type(start).__name__}; Plan.read reads one from a file")
    with watching(progress, graph) as watch:
        handle = session.make_long("pb_session_plan", a_graph(graph), start, watch=watch)
    return Plan(graph, session, handle, session.stopped())


def verify(
    graph: Graph,
    schedule: Plan | str | os.PathLike[str] | bytes | Iterable[Any],
    *,
    cap: int | str | None = None,
    game: str | None = None,
    tiers: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
    machine: Any = None,
    borrow: int | str | None = None,
    any_graph: bool = False,
) -> Verdict:
    """Replays a schedule by the rules, with code that is independent of the planners.

    Parameters
    ----------
    graph : Graph
        The graph of the schedule.
    schedule : Plan, path, bytes, or moves
        A plan; a schedule file or its content; or moves as `Move` or tuples such as ``("compute", 0)``.
    cap, game, tiers, machine, borrow : optional
        As in `plan`, for moves. For a plan or file, `cap` replaces its own cap, and the others are taken from it.
    any_graph : bool
        Accept a legal schedule of another graph.

    Returns
    -------
    Verdict
        Truthy if nothing is wrong.

    Examples
    --------
    >>> import pebble_bridge as pb
    >>> g = pb.Graph(cost=[1, 1], size=[1, 1], edges=[(0, 1)])
    >>> pb.verify(g, [("compute", 1)]).sentence
    'move 0 (compute 1): input 0 is not resident; compute or load it first [rule input-not-resident]'
    """
    a_graph(graph)
    if isinstance(schedule, Plan):
        return _judge_file(graph, schedule.require().to_bytes(), cap, any_graph)[1]
    if isinstance(schedule, (str, bytes, os.PathLike)):
        return _judge_file(graph, schedule, cap, any_graph)[1]
    settings = {"game": game, "tiers": tiers_text(tiers), "machine": machine_text(machine), "borrow": borrow}
    session = Session(cap=cap_text(cap), **settings)
    _add_moves(session, schedule)
    session.make("pb_session_judge_moves", graph._handle)
    return _verdict(session.written())


def _judge_file(graph: Graph, source: Any, cap: Any, any_graph: bool) -> tuple[Plan, Verdict]:
    content = source if isinstance(source, bytes) else read_bytes(source)
    session = Session(cap=None if cap is None else cap_text(cap), any_graph=int(any_graph))
    handle = session.make("pb_session_judge_file", graph._handle, content, len(content))
    return Plan(graph, session, handle), _verdict(session.written())


def _verdict(text: bytes) -> Verdict:
    document = json.loads(text)
    return Verdict(
        document["legal"],
        document["rule"],
        None if document["move"] is None else whole(document["move"]),
        document["message"],
        Metrics.of(document["metrics"]) if document["metrics"] else None,
        document["node"],
        document["same_graph"],
    )


def _add_moves(session: Session, moves: Iterable[Any]) -> None:
    numbers = {name: k for k, name in enumerate(OPS)}
    op: list[int] = []
    node: list[int] = []
    place: list[int] = []
    over: list[int] = []
    also: list[int] = []
    start = [0]
    if not isinstance(moves, Iterable):
        raise InvalidArgument(f"expected a plan, a file or moves, not {type(moves).__name__}")
    for k, given in enumerate(moves):
        try:
            move = given if isinstance(given, Move) else Move(*given)
        except TypeError:
            raise InvalidArgument(f'move {k}: expected a Move or a tuple such as ("compute", 0)') from None
        if move.op not in numbers:
            raise InvalidArgument(f"move {k}: there is no operation `{move.op}`; expected one of {', '.join(OPS)}")
        op.append(numbers[move.op])
        node.append(move.node)
        place.append(BORROWED if move.borrowed else move.tier)
        over.append(NO_NODE if move.over is None else move.over)
        also.extend(move.also)
        start.append(len(also))
    rows = _arrays.empty(4 * len(op), 4)
    for k, (what, values) in enumerate({"op": op, "node": node, "tier": place, "over": over}.items()):
        rows[k::4] = _arrays.numbers(values, 4, what)
    starts, parts = _arrays.numbers(start, 8, "rows of also"), _arrays.numbers(also, 4, "also")
    pointers = _arrays.pointer(rows, 4), _arrays.pointer(starts, 8), _arrays.pointer(parts, 4)
    session.do("pb_session_add_moves", len(op), *pointers)


# ---- settings in the library's text form ----


def cap_text(cap: int | str | None, graph: Any = None, machine: Any = None) -> str | None:
    """A cap as text; None means no limit. Without a cap there must be a machine, whose memory is the limit."""
    if cap != MACHINE:
        return "none" if cap is None else str(cap)
    if machine is None and isinstance(graph, Graph):
        machine = graph.machine
    if not machine:
        raise InvalidArgument("cap: expected a size, because there is no machine whose memory would be the limit")
    return None


def time_text(time: float | str | None) -> str | None:
    """Seconds as text."""
    if time is None or isinstance(time, str):
        return time
    if not time >= 0:
        raise InvalidArgument(f"time: expected seconds, 0 or more, not {time}")
    return f"{time:.9f}"


def weights_text(weights: Sequence[float | str] | str) -> str:
    """Three weights as text."""
    if isinstance(weights, str):
        return weights
    if len(weights) != 3:
        raise InvalidArgument("weights: expected three numbers, of peak, flux and work")
    return ",".join(str(w) for w in weights)


def many_weights_text(weights: Any) -> str:
    """Three weights, or a sequence of such, as text."""
    if isinstance(weights, str) or not weights or isinstance(weights[0], (int, float)):
        return weights_text(weights)
    if isinstance(weights[0], str) and not set(weights[0]) & set(",="):  # ("0.5s/GiB", 0, 1)
        return weights_text(weights)
    return ";".join(weights_text(each) for each in weights)


def tiers_text(tiers: Any) -> str | None:
    """Tiers as text."""
    if tiers is None or isinstance(tiers, str):
        return tiers
    rows = [tiers] if isinstance(tiers, Mapping) else list(tiers)
    for row in rows:
        for key in row:
            if key not in _TIER_KEYS:
                raise InvalidArgument(f"tiers: there is no `{key}`; expected some of {', '.join(_TIER_KEYS)}")
    return ";".join(",".join(f"{k}={cap_text(v) if k == 'cap' else v}" for k, v in row.items()) for row in rows)
