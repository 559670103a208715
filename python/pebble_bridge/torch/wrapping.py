"""Models inside the wrappers of trainers and of torch.distributed, as `budget` finds them."""

from __future__ import annotations

import sys
from typing import Any

from torch import nn

from ._around import is_transforming
from .errors import Unsupported
from .found import Own


def wrapped_module(model: nn.Module) -> nn.Module:
    """The model inside DistributedDataParallel, which is planned in its place: gradients reach the wrapper through
    autograd, and its collectives are not part of a plan."""
    while isinstance(model, nn.parallel.DistributedDataParallel):
        model = model.module
    return model


def budgeted_forward(model: nn.Module) -> Any:
    """The object that `budget` has put in place of forward, also inside of wrappers such as those for autocast of
    accelerate; None without a budget."""
    forward = vars(model).get("forward")
    while forward is not None and not isinstance(forward, Own):
        forward = getattr(forward, "__func__", None) or getattr(forward, "__wrapped__", None)
    return forward


def refuse_compiled(model: nn.Module, inside: bool = False) -> None:
    """Rejects a model of which parts are compiled, and which torch cannot capture; with `inside`, the model itself may
    be: its plan runs in place of what torch.compile would do."""
    for name, module in model.named_modules():
        if inside and module is model:
            continue
        if hasattr(module, "_orig_mod") or module._compiled_call_impl is not None:
            place = f'the module "{name}"' if name else "the model"
            raise Unsupported(
                f"{place} is compiled (torch.compile), and a plan runs its own kernels: call budget on the model that "
                "is not compiled"
            )


def refuse_sharded(model: nn.Module) -> None:
    """Rejects a model of which parts are sharded, whose collectives would be part of its plan."""
    library = sys.modules.get("torch.distributed.fsdp")
    if library is None:
        return
    for name, module in model.named_modules():
        place = f'the module "{name}"' if name else "the model"
        if isinstance(module, library.FullyShardedDataParallel):
            raise flat(place)
        if module is not model and isinstance(module, library.FSDPModule):
            raise Unsupported(
                f"{place} is sharded (fully_shard), and a plan must not contain its collectives: call budget on each "
                f"such module instead, for example on model.{name}, and not on a module that contains them"
            )


def refuse_incomplete(model: nn.Module) -> None:
    """Rejects parameters that are not complete while the model is called."""
    for name, parameter in model.named_parameters():
        if type(parameter.data).__name__ == "DTensor":
            raise Unsupported(
                f'the parameter "{name}" is sharded (a DTensor) when the model is called: call budget on the modules '
                "that fully_shard was called with, where parameters are complete"
            )
    for name, module in model.named_modules():
        for own, tensor in module._parameters.items():
            if tensor is not None and not isinstance(tensor, nn.Parameter):
                place = f'the parameter "{name}.{own}"' if name else f'the parameter "{own}"'
                if "torch.distributed.fsdp" in sys.modules and hasattr(tensor, "_is_view") and tensor._is_view():
                    raise flat(place)
                raise Unsupported(
                    f"{place} is replaced by another tensor during this call (torch.func.functional_call), and a plan "
                    "is for the model's own parameters: call pebble_bridge.torch.release(model) before"
                )


def refuse_parallel(model: nn.Module) -> None:
    """Rejects DataParallel, whose copies of the model on other devices would all run the plan of the first one."""
    if isinstance(model, nn.DataParallel):
        raise Unsupported(
            "the model is wrapped in DataParallel, whose copies on other devices have no plans: use "
            "DistributedDataParallel, with one process for each device"
        )


def refuse_transform() -> None:
    """Rejects a call inside of torch.func.grad, vmap and the like, which trace the model's own operations."""
    if is_transforming():
        raise Unsupported(
            "a planned step cannot run inside a transform of torch.func (grad, vmap, jvp): call "
            "pebble_bridge.torch.release(model) before, and compute gradients with backward() in planned steps"
        )


def flat(place: str) -> Unsupported:
    return Unsupported(
        f"{place} is part of FullyShardedDataParallel, where parameters are pieces of one flat tensor: use "
        "torch.distributed.fsdp.fully_shard instead, and call budget on each module that it shards"
    )
