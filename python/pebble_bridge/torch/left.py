"""Tensors that a model's code leaves in its own objects: an auxiliary loss in an attribute, activations that a hook collects.

A plan does not run that code, so a model that computes such tensors from its inputs or parameters is not captured as a
whole; `budget` plans the modules inside it, and runs the code that keeps tensors.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

from ._around import trace_forward
from .errors import Unsupported
from .found import CONTAINERS, MISSING, Found, contents

Place = tuple[Any, Any]  # a container and a key in it; None: all of it


def hook_variables(modules: Iterable[nn.Module]) -> list[Any]:
    """The containers among the global variables that hooks name: ``features[name] = output``."""
    found = {}
    for module in modules:
        for hook in (*module._forward_hooks.values(), *module._forward_pre_hooks.values()):
            function = getattr(hook, "__func__", hook)
            if isinstance(function, types.FunctionType):
                for name in function.__code__.co_names:
                    value = function.__globals__.get(name)
                    if isinstance(value, CONTAINERS) and not isinstance(value, tuple):
                        found[id(value)] = value
    return list(found.values())


def left_in(found: Found) -> Iterator[tuple[Place, list[torch.Tensor]]]:
    """Where tensors were put since the copies were made, and these tensors."""
    for part, key, now in found.changes():
        if key is None:
            known = set(map(id, found.copies[id(part)][1]))
            values = [contents(part)] if isinstance(part, types.CellType) else part
            now = [value for value in values if id(value) not in known] if isinstance(values, CONTAINERS) else []
        tensors = [leaf for leaf in pytree.tree_leaves(now) if isinstance(leaf, torch.Tensor)]
        if now is not MISSING and tensors:
            yield (part, key), tensors


def refuse_left(found: Found, model: nn.Module, run: Callable, values: tuple[Sequence[torch.Tensor], ...]) -> None:
    """Rejects a model that leaves tensors which depend on its inputs or parameters; constants such as tables of positions
    may stay."""
    if not any(True for _ in left_in(found)):
        return
    found.put_back()
    places: list[Place] = []

    def collect(*given: torch.Tensor) -> list[torch.Tensor]:
        run(*pytree.tree_unflatten(given, shape))
        collected = []
        for place, tensors in left_in(found):
            places.extend([place] * len(tensors))
            collected += tensors
        return collected

    leaves, shape = pytree.tree_flatten(values)
    results = pytree.tree_leaves(trace_forward(collect, leaves).output_node().args[0])
    for place, node in zip(places, results, strict=True):
        if isinstance(node, torch.fx.Node) and depends(node):
            raise Unsupported(
                f"the model's code keeps a tensor that it computes from its inputs or parameters in "
                f"{name_of(model, place)}, and a plan does not run this code: return the tensor from forward instead"
            )


def depends(node: torch.fx.Node) -> bool:
    """Whether a value depends on an argument of its graph, or on random numbers."""
    waiting, seen = [node], {node}
    while waiting:
        one = waiting.pop()
        tags = getattr(one.target, "tags", ())
        if one.op == "placeholder" or torch.Tag.nondeterministic_seeded in tags:
            return True
        fresh = set(one.all_input_nodes) - seen
        seen |= fresh
        waiting += fresh
    return False


def name_of(model: nn.Module, place: Place) -> str:
    part, key = place
    for name, module in model.named_modules():
        for attribute, value in (*vars(module).items(), (None, vars(module))):
            if value is part:
                path = ".".join(filter(None, ("model", name, attribute)))
                return f"{path}.{key}" if attribute is None else path if key is None else f"{path}[{key!r}]"
    return "a variable outside of the model" if key is None else f"a variable outside of the model, under {key!r}"
