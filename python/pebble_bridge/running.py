"""Runs plans with kernels in Python: NumPy arrays in and out, in one block of memory."""

from __future__ import annotations

import ctypes
import inspect
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ._library import OWN_KERNEL
from ._session import Session
from .errors import InvalidArgument, PebbleError
from .graph import Graph, NodeRef, a_graph
from .planning import plan as _plan
from .results import Plan

try:
    import numpy
except ImportError:  # run() then raises an error
    numpy = None  # type: ignore[assignment]

__all__ = ["Ran", "run"]

_FILL, _COMPUTE, _FIXED = 0, 1, 2  # else: a result


@dataclass(frozen=True)
class Ran:
    """What a run measured, next to what its plan predicts.

    Attributes
    ----------
    values : dict
        The values in memory at the end of the last step, by name: copies. Mark results as `keep`.
    planned_peak, peak : int
        Bytes in use: by the plan, and measured.
    block : int
        Bytes of the one block of memory: the peak, and gaps between addresses.
    computed, recomputed : int
        Computations of a step, and those of nodes that had been computed before.
    seconds, kernel_seconds, recompute_seconds : float
        The median time of a step; of the last step: time in kernels, and in recomputations.
    stored_bytes, loaded_bytes, wait_seconds : int, int, float
        Transfers to and from slow memory, and the time that the run waited for them.
    node_ns : list of int
        By node: the shortest time of its kernel in nanoseconds, as costs of a graph; 0 if it was not computed.
    differs : list of str
        With `check`: the nodes whose kernels gave other bits for the same inputs.
    reference : Ran or None
        With `reference`: the same run with everything kept.
    equal : bool or None
        Its values have the same bits; None without a reference.
    """

    values: dict[str, Any]
    planned_peak: int
    peak: int
    block: int
    computed: int
    recomputed: int
    seconds: float
    kernel_seconds: float
    recompute_seconds: float
    stored_bytes: int
    loaded_bytes: int
    wait_seconds: float
    node_ns: list[int] = field(repr=False)
    differs: list[str]
    reference: Ran | None = field(default=None, repr=False)
    equal: bool | None = None


def run(
    graph: Graph,
    kernels: Mapping[NodeRef, Callable[..., Any]] | Callable[..., Any],
    plan: Plan | str | os.PathLike[str] | bytes,
    *,
    given: Mapping[NodeRef, Any] | None = None,
    types: Mapping[NodeRef, Any] | None = None,
    fixed: Any = None,
    steps: int = 1,
    check: bool = False,
    reference: bool = False,
    slow: str | os.PathLike[str] | None = None,
    max_block: int | None = None,
    align: int = 64,
) -> Ran:
    """Runs a plan with your own kernels, in one block of memory, and measures it.

    A kernel gets the values of its node's inputs, in the order of `Graph.inputs`, as read-only arrays in the block. It
    returns the value of its node, which is copied into the block, or, if it has a parameter `out`, writes it there.
    Arrays are valid until the kernel returns.

    Parameters
    ----------
    graph : Graph
        Its sizes are in bytes (``size_unit="byte"``).
    kernels : mapping or callable
        For each computed node, by name or index, a callable. Or one callable for all, with the node's name before the
        inputs. Of the parameters ``out``, ``workspace``, ``fixed``, ``times`` and ``parts_only`` a kernel gets those
        that it has without a default: the array (or list of arrays, with by-products) to write, uninitialized
        workspace and fixed memory as bytes, how often the node was computed before in this step, and whether only
        by-products are needed. With by-products it returns a sequence: its value, then they, in the order of their
        nodes. If the node lists `inplace` inputs, `out` may be the memory of one of them.
    plan : Plan, path or bytes
        A plan of this graph, or a schedule file. It has been verified.
    given : mapping
        The arrays of given nodes; or callables of the step, from 0, that return them.
    types : mapping, optional
        ``(shape, dtype)`` of nodes. Needed for `out`, which else is an array of bytes; other values keep the type of
        the array that the kernel returned.
    fixed : array or bytes, optional
        What fixed memory contains before the first step (default: zeros).
    steps : int
        Steps to run.
    check : bool
        Looks for errors in kernels: every kernel runs twice, with other bytes in all memory that it must not read.
        Nodes that give other bits are listed in `Ran.differs`; writing outside raises `InvalidArgument`. Needs more
        memory and time.
    reference : bool
        Also runs with everything kept, and compares the values at the end bit by bit.
    slow : path, optional
        The folder of slow memory, for plans of the tiered game.
    max_block : int, optional
        Raises `LimitReached` if the addresses need more bytes.
    align : int
        Addresses are multiples of this power of two.

    Returns
    -------
    Ran
        The values at the end, and the figures.

    Examples
    --------
    >>> import numpy as np
    >>> import pebble_bridge as pb
    >>> g = pb.Graph(cost=[0, 1, 1], size=[32, 32, 8], edges=[(0, 1), (1, 2)], names=["x", "y", "sum"], given=["x"],
    ...              keep=["sum"], size_unit="byte")
    >>> ran = pb.run(g, {"y": np.sqrt, "sum": np.sum}, pb.plan(g, 72), given={"x": np.arange(4.0) ** 2})
    >>> float(ran.values["sum"]), ran.peak, ran.planned_peak
    (6.0, 64, 64)
    """
    if numpy is None:
        raise InvalidArgument("run needs numpy, because kernels get arrays: pip install numpy")
    a_graph(graph)
    found = plan if isinstance(plan, Plan) else Plan.read(graph, plan)
    found.require()
    if found.graph.hash != graph.hash:
        raise InvalidArgument("plan: it is for another graph; plan this graph, or pass the plan's own")
    how = {"steps": steps, "align": align, "max_block": max_block or 0, "check": int(check)}
    work = _Kernels(graph, kernels, given or {}, types or {}, fixed)
    ran = work.run(found, how, slow)
    if not reference:
        return ran
    everything = _plan(graph, None, strategy="cache-all", game="remat").require()
    other = _Kernels(graph, kernels, given or {}, types or {}, fixed).run(everything, how | {"max_block": 0}, None)
    equal = all(ran.values[k].tobytes() == other.values[k].tobytes() for k in ran.values)
    return Ran(**{k: getattr(ran, k) for k in Ran.__annotations__} | {"reference": other, "equal": equal})


class _Kernel:
    """A callable, and which of the special parameters it has."""

    SPECIAL = ("out", "workspace", "fixed", "times", "parts_only")

    def __init__(self, call: Callable[..., Any], named: bool) -> None:
        if not callable(call):
            raise InvalidArgument(f"kernels: expected callables, not {type(call).__name__}")
        self.call, self.named = call, named
        try:
            has = inspect.signature(call).parameters
            plain = isinstance(call, type(numpy.sqrt))  # ufuncs have an `out` that is not ours to pass
            self.takes = (
                [] if plain else [k for k in self.SPECIAL if k in has and has[k].default is inspect.Parameter.empty]
            )
        except (TypeError, ValueError):  # built in, without a signature
            self.takes = []


class _Kernels:
    """The kernels of a graph, the types of its values, and what is gathered in a run."""

    def __init__(
        self, graph: Graph, kernels: Any, given: Mapping[NodeRef, Any], types: Mapping[NodeRef, Any], fixed: Any
    ):
        self.graph, self.names = graph, graph.names
        self.sizes = [int(n) for n in graph.size]
        self.workspace = [int(n) for n in graph.workspace]
        self.given = {graph.index(k): v for k, v in given.items()}
        self.type: dict[int, tuple[tuple[int, ...], Any]] = {}
        self.declared: set[int] = set()
        for k, (shape, dtype) in types.items():
            self._declare(graph.index(k), shape, dtype)
        self.fixed, self.fixed_size = fixed, graph.fixed_size
        self.inputs = [graph.inputs(v) for v in range(len(graph))]
        self.parts: dict[int, list[int]] = {}
        for part, owner in sorted(graph.byproduct_of.items()):
            self.parts.setdefault(owner, []).append(part)
        self.kernel = self._match(kernels)
        self.values: dict[str, Any] = {}
        self.error: BaseException | None = None
        for v in graph.given:
            if v not in self.given:
                raise InvalidArgument(f"given: there is no array for {self.names[v]}; pass one for every given node")

    def _declare(self, v: int, shape: Any, dtype: Any) -> None:
        shape = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
        kind = numpy.dtype(dtype)
        bytes_ = int(numpy.prod(shape, dtype=object)) * kind.itemsize if shape else kind.itemsize
        if bytes_ > self.sizes[v]:
            raise InvalidArgument(
                f"types: {self.names[v]} has {self.sizes[v]} bytes in the graph, but {shape} of {kind} takes {bytes_}; "
                "correct one of them"
            )
        self.type[v] = (shape, kind)
        self.declared.add(v)

    def _match(self, kernels: Any) -> dict[int, _Kernel]:
        computed = [v for v in range(len(self.graph)) if v not in self.graph.given and v not in self.graph.byproduct_of]
        if callable(kernels):
            one = _Kernel(kernels, True)
            return dict.fromkeys(computed, one)
        of = {self.graph.index(k): _Kernel(call, False) for k, call in kernels.items()}
        missing = [self.names[v] for v in computed if v not in of]
        if missing:
            raise InvalidArgument(
                f"kernels: {missing[0]} has none{f', nor have {len(missing) - 1} others' if missing[1:] else ''}; "
                "pass a callable for every computed node"
            )
        return of

    def run(self, plan: Plan, how: Mapping[str, int], slow: Any) -> Ran:
        session = Session()
        for name, value in how.items():
            session.do("pb_session_run_number", name.encode(), value)
        if slow is not None:
            session.do("pb_session_run_slow", os.fsencode(slow))
        callback = OWN_KERNEL(self._do)
        try:
            session.do("pb_session_run", plan._handle, callback, None)
        except PebbleError:
            if self.error is not None:
                raise self.error
            raise
        return self._ran(json.loads(session.written()))

    def _ran(self, f: dict[str, Any]) -> Ran:
        f = {k: [int(x) for x in v] if isinstance(v, list) else int(v) for k, v in f.items()}
        times = sorted(f["time_ns"])
        return Ran(
            self.values,
            *(f[k] for k in ("planned_peak", "peak", "block", "computed", "recomputed")),
            *(1e-9 * n for n in (times[len(times) // 2], f["kernel_ns"], f["recompute_ns"])),
            *(f[k] for k in ("stored_bytes", "loaded_bytes")),
            1e-9 * f["io_wait_ns"],
            f["node_ns"],
            [self.names[v] for v in f["differs"]],
        )

    def _do(self, _: Any, duty: int, node: int, numbers: Any, value: Any, workspace: Any, fixed: Any) -> int:
        """Called by the library. Exceptions must not pass it."""
        try:
            if duty == _FILL:
                self._fill(node, numbers[0], value[node])
            elif duty == _COMPUTE:
                self._compute(node, numbers, value, workspace, fixed)
            elif duty == _FIXED:
                self._set_fixed(fixed)
            else:
                self.values[self.names[node]] = self._view(node, value[node], False).copy()
            return 0
        except BaseException as error:  # raised again behind the call
            self.error = error
            return 1

    def _bytes(self, address: int | None, count: int) -> Any:
        if not address or not count:
            return numpy.empty(0, numpy.uint8)
        return numpy.frombuffer((ctypes.c_uint8 * count).from_address(address), numpy.uint8)

    def _view(self, v: int, address: int | None, writable: bool) -> Any:
        raw = self._bytes(address, self.sizes[v])
        if v in self.type:
            shape, kind = self.type[v]
            count = int(numpy.prod(shape, dtype=object)) if shape else 1
            raw = raw[: count * kind.itemsize].view(kind).reshape(shape)
        raw.flags.writeable = writable
        return raw

    def _put(self, v: int, address: int | None, array: Any, what: str) -> None:
        array = numpy.asarray(array)
        if array.dtype.hasobject:
            raise InvalidArgument(f"{what} of {self.names[v]} is not an array of numbers")
        if array.nbytes > self.sizes[v]:
            raise InvalidArgument(
                f"{what} of {self.names[v]} has {array.nbytes} bytes, but the node has {self.sizes[v]}; "
                "correct the size in the graph, or the type of the array"
            )
        known = self.type.setdefault(v, (array.shape, array.dtype))
        if known != (array.shape, array.dtype):
            if v in self.declared:
                array = numpy.asarray(array, known[1]).reshape(known[0])
            else:
                raise InvalidArgument(
                    f"{what} of {self.names[v]} is {array.dtype} of {array.shape}, but was {known[1]} of "
                    f"{known[0]} before; make it the same each time, or pass `types`"
                )
        if array.size:
            self._view(v, address, True)[...] = array
        rest = self._bytes(address, self.sizes[v])[array.nbytes :]
        rest[...] = 0

    def _fill(self, v: int, step: int, address: int) -> None:
        array = self.given[v]
        self._put(v, address, array(step) if callable(array) else array, "the given array")

    def _set_fixed(self, address: int) -> None:
        if self.fixed is None:
            return
        content = (
            numpy.frombuffer(self.fixed, numpy.uint8) if isinstance(self.fixed, (bytes, bytearray)) else self.fixed
        )
        raw = numpy.ascontiguousarray(content).reshape(-1).view(numpy.uint8)
        if raw.size > self.fixed_size:
            raise InvalidArgument(f"fixed has {raw.size} bytes, but the graph's fixed memory has {self.fixed_size}")
        self._bytes(address, self.fixed_size)[: raw.size] = raw

    def _compute(self, v: int, numbers: Any, value: Any, workspace: Any, fixed: Any) -> None:
        kernel, parts = self.kernel[v], self.parts.get(v, [])
        inputs = self.inputs[v]
        if numbers[2]:
            raise InvalidArgument(
                f"the plan gets {self.names[v]} back by a recipe, which kernels in Python cannot do; plan the graph "
                "without recipes, or run it from C (docs/engine.md)"
            )
        arguments = [self._view(u, value[u], False) for u in inputs]
        made = [v, *parts]
        keywords: dict[str, Any] = {}
        for name in kernel.takes:
            if name == "out":
                outs = [self._view(w, value[w], True) if value[w] else None for w in made]
                keywords[name] = outs if parts else outs[0]
            elif name == "workspace":
                keywords[name] = self._bytes(workspace, self.workspace[v])
            elif name == "fixed":
                keywords[name] = self._bytes(fixed, self.fixed_size)
            else:
                keywords[name] = {"times": int(numbers[1]), "parts_only": bool(numbers[3])}[name]
        result = kernel.call(*([self.names[v]] if kernel.named else []), *arguments, **keywords)
        if "out" in keywords and result is None:
            return
        results = [result] if not parts else result
        if len(results) != len(made):
            raise InvalidArgument(f"the kernel of {self.names[v]} must return {len(made)} arrays, not {len(results)}")
        for w, array in zip(made, results, strict=True):
            if value[w]:
                self._put(w, value[w], array, "the result")
