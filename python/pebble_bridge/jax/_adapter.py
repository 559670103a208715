"""All uses of JAX internals, in one place.

JAX internals may change with any release. If one is missing, the error names the tested version and what to do.
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

TRIED = "0.10.2"  # the version that the tests use

Literal = extend_core.Literal
JaxprEqn = extend_core.JaxprEqn
ClosedJaxpr = extend_core.ClosedJaxpr


def _missing(what: str) -> NotImplementedError:
    return NotImplementedError(
        f"JAX {jax.__version__} no longer has {what}, which pebble_bridge.jax needs. It was tested with "
        f"JAX {TRIED}: install that version, or a later pebble_bridge."
    )


def bind(eqn: JaxprEqn, values: Sequence[Any]) -> list[Any]:
    """Evaluate one equation, under the current transformation."""
    try:
        bound = eqn.primitive.get_bind_params(eqn.params)
    except AttributeError as problem:
        raise _missing("Primitive.get_bind_params") from problem
    functions, params = bound if isinstance(bound, tuple) else ((), bound)  # releases differ
    with _source_context(eqn):
        out = eqn.primitive.bind(*functions, *values, **params)
    return list(out) if eqn.primitive.multiple_results else [out]


@contextlib.contextmanager
def _source_context(eqn: JaxprEqn) -> Any:
    """Inside, traced operations get the source line and name scope of the equation."""
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
    with contextlib.suppress(Exception):  # only for messages: never a reason to fail
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
            raise ValueError(f"A value has the symbolic shape {aval.shape}. Pass arguments with concrete shapes.")
        count *= length
    return count * aval.dtype.itemsize


def saved_residuals(function: Any, *args: Any) -> list[tuple[Any, str]]:
    """The values that JAX keeps from the forward pass for the backward pass of `function`: types and origins."""
    try:
        from jax._src.ad_checkpoint import saved_residuals as internal
    except ImportError as problem:
        raise _missing("saved_residuals") from problem
    return internal(function, *args)


def compiler_options(backend: str | None = None) -> dict[str, str]:
    """Compiler options that preserve recomputation.

    XLA on the CPU removes the barriers of `jax.checkpoint` and then merges duplicate computations; the option keeps
    them. On other backends JAX relies on the barriers.
    """
    backend = backend or jax.default_backend()
    return {"xla_disable_hlo_passes": "cse_barrier_expander"} if backend == "cpu" else {}
