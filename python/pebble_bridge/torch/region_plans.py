"""Plans of a region: several, from the fastest to the one that saves least between its forward and its backward pass.

Regions with equal operations and sizes, such as the layers of a transformer, are measured and planned once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pebble_bridge as pb

from . import measure, saved
from .capture import Captured
from .joint import Figures
from .lower import GENERATOR_STATE, Lowered, lower, moves_of
from .program import Program
from .runner import HostPool, Move, compile_step, ending_values, replayed_operations
from .step import Options, Planner

SHARES = (0.85, 0.7, 0.5, 0.3, 0.15)  # of what the fastest plan saves in addition to the most frugal one
RISING = (0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75)  # of what the fastest plan saves, until a plan is found
PEAKS = (0.8, 0.6)  # of the peak of a plan without a limit for it
PLANS = 16  # about as many plans are made for a region, in the whole time of the planner
SHORTEST, LONGEST = 1.0, 5.0  # seconds for one plan, at most
TICKS = 1_000_000  # of effort for one plan, which usually ends it much earlier, on a busy machine too


@dataclass(eq=False)
class Point:
    """A plan of a region, and its figures."""

    plan: Any
    figures: Figures


@dataclass(eq=False)
class Part:
    """A region's step with one of its plans; takes the place of `Planned` in an `Entry`."""

    captured: Captured
    host: HostPool
    halves: Any


class Kind:
    """Equal steps of regions: one measurement, and the same plans."""

    def __init__(self, captured: Captured, options: Options, serial: int) -> None:
        self.captured, self.serial = captured, serial
        self.points: list[Point] = []
        self.impossible = False  # the last plan that was not found: proved
        self.unfinished = False  # a plan was not found, and may exist
        self.tried: set[int] = set()  # limits for the peak
        self.planner = Planner.of(captured, options, lambda program: self.price(captured, options))
        self.lowered = self.lower()

    def price(self, captured: Captured, options: Options) -> None:
        if options.costs == "measured":
            measure.check_capture(captured)
            measure.profile(captured, repeats=0 if options.machine else 3)

    def lower(self) -> Lowered:
        return self.planner.lower()

    @property
    def figures(self) -> list[Figures]:
        return [point.figures for point in self.points]

    @property
    def fastest(self) -> Point:
        return min(self.points, key=lambda point: point.figures.extra)

    @property
    def frugal(self) -> Point:
        """The plan that saves least."""
        return min(self.points, key=lambda point: (point.figures.saved, sum(point.figures[:3])))

    # -- plans -----------------------------------------------------------------------------------------------------

    @property
    def gain(self) -> int:
        """How much less the most frugal plan saves than the fastest one, in bytes."""
        saves = [figures.saved for figures in self.figures]
        return max(saves) - min(saves) if saves else 0

    def make_points(self, time: float, kinds: int) -> None:
        """Plans with different limits for what is saved and for the peak, in a part of the planner's time."""
        seconds = min(LONGEST, max(SHORTEST, time / PLANS / kinds))
        fastest = self.plan(None, None, seconds) or self.plan(None, None, 4 * LONGEST)
        if fastest is None:
            return
        most = fastest.figures.saved
        frugal = next(filter(None, (self.plan(round(share * most), None, seconds) for share in RISING)), fastest)
        least = frugal.figures.saved
        between = [self.plan(least + round(share * (most - least)), None, seconds) for share in SHARES if most > least]
        for base in (fastest, between[len(between) // 2] if between else None, frugal):
            for share in PEAKS if base is not None else ():
                self.plan(base.figures.saved, round(share * inner_peak(base.figures)), seconds)
        self.prune()

    def plan(self, saved_limit: int | None, peak_limit: int | None, seconds: float) -> Point | None:
        """A plan that saves at most `saved_limit` bytes and whose two passes need at most `peak_limit`."""
        program = self.captured.program
        gate, usual = program.gate, program.gate.workspace
        outputs, tangents = sum(value.size for value in gate.reads), sum(value.size for value in gate.values)
        gate.workspace = 0
        try:
            lowered = self.lower()
            room = 4 * int(lowered.graph.written_peak) if peak_limit is None else peak_limit
            if saved_limit is not None and room > saved_limit + outputs:
                gate.workspace = room - saved_limit - outputs
                lowered = self.lower()
        finally:
            gate.workspace = usual
        fixed = int(lowered.graph.fixed_size)
        settings = self.planner.settings() | {"time": seconds, "ticks": TICKS}
        plan = pb.plan(lowered.graph, room + tangents + fixed, **settings)
        if plan.metrics is None:
            self.impossible = plan.outcome == "infeasible"
            self.unfinished |= not self.impossible
            return None
        point = Point(plan, figures_of(program, moves_of(lowered, plan.moves)))
        self.points.append(point)
        return point

    def add_points(self, peak_limit: int, time: float) -> bool:
        """More plans, with a limit for the peak; false if there are none."""
        if peak_limit in self.tried:
            return False
        self.tried.add(peak_limit)
        saves = sorted(figures.saved for figures in self.figures)
        limits = (None, saves[len(saves) // 2], saves[0])
        seconds = min(LONGEST, max(SHORTEST, time / PLANS))
        found = [self.plan(limit, peak_limit, seconds) for limit in limits]
        self.prune()
        return any(found)

    def least_peak(self, room: int) -> int:
        """A number above `room` if it is proved that no plan of the region has a peak of `room` bytes or less."""
        if room <= 0:
            return 1
        self.impossible = False
        return room + 1 if self.plan(None, room, SHORTEST) is None and self.impossible else 0

    def prune(self) -> None:
        """Drops plans that are in no figure better than another one."""
        kept: list[Point] = []
        for point in sorted(self.points, key=lambda one: (one.figures.extra, *one.figures)):
            if not any(all(a <= b for a, b in zip(one.figures, point.figures, strict=True)) for one in kept):
                kept.append(point)
        self.points = kept

    def part(self, captured: Captured, point: Point) -> Part:
        """The step of one of the equal regions with one of the plans."""
        lowered = lower(captured.program, random=self.planner.options.random)
        moves = moves_of(lowered, point.plan.moves)
        return Part(captured, HostPool(), compile_step(captured.program, moves, split=True))

    def give(self, captured: Captured) -> None:
        """Gives an equal step the costs and sizes that were measured for this one."""
        for one, other in zip(captured.program.values, self.captured.program.values, strict=True):
            one.size, one.loose = other.size, other.loose
        for one, other in zip(captured.program.operations, self.captured.program.operations, strict=True):
            one.cost, one.workspace = other.cost, other.workspace
            same = {value.index for value in other.over}
            one.over = {value: how for value, how in one.over.items() if value.index in same}


def key_of_kind(captured: Captured, options: Options) -> str:
    """Equal for equal steps; computed before their costs are measured."""
    measure.count_flops(captured)
    graph = lower(captured.program, random=options.random).graph.hash
    return hashlib.sha256(f"{graph} {saved.digest(captured.program)}".encode()).hexdigest()


def inner_peak(figures: Figures) -> int:
    return max(figures.forward, figures.saved + figures.backward)


def figures_of(program: Program, moves: Sequence[Move]) -> Figures:
    """What a plan holds between its passes, the peaks of both, and its recomputation."""
    gone, resident = ending_values(moves), {}
    saved = forward = now = peak = cost = 0
    for kind, what, argument in moves:
        if kind == "compute":
            if what.is_gate:
                forward = peak
                saved = sum(size for value, size in resident.items() if value not in gone)
                peak = now = saved
                resident = {value: size for value, size in resident.items() if value not in gone}
                continue
            cost += what.cost
            over = argument[1]
            size = sum(value.size for value in what.values) - (over.size if over is not None else 0)
            peak = max(peak, now + what.workspace + size)
            for value in argument[0]:
                resident[value] = value.size
            if over is not None:
                resident.pop(over, None)
        elif kind == "free":
            resident.pop(what, None)
        elif kind == "load":
            resident[what] = what.size
        now = sum(resident.values())
        peak = max(peak, now)
    states = sum(1 for _ in replayed_over_gate(moves)) * GENERATOR_STATE
    states += sum(program.fake[node].untyped_storage().nbytes() for node in program.rewritten)
    once = sum(operation.cost for operation in program.operations if not operation.is_gate)
    return Figures(saved + states, forward + states, max(0, peak - saved), max(0, cost - once))


def replayed_over_gate(moves: Sequence[Move]) -> Iterator[Any]:
    """Random operations that are computed before the gate and are recomputed."""
    replayed, drawn = replayed_operations(moves), set()
    for kind, what, _ in moves:
        if kind == "compute":
            if what.is_gate:
                break
            if what in replayed and what not in drawn:
                drawn.add(what)
                yield what
