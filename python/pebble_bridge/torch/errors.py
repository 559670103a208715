"""What can go wrong with a model, each with a sentence that says which operation and what to do."""

from __future__ import annotations

from pebble_bridge.errors import PebbleError


class TorchPlanError(PebbleError, RuntimeError):
    """Base of what this package raises about models and plans."""


class Unsupported(TorchPlanError):
    """The model, or an operation in it, cannot be captured."""


class UnsupportedTorch(TorchPlanError, ImportError):
    """This version of torch is not one that the adapter knows."""


class DoesNotFit(TorchPlanError):
    """No plan was found, or none exists, for the budget; `proved` says which."""

    def __init__(self, sentence: str, proved: bool = False) -> None:
        super().__init__(sentence)
        self.proved = proved


class PeakExceeded(TorchPlanError):
    """The planned step took more memory than the budget, and planning again did not help."""
