"""Decisions of a plan for people who stay with ``torch.utils.checkpoint``.

Both forms say less than a plan does. They cannot express an order of their own, a value that is made more than twice
or again in the middle of the backward pass, memory that is overwritten, values stored on the host, or what happens to
gradients; their peak is not the plan's, so measure it with `measure_peak`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

from . import _adapter
from .errors import Unsupported
from .report import decisions
from .step import Planned

SAME = {
    "_native_batch_norm_legit_functional": "batch_norm",
    "_native_batch_norm_legit": "batch_norm",
    "native_batch_norm": "batch_norm",
    "_batch_norm_with_update_functional": "batch_norm",
    "_batch_norm_with_update": "batch_norm",
}


def kind_of(operation: Any) -> str:
    """A name that an operation has in the captured graph and in eager mode alike: there relu may be in place."""
    packet = getattr(operation, "overloadpacket", operation)
    name = str(packet).rsplit(".", 1)[-1]
    return SAME.get(name, name.removesuffix("_") if not name.endswith("__") else name)


def inside(module: str, block: str) -> bool:
    return not block or module == block or module.startswith(block + ".")


def modules_to_checkpoint(planned: Planned, share: float = 0.5) -> list[str]:
    """The outermost modules to wrap with ``torch.utils.checkpoint``.

    A wrapped module keeps its input and computes everything inside twice, so those are named in which the plan makes
    at least `share` of the bytes that wait for the backward pass again. Modules without children are left alone:
    their input is about what they would save, and those that work in place cannot be wrapped.

    Returns
    -------
    list of str
        Names as in ``model.named_modules()``, none inside another.
    """
    made_again: Counter[str] = Counter()
    waiting: Counter[str] = Counter()
    for decision in decisions(planned):
        name = decision.value.operation.module
        parts = name.split(".") if name else []
        for depth in range(1, len(parts) + 1):
            prefix = ".".join(parts[:depth])
            waiting[prefix] += decision.value.size
            made_again[prefix] += decision.value.size * (decision.kind != "kept")
    total = sum(decision.value.size for decision in decisions(planned))
    chosen: list[str] = []
    for name, module in planned.captured.model.named_modules():
        block = any(True for _ in module.children()) and not isinstance(module, (nn.ModuleList, nn.ModuleDict))
        most = waiting[name] > 0.6 * total  # wrapping it frees little: all of it is made again at once
        wanted = waiting[name] and made_again[name] >= share * waiting[name]
        if name and block and wanted and not most and not any(inside(name, other) for other in chosen):
            chosen.append(name)
    return chosen


@contextmanager
def checkpointed(
    model: nn.Module, names: list[str], contexts: dict[str, Callable] | None = None
) -> Iterator[nn.Module]:
    """The model with the named modules under ``torch.utils.checkpoint``, for the time of the block.

    Parameters
    ----------
    model : nn.Module
        Left as it was afterwards.
    names : list of str
        As `modules_to_checkpoint` gives them.
    contexts : dict, optional
        For some of them, a ``context_fn`` such as `selective_contexts` makes.
    """
    known = dict(model.named_modules())
    for name in names:
        if name not in known:
            raise Unsupported(f'the model has no module "{name}"')
    before = {name: vars(known[name]).get("forward") for name in names}
    for name in names:
        options: dict[str, Any] = {"use_reentrant": False}
        if contexts and name in contexts:
            options["context_fn"] = contexts[name]
        known[name].forward = lambda *a, original=known[name].forward, options=options, **k: checkpoint(
            original, *a, **k, **options
        )
    try:
        yield model
    finally:
        for name in names:
            if before[name] is None:
                del known[name].forward
            else:
                known[name].forward = before[name]


class Policy:
    """Saves the n-th call of an operation in a block where the plan keeps its value."""

    def __init__(self, saved: dict[str, set[int]]) -> None:
        self.saved = saved
        self.calls: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}

    def __call__(self, context: Any, operation: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
        kind = kind_of(operation)
        count = self.calls[context.is_recompute][kind]
        self.calls[context.is_recompute][kind] += 1
        if count in self.saved.get(kind, ()) and not _adapter.writes_in_place(operation):
            return CheckpointPolicy.MUST_SAVE
        return CheckpointPolicy.PREFER_RECOMPUTE


def selective_contexts(planned: Planned, block: str) -> Callable[[], tuple]:
    """A ``context_fn`` for ``torch.utils.checkpoint.checkpoint`` of one block: what the plan keeps is saved, the rest
    made again.

    Operations are told apart by name and by how many of that name the block called before, so the block must call the
    same ones each time. Results of operations that write in place are never saved, nor are those of which only a
    small part is kept (the statistics of a normalisation): torch saves all outputs of an operation or none.
    """
    kept = {
        decision.value.operation
        for decision in decisions(planned)
        if decision.kind == "kept" and decision.value is decision.value.operation.main
    }
    saved: dict[str, set[int]] = {}
    calls: Counter[str] = Counter()
    found = False
    for operation in planned.captured.program.operations:
        if not operation.backward and operation.module and inside(operation.module, block):
            found = True
            kind = kind_of(operation.node.target)
            if operation in kept:
                saved.setdefault(kind, set()).add(calls[kind])
            calls[kind] += 1
    if not found:
        raise Unsupported(f'nothing of the step was computed in a module "{block}"')
    return lambda: create_selective_checkpoint_contexts(Policy(saved))


def as_code(planned: Planned) -> str:
    """Lines of Python that wrap the modules of `modules_to_checkpoint`, to be pasted where the model is made."""
    lines = ["from torch.utils.checkpoint import checkpoint", ""]
    for name in modules_to_checkpoint(planned):
        lines.append(
            f'm = model.get_submodule("{name}"); '
            "m.forward = lambda *a, f=m.forward, **k: checkpoint(f, *a, use_reentrant=False, **k)"
        )
    if len(lines) == 2:
        return "# at this budget no module is worth wrapping: torch.utils.checkpoint would free less than it costs\n"
    return "\n".join(lines) + "\n"
