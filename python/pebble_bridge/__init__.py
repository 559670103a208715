"""Plans what to keep, recompute, uncompute and offload under a memory cap: libpebble for Python.

>>> import pebble_bridge as pb
>>> g = pb.generate("adjoint-chain", 8)
>>> p = pb.plan(g, "60%")
>>> bool(pb.verify(g, p))
True
"""

from __future__ import annotations

from .errors import *  # noqa: F403
from .errors import __all__ as _errors
from .families import Version, families, generate, policies, strategies, version
from .graph import Graph
from .planning import plan, verify
from .results import Metrics, Move, Moves, Plan, Verdict

__all__ = [
    "Graph",
    "Metrics",
    "Move",
    "Moves",
    "Plan",
    "Verdict",
    "Version",
    "families",
    "generate",
    "plan",
    "policies",
    "strategies",
    "verify",
    "version",
    *_errors,
]
