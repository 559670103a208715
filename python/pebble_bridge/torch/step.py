"""`fit`: from a model and a budget to a training step within it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pebble_bridge as pb
import torch
from torch import nn

from . import measure, report
from .capture import Captured, capture
from .errors import DoesNotFit, PeakExceeded, Unsupported
from .lower import Lowered, lower, moves_of
from .runner import HostPool, Move, compile_step
from .state import kernels_alone
from .units import bytes_text, parse_budget

PATIENCE = 4  # times the time of the planner, if it has neither found a plan nor proved that there is none
ROUNDS = 4  # of planning again after a kernel used more memory than when it was measured


@dataclass
class Options:
    """How to plan; the same for every budget of a sweep."""

    time: float = 10.0
    seed: int = 1
    threads: int = 1
    offload: bool = False
    random: str = "auto"
    costs: str = "measured"
    machine: pb.Machine | None = None


class Planned:
    """A training step that runs a plan: call it with a batch in place of forward, loss and ``backward()``.

    Attributes
    ----------
    plan : pebble_bridge.Plan
        The schedule, its outcome and its bound.
    budget : int
        Bytes in addition to what is allocated before the step.
    plain_peak : int or None
        Measured peak of the step with eager autograd; None if costs were not measured.
    planned_peak, measured_peak : int
        The peak of the plan, and of the tensor allocator, in bytes.
    host_peak : int
        The peak of host memory in bytes, with ``offload``.
    estimated : bool
        Costs are estimated from those of other shapes.
    borrowed : bool
        The moves are those of the plan for another shape.
    """

    def __init__(
        self, captured: Captured, lowered: Lowered, plan: Any, moves: list[Move], budget: int, plain: int | None
    ) -> None:
        self.captured, self.lowered, self.plan, self.moves = captured, lowered, plan, moves
        self.budget, self.plain_peak = budget, plain
        self.planned_peak = int(plan.metrics.peak)
        self.measured_peak = 0
        self.estimated = self.borrowed = False
        self.host = HostPool()
        self.step = compile_step(captured.program, moves)
        # forward and backward pass, if gradients of outputs come from outside
        self.halves = compile_step(captured.program, moves, split=True) if captured.program.tangents else None

    @property
    def host_peak(self) -> int:
        return self.host.peak

    @property
    def source(self) -> str:
        """The source of the Python function that executes the plan."""
        return self.step.source

    def show(self, height: int = 640) -> Any:
        """The plan, playing: a frame in a notebook; elsewhere ``.open()`` shows it in the browser."""
        return self.plan.show(height)

    def run_as_called(self, given: list[Any]) -> Any:
        """A step as its caller runs it: outputs that nobody reads later are dropped before the backward pass."""
        if self.halves is None:
            return self.step(given, self.host, None)
        forward, backward = self.halves
        results, saved = forward(given, self.host)
        brief = self.captured.brief_outputs
        outputs = [results[place] for i, place in enumerate(self.captured.output_places) if i not in brief]
        results = None
        return outputs, backward(given, saved, self.captured.program.make_tangents(), self.host)

    def run(self, inputs: Sequence[torch.Tensor]) -> tuple:
        """The results of a step (updated buffers, loss, gradients) without writing them anywhere."""
        with kernels_alone(measure.device_of(self.captured)):
            return self.step(self.captured.given(inputs), self.host, None)

    def __call__(self, *inputs: torch.Tensor) -> torch.Tensor:
        """Runs one step: adds to ``.grad`` as ``backward()`` does, updates buffers, returns the loss."""
        self.check(inputs)
        captured = self.captured
        results = list(self.run(inputs))
        with torch.no_grad():
            for place, index in captured.buffer_places.items():
                captured.buffers[index].copy_(results[place])
            for place, index in captured.gradient_places.items():
                parameter, gradient = captured.parameters[index], results[place]
                results[place] = None
                if parameter.grad is None:
                    parameter.grad = gradient
                else:
                    parameter.grad += gradient
        return results[captured.loss_place]

    def check(self, inputs: Sequence[torch.Tensor]) -> None:
        """Rejects inputs, or a state of the model, that differ from those of the plan."""
        self.captured.state.check()
        examples = self.captured.example_inputs
        if len(inputs) != len(examples):
            raise Unsupported(f"the step takes {len(examples)} inputs, and got {len(inputs)}: pass as many as to fit")
        for index, (value, example) in enumerate(zip(inputs, examples, strict=False)):
            if not isinstance(value, torch.Tensor):
                raise Unsupported(f"input {index} is {type(value).__name__}: a step takes only tensors; pass a tensor")
            if value.requires_grad:
                raise Unsupported(f"input {index} requires a gradient, which the step does not compute: detach it")
            if value.shape != example.shape or value.dtype != example.dtype or value.device != example.device:
                raise Unsupported(
                    f"input {index} is {describe(value)}, and the step was planned for {describe(example)}: "
                    "call fit again for other shapes"
                )
            if layout_of(value) != layout_of(example):
                raise Unsupported(
                    f"input {index} has the strides {value.stride()}, and the step was planned for "
                    f"{example.stride()}: copy it into that layout, for example with contiguous()"
                )
        if not self.captured.decided.holds([*self.captured.buffers, *inputs]):
            raise Unsupported(
                "the model reads a number from its inputs (item(), bool(), int(), tolist()), and it is not that of the "
                "example: call fit again for such inputs"
            )

    def report(self) -> str:
        """What is kept, recomputed and offloaded, by module, and the measured and the planned peak."""
        return report.text(self)

    def explain(self, module: str) -> str:
        """Why the values of one module and its submodules are kept or recomputed."""
        return report.explain(self, module)

    def __repr__(self) -> str:
        return f"<Planned {report.one_line(self)}>"


def layout_of(tensor: torch.Tensor) -> list[int]:
    """Strides of dimensions longer than 1."""
    return [stride for stride, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1]


def describe(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)} on {tensor.device}"


class Planner:
    """A captured and measured step, ready to be planned under any budget.

    Parameters are those of `fit`. Use it to plan several budgets for one capture.
    """

    def __init__(
        self,
        model: nn.Module,
        example_inputs: torch.Tensor | Sequence[torch.Tensor],
        loss: Callable | None = None,
        *,
        model_inputs: int | None = None,
        inplace: bool = True,
        options: Options | None = None,
    ) -> None:
        self.options = options or Options()
        check_options(self.options)
        trials = self.options.costs == "measured"
        self.prepare(capture(model, example_inputs, loss, model_inputs, inplace=inplace, trials=trials))

    @classmethod
    def of(cls, captured: Captured, options: Options, estimate: Callable | None = None) -> Planner:
        """A planner for a step that is already captured. ``estimate(program)`` fills in costs instead of a measurement,
        and returns the peak of the plain step."""
        self = cls.__new__(cls)
        self.options = options
        self.prepare(captured, estimate)
        return self

    def prepare(self, captured: Captured, estimate: Callable | None = None) -> None:
        """Gets the costs of the captured step."""
        self.captured = captured
        self.plain_peak: int | None = None
        self.tier: dict[str, int] | None = None
        measure.count_flops(self.captured)
        if estimate is not None:
            self.plain_peak = estimate(self.captured.program)
        elif self.options.costs == "measured":
            measure.check_capture(self.captured)
            self.plain_peak = measure.plain_peak(self.captured)
            measure.profile(self.captured, repeats=0 if self.options.machine else 3)
        self.best: list[Any] = []  # plans so far: one for a smaller budget can be used for a larger one

    def with_options(self, **changes: Any) -> Planner:
        """The same captured and measured step with other options: ``planner.with_options(offload=True)``."""
        other = copy.copy(self)
        other.options, other.best = replace(self.options, **changes), []
        return other

    def lower(self) -> Lowered:
        """The graph to plan; with a machine, its times are in the graph."""
        machine, offload = self.options.machine, self.options.offload and not self.options.machine
        lowered = lower(
            self.captured.program,
            random=self.options.random,
            scale=1000 if offload else 1,  # moving a byte takes less than a nanosecond
            cost_unit="flop" if self.options.costs == "flops" or machine else "ps" if offload else "ns",
            name=type(self.captured.model).__name__,
        )
        if machine is not None:
            lowered.graph = lowered.graph.timed(machine)
            processor, times = machine.processors[0]["name"], lowered.graph.times
            for node, operation in lowered.operation_at.items():
                operation.cost = max(1, round(1e9 * (machine.seconds(times[node][processor]) or 0)))
        return lowered

    def fit(self, budget: int | float | str) -> Planned:
        """A step within `budget`; see the function `fit`.

        The model may have been trained since: each plan is compared with the captured step at the current parameters.
        """
        self.captured.state.check()
        margin = 0  # for memory that no kernel's workspace explains
        for _ in range(ROUNDS):
            lowered = self.lower()
            whole = self.plain_peak if self.plain_peak is not None else int(lowered.graph.written_peak)
            cap = parse_budget(budget, whole)
            try:
                plan = self.plan(lowered, cap - margin)
            except DoesNotFit:
                if not margin:
                    raise
                break
            planned = Planned(self.captured, lowered, plan, moves_of(lowered, plan.moves), cap, self.plain_peak)
            excess = self.measure(planned)
            if planned.measured_peak <= cap:
                self.best.append((lowered, plan))
                return planned
            margin += 0 if excess else planned.measured_peak - cap
            self.best = []
        raise PeakExceeded(
            f"the planned peak is {bytes_text(planned.planned_peak)}, and the step used "
            f"{bytes_text(planned.measured_peak)} with a budget of {bytes_text(cap)}: "
            "the memory of a kernel varies from run to run; fix the number of threads, "
            "or use a smaller budget"
        )

    def settings(self) -> dict[str, Any]:
        """The options of `pebble_bridge.plan`."""
        options: dict[str, Any] = {
            "machine": self.options.machine or False,
            "time": self.options.time,
            "seed": self.options.seed,
            "threads": self.options.threads,
        }
        if self.options.offload:
            options |= {"game": "tiered"}
        if self.options.offload and not self.options.machine:
            self.tier = self.tier or host_tier(self.captured)
            options |= {"tiers": [self.tier]}
        return options

    def plan(self, lowered: Lowered, cap: int) -> Any:
        settings = self.settings()
        plan = pb.plan(lowered.graph, cap, **settings)
        if plan.metrics is None and plan.outcome != "infeasible" and not self.best:  # a slow or busy computer
            plan = pb.plan(lowered.graph, cap, **settings | {"time": PATIENCE * self.options.time})
        for _, earlier in self.best:
            if earlier.metrics.peak <= cap and (
                plan.metrics is None or earlier.metrics.makespan < plan.metrics.makespan
            ):
                plan = earlier
        if plan.metrics is None:
            proved = plan.outcome == "infeasible"
            raise DoesNotFit(
                f"no plan {'exists' if proved else 'was found'} for {bytes_text(cap)}: {plan.reason}. "
                + ("Raise the budget, make the batch smaller" if proved else "Raise the budget or the time")
                + ("" if self.options.offload else ", or allow offloading to the host (offload=True)"),
                proved,
            )
        return plan

    def measure(self, planned: Planned, compared: bool = True) -> bool:
        """Runs the plan to measure its peak and, if `compared`, to compare its results with those in program order. If
        the peak is over the budget, runs it again to find the kernels that used more memory than expected. True if
        there were such."""
        captured, device = self.captured, measure.device_of(self.captured)
        given = captured.given(captured.example_inputs)
        start = torch.get_rng_state()
        with measure.untouched(captured), kernels_alone(device):
            planned.measured_peak = measure.measure_peak(lambda: planned.run_as_called(given), device)
        if compared and self.options.costs == "measured" and device == "cpu":
            with measure.untouched(captured), kernels_alone(device):
                results = planned.step(given, planned.host, None)
            measure.check_results(captured, start, results)
        return planned.measured_peak > planned.budget and self.learn(planned, given, device)

    def learn(self, planned: Planned, given: list[Any], device: str) -> bool:
        """Finds the kernels that use more memory than the graph states, and corrects the graph."""
        captured, storages = self.captured, measure.Storages(self.captured.program)
        step = compile_step(captured.program, planned.moves, marks=True, watch=storages)
        with measure.untouched(captured), kernels_alone(device):
            ranges = measure.marked_peaks(step, given, planned.host, device)
        computes = [(what, argument[1]) for kind, what, argument in planned.moves if kind == "compute"]
        peaks = [peak for index, peak in ranges if index >= 0]
        found = False
        for (operation, over), peak in zip(computes, peaks, strict=True):
            known = operation.workspace + sum(value.size for value in operation.values) - (over.size if over else 0)
            if peak > known:
                operation.workspace += peak - known
                found = True
        return storages.settle() or found


def check_options(options: Options) -> None:
    """Rejects options that do not exist, and a machine that cannot price a step."""
    if options.random not in ("once", "replay", "auto"):
        raise Unsupported(
            f'random="{options.random}": expected "auto" (recomputed if large), "once" (never) or "replay" (all)'
        )
    if options.costs not in ("measured", "flops"):
        raise Unsupported(f'costs="{options.costs}": expected "measured" or "flops"')
    machine = options.machine
    if machine is None:
        return
    if machine.seconds(1) is None:
        raise Unsupported(f"machine {machine.name}: its clock is abstract; choose one with a real clock")
    if options.offload and not machine.links:
        raise Unsupported(f"machine {machine.name} has no links to a slow memory: use one with links, or offload=False")


def host_tier(captured: Captured) -> dict[str, int]:
    """The cost of moving a byte to the host and back, in picoseconds."""
    pool, device = HostPool(), measure.device_of(captured)
    sample = torch.zeros(1 << 23, dtype=torch.uint8, device=device)
    pool.drop(pool.store(sample))  # the first run allocates new pages
    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
    kept: list[Any] = [None]

    def store() -> None:
        kept[0] = pool.store(sample)
        wait()

    def load() -> None:
        pool.load(kept[0])
        wait()
        pool.drop(kept[0])

    down, up = measure.measure_time([store, load])
    return {
        "store_cost": 5_000_000,
        "load_cost": 5_000_000,
        "store_per_unit": max(1, int(down * 1e12 / sample.numel())),
        "load_per_unit": max(1, int(up * 1e12 / sample.numel())),
    }


def fit(
    model: nn.Module,
    example_inputs: torch.Tensor | Sequence[torch.Tensor],
    loss: Callable | None = None,
    budget: int | float | str = "60%",
    *,
    model_inputs: int | None = None,
    costs: str = "measured",
    machine: Any = None,
    offload: bool = False,
    random: str = "auto",
    inplace: bool = True,
    time: float = 10.0,
    seed: int = 1,
    threads: int = 1,
    verbose: bool = True,
) -> Planned:
    """Plans a training step of `model` within a memory budget.

    Parameters
    ----------
    model : nn.Module
        In the mode in which it will be trained; parameters that require a gradient get one.
    example_inputs : tensor or sequence of tensors
        A batch: the model's inputs, then the loss's. Later batches must have the same shapes.
    loss : callable, optional
        ``loss(output, *rest)``, a scalar; the number of inputs that it takes is read from its signature. None: the
        model returns the loss.
    budget : int or str
        The peak of a step in addition to what is allocated before it: bytes, ``"8GiB"``, or a percentage of the
        measured peak of the step without a plan.
    model_inputs : int, optional
        How many of the inputs the model takes, if that does not follow from the signature of the loss.
    costs : {"measured", "flops"}
        Kernel times measured here, or operations counted without running the step without a plan, which may not fit;
        a percentage is then of the captured step's own peak.
    machine : Machine, str, path or mapping, optional
        Kernel times by this machine instead of measured ones: a file that ``python -m pebble_bridge.measure`` wrote, or
        a built-in name. With ``offload``, its links are the host's.
    offload : bool
        Plans may store values in host memory and load them later.
    random : {"auto", "once", "replay"}
        Random operations may be recomputed from the generator's saved state: those whose results are much larger than
        the state, none, or all.
    inplace : bool
        Elementwise operations may overwrite an input that is no longer needed.
    time : float
        The planner's time limit in seconds.
    seed, threads : int
        The planner's seed and threads.
    verbose : bool
        Print the measured and the planned peak.

    Returns
    -------
    Planned
        ``planned(*batch)`` runs a step: it adds to ``.grad``, updates buffers, and returns the loss.

    Raises
    ------
    Unsupported
        The model cannot be captured; the message names the operation and what to do.
    DoesNotFit
        The budget is too small: this is proved, or no plan was found.
    """
    options = Options(time, seed, threads, offload, random, costs, None if machine is None else pb.Machine(machine))
    planned = Planner(model, example_inputs, loss, model_inputs=model_inputs, inplace=inplace, options=options).fit(
        budget
    )
    if verbose:
        print(report.one_line(planned))
    return planned


def sweep(planner: Planner, budgets: Iterable[int | float | str]) -> list[Planned | DoesNotFit]:
    """Plans one captured step under several budgets; more memory never gives a slower plan.

    Returns the steps in the order of `budgets`; in place of a step that was not found, the exception.
    """
    requested = list(budgets)
    whole = planner.plain_peak or int(planner.lower().graph.written_peak)
    results: dict[int, Planned | DoesNotFit] = {}
    for index in sorted(range(len(requested)), key=lambda i: parse_budget(requested[i], whole)):
        try:
            results[index] = planner.fit(requested[index])
        except DoesNotFit as error:
            results[index] = error
    return [results[index] for index in range(len(requested))]
