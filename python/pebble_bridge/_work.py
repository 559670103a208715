"""What the nodes of a graph state for machines: into the library and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from ctypes import c_uint32
from typing import Any

from . import _arrays
from ._library import NO_NODE, UNLIMITED, lib
from ._session import Session
from .errors import InvalidArgument
from .machines import Machine, machine_text

NodeRef = int | str
ByNode = Sequence[Any] | Mapping[NodeRef, Any]


def by_node(values: ByNode, count: int, refer: Callable[[NodeRef], int], what: str) -> list[Any]:
    """One entry for each node, from a sequence of them or a mapping."""
    if not isinstance(values, Mapping):
        listed = list(values)
        if len(listed) != count:
            raise InvalidArgument(f"{what} has {len(listed)} entries and cost has {count}; give one for each node")
        return listed
    listed = [None] * count
    for node, value in values.items():
        at = refer(node)
        if at >= count:
            raise InvalidArgument(f"{what}: there is no node {at}; nodes are 0 to {count - 1}")
        listed[at] = value
    return listed


class Labels:
    """One of several names for each node, or none: as indices, and the names as a text."""

    def __init__(self, values: ByNode, count: int, refer: Callable[[NodeRef], int], what: str) -> None:
        listed = by_node(values, count, refer, what)
        names = {name: None for name in listed if name is not None}
        places = {name: i for i, name in enumerate(names)}
        self.text = _arrays.texts(list(names), what)
        self.index = _arrays.numbers([NO_NODE if name is None else places[name] for name in listed], 4, what)


def state_work(session: Session, count: int, refer: Callable[[NodeRef], int], work: Mapping[str, Any]) -> list[Any]:
    """Passes flops, bytes, op and dtype for the nodes that are added next. Keep the result until they are."""
    kept: list[Any] = []
    for what in ("flops", "bytes"):
        if work[what] is not None:
            listed = by_node(work[what], count, refer, what)
            numbers = _arrays.numbers([UNLIMITED if n is None else n for n in listed], 8, what)
            session.do("pb_session_count_nodes", what.encode(), count, _arrays.pointer(numbers, 8))
            kept.append(numbers)
    for what in ("op", "dtype"):
        if work[what] is not None:
            labels = Labels(work[what], count, refer, what)
            index = _arrays.pointer(labels.index, 4)
            session.do("pb_session_word_nodes", what.encode(), count, index, labels.text, len(labels.text))
            kept.append(labels)
    return kept


def state_notes(session: Session, refer: Callable[[NodeRef], int], notes: Mapping[str, Any]) -> None:
    """Passes times, on, in, keep and fixed: what nodes state about processors and memories."""
    rows: dict[tuple[str, str], list[tuple[int, int]]] = {}

    def add(what: str, name: Any, node: int, value: Any = 0) -> None:
        rows.setdefault((what, name), []).append((node, value))

    for node, times in (notes["times"] or {}).items():
        for processor, time in times.items():
            add("time", processor, refer(node), time)
    for node, names in (notes["on"] or {}).items():
        for name in [names] if isinstance(names, str) else names:
            session.do("pb_session_add_notes", b"on", _arrays.text(name, "on"), 1, c_uint32(refer(node)), None)
    for node, memory in (notes["starts_in"] or {}).items():
        add("in", memory, refer(node))
    for node, memory in notes["keep"].items() if isinstance(notes["keep"], Mapping) else ():
        if isinstance(memory, str):
            add("keep", memory, refer(node))
    for memory, size in (notes["fixed"] or {}).items():
        add("fixed", memory, 0, size)
    for (what, name), pairs in rows.items():
        nodes = _arrays.numbers([node for node, _ in pairs], 4, what)
        values = _arrays.numbers([value for _, value in pairs], 8, what)
        pointers = _arrays.pointer(nodes, 4), _arrays.pointer(values, 8)
        session.do("pb_session_add_notes", what.encode(), _arrays.text(name, what), len(pairs), *pointers)
    if notes["machine"] is not None:
        session.do("pb_session_carry_machine", _arrays.text(machine_text(notes["machine"]), "machine"))


class Stated:
    """The fields of a graph that are for machines."""

    _handle: int
    node_count: Any

    def _word(self, index: int) -> str | None:
        return None if index == NO_NODE else lib.pb_graph_word(self._handle, index).decode()

    def _stated(self, place: int) -> list[Any]:
        width = 8 if place < 2 else 4
        values = _arrays.empty(self.node_count, width)
        arguments = [_arrays.pointer(values, width) if k == place else None for k in range(4)]
        if not lib.pb_graph_work_arrays(self._handle, *arguments):
            return [None] * self.node_count
        if place < 2:
            return [None if v == UNLIMITED else v for v in map(int, values)]
        words: dict[int, str | None] = {}
        return [words.setdefault(v, self._word(v)) for v in map(int, values)]

    def _noted(self, what: str) -> Iterable[tuple[int, str, int]]:
        count = lib.pb_graph_notes(self._handle, what.encode(), 0, None, None, None)
        node, word, value = _arrays.empty(count, 4), _arrays.empty(count, 4), _arrays.empty(count, 8)
        arrays = _arrays.pointer(node, 4), _arrays.pointer(word, 4), _arrays.pointer(value, 8)
        lib.pb_graph_notes(self._handle, what.encode(), count, *arrays)
        return [(int(node[k]), self._word(int(word[k])) or "", int(value[k])) for k in range(count)]

    @property
    def flops(self) -> list[int | None]:
        """The floating-point operations of each node; None if it does not state them."""
        return self._stated(0)

    @property
    def bytes(self) -> list[int | None]:
        """Everything that the computation of each node reads and writes; None if it does not state it."""
        return self._stated(1)

    @property
    def op(self) -> list[str | None]:
        """The operation of each node, such as "conv"; None if it does not state one."""
        return self._stated(2)

    @property
    def dtype(self) -> list[str | None]:
        """The type of numbers of each node, such as "float32"; None if it does not state one."""
        return self._stated(3)

    @property
    def times(self) -> dict[int, dict[str, int]]:
        """For each node with measured times: the time by processor."""
        found: dict[int, dict[str, int]] = {}
        for node, name, value in self._noted("time"):
            found.setdefault(node, {})[name] = value
        return found

    @property
    def on(self) -> dict[int, list[str]]:
        """For each node that names some: the processors that may compute it."""
        found: dict[int, list[str]] = {}
        for node, name, _ in self._noted("on"):
            found.setdefault(node, []).append(name)
        return found

    @property
    def starts_in(self) -> dict[int, str]:
        """For each given value that names one: the memory that it starts in (``in`` in files)."""
        return {node: name for node, name, _ in self._noted("in")}

    @property
    def keep_in(self) -> dict[int, str]:
        """For each node that names one: the memory that it must be in at the end."""
        return {node: name for node, name, _ in self._noted("keep")}

    @property
    def fixed(self) -> dict[str, int]:
        """Memory that is always in use, by memory of the machine."""
        return {name: value for _, name, value in self._noted("fixed")}

    @property
    def machine(self) -> Machine | None:
        """The machine that the graph's file carries."""
        text = Session().write("pb_session_write_graph_machine", self._handle)
        return Machine(text) if text else None


def time_report(session: Session) -> dict[str, Any]:
    """What `pb_session_time_graph` wrote."""
    return json.loads(session.written())
