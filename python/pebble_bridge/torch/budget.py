"""`budget`: a model whose training steps run within a memory budget, used as before."""

from __future__ import annotations

import copy
import os
import warnings
import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

import pebble_bridge as pb

from . import measure, report
from .calls import Numbers, key_of, kind_of, layout_of, others_in, put_tensors, take_tensors
from .capture import Captured, capture_run, check_model
from .errors import Unsupported
from .fingerprint import PLAIN
from .found import Own
from .shapes import Choice, Shapes, zeros_like
from .state import State, autocast_of, kernels_alone, with_tensors
from .step import Options, Planned, check_options
from .wrapping import budgeted_forward, refuse_incomplete, refuse_sharded, wrapped_module

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
    # slots, because functools.wraps copies the __dict__ of what it wraps
    __slots__ = (
        "__wrapped__",
        "called",
        "changes",
        "entries",
        "held",
        "limit",
        "model",
        "numbers",
        "options",
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
        self.start()

    def start(self) -> None:
        self.called = self.released = False
        self.changes: Counter[str] = Counter()  # attributes because of which a call was captured again
        self.entries: dict[Any, list[Entry]] = {}  # those that were used last are at the end
        self.numbers: dict[Any, Numbers] = {}  # by kind of call without their values
        self.used: dict[Any, tuple[int, ...]] = {}  # the outputs that got gradients in the last step of a kind
        self.held: dict[Any, set[int]] = {}  # other outputs that the caller still had during the backward pass

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.called = True
        if args and args[0] is self.model:  # bound to it, by a library that has removed its own wrapper
            args = args[1:]
        if Budgeted.bypassed or self.released or not torch.is_grad_enabled() or torch.compiler.is_compiling():
            return self.__wrapped__(*args, **kwargs)
        call = Call(self, args, kwargs)
        inputs = call.tensors
        try:
            entry = self.entry_of(call)
        except Unsupported as error:
            if not self.numbers[call.kind].fix(call.passed, str(error)):
                raise
            call = Call(self, args, kwargs)
            inputs, entry = call.tensors, self.entry_of(call)
        if entry is None:
            return self.__wrapped__(*args, **kwargs)
        return entry.run(inputs)

    def check_called(self, model: nn.Module, args: Any, output: Any) -> None:
        """A hook of the model: rejects a forward that was put in place of this one and does not call it."""
        called, self.called = self.called, False
        if not called and torch.is_grad_enabled() and not self.released:
            raise Unsupported(
                f"the forward of {type(model).__name__} was replaced after budget, by one that does not call it, so that "
                "nothing would be planned: call budget last, as in budget(trainer.model, ...), or on the part of the model "
                "that is still called, as in budget(model.base_model, ...)"
            )

    def entry_of(self, call: Call) -> Entry | None:
        """The plan for a call; None if no parameter or input gets a gradient."""
        used = self.used.get(call.key)
        held = self.held.setdefault(call.key, set())
        known = self.entries.pop(call.key, [])
        for place, entry in enumerate(known):
            if (used is None or entry.takes == used) and held <= entry.keeps and entry.holds(call.tensors):
                known[place] = self.improved(entry, call.tensors)
                self.entries[call.key] = known
                return known[place]
        if known:
            self.entries[call.key] = known
            self.count_change(known[0].changed)
        captured = call.capture(used, held)
        if captured is None:
            return None
        if not self.numbers[call.kind].passed.issuperset(call.passed):
            measure.check_capture(captured)  # with tensors for numbers, and the model with the numbers
        choice = self.shapes.plan(captured)
        self.numbers[call.kind].passed |= set(call.passed)
        for key in [key for key in self.entries if key[0] == call.kind and len(key[1]) < len(call.passed)]:
            del self.entries[key]  # their numbers are inputs now
        self.show(choice.planned)
        known[:] = [Entry(self, call, choice), *known[: STATES - 1]]
        self.entries[call.key] = known
        if len(self.entries) > KINDS:
            self.used.pop(oldest := next(iter(self.entries)), None)
            del self.entries[oldest]
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
        return [entry.planned for known in reversed(self.entries.values()) for entry in known]

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
        if self.passed:
            wide = any(parameter.dtype is torch.float64 for parameter in self.owner.model.parameters())
            kinds = {int: torch.int64, float: torch.float64 if wide else torch.float32}
            self.tensors += [torch.tensor(n, dtype=kinds[type(n)]) for n in map(self.numbers.__getitem__, self.passed)]
        rest = [number for place, number in enumerate(self.numbers) if place not in self.passed]
        self.key = (self.kind, self.passed, tuple(map(key_of, rest)))

    def arguments(self, inputs: Sequence[torch.Tensor]) -> Any:
        """The arguments with other tensors. The model gets tensors in place of numbers only while it is traced, so that
        the captured step is compared with the model as it is."""
        numbers = list(self.numbers)
        for place, value in zip(self.passed, inputs[len(inputs) - len(self.passed) :], strict=True):
            numbers[place] = value if torch.compiler.is_compiling() else value.item()
        return put_tensors(self.structure, inputs, numbers)

    def capture(self, used: tuple[int, ...] | None, held: set[int]) -> Captured | None:
        """The captured step for outputs that get gradients, and others that the caller keeps. Until that is known: a loss
        gets the gradient, and the caller drops the other outputs, as trainers do; without a loss all get gradients."""
        model, forward = self.owner.model, self.owner.__wrapped__
        check_model(model)
        refuse_sharded(model)
        refuse_incomplete(model)
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
                raise NoGradient
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
            )
        except NoGradient:
            return None


class NoGradient(Unsupported):
    """No output depends on something that requires a gradient."""


def without_caches(output: Any) -> Any:
    """A model's output without keys and values of attention that are cached for generation: in training nobody reads
    them, and each would be in memory until the step ends. Libraries do the same for gradient checkpointing."""
    keys = [key for key, value in output.items() if is_cache(value)] if isinstance(output, dict) else []
    if not keys:
        return tuple(None if is_cache(o) else o for o in output) if type(output) is tuple else output
    output = copy.copy(output)
    for key in keys:
        output[key] = None
    return output


def is_cache(value: Any) -> bool:
    return any(base.__name__ == "Cache" and "transformers" in base.__module__ for base in type(value).__mro__)


class Entry:
    """A plan in use: its functions for the forward and the backward pass."""

    def __init__(self, owner: Budgeted, call: Call, choice: Choice) -> None:
        self.owner, self.key, self.captured = owner, call.key, choice.planned.captured
        self.outputs, self.able = call.outputs, call.able
        call.tensors = []  # the captured step refers to its call, and must not keep the batch
        self.takes = tuple(self.captured.tangent_outputs)  # outputs that get gradients
        self.keeps = set(range(len(self.captured.output_places))) - set(self.captured.brief_outputs)
        self.changed = ""  # what differs in the model, after `holds` was false
        self.take(choice)

    def take(self, choice: Choice) -> None:
        self.choice, self.planned = choice, choice.planned
        planned = choice.planned
        program, gradients = self.captured.program, self.captured.gradient_places
        self.forward, self.backward = planned.halves
        self.leaves = sorted(gradients.values())
        place_of = {leaf: place - program.early for place, leaf in gradients.items()}
        self.gradients = [place_of[leaf] for leaf in self.leaves]  # places in the results of `backward`
        self.random = any(operation.random for operation in program.operations)
        self.host = planned.host

    def with_plan(self, choice: Choice) -> Entry:
        """The same step with another plan."""
        other = copy.copy(self)
        other.take(choice)
        return other

    def holds(self, inputs: list[torch.Tensor]) -> bool:
        """Whether the model is as it was when this was captured, and reads the same numbers from its inputs."""
        try:
            self.captured.state.check()
        except Unsupported as error:
            self.changed = error.what
            return False
        self.changed = ""
        return self.captured.decided.holds([*self.captured.buffers, *inputs])

    def run(self, inputs: list[torch.Tensor]) -> Any:
        run = Run(self, inputs)
        leaves = [*self.captured.parameters, *self.captured.buffers, *inputs]
        graded = Step.apply(run, *[leaves[leaf] for leaf in self.leaves])
        outputs, run.outputs = run.outputs, []
        for place, output in zip(self.able, graded, strict=True):
            outputs[place] = output
        run.watched = {place: weakref.ref(outputs[place]) for place in self.captured.brief_outputs}
        return put_tensors(self.outputs, outputs)


class Step(torch.autograd.Function):
    """A planned step for autograd: from parameters and inputs that get gradients to outputs that have them."""

    @staticmethod
    def forward(ctx: Any, run: Run, *leaves: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ctx.run = run
        ctx.set_materialize_grads(False)
        return run.forward()

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> tuple:
        return None, *ctx.run.backward(gradients)


class Run:
    """One step, and what it has saved between its forward and its backward pass."""

    def __init__(self, entry: Entry, inputs: list[torch.Tensor]) -> None:
        self.entry, self.inputs = entry, [value.detach() for value in inputs]
        self.saved: list[Any] = []
        self.outputs: list[torch.Tensor] = []
        self.watched: dict[int, weakref.ref] = {}  # outputs that the caller should have dropped at the backward pass

    def forward(self) -> tuple[torch.Tensor, ...]:
        entry, captured = self.entry, self.entry.captured
        given = captured.given(self.inputs)
        self.draws = generator_state(captured) if entry.random else None
        self.old = [captured.buffers[i].clone() for i in captured.buffer_places.values()] if not self.is_usual else None
        with kernels_alone(captured.state.device):
            results, saved = entry.forward(given, entry.host)
            for place, index in captured.buffer_places.items():
                captured.buffers[index].copy_(results[place])
            # not the saved tensors themselves: autograd links outputs to this step, which would never be freed
            self.outputs = [results[place].detach() for place in captured.output_places]
        self.given, self.saved = given, [saved]
        self.versions = [tensor._version for tensor in given]
        return tuple(self.outputs[place] for place in entry.able)

    @property
    def is_usual(self) -> bool:
        """Whether the outputs that will get gradients are known from an earlier step."""
        return self.entry.key in self.entry.owner.used

    def backward(self, gradients: Sequence[torch.Tensor | None]) -> list[torch.Tensor]:
        if not self.saved:
            raise RuntimeError(
                "a planned step frees its values during the backward pass, so that it cannot run a second time "
                "(retain_graph=True): call the model again"
            )
        if torch.is_grad_enabled():
            raise Unsupported(
                "gradients of gradients (create_graph=True) cannot be planned: call pebble_bridge.torch.release(model)"
            )
        if [tensor._version for tensor in self.given] != self.versions:
            raise RuntimeError(
                "a parameter or an input was written to between the forward and the backward pass of a planned step: "
                "step the optimizer after backward()"
            )
        entry, saved = self.entry, self.saved.pop()
        arrived = {place: grad for place, grad in zip(entry.able, gradients, strict=True) if grad is not None}
        entry.owner.used[entry.key] = tuple(arrived)
        entry.owner.held[entry.key] |= {place for place, output in self.watched.items() if output() is not None}
        if not set(arrived) <= set(entry.takes):
            saved.clear()
            return self.plain_backward(arrived)
        examples = zip(entry.takes, entry.captured.program.tangents, strict=True)
        tangents = [as_example(arrived.get(place), example) for place, example in examples]
        given, self.given = self.given, []
        with kernels_alone(entry.captured.state.device):
            results = entry.backward(given, saved, tangents, entry.host)
        return [results[place] for place in entry.gradients]

    def plain_backward(self, arrived: dict[int, torch.Tensor]) -> list[torch.Tensor]:
        """The gradients by eager autograd, when outputs got some for which there is no plan; the next step has one."""
        captured = self.entry.captured
        if self.old is None and captured.buffer_places:
            raise Unsupported(
                "other outputs than in the steps before got gradients, and the model has updated its buffers since: "
                "call pebble_bridge.torch.budget again"
            )
        buffers = list(captured.buffers)
        for index, old in zip(captured.buffer_places.values(), self.old or [], strict=True):
            buffers[index] = old
        parameters = [nn.Parameter(parameter.detach()) for parameter in captured.parameters]
        inputs = [
            value.requires_grad_(example.requires_grad)
            for value, example in zip(self.inputs, captured.example_inputs, strict=True)
        ]
        leaves = [*parameters, *buffers, *inputs]
        with torch.enable_grad(), with_generator(captured, self.draws):
            outputs = captured.run(parameters, buffers, inputs)
            grads = torch.autograd.grad(
                [outputs[place] for place in arrived],
                [leaves[leaf] for leaf in self.entry.leaves],
                list(arrived.values()),
                allow_unused=True,
            )
        return list(grads)


def as_example(tangent: torch.Tensor | None, example: torch.Tensor) -> torch.Tensor:
    """A tangent in the layout for which the step was captured; zeros if none arrived. The example has no data."""
    if tangent is not None and layout_of(tangent) == layout_of(example) and tangent.dtype == example.dtype:
        return tangent
    made = torch.empty_strided(example.shape, example.stride(), dtype=example.dtype, device=example.device)
    return made.zero_() if tangent is None else made.copy_(tangent)


def generator_state(captured: Captured) -> torch.Tensor:
    device = captured.state.device
    return torch.cuda.get_rng_state() if device == "cuda" else torch.get_rng_state()


@contextmanager
def with_generator(captured: Captured, state: torch.Tensor | None) -> Iterator[None]:
    """The generator of the device in an earlier state."""
    if state is None:
        yield
        return
    restore = torch.cuda.set_rng_state if captured.state.device == "cuda" else torch.set_rng_state
    now = generator_state(captured)
    restore(state)
    try:
        yield
    finally:
        restore(now)


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
    inner = wrapped_module(model)
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
