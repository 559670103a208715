"""The memory that the compiler actually allocates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax

from . import _adapter


@dataclass(frozen=True)
class Measured:
    """Bytes of a compiled program: temporary memory, arguments and results; and the compiler's count of `flops`."""

    temporary: int
    arguments: int
    results: int
    flops: float

    @property
    def total(self) -> int:
        """The total bytes."""
        return self.temporary + self.arguments + self.results


def measure(fun: Callable[..., Any], *args: Any, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Measured:
    """Compile ``jax.value_and_grad(fun)`` for these arguments and report the compiler's memory figures.

    On the CPU the compiler keeps barriers (:func:`compiler_options`), without which checkpoints have no effect.
    """
    lowered = jax.jit(jax.value_and_grad(fun, argnums=argnums, has_aux=has_aux)).lower(*args)
    compiled = lowered.compile(compiler_options=_adapter.compiler_options() or None)
    memory = compiled.memory_analysis()
    if memory is None:
        raise NotImplementedError(f"The {jax.default_backend()} compiler does not report memory. Use another backend.")
    costs = compiled.cost_analysis() or {}
    costs = costs[0] if isinstance(costs, (list, tuple)) else costs
    return Measured(
        int(memory.temp_size_in_bytes),
        int(memory.argument_size_in_bytes),
        int(memory.output_size_in_bytes),
        float(costs.get("flops", 0.0)),
    )
