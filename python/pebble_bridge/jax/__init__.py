"""JAX: from a function to a graph, and from a plan to `jax.checkpoint` policies.

>>> from pebble_bridge.jax import remat
>>> smaller = remat(loss, params, batch, budget="60%")         # doctest: +SKIP
>>> jax.jit(jax.grad(smaller), compiler_options=compiler_options())  # doctest: +SKIP
"""

from __future__ import annotations

from ._adapter import compiler_options, saved_residuals
from ._capture import Captured, capture
from ._measure import Measured, measure
from ._remat import plan, remat
from ._report import Report, Saved
from ._scan import ScanCost, scan, scan_cost

__all__ = [
    "Captured",
    "Measured",
    "Report",
    "Saved",
    "ScanCost",
    "capture",
    "compiler_options",
    "measure",
    "plan",
    "remat",
    "saved_residuals",
    "scan",
    "scan_cost",
]
