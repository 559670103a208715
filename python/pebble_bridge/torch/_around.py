"""What surrounds the call of a model: uses of undocumented torch interfaces, in addition to `_adapter`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import fx

from ._adapter import compiling


def is_transforming() -> bool:
    """Whether this is a call inside of a transform of torch.func."""
    return torch._C._functorch.peek_interpreter_stack() is not None


@contextmanager
def own_saved_tensors() -> Iterator[None]:
    """A context without the caller's hooks on saved tensors (checkpoint, save_on_cpu): what a plan saves is its own, and
    what is measured must be the model's."""
    hooks = []
    while (top := torch._C._autograd._top_saved_tensors_default_hooks(True)) is not None:
        hooks.append(top)
        torch._C._autograd._pop_saved_tensors_default_hooks()
    try:
        yield
    finally:
        for pack, unpack in reversed(hooks):
            torch._C._autograd._push_saved_tensors_default_hooks(pack, unpack)


def trace_forward(run: Callable, values: Sequence[torch.Tensor]) -> fx.Graph:
    """The operations of ``run(*values)``, without a backward pass."""
    from torch.fx.experimental.proxy_tensor import make_fx

    with torch.no_grad(), compiling(), torch.random.fork_rng(devices=[]):
        return make_fx(run, tracing_mode="fake", _allow_non_fake_inputs=True)(*values).graph
