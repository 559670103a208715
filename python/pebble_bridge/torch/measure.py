"""Peaks and times of real steps, measured in the same way however they are run.

The peak of a step is the maximum memory of torch's tensor allocator during the step, minus that at its beginning:
activations, gradients, and temporary memory of kernels. Parameters, buffers, optimiser state and the batch are
allocated before, and do not count.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from . import _adapter
from .capture import Captured
from .errors import TorchPlanError, Unsupported
from .found import as_found
from .program import Program, Value, tensors
from .runner import Move, Step, compile_step, program_order_moves
from .state import kernels_alone
from .work import Work


def measure_peak(run: Callable[[], Any], device: str = "cpu") -> int:
    """The peak of the tensor allocator while `run` runs, minus the bytes allocated before.

    On CUDA this is the allocator's own counter; on the CPU, which has none, every change of the allocator is recorded.
    """
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        kept = run()
        torch.cuda.synchronize(device)
        del kept
        return torch.cuda.max_memory_allocated(device) - before
    events: list[_adapter.AllocatorEvent] = []
    sessions = _adapter.EVENT_SESSIONS[0]
    with _adapter.allocator_events(events, device):
        kept = run()
    del kept
    if _adapter.EVENT_SESSIONS[0] != sessions + 1:  # torch has one profiler: another measurement has ended this one
        raise TorchPlanError("a plan was made and measured during this measurement: run the step once before measuring it")
    held = peak = 0
    for event in events:
        held += event.bytes
        peak = max(peak, held)
    return peak


def measure_time(
    runs: Sequence[Callable[[], Any]], repeats: int = 5, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """The minimum time, in seconds, of each of several functions, run in turns so that a slow moment of the machine
    affects all of them.

    With ``clock=time.process_time`` it is processor time, which varies less on a shared machine.
    """
    best = [float("inf")] * len(runs)
    for _ in range(repeats):
        for index, run in enumerate(runs):
            start = clock()
            run()
            best[index] = min(best[index], clock() - start)
    return best


@contextmanager
def untouched(captured: Captured) -> Iterator[None]:
    """Restores generators, buffers, gradients and all Python objects of the model, because trials are not training."""
    gradients = [parameter.grad for parameter in captured.parameters]
    buffers = [buffer.detach().clone() for buffer in captured.buffers]
    devices = sorted({t.device.index or 0 for t in captured.parameters if t.device.type == "cuda"})
    with as_found(captured.state.roots) as found, torch.random.fork_rng(devices=devices):
        for parameter in captured.parameters:
            parameter.grad = None
        try:
            yield
            captured.state.fingerprint.see(found.changes())
        finally:
            for parameter, gradient in zip(captured.parameters, gradients, strict=False):
                parameter.grad = gradient
            with torch.no_grad():
                for buffer, saved in zip(captured.buffers, buffers, strict=False):
                    buffer.copy_(saved)


def plain_peak(captured: Captured) -> int:
    """Peak of the step with eager autograd."""
    with untouched(captured):
        for _ in range(2):  # the first run may allocate persistent memory
            peak = measure_peak(lambda: captured.plain_results(all_outputs=False), device_of(captured))
    return peak


def check_results(captured: Captured, start: torch.Tensor, results: tuple) -> None:
    """Compares a planned step's results with those of the captured step in program order, at the same parameters and
    from the same state `start` of the generator."""
    expected = program_order(captured, start)
    precision, scale = precision_of(captured.program), max(map(magnitude, expected))
    for one, other in zip(expected, results, strict=True):
        if one is not None and not nearly_equal(one, other, precision, scale):
            raise TorchPlanError(
                "the results of the planned step differ from those in program order: a kernel depends on "
                "more than its arguments, or this is a bug in pebble_bridge; please report it with the model"
            )


def program_order(captured: Captured, start: torch.Tensor) -> tuple:
    """The results of the captured step in program order, each operation computed once."""
    step = compile_step(captured.program, program_order_moves(captured.program))
    with untouched(captured), kernels_alone(device_of(captured)):
        torch.set_rng_state(start)
        return step(captured.given(captured.example_inputs), None, None)


def check_capture(captured: Captured) -> None:
    """Runs the model and the captured step with the same random numbers, and rejects a capture with other results: what
    a model does outside of tensors (other generators, clocks, counters in Python) is not in the graph."""
    step = compile_step(captured.program, program_order_moves(captured.program))
    with untouched(captured):
        start = torch.get_rng_state()
        outputs, gradients = captured.plain_results()
        buffers = [buffer.detach().clone() for buffer in captured.buffers]
        drawn = torch.get_rng_state()
    with untouched(captured), kernels_alone(device_of(captured)):
        torch.set_rng_state(start)
        results = step(captured.given(captured.example_inputs), None, None)
        again = torch.get_rng_state()
    if not torch.equal(drawn, again):
        raise Unsupported(
            "the captured step draws other random numbers than the model: a random operation in it is not an operation "
            "of torch on tensors, or depends on the run; draw the numbers outside of the step and pass them in"
        )
    kind = "output" if captured.tangent_outputs else "loss"
    pairs = [(f"the {kind}", out, results[place]) for out, place in zip(outputs, captured.output_places, strict=True)]
    for place, index in captured.gradient_places.items():
        pairs.append((f"the gradient of {captured.leaf_name(index)}", gradients[index], results[place]))
    updated = {index: results[place] for place, index in captured.buffer_places.items()}
    for index, name in enumerate(captured.state.others):
        pairs.append((f'the update of "{name}"', buffers[index], updated.get(index, captured.buffers[index])))
    precision, scale = precision_of(captured.program), max(map(magnitude, gradients.values()), default=0.0)
    for what, expected, found in pairs:
        if not nearly_equal(expected, found, precision, scale):
            raise Unsupported(
                f"{what} in the captured step differs from the model's: something changes from run to run, depends on "
                "state that is not a tensor, or is done by a hook on gradients; do it outside of the step"
            )


def precision_of(program: Program) -> float:
    """The coarsest relative rounding of a step: that of the shortest floating-point type that it computes."""
    outputs = [tensor for operation in program.operations for tensor in tensors(program.fake[operation.node])]
    types = {tensor.dtype for tensor in outputs if tensor is not None}
    steps = [torch.finfo(kind).eps for kind in types if kind.is_floating_point or kind.is_complex]
    steps += [TF32_EPS for operation in program.operations if operation.work.dtype == "tf32"]
    return max(steps, default=torch.finfo(torch.float64).eps)


TF32_EPS = 2.0**-10


def nearly_equal(expected: torch.Tensor, found: torch.Tensor, precision: float, scale: float = 0.0) -> bool:
    """Equal up to the order of sums: half of the digits agree, by the root mean square of the difference.

    `scale` is the magnitude of the summands: if they cancel, as in the gradient of a bias before a normalisation, only
    rounding errors are left, and these differ between orders.
    """
    if not expected.is_floating_point() and not expected.is_complex():
        return torch.equal(found, expected)
    finite = expected.isfinite()
    if not torch.equal(finite, found.isfinite()):
        return False
    if not finite.all():
        expected, found = expected[finite], found[finite]
    return magnitude(found - expected) <= precision**0.5 * (magnitude(expected) + scale / 100)


def magnitude(tensor: torch.Tensor | None) -> float:
    """The root mean square of the finite numbers; 0 if there are none, or they are integers."""
    if tensor is None or not tensor.numel() or not (tensor.is_floating_point() or tensor.is_complex()):
        return 0.0
    wide = torch.complex128 if tensor.is_complex() else torch.float64
    norm = torch.linalg.vector_norm(tensor.detach(), dtype=wide).item()
    if math.isfinite(norm):
        return norm / tensor.numel() ** 0.5
    return magnitude(tensor[tensor.isfinite()])


def device_of(captured: Captured) -> str:
    return str(captured.leaves[0].device)  # an input, if all parameters are frozen and there are no buffers


def profile(captured: Captured, repeats: int = 3) -> None:
    """Fills in the cost of each operation in nanoseconds, and its kernel's memory in addition to the results.

    The step runs in program order, once for the allocator's events and `repeats` times for the clock, after one warm-up
    run; the minimum time of each operation counts, because the machine may be shared. With ``repeats=0`` costs stay.
    """
    program, moves = captured.program, program_order_moves(captured.program)
    given = captured.given(captured.example_inputs)
    wait = torch.cuda.synchronize if device_of(captured).startswith("cuda") else lambda: None
    with untouched(captured), kernels_alone(device_of(captured)):
        storages = Storages(program)
        compile_step(program, moves, watch=storages)(given, None, None)
        storages.settle()
        step = compile_step(program, moves, marks=True)
        costs = [times_of(step, given, len(program.operations), wait) for _ in range(repeats)]
        spaces = workspaces(step, given, moves, device_of(captured))
    for operation in program.operations:
        if costs:
            operation.cost = max(1, min(cost[operation.index] for cost in costs))
        operation.workspace = spaces[operation.index]


class Storages:
    """Compares the storages of a real run with those of the program.

    Some kernels return a small part of a large temporary storage: on processors the scalar of ``mse_loss`` keeps one of
    the size of its input. A fake tensor does not show this.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.found: dict[Value, int] = {}

    def __call__(self, index: int, tensor: torch.Tensor) -> None:
        value = self.program.values[index]
        held = tensor.untyped_storage().nbytes()
        if held != value.size:
            self.found[value] = held
            value.loose = value.loose or (held >= 2 * value.size and fills(tensor, value.size))

    def settle(self) -> bool:
        """Corrects the sizes of values, except those that are now copied; True if the program has changed."""
        for value, held in self.found.items():
            if not value.loose:
                value.size = held
        for operation in self.program.operations if self.found else ():
            operation.over = {value: how for value, how in operation.over.items() if value.size == operation.main.size}
        return bool(self.found)


def fills(tensor: torch.Tensor, size: int) -> bool:
    """Whether a copy has the same strides and a storage of `size`."""
    copy = torch.empty_like(tensor, device="meta")
    return copy.stride() == tensor.stride() and copy.untyped_storage().nbytes() == size


def times_of(step: Step, given: list[Any], count: int, wait: Callable[[], None]) -> list[int]:
    """Nanoseconds from each mark to the next."""
    marks: list[tuple[int, int]] = []

    def mark(index: int) -> None:
        wait()
        marks.append((index, time.perf_counter_ns()))

    results = step(given, None, mark)
    mark(count)
    del results
    costs = [0] * count
    for (index, start), (_, end) in itertools.pairwise(marks):
        costs[index] += end - start
    return costs


def workspaces(step: Step, given: list[Any], moves: Sequence[Move], device: str) -> list[int]:
    """The peak of each kernel, minus the values that it is run for; by operation, in program order."""
    made = [(what, argument[1]) for kind, what, argument in moves if kind == "compute"]
    return [
        max(0, peak + (over.size if over else 0) - sum(value.size for value in operation.values))
        for (operation, over), (_, peak) in zip(made, marked_peaks(step, given, None, device), strict=True)
    ]


def marked_peaks(step: Step, given: list[Any], host: Any, device: str) -> list[tuple[int, int]]:
    """Runs a step that was compiled with marks; returns the peak of each range minus its beginning, in order."""
    events: list[_adapter.AllocatorEvent] = []
    marker = _adapter.Marker()
    with _adapter.allocator_events(events, device):
        results = step(given, host, marker)
        marker.end()
    del results
    return list(peaks_between_marks(events))


def peaks_between_marks(events: Iterable[_adapter.AllocatorEvent]) -> Iterator[tuple[int, int]]:
    """For each marked range, its peak minus the memory at its beginning."""
    current, held, peak = None, 0, 0
    for event in events:
        if event.mark is not None:
            if current is not None:
                yield current, peak
            current, held, peak = int(event.mark), 0, 0
        else:
            held += event.bytes
            peak = max(peak, held)
    if current is not None:
        yield current, peak


BYTES_WORTH = (
    8  # floating-point operations in the time of moving a byte, approximately, on processors and accelerators
)


def count_flops(captured: Captured) -> None:
    """Fills in costs without running anything."""
    for operation in captured.program.operations:
        operation.cost = cost_of(operation.work)


def cost_of(work: Work) -> int:
    """Floating-point operations, plus the moved bytes converted to operations."""
    return max(1, BYTES_WORTH * work.bytes + work.flops)
