"""Why values are kept or computed again, and what a graph needs at least."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._library import NO_NODE
from ._session import Session
from .errors import InvalidArgument
from .graph import Graph, NodeRef, a_graph
from .planning import _judge_file, tiers_text, time_text
from .progress import watching
from .results import Plan, whole

__all__ = ["Explanation", "Info", "LeastCap", "explain", "info"]


class Explanation:
    """Why a plan keeps what it keeps; `text` for people, `dict` for programs."""

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
    """Why a value, or all of them, is kept or computed again; what it saves and the memory it holds.

    Parameters
    ----------
    graph : Graph
        What was planned.
    plan : Plan, path or bytes
        The plan, or a schedule file.
    node : int or str, optional
        One node; the whole plan without.
    """
    if not isinstance(plan, Plan):
        plan, verdict = _judge_file(graph, plan, None, False)
        verdict.require()
    elif plan.graph is not graph and plan.graph.hash != a_graph(graph).hash:
        raise InvalidArgument(f"the plan is of another graph, `{plan.graph.name}`")
    at = NO_NODE if node is None else graph.index(node)
    plan.require()
    session = Session()
    text = session.write("pb_session_explain", plan._handle, at, b"text").decode(errors="replace")
    return Explanation(text, json.loads(session.write("pb_session_explain", plan._handle, at, b"json")))


@dataclass(frozen=True)
class LeastCap:
    """How little memory may do in one game.

    Attributes
    ----------
    game : str
        Which game.
    proved : int
        No plan whatever has a smaller peak.
    proved_by, proved_at : str or None
        What shows it, and at which node.
    known : int or None
        A cap that a plan was found for.
    strategy : str or None
        Whose plan that is.
    impossible : bool
        No cap at all helps.
    """

    game: str
    proved: int
    proved_by: str | None
    proved_at: str | None
    known: int | None
    strategy: str | None
    impossible: bool


class Info:
    """What is in a graph.

    Attributes
    ----------
    document : dict
        All of it, as ``pebble info --json`` prints it.
    games : list of LeastCap
        The least caps, game by game.
    written_peak : int
        What the program as written needs.
    """

    def __init__(self, graph: Graph, document: dict[str, Any]) -> None:
        self.graph = graph
        self.document = document
        self.written_peak = whole(document["written_peak"])
        self.games = [
            LeastCap(
                told["game"],
                whole(told["proved_cap"]),
                told["proved_by"],
                told["proved_at"],
                None if told["known_cap"] is None else whole(told["known_cap"]),
                told["strategy"],
                told["impossible"],
            )
            for told in document["games"]
        ]

    def _repr_html_(self) -> str:
        from .html import info_html

        return info_html(self)

    def __repr__(self) -> str:
        least = ", ".join(f"{g.game} from {g.known if g.known is not None else '?'}" for g in self.games)
        return f"<Info: {self.graph.node_count} nodes, as written {self.written_peak}; {least}>"


def info(
    graph: Graph,
    *,
    game: str | None = None,
    time: float | str | None = None,
    ticks: int | None = None,
    tiers: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
    progress: Any = None,
) -> Info:
    """Shape, sizes, the peak as written, the proved least cap and the least that a plan is known for.

    Parameters
    ----------
    graph, time, ticks, tiers, progress
        As in `plan`.
    game : str, optional
        One game; remat and reversible without, and tiered where there are `tiers`.

    Examples
    --------
    >>> import pebble_bridge as pb
    >>> least = pb.info(pb.generate("chain", 10), game="remat").games[0]
    >>> least.proved, least.known
    (2, 2)
    """
    session = Session(game=game, time=time_text(time), ticks=ticks, tiers=tiers_text(tiers))
    with watching(progress, graph) as watch:
        session.patiently("pb_session_info", a_graph(graph), watch=watch)
    return Info(graph, json.loads(session.written()))
