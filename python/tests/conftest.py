"""The package of this tree is tested, with the library that the tree has built."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import pebble_bridge as pb  # noqa: E402


@pytest.fixture
def root() -> Path:
    """The source tree."""
    return ROOT


@pytest.fixture
def one_thread():
    """torch on one thread, from the same random numbers."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def tiny() -> pb.Graph:
    """a -> b -> c and a -> c; c takes 2."""
    return pb.Graph(cost=[1, 1, 3], size=[1, 1, 2], edges=[(0, 1), (1, 2), (0, 2)], names=["a", "b", "c"], name="tiny")


# Strategies that answer at once; the others are the library's own tests' business.
QUICK = ["chain", "sqrt", "every-k:k=3", "cache-all", "demand", "bennett"]


@pytest.fixture
def quick() -> list[str]:
    """Strategies for comparisons that must not take long."""
    return QUICK


@pytest.fixture
def chain() -> pb.Graph:
    """Twenty steps and their gradients: a peak of 22 in program order."""
    return pb.generate("adjoint-chain", 20)
