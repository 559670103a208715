"""Training steps of PyTorch models within a memory budget.

from pebble_bridge.torch import fit
planned = fit(model, (images, labels), nn.CrossEntropyLoss(), budget="50%")
loss = planned(images, labels)      # in place of forward, loss and backward()
optimizer.step()
"""

from . import _adapter

_adapter.check_version()

from .ahead import load, plans, save, warmup  # noqa: E402
from .budget import budget, release  # noqa: E402
from .capture import Captured, capture  # noqa: E402
from .errors import DoesNotFit, PeakExceeded, TorchPlanError, Unsupported, UnsupportedTorch  # noqa: E402
from .export import as_code, checkpointed, modules_to_checkpoint, selective_contexts  # noqa: E402
from .knapsack import KnapsackSolver, MeasuredRuntime  # noqa: E402
from .measure import measure_peak, measure_time  # noqa: E402
from .step import Options, Planned, Planner, fit, sweep  # noqa: E402

__all__ = [
    "Captured",
    "DoesNotFit",
    "KnapsackSolver",
    "MeasuredRuntime",
    "Options",
    "PeakExceeded",
    "Planned",
    "Planner",
    "TorchPlanError",
    "Unsupported",
    "UnsupportedTorch",
    "as_code",
    "budget",
    "capture",
    "checkpointed",
    "fit",
    "load",
    "measure_peak",
    "measure_time",
    "modules_to_checkpoint",
    "plans",
    "release",
    "save",
    "selective_contexts",
    "sweep",
    "warmup",
]
