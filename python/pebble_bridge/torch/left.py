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
    """Rejects a model that leaves tensors which depend on its inputs or parameters. Constants such as tables of positions
    may stay, and weights that a hook computes from parameters."""
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
    graph = trace_forward(collect, leaves)
    inputs = set(list(graph.find_nodes(op="placeholder"))[len(leaves) - len(values[-1]) :])
    for place, node in zip(places, pytree.tree_leaves(graph.output_node().args[0]), strict=True):
        sources = sources_of(node) if isinstance(node, torch.fx.Node) else set()
        if sources and not (sources.isdisjoint(inputs) and is_made_before(model, place)):
            raise Unsupported(
                f"the model's code keeps a tensor that it computes from its inputs or parameters in "
                f"{name_of(model, place)}, and a plan does not run this code: return the tensor from forward instead"
            )


def sources_of(node: torch.fx.Node) -> set[torch.fx.Node]:
    """The arguments of its graph, and the random numbers, that a value depends on."""
    waiting, seen = [node], {node}
    while waiting:
        fresh = set(waiting.pop().all_input_nodes) - seen
        seen |= fresh
        waiting += fresh
    random = torch.Tag.nondeterministic_seeded
    return {one for one in seen if one.op == "placeholder" or random in getattr(one.target, "tags", ())}


def is_made_before(model: nn.Module, place: Place) -> bool:
    """Whether a hook of a module sets its attribute before each of its calls, as pruning and weight norm do."""
    return any(vars(module) is place[0] and module._forward_pre_hooks for module in model.modules())


def name_of(model: nn.Module, place: Place) -> str:
    part, key = place
    for name, module in model.named_modules():
        for attribute, value in (*vars(module).items(), (None, vars(module))):
            if value is part:
                path = ".".join(filter(None, ("model", name, attribute)))
                return f"{path}.{key}" if attribute is None else path if key is None else f"{path}[{key!r}]"
    return "a variable outside of the model" if key is None else f"a variable outside of the model, under {key!r}"
