"""The arguments and outputs of a model: nested containers with tensors in them."""

from __future__ import annotations

import copy
import dataclasses
from collections import UserDict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from . import _adapter
from .fingerprint import PLAIN


class Slot(NamedTuple):
    """The place of a tensor."""

    index: int


class Branch(NamedTuple):
    """A container: its type and what else determines it, its entries, and how to build one of other entries."""

    kind: Any
    entries: list[Any]
    build: Callable


def take_tensors(value: Any, tensors: list[torch.Tensor]) -> Any:
    """The structure of `value`, whose tensors are appended to `tensors`; other objects are kept as they are."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return Slot(len(tensors) - 1)
    if isinstance(value, PLAIN):
        return value
    parts = parts_of(value)
    if parts is None:
        return value
    entries, context, build = parts
    return Branch((type(value), context), [take_tensors(entry, tensors) for entry in entries], build)


def parts_of(value: Any) -> tuple[list[Any], Any, Callable] | None:
    known = _adapter.container_of(value)
    if known is not None:
        return known
    if isinstance(value, UserDict):
        return list(value.values()), list(value), lambda entries: dict(zip(value, entries, strict=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]

        def build(entries: list[Any]) -> Any:
            made = copy.copy(value)
            for name, entry in zip(names, entries, strict=True):
                object.__setattr__(made, name, entry)
            return made

        return [getattr(value, name) for name in names], names, build
    return None


def put_tensors(structure: Any, tensors: list[Any]) -> Any:
    """The value with this structure and other tensors."""
    if isinstance(structure, Slot):
        return tensors[structure.index]
    if isinstance(structure, Branch):
        return structure.build([put_tensors(entry, tensors) for entry in structure.entries])
    return structure


def others_in(structure: Any) -> Iterator[Any]:
    """The objects in a structure that are neither tensors nor containers."""
    if isinstance(structure, Branch):
        for entry in structure.entries:
            yield from others_in(entry)
    elif not isinstance(structure, Slot):
        yield structure


def key_of(structure: Any) -> Any:
    """Equal for structures for which a model runs the same code: equal containers, and equal or identical objects."""
    if isinstance(structure, Slot):
        return Slot
    if isinstance(structure, Branch):
        kind, context = structure.kind
        return (kind, repr(context), *map(key_of, structure.entries))
    if isinstance(structure, float):
        return float, repr(structure)  # nan is nan, and -0.0 is not 0.0
    return (type(structure), structure) if isinstance(structure, PLAIN) else (type(structure), id(structure))


def layout_of(tensor: torch.Tensor) -> tuple[int, ...]:
    """Strides of dimensions longer than 1."""
    return tuple(stride for stride, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1)


def kind_of(tensor: torch.Tensor) -> tuple:
    """What a captured step depends on, other than the numbers."""
    return tensor.shape, tensor.dtype, tensor.device, layout_of(tensor), tensor.requires_grad
