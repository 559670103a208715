"""HTML for notebooks: tables and drawings for light and dark pages, without scripts."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from .text import amount, percent

if TYPE_CHECKING:
    from .comparing import Comparison, Row
    from .explaining import Info
    from .graph import Graph
    from .results import Plan
    from .sweeping import Sweep

__all__ = ["comparison_html", "graph_html", "info_html", "plan_html", "sweep_html", "text_html"]

CAP = "#d1495b"  # readable on white and on black


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = (), best: int | None = None
) -> str:
    """A table of strings, which are escaped here. Columns in `numbers` are right-aligned, row `best` is bold."""

    def cells(tag: str, texts: Sequence[str], extra: str = "") -> str:
        parts = []
        for k, text in enumerate(texts):
            side = "right;white-space:nowrap" if k in numbers else "left"
            parts.append(f'<{tag} style="text-align:{side}{extra}">{escape(text)}</{tag}>')
        return "<tr>" + "".join(parts) + "</tr>"

    body = "".join(cells("td", row, ";font-weight:bold" if k == best else "") for k, row in enumerate(rows))
    return f"<table><thead>{cells('th', head)}</thead><tbody>{body}</tbody></table>"


def figures(pairs: Sequence[tuple[str, str]]) -> str:
    """A table of names and values."""
    rows = "".join(
        f'<tr><td style="text-align:left;opacity:.7">{escape(k)}</td><td style="text-align:left">{escape(v)}</td></tr>'
        for k, v in pairs
    )
    return f"<table><tbody>{rows}</tbody></table>"


def text_html(text: str) -> str:
    """Preformatted text."""
    return f'<pre style="white-space:pre-wrap">{escape(text)}</pre>'


# ---- drawings ----


def drawing(svg: str, text: str) -> str:
    """One of the library's drawings, as an image, so that its styles do not leak."""
    source = base64.b64encode(svg.encode()).decode()
    return f'<img style="max-width:100%" alt="{escape(text)}" src="data:image/svg+xml;base64,{source}"/>'


# ---- results ----


def plan_html(plan: Plan) -> str:
    """A plan: its figures and its memory over time."""
    g = plan.graph
    if not plan:
        colour = CAP if plan.outcome == "infeasible" else "inherit"
        return f'<div><b style="color:{colour}">{plan.outcome}</b>: {escape(plan.reason or "")}</div>'
    m = plan._measured()
    cap = "no cap" if plan.cap is None else f"cap {amount(plan.cap, g.size_unit)}"
    chosen = f", chosen by {plan.asked}" if plan.asked and plan.asked.split(":")[0] != plan.strategy else ""
    head = f"{plan.outcome} by {plan.strategy} in the {plan.game} game{chosen}"
    note = f'<div style="opacity:.7">{escape(plan.note)}</div>' if plan.note else ""
    if plan.interrupted:
        note += '<div style="opacity:.7">interrupted: the best plan so far</div>'
    pairs = [
        ("peak", f"{amount(m.peak, g.size_unit)}, {cap}; program order {amount(g.written_peak, g.size_unit)}"),
        ("work", amount(m.work, g.cost_unit)),
        ("overhead", f"{percent(m.overhead)} more than computing each value once, {m.recompute_count:,} recomputed"),
    ]
    if m.io:
        pairs.insert(2, ("transfers", amount(m.io, g.cost_unit)))
    if m.uncompute:
        pairs.append(("uncompute", amount(m.uncompute, g.cost_unit)))
    if plan.lower_bound is not None:
        gap = "" if m.gap is None else f", gap {percent(m.gap)}"
        pairs.append(("lower bound", amount(plan.lower_bound, g.cost_unit) + gap))
    pairs.append(("moves", f"{m.moves:,}"))
    return f"<div><b>{escape(head)}</b>{note}{figures(pairs)}{drawing(plan.to_svg(), 'memory over time')}</div>"


def _row_texts(comparison: Comparison, row: Row) -> list[str]:
    g, m = comparison.graph, row.metrics
    if m is None:
        return [row.strategy, row.game, row.outcome, "", "", "", "", row.reason or ""]
    gap = "" if row.gap is None else percent(row.gap)
    peak = amount(m.peak, g.size_unit if g.size_unit == "byte" else "")
    return [row.strategy, row.game, row.outcome, peak, f"{m.makespan:,}", percent(m.overhead), gap, ""]


def comparison_html(comparison: Comparison) -> str:
    """A comparison as a table, with the winner in bold. Rows that do not apply are omitted if others do."""
    g, winner = comparison.graph, comparison.winner
    shown = [row for row in comparison.ranked() if row.metrics or not (row.reason or "").startswith("does not apply")]
    shown = shown or comparison.ranked()
    head = ["strategy", "game", "outcome", "peak", f"work + io ({g.cost_unit})", "overhead", "gap", "why not"]
    best = next((k for k, row in enumerate(shown) if row is winner), None)
    body = table(head, [_row_texts(comparison, row) for row in shown], numbers=(3, 4, 5, 6), best=best)
    cap = "no cap" if comparison.cap is None else f"cap {amount(comparison.cap, g.size_unit)}"
    title = f"{g.name}: {cap}; program order needs {amount(comparison.written_peak, g.size_unit)}"
    end = f"winner: {winner.strategy} in the {winner.game} game" if winner else "no strategy fits: raise the cap"
    return f"<div><b>{escape(title)}</b>{body}<div>{escape(end)}</div></div>"


def sweep_html(sweep: Sweep) -> str:
    """The library's drawing of a sweep, and its front as a table."""
    g = sweep.graph
    rows = [
        [
            "none" if c.cap is None else amount(c.cap, g.size_unit),
            amount(m.peak, g.size_unit),
            f"{m.makespan:,}",
            percent(m.overhead),
            c.chosen or c.strategy,
            c.outcome,
        ]
        for c in sweep.front
        if (m := c.metrics)
    ]
    head = ["cap", "peak", f"work + io ({g.cost_unit})", "overhead", "strategy", "outcome"]
    knee = sweep.knee
    best = next((k for k, c in enumerate(sweep.front) if knee and c.index == knee.index), None)
    return (
        f"<div>{drawing(sweep.to_svg(), 'overhead versus cap')}"
        f"<details><summary>{len(rows)} plans on the Pareto front</summary>"
        f"{table(head, rows, numbers=(0, 1, 2, 3), best=best)}</details></div>"
    )


def graph_html(graph: Graph) -> str:
    """The figures of a graph."""
    pairs = [
        ("nodes, edges", f"{graph.node_count:,}, {graph.edge_count:,}"),
        ("shape", f"{graph.shape}, {graph.depth:,} deep"),
        ("work", amount(graph.needed_cost, graph.cost_unit)),
        ("sizes", f"{amount(graph.total_size, graph.size_unit)} in total"),
        ("peak in program order", amount(graph.written_peak, graph.size_unit)),
    ]
    return f"<div><b>{escape(graph.name)}</b>{figures(pairs)}</div>"


def info_html(info: Info) -> str:
    """The figures of a graph, and the smallest caps of its games."""
    unit = info.graph.size_unit

    def share(cap: int) -> str:
        return percent(cap / info.written_peak) if info.written_peak else ""

    rows: list[Any] = []
    for g in info.games:
        why = f"{g.proved_by or ''} {'of ' + g.proved_at if g.proved_at else ''}".strip()
        known = ["?", "", ""] if g.known is None else [amount(g.known, unit), share(g.known), g.strategy or ""]
        proved = "infeasible" if g.impossible else amount(g.proved, unit)
        rows.append([g.game, proved, why, *known])
    head = ["game", "lower bound", "limited by", "smallest known plan", "% of peak", "strategy"]
    return graph_html(info.graph) + table(head, rows, numbers=(1, 3, 4))
