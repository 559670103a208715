"""What is planned in a model with regions, and what runs as eager code, with the memory of each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

from .joint import EAGER, Figures
from .report import table
from .units import bytes_text, time_text


class Metrics(NamedTuple):
    """The figures of a step, as those of a plan."""

    peak: int
    overhead: float  # recomputation, of the time of the step without a plan
    gap: float | None  # not known


@dataclass
class Summary:
    """In place of the schedule of a whole step."""

    metrics: Metrics
    outcome: str = "found"
    strategy: str = "regions"
    machine: Any = None


@dataclass
class RegionCall:
    """A call of a region in a step."""

    name: str
    number: int  # from 0, if the region is called several times
    figures: Figures
    fastest: Figures
    operations: int
    held: int  # what eager code holds for the backward pass after it, until the next region


class PlannedRegions:
    """A step of a model of which parts are planned.

    Attributes
    ----------
    budget, plain_peak, planned_peak, measured_peak : int
        As those of `Planned`.
    calls : list of RegionCall
        The calls of regions in the order of the forward pass.
    eager : list of (str, str)
        Modules that are not planned, and why.
    eager_most : int
        The most that the code outside of regions holds, with the inputs of regions and the gradients.
    """

    def __init__(self, regions: Any, layout: Any, choice: dict, planned_peak: int, budget: int, measured: int) -> None:
        self.budget, self.plain_peak, self.planned_peak, self.measured_peak = (
            budget, layout.plain_peak, planned_peak, measured,
        )  # fmt: skip
        self.calls: list[RegionCall] = []
        numbers: Counter[str] = Counter()
        for site, point in choice.items():
            kind = layout.kinds[site]
            count = len(kind.captured.program.operations)
            held = max(path.growth.get(site, 0) for path in layout.paths)
            self.calls.append(
                RegionCall(site.name, numbers[site.name], point.figures, kind.fastest.figures, count, held)
            )
            numbers[site.name] += 1
        self.reason = str(regions.error)
        self.eager = [(region.name, region.reason) for region in regions.eager()]
        self.paths = len(layout.paths)
        moments = [one for path in layout.paths for one in path.moments]
        self.eager_most = max((one.base for one in moments if one.kind == EAGER), default=0)
        self.measured_costs = layout.plain_peak is not None
        extra = sum(call.figures.extra for call in self.calls)
        once = layout.plain_time * 1e9 if self.measured_costs else layout.cost_of_regions()
        self.plan = Summary(Metrics(planned_peak, extra / once if once else 0.0, None))

    def one_line(self) -> str:
        share = ""
        if self.plain_peak:
            share = f" ({100 * self.budget / self.plain_peak:.0f} % of {bytes_text(self.plain_peak)} without a plan)"
        names = len({call.name for call in self.calls})
        return (
            f"peak {bytes_text(self.measured_peak)} measured, {bytes_text(self.planned_peak)} planned, budget "
            f"{bytes_text(self.budget)}{share}; {names} planned region{'s' if names != 1 else ''} with eager code in "
            f"between, {100 * self.plan.metrics.overhead:.1f} % extra work planned"
        )

    def report(self) -> str:
        """The regions with their memory, and what is not planned."""
        time = time_text if self.measured_costs else "{:.3g}".format
        rows = [["region", "call", "saves", "of", "peak", "backward", "extra", "eager code then holds"]]
        for call in self.calls:
            one = call.figures
            rows.append(
                [
                    call.name, str(call.number + 1), bytes_text(one.saved), bytes_text(call.fastest.saved),
                    bytes_text(one.forward), bytes_text(one.backward), time(one.extra) if one.extra else "-",
                    f"+{bytes_text(call.held)}",
                ]
            )  # fmt: skip
        lines = [self.one_line(), f"the model cannot be captured as a whole: {self.reason}", "", *table(rows), ""]
        lines.append(
            f"eager code holds up to {bytes_text(self.eager_most)}, with the inputs of regions and the gradients"
            + (f"; {self.paths} paths were measured" if self.paths > 1 else "")
        )
        lines += [f"not planned: {name}: {reason}" for name, reason in self.eager]
        return "\n".join(lines)

    def explain(self, module: str) -> str:
        """What was decided about a region, or why a module is not planned."""
        found = [call for call in self.calls if call.name == module or module.startswith(call.name + ".")]
        lines = [
            f"{call.name}, call {call.number + 1}: saves {bytes_text(call.figures.saved)} of "
            f"{bytes_text(call.fastest.saved)} for the backward pass; {call.operations} operations"
            for call in found
        ]
        lines += [f"{name} is not planned: {reason}" for name, reason in self.eager if name == module]
        return "\n".join(lines) or f'"{module}" is not planned: it belongs to the code between regions'

    def __repr__(self) -> str:
        return f"<PlannedRegions {self.one_line()}>"
