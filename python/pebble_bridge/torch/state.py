"""The state of a model and its loss that a step uses: parameters, buffers and modes, and whether it has changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

import torch
from torch import nn

from . import _adapter
from .errors import Unsupported
from .fingerprint import Fingerprint, Reads
from .gradient_hooks import GradientGuard

LOSS = "(loss)."  # prefix of the names of a loss's own tensors


class State:
    """The tensors of a model, and of a loss that is a module; each once, even if it has several names.

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
        self.paths = [path_of(name) for name in (*self.trained, *self.others)]
        self.tensors = [*self.trained.values(), *self.others.values()]
        self.kinds = list(map(kind_of, self.tensors))
        self.autocast = autocast_of(self.device)

    @property
    def device(self) -> str:
        return next((tensor.device.type for tensor in self.tensors), "cpu")

    def named(self, parameters: Sequence[torch.Tensor], others: Sequence[torch.Tensor]) -> dict[str, torch.Tensor]:
        """The given tensors by name, in place of the model's own."""
        return dict(zip(self.trained, parameters, strict=True)) | dict(zip(self.others, others, strict=True))

    def call(self, module: Any, values: dict[str, torch.Tensor], inputs: Sequence[Any]) -> Any:
        """The module's output with `values` for its tensors; rejects a module that replaces a buffer, which would be
        lost."""
        for owner, names in self.owners:
            if owner is module:
                return call_with(owner, {own: values[here] for own, here in names.items()}, inputs)
        return module(*inputs)

    def keep(self, roots: dict[str, Any], reads: Reads, changes: list, guarded: bool) -> None:
        """Keeps the values that the captured step read from Python objects, and which of them the model may change. A
        step that autograd does not run is guarded against hooks on gradients."""
        self.roots = list(roots.values())
        self.fingerprint = Fingerprint(roots, reads)
        self.fingerprint.see(changes)
        modules = [module for owner, _ in self.owners for module in owner.modules()]
        self.guard = GradientGuard(self.trained, modules) if guarded else None

    def check(self) -> None:
        """Raises if something that the captured step depends on has changed."""
        self.fingerprint.check()
        if list(map(kind_of, self.tensors)) != self.kinds:
            for name, tensor, kind in zip(self.paths, self.tensors, self.kinds, strict=True):
                if kind_of(tensor) != kind:
                    raise Unsupported(f"{name} was frozen, moved or converted since fit; call fit again")
        if self.guard is not None:
            self.guard.check()
        now_cast = autocast_of(self.device)
        if now_cast is not None and now_cast != self.autocast:
            raise Unsupported(
                f"the step was planned {f'for autocast to {self.autocast}' if self.autocast else 'without autocast'}, "
                f"and runs inside autocast to {now_cast}: call it outside, or call fit inside"
            )
        if torch.is_inference_mode_enabled():
            raise Unsupported("a training step cannot run in inference_mode, without usable gradients: leave it")


def tensors_of(owner: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from owner.named_parameters()
    yield from owner.named_buffers()


kind_of = attrgetter("requires_grad", "dtype", "device", "shape")


def path_of(name: str) -> str:
    """A tensor's name as a Python expression: ``model[0].weight`` for "0.weight"."""
    root, name = ("loss", name.removeprefix(LOSS)) if name.startswith(LOSS) else ("model", name)
    return root + "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in name.split("."))


def autocast_of(device: str) -> torch.dtype | None:
    """The current dtype of autocast; None if it is off."""
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None


@contextmanager
def with_tensors(module: nn.Module, given: dict[str, torch.Tensor]) -> Iterator[None]:
    """`module` with `given` for its tensors; rejects a call that replaces a buffer, which would be lost."""
    with _adapter.reparametrized(module, given):
        yield
        refuse_assignment(module, given)


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
                f'the model assigns a new tensor to "{name}", which a captured step would lose: write in place, as in '
                f"self.{name.rpartition('.')[2]}.copy_(...)"
            )


@contextmanager
def kernels_alone(device: str) -> Iterator[None]:
    """A context for captured operations, without autograd and autocast, which were applied at capture."""
    with torch.no_grad(), torch.autocast(torch.device(device).type, enabled=False):
        yield
