"""Rejects hooks on gradients, which autograd runs and a planned step does not.

Hooks of a parameter, and of the node that accumulates its gradient, are visible from Python. Those of
DistributedDataParallel are set in C++ and are not: the wrapper itself is searched for when a step is captured, and
detected when it is created later.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterable
from operator import attrgetter
from typing import Any

import torch
from torch import nn

from .errors import Unsupported

ADVICE = (
    "which the planned step would not run, because it does not use autograd; remove it, and change .grad after the "
    "step, before optimizer.step()"
)
AVERAGE = (
    "remove the wrapper, and average the gradients after each step: torch.distributed.all_reduce(p.grad) and "
    "p.grad /= torch.distributed.get_world_size() for each parameter p"
)


def wrapper_types() -> tuple[type, ...]:
    """Modules that synchronize gradients with autograd hooks."""
    sharded = getattr(sys.modules.get("torch.distributed.fsdp"), "FullyShardedDataParallel", None)
    return (nn.parallel.DistributedDataParallel, *([sharded] if sharded else []))


def refuse_wrappers(model: nn.Module) -> None:
    """Rejects a model that is, contains, or is part of a wrapper that synchronizes gradients."""
    kinds = wrapper_types()
    for name, module in model.named_modules():
        if isinstance(module, kinds):
            what = f'the module "{name}"' if name else "the model"
            raise Unsupported(
                f"{what} is wrapped in {type(module).__name__}, which synchronizes gradients with autograd hooks that "
                f"a planned step does not run: {AVERAGE}"
            )
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        own = {id(parameter) for parameter in model.parameters()}
        for thing in gc.get_objects():
            if issubclass(type(thing), kinds) and any(id(parameter) in own for parameter in thing.parameters()):
                raise wrapped(thing)
    for name, parameter in model.named_parameters():
        if type(parameter).__name__ == "DTensor" or type(parameter.data).__name__ == "DTensor":
            raise Unsupported(
                f'"{name}" is sharded (a DTensor, as fully_shard makes them): a planned step needs parameters that '
                "are complete on this device; plan the model before sharding it"
            )


def wrapped(wrapper: nn.Module) -> Unsupported:
    return Unsupported(
        f"parameters of the model are synchronized by {type(wrapper).__name__}, whose hooks a planned step does not "
        f"run: {AVERAGE}"
    )


class Wrappings:
    """Detects when a module of a planned step is put into a wrapper, while such steps exist."""

    def __init__(self) -> None:
        self.guards: weakref.WeakSet[GradientGuard] = weakref.WeakSet()
        self.handle: Any = None

    def add(self, guard: GradientGuard) -> None:
        self.guards.add(guard)
        if self.handle is None:
            self.handle = nn.modules.module.register_module_module_registration_hook(self.registered)

    def registered(self, parent: nn.Module, name: str, child: nn.Module | None) -> None:
        if not self.guards:
            self.handle.remove()
            self.handle = None
        elif child is not None and isinstance(parent, wrapper_types()):
            for guard in list(self.guards):
                if any(id(module) in guard.modules for module in child.modules()):
                    guard.wrappers.append(weakref.ref(parent))


WRAPPINGS = Wrappings()


class GradientGuard:
    """Checks that some parameters have no gradient hooks, now and later.

    Parameters
    ----------
    parameters : dict of str to parameter
        The parameters that get gradients.
    modules : iterable of modules
        The modules that contain them.
    """

    def __init__(self, parameters: dict[str, nn.Parameter], modules: Iterable[nn.Module]) -> None:
        self.names, self.parameters = list(parameters), list(parameters.values())
        self.modules = {id(module) for module in modules}
        self.wrappers: list[weakref.ref] = []
        # While a node is alive, all its Python hooks are in one dictionary; a handle refers to it.
        self.nodes = [torch.autograd.graph.get_gradient_edge(parameter).node for parameter in self.parameters]
        self.tables: list[Any] = []
        for node in self.nodes:
            for register in (node.register_hook, node.register_prehook):
                handle = register(pass_on)
                self.tables.append(handle.hooks_dict_ref())
                handle.remove()
        self.check()
        WRAPPINGS.add(self)

    def check(self) -> None:
        if any(map(HOOKS, self.parameters)) or any(map(LATE_HOOKS, self.parameters)):
            for name, parameter in zip(self.names, self.parameters, strict=True):
                for table, register in ((HOOKS, "register_hook"), (LATE_HOOKS, "register_post_accumulate_grad_hook")):
                    if table(parameter):
                        raise Unsupported(f'the parameter "{name}" has a hook ({register}), {ADVICE}')
        if any(self.tables):
            name = self.names[next(i for i, table in enumerate(self.tables) if table) // 2]
            raise Unsupported(f'the node that accumulates the gradient of "{name}" has a hook, {ADVICE}')
        if self.wrappers:
            for wrapper in filter(None, (reference() for reference in self.wrappers)):
                raise wrapped(wrapper)


HOOKS, LATE_HOOKS = attrgetter("_backward_hooks"), attrgetter("_post_accumulate_grad_hooks")


def pass_on(*gradients: Any) -> None:
    """A hook that changes nothing."""
