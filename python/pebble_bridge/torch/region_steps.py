"""Whole steps of a model with planned regions: measured, planned together, and run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import nn

from . import _adapter, measure
from .budget import Call
from .caches import is_cache, without_caches
from .calls import put_tensors, take_tensors
from .errors import DoesNotFit, PeakExceeded, Unsupported
from .found import as_found
from .generators import generators, restore
from .joint import EAGER as EAGER_CODE
from .joint import FORWARD, Moment, Path, Problem, as_dict, path_of, together
from .program import LOSS_TENSORS
from .region_plans import Kind, Point
from .region_report import PlannedRegions
from .regions import NO_TIME, Modules, Pass, Unseen, Written
from .state import State, tensors_of
from .step import ROUNDS
from .units import bytes_text, parse_budget

PATHS = 8  # measured paths of one kind of step; later ones run with the plans for these
TRIES = 8  # of finding regions again, because a trial run went another way or was not correct


class Measured(NamedTuple):
    """A trial step: its allocator's figures and its results."""

    segments: list[tuple[str, int, int]]  # see `joint.path_of`
    peak: int
    results: list[torch.Tensor | None]
    seconds: float


@dataclass(eq=False)
class Layout:
    """What is known about one kind of step."""

    budget: int = 0
    plain_peak: int | None = None
    plain_time: float = 0.0
    paths: list[Path] = field(default_factory=list)
    kinds: dict[Any, Kind] = field(default_factory=dict)  # of calls
    choice: dict[Any, Point] = field(default_factory=dict)  # plans of calls
    planned: PlannedRegions | None = None
    results: list[torch.Tensor | None] | None = None  # of the model, to compare with
    keeps: bool = False  # the caller keeps outputs other than losses during the backward pass

    def keep(self) -> None:
        """The caller does: the next step is measured so."""
        if not self.keeps:
            self.keeps, self.budget, self.paths = True, 0, []

    def cost_of_regions(self) -> int:
        """The cost of the operations of all calls, each once."""
        return sum(operation.cost for kind in self.kinds.values() for operation in kind.captured.program.operations)

    def covers(self, calls: Sequence[Any]) -> bool:
        return any(path.covers(calls) for path in self.paths)


class Regions(Modules):
    """The steps of a model that is planned in parts.

    Parameters
    ----------
    owner : Budgeted
        The model and its options.
    error : Unsupported
        Why it cannot be captured as a whole.
    """

    def __init__(self, owner: Any, error: Unsupported) -> None:
        super().__init__(owner)
        self.error = error
        self.layouts: dict[Any, Layout] = {}
        self.caches = False

    @property
    def plans(self) -> list[PlannedRegions]:
        return [one.planned for one in reversed(self.layouts.values()) if one.planned is not None]

    # -- a step of the caller --------------------------------------------------------------------------------------

    def run(self, call: Call, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A forward pass with planned regions; autograd runs their backward passes."""
        layout = self.ready(call, args, kwargs)
        now = Pass(layout.choice, caches=has_caches(args, kwargs))
        start = generators() if len(layout.paths) < PATHS else None
        with self.active(now):
            output = without_caches(self.owner.__wrapped__(*args, **kwargs))
        if start is not None and not layout.covers(now.calls):
            self.extend(layout, args, kwargs, start)
        if not layout.keeps:
            outputs: list[torch.Tensor] = []
            take_tensors(output, outputs)
            losses = any(one.dim() == 0 and one.requires_grad for one in outputs)
            now.watch([one for one in outputs if losses and one.dim()], layout.keep)
        return output

    def ready(self, call: Call, args: tuple, kwargs: dict[str, Any]) -> Layout:
        """The plans for a kind of step, which are made if it is new, or if the budget has changed."""
        layout = self.layouts.pop(call.key, None)
        if layout is None:
            layout = self.prepare(args, kwargs)
        self.layouts[call.key] = layout
        if not layout.paths:
            self.add_path(layout, args, kwargs)
        if layout.budget != self.owner.shapes.budget:
            self.settle(layout, args, kwargs)
        return layout

    def prepare(self, args: tuple, kwargs: dict[str, Any]) -> Layout:
        """Finds the regions of a new kind of step, and measures it without a plan."""
        layout, measured = Layout(), self.owner.options.costs == "measured"
        self.find_all(args, kwargs)
        if measured:
            for _ in range(2):  # the first run may allocate persistent memory
                found = self.trial(args, kwargs, None)
            layout.plain_peak, layout.plain_time, layout.results = found.peak, found.seconds, found.results
        self.plan_new(layout.plain_peak or 0)
        self.refuse_without_regions()
        self.add_path(layout, args, kwargs)
        whole = layout.plain_peak or self.problem(layout).peak_of_fastest()
        self.grow(whole)
        return layout

    def grow(self, peak: int) -> None:
        """A budget in percent is of the largest step so far."""
        shapes = self.owner.shapes
        shapes.whole = max(shapes.whole, peak)
        shapes.budget = parse_budget(self.owner.limit, shapes.whole)

    def find_all(self, args: tuple, kwargs: dict[str, Any]) -> None:
        """Captures calls in a run of the model's own code."""
        self.look()
        self.changed()
        now = Pass(finding=True, caches=has_caches(args, kwargs))
        with self.as_before(), torch.enable_grad(), self.active(now):
            self.owner.__wrapped__(*args, **kwargs)
        self.refuse_without_regions()

    def refuse_without_regions(self) -> None:
        if not self.regions():
            self.owner.regions.pop(self.owner.model.training, None)  # a later call may be captured as a whole
            whole = str(self.error)
            reasons = [f"{one.name}: {one.reason}" for one in self.eager() if one.reason not in whole]
            parts = "; ".join(list(dict.fromkeys(reasons))[:3])
            raise Unsupported(
                f"{whole}. No part of the model can be planned on its own either"
                + (f": {parts}" if parts else ", because its submodules save nothing that could be recomputed")
            )

    def add_path(self, layout: Layout, args: tuple, kwargs: dict[str, Any]) -> None:
        """Measures a step with plans that save least. Its results must be the model's, and outputs of regions that get
        no gradient are captured again without one."""
        for _ in range(TRIES):
            try:
                now, found = self.planned_trial(layout, args, kwargs, {})
            except Written as error:
                self.exclude(error)
            except Unseen:
                pass
            else:
                if not any([region.capture_again() for region in self.regions()]):
                    break
            layout.kinds.clear()
            self.find_all(args, kwargs)
            self.plan_new(layout.plain_peak or 0)
            self.refuse_without_regions()
        else:
            raise Unsupported(f"{self.error}. Its parts cannot be planned either: each run of the model calls others")
        self.compare(layout, found, args, kwargs)
        self.learn(layout, now, found, {})

    def exclude(self, error: Written) -> None:
        """Eager code writes to tensors of a region: its outputs become copies, or it is not planned."""
        region = error.region
        copied = getattr(region.__wrapped__, "__name__", "") == "copying"
        if error.outputs and not copied:
            region.copy_outputs()
        else:
            region.give_up("the code around it writes to its tensors in place")

    def planned_trial(
        self, layout: Layout, args: tuple, kwargs: dict[str, Any], choice: dict[Any, Point]
    ) -> tuple[Pass, Measured]:
        now = Pass(choice, trial=True, caches=has_caches(args, kwargs), mark=_adapter.Marker())
        found = self.trial(args, kwargs, now, layout.keeps)
        layout.kinds |= zip(now.calls, now.kinds, strict=True)
        return now, found

    def learn(self, layout: Layout, now: Pass, found: Measured, choice: dict[Any, Point]) -> None:
        """Keeps the moments of a measured step, in place of an earlier measurement of the same path."""
        figures = {
            site: choice.get(site, kind.frugal).figures
            for site, kind in zip(now.calls, now.kinds, strict=True)
        }
        path = path_of(found.segments, now.calls, figures)
        now_at = {site.place: site for site in now.calls}  # the same calls may have been of other kinds
        layout.paths = [
            known
            for known in layout.paths
            if not path.covers(known.calls) and all(now_at.get(site.place, site) == site for site in known.calls)
        ]
        layout.paths.append(path)
        current = {site for known in layout.paths for site in known.calls}
        layout.kinds = {site: kind for site, kind in layout.kinds.items() if site in current}

    def extend(self, layout: Layout, args: tuple, kwargs: dict[str, Any], start: Any) -> None:
        """Measures a step that called other regions than those before, and plans for all paths."""
        try:
            with self.as_before(start):
                if self.owner.options.costs == "measured":
                    found = self.trial(args, kwargs, None)
                    layout.results, layout.plain_peak = found.results, max(layout.plain_peak, found.peak)
                    self.grow(layout.plain_peak)
                self.add_path(layout, args, kwargs)
                self.settle(layout, args, kwargs)
        finally:
            self.changed()

    # -- plans for all calls together --------------------------------------------------------------------------------

    def problem(self, layout: Layout, joined: bool = True) -> Problem:
        moments = together(layout.paths) if joined else [one for path in layout.paths for one in path.moments]
        return Problem(moments, {site: kind.figures for site, kind in layout.kinds.items()})

    def settle(self, layout: Layout, args: tuple, kwargs: dict[str, Any]) -> None:
        """Chooses plans within the budget, and runs them; if the peak is above it, the step is planned again."""
        budget, margin = self.owner.shapes.budget, 0
        for _ in range(ROUNDS):
            problem, solution = self.solve(layout, budget, margin)
            chosen = as_dict(problem, solution)
            choice = {site: layout.kinds[site].points[place] for site, place in chosen.items()}
            now, found = self.planned_trial(layout, args, kwargs, choice)
            self.compare(layout, found, args, kwargs)
            planned = PlannedRegions(self, layout, choice, problem.peak(solution), budget, found.peak)
            if found.peak <= budget:
                layout.budget, layout.choice, layout.planned, layout.results = budget, choice, planned, None
                if self.owner.verbose:
                    print(planned.one_line())
                return
            self.learn(layout, now, found, choice)
            margin += found.peak - budget if found.peak > planned.planned_peak else 0
        raise PeakExceeded(
            f"the planned peak is {bytes_text(planned.planned_peak)}, and the step used {bytes_text(found.peak)} with "
            f"a budget of {bytes_text(budget)}: the memory of code that is not planned varies from run to run; use a "
            "smaller budget"
        )

    def solve(self, layout: Layout, budget: int, margin: int) -> tuple[Problem, torch.Tensor]:
        """The choice; with more plans for the moments that do not fit with those so far."""
        for joined in (True, False):
            for _ in range(ROUNDS):
                problem = self.problem(layout, joined)
                solution = problem.solve(budget - margin)
                if solution is not None:
                    return problem, solution
                if not self.add_points(layout, problem, budget - margin):
                    break
        raise self.does_not_fit(layout, problem, budget)

    def add_points(self, layout: Layout, problem: Problem, cap: int) -> bool:
        """Plans with smaller peaks for calls that run when there is too little memory; false if there are none."""
        choice, new = problem.frugal(), False
        use = problem.use(choice)
        wanted: dict[Kind, int] = {}
        for row in (use > cap).nonzero().flatten().tolist():
            moment = problem.moments[row]
            if moment.kind != EAGER_CODE:
                kind = layout.kinds[moment.call]
                room = cap - int(use[row]) + problem.inner(choice, moment)
                wanted[kind] = min(room, wanted.get(kind, room))
        for kind, room in wanted.items():
            new |= room > 0 and kind.add_points(room, self.owner.options.time)
        return new

    def does_not_fit(self, layout: Layout, problem: Problem, budget: int) -> DoesNotFit:
        """The error for a budget that no choice of plans keeps; proved if eager code alone exceeds it, or a region that
        runs next to what eager code holds then."""
        use = problem.use(problem.frugal())
        row = int(use.argmax())
        moment, needs, proved = problem.moments[row], int(use[row]), False
        in_time = all(region.reason != NO_TIME for region in self.all.values())
        for one in problem.moments if in_time else ():
            inside = 0 if one.kind == EAGER_CODE else layout.kinds[one.call].least_peak(budget - one.base)
            if one.base + inside > budget:
                moment, needs, proved = one, one.base + inside, True
                break
        where = f"{words_of(moment)} {moment.call.name}" if moment.call else "before the first region"
        eager = "; ".join(f"{one.name}: {one.reason}" for one in self.eager()[:2]) or str(self.error)
        return DoesNotFit(
            f"no plan {'exists' if proved else 'was found'} for {bytes_text(budget)}: {where}, the step needs "
            f"{'at least ' if proved else ''}{bytes_text(needs)}, and code outside of planned regions holds "
            f"{bytes_text(moment.base)} of it. Raise the budget, or make the batch smaller. What is not planned, and "
            f"why: {eager}",
            proved,
        )

    def compare(self, layout: Layout, found: Measured, args: tuple, kwargs: dict[str, Any]) -> None:
        """Rejects results that differ from the model's, unless those differ among themselves as well."""
        if layout.results is None:
            return
        precision = max((measure.precision_of(kind.captured.program) for kind in layout.kinds.values()), default=2**-23)
        if same_results(layout.results, found.results, precision):
            return
        if same_results(layout.results, self.trial(args, kwargs, None).results, precision):
            raise Unsupported(
                "the results with planned regions differ from the model's: its code depends on more than the arguments "
                f"of its modules. It cannot be captured as a whole: {self.error}"
            )

    # -- trial steps ---------------------------------------------------------------------------------------------------

    @contextmanager
    def as_before(self, start: Any = None) -> Iterator[None]:
        """A context whose end restores the model's objects and buffers and all generators; `start` are the generators'
        states at its begin."""
        buffers = list(self.model.buffers())
        saved = [buffer.detach().clone() for buffer in buffers]
        devices = sorted({b.device.index or 0 for b in self.model.parameters() if b.device.type == "cuda"})
        with as_found([self.model]), torch.random.fork_rng(devices=devices):
            if start is not None:
                restore(start)
            try:
                yield
            finally:
                with torch.no_grad():
                    for buffer, old in zip(buffers, saved, strict=True):
                        buffer.copy_(old)

    def trial(self, args: tuple, kwargs: dict[str, Any], now: Pass | None, keeps: bool = False) -> Measured:
        """One forward and backward pass, with other parameters that share the memory of the model's, so that no hook on
        gradients runs. Without `now` it is the model's own step; with `keeps` all outputs exist until its end."""
        state = State(self.model, None)
        fresh = {id(one): nn.Parameter(one.detach()) for one in state.trained.values()}
        given: list[torch.Tensor] = []
        structure = take_tensors((args, kwargs), given)
        inputs = [one.detach().requires_grad_(one.requires_grad) for one in given]
        args, kwargs = put_tensors(structure, inputs)
        names = {name: fresh[id(tensor)] for name, tensor in tensors_of(self.model) if id(tensor) in fresh}
        events: list[_adapter.AllocatorEvent] = []
        if now is not None:
            now.stand_ins = fresh
        with self.as_before(), torch.enable_grad(), _adapter.reparametrized(self.model, names):
            with _adapter.allocator_events(events, state.device):
                start = time.perf_counter()
                with self.active(now) if now is not None else nullcontext():
                    output = without_caches(self.owner.__wrapped__(*args, **kwargs))
                outputs, chosen = outputs_of(output)
                output = output if keeps else None
                backward(outputs, chosen)
                seconds = time.perf_counter() - start
                if now is not None:
                    now.mark.end()
            results = [None if one is None else one.detach() for one in outputs]
            results += [one.grad for one in (*fresh.values(), *inputs)]
            results += [one.detach().clone() for one in self.model.buffers()]
        segments = segments_of(events)
        return Measured(segments, max(most for _, _, most in segments), results, seconds)


def outputs_of(output: Any) -> tuple[list[torch.Tensor | None], list[int]]:
    """The outputs of the model that get gradients, as trainers use them: losses, or all of them; others are dropped."""
    outputs: list[Any] = []
    take_tensors(output, outputs)
    able = [place for place, one in enumerate(outputs) if one.requires_grad]
    chosen = [place for place in able if outputs[place].dim() == 0] or able
    return [one if place in chosen else None for place, one in enumerate(outputs)], chosen


def backward(outputs: list[torch.Tensor | None], chosen: list[int]) -> None:
    """A backward pass with the same gradients of outputs each time, and the memory of a loss outside of the model."""
    wanted = [outputs[place] for place in chosen]
    with torch.no_grad():
        room = [torch.empty_like(one) for one in wanted if one.dim() for _ in range(LOSS_TENSORS)]
        generator = [torch.Generator(one.device).manual_seed(place) for place, one in enumerate(wanted)]
        tangents = [
            torch.empty_like(one).normal_(generator=source).div_(one.numel()) if one.dim() else torch.ones_like(one)
            for one, source in zip(wanted, generator, strict=True)
        ]
        del room
    if wanted:
        torch.autograd.backward(wanted, tangents)


def segments_of(events: Sequence[_adapter.AllocatorEvent]) -> list[tuple[str, int, int]]:
    """The intervals between marks: the mark at the begin, the bytes then, and the largest number of bytes."""
    segments, mark, held = [], "s", 0
    start = most = 0
    for event in events:
        if event.mark is not None:
            segments.append((mark, start, most))
            mark, start, most = event.mark, held, held
        held += event.bytes
        most = max(most, held)
    return [*segments, (mark, start, most)]


def same_results(expected: Sequence[Any], found: Sequence[Any], precision: float) -> bool:
    scale = max(map(measure.magnitude, expected), default=0.0)
    for one, other in zip(expected, found, strict=True):
        if one is None or other is None:
            present = one if other is None else other
            if present is not None and present.any():
                return False
        elif not measure.nearly_equal(one, other, precision, scale):
            return False
    return True


def words_of(moment: Moment) -> str:
    return {EAGER_CODE: "after", FORWARD: "in the forward pass of"}.get(moment.kind, "in the backward pass of")


def has_caches(args: tuple, kwargs: dict[str, Any]) -> bool:
    """Whether the caller passes keys and values of attention."""
    return any(is_cache(value) for value in (*args, *kwargs.values()))
