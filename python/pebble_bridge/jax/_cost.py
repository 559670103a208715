"""The cost of an equation: floating-point operations counted from its shapes, or measured time."""

from __future__ import annotations

import math
import time
from typing import Any

import jax
import numpy as np

from . import _adapter

# one operation for each element of the result, and the result may take over an operand's memory
# fmt: off
ELEMENTWISE = {
    "abs", "acos", "acosh", "add", "add_any", "and", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil",
    "clamp", "clz", "conj", "convert_element_type", "copy", "copy_p", "cos", "cosh", "digamma", "div", "eq", "erf",
    "erf_inv", "erfc", "exp", "exp2", "expm1", "floor", "ge", "gt", "imag", "integer_pow", "is_finite", "le",
    "lgamma", "log", "log1p", "logistic", "lt", "max", "min", "mul", "ne", "neg", "nextafter", "not", "or",
    "population_count", "pow", "real", "rem", "round", "rsqrt", "select_n", "shift_left", "shift_right_arithmetic",
    "shift_right_logical", "sign", "sin", "sinh", "sqrt", "square", "sub", "tan", "tanh", "xor",
}
# fmt: on
# only moves elements; a compiler fuses it into the loop that reads it
MOVES = {"transpose", "slice", "dynamic_slice", "pad", "rev", "concatenate", "dynamic_update_slice"}
CUBIC = {
    "cholesky",
    "lu",
    "qr",
    "householder_product",
    "svd",
    "eig",
    "eigh",
    "schur",
    "triangular_solve",
    "hessenberg",
    "tridiagonal",
}
LOOPS = {"scan", "while", "cond"}
COLLECTIVES = {
    "psum",
    "psum2",
    "psum_invariant",
    "pmax",
    "pmin",
    "all_gather",
    "all_to_all",
    "ppermute",
    "reduce_scatter",
    "psum_scatter",
    "ragged_all_to_all",
    "pbroadcast",
    "all_gather_invariant",
}


def _count(aval: Any) -> int:
    return math.prod(getattr(aval, "shape", ()))


def flops(eqn: Any) -> int:
    """Operations of one equation, including the bodies of loops."""
    name, out = eqn.primitive.name, sum(_count(v.aval) for v in eqn.outvars)
    if name == "dot_general":
        (contract, _), _ = eqn.params["dimension_numbers"]
        shape = eqn.invars[0].aval.shape
        return 2 * out * math.prod(shape[d] for d in contract)
    if name == "conv_general_dilated":
        return _convolution(eqn)
    if name in LOOPS:
        bodies = [sum(flops(e) for e in body.eqns) for body in _adapter.inner_jaxprs(eqn)]
        if name == "scan":
            return bodies[0] * eqn.params["length"]
        return max(bodies) if name == "cond" else sum(bodies)  # the number of iterations is unknown: count one
    bodies = _adapter.inner_jaxprs(eqn)
    if bodies and not name.startswith(("reduce", "scatter", "sort", "custom_")):
        return sum(flops(e) for body in bodies for e in body.eqns)
    read = max((_count(v.aval) for v in eqn.invars), default=0)
    if name.startswith(("reduce", "arg", "cum", "select_and_scatter", "scatter")):
        return max(read, out)
    if name == "sort":
        return read * max(1, read.bit_length())
    if name == "fft":
        return 5 * out * max(1, out.bit_length())
    if name in CUBIC:
        return max(read, out) * eqn.invars[0].aval.shape[-1]
    if name in ("threefry2x32", "random_bits"):
        return 20 * out
    return out


def _convolution(eqn: Any) -> int:
    """Multiplications and additions with real elements: padding and dilation cost nothing."""
    p, (lhs, rhs), out = eqn.params, (v.aval.shape for v in eqn.invars[:2]), eqn.outvars[0].aval.shape
    numbers = p["dimension_numbers"]
    hits = 1
    for d in range(len(p["window_strides"])):
        length, kernel, result = (
            lhs[numbers.lhs_spec[2 + d]],
            rhs[numbers.rhs_spec[2 + d]],
            out[numbers.out_spec[2 + d]],
        )
        at = (
            np.arange(result)[:, None] * p["window_strides"][d]
            - p["padding"][d][0]
            + np.arange(kernel)[None, :] * p["rhs_dilation"][d]
        )
        hits *= int(((at % p["lhs_dilation"][d] == 0) & (at >= 0) & (at <= (length - 1) * p["lhs_dilation"][d])).sum())
    return 2 * hits * out[numbers.out_spec[0]] * out[numbers.out_spec[1]] * rhs[numbers.rhs_spec[1]]


class Clock:
    """Measures equations in nanoseconds, each kind (primitive, parameters, shapes) once."""

    def __init__(self, repeats: int = 3) -> None:
        self.repeats = repeats
        self._known: dict[str, int] = {}

    def __call__(self, eqn: Any) -> int:
        key = f"{eqn.primitive.name} {[str(v.aval) for v in eqn.invars]} {eqn.params}"
        if key not in self._known:
            self._known[key] = self._measure(eqn)
        return self._known[key]

    def _measure(self, eqn: Any) -> int:
        values = [v.val if isinstance(v, _adapter.Literal) else _sample(v.aval) for v in eqn.invars]
        run = jax.jit(lambda *given: _adapter.bind(eqn, given))
        jax.block_until_ready(run(*values))
        best = None
        for _ in range(self.repeats):
            begin = time.perf_counter_ns()
            jax.block_until_ready(run(*values))
            spent = time.perf_counter_ns() - begin
            best = spent if best is None else min(best, spent)
        return best


def _sample(aval: Any) -> Any:
    if _adapter.is_key(aval):
        return jax.random.split(jax.random.key(0), aval.shape) if aval.shape else jax.random.key(0)
    return jax.numpy.ones(aval.shape, aval.dtype)


def body_peak(eqn: Any) -> int:
    """Peak memory inside one iteration of a loop or the largest branch, without results."""
    peak = 0
    for body in _adapter.inner_jaxprs(eqn):
        last = {}
        for k, e in enumerate(body.eqns):
            for v in e.invars:
                if not isinstance(v, _adapter.Literal):
                    last[v] = k
        held, size = 0, {}
        out = {v for v in body.outvars if not isinstance(v, _adapter.Literal)}
        for k, e in enumerate(body.eqns):
            for v in e.outvars:
                size[v] = 0 if v in out else _adapter.size_of(v.aval)
                held += size[v]
            peak = max(peak, held + (body_peak(e) if e.primitive.name in LOOPS else 0))
            for v in {*e.outvars, *(v for v in e.invars if not isinstance(v, _adapter.Literal))}:
                if v in size and last.get(v, -1) <= k:
                    held -= size.pop(v)
    return peak
