"""States of random generators, kept outside of the memory that is planned."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from .capture import Captured
from .found import other_generators


def generator_state(captured: Captured) -> torch.Tensor:
    device = captured.state.device
    return torch.cuda.get_rng_state() if device == "cuda" else torch.get_rng_state()


@contextmanager
def with_generator(captured: Captured, state: bytes | None) -> Iterator[None]:
    """The generator of the device in an earlier state."""
    if state is None:
        yield
        return
    restore = torch.cuda.set_rng_state if captured.state.device == "cuda" else torch.set_rng_state
    now = generator_state(captured)
    restore(torch.frombuffer(bytearray(state), dtype=torch.uint8))
    try:
        yield
    finally:
        restore(now)


def generators() -> tuple[Any, Any, Any]:
    """The states of all generators, outside of the memory that is planned."""
    state = torch.cuda.get_rng_state() if torch.cuda.is_initialized() else None
    return bytes(torch.get_rng_state().numpy()), state, other_generators()


def restore(states: tuple[Any, Any, Any]) -> None:
    torch.set_rng_state(torch.frombuffer(bytearray(states[0]), dtype=torch.uint8))
    if states[1] is not None:
        torch.cuda.set_rng_state(states[1])
    random.setstate(states[2][0])
    if states[2][1] is not None:
        sys.modules["numpy"].random.set_state(states[2][1])
