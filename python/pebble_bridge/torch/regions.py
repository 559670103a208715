"""Models that cannot be captured as a whole: the largest parts that can be are planned, with eager code in between.

A region is a submodule whose forward function is replaced while the model runs. Each of its calls is a planned step for
autograd, like a whole model's. Regions are found by one run of the model: what cannot be captured is left to its
submodules. Then the whole step is measured, and plans are chosen for all calls together; see `joint`.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from torch import nn

from .budget import Budgeted, Call, bypassing
from .caches import is_cache
from .calls import put_tensors, take_tensors
from .capture import Captured
from .entry import Entry, Run
from .errors import TorchPlanError, Unsupported
from .found import MISSING, Own
from .region_plans import Kind, Point, key_of_kind
from .shapes import forget_examples
from .wrapping import budgeted_forward

NEW, PLANNED, EAGER = "new", "planned", "eager"
ANY = tuple(range(1 << 10))  # all outputs
STATES = 4  # captured steps for one kind of call of a region
WORTH = 0.002  # of the peak of a step: a region that cannot save more is not planned
KINDS = 32  # of calls of one region


class Unseen(BaseException):
    """A trial run has come to a call of a region that the run before it did not have."""


class Written(RuntimeError):
    """Eager code has written to a tensor that a region reads in its backward pass."""

    def __init__(self, region: Region, outputs: bool) -> None:
        what = "its output" if outputs else "its input or parameter"
        super().__init__(
            f"{what} was written to between the forward and the backward pass of the planned region {region.name}: "
            "step the optimizer after backward(), and do not write to tensors in place there"
        )
        self.region, self.outputs = region, outputs


class Site(NamedTuple):
    """A call of a region in a step."""

    name: str
    key: Any  # of its kind of call
    number: int  # from 0, of the calls of this kind in a step
    kind: int  # the serial number of its `Kind`, which is another one if the module has changed

    @property
    def place(self) -> tuple[str, Any, int]:
        return self.name, self.key, self.number


class Found:
    """A captured call of a region, and its steps with different plans."""

    def __init__(self, region: Region, call: Call, captured: Captured, kind: Kind) -> None:
        self.region, self.call, self.captured, self.kind = region, call, captured, kind
        call.tensors = []
        region.held.setdefault(call.key, set())
        self.parts: dict[Point, Entry] = {}

    def entry(self, point: Point) -> Entry:
        """The step with one of the plans of its kind."""
        if point not in self.parts:
            part = self.kind.part(self.captured, point)
            self.parts[point] = Entry(self.region, self.call, SimpleNamespace(planned=part))
        return self.parts[point]

    def holds(self, inputs: list[torch.Tensor]) -> bool:
        try:
            self.captured.state.check()
        except Unsupported:
            return False
        return self.captured.decided.holds([*self.captured.buffers, *inputs])


class Region(Own):
    """A submodule that is planned, or may be; in place of its forward function while the model runs."""

    __slots__ = (
        "__wrapped__", "entries", "held", "model", "name", "numbers", "options", "outside", "own", "reason", "regions",
        "status", "used",
    )  # fmt: skip

    def __init__(self, regions: Any, module: nn.Module, name: str) -> None:
        self.regions, self.model, self.name, self.options = regions, module, name, regions.owner.options
        self.own = vars(module).get("forward", MISSING)
        self.__wrapped__ = module.forward
        self.status, self.reason = NEW, ""
        self.entries: dict[Any, list[Found]] = {}
        self.numbers: dict[Any, Any] = {}
        self.used: dict[Any, tuple[int, ...]] = {}
        self.held: dict[Any, set[int]] = {}
        self.outside: set[Any] = set()  # kinds of calls without gradients

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        now = self.regions.running
        if now is None or Budgeted.bypassed or not torch.is_grad_enabled() or torch.compiler.is_compiling():
            return self.__wrapped__(*args, **kwargs)
        return now.call(self, args, kwargs)

    def give_up(self, reason: str) -> None:
        self.status, self.reason = EAGER, reason
        self.entries.clear()
        self.regions.changed()

    def copy_outputs(self) -> None:
        """From now on eager code may write to the outputs, because they are copies."""
        forward = self.__wrapped__

        def copying(*args: Any, **kwargs: Any) -> Any:
            tensors: list[torch.Tensor] = []
            structure = take_tensors(forward(*args, **kwargs), tensors)
            return put_tensors(structure, [tensor.clone() for tensor in tensors])

        self.__wrapped__ = copying
        self.entries.clear()

    def known(self, call: Call, checked: bool) -> Found | None:
        """The captured step for a call; if `checked`, only if the module is as it was."""
        used = self.used.get(call.key, ())
        for found in self.entries.get(call.key, ()):
            if not set(used) <= set(found.captured.tangent_outputs):
                continue
            if not checked or found.holds(call.tensors):
                return found
        return None

    # -- capture ---------------------------------------------------------------------------------------------------

    def find(self, args: Any, kwargs: Any) -> Found | None:
        """Captures a call; None if it cannot be planned, with the reason in `reason` unless it needs no gradient."""
        call = Call(self, args, kwargs)
        try:
            captured, call = self.capture(call, args, kwargs)
            if captured is None:
                self.outside.add(call.key)
                return None
            if len(self.entries) >= KINDS:
                raise Unsupported(f"it is called in more than {KINDS} ways: with other shapes, or with new objects")
            found = Found(self, call, captured, self.regions.kind_of(captured))
        except TorchPlanError as error:
            self.give_up(str(error))
            return None
        forget_examples(captured)
        for node in captured.program.graph.nodes:
            node.meta.clear()
        states = self.entries.setdefault(call.key, [])
        states[:] = [found, *states[: STATES - 1]]
        self.status = PLANNED
        self.regions.changed()
        return found

    def capture(self, call: Call, args: Any, kwargs: Any) -> tuple[Captured | None, Call]:
        while True:
            try:
                captured = call.capture(self.used.get(call.key, ANY), None)
                if captured is not None and not self.numbers[call.kind].passed.issuperset(call.passed):
                    call.check_numbers(captured)
                self.numbers[call.kind].passed |= set(call.passed)
                return captured, call
            except Unsupported as error:
                if not self.numbers[call.kind].fix(call.passed, str(error)):
                    raise
                call = Call(self, args, kwargs)

    def capture_again(self) -> bool:
        """Forgets steps that were captured for other outputs than those that got gradients; true if there were any."""
        changed = False
        for key, states in list(self.entries.items()):
            used = self.used.get(key)
            if used is not None and any(set(found.captured.tangent_outputs) != set(used) for found in states):
                del self.entries[key]
                changed = True
        return changed


class RegionRun(Run):
    """One call of a region in a step."""

    watches_caller = False

    def __init__(self, entry: Entry, inputs: list[torch.Tensor], index: int, now: Pass) -> None:
        super().__init__(entry, inputs)
        self.index, self.now, self.mark = index, now, now.mark or nothing

    def forward(self) -> tuple[torch.Tensor, ...]:
        self.mark(f"f{self.index}")
        outputs = super().forward()
        self.kept = [(one, one._version) for one in self.saved[0] if isinstance(one, torch.Tensor)]
        self.mark(f"e{self.index}")
        return outputs

    def backward(self, gradients: Sequence[torch.Tensor | None]) -> list[torch.Tensor]:
        self.mark(f"b{self.index}")
        self.now.begin_backward()
        region, key = self.entry.owner, self.entry.key
        before = region.used.get(key, ())
        if self.saved and [tensor._version for tensor in self.given] != self.versions:
            raise Written(region, False)
        if any(one._version != version for one, version in self.kept):
            raise Written(region, True)
        self.kept = []
        results = super().backward(gradients)
        region.used[key] = tuple(sorted({*before, *region.used[key]}))
        self.mark(f"d{self.index}")
        return results


def nothing(name: str) -> None:
    pass


class Pass:
    """One run of the model with its regions.

    Parameters
    ----------
    choice : dict, optional
        The plan of each call; calls without one run the plan that saves least.
    trial : bool
        With other parameters in place of the model's, those in `stand_ins` by the id; nothing is captured.
    finding : bool
        Calls are captured, and the model's own code runs.
    """

    def __init__(
        self,
        choice: dict[Any, Point] | None = None,
        *,
        trial: bool = False,
        finding: bool = False,
        caches: bool = False,
        mark: Callable | None = None,
    ) -> None:
        self.choice, self.trial, self.finding, self.caches, self.mark = choice or {}, trial, finding, caches, mark
        self.stand_ins: dict[int, torch.Tensor] = {}
        self.counts: Counter[Any] = Counter()
        self.calls: list[Site] = []
        self.kinds: list[Kind] = []  # of the calls
        self.watched: list[weakref.ref] = []

    def call(self, region: Region, args: tuple, kwargs: dict[str, Any]) -> Any:
        forward = region.__wrapped__
        if region.status is EAGER:
            with bypassing() if region.reason == NO_GAIN else nullcontext():
                return forward(*args, **kwargs)
        given = args, kwargs
        if any(is_cache(value) for value in (*args, *kwargs.values())):
            if self.caches:
                return forward(*args, **kwargs)
            args = tuple(None if is_cache(value) else value for value in args)
            kwargs = {name: None if is_cache(value) else value for name, value in kwargs.items()}
        try:
            call = Call(region, args, kwargs)
        except Unsupported as error:
            region.give_up(str(error))
            return forward(*given[0], **given[1])
        if call.key in region.outside:
            with bypassing():
                return forward(*given[0], **given[1])
        found = region.known(call, checked=not self.trial)
        if found is None:
            if self.trial:
                raise Unseen(region.name)
            found = region.regions.find(region, args, kwargs)
        if found is None and region.status is EAGER:
            return forward(*given[0], **given[1])
        if found is None or self.finding:
            with bypassing():
                return forward(*given[0], **given[1])
        return self.run(found, call)

    def run(self, found: Found, call: Call) -> Any:
        region = found.region
        number = self.counts[region.name, call.key]
        self.counts[region.name, call.key] += 1
        site = Site(region.name, call.key, number, found.kind.serial)
        point = self.choice.get(site, found.kind.frugal)
        index = len(self.calls)
        self.calls.append(site)
        self.kinds.append(found.kind)
        return found.entry(point).run(
            call.tensors, lambda entry, inputs: RegionRun(entry, inputs, index, self), self.stand_ins
        )

    def watch(self, outputs: Iterable[torch.Tensor], report: Callable[[], None]) -> None:
        """Calls `report` if the caller still has some of these outputs when the backward pass begins."""
        self.watched, self.report = [weakref.ref(output) for output in outputs], report

    def begin_backward(self) -> None:
        watched, self.watched = self.watched, []
        if any(output() is not None for output in watched):
            self.report()


class Modules:
    """The submodules of a model: which are planned, and what is installed in them while the model runs."""

    def __init__(self, owner: Budgeted) -> None:
        self.owner, self.model = owner, owner.model
        self.running: Pass | None = None
        self.kinds: dict[str, Kind] = {}
        self.fresh: list[Kind] = []  # without plans
        self.all: dict[nn.Module, Region] = {}
        self.installed: list[Region] | None = None
        self.look()

    def look(self) -> None:
        """Takes note of submodules that are new."""
        for name, module in self.model.named_modules():
            if name and module not in self.all and may_be_planned(module):
                self.all[module] = Region(self, module, name)

    def changed(self) -> None:
        self.installed = None

    def choose(self) -> list[Region]:
        """The regions, and modules that no run has called so far, except for parts of regions."""
        inside: set[nn.Module] = set()
        for module, region in self.all.items():
            if (region.status is PLANNED or region.reason == NO_GAIN) and module not in inside:
                inside.update(part for part in module.modules() if part is not module)
        return [one for one in self.all.values() if one.status is not EAGER and one.model not in inside]

    @contextmanager
    def active(self, now: Pass) -> Iterator[None]:
        """A context in which regions take the place of their modules' forward functions."""
        if self.installed is None:
            self.installed = self.choose()
        chosen = list(self.all.values()) if now.finding else self.installed
        before, self.running = self.running, now
        for region in chosen:
            vars(region.model)["forward"] = region
        try:
            yield
        finally:
            self.running = before
            for region in chosen:
                put_forward(region, region.own)

    @contextmanager
    def alone(self, region: Region) -> Iterator[None]:
        """A context in which only one region is installed, as when its captured step is checked."""
        installed = [one for one in self.all.values() if vars(one.model).get("forward") is one and one is not region]
        for one in installed:
            put_forward(one, one.own)
        before, self.running = self.running, None
        try:
            yield
        finally:
            self.running = before
            for one in installed:
                vars(one.model)["forward"] = one

    def find(self, region: Region, args: Any, kwargs: Any) -> Found | None:
        """Captures a call of a region, in the middle of a run of the model, whose state stays as it is."""
        with self.alone(region), torch.random.fork_rng(devices=[]):
            found = region.find(args, kwargs)
        if found is not None and self.running is not None and not self.running.finding:
            self.plan_new(self.owner.shapes.whole)
            if region.status is EAGER:
                return None
        return found

    def kind_of(self, captured: Captured) -> Kind:
        key = key_of_kind(captured, self.owner.options)
        if key in self.kinds:
            self.kinds[key].give(captured)
        else:
            self.kinds[key] = Kind(captured, self.owner.options, len(self.kinds))
            self.fresh.append(self.kinds[key])
        return self.kinds[key]

    def plan_new(self, whole: int) -> None:
        """Makes plans for kinds of regions that have none, and gives up regions where almost nothing of the peak
        `whole` can be gained."""
        fresh, self.fresh = self.fresh, []
        for kind in fresh:
            kind.make_points(self.owner.options.time, len(fresh))
        for region in self.all.values():
            kinds = {found.kind for states in region.entries.values() for found in states}
            if region.status is not PLANNED or not kinds:
                continue
            if any(not kind.points for kind in kinds):
                region.give_up(NO_TIME)
            elif not any(kind.unfinished or kind.gain > WORTH * whole for kind in kinds):
                region.give_up(NO_GAIN)

    def regions(self) -> list[Region]:
        return [region for region in self.all.values() if region.status is PLANNED]

    def eager(self) -> list[Region]:
        """Modules that cannot be captured, without those in which another one is the reason."""
        failed = [one for one in self.all.values() if one.status is EAGER and one.reason != NO_GAIN]
        inside = [{module for module in one.model.modules() if module is not one.model} for one in failed]
        return [one for one, parts in zip(failed, inside, strict=True) if not any(o.model in parts for o in failed)]


NO_TIME = "no plan was found in the time of the planner"
NO_GAIN = "it saves nothing that could be recomputed"


def may_be_planned(module: nn.Module) -> bool:
    """Not a single operation, and no container that is never called, and without a budget of its own."""
    if isinstance(module, (nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict)):
        return False
    if budgeted_forward(module) is not None:
        return False
    leaf = next(module.children(), None) is None
    return not (leaf and type(module).__module__.startswith("torch.nn.modules"))


def put_forward(region: Region, forward: Any) -> None:
    if forward is MISSING:
        vars(region.model).pop("forward", None)
    else:
        vars(region.model)["forward"] = forward
