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

__all__ = ["comparison_html", "graph_html", "info_html", "memory_svg", "plan_html", "sweep_html", "text_html"]

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 680, 190, 8, 120, 14, 24
FAST, SLOW, CAP = "#3b82c4", "#c98a2b", "#d1495b"  # readable on white and on black


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


# ---- memory over time ----


def _path(values: Sequence[int], top: int) -> str:
    """The outline of a bar chart without gaps, closed at the bottom."""
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    steps = [f"M{LEFT} {HEIGHT - BOTTOM}"]
    for k, value in enumerate(values):
        y = HEIGHT - BOTTOM - high * int(value) / top
        steps.append(f"V{y:.1f}H{LEFT + wide * (k + 1) / len(values):.1f}")
    steps.append(f"V{HEIGHT - BOTTOM}Z")
    return "".join(steps)


def _mark(value: int, top: int, label: str, colour: str, dashes: str, lift: float) -> str:
    y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top
    end = WIDTH - RIGHT
    return (
        f'<line x1="{LEFT}" x2="{end}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}" stroke-dasharray="{dashes}"/>'
        f'<text x="{end + 4}" y="{y + lift:.1f}" fill="{colour}" font-size="11">{escape(label)}</text>'
    )


def memory_svg(plan: Plan) -> str:
    """Memory over time as a drawing, with the cap and the peak."""
    m = plan._measured()
    unit = plan.graph.size_unit
    axis = "time" if m.makespan else "moves"
    length = m.makespan if m.makespan else m.moves
    buckets = max(1, min(WIDTH - LEFT - RIGHT, 4 * m.moves))
    fast, slow = plan.profile(buckets, axis)
    top = max(m.peak, plan.cap or 0, 1)
    close = plan.cap is not None and abs(plan.cap - m.peak) * 10 < top  # the labels would touch
    parts = [f'<path d="{_path(fast, top)}" fill="{FAST}" fill-opacity=".55"/>']
    if max((int(x) for x in slow), default=0):
        # Slow memory may be many times larger than fast memory: it has its own scale and is drawn as a line.
        largest = max(int(x) for x in slow)
        parts.append(f'<path d="{_path(slow, largest)}" fill="none" stroke="{SLOW}"/>')
        parts.append(
            f'<text x="{WIDTH - RIGHT + 4}" y="{HEIGHT - BOTTOM - 4}" fill="{SLOW}" font-size="11">'
            f"slow: {escape(amount(largest, unit))}</text>"
        )
    parts.append(_mark(m.peak, top, f"peak {amount(m.peak, unit)}", "currentColor", "2 3", 12 if close else 4))
    if plan.cap is not None:
        parts.append(_mark(plan.cap, top, f"cap {amount(plan.cap, unit)}", CAP, "6 3", 1 if close else 4))
    floor = HEIGHT - BOTTOM
    end = amount(length, plan.graph.cost_unit) if axis == "time" else f"{length:,} moves"
    parts.append(f'<path d="M{LEFT} {floor}H{WIDTH - RIGHT}" stroke="currentColor" opacity=".5"/>')
    parts.append(
        f'<text x="{WIDTH - RIGHT}" y="{floor + 15}" text-anchor="end" fill="currentColor" font-size="11">'
        f"{escape(end)}</text>"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" '
        f'style="max-width:100%;height:auto;font-family:sans-serif"><title>memory over time</title>'
        + "".join(parts)
        + "</svg>"
    )


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
    return f"<div><b>{escape(head)}</b>{note}{figures(pairs)}{memory_svg(plan)}</div>"


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
    drawing = base64.b64encode(sweep.to_svg().encode()).decode()  # as an image, so that its styles do not leak
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
        f'<div><img style="max-width:100%" alt="overhead versus cap" src="data:image/svg+xml;base64,{drawing}"/>'
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
