"""Plans in use: one step of a model with a budget, for autograd."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from . import _adapter
from .calls import layout_of, put_tensors
from .errors import Unsupported
from .generators import generator_state, with_generator
from .shapes import Choice
from .state import kernels_alone

if TYPE_CHECKING:
    from .budget import Budgeted, Call

TRIFLE = 1024  # bytes that a caller keeps without a new plan: numbers


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
        self.changed = "a number that the model's code reads from its inputs"
        return self.captured.decided.holds([*self.captured.buffers, *inputs])

    def run(
        self, inputs: list[torch.Tensor], make: Callable | None = None, stand_ins: dict[int, torch.Tensor] | None = None
    ) -> Any:
        """Runs the forward pass. `stand_ins` are tensors in place of parameters, by their id: they get the gradients."""
        run = Run(self, inputs) if make is None else make(self, inputs)
        leaves = [*self.captured.parameters, *self.captured.buffers, *inputs]
        if stand_ins:
            leaves = [stand_ins.get(id(leaf), leaf) for leaf in leaves]
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

    watches_caller = True  # the first time, to find what the caller keeps during the backward pass

    def __init__(self, entry: Entry, inputs: list[torch.Tensor]) -> None:
        self.entry, self.inputs = entry, [value.detach() for value in inputs]
        self.saved: list[Any] = []
        self.outputs: list[torch.Tensor] = []
        self.live: _adapter.LiveTensors | None = None  # when a first step began to wait for its gradients
        self.watched: dict[int, weakref.ref] = {}  # outputs that the caller should have dropped at the backward pass

    def forward(self) -> tuple[torch.Tensor, ...]:
        entry, captured = self.entry, self.entry.captured
        given = captured.given(self.inputs)
        # not as a tensor, which would count in a budget that the plan may use to the last byte
        self.draws = bytes(generator_state(captured).numpy()) if entry.random else None
        self.old = [captured.buffers[i].clone() for i in captured.buffer_places.values()] if not self.is_usual else None
        with kernels_alone(captured.state.device):
            results, saved = entry.forward(given, entry.host)
            for place, index in captured.buffer_places.items():
                captured.buffers[index].copy_(results[place])
            # not the saved tensors themselves: autograd links outputs to this step, which would never be freed
            self.outputs = [results[place].detach() for place in captured.output_places]
        self.given, self.saved = given, [saved]
        self.versions = [tensor._version for tensor in given]
        if self.watches_caller and not self.is_usual and captured.state.device == "cpu":
            self.live = _adapter.LiveTensors()
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
        self.see_caller(gradients)
        arrived = {place: grad for place, grad in zip(entry.able, gradients, strict=True) if grad is not None}
        entry.owner.used[entry.key] = tuple(arrived)
        entry.owner.held[entry.key] |= {place for place, output in self.watched.items() if output() is not None}
        if not set(arrived) <= set(entry.takes):
            saved.clear()
            return self.plain_backward(arrived)
        examples = zip(entry.takes, entry.captured.program.tangents, strict=True)
        tangents = [as_example(arrived.get(place), example) for place, example in examples]
        if entry.captured.program.held:
            tangents.append(None)  # the caller has it
        given, self.given = self.given, []
        with kernels_alone(entry.captured.state.device):
            results = entry.backward(given, saved, tangents, entry.host)
        return [results[place] for place in entry.gradients]

    def see_caller(self, gradients: Sequence[torch.Tensor | None]) -> None:
        """Finds what the caller has made of the outputs and still keeps, such as the scalar of ``mse_loss``, which holds a
        storage as large as its input. The plan of the next step has room for it."""
        if self.live is None:
            return
        arrived = [grad for grad in gradients if grad is not None]
        held, self.live = self.live.bytes_since(arrived), None
        if held > self.entry.captured.program.held + TRIFLE:
            self.entry.owner.kept_by_caller[self.entry.key] = held

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
