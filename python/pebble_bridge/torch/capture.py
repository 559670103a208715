"""From a model, a loss and example inputs to a program of operations over storages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from . import _adapter, passes
from .errors import Unsupported
from .fingerprint import Reads, has_backward_hooks
from .found import Found, as_found, other_generators, other_generators_drew
from .gradient_hooks import refuse_wrappers
from .program import Program, analyse
from .state import State, kernels_alone


@dataclass(repr=False)
class Captured:
    """A training step: its program, and the meaning of its placeholders and results for the model."""

    program: Program
    model: nn.Module
    parameters: list[nn.Parameter]  # parameters that get gradients
    buffers: list[torch.Tensor]  # all others, frozen parameters first
    parameter_names: list[str]
    loss_place: int
    gradient_places: dict[int, int]
    buffer_places: dict[int, int]
    example_inputs: tuple[torch.Tensor, ...]
    run: Callable
    state: State

    def __repr__(self) -> str:
        return f"<Captured {type(self.model).__name__}: {len(self.program.operations)} operations>"

    def given(self, inputs: Sequence[torch.Tensor]) -> list[Any]:
        """The tensors for the program's given nodes."""
        constants = [getattr(self.program.module, node.target) for node in self.program.given if node.op == "get_attr"]
        return [*self.parameters, *self.buffers, *inputs, *constants]

    def plain_step(self, inputs: Sequence[torch.Tensor] | None = None) -> torch.Tensor:
        """One step of eager PyTorch: forward, loss, backward into ``.grad``."""
        loss = self.run(self.parameters, self.buffers, self.example_inputs if inputs is None else inputs)
        loss.backward()
        return loss.detach()


def capture(
    model: nn.Module,
    example_inputs: torch.Tensor | Sequence[torch.Tensor],
    loss: Callable | None = None,
    model_inputs: int | None = None,
    *,
    inplace: bool = True,
    trials: bool = True,
) -> Captured:
    """Captures forward, loss and backward as one graph.

    Parameters
    ----------
    model : nn.Module
        In the mode (``train()`` or ``eval()``) in which it will be trained.
    example_inputs : tensor or sequence of tensors
        The inputs of a step: the model's, then the loss's.
    loss : callable, optional
        ``loss(output, *rest)`` returns a scalar. How many of the last inputs it takes follows from its signature.
        Without it, the model's own output is the loss.
    model_inputs : int, optional
        How many of the inputs the model takes, if that does not follow from the signature of the loss.
    inplace : bool
        Allow operations to overwrite an input.
    trials : bool
        Try replacements of kernels on random data, one operation at a time; otherwise only those that need no trial are
        used.

    Raises
    ------
    Unsupported
        The message names the operation and what to do.
    """
    _adapter.check_version()
    if not isinstance(example_inputs, (torch.Tensor, Sequence)):
        raise Unsupported(f"example_inputs: expected a tensor or several, not {type(example_inputs).__name__}")
    inputs = (example_inputs,) if isinstance(example_inputs, torch.Tensor) else tuple(example_inputs)
    check(model, inputs)
    split = inputs_of_model(len(inputs), loss, model_inputs)
    if isinstance(loss, nn.Module):
        refuse_wrappers(loss)
    state = State(model, loss)
    trained, others = list(state.trained.values()), list(state.others.values())
    if not trained:
        raise Unsupported("no parameter of the model requires a gradient, so nothing to plan: set requires_grad")

    def run(
        parameters: Sequence[torch.Tensor], buffers: Sequence[torch.Tensor], values: Sequence[torch.Tensor]
    ) -> torch.Tensor:
        named = state.named(parameters, buffers)
        output = state.call(model, named, values[:split])
        result = output if loss is None else state.call(loss, named, (output, *values[split:]))
        if not isinstance(result, torch.Tensor) or result.numel() != 1:
            shape = tuple(result.shape) if isinstance(result, torch.Tensor) else type(result).__name__
            raise Unsupported(f"the loss must be one number, and it is {shape}: reduce it, for example with mean()")
        if not result.requires_grad:
            raise Unsupported("the loss does not depend on any parameter that requires a gradient: check the loss")
        return result

    trace = trace_as_found(state, run, inputs, {"model": model} if loss is None else {"model": model, "loss": loss})
    with kernels_alone(state.device), torch.random.fork_rng(devices=[]):
        passes.simplify(trace, trials)
        program = analyse(trace.module, [*trained, *others, *inputs])
        if passes.settle_gradients(trace, program, trained):
            program = analyse(trace.module, [*trained, *others, *inputs])
        for operation in program.operations:
            operation.module, operation.backward = trace.origin[operation.node]
        if inplace:
            passes.find_inplace(program)
            passes.try_inplace(program, trials)
    return Captured(
        program,
        model,
        trained,
        others,
        list(state.trained),
        trace.loss,
        trace.gradients,
        trace.buffers,
        inputs,
        run,
        state,
    )


def trace_as_found(
    state: State, run: Callable, inputs: Sequence[torch.Tensor], roots: dict[str, Any]
) -> _adapter.Trace:
    """Traces the step and restores the model and the loss; `state` keeps what the trace depends on."""
    reads, generators = Reads(), other_generators()
    modules = [module for owner, _ in state.owners for module in owner.modules()]
    backward = has_backward_hooks(modules)  # then Python code runs in the backward pass too

    def observed(*values: Sequence[torch.Tensor]) -> torch.Tensor:
        with reads.recording(found.objects, not backward and not found.samples):  # only once, because it is slow
            result = run(*values)
        found.sample()
        return result

    with as_found(roots.values()) as found:
        with reads.recording(found.objects, backward):
            trace = _adapter.trace(
                roots["model"], observed, list(state.trained.values()), list(state.others.values()), inputs
            )
        refuse_what_moves(found, generators)
        reads.finish()
        changes = found.changes()
    state.keep(roots, reads, changes)
    return trace


def refuse_what_moves(found: Found, generators: tuple[Any, Any]) -> None:
    """Rejects a model whose Python code behaves differently at each call."""
    drawn = other_generators_drew(generators)
    if drawn is not None:
        raise Unsupported(
            f"the model or the loss draws from {drawn}, and a captured step would always use the same numbers: "
            "draw them with torch (torch.rand), or outside of the step, and pass them in as a tensor"
        )
    for owner, name, before, after in found.moving():
        raise Unsupported(
            f'the model or the loss changes "{name}" at each call (from {before!r} to {after!r}), and a planned step '
            "does not run its Python code: make it a buffer that is written to (register_buffer, then add_ or copy_), "
            "or change it outside of the step"
        )


def check(model: nn.Module, inputs: Sequence[Any]) -> None:
    if not isinstance(model, nn.Module):
        raise Unsupported(f"model: expected a torch.nn.Module, not {type(model).__name__}")
    for name, parameter in model.named_parameters():
        if isinstance(parameter, nn.UninitializedParameter):
            raise Unsupported(f'"{name}" has no shape yet: run the model once on a batch first')
    refuse_wrappers(model)
    for index, value in enumerate(inputs):
        if not isinstance(value, torch.Tensor):
            raise Unsupported(
                f"input {index} is {type(value).__name__}: a step takes only tensors; close over other values in the "
                "loss or the model"
            )
        if value.requires_grad:
            raise Unsupported(
                f"input {index} requires a gradient: only parameters get one; make it a parameter, or detach it"
            )


def inputs_of_model(count: int, loss: Callable | None, stated: int | None) -> int:
    """How many of the inputs go to the model; the others go to the loss."""
    if stated is not None:
        if not 0 <= stated <= count:
            raise Unsupported(f"model_inputs={stated}, but there are {count} inputs: pass a number from 1 to {count}")
        return stated
    if loss is None:
        return count
    function = loss.forward if isinstance(loss, nn.Module) else loss
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = []
    positional = [
        p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    if any(p.kind == p.VAR_POSITIONAL for p in parameters) or not positional:
        raise Unsupported(
            "the number of inputs of the loss does not follow from its signature: pass model_inputs=N, the number of "
            "inputs that the model takes"
        )
    if len(positional) - 1 > count:
        needed = len(positional) - 1
        raise Unsupported(f"the loss takes the output and {needed} inputs, but there are {count}: pass all inputs")
    return count - (len(positional) - 1)
