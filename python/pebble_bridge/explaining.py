"""Why values are kept or recomputed, and the smallest caps of a graph."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._library import NO_NODE
from ._session import Session
from .errors import InvalidArgument
from .graph import Graph, NodeRef, a_graph
from .machines import machine_text
from .planning import _judge_file, tiers_text, time_text
from .progress import watching
from .results import Plan, whole

__all__ = ["Explanation", "Info", "LeastCap", "explain", "info"]


class Explanation:
    """Why a plan keeps or recomputes values: as `text`, and as `dict` for programs."""

    def __init__(self, text: str, document: dict[str, Any]) -> None:
        self.text = text
        self.dict = document

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        from .html import text_html

        return text_html(self.text)


def explain(graph: Graph, plan: Plan | Any, node: NodeRef | None = None) -> Explanation:
    """Why one value, or every value, is kept or recomputed; what that saves, and the memory it takes.

    Parameters
    ----------
    graph : Graph
        The graph of the plan.
    plan : Plan, path or bytes
        The plan, or a schedule file.
    node : int or str, optional
        One node. Default: the whole plan.
    """
    if not isinstance(plan, Plan):
        plan, verdict = _judge_file(graph, plan, None, False)
        verdict.require()
    elif plan.graph is not graph and plan.graph.hash != a_graph(graph).hash:
        raise InvalidArgument(f"the plan belongs to another graph, `{plan.graph.name}`; pass that graph")
    at = NO_NODE if node is None else graph.index(node)
    plan.require()
    session = Session()
    text = session.write("pb_session_explain", plan._handle, at, b"text").decode(errors="replace")
    return Explanation(text, json.loads(session.write("pb_session_explain", plan._handle, at, b"json")))


@dataclass(frozen=True)
class LeastCap:
    """The smallest caps of one game.

    Attributes
    ----------
    game : str
        The game.
    proved : int
        Lower bound: no plan has a smaller peak.
    proved_by, proved_at : str or None
        What proves it, and at which node.
    known : int or None
        The smallest cap with a known plan.
    strategy : str or None
        The strategy of that plan.
    impossible : bool
        No plan exists under any cap.
    """

    game: str
    proved: int
    proved_by: str | None
    proved_at: str | None
    known: int | None
    strategy: str | None
    impossible: bool


class Info:
    """Facts about a graph.

    Attributes
    ----------
    document : dict
        All facts, as ``pebble info --json`` prints them.
    games : list of LeastCap
        The smallest caps, by game.
    written_peak : int
        The peak in program order.
    """

    def __init__(self, graph: Graph, document: dict[str, Any]) -> None:
        self.graph = graph
        self.document = document
        self.written_peak = whole(document["written_peak"])
        self.games = [
            LeastCap(
                row["game"],
                whole(row["proved_cap"]),
                row["proved_by"],
                row["proved_at"],
                None if row["known_cap"] is None else whole(row["known_cap"]),
                row["strategy"],
                row["impossible"],
            )
            for row in document["games"]
        ]

    def _repr_html_(self) -> str:
        from .html import info_html

        return info_html(self)

    def __repr__(self) -> str:
        caps = ", ".join(f"{g.game} from {g.known if g.known is not None else '?'}" for g in self.games)
        return f"<Info: {self.graph.node_count} nodes, program order {self.written_peak}; {caps}>"


def info(
    graph: Graph,
    *,
    machine: Any = None,
    game: str | None = None,
    time: float | str | None = None,
    ticks: int | None = None,
    tiers: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
    progress: Any = None,
) -> Info:
    """Shape, sizes, the peak in program order, the lower bound on the cap and the smallest cap with a known plan.

    Parameters
    ----------
    graph, machine, time, ticks, tiers, progress
        As in `plan`.
    game : str, optional
        The game. Default: remat and reversible, and tiered if there are `tiers` or slow memories of a machine.

    Examples
    --------
    >>> import pebble_bridge as pb
    >>> least = pb.info(pb.generate("chain", 10), game="remat").games[0]
    >>> least.proved, least.known
    (2, 2)
    """
    settings = {"machine": machine_text(machine), "game": game, "tiers": tiers_text(tiers)}
    session = Session(time=time_text(time), ticks=ticks, **settings)
    with watching(progress, graph) as watch:
        session.do_long("pb_session_info", a_graph(graph), watch=watch)
    return Info(graph, json.loads(session.written()))
