"""Plots with matplotlib, which the rest of the package does not need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import PebbleError
from .text import amount

if TYPE_CHECKING:
    from .comparing import Comparison
    from .results import Plan
    from .sweeping import Sweep

__all__ = ["MissingMatplotlib", "plot_comparison", "plot_plan", "plot_sweep"]


class MissingMatplotlib(PebbleError, ImportError):
    """matplotlib is not installed."""


def _axes(ax: Any) -> Any:
    """The axes to draw on: the given ones, or new ones."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingMatplotlib("plots need matplotlib: pip install matplotlib") from None
    return pyplot.subplots(figsize=(8, 3.6), layout="constrained")[1]


def _size_axis(axis: Any, unit: str) -> None:
    axis.set_major_formatter(lambda value, _: amount(int(max(value, 0)), unit) if unit == "byte" else f"{value:,.0f}")


def plot_plan(plan: Plan, ax: Any = None) -> Any:
    """Memory over time, with the cap."""
    m = plan._measured()
    ax = _axes(ax)
    g = plan.graph
    time, fast = plan.memory()
    begins = [0, *(int(t) for t in time[:-1])] if len(time) else []
    # Each move is a step that begins at the end of the previous one; moves without cost are jumps.
    edges = [*begins, int(time[-1])] if len(time) else [0, 0]
    heights = [int(x) for x in fast] or [0]
    ax.stairs(heights, edges, fill=True, alpha=0.6, label="memory")
    if plan.cap is not None:
        ax.axhline(plan.cap, linestyle="--", color="tab:red", label=f"cap {amount(plan.cap, g.size_unit)}")
    ax.set_xlabel(f"time ({g.cost_unit})")
    ax.set_ylabel("memory" if g.size_unit == "byte" else f"memory ({g.size_unit})")
    _size_axis(ax.yaxis, g.size_unit)
    ax.set_title(f"{plan.outcome} by {plan.strategy}: peak {amount(m.peak, g.size_unit)}")
    ax.legend(loc="lower right")
    return ax


def plot_sweep(sweep: Sweep, ax: Any = None) -> Any:
    """Overhead versus cap, a line for each strategy, with the knee marked."""
    ax = _axes(ax)
    g = sweep.graph
    for name, cells in sweep.lines().items():
        points = [(c.cap, 100 * c.metrics.overhead) for c in cells if c.metrics and c.cap is not None]
        ax.step([cap for cap, _ in points], [overhead for _, overhead in points], where="post", label=name)
    knee = sweep.knee
    if knee is not None and knee.metrics and knee.cap is not None:
        ax.plot([knee.cap], [100 * knee.metrics.overhead], "o", fillstyle="none", markersize=10, label="knee")
    ax.set_xlabel("cap" if g.size_unit == "byte" else f"cap ({g.size_unit})")
    _size_axis(ax.xaxis, g.size_unit)
    ax.set_ylabel("extra work (%)")
    ax.set_title(g.name)
    if ax.get_legend_handles_labels()[0]:
        ax.legend()
    return ax


def plot_comparison(comparison: Comparison, ax: Any = None) -> Any:
    """Peak versus work + io of every plan."""
    ax = _axes(ax)
    g = comparison.graph
    for game in ("remat", "reversible", "tiered"):
        fitting = [(row.strategy, row.metrics) for row in comparison.rows if row.metrics and row.game == game]
        if fitting:
            ax.scatter([m.peak for _, m in fitting], [m.makespan for _, m in fitting], label=game)
        for strategy, m in fitting:
            ax.annotate(strategy, (m.peak, m.makespan), fontsize=7)
    if comparison.cap is not None:
        ax.axvline(comparison.cap, linestyle="--", color="tab:red", label="cap")
    ax.set_xlabel("peak" if g.size_unit == "byte" else f"peak ({g.size_unit})")
    _size_axis(ax.xaxis, g.size_unit)
    ax.set_ylabel(f"work + io ({g.cost_unit})")
    ax.set_title(g.name)
    if ax.get_legend_handles_labels()[0]:
        ax.legend()
    return ax
