"""Comparison of strategies."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ._library import lib
from ._session import Session
from .graph import Graph, a_graph
from .machines import machine_text
from .planning import MACHINE, cap_text, tiers_text, time_text, weights_text
from .progress import watching
from .results import Metrics, Plan, whole

__all__ = ["Comparison", "Row", "compare"]


@dataclass(frozen=True)
class Row:
    """One strategy in one game.

    Attributes
    ----------
    strategy, game, outcome : str
        Strategy, game and outcome, as in `Plan`.
    reason : str or None
        Why there is no plan.
    metrics : Metrics or None
        The figures of the plan.
    lower_bound : int or None
        No plan of the game has a smaller makespan.
    gap : float or None
        How far the makespan is above the lower bound, as a share of it.
    seconds : float
        The planning time.
    options : dict
        The strategy's settings.
    plan : Plan
        The plan itself.
    policy : str or None
        The eviction policy; None if it was not used.
    """

    strategy: str
    game: str
    outcome: str
    reason: str | None
    metrics: Metrics | None
    lower_bound: int | None
    gap: float | None
    seconds: float
    options: dict[str, str]
    plan: Plan
    policy: str | None = None

    def _is(self, strategy: str, game: str) -> bool:
        return (self.strategy, self.game) == (strategy, game)


class Comparison:
    """The result of `compare`. Iterates over its rows."""

    def __init__(self, graph: Graph, session: Session, handle: int, stopped: str | None) -> None:
        self.graph = graph
        self._session, self._handle = session, handle
        self.stopped = stopped

    @property
    def interrupted(self) -> bool:
        """Ctrl-C stopped the comparison before all strategies were run."""
        return self.stopped == "interrupt"

    @cached_property
    def document(self) -> dict[str, Any]:
        """The whole comparison, as ``pebble compare --json`` prints it."""
        return json.loads(Session().write("pb_session_write_comparison", self._handle))

    @cached_property
    def rows(self) -> list[Row]:
        """One row for each strategy and game, in the order of running."""
        found = []
        for k, row in enumerate(self.document["strategies"]):
            plan = Plan(self.graph, self._session, lib.pb_comparison_row(self._handle, k), self.stopped)
            bound = row["lower_bound"]
            found.append(
                Row(
                    row["strategy"],
                    row["game"],
                    row["outcome"],
                    row["reason"],
                    Metrics.of(row["metrics"]) if row["metrics"] else None,
                    None if bound is None else whole(bound),
                    row["gap"],
                    row["seconds"],
                    row["options"],
                    plan,
                    row["policy"],
                )
            )
        return found

    @property
    def winner(self) -> Row | None:
        """The cheapest row under the weights, over all games; None if nothing fits."""
        name, game = self.document["winner"], self.document["winner_game"]
        fitting = [(row.metrics.cost, k) for k, row in enumerate(self.rows) if row.metrics and row._is(name, game)]
        return self.rows[min(fitting)[1]] if fitting else None

    @property
    def cap(self) -> int | None:
        """The cap; None for no limit."""
        return None if self.document["cap"] is None else whole(self.document["cap"])

    @property
    def written_peak(self) -> int:
        """The peak in program order."""
        return whole(self.document["written_peak"])

    def ranked(self) -> list[Row]:
        """The rows by game, in each the cheapest first and rows without a plan last."""
        games = ("remat", "reversible", "tiered")
        return sorted(
            self.rows, key=lambda r: (games.index(r.game), r.metrics is None, r.metrics.cost if r.metrics else 0)
        )

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def _repr_html_(self) -> str:
        from .html import comparison_html

        return comparison_html(self)

    def plot(self, ax: Any = None) -> Any:
        """Plots peak versus work of every plan with matplotlib; returns the axes."""
        from .plots import plot_comparison

        return plot_comparison(self, ax)

    def __repr__(self) -> str:
        fitting, winner = sum(row.metrics is not None for row in self.rows), self.winner
        best = f"{winner.strategy} ({winner.game})" if winner else "none"
        return f"<Comparison: {fitting} of {len(self)} fit, winner {best}>"


def compare(
    graph: Graph,
    cap: int | str | None = MACHINE,
    *,
    machine: Any = None,
    game: str | None = None,
    strategies: str | Sequence[str] | None = None,
    policy: str | None = None,
    weights: Sequence[float | str] | str = (0, 0, 1),
    time: float | str | None = None,
    ticks: int | None = None,
    seed: int = 1,
    threads: int = 1,
    tiers: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
    progress: Any = None,
) -> Comparison:
    """Compares strategies under one cap.

    Parameters
    ----------
    graph, cap, machine, policy, weights, time, ticks, seed, threads, tiers, progress
        As in `plan`. All strategies share the time.
    game : str, optional
        The game. Default: every strategy in its own game: remat and reversible, and tiered if there are `tiers` or slow
        memories of a machine.
    strategies : str or sequence of str, optional
        Which strategies. Default: all except portfolios.

    Examples
    --------
    >>> import pebble_bridge as pb
    >>> c = pb.compare(pb.generate("adjoint-chain", 20), 8, strategies=["chain", "sqrt"])
    >>> c.winner.strategy, c.winner.metrics.recompute
    ('chain', 18)
    """
    if strategies is not None and not isinstance(strategies, str):
        strategies = ",".join(strategies)
    session = Session(
        cap=cap_text(cap, graph, machine),
        machine=machine_text(machine),
        game=game,
        strategy=strategies,
        policy=policy,
        weights=weights_text(weights),
        time=time_text(time),
        ticks=ticks,
        seed=seed,
        threads=threads,
        tiers=tiers_text(tiers),
    )
    with watching(progress, graph) as watch:
        handle = session.make_long("pb_session_compare", a_graph(graph), watch=watch)
    return Comparison(graph, session, handle, session.stopped())
