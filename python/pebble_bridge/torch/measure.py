"""Peaks and times of real steps, measured in the same way however they are run.

The peak of a step is the maximum memory of torch's tensor allocator during the step, minus that at its beginning:
activations, gradients, and temporary memory of kernels. Parameters, buffers, optimiser state and the batch are
allocated before, and do not count.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from . import _adapter
from .capture import Captured
from .errors import TorchPlanError, Unsupported
from .found import as_found
from .program import Operation
from .runner import Step, compile_step, program_order_moves
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
    with _adapter.allocator_events(events, device):
        kept = run()
    del kept
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
            peak = measure_peak(captured.plain_results, device_of(captured))
    return peak


def check_results(captured: Captured, start: torch.Tensor, results: tuple) -> None:
    """Compares a planned step's results with those of the captured step in program order, at the same parameters and
    from the same state `start` of the generator."""
    expected = program_order(captured, start)
    scale = largest(expected)
    for one, other in zip(expected, results, strict=True):
        if one is not None and not nearly_equal(one, other, scale):
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
    scale = largest(gradients.values())
    for what, expected, found in pairs:
        if not nearly_equal(expected, found, scale):
            raise Unsupported(
                f"{what} in the captured step differs from the model's: something changes from run to run, depends on "
                "state that is not a tensor, or is done by a hook on gradients; do it outside of the step"
            )


def nearly_equal(expected: torch.Tensor, found: torch.Tensor, scale: float = 0.0) -> bool:
    """Equal up to the order of sums, for the precision of the numbers.

    `scale` is the magnitude of the summands: if they cancel, as in the gradient of a bias before a normalisation, only
    rounding errors are left, and these differ between orders.
    """
    if not expected.is_floating_point() and not expected.is_complex():
        return torch.equal(found, expected)
    real = expected.dtype.to_real()
    share = 1e-8 if real is torch.float64 else 1e-3 if real is torch.float32 else 0.1
    room = share * largest([expected]) + share / 100 * scale + 1e-12
    return torch.allclose(found, expected, rtol=share, atol=room, equal_nan=True)


def largest(tensors: Iterable[torch.Tensor | None]) -> float:
    """The largest finite magnitude among real or complex numbers; 0 if there are none."""
    peak = 0.0
    for tensor in tensors:
        if tensor is not None and tensor.numel() and (tensor.is_floating_point() or tensor.is_complex()):
            peak = max(peak, tensor.detach().abs().nan_to_num(0.0, 0.0, 0.0).max().item())
    return peak


def device_of(captured: Captured) -> str:
    return str(captured.parameters[0].device)


def profile(captured: Captured, repeats: int = 3) -> None:
    """Fills in the cost of each operation in nanoseconds, and its kernel's memory in addition to the results.

    The step runs in program order, once for the allocator's events and `repeats` times for the clock, after one warm-up
    run; the minimum time of each operation counts, because the machine may be shared. With ``repeats=0`` costs stay.
    """
    program = captured.program
    step = compile_step(program, program_order_moves(program), marks=True)
    given = captured.given(captured.example_inputs)
    wait = torch.cuda.synchronize if device_of(captured).startswith("cuda") else lambda: None
    with untouched(captured), kernels_alone(device_of(captured)):
        step(given, None, lambda index: None)
        costs = [times_of(step, given, len(program.operations), wait) for _ in range(repeats)]
        spaces = workspaces(step, given, program.operations, device_of(captured))
    for operation in program.operations:
        if costs:
            operation.cost = max(1, min(cost[operation.index] for cost in costs))
        operation.workspace = spaces[operation.index]


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


def workspaces(step: Step, given: list[Any], operations: list[Operation], device: str) -> list[int]:
    """The peak of each kernel, minus the values that it is run for."""
    spaces = [0] * len(operations)
    for index, peak in marked_peaks(step, given, None, device):
        spaces[index] = max(0, peak - sum(value.size for value in operations[index].values))
    return spaces


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
