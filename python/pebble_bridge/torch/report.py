"""Reports on a plan, by module, with the figures of each decision."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .program import Operation, Value
from .units import bytes_text, time_text

if TYPE_CHECKING:
    from .step import Planned


@dataclass
class Decision:
    """The decision about one forward value that the backward pass reads, or that is computed more than once."""

    value: Value
    times: int  # number of computations of its operation
    stored: bool
    overwritten: bool
    once: bool  # no plan recomputes it

    @property
    def kind(self) -> str:
        if self.stored:
            return "stored"
        return "recomputed" if self.times > 1 else "kept"

    def why(self, unit: str) -> str:
        operation = self.value.operation
        cost = time_text(operation.cost) if unit != "flop" else f"{operation.cost:.3g} flop"
        size = bytes_text(self.value.size)
        if operation.once and self.once and self.kind == "kept":
            return f"{size}; {'random' if operation.random else 'with effects'}: computed once"
        if self.kind == "kept":
            return f"{size}; recomputing it would cost {cost}"
        if self.kind == "stored":
            return f"{size} on the host; recomputing it would cost {cost}"
        often = "once" if self.times == 2 else f"{self.times - 1} times"
        return f"recomputed {often}: +{cost}{' each' if self.times > 2 else ''}, frees {size}"


@dataclass
class Module:
    """All decisions about the values of one module."""

    name: str
    decisions: list[Decision] = field(default_factory=list)

    def bytes(self, kind: str) -> int:
        return sum(decision.value.size for decision in self.decisions if decision.kind == kind)

    def extra(self) -> int:
        seen = {decision.value.operation: decision.times for decision in self.decisions}
        return sum((times - 1) * operation.cost for operation, times in seen.items())


def decisions(planned: Planned) -> list[Decision]:
    """Every decision of a plan about forward values, in program order."""
    times: Counter[Operation] = Counter()
    stored: set[Value] = set()
    overwritten: set[Value] = set()
    for kind, what, argument in planned.moves:
        if kind == "compute":
            times[what] += 1
            if argument[1] is not None:
                overwritten.add(argument[1])
        elif kind == "store":
            stored.add(what)
    found = []
    for value in planned.captured.program.values:
        operation = value.operation
        late = any(reader.backward for reader in value.readers)
        again = times[operation] > 1 and value is operation.main
        if not operation.backward and value.size and (late or again):
            once = operation in planned.lowered.once
            found.append(Decision(value, times[operation], value in stored, value in overwritten, once))
    return found


def by_module(planned: Planned) -> list[Module]:
    modules: dict[str, Module] = {}
    for decision in decisions(planned):
        name = decision.value.operation.module or "(model)"
        modules.setdefault(name, Module(name)).decisions.append(decision)
    return list(modules.values())


def unit_of(planned: Planned) -> str:
    return "flop" if planned.plan.machine is None and planned.plain_peak is None else "ns"


def prices_of(planned: Planned) -> str:
    """Where the costs of the plan come from."""
    machine = planned.plan.machine
    if machine is not None:
        return f"times of machine {machine.name}"
    if planned.plain_peak is None:
        return "flops counted"
    return "times estimated from other shapes" if planned.estimated else "times measured here"


def one_line(planned: Planned) -> str:
    metrics, plan = planned.plan.metrics, planned.plan
    plain = (
        f" ({100 * planned.budget / planned.plain_peak:.0f} % of {bytes_text(planned.plain_peak)} without a plan)"
        if planned.plain_peak
        else ""
    )
    host = f", {bytes_text(planned.host_peak)} on the host" if planned.host_peak else ""
    equal = (
        "equal"
        if planned.measured_peak == planned.planned_peak
        else f"{planned.measured_peak - planned.planned_peak:+,d} B"
    )
    source = "moves of another shape" if planned.borrowed else f"{plan.outcome} by {plan.strategy}"
    return (
        f"peak {bytes_text(planned.measured_peak)} measured, {bytes_text(planned.planned_peak)} planned ({equal}), "
        f"budget {bytes_text(planned.budget)}{plain}{host}; "
        f"{100 * metrics.overhead:.1f} % extra work planned ({prices_of(planned)}), {source}"
    )


def table(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = (
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=False)]
            + [row[-1]]
        )
        lines.append("  ".join(cells).rstrip())
    return lines


def text(planned: Planned) -> str:
    """The report: peaks, then a line for each module with values that the backward pass reads."""
    unit = unit_of(planned)
    rows = [["module", "kept", "recomputed", "stored", "extra", "why"]]
    modules = by_module(planned)
    for module in modules:
        main = max(module.decisions, key=lambda decision: decision.value.size)
        extra = module.extra()
        rows.append(
            [
                module.name,
                *(
                    bytes_text(module.bytes(kind)) if module.bytes(kind) else "-"
                    for kind in ("kept", "recomputed", "stored")
                ),
                (time_text(extra) if unit == "ns" else f"{extra:.3g}") if extra else "-",
                f"{main.value.operation.target}: {main.why(unit)}",
            ]
        )
    count = Counter(kind for kind, _, _ in planned.moves)
    over = sum(1 for kind, _, argument in planned.moves if kind == "compute" and argument[1] is not None)
    lines = [
        one_line(planned),
        f"{count['compute']} computations for {len(planned.captured.program.operations)} operations, {over} of them "
        f"in place; {count['store']} stores, {count['load']} loads",
        "",
    ]
    return "\n".join(lines + table(rows))


def explain(planned: Planned, module: str) -> str:
    """Each decision about the values of `module` and its submodules."""
    unit, lines = unit_of(planned), []
    for decision in decisions(planned):
        name = decision.value.operation.module
        if name == module or name.startswith(module + ".") or (not module and not name):
            readers = sum(reader.backward for reader in decision.value.readers)
            lines.append(
                f"{name or '(model)'}: {decision.value.operation.target} ({decision.value.operation.name}) is "
                f"{decision.kind}: {decision.why(unit)}; read {readers} time{'s' if readers != 1 else ''} "
                "by the backward pass" + ("; then its memory is reused in place" if decision.overwritten else "")
            )
    if lines:
        return "\n".join(lines)
    known = sorted({operation.module for operation in planned.captured.program.operations} - {""})
    return f'the backward pass reads no value of "{module}"; choose one of: {", ".join(known)}'
