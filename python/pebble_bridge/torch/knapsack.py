"""A solver and an estimator for torch's ``activation_memory_budget``.

torch's partitioner decides by a knapsack which activations to save. Its default solver rounds sizes to ten thousand
steps and counts
operations without a formula as free. To use this solver with ``torch.compile``:

    import torch._functorch.config as config
    from pebble_bridge.torch import KnapsackSolver, MeasuredRuntime
    config.activation_memory_budget = 0.5
    config.activation_memory_budget_solver = KnapsackSolver(MeasuredRuntime())

The budget is still torch's: a share of the saved bytes, not of the peak. `fit` plans the peak.
"""

from __future__ import annotations

import bisect
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import fx

from . import _adapter

STATES = 100_000  # length of the list of undominated choices; if it is longer, the result may not be optimal


class Choice(NamedTuple):
    """The items to pack, and whether the choice is optimal."""

    packed: list[int]
    optimal: bool


def pack(sizes: Sequence[int], worths: Sequence[float], capacity: int, states: int = STATES) -> Choice:
    """Solves a 0/1 knapsack: the maximum worth within `capacity`.

    Undominated choices are kept in a list, items in order of descending worth per size; choices whose best fractional
    completion is not better than a known choice are dropped. No size is rounded, and the capacity is never exceeded.

    Parameters
    ----------
    sizes : sequence of int
        The size of each item, not negative.
    worths : sequence of float
        The worth of each item, not negative.
    capacity : int
        The limit on the total size.
    states : int
        The maximum number of choices to keep.
    """
    free = [i for i, size in enumerate(sizes) if size == 0]
    items = sorted(
        (i for i, size in enumerate(sizes) if 0 < size <= capacity), key=lambda i: (-worths[i] / sizes[i], sizes[i])
    )
    size_before, worth_before = [0], [0.0]
    for i in items:
        size_before.append(size_before[-1] + sizes[i])
        worth_before.append(worth_before[-1] + worths[i])
    known, known_packed = greedy(items, sizes, worths, capacity)
    front: list[tuple[int, float, Any]] = [(0, 0.0, None)]  # size, worth, (item, the rest)
    optimal = True
    for place, item in enumerate(items):
        taken = [
            (s + sizes[item], w + worths[item], (item, rest)) for s, w, rest in front if s + sizes[item] <= capacity
        ]
        front = undominated(front, taken)
        bound = Bound(items, sizes, worths, size_before, worth_before, place + 1, capacity)
        front = [state for state in front if state[1] + bound(state[0]) > known]
        for _, w, rest in front:
            if w > known:
                known, known_packed = w, rest
        if len(front) > states:
            front = sorted(front, key=lambda state: -(state[1] + bound(state[0])))[:states]
            front.sort(key=lambda state: state[:2])
            optimal = False
        if not front:
            break
    packed = []
    while known_packed is not None:
        packed.append(known_packed[0])
        known_packed = known_packed[1]
    return Choice(sorted(packed + free), optimal)


def greedy(items: Sequence[int], sizes: Sequence[int], worths: Sequence[float], capacity: int) -> tuple[float, Any]:
    worth, packed, room = 0.0, None, capacity
    for item in items:
        if sizes[item] <= room:
            room -= sizes[item]
            worth += worths[item]
            packed = (item, packed)
    return worth, packed


class Bound:
    """The worth that the items from `place` on can add, with the last one cut to fit."""

    def __init__(
        self,
        items: Sequence[int],
        sizes: Sequence[int],
        worths: Sequence[float],
        size_before: Sequence[int],
        worth_before: Sequence[float],
        place: int,
        capacity: int,
    ) -> None:
        self.items, self.sizes, self.worths = items, sizes, worths
        self.size_before, self.worth_before, self.place, self.capacity = size_before, worth_before, place, capacity

    def __call__(self, used: int) -> float:
        room = self.capacity - used
        end = bisect.bisect_right(self.size_before, self.size_before[self.place] + room) - 1
        worth = self.worth_before[end] - self.worth_before[self.place]
        if end < len(self.items):
            left = room - (self.size_before[end] - self.size_before[self.place])
            worth += self.worths[self.items[end]] * left / self.sizes[self.items[end]]
        return worth * (1 + 1e-12)  # rounding errors must not hide a choice


def undominated(one: list[tuple], other: list[tuple]) -> list[tuple]:
    """Merges two lists by size; a choice that is as large as another and not worth more is dropped."""
    merged, best = [], -1.0
    for state in sorted(one + other, key=lambda state: (state[0], -state[1])):
        if state[1] > best:
            merged.append(state)
            best = state[1]
    return merged


class MeasuredRuntime(_adapter.runtime_base()):
    """Milliseconds of an operation, measured on its device: an estimator for torch, and for `KnapsackSolver`.

    torch's own ``"profile"`` estimator works only on GPUs.
    """

    def __init__(self, repeats: int = 3) -> None:
        self.repeats = repeats
        self.known: dict[Any, float] = {}

    def __call__(self, node: fx.Node) -> float:
        key = (node.target, *(described(leaf) for leaf in _adapter.pytree.tree_leaves((node.args, node.kwargs))))
        if key not in self.known:
            with _adapter.real_tensors():
                self.known[key] = self.measure(node)
        return self.known[key]

    def measure(self, node: fx.Node) -> float:
        args, kwargs = fx.map_arg((node.args, node.kwargs), lambda n: _adapter.real_like(n.meta["val"]))
        best = float("inf")
        with torch.no_grad():
            for _ in range(self.repeats + 1):
                start = time.perf_counter()
                node.target(*args, **kwargs)
                if torch.cuda.is_available():
                    torch.cuda.synchronize()
                best = min(best, time.perf_counter() - start)
        return best * 1e3

    def uuid(self) -> Any:
        return f"pebble_bridge.torch.MeasuredRuntime {self.repeats}"


def described(leaf: Any) -> Any:
    value = leaf.meta["val"] if isinstance(leaf, fx.Node) else leaf
    if isinstance(value, torch.Tensor):
        return (tuple(value.shape), tuple(value.stride()), value.dtype, str(value.device))
    return repr(value)


def counted(node: fx.Node) -> float:
    """Floating-point operations of a node of torch's joint graph, with the bytes that it moves."""
    from .measure import cost_of
    from .work import work_of

    args, kwargs = fx.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
    return float(cost_of(work_of(node.target, args, kwargs, node.meta["val"])))


class KnapsackSolver(_adapter.knapsack_base()):
    """An exact solver for ``torch._functorch.config.activation_memory_budget_solver``.

    Parameters
    ----------
    runtime : callable, optional
        The cost of recomputing a node: `MeasuredRuntime`, or by default its floating-point operations and bytes.
    """

    def __init__(self, runtime: Callable[[fx.Node], float] | None = None) -> None:
        self.runtime = runtime or counted
        self.last: Choice | None = None

    def __call__(
        self,
        memory: list[float],
        joint_graph: fx.Graph,
        max_memory: float,
        node_info: Any,
        all_recomputable_banned_nodes: list[fx.Node],
    ) -> tuple[list[int], list[int]]:
        """Which of the nodes to save, by index, and which not."""
        nodes = all_recomputable_banned_nodes
        sizes = [_adapter.saved_bytes(node) for node in nodes]
        scale = max((size / share for size, share in zip(sizes, memory, strict=False) if share > 0), default=0.0)
        self.last = pack(sizes, [self.runtime(node) for node in nodes], int(max_memory * scale))
        saved = self.last.packed
        packed = set(saved)
        return saved, [i for i in range(len(nodes)) if i not in packed]

    def uuid(self) -> Any:
        inner = (
            self.runtime.uuid()
            if hasattr(self.runtime, "uuid")
            else getattr(self.runtime, "__name__", repr(self.runtime))
        )
        return f"pebble_bridge.torch.KnapsackSolver {inner}"
