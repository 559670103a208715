"""What a policy keeps and costs, and what it cannot express."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from .. import Plan
from . import _adapter
from ._capture import Captured
from ._naming import NAME
from ._policy import Choice, Model, Replay


@dataclass(frozen=True)
class Saved:
    """A value that is kept from the forward to the backward pass.

    `name` is its `checkpoint_name`, or None if it is kept because its part of the function is outside of checkpoints.
    """

    name: str | None
    label: str
    bytes: int
    where: str


@dataclass
class Report:
    """What a policy keeps and costs, compared with the unrestricted plan.

    Attributes
    ----------
    budget : int or None
        The budget in bytes.
    written_peak, written_work : int
        Peak and work in program order: nothing is recomputed.
    peak, work : int
        The policy's schedule, replayed by the library's verifier.
    fixed : int
        Bytes of arguments and results, part of every peak.
    saved : list of Saved
    recomputed : int
        The number of recomputations.
    segments : int
        The number of `jax.checkpoint` segments.
    plan : Plan or None
        The unrestricted plan for the same budget.
    lost : list of str
        What that plan does and a policy cannot express.
    notes : list of str
        What the cost model ignores.
    """

    budget: int | None
    written_peak: int
    written_work: int
    peak: int
    work: int
    fixed: int
    cost_unit: str
    saved: list[Saved]
    recomputed: int
    segments: int
    plan: Plan | None = None
    lost: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def saved_bytes(self) -> int:
        """Bytes that are kept from the forward to the backward pass."""
        return sum(s.bytes for s in self.saved)

    @property
    def overhead(self) -> float:
        """Extra work, as a share of computing everything once."""
        return self.work / self.written_work - 1 if self.written_work else 0.0

    def show(self, height: int = 640) -> Any:
        """The unrestricted plan, playing: a frame in a notebook; elsewhere ``.open()`` shows it in the browser."""
        if self.plan is None:
            raise ValueError("there is no unrestricted plan to show: the policy recomputes nothing, or compare is 0")
        return self.plan.show(height)

    def __str__(self) -> str:
        lines = [
            f"policy: peak {_bytes(self.peak)} (program order {_bytes(self.written_peak)}; both include "
            f"{_bytes(self.fixed)} of arguments and results), {100 * self.overhead:.1f} % extra work",
            f"  saves {len(self.saved)} values, {_bytes(self.saved_bytes)}; recomputes {self.recomputed} in "
            f"{self.segments} segment{'s' * (self.segments != 1)}",
        ]
        if self.plan:
            m = self.plan.metrics
            more = self.work / m.work - 1 if m.work else 0.0
            lines.append(
                f"unrestricted plan: peak {_bytes(m.peak)}, {100 * (m.work / self.written_work - 1):.1f} % "
                f"extra work; the policy needs {100 * more:.1f} % more work than this plan"
            )
        lines += [f"  a policy cannot express: {what}" for what in self.lost]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


def _bytes(n: int) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < 1024 or unit == "GiB":
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1024
    return ""


def make_report(
    captured: Captured, model: Model, choice: Choice, replay: Replay, limit: int | None, segments: int
) -> Report:
    graph, nodes = captured.graph, captured.nodes
    named = choice.saved | model.results
    saved = [
        Saved(
            f"{NAME}{nodes[v].forward}" if v in named else None,
            nodes[v].label,
            nodes[v].size,
            _adapter.where(nodes[v].equation.eqn),
        )
        for v in replay.kept
    ]
    plain = model.replay(Choice(frozenset(), 0))
    return Report(
        limit,
        plain.peak,
        plain.work,
        replay.peak,
        replay.work,
        model.fixed,
        graph.cost_unit,
        saved,
        len(replay.recomputed),
        segments,
        notes=list(captured.notes),
    )


def compare_plan(report: Report, captured: Captured, model: Model, found: Plan) -> None:
    if found and found.metrics.work <= report.work:
        report.plan = found
        report.lost = _lost(captured, model, found)
    else:
        report.notes.append("nothing: the policy's own schedule is the cheapest plan that was found.")


def _lost(captured: Captured, model: Model, found: Plan) -> list[str]:
    """What an unrestricted plan does that a policy cannot express, with counts."""
    nodes, times, early, first = captured.nodes, Counter(), Counter(), []
    resident: set[int] = set()
    held: set[int] | None = None
    for move in found.moves:
        if move.op == "free":
            resident.discard(move.node)
            continue
        v = move.node
        if nodes[v].backward:
            held = set(resident) if held is None else held
            first += [v] if not times[v] else []
        early[v] += held is None
        times[v] += 1
        resident.add(v)
        resident.update(move.also)
        resident.discard(move.over)
    lost = []
    often = sum(n > 2 for n in times.values())
    if often:
        lost.append(f"values that are computed more than twice: {often}. A policy recomputes each at most once.")
    twice = sum(early[v] > 1 for v in early)
    if twice:
        lost.append(f"values that are dropped and recomputed within the forward pass: {twice}.")
    recomputed = sum(times[v] > 1 for v in model.back)
    if recomputed:
        lost.append(f"values of the backward pass that are computed twice: {recomputed}.")
    if first != sorted(first):
        lost.append("the backward pass runs in another order than in JAX.")
    unnamed = [v for v in (held or ()) if nodes[v].forward is None and not nodes[v].backward and nodes[v].size]
    if unnamed:
        lost.append(
            "kept values that JAX computes only for the backward pass, which have no names: "
            f"{len(unnamed)} ({_bytes(sum(nodes[v].size for v in unnamed))})."
        )
    return lost
