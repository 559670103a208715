"""Numbers that a model's Python code reads from its inputs while it is captured.

A model may read a number from a mask, such as whether anything is padded, and choose its operations by it. If the number
follows from inputs, buffers and constants alone, it is computed while the step is captured, with the operations that
led to it; the captured step is right for all calls for which these operations give the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakTensorKeyDictionary

from . import _adapter

LARGEST = 1 << 24  # elements of a result that is computed for its numbers


class Known(NamedTuple):
    """A tensor whose numbers are known while the step is traced."""

    index: int
    numbers: torch.Tensor


class Ref(NamedTuple):
    """An argument of a recorded call: an earlier result, or one of the buffers and inputs."""

    index: int


class Call(NamedTuple):
    function: Any
    args: tuple
    kwargs: dict[str, Any]
    results: list[int]
    touched: set[int]  # storages that it creates or writes to
    read: set[int]


class Decided:
    """The numbers that were read, and the calls that give them."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.numbers: list[tuple[int, Any]] = []  # results of the calls, and what was read

    @contextmanager
    def watching(self, given: Sequence[torch.Tensor], examples: Sequence[torch.Tensor]) -> Iterator[None]:
        """A context for a model that is traced with the fake tensors `given`, whose numbers are those of `examples`."""
        self.calls, self.numbers = [], []
        with Watch(self, given, examples) as watch:
            yield
        self.calls = needed_calls(self.calls, watch.storages_read) if self.numbers else []

    def holds(self, given: Sequence[torch.Tensor]) -> bool:
        """Whether buffers and inputs give the same numbers."""
        if not self.numbers:
            return True
        values: dict[int, torch.Tensor] = dict(enumerate(given))
        with torch.no_grad():
            for call in self.calls:
                args, kwargs = pytree.tree_map_only(
                    Ref, lambda ref: values[ref.index], (call.args, call.kwargs), is_leaf=is_ref
                )
                results = pytree.tree_leaves(call.function(*args, **kwargs))
                values.update(zip(call.results, results, strict=True))
            return all(values[index].item() == number for index, number in self.numbers)


def is_ref(value: Any) -> bool:
    return isinstance(value, Ref)


def is_constant(tensor: torch.Tensor) -> bool:
    """Whether this is a tensor with data of its own, in a step that is traced."""
    return type(tensor) is torch.Tensor and not torch._is_functional_tensor(tensor)


class Watch(TorchDispatchMode):
    """Computes the numbers of everything that follows from the given tensors and from constants."""

    def __init__(self, decided: Decided, given: Sequence[torch.Tensor], examples: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self.decided, self.known = decided, WeakTensorKeyDictionary()
        self.count = len(examples)
        self.roots = {_adapter.storage_key(example) for example in examples}
        self.rooted = set(self.roots)  # storages whose numbers depend on buffers or inputs
        self.storages_read: set[int] = set()
        for index, (tensor, example) in enumerate(zip(given, examples, strict=True)):
            self.known[tensor] = Known(index, example)

    def __torch_dispatch__(self, function: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tensors = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        known = [self.known_of(tensor) for tensor in tensors]
        if any(one is None for one in known) or _adapter.is_random(function):
            self.forget(function, args, kwargs)
            return function(*args, **kwargs)
        if function is torch.ops.aten._local_scalar_dense.default:
            return self.read(tensors[0])
        result = function(*args, **kwargs)
        self.compute(function, args, kwargs, result)
        return result

    def read(self, tensor: torch.Tensor) -> Any:
        """The number of a tensor; the copy keeps it if the tensor is written to later."""
        numbers = self.known[tensor].numbers
        with _adapter.real_tensors(), torch.no_grad():
            copy = numbers.clone()
            number = copy.item()
        if _adapter.storage_key(numbers) in self.rooted:
            self.record(torch.ops.aten.clone.default, (tensor,), {}, [numbers], [copy], [])
            self.storages_read.add(_adapter.storage_key(copy))
            self.decided.numbers.append((self.count - 1, number))
        return number

    def known_of(self, tensor: torch.Tensor) -> Known | None:
        found = self.known.get(tensor)
        if found is None and is_constant(tensor):
            found = self.known[tensor] = self.number(tensor)
        return found

    def number(self, numbers: torch.Tensor) -> Known:
        self.count += 1
        return Known(self.count - 1, numbers)

    def compute(self, function: Any, args: tuple, kwargs: dict[str, Any], result: Any) -> None:
        """Runs the call on the numbers, and records it."""
        leaves = pytree.tree_leaves(result)
        if any(not isinstance(leaf, torch.Tensor) or leaf.numel() > LARGEST for leaf in leaves):
            self.forget(function, args, kwargs)
            return
        writes = written(function, args, kwargs)
        if any(_adapter.storage_key(self.known[tensor].numbers) in self.roots for tensor in writes):
            self.forget(function, args, kwargs)
            return
        real_args, real_kwargs = pytree.tree_map_only(torch.Tensor, lambda t: self.known[t].numbers, (args, kwargs))
        tensors = [leaf for leaf in pytree.tree_leaves((real_args, real_kwargs)) if isinstance(leaf, torch.Tensor)]
        with _adapter.real_tensors(), torch.no_grad():
            numbers = pytree.tree_leaves(function(*real_args, **real_kwargs))
        results = self.record(function, args, kwargs, tensors, numbers, [self.known[t].numbers for t in writes])
        for leaf, one in zip(leaves, results, strict=True):
            self.known[leaf] = one

    def record(
        self, function: Any, args: tuple, kwargs: dict[str, Any], reads: list, numbers: list, writes: list
    ) -> list[Known]:
        read = set(map(_adapter.storage_key, reads))
        touched = set(map(_adapter.storage_key, [*numbers, *writes]))
        if read & self.rooted:
            self.rooted |= touched
        results = [self.number(number) for number in numbers]
        recorded = pytree.tree_map_only(torch.Tensor, self.reference, (args, kwargs))
        self.decided.calls.append(Call(function, *recorded, [one.index for one in results], touched, read))
        return results

    def reference(self, tensor: torch.Tensor) -> Any:
        return tensor if is_constant(tensor) else Ref(self.known[tensor].index)

    def forget(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        """What is written to here is no longer known, nor what shares its memory."""
        for tensor in written(function, args, kwargs):
            gone = self.known.get(tensor)
            if gone is not None:
                storage = _adapter.storage_key(gone.numbers)
                for other, one in list(self.known.items()):
                    if _adapter.storage_key(one.numbers) == storage:
                        del self.known[other]


def written(function: Any, args: tuple, kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """The arguments that a call writes to."""
    found: list[torch.Tensor] = []
    for place, argument in enumerate(function._schema.arguments):
        value = args[place] if place < len(args) else kwargs.get(argument.name)
        if argument.alias_info is not None and argument.alias_info.is_write and value is not None:
            found += [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
    return found


def needed_calls(calls: list[Call], storages: set[int]) -> list[Call]:
    """The calls that something in `storages` depends on, in order."""
    needed, found = set(storages), []
    for call in reversed(calls):
        if call.touched & needed:
            needed |= call.read
            found.append(call)
    return found[::-1]
