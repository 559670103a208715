"""`budget`: a model whose training steps run within a memory budget, used as before."""

from __future__ import annotations

import copy
import os
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

import pebble_bridge as pb

from . import _adapter, measure, report
from ._around import own_saved_tensors
from .caches import without_caches
from .calls import Numbers, key_of, kind_of, others_in, put_tensors, take_tensors
from .capture import Captured, capture_run, check_model
from .entry import Entry
from .errors import Unsupported
from .fingerprint import PLAIN
from .found import Own
from .shapes import Shapes, zeros_like
from .state import State, autocast_of, with_tensors
from .step import Options, Planned, check_options
from .wrapping import (
    budgeted_forward,
    refuse_compiled,
    refuse_incomplete,
    refuse_parallel,
    refuse_sharded,
    refuse_transform,
    wrapped_module,
)

STATES = 4  # plans for one kind of call, for different states of the model
KINDS = 64  # of calls with plans: those that were not used for the longest time are captured again when they are used
CHANGES = 3  # of the same attribute, each followed by a capture, before a warning


class Budgeted(Own):
    """The forward function of a model that plans its training steps; see `budget`.

    A call without gradients runs the model itself. A call for training is captured and planned when its kind (shapes,
    types, other arguments, modes) is new; then the plan runs up to the outputs, and the rest of it when autograd brings
    the gradients of the outputs.
    """

    bypassed = 0  # above 0 while a capture runs the models themselves
    outside_of_compile = None  # `train`, which torch.compile must not trace: set by the first budget
    # slots, because functools.wraps copies the __dict__ of what it wraps
    __slots__ = (
        "__wrapped__",
        "called",
        "changes",
        "entries",
        "held",
        "kept_by_caller",
        "limit",
        "model",
        "numbers",
        "options",
        "regions",
        "released",
        "shapes",
        "used",
        "verbose",
    )

    def __init__(
        self, model: nn.Module, limit: int | float | str, options: Options, verbose: bool, cache: Any = None
    ) -> None:
        self.model, self.limit, self.options, self.verbose = model, limit, options, verbose
        self.__wrapped__ = model.forward
        self.shapes = Shapes(limit, options, cache)
        if Budgeted.outside_of_compile is None:
            reason = "a model with a budget runs its training steps by a plan (pebble_bridge.torch)"
            Budgeted.outside_of_compile = staticmethod(torch.compiler.disable(Budgeted.train, reason=reason))
        self.start()

    def start(self) -> None:
        self.called = self.released = False
        self.changes: Counter[str] = Counter()  # attributes because of which a call was captured again
        self.entries: dict[Any, list[Entry]] = {}  # those that were used last are at the end
        self.numbers: dict[Any, Numbers] = {}  # by kind of call without their values
        self.used: dict[Any, tuple[int, ...]] = {}  # the outputs that got gradients in the last step of a kind
        self.kept_by_caller: dict[Any, int] = {}  # bytes that the caller has made of the outputs and keeps
        self.held: dict[Any, set[int]] = {}  # other outputs that the caller still had during the backward pass
        self.regions: dict[Any, Any] = {}  # by mode: the `Regions` of a model that cannot be captured as a whole

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.called = True
        if args and args[0] is self.model:  # bound to it, by a library that has removed its own wrapper
            args = args[1:]
        if Budgeted.bypassed or self.released or not torch.is_grad_enabled() or _adapter.is_exporting():
            return self.__wrapped__(*args, **kwargs)
        return self.outside_of_compile(self, args, kwargs)

    def train(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The outputs of a training step, by a plan."""
        refuse_transform()
        with own_saved_tensors():
            return self.step(args, kwargs)

    def step(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        regions = self.regions.get(self.model.training)
        if regions is None:
            try:
                entry, inputs = self.planned_call(args, kwargs)
            except Unsupported as error:
                call = Call(self, args, kwargs)  # raises again if it is these arguments that no plan can take
                regions = self.split(error)
            else:
                return self.__wrapped__(*args, **kwargs) if entry is None else entry.run(inputs)
        else:
            call = Call(self, args, kwargs)
        return regions.run(call, args, kwargs)

    def planned_call(self, args: tuple, kwargs: dict[str, Any]) -> tuple[Entry | None, list[torch.Tensor]]:
        """The plan for a call, and the tensors among its arguments."""
        call = Call(self, args, kwargs)
        inputs = call.tensors
        try:
            return self.entry_of(call), inputs
        except Unsupported as error:
            if not self.numbers[call.kind].fix(call.passed, str(error)):
                raise
        call = Call(self, args, kwargs)
        inputs = call.tensors
        return self.entry_of(call), inputs

    def split(self, error: Unsupported) -> Any:
        """From now on the model is planned in parts, in its present mode, because it cannot be captured as a whole."""
        from .region_steps import Regions

        refuse(self.model)
        self.regions[self.model.training] = regions = Regions(self, error)
        return regions

    def prepare(self, args: tuple, kwargs: dict[str, Any]) -> None:
        """Plans a call without running it."""
        regions = self.regions.get(self.model.training)
        if regions is None:
            try:
                self.planned_call(args, kwargs)
                return
            except Unsupported as error:
                call = Call(self, args, kwargs)
                regions = self.split(error)
        else:
            call = Call(self, args, kwargs)
        regions.ready(call, args, kwargs)

    def check_called(self, model: nn.Module, args: Any, output: Any) -> None:
        """A hook of the model: rejects a forward that was put in place of this one and does not call it."""
        called, self.called = self.called, False
        if model is not self.model and not self.released and torch.is_grad_enabled():
            raise Unsupported(
                "a copy of the model ran the plan of the original (DataParallel): use DistributedDataParallel, with one "
                "process for each device"
            )
        if not called and torch.is_grad_enabled() and not self.released:
            raise Unsupported(
                f"the forward of {type(model).__name__} was replaced after budget, by one that does not call it, so "
                "that nothing would be planned: call budget last, as in budget(trainer.model, ...), or on the part of "
                "the model that is still called, as in budget(model.base_model, ...)"
            )

    def entry_of(self, call: Call) -> Entry | None:
        """The plan for a call; None if no parameter or input gets a gradient."""
        used = self.used.get(call.key)
        held = self.held.setdefault(call.key, set())
        kept = self.kept_by_caller.get(call.key, 0)
        known = self.entries.pop(call.key, [])
        for place, entry in enumerate(known):
            fits = (used is None or entry.takes == used) and held <= entry.keeps
            fits = fits and entry.captured.program.held == kept
            if fits and entry.holds(call.tensors):
                known[place] = self.improved(entry, call.tensors)
                self.entries[call.key] = known
                return known[place]
        if known:
            self.entries[call.key] = known
            self.count_change(known[0].changed)
        captured = call.capture(used, held, kept)
        if captured is None:
            return None
        if not self.numbers[call.kind].passed.issuperset(call.passed):
            call.check_numbers(captured)
        choice = self.shapes.plan(captured)
        self.numbers[call.kind].passed |= set(call.passed)
        for key in [key for key in self.entries if key[0] == call.kind and len(key[1]) < len(call.passed)]:
            del self.entries[key]  # their numbers are inputs now
        self.show(choice.planned)
        dropped = known[STATES - 1 :]
        known[:] = [Entry(self, call, choice), *known[: STATES - 1]]
        self.entries[call.key] = known
        if len(self.entries) > KINDS:
            self.used.pop(oldest := next(iter(self.entries)), None)
            dropped += self.entries.pop(oldest)
        for entry in dropped:
            self.shapes.drop(entry.choice)
        return known[0]

    def improved(self, entry: Entry, inputs: Sequence[torch.Tensor], wait: bool = False) -> Entry:
        """The entry with a better plan, if one was found since. Steps that have begun end with the old one."""
        if not self.shapes.improve(entry.choice, inputs, wait):
            return entry
        self.show(entry.choice.planned)
        return entry.with_plan(entry.choice)

    def finish(self) -> None:
        """Waits for all plans that are being made."""
        for known in self.entries.values():
            for place, entry in enumerate(known):
                while entry.choice.request is not None:
                    inputs = [zeros_like(value, value.device) for value in entry.captured.example_inputs]
                    known[place] = entry = self.improved(entry, inputs, wait=True)

    def show(self, planned: Planned) -> None:
        if self.verbose:
            print(report.one_line(planned))

    def count_change(self, what: str) -> None:
        """Warns if the same attribute changes again and again: each time the model is captured again."""
        self.changes[what] += 1
        if what and self.changes[what] == CHANGES:
            warnings.warn(
                f"{what} has changed {CHANGES} times, and each time the model was captured again, which is slow: make "
                "it a buffer (register_buffer, then fill_ or copy_), or pass it to the model as a tensor",
                stacklevel=4,
            )

    @property
    def plans(self) -> list[Planned]:
        """The plans so far, the last used first."""
        parts = [planned for regions in self.regions.values() for planned in regions.plans]
        return parts + [entry.planned for known in reversed(self.entries.values()) for entry in known]

    @property
    def __code__(self) -> Any:
        """That of the model's forward, which torch.export reads for the names of its arguments."""
        return self.__wrapped__.__code__

    def __deepcopy__(self, memo: dict) -> Budgeted:
        made = Budgeted.__new__(Budgeted)
        memo[id(self)] = made
        made.model, made.__wrapped__ = copy.deepcopy(self.model, memo), copy.deepcopy(self.__wrapped__, memo)
        made.limit, made.options, made.verbose = self.limit, self.options, self.verbose
        made.shapes = self.shapes.copy()
        made.start()
        made.released = self.released
        return made

    def __reduce__(self) -> tuple:
        return Budgeted, (self.model, self.limit, self.options, self.verbose, self.shapes.cache)

    def __repr__(self) -> str:
        return f"<{type(self.model).__name__}.forward within {self.limit}, {len(self.plans)} plans>"


@contextmanager
def bypassing() -> Iterator[None]:
    Budgeted.bypassed += 1
    try:
        yield
    finally:
        Budgeted.bypassed -= 1


class Call:
    """The arguments of one call, and the key of its kind."""

    def __init__(self, owner: Budgeted, args: tuple, kwargs: dict[str, Any]) -> None:
        self.owner, self.tensors, self.numbers = owner, [], []
        self.structure = take_tensors((args, kwargs), self.tensors, self.numbers)
        device = self.tensors[0].device.type if self.tensors else "cpu"
        kinds = tuple(map(kind_of, self.tensors))
        self.kind = (key_of(self.structure), kinds, owner.model.training, autocast_of(device))
        self.pass_numbers()
        self.outputs: Any = None  # their structure
        self.able: list[int] = []  # outputs that can get a gradient

    def pass_numbers(self) -> None:
        """Makes numbers that change from call to call inputs of the step; the others are part of its key."""
        known = self.owner.numbers
        if self.kind not in known:
            known[self.kind] = Numbers(self.numbers, self.owner.options.costs == "measured")
        self.passed = known[self.kind].see(self.numbers)
        self.tensors += self.as_tensors(self.numbers)
        rest = [number for place, number in enumerate(self.numbers) if place not in self.passed]
        self.key = (self.kind, self.passed, tuple(map(key_of, rest)))

    def as_tensors(self, numbers: list[int | float]) -> list[torch.Tensor]:
        """The numbers that are inputs of the step."""
        if not self.passed:
            return []
        wide = any(parameter.dtype is torch.float64 for parameter in self.owner.model.parameters())
        kinds = {int: torch.int64, float: torch.float64 if wide else torch.float32}
        return [torch.tensor(numbers[place], dtype=kinds[type(numbers[place])]) for place in self.passed]

    def check_numbers(self, captured: Captured) -> None:
        """Rejects tensors in place of numbers if the model's code reads them, or computes something else with them."""
        first = self.as_tensors(self.owner.numbers[self.kind].first)
        given = [*captured.buffers, *captured.example_inputs]
        if not captured.decided.holds([*given[: len(given) - len(first)], *first]):
            raise Unsupported("the model's code reads its value (range(), a comparison, item())")
        measure.check_capture(captured)

    def arguments(self, inputs: Sequence[torch.Tensor]) -> Any:
        """The arguments with other tensors. The model gets tensors in place of numbers only while it is traced, so that
        the captured step is compared with the model as it is."""
        numbers = list(self.numbers)
        for place, value in zip(self.passed, inputs[len(inputs) - len(self.passed) :], strict=True):
            numbers[place] = value if torch.compiler.is_compiling() else value.item()
        return put_tensors(self.structure, inputs, numbers)

    def capture(self, used: tuple[int, ...] | None, held: set[int] | None, kept: int = 0) -> Captured | None:
        """The captured step for outputs that get gradients, and others that the caller keeps. Until that is known: a loss
        gets the gradient, and the caller drops the other outputs, as trainers do; without a loss all get gradients."""
        model, forward = self.owner.model, self.owner.__wrapped__
        refuse(model)
        state = State(model, None)
        if not state.trained and not any(tensor.requires_grad for tensor in self.tensors):
            return None
        given_names = state.owners[0][1]

        def run(parameters: Sequence, buffers: Sequence, inputs: Sequence) -> list[torch.Tensor]:
            named = state.named(parameters, buffers)
            args, kwargs = self.arguments(inputs)
            with bypassing(), with_tensors(model, {own: named[here] for own, here in given_names.items()}):
                outputs: list[torch.Tensor] = []
                self.outputs = take_tensors(without_caches(forward(*args, **kwargs)), outputs)
            for other in others_in(self.outputs):
                if not isinstance(other, PLAIN):
                    raise Unsupported(
                        f"the model returns an object of the class {type(other).__name__}, and only tensors, numbers "
                        "and containers can be returned from a plan: return its tensors"
                    )
            return outputs

        def differentiated(outputs: list[torch.Tensor]) -> list[int]:
            self.able = able = [place for place, output in enumerate(outputs) if output.requires_grad]
            if not able:
                raise NoGradient(NoGradient.__doc__)
            losses = [place for place in able if outputs[place].dim() == 0]
            return sorted(set(able) & set(used or ())) or losses or able

        inputs = tuple(tensor.detach().requires_grad_(tensor.requires_grad) for tensor in self.tensors)
        try:
            return capture_run(
                state,
                run,
                inputs,
                {"model": model},
                inplace=True,
                trials=self.owner.options.costs == "measured",
                differentiated=differentiated,
                held=lambda: held,
                kept=kept,
            )
        except NoGradient:
            return None


def refuse(model: nn.Module) -> None:
    """Rejects models of which no part can be planned."""
    check_model(model)
    refuse_compiled(model, inside=True)
    refuse_sharded(model)
    refuse_incomplete(model)


class NoGradient(Unsupported):
    """No output depends on something that requires a gradient."""


def budget(
    model: nn.Module,
    limit: int | float | str = "60%",
    *,
    costs: str = "measured",
    machine: Any = None,
    offload: bool = False,
    random: str = "auto",
    time: float = 10.0,
    seed: int = 1,
    threads: int = 1,
    cache: str | os.PathLike | None = None,
    verbose: bool = True,
) -> nn.Module:
    """Makes the training steps of a model run within a memory budget; the model is used as before.

    ``model = budget(model, "60%")`` is the only line to add: call the model with the arguments that it takes, compute a
    loss from its outputs or take the one that it returns, and call ``loss.backward()``. Gradients arrive through
    autograd, so accumulation, loss scaling, clipping, hooks on parameters, DistributedDataParallel and trainers work
    unchanged. Each kind of call (shapes, types, modes) is captured and planned when it is first seen. The first one is
    planned with the full time; later ones run a plan that is found quickly, until a thread has found a better one.

    Parameters
    ----------
    model : nn.Module
        Its ``forward`` is replaced; the module, its parameters and its state_dict stay the same.
    limit : int or str
        The peak of a step in addition to what is allocated before it: bytes, ``"8GiB"``, or a percentage of the
        measured peak without a plan of the largest kind of call so far. Gradients of parameters count, because they
        exist until the end.
    cache : path, optional
        A folder where plans are kept: another process with the same model, shapes and options finds them there.
    costs, machine, offload, random, time, seed, threads : optional
        See `fit`.
    verbose : bool
        Print a line for each new plan.

    Returns
    -------
    nn.Module
        `model` itself.

    Raises
    ------
    Unsupported, DoesNotFit
        At the first call for training: the model cannot be captured, or the budget is too small.
    """
    release(model)
    options = Options(time, seed, threads, offload, random, costs, None if machine is None else pb.Machine(machine))
    check_options(options)
    refuse_parallel(model)
    inner = wrapped_module(model)
    refuse_compiled(inner)
    refuse_sharded(inner)
    inner.forward = planned = Budgeted(inner, limit, options, verbose, cache)
    inner.register_forward_hook(planned.check_called)
    return model


def release(model: nn.Module) -> nn.Module:
    """Undoes `budget`; returns the model."""
    inner = wrapped_module(model)
    planned = budgeted_forward(inner)
    for key, hook in list(inner._forward_hooks.items()):
        if isinstance(getattr(hook, "__self__", None), Budgeted):
            del inner._forward_hooks[key]
            hook.__self__.released = True  # where another library has wrapped it
    if planned is not None and planned is vars(inner)["forward"]:
        if getattr(planned.__wrapped__, "__func__", None) is type(inner).forward:
            del inner.forward
        else:
            inner.forward = planned.__wrapped__
    return model
