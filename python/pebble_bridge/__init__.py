"""Python bindings of libpebble: plans what to keep, recompute, uncompute and offload under a memory cap.

>>> import pebble_bridge as pb
>>> g = pb.generate("adjoint-chain", 8)
>>> p = pb.plan(g, 6)
>>> bool(pb.verify(g, p))
True
"""

from __future__ import annotations

from . import adjoint
from ._session import Progress
from .comparing import Comparison, Row, compare
from .errors import *  # noqa: F403
from .errors import __all__ as _errors
from .explaining import Explanation, Info, LeastCap, explain, info
from .families import Version, families, generate, machines, policies, strategies, version
from .graph import Graph
from .machines import Machine, Sample
from .planning import plan, verify
from .plots import MissingMatplotlib
from .results import Metrics, Move, Moves, Plan, Verdict
from .running import Ran, run
from .stores import Work, work
from .sweeping import Cell, Sweep, sweep

__version__ = version().pebble

__all__ = [
    "Cell",
    "Comparison",
    "Explanation",
    "Graph",
    "Info",
    "LeastCap",
    "Machine",
    "Metrics",
    "MissingMatplotlib",
    "Move",
    "Moves",
    "Progress",
    "Plan",
    "Ran",
    "Row",
    "Sample",
    "Sweep",
    "Verdict",
    "Version",
    "Work",
    "adjoint",
    "compare",
    "explain",
    "families",
    "generate",
    "info",
    "machines",
    "plan",
    "policies",
    "run",
    "strategies",
    "sweep",
    "verify",
    "version",
    "work",
    *_errors,
]
