"""Everything this package takes from inside JAX, in one place.

What is not part of JAX's public interface may change with any release. Each such piece is looked up here, and a piece
that is gone says which version was tried and what to do.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

try:
    import jax
    import jax.extend.core as extend_core
except ImportError as problem:
    raise ImportError("pebble_bridge.jax needs JAX 0.4.36 or later: pip install jax") from problem

TRIED = "0.10.2"  # the version that the tests ran with

Literal = extend_core.Literal
JaxprEqn = extend_core.JaxprEqn
ClosedJaxpr = extend_core.ClosedJaxpr


def _gone(what: str) -> NotImplementedError:
    return NotImplementedError(
        f"JAX {jax.__version__} no longer has {what}, which pebble_bridge.jax needs; it was tried with "
        f"JAX {TRIED}. Install that one, or a later pebble_bridge."
    )


def bind(eqn: JaxprEqn, values: Sequence[Any]) -> list[Any]:
    """Evaluate one equation, under whatever transformation is at work."""
    try:
        bound = eqn.primitive.get_bind_params(eqn.params)
    except AttributeError as problem:
        raise _gone("Primitive.get_bind_params") from problem
    functions, params = bound if isinstance(bound, tuple) else ((), bound)  # releases differ
    with _as_written(eqn):
        out = eqn.primitive.bind(*functions, *values, **params)
    return list(out) if eqn.primitive.multiple_results else [out]


@contextlib.contextmanager
def _as_written(eqn: JaxprEqn) -> Any:
    """Whatever is traced inside belongs to the user's line and scope that the equation came from."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(Exception):
            from jax._src import source_info_util

            scope = source_info_util.current_name_stack() + eqn.source_info.name_stack
            stack.enter_context(source_info_util.user_context(eqn.source_info.traceback, name_stack=scope))
            stack.enter_context(eqn.ctx.manager)
        yield


def inner_jaxpr(eqn: JaxprEqn) -> tuple[Any, Sequence[Any]] | None:
    """The one jaxpr that a call equation runs on its operands, and its constants; None for all other equations."""
    for key in ("jaxpr", "call_jaxpr", "fun_jaxpr"):
        inner = eqn.params.get(key)
        if inner is not None:
            if isinstance(inner, ClosedJaxpr) or hasattr(inner, "consts"):
                return inner.jaxpr, inner.consts
            return inner, ()
    return None


def inner_jaxprs(eqn: JaxprEqn) -> list[Any]:
    """Every jaxpr in an equation's parameters: bodies of loops, branches."""
    found = []
    for value in eqn.params.values():
        for item in value if isinstance(value, (tuple, list)) else (value,):
            item = getattr(item, "jaxpr", item)
            if hasattr(item, "eqns"):
                found.append(item)
    return found


def where(eqn: JaxprEqn) -> str:
    """The user's line that an equation comes from, or ""."""
    with contextlib.suppress(Exception):  # for people only: never a reason to fail
        from jax._src import source_info_util

        frame = source_info_util.user_frame(getattr(eqn.source_info, "traceback", eqn.source_info))
        if frame is not None:
            return f"{frame.file_name.rsplit('/', 1)[-1]}:{frame.start_line}"
    return ""


def is_key(aval: Any) -> bool:
    """Whether values of this type are random keys."""
    return jax.dtypes.issubdtype(aval.dtype, jax.dtypes.prng_key) if hasattr(aval, "dtype") else False


def size_of(aval: Any) -> int:
    """Bytes of a value."""
    if not hasattr(aval, "shape"):
        return 0
    count = 1
    for length in aval.shape:
        if not isinstance(length, int):
            raise ValueError(f"A value has the shape {aval.shape}: sizes must be known. Give shapes without symbols.")
        count *= length
    return count * aval.dtype.itemsize


def saved_residuals(function: Any, *args: Any) -> list[tuple[Any, str]]:
    """What JAX keeps from the forward for the backward pass of `function`: types and where they come from."""
    try:
        from jax._src.ad_checkpoint import saved_residuals as look
    except ImportError as problem:
        raise _gone("saved_residuals") from problem
    return look(function, *args)


def compiler_options(backend: str | None = None) -> dict[str, str]:
    """What a compiler must be told so that recomputation stays recomputation.

    XLA on the CPU takes away the barriers that `jax.checkpoint` puts up, and then merges what is computed twice; the
    option keeps them. On other backends JAX relies on them.
    """
    backend = backend or jax.default_backend()
    return {"xla_disable_hlo_passes": "cse_barrier_expander"} if backend == "cpu" else {}
