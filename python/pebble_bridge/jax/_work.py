"""What an equation does, for machines: its kind, its type, floating-point operations and bytes moved."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import jax

from . import _adapter, _cost


class Work(NamedTuple):
    """What a computation does; kinds are those of docs/machines.md."""

    op: str
    dtype: str
    flops: int
    bytes: int


# fmt: off
# functions that take many operations per element
MATH = {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "digamma", "erf", "erf_inv",
    "erfc", "exp", "exp2", "expm1", "lgamma", "log", "log1p", "logistic", "pow", "sin", "sinh", "tan", "tanh",
}
# fmt: on
KINDS = {
    "dot_general": "matmul",
    "ragged_dot": "matmul",
    "gather": "embed",
    "scatter-add": "embed.dw",
    "scatter_add": "embed.dw",
    "scatter": "copy",
    "iota": "copy",
    "threefry2x32": "dropout",
    "random_bits": "dropout",
    "select_and_scatter_add": "pool.dx",
    "select_and_gather_add": "pool.dx",
}
MATH_FLOPS = 10  # per element, approximately


def work_of(eqn: Any, backward: bool, read: Iterable[int]) -> Work:
    """What an equation does.

    Parameters
    ----------
    eqn : equation
        Loops are of the kind of the equation inside that computes most.
    backward : bool
        Whether it is of the backward pass: convolutions are then gradients.
    read : iterable of int
        Bytes of each value that it reads; those of the results are added.
    """
    kind = kind_of(eqn, backward)
    flops = 0 if kind in ("copy", "embed") else _cost.flops(eqn) * (MATH_FLOPS if kind == "math" else 1)
    times = eqn.params["length"] if eqn.primitive.name == "scan" else 1
    inside = max((body_bytes(body) for body in _bodies(eqn)), default=0)
    moved = max(sum(read) + sum(_adapter.size_of(v.aval) for v in eqn.outvars), times * inside)
    return Work(kind, _type(eqn), flops, moved)


def _bodies(eqn: Any) -> list[Any]:
    return _adapter.inner_jaxprs(eqn) if eqn.primitive.name in _cost.LOOPS else []


def body_bytes(body: Any) -> int:
    """Everything that one pass through a body reads and writes."""
    return sum(_adapter.size_of(v.aval) for e in body.eqns for v in (*e.invars, *e.outvars))


def kind_of(eqn: Any, backward: bool) -> str:
    name = eqn.primitive.name
    if name == "conv_general_dilated":
        return _convolution(eqn, backward)
    inner = [e for body in _bodies(eqn) for e in body.eqns]
    if inner:
        return kind_of(max(inner, key=_cost.flops), backward)
    if name in KINDS:
        return KINDS[name]
    if name.startswith("reduce_window"):
        return "pool"
    if name.startswith(("reduce_", "arg", "cum")) and name != "reduce_precision":
        return "reduce"
    if name in MATH:
        return "math"
    if name in _cost.ELEMENTWISE:
        return "elementwise"
    return "copy" if name in _cost.MOVES else "other"


def _convolution(eqn: Any, backward: bool) -> str:
    """JAX writes the gradient of the weight as a convolution whose batch is the channels."""
    p = eqn.params
    numbers, groups = p["dimension_numbers"], max(p["feature_group_count"], p["batch_group_count"])
    swapped = numbers.lhs_spec[0] != 0
    channels = eqn.invars[0].aval.shape[numbers.lhs_spec[0 if swapped else 1]]
    kind = "depthwise" if groups > 1 and groups == channels else "conv"
    if not backward:
        return kind
    return kind + (".dw" if swapped or p["batch_group_count"] > 1 else ".dx")


def _type(eqn: Any) -> str:
    """That of the first floating-point operand or result."""
    types = [v.aval.dtype for v in (*eqn.invars, *eqn.outvars) if hasattr(v.aval, "dtype")]
    kept = [t for t in types if jax.numpy.issubdtype(t, jax.numpy.inexact)]
    return str((kept or types or ["int32"])[0])


def joined(part: Work, reader: Work, between: int) -> Work:
    """The work of a computation that is fused into its reader: what is between them is neither written nor read."""
    kind = part.op if part.op == "math" and reader.op in ("elementwise", "copy") else reader.op
    return Work(kind, reader.dtype, part.flops + reader.flops, max(0, part.bytes + reader.bytes - 2 * between))
