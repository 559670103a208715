"""From a model, a loss and example inputs to a program of operations over storages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from . import _adapter, passes
from ._layouts import kernel_layouts
from .decided import Decided
from .errors import Unsupported
from .fingerprint import Reads, has_backward_hooks
from .found import Found, as_found, other_generators, other_generators_drew
from .gradient_hooks import refuse_wrappers
from .left import hook_variables, refuse_left
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
    output_places: list[int]
    tangent_outputs: list[int]  # outputs that get a gradient from outside; none in a step that ends in a loss
    brief_outputs: list[int]  # outputs that the caller has dropped when the backward pass begins
    gradient_places: dict[int, int]  # to parameters, and to inputs counted after parameters and buffers
    buffer_places: dict[int, int]
    example_inputs: tuple[torch.Tensor, ...]
    run: Callable  # of parameters, buffers and inputs; returns the outputs
    state: State
    decided: Decided

    def __repr__(self) -> str:
        return f"<Captured {type(self.model).__name__}: {len(self.program.operations)} operations>"

    def given(self, inputs: Sequence[torch.Tensor]) -> list[Any]:
        """The tensors for the program's given nodes."""
        constants = [getattr(self.program.module, node.target) for node in self.program.given if node.op == "get_attr"]
        return [*self.parameters, *self.buffers, *inputs, *constants]

    @property
    def leaves(self) -> list[torch.Tensor]:
        """The tensors that gradients are numbered by."""
        return [*self.parameters, *self.buffers, *self.example_inputs]

    def leaf_name(self, index: int) -> str:
        named = [*self.parameter_names, *self.state.others]
        return named[index] if index < len(named) else f"input {index - len(named)}"

    @property
    def loss_place(self) -> int:
        return self.output_places[0]

    def plain_step(self, inputs: Sequence[torch.Tensor] | None = None) -> torch.Tensor:
        """One step of eager PyTorch: forward, loss, backward into ``.grad``. Returns the first output."""
        outputs = self.run(self.parameters, self.buffers, self.example_inputs if inputs is None else inputs)
        return self.backward(outputs)

    def backward(self, outputs: list[torch.Tensor]) -> torch.Tensor:
        """The backward pass, outside of autocast as users run it."""
        with torch.autocast(self.state.device, enabled=False):
            if self.tangent_outputs:
                tangents = self.program.make_tangents()  # the last one may be what else the caller keeps
                differentiated = [outputs[i] for i in self.tangent_outputs]
                torch.autograd.backward(differentiated, tangents[: len(differentiated)])
            else:
                outputs[0].backward()
        return outputs[0].detach()

    def plain_results(self, all_outputs: bool = True) -> tuple[list[torch.Tensor], dict[int, torch.Tensor]]:
        """Outputs and gradients (by leaf) of a plain step. Gradients go to other leaves than the parameters themselves,
        so that no hook of a trainer or of a wrapper such as DistributedDataParallel runs."""
        parameters = [nn.Parameter(parameter.detach()) for parameter in self.parameters]
        inputs = [value.detach().requires_grad_(value.requires_grad) for value in self.example_inputs]
        outputs = self.run(parameters, self.buffers, inputs)
        for place in () if all_outputs else self.brief_outputs:
            outputs[place] = outputs[place].new_zeros(())  # the caller drops it
        self.backward(outputs)
        leaves, gradients = [*parameters, *self.buffers, *inputs], {}
        for index in self.gradient_places.values():
            gradients[index] = leaves[index].grad
            leaves[index].grad = None  # a recurrent module may still have the leaf
        return [output.detach() for output in outputs], gradients


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
    if not state.trained:
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

    roots = {"model": model} if loss is None else {"model": model, "loss": loss}
    return capture_run(state, lambda *values: [run(*values)], inputs, roots, inplace=inplace, trials=trials)


def capture_run(
    state: State,
    run: Callable,
    inputs: tuple[torch.Tensor, ...],
    roots: dict[str, Any],
    *,
    inplace: bool,
    trials: bool,
    differentiated: Callable | None = None,
    held: Callable | None = None,
    kept: int = 0,
) -> Captured:
    """Captures ``run(parameters, buffers, inputs)``, which returns the outputs; see `_adapter.trace`.

    Of the outputs without a gradient from outside, those in ``held()`` exist until the step ends; the caller has dropped
    the others when the backward pass begins. If ``held()`` is None, outputs with a gradient need not exist then either.
    """
    trained, others = list(state.trained.values()), list(state.others.values())
    chosen: list[int] = []
    decided = Decided()

    def choose(outputs: list[torch.Tensor]) -> list[int]:
        chosen[:] = differentiated(outputs)
        return chosen

    leaves = [*trained, *others, *inputs]
    with kernel_layouts() if trials else nullcontext():
        trace = trace_as_found(state, run, inputs, roots, choose if differentiated else None, decided)
        if differentiated:
            alive = held() if held else ()
            long = set() if alive is None else {*chosen, *alive}
            trace.brief.extend(place for index, place in enumerate(trace.outputs) if index not in long)
        with kernels_alone(state.device), torch.random.fork_rng(devices=[]):
            tangents = [example_tangent(node.meta["val"]) for node in trace.tangents]
            passes.simplify(trace, trials)
            program = analyse(trace, leaves, tangents, kept)
            if passes.settle_gradients(trace, program, leaves):
                program = analyse(trace, leaves, tangents, kept)
    for operation in program.operations:
        operation.module, operation.backward = trace.origin[operation.node]
    if inplace:
        with kernels_alone(state.device), torch.random.fork_rng(devices=[]):
            passes.find_inplace(program)
            passes.try_inplace(program, trials)
    return Captured(
        program,
        roots["model"],
        trained,
        others,
        list(state.trained),
        trace.outputs,
        chosen,
        [trace.outputs.index(place) for place in trace.brief],
        trace.gradients,
        trace.buffers,
        inputs,
        run,
        state,
        decided,
    )


def example_tangent(fake: torch.Tensor) -> torch.Tensor:
    """1 for a loss, random numbers for other outputs."""
    made = _adapter.real_like(fake)
    return made.fill_(1) if made.dim() == 0 else made.div_(made.numel())


def trace_as_found(
    state: State,
    run: Callable,
    inputs: Sequence[torch.Tensor],
    roots: dict[str, Any],
    differentiated: Callable | None,
    decided: Decided,
) -> _adapter.Trace:
    """Traces the step and restores the model and the loss; `state` keeps what the trace depends on."""
    reads, generators = Reads(), other_generators()
    modules = [module for owner, _ in state.owners for module in owner.modules()]
    backward = has_backward_hooks(modules)  # then Python code runs in the backward pass too

    def observed(*values: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        with reads.recording(found.objects, not backward and not found.samples):  # only once, because it is slow
            with decided.watching([*values[1], *values[2]], [*state.others.values(), *inputs]):
                result = run(*values)
        found.sample()
        return result

    with as_found([*roots.values(), *hook_variables(modules)]) as found:
        with reads.recording(found.objects, backward):
            trace = _adapter.trace(
                roots["model"],
                observed,
                list(state.trained.values()),
                list(state.others.values()),
                inputs,
                differentiated,
            )
        refuse_what_moves(found, generators)
        reads.finish()
        changes = found.changes()
        if differentiated is not None:
            own = list(state.trained.values()), list(state.others.values()), list(inputs)
            refuse_left(found, roots["model"], run, own)
    state.keep(roots, reads, changes, guarded=differentiated is None)
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


def check_model(model: nn.Module) -> None:
    if not isinstance(model, nn.Module):
        raise Unsupported(f"model: expected a torch.nn.Module, not {type(model).__name__}")
    for name, parameter in model.named_parameters():
        if isinstance(parameter, nn.UninitializedParameter):
            raise Unsupported(f'"{name}" has no shape yet: run the model once on a batch first')


def check(model: nn.Module, inputs: Sequence[Any]) -> None:
    check_model(model)
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
