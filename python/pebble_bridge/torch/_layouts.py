"""Layouts that torch's fake tensors get wrong, in addition to `_adapter`: uses of undocumented torch interfaces.

For some operations torch computes fake results by a decomposition, whose strides are not those of the kernel if an
input is transposed: the backward passes of normalisations and dropout are examples. A view that is possible for the
fake tensor may then be impossible for the real one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import _pytree as pytree

from . import _adapter


@contextmanager
def kernel_layouts() -> Iterator[None]:
    """A context in which fake results of such operations have the strides of their kernels, which run once on random
    data for each new combination of shapes and layouts."""
    from torch._decomp import decomposition_table
    from torch._subclasses.fake_tensor import FakeTensorMode, torch_decomp_decompositions

    saved = {
        op: function
        for op, function in decomposition_table.items()
        if isinstance(op, torch._ops.OpOverload) and op.namespace == "aten" and torch_decomp_decompositions(op)
    }
    tried: dict[Any, list[tuple[int, ...] | None]] = {}
    FakeTensorMode.cache_clear()
    decomposition_table.update({op: corrected(op, function, tried) for op, function in saved.items()})
    try:
        yield
    finally:
        decomposition_table.update(saved)
        FakeTensorMode.cache_clear()


def corrected(op: Any, decomposition: Callable, tried: dict[Any, list[tuple[int, ...] | None]]) -> Callable:
    @functools.wraps(decomposition)  # torch chooses decompositions by name and module
    def with_layouts(*args: Any, **kwargs: Any) -> Any:
        found = decomposition(*args, **kwargs)
        tensors = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        if op.is_view or op._schema.is_mutable or all(tensor.is_contiguous() for tensor in tensors):
            return found
        others = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if not isinstance(leaf, torch.Tensor)]
        key = (op, str(others), *((tensor.shape, tensor.stride(), tensor.dtype) for tensor in tensors))
        if key not in tried:
            tried[key] = kernel_strides(op, args, kwargs)
        leaves, structure = pytree.tree_flatten(found)
        return pytree.tree_unflatten(list(map(laid_out, leaves, tried[key])), structure)

    return with_layouts


def kernel_strides(op: Any, args: tuple, kwargs: dict[str, Any]) -> list[tuple[int, ...] | None]:
    """The strides of a kernel's results on random data."""
    with _adapter.real_tensors(), torch.no_grad(), torch.random.fork_rng(devices=[]):
        real_args, real_kwargs = pytree.tree_map(_adapter.real_like, (args, kwargs))
        results = pytree.tree_leaves(op(*real_args, **real_kwargs), is_leaf=lambda leaf: leaf is None)
    return [tuple(result.stride()) if isinstance(result, torch.Tensor) else None for result in results]


def laid_out(fake: Any, strides: tuple[int, ...] | None) -> Any:
    if not isinstance(fake, torch.Tensor) or fake.stride() == strides:
        return fake
    return torch.empty_strided(fake.shape, strides, dtype=fake.dtype, device=fake.device)
