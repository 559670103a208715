"""Plans before training, and from one process to the next: `warmup`, `plans`, `save` and `load`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import nn

from . import saved
from .budget import Budgeted
from .calls import put_tensors, take_tensors
from .errors import Unsupported
from .shapes import zeros_like
from .step import Planned
from .wrapping import budgeted_forward, wrapped_module


def budgeted(model: nn.Module) -> Budgeted:
    forward = budgeted_forward(wrapped_module(model))
    if forward is None or forward.released:
        raise Unsupported("the model has no budget: call pebble_bridge.torch.budget(model, ...) first")
    return forward


def plans(model: nn.Module) -> list[Planned]:
    """The plans that a model with a budget has made so far, the last used first."""
    return budgeted(model).plans


def warmup(model: nn.Module, batches: Iterable[Any] = ()) -> list[Planned]:
    """Plans ahead of training, and waits for all plans that are being made.

    Parameters
    ----------
    model : nn.Module
        With a budget, and in the mode in which it will be trained.
    batches : iterable
        For each kind of call the arguments: a tensor, a tuple of arguments, or a dict of named ones. Where only shapes
        are known, tensors on the meta device stand for zeros: ``torch.empty(8, 512, dtype=torch.long, device="meta")``.

    Returns
    -------
    list of Planned
        All plans of the model, the last used first.
    """
    forward = budgeted(model)
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    with torch.enable_grad():
        for batch in batches:
            named = isinstance(batch, Mapping)
            args = () if named else tuple(batch) if isinstance(batch, (tuple, list)) else (batch,)
            tensors: list[torch.Tensor] = []
            structure = take_tensors((args, dict(batch) if named else {}), tensors)
            real = [zeros_like(tensor, device) if tensor.is_meta else tensor for tensor in tensors]
            args, kwargs = put_tensors(structure, real)
            forward.prepare(args, kwargs)
    forward.finish()
    return forward.plans


def save(model: nn.Module, file: str | os.PathLike) -> int:
    """Writes the plans of a model to a file, for `load`; returns how many."""
    known = budgeted(model).shapes.known.values()
    saved.write(file, known)
    return len(known)


def load(model: nn.Module, file: str | os.PathLike) -> int:
    """Reads plans that `save` wrote for a model with the same operations and the same options; returns how many.

    Each runs once before it is used. A file that is damaged, or not a file of plans, is not used, with a warning.
    """
    return budgeted(model).shapes.add(saved.read(file))
