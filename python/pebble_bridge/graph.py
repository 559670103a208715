"""Graphs: from arrays, files and families, and back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from ctypes import byref, c_uint32, c_uint64
from functools import cached_property
from numbers import Integral
from operator import index
from pathlib import Path
from typing import Any, ClassVar

from . import _arrays
from ._library import NO_NODE, lib
from ._session import Session
from ._work import ByNode, Labels, NodeRef, Stated, state_notes, state_work, time_report
from .errors import InvalidArgument, PebbleError, ReadWriteError
from .machines import machine_text

__all__ = ["Graph"]

GIVEN, GIVEN_SLOW, ONCE, KEEP, TARGET = 1, 2, 4, 8, 16


class Graph(Stated):
    """A computation as a directed acyclic graph; immutable.

    Edge ``(u, v)`` means that computing ``v`` reads the value of ``u``.

    Parameters
    ----------
    cost, size : sequence of int
        Work of computing each node once, and memory of its value.
    edges : sequence of pairs, or tuple of two arrays, or array of shape (m, 2)
        ``[(0, 1), (1, 2)]`` or ``(from_array, to_array)``.
    names : sequence of str, optional
        Unique names. Default: the indices.
    workspace : sequence of int, optional
        Memory that is in use only while a node is computed.
    given : sequence of nodes, or mapping of node to True or "slow", optional
        Values that exist before the start; "slow": in slow memory, in the tiered game.
    once, keep : sequence of nodes, optional
        Nodes that are computed at most once; nodes that must be resident at the end. `keep` may also be a mapping of
        node to True or to the memory of the machine that it must be in.
    inplace : mapping of node to its inputs, optional
        ``{v: [u, ...]}``: inputs whose memory ``v`` may take over.
    byproduct_of : mapping, optional
        ``{w: v}``: ``w`` is another output of the computation of ``v``.
    groups : sequence of str or None for each node, or mapping of node to str, optional
        The layer or block that a node belongs to.
    targets, order : sequence of nodes, optional
        What must have been computed by the end (default: every sink); the program order.
    priority : mapping of node to int, optional
        For the eviction policy ``"priority"``: values of a higher priority stay longer; default 0.
    fixed_size : int
        Memory that is always in use, in addition to the nodes.
    flops, bytes : sequence of int or None for each node, or mapping of node to int, optional
        For machines: floating-point operations, and everything that the computation reads and writes.
    op, dtype : sequence of str or None for each node, or mapping of node to str, optional
        For machines: the operation, such as "conv", and the type of numbers, such as "float32".
    times : mapping of node to a mapping of processor to int, optional
        Measured times, which replace what follows from flops and bytes.
    on : mapping of node to str or sequence of str, optional
        The processors that may compute a node.
    starts_in : mapping of given node to str, optional
        The memory that a given value starts in (``in`` in files).
    fixed : mapping of memory to int, optional
        Memory that is always in use, by memory of the machine, instead of `fixed_size`.
    machine : Machine, str, path or mapping, optional
        The machine that the graph carries: the default of `plan` and others.
    name, cost_unit, size_unit : str
        For display. With ``size_unit="byte"`` sizes are shown as KiB, MiB and so on.

    Examples
    --------
    >>> import pebble_bridge as pb
    >>> g = pb.Graph(cost=[1, 1, 3], size=[1, 1, 2], edges=[(0, 1), (1, 2), (0, 2)], names=["a", "b", "c"])
    >>> g.node_count, g.shape, g.written_peak
    (3, 'adjoint-chain', 4)
    """

    def __init__(
        self,
        cost: Iterable[int],
        size: Iterable[int],
        edges: Any = (),
        *,
        names: Sequence[str] | None = None,
        workspace: Iterable[int] | None = None,
        given: Iterable[NodeRef] | Mapping[NodeRef, Any] | None = None,
        once: Iterable[NodeRef] | None = None,
        keep: Iterable[NodeRef] | Mapping[NodeRef, bool | str] | None = None,
        inplace: Mapping[NodeRef, Any] | None = None,
        byproduct_of: Mapping[NodeRef, NodeRef] | None = None,
        groups: Sequence[str | None] | Mapping[NodeRef, str] | None = None,
        targets: Iterable[NodeRef] | None = None,
        order: Iterable[NodeRef] | None = None,
        priority: Mapping[NodeRef, int] | None = None,
        fixed_size: int = 0,
        flops: ByNode | None = None,
        bytes: ByNode | None = None,
        op: ByNode | None = None,
        dtype: ByNode | None = None,
        times: Mapping[NodeRef, Mapping[str, int]] | None = None,
        on: Mapping[NodeRef, str | Sequence[str]] | None = None,
        starts_in: Mapping[NodeRef, str] | None = None,
        fixed: Mapping[str, int] | None = None,
        machine: Any = None,
        name: str = "graph",
        cost_unit: str = "step",
        size_unit: str = "pebble",
    ) -> None:
        session = Session()
        costs, sizes = _arrays.numbers(cost, 8, "cost"), _arrays.numbers(size, 8, "size")
        count = len(costs)
        if len(sizes) != count:
            raise InvalidArgument(f"size has {len(sizes)} entries and cost has {count}; give one for each node")
        spaces = None if workspace is None else _arrays.numbers(workspace, 8, "workspace")
        if spaces is not None and len(spaces) != count:
            raise InvalidArgument(f"workspace has {len(spaces)} entries and cost has {count}; give one for each node")
        refer = _References(names, count)
        flags = _flags(count, refer, given, once, keep)
        if names is not None:
            if len(names) != count:
                raise InvalidArgument(f"names has {len(names)} entries and cost has {count}; give one for each node")
            label = _arrays.texts(names, "names")
            session.do("pb_session_name_nodes", count, label, len(label))
        grouped = Labels(groups, count, refer, "groups") if groups is not None else None
        if grouped is not None:
            groups_at, text = _arrays.pointer(grouped.index, 4), grouped.text
            session.do("pb_session_group_nodes", count, groups_at, text, len(text))
        stated = state_work(session, count, refer, {"flops": flops, "bytes": bytes, "op": op, "dtype": dtype})
        session.do(
            "pb_session_add_nodes",
            count,
            _arrays.pointer(costs, 8),
            _arrays.pointer(sizes, 8),
            _arrays.pointer(spaces, 8),
            _arrays.pointer(flags, 2),
        )
        del stated, grouped  # the library has copied them
        _add_pairs(session, "edge", *_edge_arrays(edges, refer))
        if inplace:
            pairs = [(refer(v), refer(u)) for v, row in inplace.items() for u in _as_row(row)]
            _add_pairs(session, "inplace", *_columns(pairs, "inplace"))
        if byproduct_of:
            pairs = [(refer(w), refer(v)) for w, v in byproduct_of.items()]
            _add_pairs(session, "byproduct_of", *_columns(pairs, "byproduct_of"))
        for what, listed in (("target", targets), ("order", order)):
            if listed is not None:
                nodes = refer.many(listed, what)
                session.do("pb_session_add_list", what.encode(), len(nodes), _arrays.pointer(nodes, 4))
        if priority:
            levels = _arrays.numbers(list(priority.values()), 8, "priority")
            nodes = refer.many(list(priority), "priority")
            session.do("pb_session_add_priorities", len(levels), _arrays.pointer(nodes, 4), _arrays.pointer(levels, 8))
        notes = {"times": times, "on": on, "starts_in": starts_in, "keep": keep, "fixed": fixed, "machine": machine}
        state_notes(session, refer, notes)
        always = _arrays.numbers([fixed_size], 8, "fixed_size")[0]
        words = {"name": name, "cost_unit": cost_unit, "size_unit": size_unit}
        texts = [_arrays.text(word, what) for what, word in words.items()]
        handle = session.make("pb_session_make_graph", *texts, int(always))
        self._take(session, handle)

    def _take(self, session: Session, handle: int) -> None:
        self._session, self._handle = session, handle

    @classmethod
    def _made(cls, session: Session, handle: int) -> Graph:
        graph = cls.__new__(cls)
        graph._take(session, handle)
        return graph

    # ---- files ----

    @classmethod
    def read(
        cls,
        source: str | os.PathLike[str] | bytes,
        *,
        inputs: str | None = None,
        dims: Mapping[str, int] | None = None,
        batch: int | None = None,
        train: bool = False,
        optimizer: str | None = None,
        grads: str | None = None,
        attention: str | None = None,
    ) -> Graph:
        """Read a graph in any supported format: JSON, DOT, CSV, .bench, BLIF, AIGER, ONNX.

        Parameters
        ----------
        source : path or bytes
            A file, or its content.
        inputs : {"free", "given", "computed"}, optional
            How to treat a circuit's inputs.
        dims : mapping of names to sizes, optional
            Sizes of the symbolic dimensions of an ONNX model.
        batch : int, optional
            The batch of an ONNX model: the first dimension of its first input, and of similar inputs.
        train : bool
            A training step of an ONNX model instead of its forward pass.
        optimizer : {"none", "sgd", "momentum", "adam"}, optional
            With `train`: the optimizer whose state is part of the fixed memory.
        grads : {"accumulate", "keep", "update"}, optional
            With `train`: how to treat the gradients of parameters.
        attention : {"fused", "separate"}, optional
            Attention that an ONNX model computes by products and a softmax: as one kernel that keeps no scores (default),
            or operator by operator.
        """
        session = Session(
            inputs=inputs,
            dims=",".join(f"{name}={size}" for name, size in dims.items()) if dims else None,
            batch=batch,
            train=1 if train else None,
            optimizer=optimizer,
            grads=grads,
            attention=attention,
        )
        path = None
        if isinstance(source, (bytes, bytearray, memoryview)):
            content = bytes(source)
        else:
            path, content = os.fspath(source), read_bytes(source)
        handle = session.make("pb_session_read_graph", content, len(content), os.fsencode(path) if path else None)
        graph = cls._made(session, handle)
        graph.notes = session.notes()  # type: ignore[misc]
        return graph

    #: The reader's notes about the file.
    notes: ClassVar[Sequence[str]] = ()

    @classmethod
    def from_json(cls, text: str | bytes) -> Graph:
        """The graph of a ``pebble-graph/1`` document."""
        return cls.read(text.encode() if isinstance(text, str) else text)

    def to_json(self) -> str:
        """The graph as a ``pebble-graph/1`` document."""
        return self.to_text("json")

    def to_text(self, format: str) -> str:
        """The graph as text in the format "json", "dot" or "csv"."""
        return Session().write("pb_session_write_graph", self._handle, format.encode()).decode()

    def write(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write the graph to a file; the default format is that of the file's name."""
        ending = Path(path).suffix.lower()
        chosen = format or {".dot": "dot", ".gv": "dot", ".csv": "csv"}.get(ending, "json")
        write_bytes(path, self.to_text(chosen).encode())

    # ---- figures ----

    def _number(self, field: str) -> int:
        return lib.pb_graph_number(self._handle, field.encode())

    def _text(self, field: str) -> str:
        return lib.pb_graph_text(self._handle, field.encode()).decode()

    def _array(self, field: str) -> Any:
        count, width = c_uint64(), c_uint32()
        address = lib.pb_graph_array(self._handle, field.encode(), byref(count), byref(width))
        return _arrays.view(address, count.value, width.value, self._session)

    def __len__(self) -> int:
        return self.node_count

    @property
    def node_count(self) -> int:
        """The number of nodes."""
        return self._number("node_count")

    @property
    def edge_count(self) -> int:
        """The number of edges; duplicates count once."""
        return self._number("edge_count")

    @property
    def name(self) -> str:
        """The name of the graph."""
        return self._text("name")

    @property
    def cost_unit(self) -> str:
        """The unit of costs."""
        return self._text("cost_unit")

    @property
    def size_unit(self) -> str:
        """The unit of sizes."""
        return self._text("size_unit")

    @property
    def shape(self) -> str:
        """The recognised shape: chain, adjoint-chain, in-tree, general or empty."""
        return self._text("shape")

    @property
    def fixed_size(self) -> int:
        """Memory that is always in use."""
        return self._number("fixed_size")

    @property
    def total_size(self) -> int:
        """Memory of all values together, and ``fixed_size``."""
        return self._number("total_size")

    @property
    def needed_cost(self) -> int:
        """Work of computing every needed node once."""
        return self._number("needed_cost")

    @property
    def depth(self) -> int:
        """Edges on the longest path."""
        return self._number("max_depth")

    @property
    def cost(self) -> Any:
        """Work of each node: a read-only view of the library's array."""
        return self._array("cost")

    @property
    def size(self) -> Any:
        """Memory of each value; a read-only view too."""
        return self._array("size")

    @property
    def workspace(self) -> Any:
        """Extra memory while each node is computed; a read-only view too."""
        return self._array("workspace")

    @property
    def priority(self) -> Any:
        """The priority of each node, or an empty array if none has one."""
        return self._array("priority")

    @property
    def flags(self) -> Any:
        """The flags of each node: 1 given, 2 in slow memory, 4 once, 8 keep, 16 target, 32 needed, 64 by-product."""
        return self._array("flags")

    @property
    def order(self) -> Any:
        """The nodes that are computed, in program order."""
        return self._array("order")

    @property
    def targets(self) -> Any:
        """What must have been computed by the end."""
        return self._array("targets")

    @cached_property
    def edges(self) -> tuple[Any, Any]:
        """All edges as two arrays: the node that is read, and the node that reads it."""
        start, sources = self._array("in_start"), self._array("in")
        if _arrays.numpy is not None:
            readers = _arrays.numpy.repeat(
                _arrays.numpy.arange(self.node_count, dtype="u4"), _arrays.numpy.diff(start.astype("i8"))
            )
            return sources, readers
        readers = _arrays.empty(len(sources), 4)
        for v in range(self.node_count):
            for k in range(start[v], start[v + 1]):
                readers[k] = v
        return sources, readers

    def inputs(self, node: NodeRef) -> list[int]:
        """The nodes that a node's computation reads, ascending."""
        return self._row("in", self.index(node))

    def readers(self, node: NodeRef) -> list[int]:
        """The nodes that read a node, ascending."""
        return self._row("out", self.index(node))

    def _row(self, field: str, v: int) -> list[int]:
        start = self._array(f"{field}_start")
        return [int(u) for u in self._array(field)[start[v] : start[v + 1]]] if len(start) else []

    def _marked(self, flag: int) -> list[int]:
        return [v for v, flags in enumerate(self.flags) if flags & flag]

    @property
    def given(self) -> dict[int, bool | str]:
        """Values that exist before the start: True, or "slow" for those in slow memory."""
        flags = self.flags
        return {v: "slow" if flags[v] & GIVEN_SLOW else True for v in self._marked(GIVEN)}

    @property
    def once(self) -> list[int]:
        """Nodes that are computed at most once."""
        return self._marked(ONCE)

    @property
    def keep(self) -> list[int]:
        """Nodes that must be resident at the end."""
        return self._marked(KEEP)

    @property
    def inplace(self) -> dict[int, list[int]]:
        """For each in-place node: the inputs whose memory it may take over."""
        start = self._array("inplace_start")
        return {v: self._row("inplace", v) for v in range(len(start) - 1) if start[v + 1] > start[v]}

    @property
    def byproduct_of(self) -> dict[int, int]:
        """The node whose computation produces each by-product."""
        return {w: int(v) for w, v in enumerate(self._array("owner")) if v != NO_NODE}

    @property
    def groups(self) -> list[str | None]:
        """The group of each node."""
        listed = self._array("group")
        if not len(listed):
            return [None] * self.node_count
        names = [lib.pb_graph_group_label(self._handle, k).decode() for k in range(self._number("group_count"))]
        return [names[k] if k != NO_NODE else None for k in listed]

    @cached_property
    def names(self) -> list[str]:
        """The names of the nodes."""
        joined = bytes(self._array("name_text")).decode(errors="replace")
        return joined.split("\0")[:-1] if self.node_count else []

    def index(self, node: NodeRef) -> int:
        """The index of a node that is given by index or name.

        Raises
        ------
        InvalidArgument
            There is no such node.
        """
        if not isinstance(node, str):
            found = _whole_node(node)
            if 0 <= found < self.node_count:
                return found
            raise InvalidArgument(f"the graph has no node {found}; its nodes are 0 to {self.node_count - 1}")
        found = lib.pb_graph_find_node(self._handle, _arrays.text(node, "a node"))
        if found == NO_NODE:
            raise InvalidArgument(f"the graph has no node `{node}`; Graph.names lists them")
        return found

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical graph; schedules refer to it."""
        return Session().write("pb_session_write_graph", self._handle, b"hash").decode()

    @cached_property
    def written_peak(self) -> int:
        """The peak in program order; a cap of 100 % means this."""
        peak = c_uint64()
        Session().do("pb_session_program_peak", self._handle, byref(peak))
        return peak.value

    def timed(self, machine: Any = None) -> Graph:
        """The graph with a time for each node, by the models that a machine's file has for operations and sizes.

        Parameters
        ----------
        machine : Machine, str, path or mapping, optional
            Default: the graph's own.

        Returns
        -------
        Graph
            Another graph, with `times`. Its attribute `time_report` has the total time of each operation and type, and
            how many of its nodes lie outside of what was measured.
        """
        session = Session(machine=machine_text(machine))
        graph = self._made(session, session.make("pb_session_time_graph", self._handle))
        graph.time_report = time_report(session)
        session.keeps = self  # the new graph borrows from this one
        return graph

    #: What `timed` reports.
    time_report: Mapping[str, Any] | None = None

    def parse_size(self, text: str | int) -> int | None:
        """Converts a size such as "60%", "8GiB" or 4096 to the graph's unit; None for "none"."""
        value = c_uint64()
        Session().do("pb_session_size", self._handle, str(text).encode(), byref(value))
        return None if value.value == 0xFFFFFFFFFFFFFFFF else value.value

    def _repr_html_(self) -> str:
        from .html import graph_html

        return graph_html(self)

    def __repr__(self) -> str:
        return f"<Graph {self.name!r}: {self.node_count} nodes, {self.edge_count} edges>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Graph.from_json, (self.to_json(),)


def a_graph(graph: Any) -> Graph:
    """Returns the graph, or raises `InvalidArgument` if it is something else."""
    if not isinstance(graph, Graph):
        raise InvalidArgument(f"expected a Graph, not {type(graph).__name__}; Graph.read reads files")
    return graph


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file; raises `ReadWriteError`."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ReadWriteError(f"{os.fspath(path)}: cannot be read: {error.strerror}; check the path") from error


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file completely, or leave it unchanged."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        temporary.write_bytes(content)
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise ReadWriteError(f"{target}: cannot be written: {error.strerror}; check the folder") from error


def _whole_node(node: Any) -> int:
    """The index of a node. A boolean is rejected, though Python would accept it as an index."""
    if isinstance(node, bool):
        raise InvalidArgument("expected a node's index or name, not a boolean; list the nodes instead of a mask")
    try:
        return index(node)
    except TypeError:
        raise InvalidArgument(f"expected a node's index or name, not {node!r}") from None


class _References:
    """Resolves nodes given by index or, if there are names, by name."""

    def __init__(self, names: Sequence[str] | None, count: int) -> None:
        self._names, self._count = names, count
        self._index: dict[str, int] | None = None

    def __call__(self, node: NodeRef) -> int:
        if isinstance(node, str):
            if self._index is None:
                self._index = {name: i for i, name in enumerate(self._names or ())}
            if node not in self._index:
                raise InvalidArgument(f"there is no node `{node}`; `names` must contain it")
            return self._index[node]
        return _arrays.numbers([_whole_node(node)], 4, "a node")[0]

    def many(self, nodes: Iterable[NodeRef], what: str) -> Any:
        if hasattr(nodes, "__array__") and _arrays.numpy is not None:
            return _arrays.numbers(nodes, 4, what)
        return _arrays.numbers([self(v) for v in nodes], 4, what)


def _flags(count: int, refer: _References, given: Any, once: Any, keep: Any) -> Any:
    flags = _arrays.empty(count, 2)

    def mark(nodes: Iterable[NodeRef], what: str, flag: int) -> None:
        for node in refer.many(nodes, what):
            if node >= count:
                raise InvalidArgument(f"{what}: there is no node {node}; nodes are 0 to {count - 1}")
            flags[node] |= flag

    if isinstance(given, Mapping):
        slow = [v for v, where in given.items() if where == "slow"]
        fast = [v for v, where in given.items() if where is True]
        if len(slow) + len(fast) != len(given):
            raise InvalidArgument('given: expected True or "slow" for each node')
        mark(slow, "given", GIVEN | GIVEN_SLOW)
        mark(fast, "given", GIVEN)
    elif given is not None:
        mark(given, "given", GIVEN)
    mark(once if once is not None else (), "once", ONCE)
    kept = [v for v, where in keep.items() if where] if isinstance(keep, Mapping) else keep
    mark(kept if kept is not None else (), "keep", KEEP)
    return flags


def _as_row(row: Any) -> Iterable[Any]:
    return [row] if isinstance(row, (str, Integral)) else row


def _columns(pairs: list[tuple[int, int]], what: str) -> tuple[Any, Any]:
    first, second = zip(*pairs, strict=True) if pairs else ((), ())
    return _arrays.numbers(first, 4, what), _arrays.numbers(second, 4, what)


def _edge_arrays(edges: Any, refer: _References) -> tuple[Any, Any]:
    """Edges as two columns: from a tuple of two sequences, or from pairs."""
    if hasattr(edges, "__array__") and _arrays.numpy is not None:
        table = _arrays.numpy.asarray(edges)
        if table.size and (table.ndim != 2 or table.shape[1] != 2):
            raise InvalidArgument("edges: expected an array of shape (edges, 2)")
        table = table.reshape(-1, 2)
        return _arrays.numbers(table[:, 0], 4, "edges"), _arrays.numbers(table[:, 1], 4, "edges")
    if isinstance(edges, tuple) and len(edges) == 2 and not any(isinstance(e, (tuple, str, int)) for e in edges):
        sources, readers = (refer.many(column, "edges") for column in edges)
        if len(sources) != len(readers):
            raise InvalidArgument(f"edges: expected arrays of equal length, not {len(sources)} and {len(readers)}")
        return sources, readers
    try:
        pairs = [(refer(u), refer(v)) for u, v in edges]
    except (TypeError, ValueError) as error:
        if isinstance(error, PebbleError):
            raise
        raise InvalidArgument("edges: expected pairs of nodes, or a tuple of two arrays") from None
    return _columns(pairs, "edges")


def _add_pairs(session: Session, what: str, first: Any, second: Any) -> None:
    session.do("pb_session_add_pairs", what.encode(), len(first), _arrays.pointer(first, 4), _arrays.pointer(second, 4))
