"""The arguments and outputs of a model: nested containers with tensors in them."""

from __future__ import annotations

import copy
import dataclasses
from collections import UserDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch

from . import _adapter
from .errors import Unsupported
from .fingerprint import PLAIN


VALUES = 4  # plans for one kind of call, for different numbers among its arguments


class Slot(NamedTuple):
    """The place of a tensor."""

    index: int


class Number(NamedTuple):
    """The place of a number among the arguments."""

    index: int
    type: type


class Branch(NamedTuple):
    """A container: its type and what else determines it, its entries, and how to build one of other entries."""

    kind: Any
    entries: list[Any]
    build: Callable


def take_tensors(value: Any, tensors: list[torch.Tensor], numbers: list[int | float] | None = None) -> Any:
    """The structure of `value`, whose tensors are appended to `tensors`, and its numbers to `numbers` if that is given;
    other objects are kept as they are."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return Slot(len(tensors) - 1)
    if numbers is not None and type(value) in (int, float):
        numbers.append(value)
        return Number(len(numbers) - 1, type(value))
    if isinstance(value, PLAIN):
        return value
    parts = parts_of(value)
    if parts is None:
        return value
    entries, context, build = parts
    return Branch((type(value), context), [take_tensors(entry, tensors, numbers) for entry in entries], build)


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


def put_tensors(structure: Any, tensors: Sequence[Any], numbers: Sequence[Any] = ()) -> Any:
    """The value with this structure and other tensors and numbers."""
    if isinstance(structure, Slot):
        return tensors[structure.index]
    if isinstance(structure, Number):
        return numbers[structure.index]
    if isinstance(structure, Branch):
        return structure.build([put_tensors(entry, tensors, numbers) for entry in structure.entries])
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
    if isinstance(structure, Number):
        return Number, structure.type
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


class Numbers:
    """The numbers among the arguments of one kind of call: their first values, and which have changed since."""

    def __init__(self, first: list[int | float], compared: bool) -> None:
        self.first, self.changing = first, set()
        self.passed: set[int] = set()  # places of numbers that are inputs of a plan
        self.fixed: dict[int, str] = {}  # those that cannot be, and why
        self.values: set[Any] = set()  # of the fixed ones; each has its own plans
        self.compared = compared  # whether captured steps are compared with the model

    def see(self, numbers: list[int | float]) -> tuple[int, ...]:
        """The places of numbers to pass as tensors."""
        pairs = zip(self.first, numbers, strict=True)
        self.changing |= {place for place, pair in enumerate(pairs) if key_of(pair[0]) != key_of(pair[1])}
        if not self.compared:
            self.fix(tuple(self.changing), 'with costs="flops" the plan is not compared with the model')
        value = tuple(key_of(numbers[place]) for place in self.fixed)
        if value not in self.values and len(self.values) == VALUES:
            place, reason = next(iter(self.fixed.items()))
            raise Unsupported(
                f"a number among the arguments of the model, now {numbers[place]}, changes from call to call. Each "
                f"value needs its own plan, and there are {VALUES} already, because the number cannot be an input of "
                f"the plan: {reason}. Pass it as a tensor that the model computes with, or use few different values"
            )
        self.values.add(value)
        return tuple(sorted(self.changing - set(self.fixed)))

    def fix(self, places: tuple[int, ...], reason: str) -> bool:
        """Numbers that cannot be inputs; False if all of them are already."""
        new = set(places) - self.passed - set(self.fixed)
        if new:
            self.fixed |= dict.fromkeys(new, reason)
            self.values = {tuple(key_of(self.first[place]) for place in self.fixed)}
        return bool(new)
