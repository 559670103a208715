"""Plans of one model for calls of different shapes: what is known about one helps with the next.

A step of another shape usually has the same operations in the same order. Then its costs follow from measured ones, and
it runs the moves of a known plan, or of one that is found quickly, while a thread plans it with the full time. Nothing
of torch runs in that thread. Every plan runs once before it is used: its peak must be within the budget.
"""

from __future__ import annotations

import threading
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pebble_bridge as pb
import torch
from pebble_bridge.planning import _judge_file

from . import _adapter, measure, saved
from .capture import Captured, example_tangent
from .errors import DoesNotFit, PeakExceeded
from .lower import Lowered, lower, moves_of
from .program import Program
from .saved import Known
from .step import ROUNDS, Options, Planned, Planner
from .units import parse_budget

QUICK = 0.3  # seconds for a plan that a step waits for, when a better one follows
KNOWN = 256  # plans that are remembered
NEAREST = 4  # plans of other shapes whose moves are tried


@dataclass(eq=False)
class Request:
    """A graph to plan in the background; `plan` is None until then."""

    lowered: Lowered
    budget: int
    settings: dict[str, Any]
    start: Any
    round: int = 1
    plan: Any = None
    error: Exception | None = None

    def run(self) -> None:
        try:
            self.plan = pb.plan(self.lowered.graph, self.budget, start=self.start, **self.settings)
        except Exception as error:  # the plan in use stays
            self.error = error

    @property
    def ready(self) -> bool:
        return self.plan is not None or self.error is not None


class Background:
    """A thread that plans one request after the other, the newest first; it ends when there are none."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.waiting: deque[Request] = deque()
        self.working: Request | None = None

    def add(self, request: Request) -> None:
        with self.changed:
            self.waiting.append(request)
            if self.working is None:
                self.working = self.waiting.pop()
                threading.Thread(target=self.run, name="pebble_bridge plans", daemon=True).start()

    def run(self) -> None:
        while self.working is not None:
            self.working.run()
            with self.changed:
                self.working = self.waiting.pop() if self.waiting else None
                self.changed.notify_all()

    def drop(self, request: Request) -> None:
        """Forgets a request whose step is no longer in use."""
        with self.changed:
            if request in self.waiting:
                self.waiting.remove(request)

    def wait(self, request: Request) -> None:
        with self.changed:
            self.changed.wait_for(lambda: request.ready)


BACKGROUND = Background()


@dataclass(eq=False)
class Choice:
    """The plan in use for a step, and the request for a better one."""

    planner: Planner
    planned: Planned
    program: str  # `Known.program` and `Known.graph`
    graph: str
    sizes: list[int]  # of values, as captured
    tried: int = 0  # the budget for which the planner has had its full time, or is at work
    request: Request | None = None


class Shapes:
    """The plans of one model.

    Parameters
    ----------
    limit : int, float or str
        The budget. A percentage is of the largest peak without a plan among all steps so far.
    options : Options
        How to plan.
    cache : path, optional
        A folder where plans are found and kept.
    """

    def __init__(self, limit: int | float | str, options: Options, cache: Any = None) -> None:
        self.limit, self.options, self.cache = limit, options, None if cache is None else Path(cache)
        self.key = saved.options_text(options)
        self.known: dict[tuple[str, int], Known] = {}
        self.compared: set[str] = set()  # moves whose results were compared with those in program order
        self.whole = self.budget = 0
        self.tier: dict[str, int] | None = None
        if self.cache is not None:
            self.add(saved.read_folder(self.cache))

    def add(self, known: Iterable[Known]) -> int:
        """Adds plans that were made with the same options; returns how many."""
        same = {one.key: one for one in known if one.options == self.key}
        self.known |= same
        return len(same)

    def copy(self) -> Shapes:
        """For a copy of the model."""
        other = Shapes(self.limit, self.options)
        other.cache, other.known, other.tier = self.cache, dict(self.known), self.tier
        return other

    # -- a new step ------------------------------------------------------------------------------------------------

    def plan(self, captured: Captured) -> Choice:
        """A plan for a captured step. The first step is measured and planned with the full time. Later ones get a plan
        quickly, and a request for a better one; they are measured if no known step has the same operations."""
        measure.count_flops(captured)
        graph, program = lower(captured.program).graph.hash, saved.digest(captured.program)
        sizes = [value.size for value in captured.program.values]
        kin = sorted((one for one in self.known.values() if one.program == program), key=lambda one: one.size)
        planner = Planner.of(captured, self.options, (lambda p: self.estimate(p, graph, kin)) if kin else None)
        planner.tier = self.tier
        lowered = planner.lower()
        self.see(planner, lowered, kin)
        known = self.known.get((graph, self.budget))
        planned = self.borrow(planner, lowered, graph, kin)
        final = planned is not None and known is not None and known.final
        if planned is None and self.known:
            planned = self.quick(planner)
        elif planned is None:
            planned, final = planner.fit(self.budget), True
        planned.estimated = bool(kin) and not (known is not None and known.measured)
        self.tier = planner.tier
        choice = Choice(planner, planned, program, graph, sizes)
        if not final and planned.plan.metrics.overhead > 0:
            self.ask(choice, planned.lowered, planned.plan, 1)
        choice.tried = self.budget
        self.remember(choice)
        forget_examples(captured)
        return choice

    def see(self, planner: Planner, lowered: Lowered, kin: list[Known]) -> None:
        """Computes the budget in bytes, now that there is another step."""
        order = int(lowered.graph.written_peak)
        if planner.plain_peak is None and kin and self.options.costs == "measured":
            near = min(kin, key=lambda one: abs(one.size - order))
            planner.plain_peak = round(near.plain_peak * order / max(1, near.order_peak))
        self.whole = max(self.whole, order if planner.plain_peak is None else planner.plain_peak)
        self.budget = parse_budget(self.limit, self.whole)

    def estimate(self, program: Program, graph: str, kin: list[Known]) -> int | None:
        """Fills in costs and workspaces: those of the same graph, or between those that were measured for others.
        Returns the peak of the plain step if it is known."""
        same = next((one for one in kin if one.graph == graph), None)
        sources = [same] if same else [one for one in kin if one.measured] or kin
        correct_sizes(program, same or max(sources, key=lambda one: one.size))
        for index, operation in enumerate(program.operations):
            at = measure.cost_of(operation.work)
            if self.options.costs == "measured":
                operation.cost = max(1, between(at, [(one.work[index], one.costs[index]) for one in sources]))
            spaces = [(one.work[index], one.workspaces[index]) for one in sources]
            at = max(at, min(work for work, _ in spaces))  # memory that does not depend on the size does not shrink
            operation.workspace = max(operation.workspace, between(at, spaces))
        return same.plain_peak if same and self.options.costs == "measured" else None

    def borrow(self, planner: Planner, lowered: Lowered, graph: str, kin: list[Known]) -> Planned | None:
        """A step with the moves of a known plan: of the same graph and budget, or of the nearest larger shapes. None if
        program order fits, because then a plan without recomputation is found at once."""
        same, order = self.known.get((graph, self.budget)), int(lowered.graph.written_peak)
        if same is not None:
            near = [same]
        elif order <= self.budget:
            near = []
        else:
            near = sorted(kin, key=lambda one: (one.size < order, abs(one.size - order)))[:NEAREST]
        return next(filter(None, (self.replay(planner, lowered, graph, one) for one in near)), None)

    def replay(self, planner: Planner, lowered: Lowered, graph: str, known: Known) -> Planned | None:
        """The moves of a known plan as a step, if they are legal here and within the budget."""
        try:
            plan, verdict = _judge_file(lowered.graph, known.schedule, self.budget, True)
        except pb.PebbleError:
            return None
        if not verdict.legal:
            return None
        peak = known.peak if known.checked and known.graph == graph else None
        planned = self.trial(planner, lowered, plan, self.budget, peak)
        if planned is not None:
            planned.borrowed = known.graph != graph
        return planned

    def trial(
        self, planner: Planner, lowered: Lowered, plan: Any, budget: int, peak: int | None = None
    ) -> Planned | None:
        """A plan as a step, run once unless its peak is known. The results of the same moves are compared for one shape
        only. None if the peak was over the budget: then the planner has learned from it."""
        planned = Planned(
            planner.captured, lowered, plan, moves_of(lowered, plan.moves), budget, planner.plain_peak
        )
        moves = saved.moves_digest(planner.captured.program, plan)
        if peak is not None:
            planned.measured_peak = peak
        else:
            planner.measure(planned, compared=moves not in self.compared)
            self.compared.add(moves)
        return planned if planned.measured_peak <= budget else None

    def quick(self, planner: Planner) -> Planned:
        """A step from a plan in a fraction of a second; if none is found, from one with the full time."""
        try:
            return planner.with_options(time=min(QUICK, self.options.time)).fit(self.budget)
        except (DoesNotFit, PeakExceeded) as error:
            if isinstance(error, DoesNotFit) and error.proved:
                raise
            return planner.fit(self.budget)

    # -- a step in use ---------------------------------------------------------------------------------------------

    def improve(self, choice: Choice, inputs: Sequence[torch.Tensor], wait: bool = False) -> bool:
        """Gives a step the better plan that the background has found, and asks for one if it has not tried this budget;
        True if the plan is new."""
        if choice.request is None:
            if choice.tried == self.budget:
                return False
            if choice.planned.plan.metrics.overhead == 0:  # nothing is recomputed
                choice.tried = self.budget
                return False
            self.ask(choice, choice.planned.lowered, choice.planned.plan, 1)
        request = choice.request
        if wait:
            BACKGROUND.wait(request)
        if not request.ready:
            return False
        choice.request = None
        found = request.plan.metrics if request.plan is not None else None
        if found is None or found.makespan >= choice.planned.plan.metrics.makespan:
            self.remember(choice)
            return False
        with examples(choice.planner.captured, inputs):
            planned = self.trial(choice.planner, request.lowered, request.plan, request.budget)
            if planned is None and request.round < ROUNDS:
                self.ask(choice, choice.planner.lower(), None, request.round + 1)
        if planned is None:
            return False
        planned.estimated = choice.planned.estimated
        choice.planned = planned
        self.remember(choice)
        return True

    def ask(self, choice: Choice, lowered: Lowered, start: Any, round: int) -> None:
        choice.tried = self.budget
        choice.request = Request(lowered, self.budget, choice.planner.settings(), start, round)
        BACKGROUND.add(choice.request)

    def remember(self, choice: Choice) -> None:
        """Keeps the plan and what was measured for it, and writes it to the cache."""
        planned, program = choice.planned, choice.planner.captured.program
        operations, values = program.operations, program.values
        known = Known(
            choice.program,
            choice.graph,
            self.key,
            planned.budget,
            planned.plain_peak or 0,
            int(planned.lowered.graph.written_peak),
            planned.measured_peak,
            array("q", [measure.cost_of(operation.work) for operation in operations]),
            array("q", [operation.cost for operation in operations]),
            array("q", [operation.workspace for operation in operations]),
            array("q", [value.size - size for value, size in zip(values, choice.sizes, strict=True)]),
            array("q", [value.loose for value in values]),
            planned.plan.to_bytes(),
            measured=not planned.estimated,
            final=choice.tried >= planned.budget and choice.request is None,
            checked=True,
        )
        self.known.pop(known.key, None)
        self.known[known.key] = known
        if len(self.known) > KNOWN:
            del self.known[next(iter(self.known))]
        if self.cache is not None:
            saved.write_in_folder(self.cache, known)


def correct_sizes(program: Program, known: Known) -> None:
    """Sizes as they were found for a known step; see `measure.Storages`."""
    storages = measure.Storages(program)
    for value, extra, loose in zip(program.values, known.extra, known.loose, strict=True):
        value.loose = bool(loose)
        if extra:
            storages.found[value] = value.size + extra
    storages.settle()


def between(at: int, points: Sequence[tuple[int, int]]) -> int:
    """The value at `at`: linear between the nearest two points, proportional outside of them."""
    below = max((point for point in points if point[0] <= at), default=None)
    above = min((point for point in points if point[0] >= at), default=None)
    if below is None or above is None:
        x, y = below or above
        return round(y * at / x)
    if below[0] == above[0]:
        return below[1]
    return round(below[1] + (above[1] - below[1]) * (at - below[0]) / (above[0] - below[0]))


@contextmanager
def examples(captured: Captured, inputs: Sequence[torch.Tensor]) -> Iterator[None]:
    """A captured step with tensors for trial runs."""
    captured.example_inputs = tuple(value.detach().requires_grad_(value.requires_grad) for value in inputs)
    devices = sorted({t.device.index or 0 for t in captured.program.tangents if t.device.type == "cuda"})
    with torch.random.fork_rng(devices=devices):
        captured.program.tangents = [example_tangent(tangent) for tangent in captured.program.tangents]
    try:
        yield
    finally:
        forget_examples(captured)


def forget_examples(captured: Captured) -> None:
    """Frees a batch and gradients of outputs: only their shapes are needed."""
    fakes = _adapter.Fakes()
    captured.example_inputs = tuple(
        fakes.of(value).requires_grad_(value.requires_grad) for value in captured.example_inputs
    )
    captured.program.tangents = [fakes.of(tangent) for tangent in captured.program.tangents]


def zeros_like(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Zeros with the shape and layout of a tensor without data."""
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    made = torch.zeros(max(0, 1 + reach), dtype=tensor.dtype, device=device)
    return made.as_strided(tensor.shape, tensor.stride()).requires_grad_(tensor.requires_grad)
