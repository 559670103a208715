"""Restores the Python objects of a model after capture and trial runs, also after a failure."""

from __future__ import annotations

import enum
import functools
import random
import sys
import types
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

DEPTH = 4  # nesting depth of restored objects, from a module
LARGE = 10_000  # a container with more entries is data rather than settings: ignored
NUMBERS = (bool, int, float, complex, str)
CONTAINERS = (dict, list, tuple, set, deque)
OPAQUE = (torch.Tensor, type, types.ModuleType, enum.Enum, *NUMBERS)


class Own:
    """An object of this package inside a model, in place of the function `__wrapped__`: no part of the model itself."""

    __slots__ = ()
    __wrapped__: Any


class Found:
    """Copies of the dictionaries, lists, sets and closure cells that modules and a loss consist of.

    Parameters
    ----------
    roots : iterable
        Modules and callables. Their tensors' values are not copied: `measure.untouched` does that.
    """

    def __init__(self, roots: Iterable[Any]) -> None:
        self.copies: dict[int, tuple[Any, Any]] = {}  # by id: the container, and what was in it
        self.requires_grad: list[tuple[torch.Tensor, bool]] = []
        self.classes: list[tuple[nn.Module, type]] = []
        self.objects: set[type] = set()  # classes of all objects with attributes
        self.samples: list[dict[tuple[int, Any], Any]] = []
        waiting = [(root, 0) for root in roots]
        while waiting:
            thing, depth = waiting.pop()
            if isinstance(thing, nn.Parameter) and id(thing) not in self.copies:
                self.copies[id(thing)] = (thing, None)
                self.requires_grad.append((thing, thing.requires_grad))
            elif isinstance(thing, nn.Module) and id(vars(thing)) not in self.copies:
                self.classes.append((thing, type(thing)))
            if not isinstance(thing, (*CONTAINERS, *OPAQUE, Own)):
                self.objects.add(type(thing))
            for part, inside in parts_of(thing):
                if id(part) not in self.copies:
                    self.copies[id(part)] = (part, copy_of(part) if len(inside) <= LARGE else None)
                    if len(inside) <= LARGE and (depth < DEPTH or isinstance(thing, nn.Module)):
                        waiting += [(value, 0 if isinstance(value, nn.Module) else depth + 1) for value in inside]

    def sample(self) -> None:
        """Records numbers and strings, to find those that change from call to call."""
        self.samples.append(
            {
                (id(part), key): value
                for part, _ in self.copies.values()
                if isinstance(part, dict)
                for key, value in part.items()
                if isinstance(value, NUMBERS)
            }
        )

    def moving(self) -> Iterator[tuple[dict, Any, Any, Any]]:
        """Numbers and strings that differ between the last two samples: container, key, old and new value."""
        if len(self.samples) < 2:
            return
        before, after = self.samples[-2:]
        for place, value in after.items():
            if place in before and before[place] != value:
                yield self.copies[place[0]][0], place[1], before[place], value

    def changes(self) -> list[tuple[Any, Any, Any]]:
        """Entries that have changed: the container, the key (None: all of it) and the current value."""
        differences: list[tuple[Any, Any, Any]] = []
        for part, before in self.copies.values():
            if before is None or unchanged(part, before):
                continue
            if isinstance(part, dict):
                for key in {**before, **part}:
                    if part.get(key, MISSING) is not before.get(key, MISSING):
                        differences.append((part, key, part.get(key, MISSING)))
            else:
                differences.append((part, None, MISSING))
        return differences

    def put_back(self) -> None:
        for part, before in self.copies.values():
            if before is not None and not unchanged(part, before):
                put_back(part, before)
        for module, kind in self.classes:
            if type(module) is not kind:
                module.__class__ = kind
        for parameter, flag in self.requires_grad:
            if parameter.requires_grad is not flag:
                parameter.requires_grad_(flag)


MISSING = object()


def parts_of(thing: Any) -> list[tuple[Any, list[Any]]]:
    """The containers of an object, each with its values."""
    if isinstance(thing, Own):
        return parts_of(thing.__wrapped__)
    if isinstance(thing, OPAQUE):
        return []
    if isinstance(thing, CONTAINERS) and not isinstance(thing, dict):
        parts = [(thing, list(thing))]
    elif isinstance(thing, dict):
        parts = [(thing, list(thing.values()))]
    elif isinstance(thing, types.CellType):
        parts = [(thing, [contents(thing)])]
    elif isinstance(thing, types.FunctionType):
        parts = [(cell, [contents(cell)]) for cell in thing.__closure__ or ()]
        if thing.__kwdefaults__:
            parts.append((thing.__kwdefaults__, list(thing.__kwdefaults__.values())))
    elif isinstance(thing, types.MethodType):
        return parts_of(thing.__func__) + parts_of(thing.__self__)
    elif isinstance(thing, functools.partial):
        parts = [(thing.keywords, [thing.func, *thing.args, *thing.keywords.values()])]
    else:
        parts = []
    own = getattr(thing, "__dict__", None)
    if type(own) is dict and not isinstance(thing, (types.FunctionType, types.BuiltinFunctionType)):
        parts.append((own, list(own.values())))
    if slots_of(thing):
        parts.append((thing, list(slot_values(thing).values())))
    return parts


def slots_of(thing: Any) -> list[str]:
    """Attributes of an object with __slots__."""
    names: list[str] = []
    for kind in () if type(thing).__module__ == "builtins" else type(thing).__mro__:
        slots = vars(kind).get("__slots__", ())
        names += (slots,) if isinstance(slots, str) else slots
    return [name for name in names if not name.startswith("__")]


def slot_values(thing: Any) -> dict[str, Any]:
    return {name: getattr(thing, name, MISSING) for name in slots_of(thing)}


def contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not set yet
        return MISSING


def copy_of(part: Any) -> Any:
    if isinstance(part, types.CellType):
        return [contents(part)]
    if isinstance(part, dict):
        return dict(part)
    return list(part) if isinstance(part, CONTAINERS) else slot_values(part)


def unchanged(part: Any, before: Any) -> bool:
    if isinstance(part, types.CellType):
        return contents(part) is before[0]
    if not isinstance(part, CONTAINERS):
        return all(getattr(part, name, MISSING) is value for name, value in before.items())
    if len(part) != len(before):
        return False
    if isinstance(part, set):
        return part == set(before)
    if isinstance(part, dict):
        return list(part) == list(before) and all(a is b for a, b in zip(part.values(), before.values(), strict=True))
    return all(a is b for a, b in zip(part, before, strict=True))


def put_back(part: Any, before: Any) -> None:
    if isinstance(part, types.CellType):
        if before[0] is MISSING:
            del part.cell_contents
        else:
            part.cell_contents = before[0]
    elif not isinstance(part, CONTAINERS):
        for name, value in before.items():
            if getattr(part, name, MISSING) is not value:
                setattr(part, name, value) if value is not MISSING else delattr(part, name)
    elif not isinstance(part, tuple):
        kind = next(kind for kind in (OrderedDict, dict, list, set, deque) if isinstance(part, kind))
        kind.clear(part)  # not the methods of a subclass, which may raise
        (kind.extend if kind in (list, deque) else kind.update)(part, before)


@contextmanager
def as_found(roots: Iterable[Any]) -> Iterator[Found]:
    """Restores the objects, and Python's and numpy's generators."""
    found, generators = Found(roots), other_generators()
    try:
        yield found
    finally:
        found.put_back()
        random.setstate(generators[0])
        if generators[1] is not None:
            sys.modules["numpy"].random.set_state(generators[1])


def other_generators() -> tuple[Any, Any]:
    """States of the generators of Python and, if it is imported, numpy."""
    numpy = sys.modules.get("numpy")
    return random.getstate(), numpy.random.get_state() if numpy is not None else None


def other_generators_drew(before: tuple[Any, Any]) -> str | None:
    """The generator outside of torch that has drawn numbers since `before`."""
    now = other_generators()
    if now[0] != before[0]:
        return "random"
    if before[1] is not None and now[1] is not None:
        one, other = before[1], now[1]
        if one[2:] != other[2:] or not (one[1] == other[1]).all():
            return "numpy.random"
    return None
