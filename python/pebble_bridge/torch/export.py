"""Decisions of a plan for use with ``torch.utils.checkpoint``.

Both forms express less than a plan. They cannot express another order, a value that is computed more than twice or
recomputed in the middle of the backward pass, in-place memory, values on the host, or the handling of gradients. Their
peak differs from the plan's, so measure it with `measure_peak`.
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
    """A name that is equal in the captured graph and in eager mode, where relu may be in place."""
    packet = getattr(operation, "overloadpacket", operation)
    name = str(packet).rsplit(".", 1)[-1]
    return SAME.get(name, name.removesuffix("_") if not name.endswith("__") else name)


def inside(module: str, block: str) -> bool:
    return not block or module == block or module.startswith(block + ".")


def modules_to_checkpoint(planned: Planned, share: float = 0.5) -> list[str]:
    """The outermost modules to wrap with ``torch.utils.checkpoint``.

    A wrapped module keeps its input and computes everything inside twice. So the result has the modules in which the
    plan recomputes at least `share` of the bytes that the backward pass reads. Modules without children are skipped:
    their input is about as large as what they would save, and in-place modules cannot be wrapped.

    Returns
    -------
    list of str
        Names as in ``model.named_modules()``, none inside another.
    """
    recomputed: Counter[str] = Counter()
    waiting: Counter[str] = Counter()
    for decision in decisions(planned):
        name = decision.value.operation.module
        parts = name.split(".") if name else []
        for depth in range(1, len(parts) + 1):
            prefix = ".".join(parts[:depth])
            waiting[prefix] += decision.value.size
            recomputed[prefix] += decision.value.size * (decision.kind != "kept")
    total = sum(decision.value.size for decision in decisions(planned))
    chosen: list[str] = []
    for name, module in planned.captured.model.named_modules():
        block = any(True for _ in module.children()) and not isinstance(module, (nn.ModuleList, nn.ModuleDict))
        dominates = waiting[name] > 0.6 * total  # wrapping it frees little: all of it is recomputed at once
        worthwhile = waiting[name] and recomputed[name] >= share * waiting[name]
        if name and block and worthwhile and not dominates and not any(inside(name, other) for other in chosen):
            chosen.append(name)
    return chosen


@contextmanager
def checkpointed(
    model: nn.Module, names: list[str], contexts: dict[str, Callable] | None = None
) -> Iterator[nn.Module]:
    """Inside the block, the named modules run under ``torch.utils.checkpoint``.

    Parameters
    ----------
    model : nn.Module
        Restored afterwards.
    names : list of str
        As returned by `modules_to_checkpoint`.
    contexts : dict, optional
        A ``context_fn`` for some of them, as returned by `selective_contexts`.
    """
    known = dict(model.named_modules())
    for name in names:
        if name not in known:
            raise Unsupported(f'the model has no module "{name}"; model.named_modules() lists them')
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
    """Saves the n-th call of an operation in a block if the plan keeps its value."""

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
    is recomputed.

    Operations are identified by name and by the number of earlier calls of that name in the block, so the block must
    call the same ones each time. Results of in-place operations are never saved, nor are those of which only a small
    part is kept (the statistics of a normalisation): torch saves all outputs of an operation or none.
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
        raise Unsupported(f'the step has no operation in a module "{block}"; model.named_modules() lists the modules')
    return lambda: create_selective_checkpoint_contexts(Policy(saved))


def as_code(planned: Planned) -> str:
    """Python code that wraps the modules of `modules_to_checkpoint`, to paste after the model is created."""
    lines = ["from torch.utils.checkpoint import checkpoint", ""]
    for name in modules_to_checkpoint(planned):
        lines.append(
            f'm = model.get_submodule("{name}"); '
            "m.forward = lambda *a, f=m.forward, **k: checkpoint(f, *a, use_reentrant=False, **k)"
        )
    if len(lines) == 2:
        return "# at this budget no module is worth wrapping: torch.utils.checkpoint would free less than it costs\n"
    return "\n".join(lines) + "\n"
