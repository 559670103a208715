"""What a step holds of a model and its loss: parameters, buffers and modes, and whether they are still those."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from .errors import Unsupported

LOSS = "(loss)."  # before the names of a loss's own tensors


class State:
    """The tensors of a model, and of a loss that is a module; each once, though it may have several names.

    Attributes
    ----------
    trained, others : dict of str to tensor
        Parameters that get gradients; frozen parameters and buffers.
    """

    def __init__(self, model: nn.Module, loss: Any) -> None:
        self.trained: dict[str, nn.Parameter] = {}
        self.others: dict[str, torch.Tensor] = {}
        self.owners: list[tuple[nn.Module, dict[str, str]]] = []  # with the names here by its own names
        known: dict[int, str] = {}
        for owner, prefix in ((model, ""), (loss, LOSS)):
            if isinstance(owner, nn.Module):
                own = dict(tensors_of(owner))
                for name, tensor in own.items():
                    here = known.setdefault(id(tensor), prefix + name)
                    trains = isinstance(tensor, nn.Parameter) and tensor.requires_grad
                    (self.trained if trains else self.others)[here] = tensor
                self.owners.append((owner, {name: known[id(tensor)] for name, tensor in own.items()}))
        self.kinds = {name: kind_of(tensor) for name, tensor in (self.trained | self.others).items()}
        self.modes = [(module, module.training) for owner, _ in self.owners for module in owner.modules()]
        self.autocast = autocast_of(self.device)

    @property
    def device(self) -> str:
        return next((tensor.device.type for tensor in self.trained.values()), "cpu")

    def named(self, parameters: Sequence[torch.Tensor], others: Sequence[torch.Tensor]) -> dict[str, torch.Tensor]:
        """Other tensors in the place of these."""
        return dict(zip(self.trained, parameters, strict=True)) | dict(zip(self.others, others, strict=True))

    def call(self, module: Any, values: dict[str, torch.Tensor], inputs: Sequence[Any]) -> Any:
        """The module's output with `values` for its tensors; a buffer that it assigns anew would be lost."""
        for owner, names in self.owners:
            if owner is module:
                return call_with(owner, {own: values[here] for own, here in names.items()}, inputs)
        return module(*inputs)

    def check(self) -> None:
        """Refuses to go on where tensors were replaced, frozen or moved, or the mode is another."""
        for owner, names in self.owners:
            now = dict(tensors_of(owner))
            for own in now.keys() ^ names.keys():
                raise changed(own, "is new" if own in now else "is gone")
            for own, here in names.items():
                if now[own] is not (self.trained[here] if here in self.trained else self.others[here]):
                    raise changed(here, "was replaced")
                if kind_of(now[own]) != self.kinds[here]:
                    raise changed(here, "was frozen, moved or converted")
        for module, training in self.modes:
            if module.training is not training:
                mode, other = ("train()", "eval()") if training else ("eval()", "train()")
                raise Unsupported(
                    f"{type(module).__name__} is in the mode of {other}, and the step was planned for {mode}: "
                    "switch it back, or call fit again"
                )
        now_cast = autocast_of(self.device)
        if now_cast is not None and now_cast != self.autocast:
            raise Unsupported(
                f"the step was planned {f'for autocast to {self.autocast}' if self.autocast else 'without autocast'}, "
                f"and runs inside autocast to {now_cast}: call it outside, or call fit inside"
            )
        if torch.is_inference_mode_enabled():
            raise Unsupported("a training step cannot run in inference_mode: its gradients could not be used")


def tensors_of(owner: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from owner.named_parameters()
    yield from owner.named_buffers()


def kind_of(tensor: torch.Tensor) -> tuple:
    return tensor.requires_grad, tensor.dtype, tensor.device, tensor.shape


def autocast_of(device: str) -> torch.dtype | None:
    """What autocast makes of real numbers now; None where it is off."""
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None


def changed(name: str, how: str) -> Unsupported:
    return Unsupported(f'"{name}" {how} since the step was planned: call fit again')


def call_with(module: nn.Module, given: dict[str, torch.Tensor], inputs: Sequence[Any]) -> Any:
    hook = module.register_forward_hook(lambda *_: refuse_assignment(module, given))
    try:
        return torch.func.functional_call(module, given, tuple(inputs))
    finally:
        hook.remove()


def refuse_assignment(module: nn.Module, given: dict[str, torch.Tensor]) -> None:
    for name, tensor in tensors_of(module):
        if tensor is not given.get(name):
            raise Unsupported(
                f'the model assigns a new tensor to "{name}", which a captured step would lose: write into it, as in '
                f"self.{name.rpartition('.')[2]}.copy_(...)"
            )


@contextmanager
def attributes_kept(modules: Sequence[nn.Module]) -> Iterator[None]:
    """Leaves plain attributes of modules as they were: what capture would leave in them are tensors without data."""
    saved = [(module, dict(vars(module))) for owner in modules for module in owner.modules()]
    try:
        yield
    finally:
        for module, before in saved:
            vars(module).update(before)
            for name in vars(module).keys() - before.keys():
                del vars(module)[name]


@contextmanager
def kernels_alone(device: str) -> Iterator[None]:
    """For running captured operations: autograd and autocast had their say when they were captured."""
    with torch.no_grad(), torch.autocast(torch.device(device).type, enabled=False):
        yield
