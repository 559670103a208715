"""This computer as a machine: times of torch's kernels over a range of sizes, as a file that prices other steps."""

from __future__ import annotations

import ctypes
import itertools
import os
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import pebble_bridge as pb
import torch

from . import _adapter
from .probes import Maker, Probe, probes
from .runner import HostPool
from .work import work_of

ROTATION = 32 << 20  # bytes that operands and results of a probe rotate through: more than caches hold
SETS = 64  # at most so many sets of operands
BATCH_NS, ENOUGH_NS = 200_000, 5_000_000  # calls that are timed together, and time for one probe of a round
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
    samples: list[pb.Sample] = []
    try:
        torch.set_num_threads(1)
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            rounds = 1 if quick else rounds
            total = rounds * sum(1 for maker in makers for _ in probes(maker))
            counter = itertools.count(1)
            reference = [time_reference(device)]
            for _, maker in itertools.product(range(rounds), makers):
                for probe in probes(maker):
                    samples.append(time_probe(probe, device))
                    if progress is not None:
                        progress(next(counter), total)
                reference.append(time_reference(device))
            return pb.Machine.fit(samples, base_of(name, device, round(median(reference))))
    finally:
        torch.set_num_threads(threads)


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


def time_probe(probe: Probe, device: str) -> pb.Sample:
    """The median time of a call, in which neither operands nor results are in caches unless they are small."""
    out = probe.target(*probe.args, **probe.kwargs)
    work = work_of(probe.target, probe.args, probe.kwargs, out)
    count = max(2, min(SETS, ROTATION // max(1, work.bytes)))
    sets = [_adapter.pytree.tree_map_only(torch.Tensor, copy_of, probe.args) for _ in range(count)]
    kept: list[Any] = [None] * count
    target, kwargs, clock = probe.target, probe.kwargs, clock_of(device)
    times: list[float] = []
    batch, spent, turn = 1, 0, 0
    for place in range(2 * count):
        kept[place % count] = target(*sets[place % count], **kwargs)  # first touch of memory is not part of a step
    while spent < ENOUGH_NS or len(times) < 5:
        begin = clock()
        for _ in range(batch):
            kept[turn] = target(*sets[turn], **kwargs)
            turn = (turn + 1) % count
        taken = clock() - begin
        spent += taken
        if taken < BATCH_NS and batch < 4096:
            batch *= 2  # too short for the clock: not counted
        else:
            times.append(taken / batch)
    return pb.Sample(work.op, work.dtype, work.flops, work.bytes, max(1, round(median(times))))


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
