"""A jaxpr as one flat list of equations: calls are inlined, every value has its own number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _adapter

# Calls that only wrap a jaxpr. Inlining a checkpoint means that the plan replaces it.
CALLS = {
    "jit",
    "pjit",
    "closed_call",
    "core_call",
    "core_closed_call",
    "remat",
    "remat2",
    "checkpoint",
    "call",
    "xla_call",
}
# Calls with custom derivatives: inlined only if nothing is differentiated afterwards.
CUSTOM_CALLS = {"custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr", "custom_lin"}


@dataclass
class Equation:
    """One equation. `inputs` are value numbers, or None for a literal."""

    eqn: Any
    inputs: list[int | None]
    outputs: list[int]

    @property
    def name(self) -> str:
        return self.eqn.primitive.name


@dataclass
class Flat:
    """A flat program. Values are numbered: arguments, then constants, then results of equations."""

    equations: list[Equation] = field(default_factory=list)
    avals: list[Any] = field(default_factory=list)
    arguments: list[int] = field(default_factory=list)
    constants: dict[int, Any] = field(default_factory=dict)
    results: list[int | None] = field(default_factory=list)  # None: a literal
    result_literals: list[Any] = field(default_factory=list)
    opened_checkpoints: int = 0

    def new(self, aval: Any) -> int:
        self.avals.append(aval)
        return len(self.avals) - 1


def flatten(closed: Any, *, open_custom: bool) -> Flat:
    """Inline all calls of a closed jaxpr; those with custom derivatives only on request."""
    flat = Flat()
    flat.arguments = [flat.new(v.aval) for v in closed.jaxpr.invars]
    constants = [flat.new(v.aval) for v in closed.jaxpr.constvars]
    flat.constants = dict(zip(constants, closed.consts, strict=True))
    calls = CALLS | CUSTOM_CALLS if open_custom else CALLS
    results = _open(flat, closed.jaxpr, [*constants, *flat.arguments], calls)
    flat.results = [r if isinstance(r, int) else None for r in results]
    flat.result_literals = [None if isinstance(r, int) else r.val for r in results]
    return flat


def _open(flat: Flat, jaxpr: Any, operands: Sequence[Any], calls: set[str]) -> list[Any]:
    """Add the equations of `jaxpr`; operands and results are value numbers or literals."""
    number: dict[Any, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], operands, strict=True))

    def read(v: Any) -> Any:
        return v if isinstance(v, _adapter.Literal) else number[v]

    for eqn in jaxpr.eqns:
        inner = _adapter.inner_jaxpr(eqn) if eqn.primitive.name in calls else None
        inputs = [read(v) for v in eqn.invars]
        if inner is not None:
            body, consts = inner
            flat.opened_checkpoints += eqn.primitive.name in ("remat", "remat2", "checkpoint")
            constants = []
            for v, value in zip(body.constvars, consts, strict=True):
                constants.append(flat.new(v.aval))
                flat.constants[constants[-1]] = value
            outputs = _open(flat, body, [*constants, *inputs], calls)
            number.update(zip(eqn.outvars, outputs, strict=True))
            continue
        # an input may be a literal of the caller: the equation gets it as a literal
        if any(
            not isinstance(i, int) and not isinstance(v, _adapter.Literal)
            for i, v in zip(inputs, eqn.invars, strict=True)
        ):
            eqn = eqn.replace(
                invars=[i if not isinstance(i, int) else v for i, v in zip(inputs, eqn.invars, strict=True)]
            )
        outputs = [flat.new(v.aval) for v in eqn.outvars]
        number.update(zip(eqn.outvars, outputs, strict=True))
        flat.equations.append(Equation(eqn, [i if isinstance(i, int) else None for i in inputs], outputs))
    return [read(v) for v in jaxpr.outvars]
