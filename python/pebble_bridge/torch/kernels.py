"""This computer as a machine: times of torch's kernels over a range of sizes, as a file that prices other steps."""

from __future__ import annotations

import ctypes
import itertools
import os
import time
from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

import pebble_bridge as pb
import torch

from . import _adapter, measure
from .capture import capture
from .networks import Network, networks
from .probes import Maker, Probe, probes
from .runner import HostPool, compile_step, program_order_moves
from .state import kernels_alone
from .variants import enough, variant_of
from .work import Work, work_of

ROTATION = 64 << 20  # bytes that operands and results of a probe rotate through: more than caches hold
BUSY, BUSY_ROTATION = 50, 16 << 20  # the same for kernels with more flops per byte, which hardly depend on it
SETS = 128  # at most so many sets of operands
BATCH_NS, ENOUGH_NS = 200_000, 5_000_000  # calls that are timed together, and time for one probe of a round
SHORT_NS = 20_000  # shorter calls are timed together; their operands fit caches
LATER = {"reduce columns"}  # gradients of biases: computed some time after what they read
KIND_SIZES, VARIANT_SIZES = 4, 6  # sizes that a model of a kind and of a variant needs
NEAR = 1.5  # sizes of calls that differ by less are similar
STEPS = 5  # timed steps of each network in a round, after one that warms up
REFERENCE = "torch: products of 512 by 512 matrices in float32, and their sums"


def measure_machine(
    name: str = "here",
    *,
    device: str = "cpu",
    types: tuple[str, ...] = ("float32",),
    rounds: int = 3,
    quick: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> pb.Machine:
    """Times torch's kernels and fits models to them.

    Operands and results rotate through memory, as they do in a step. On a processor one thread is timed, by its
    processor time, which other programs change less than the time on the wall.

    Parameters
    ----------
    name : str
        The name of the machine.
    device : str
        "cpu" or "cuda".
    types : tuple of str
        The types of numbers, by torch's names.
    rounds : int
        How often all probes are timed, some seconds apart; the median counts.
    quick : bool
        A few sizes, once.
    progress : callable, optional
        Gets the number of probes timed and to time.
    """
    makers = [Maker(getattr(torch, kind), device, quick) for kind in types]
    threads = torch.get_num_threads()
    samples: list[Timed] = []
    in_steps: list[Timed] = []
    try:
        torch.set_num_threads(1)
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            rounds = 1 if quick else rounds
            made = [networks(maker.kind["dtype"], device, quick) for maker in makers]
            steps = [TimedStep(make(), device) for make in itertools.chain.from_iterable(made)]
            total = rounds * (len(steps) + sum(1 for maker in makers for _ in probes(maker)))
            counter = itertools.count(1)
            reference = [time_reference(device)]
            for _ in range(rounds):
                for probe in itertools.chain.from_iterable(probes(maker) for maker in makers):
                    samples.append(time_probe(probe, device))
                    if progress is not None:
                        progress(next(counter), total)
                reference.append(time_reference(device))
                for step in steps:
                    in_steps += step.times()
                    if progress is not None:
                        progress(next(counter), total)
                reference.append(time_reference(device))
            base = base_of(name, device, round(median(reference)))
            return machine_of(in_steps + missing(samples, in_steps), base)
    finally:
        torch.set_num_threads(threads)


class Timed(NamedTuple):
    """A measured call: its work, the same as a variant of its kind, and nanoseconds."""

    work: Work
    variant: Work
    time: int


def machine_of(samples: list[Timed], base: dict[str, Any]) -> pb.Machine:
    """A machine with models of the kinds, and of those variants that were measured at some sizes.

    Its rates and bandwidths are those of the kinds.
    """
    often = enough((work for work, _, _ in samples), KIND_SIZES)
    kinds = [pb.Sample(*work, time) for work, _, time in samples if work[:2] in often or "float" in work.dtype]
    machine = pb.Machine.fit(kinds, base)  # integers occur in steps by chance: no model from one or two sizes
    known = enough((variant for _, variant, _ in samples), VARIANT_SIZES)
    finer = [pb.Sample(*fine, time) for work, fine, time in samples if fine.op != work.op and fine[:2] in known]
    if not finer:
        return machine
    variants, document = pb.Machine.fit(finer, base), machine.document
    document["processors"][0]["models"] += variants.processors[0]["models"]
    fitted, machine = [*machine.fitted, *variants.fitted], pb.Machine(document)
    machine.fitted = sorted(fitted, key=lambda row: row["op"])
    return machine


def missing(alone: list[Timed], in_steps: list[Timed]) -> list[Timed]:
    """The calls alone of which no step had a similar one: a time within a step counts more."""
    return [one for one in alone if not any(similar(one.variant, other.variant) for other in in_steps)]


def similar(one: Work, other: Work) -> bool:
    """Whether two calls are the same variant of nearly the same size."""
    sizes = ((one.flops, other.flops), (one.bytes, other.bytes))
    return one[:2] == other[:2] and all(max(a, b) <= NEAR * (min(a, b) or 1) for a, b in sizes)


class TimedStep:
    """A step of a network, whose operations are timed in program order."""

    def __init__(self, network: Network, device: str) -> None:
        with torch.enable_grad():
            self.captured = capture(*network)
        self.moves = program_order_moves(self.captured.program)
        self.run = compile_step(self.captured.program, self.moves, marks=True)
        self.device = device

    def times(self) -> list[Timed]:
        """The median time of each operation."""
        captured, clock = self.captured, clock_of(self.device)
        given, rounds = captured.given(captured.example_inputs), []
        with measure.untouched(captured), kernels_alone(self.device):
            for _ in range(STEPS + 1):
                marks: list[tuple[int, int]] = []
                results = self.run(given, None, lambda index: marks.append((index, clock())))  # noqa: B023
                marks.append((-1, clock()))
                del results
                rounds.append([end - begin for (_, begin), (_, end) in itertools.pairwise(marks)])
        times = [median(each) for each in zip(*rounds[1:], strict=True)]
        operations = [what for kind, what, _ in self.moves if kind == "compute"]
        timed = zip(operations, times, strict=True)
        return [Timed(what.work, what.variant, max(1, round(time))) for what, time in timed if not what.is_gate]


def base_of(name: str, device: str, reference: int) -> dict[str, Any]:
    """The machine without rates: its memories and links, and the time of the reference."""
    fast = "ram" if device == "cpu" else "hbm"
    if device == "cpu":
        cap = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    else:
        cap = torch.cuda.get_device_properties(device).total_memory
    out, back = time_links(device)
    return {
        "format": "pebble-machine/1",
        "name": name,
        "time_unit": "ns",
        "memories": [{"name": fast, "cap": cap}, {"name": "host"}],
        "processors": [{"name": "cpu" if device == "cpu" else "gpu", "memory": fast}],
        "links": [
            {"name": "out", "from": fast, "to": "host", "bandwidth": out, "latency": 5000},
            {"name": "in", "from": "host", "to": fast, "bandwidth": back, "latency": 5000},
        ],
        "reference": {"what": REFERENCE, "time": reference},
    }


def clock_of(device: str) -> Callable[[], int]:
    """Nanoseconds: of this thread on a processor, else after everything that was started."""
    if device == "cpu":
        return time.thread_time_ns

    def wait() -> int:
        torch.cuda.synchronize(device)
        return time.perf_counter_ns()

    return wait


def time_probe(probe: Probe, device: str) -> Timed:
    """The median time of a call under the conditions of a step: the operation before has just written its main operand,
    so that this is in caches as far as it fits; the others and the result are not, unless they are small."""
    out = probe.target(*probe.args, **probe.kwargs)
    work = work_of(probe.target, probe.args, probe.kwargs, out)
    variant = variant_of(probe.target, probe.args, probe.kwargs, out, work)
    rotation = BUSY_ROTATION if work.flops > BUSY * work.bytes else ROTATION
    count = max(2, min(SETS, rotation // max(1, work.bytes)))
    sets = [_adapter.pytree.tree_map_only(torch.Tensor, copy_of, probe.args) for _ in range(count)]
    call = Call(probe.target, probe.kwargs, sets, variant.op not in LATER)
    for _ in range(count):
        call()  # first touch of memory is not part of a step
    clock = clock_of(device)
    times = apart(call, clock) if together(call, clock, 5)[-1] > SHORT_NS else together(call, clock)
    return Timed(work, variant, max(1, round(median(times))))


class Call:
    """A call whose operands and results rotate through memory."""

    def __init__(self, target: Any, kwargs: dict[str, Any], sets: list[tuple], follows: bool) -> None:
        self.target, self.kwargs, self.sets = target, kwargs, sets
        self.kept: list[Any] = [None] * len(sets)
        self.mains = [main_of(args) if follows else None for args in sets]
        self.turn = 0

    def __call__(self) -> None:
        self.kept[self.turn] = self.target(*self.sets[self.turn], **self.kwargs)
        self.turn = (self.turn + 1) % len(self.sets)

    def write_main(self) -> None:
        """Writes the main operand of the next call."""
        main = self.mains[self.turn]
        if main is not None:
            main.mul_(1)


def main_of(args: tuple) -> torch.Tensor | None:
    """What the operation before has computed: the first operand that is not small next to the largest."""
    operands = [t for t in _adapter.pytree.tree_leaves(args) if isinstance(t, torch.Tensor) and 0 not in t.stride()]
    largest = max((t.numel() for t in operands), default=0)
    return next((t for t in operands if t.is_floating_point() and 4 * t.numel() >= largest), None)


def apart(call: Call, clock: Callable[[], int]) -> list[float]:
    """Times of single calls, each right after its main operand was written."""
    nothing = median(-clock() + clock() for _ in range(100))
    times: list[float] = []
    spent = 0
    while spent < ENOUGH_NS or len(times) < 5:
        call.write_main()
        begin = clock()
        call()
        taken = clock() - begin
        spent += taken
        times.append(taken - nothing)
    return times


def together(call: Call, clock: Callable[[], int], least: int = ENOUGH_NS) -> list[float]:
    """Times per call of batches that are long enough for the clock."""
    times: list[float] = []
    batch, spent = 1, 0
    while spent < least or not times:
        begin = clock()
        for _ in range(batch):
            call()
        taken = clock() - begin
        spent += taken
        if taken < BATCH_NS and batch < 4096:
            batch *= 2  # too short for the clock: not counted
        else:
            times.append(taken / batch)
    return times


def copy_of(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor with its own memory and the same strides."""
    steps = [(n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True)]
    base = torch.empty(sum(steps) + 1, dtype=tensor.dtype, device=tensor.device)
    copy = base.as_strided(tensor.shape, tensor.stride())
    if 0 in tensor.stride():
        base.fill_(0)
    else:
        copy.copy_(tensor)
    return copy


def time_reference(device: str) -> int:
    """Nanoseconds of a fixed computation, to compare this computer now with then."""
    one, clock, times = torch.ones(512, 512, device=device), clock_of(device), []
    total = torch.mm(one, one)
    for _ in range(12):
        begin = clock()
        torch.mm(one, one, out=total)
        for _ in range(4):
            total.add_(one)
        times.append(clock() - begin)
    return max(1, round(median(times)))


def rescaled(machine: pb.Machine) -> pb.Machine:
    """A machine that `measure_machine` measured, with its times corrected by its reference, timed again now."""
    reference = machine.document.get("reference", {})
    if reference.get("what") != REFERENCE:
        raise pb.InvalidArgument(
            f"machine {machine.name} has no reference of torch's kernels; measure it again, with "
            "python -m pebble_bridge.measure"
        )
    device = "cpu" if machine.processors[0]["name"] == "cpu" else "cuda"
    return machine.rescaled(median(time_reference(device) for _ in range(5)) / int(reference["time"]))


def time_links(device: str) -> tuple[int, int]:
    """Bytes per second to the host and back."""
    pool, clock = HostPool(), clock_of(device) if device != "cpu" else time.perf_counter_ns
    sample = torch.zeros(1 << 24, dtype=torch.uint8, device=device)
    pool.drop(pool.store(sample))  # the first run allocates new pages
    down, up = [], []
    for _ in range(5):
        begin = clock()
        stored = pool.store(sample)
        middle = clock()
        pool.load(stored)
        up.append(clock() - middle)
        down.append(middle - begin)
        pool.drop(stored)
    return tuple(int(1e9 * sample.numel() / max(1, median(times))) for times in (down, up))


def pin_allocator() -> None:
    """Keeps freed memory in the process: otherwise the system clears pages anew in every step."""
    try:
        library = ctypes.CDLL(None)
        library.mallopt(-1, ctypes.c_int(2**31 - 1))  # M_TRIM_THRESHOLD
        library.mallopt(-4, ctypes.c_int(0))  # M_MMAP_MAX
    except (OSError, AttributeError):  # another C library
        pass
