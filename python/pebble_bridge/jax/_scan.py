"""A scan whose gradient keeps few carries: binomial checkpointing inside the loop."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .. import adjoint
from ..errors import InvalidArgument

__all__ = ["ScanCost", "scan", "scan_cost"]


class ScanCost(NamedTuple):
    """What the gradient of a `scan` costs.

    Attributes
    ----------
    checkpoints : int
        Carries that are kept at once between the passes and during the backward pass.
    carry_bytes, saved_bytes : int
        The size of one carry, and of all that are kept.
    evaluations : int
        Evaluations of the function for a value and its gradient, the differentiated ones included: the minimum.
    steps : int
        Steps of the loop.
    """

    checkpoints: int
    carry_bytes: int
    saved_bytes: int
    evaluations: int
    steps: int


class _Table(NamedTuple):
    """The backward pass: rows of (slot to load, slot to store in, first step, end, step to differentiate), -1: none."""

    rows: np.ndarray
    stored: tuple[int, ...]  # the steps before which the forward pass stores the carry, in the order of slots
    evaluations: int


@functools.lru_cache(maxsize=64)
def _table(steps: int, checkpoints: int) -> _Table:
    """Binomial checkpointing of the steps and one more, which stands for what follows the loop."""
    rows: list[list[int]] = []
    stored: list[int] = []
    evaluations, forward, row = 0, True, [-1, -1, 0, 0, -1]

    def flush() -> None:
        if row != [-1, -1, 0, 0, -1]:
            rows.append(list(row))
        row[:] = [-1, -1, 0, 0, -1]

    for a in adjoint.revolve(steps + 1, checkpoints):
        if a.kind == "Forward" and forward:
            if a.write_restart:
                stored.append(a.n0)
            evaluations += min(a.n1, steps) - a.n0
        elif a.kind == "EndForward":
            forward = False
        elif a.kind in ("Copy", "Move"):
            flush()
            row[0] = a.slot
        elif a.kind == "Forward" and a.write_reverse:
            row[4] = a.n0
            evaluations += 1
            flush()
        elif a.kind == "Forward":
            if row[3] > row[2]:
                flush()
            row[1:4] = [a.slot if a.write_restart else -1, a.n0, a.n1]
            evaluations += a.n1 - a.n0
    flush()
    return _Table(np.asarray(rows, np.int32), tuple(stored), evaluations)


def _bytes(tree: Any) -> int:
    return sum(int(np.prod(leaf.shape, dtype=object)) * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


def _count(steps: int, carry: Any, checkpoints: int | None, budget: int | str | None) -> int:
    """How many carries to keep."""
    if (checkpoints is None) == (budget is None):
        raise InvalidArgument("scan: pass either checkpoints, a number of carries, or budget, in bytes or as a share")
    each = max(_bytes(carry), 1)
    if isinstance(budget, str):
        if not budget.rstrip().endswith("%"):
            raise InvalidArgument(f"budget: expected bytes, or a share of all carries such as '10%', not {budget!r}")
        checkpoints = int(float(budget.rstrip().rstrip("%")) / 100 * steps)
    elif budget is not None:
        checkpoints = int(budget) // each
    assert checkpoints is not None
    if checkpoints < 1:
        raise InvalidArgument(
            f"scan: there must be room for at least one carry, of {each} bytes; raise {'budget' if budget else 'checkpoints'}"
        )
    return min(int(checkpoints), max(steps, 1))


def _length(xs: Any, length: int | None) -> int:
    sizes = {leaf.shape[0] for leaf in jax.tree.leaves(xs)}
    if length is not None:
        sizes.add(int(length))
    if len(sizes) != 1:
        raise InvalidArgument(f"scan: expected one length of xs and `length`, not {sorted(sizes) or 'none'}")
    return sizes.pop()


def scan_cost(
    init: Any, length: int, *, checkpoints: int | None = None, budget: int | str | None = None
) -> ScanCost:
    """The cost of `scan` with these arguments, without running it.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from pebble_bridge.jax import scan_cost
    >>> scan_cost(jnp.zeros(8), 1000, checkpoints=20).evaluations
    3750
    """
    init = jax.tree.map(lambda a: jax.ShapeDtypeStruct(jnp.shape(a), jnp.result_type(a)), init)
    kept = _count(length, init, checkpoints, budget)
    evaluations = _table(length, kept).evaluations if length else 0
    return ScanCost(kept, _bytes(init), kept * _bytes(init), evaluations, length)


def _is_real(leaf: Any) -> bool:
    return jnp.issubdtype(jnp.result_type(leaf), jnp.inexact)


def _split(tree: Any) -> tuple[list[Any], list[Any], Callable[[list[Any], list[Any]], Any]]:
    """Leaves with gradients, the other leaves, and a function that joins them again."""
    leaves, structure = jax.tree.flatten(tree)
    real = [_is_real(leaf) for leaf in leaves]

    def join(a: list[Any], b: list[Any]) -> Any:
        first, second = iter(a), iter(b)
        return jax.tree.unflatten(structure, [next(first) if is_real else next(second) for is_real in real])

    return [x for x, r in zip(leaves, real, strict=True) if r], [x for x, r in zip(leaves, real, strict=True) if not r], join


def _no_gradient(tree: Any) -> Any:
    """Zeros as cotangents: of type float0 for leaves without gradients."""

    def zero(leaf: Any) -> Any:
        return jnp.zeros_like(leaf) if _is_real(leaf) else np.zeros(jnp.shape(leaf), jax.dtypes.float0)

    return jax.tree.map(zero, tree)


def _at(tree: Any, i: Any) -> Any:
    return jax.tree.map(lambda a: jax.lax.dynamic_index_in_dim(a, i, 0, keepdims=False), tree)


def _put(tree: Any, value: Any, i: Any) -> Any:
    return jax.tree.map(lambda a, v: jax.lax.dynamic_update_index_in_dim(a, v, i, 0), tree, value)


def _forward(step: Callable[..., Any], table: _Table, steps: int, init: Any, xs: Any, consts: Any) -> Any:
    """The loop, which stacks the carries at the beginnings of segments."""
    starts = jnp.asarray(table.stored, jnp.int32)
    ends = jnp.asarray((*table.stored[1:], steps), jnp.int32)
    out = jax.eval_shape(step, init, _at(xs, 0), consts)[1]
    ys = jax.tree.map(lambda a: jnp.zeros((steps, *a.shape), a.dtype), out)

    def segment(state: Any, ends_of: Any) -> Any:
        def one(i: Any, now: Any) -> Any:
            carry, ys = now
            carry, y = step(carry, _at(xs, i), consts)
            return carry, _put(ys, y, i)

        return jax.lax.fori_loop(ends_of[0], ends_of[1], one, state), state[0]

    (carry, ys), slots = jax.lax.scan(segment, (init, ys), (starts, ends))
    return carry, ys, slots


def _backward(step: Callable[..., Any], table: _Table, checkpoints: int, saved: Any, cotangents: Any) -> Any:
    """Carries out the table."""
    slots, xs, consts = saved
    bar, ys_bar = cotangents
    first = _at(slots, 0)
    spare = checkpoints - len(table.stored)
    slots = jax.tree.map(lambda a: jnp.concatenate([a, jnp.zeros((spare, *a.shape[1:]), a.dtype)]) if spare else a, slots)
    bar_real, _, _ = _split_by(first, bar)
    consts_real, consts_other, join_consts = _split(consts)
    xs_real = _split(xs)[0]

    def differentiate(i: Any, carry: Any, bars: Any) -> Any:
        bar, dconsts, dxs = bars
        real, other, join = _split(carry)
        x_real, x_other, join_x = _split(_at(xs, i))

        def of_reals(c: Any, x: Any, k: Any) -> Any:
            out, y = step(join(c, other), join_x(x, x_other), join_consts(k, consts_other))
            return _split(out)[0], _split(y)[0]

        _, pull = jax.vjp(of_reals, real, x_real, consts_real)
        y_bar = [b for b in _split(_at_real(ys_bar, i))[0]]
        bar, dx, dk = pull((bar, y_bar))
        return bar, [a + b for a, b in zip(dconsts, dk, strict=True)], _put(dxs, dx, i)

    def action(state: Any, row: Any) -> Any:
        carry, slots, bars = state
        load, store, begin, end, reverse = row
        carry = jax.lax.cond(load >= 0, lambda: _at(slots, load), lambda: carry)
        slots = jax.lax.cond(store >= 0, lambda: _put(slots, carry, store), lambda: slots)
        carry = jax.lax.fori_loop(begin, end, lambda i, c: step(c, _at(xs, i), consts)[0], carry)
        bars = jax.lax.cond(reverse >= 0, lambda: differentiate(reverse, carry, bars), lambda: bars)
        return (carry, slots, bars), None

    bars = (bar_real, [jnp.zeros_like(k) for k in consts_real], [jnp.zeros_like(x) for x in xs_real])
    (_, _, (bar, dconsts, dxs)), _ = jax.lax.scan(action, (first, slots, bars), jnp.asarray(table.rows))
    return bar, dxs, dconsts


def _at_real(tree: Any, i: Any) -> Any:
    """Cotangents of step i; those of type float0 have no rows."""
    return jax.tree.map(lambda a: a if a.dtype == jax.dtypes.float0 else _at(a, i), tree)


def _split_by(like: Any, tree: Any) -> Any:
    """The leaves of a cotangent whose primal values are real."""
    pairs = zip(jax.tree.leaves(like), jax.tree.leaves(tree), strict=True)
    return [b for a, b in pairs if _is_real(a)], None, None


def _with_zeros(tree: Any, gradients: list[Any]) -> Any:
    """The gradients of the real leaves, and nothing for the others."""
    rest = iter(gradients)

    def each(leaf: Any) -> Any:
        return next(rest) if _is_real(leaf) else np.zeros(jnp.shape(leaf), jax.dtypes.float0)

    return jax.tree.map(each, tree)


def _planned(step: Callable[..., Any], steps: int, checkpoints: int) -> Callable[..., Any]:
    table = _table(steps, checkpoints)

    @jax.custom_vjp
    def run(init: Any, xs: Any, consts: Any) -> Any:
        return jax.lax.scan(lambda c, x: step(c, x, consts), init, xs, length=steps)

    def forward(init: Any, xs: Any, consts: Any) -> Any:
        carry, ys, slots = _forward(step, table, steps, init, xs, consts)
        return (carry, ys), (slots, xs, consts)

    def backward(saved: Any, cotangents: Any) -> Any:
        slots, xs, consts = saved
        bar, dxs, dconsts = _backward(step, table, checkpoints, saved, cotangents)
        return _with_zeros(_at(slots, 0), bar), _with_zeros(xs, dxs), _with_zeros(consts, dconsts)

    run.defvjp(forward, backward)
    return run


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    *,
    checkpoints: int | None = None,
    budget: int | str | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """`jax.lax.scan` whose gradient keeps at most a given number of carries.

    The forward pass keeps some of the carries; the backward pass runs parts of the loop again from them, and keeps others
    in the places that have become free: binomial checkpointing, with the minimum of evaluations of `f` for this number.
    All of it is a loop in the compiled program, whose size does not depend on the number of steps.

    Parameters
    ----------
    f, init, xs, length, reverse
        As for `jax.lax.scan`. `f` may close over arrays and parameters, which get gradients.
    checkpoints : int
        Carries to keep at once, the first one included.
    budget : int or str
        Instead: bytes for carries, or a share of the carries of all steps, such as "10%".

    Returns
    -------
    carry, ys
        As of `jax.lax.scan`, with the same gradients. Forward-mode differentiation is not supported.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from pebble_bridge.jax import scan
    >>> def loss(w, scan=scan, **how):
    ...     return scan(lambda c, x: (jnp.sin(w * c) + x, None), jnp.ones(4), jnp.linspace(0, 1, 50), **how)[0].sum()
    >>> planned, plain = jax.grad(loss)(1.1, checkpoints=5), jax.grad(loss)(1.1, jax.lax.scan)
    >>> bool(jnp.allclose(planned, plain))
    True
    """
    steps = _length(xs, length)
    init = jax.tree.map(jnp.asarray, init)
    xs = jax.tree.map(jnp.asarray, xs)
    kept = _count(steps, init, checkpoints, budget)
    if steps == 0:
        return jax.lax.scan(f, init, xs, length=0, reverse=reverse)
    if reverse:
        xs = jax.tree.map(lambda a: jnp.flip(a, 0), xs)
    first = _at(xs, 0)
    shape = jax.eval_shape(f, init, first)[0]
    same = jax.tree.map(lambda a, b: (jnp.shape(a), a.dtype) == (b.shape, b.dtype), init, shape)
    if not all(jax.tree.leaves(same)):
        raise InvalidArgument("scan: f must return a carry of the same shapes and types as init; convert one of them")
    init = jax.tree.map(lambda a, b: jax.lax.convert_element_type(a, b.dtype), init, shape)
    converted, consts = jax.closure_convert(f, init, first)
    carry, ys = _planned(lambda c, x, k: converted(c, x, *k), steps, kept)(init, xs, consts)
    return carry, jax.tree.map(lambda a: jnp.flip(a, 0), ys) if reverse else ys
