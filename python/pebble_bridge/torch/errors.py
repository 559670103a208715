"""Exceptions about models and plans. Each message names the operation and what to do."""

from __future__ import annotations

from pebble_bridge.errors import PebbleError


class TorchPlanError(PebbleError, RuntimeError):
    """Base class of the exceptions about models and plans."""


class Unsupported(TorchPlanError):
    """The model, or an operation in it, cannot be captured; `what` is the attribute that has changed since, if any."""

    what = ""


class UnsupportedTorch(TorchPlanError, ImportError):
    """This version of torch is not supported."""


class DoesNotFit(TorchPlanError):
    """No plan was found for the budget or, if `proved` is true, none exists."""

    def __init__(self, sentence: str, proved: bool = False) -> None:
        super().__init__(sentence)
        self.proved = proved


class PeakExceeded(TorchPlanError):
    """The planned step used more memory than the budget, and planning again did not help."""
