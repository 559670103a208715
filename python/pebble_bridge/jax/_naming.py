"""Names on values, also for derivative rules that read them.

`checkpoint_name` returns a new value, and saving helps only the readers of that value. The derivatives of tanh, exp or
a softmax read their own result without the name, so it would be recomputed even if the named value is saved. Here an
equation is bound together with its name: its derivative rule is JAX's own, with the name put on the result before
anything reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax.ad_checkpoint import checkpoint_name
from jax.custom_derivatives import SymbolicZero

from . import _adapter, _cost
from ._flatten import CUSTOM_CALLS

NAME = "pebble."  # prefix of the names of forward values; the number of the equation follows
DONE = "pebble-done."  # marks the end of tracing a forward equation


def bind_named(eqn: Any, values: Sequence[Any], name: str) -> list[Any]:
    """Evaluate an equation with a name on its results."""
    out = [v.aval for v in eqn.outvars]
    plainly = (
        len(out) != 1
        or not jax.numpy.issubdtype(out[0].dtype, jax.numpy.inexact)
        or eqn.primitive.name in _cost.LOOPS
        or (eqn.primitive.name in CUSTOM_CALLS and eqn.primitive.name != "custom_jvp_call")
    )
    if plainly:
        return [r if _adapter.is_key(r) else checkpoint_name(r, name) for r in _adapter.bind(eqn, values)]

    @jax.custom_jvp
    def run(*given: Any) -> Any:
        return checkpoint_name(_adapter.bind(eqn, given)[0], name)

    def rule(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        moving = [k for k, t in enumerate(tangents) if not isinstance(t, SymbolicZero)]

        def of_moving(*some: Any) -> Any:
            full = list(primals)
            for k, value in zip(moving, some, strict=True):
                full[k] = value
            return _adapter.bind(eqn, full)[0]

        points, directions = [primals[k] for k in moving], [tangents[k] for k in moving]
        closed = jax.make_jaxpr(lambda p, d: jax.jvp(of_moving, p, d))(points, directions)
        return _evaluate(closed, [*points, *directions], name)

    run.defjvp(rule, symbolic_zeros=True)
    return [run(*values)]


def _evaluate(closed: Any, arguments: Sequence[Any], name: str) -> tuple[Any, Any]:
    """Value and tangent of a jaxpr that computes both, with the name put on the value at once."""
    jaxpr = closed.jaxpr
    value = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*closed.consts, *arguments], strict=True))

    def read(v: Any) -> Any:
        return v.val if isinstance(v, _adapter.Literal) else value[v]

    for eqn in jaxpr.eqns:
        for v, result in zip(eqn.outvars, _adapter.bind(eqn, [read(v) for v in eqn.invars]), strict=True):
            value[v] = checkpoint_name(result, name) if v is jaxpr.outvars[0] else result
    return read(jaxpr.outvars[0]), read(jaxpr.outvars[1])
