"""Executes a schedule: one generated Python function with a line for each move.

A value is a local variable; freeing it sets the variable and those of its views to None, which returns the storage to
the allocator. Views are created when a computation first reads them, and again after their base was recomputed.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx

from . import _adapter
from .program import Operation, Program, Value

Step = Callable[..., tuple]
Watch = Callable[[int, torch.Tensor], None]


class Compiler:
    """Generates the source of a step; see `compile_step`."""

    def __init__(
        self,
        program: Program,
        marks: bool,
        replayed: set[Operation],
        watch: Watch | None = None,
        split: bool = False,
    ) -> None:
        self.program, self.marks, self.replayed, self.watch, self.split = program, marks, replayed, watch, split
        self.lines: list[str] = []
        self.forward: list[str] = []  # the lines before the gate, if the step is split there
        self.saved: list[str] = []
        self.old: dict[str, str] = {}  # copies of buffers as they were before the step, by the buffer
        self.names: dict[str, Any] = {"host": None, "mark": None, "watch": watch}
        self.constants: dict[int, str] = {}
        self.held: dict[Value, list[str]] = {}  # variables that refer to its storage, while it is resident
        self.variable: dict[fx.Node, str] = {}  # views and given tensors that exist now
        self.drawn: set[Operation] = set()
        self.stored: set[Value] = set()
        self.ending: set[Value] = set()  # values that are not saved when a step is split
        for index, node in enumerate(program.given):
            self.variable[node] = f"g{index}"

    # -- pieces of source ------------------------------------------------------------------------------------------

    def constant(self, thing: Any, stem: str) -> str:
        """A name for an object without a literal in the source."""
        if id(thing) not in self.constants:
            self.constants[id(thing)] = f"{stem}{len(self.names)}"
            self.names[self.constants[id(thing)]] = thing
        return self.constants[id(thing)]

    def spell(self, argument: Any) -> str:
        if isinstance(argument, fx.Node):
            return self.tensor(argument)
        if isinstance(argument, (list, tuple)):
            inside = ", ".join(self.spell(item) for item in argument)
            return f"[{inside}]"
        if argument is None or isinstance(argument, (bool, int, str)):
            return repr(argument)
        return self.constant(argument, "c")

    def call(self, node: fx.Node, function: Any = None, extra: dict[str, str] | None = None) -> str:
        words = [self.spell(argument) for argument in node.args]
        words += [f"{key}={self.spell(argument)}" for key, argument in node.kwargs.items()]
        words += [f"{key}={text}" for key, text in (extra or {}).items()]
        return f"{self.constant(function or _adapter.kernel_of(node.target), 'f')}({', '.join(words)})"

    def tensor(self, node: fx.Node) -> str:
        """The variable of a resident or given node; creates its views if needed."""
        if node in self.program.root_of:
            return name_of(self.program.root_of[node])
        if node not in self.variable:
            call = self.call(node)
            self.variable[node] = f"w{len(self.lines)}"
            self.lines.append(f"{self.variable[node]} = {call}")
            base = self.program.value_of.get(node)
            if base is not None:
                self.held[base].append(self.variable[node])
        return self.variable[node]

    # -- moves -----------------------------------------------------------------------------------------------------

    def compute(self, operation: Operation, needed: Sequence[Value], over: Value | None) -> None:
        """Runs the kernel and keeps its outputs `needed`; outputs that are already in memory are replaced."""
        if self.marks:
            self.lines.append(f"mark({operation.index})")
        if operation.is_gate:
            self.receive_tangents(needed)
            return
        for node in operation.node.all_input_nodes:
            self.tensor(node)
        for value in needed:
            if value in self.held:
                self.release(value)
        if over is not None:
            self.lines.append(f"{name_of(needed[0])} = {self.overwrite(operation, over)}")
            self.release(over)
        else:
            before, after = self.around(operation)
            self.lines += before + self.receive(operation, needed) + after
        for value in needed:
            self.hold(value)
            if self.watch is not None:
                self.lines.append(f"watch({value.index}, {name_of(value)})")

    def overwrite(self, operation: Operation, over: Value) -> str:
        how = operation.over[over]
        return self.call(operation.node, how.function, {how.out: self.tensor(how.node)} if how.out else None)

    def around(self, operation: Operation) -> tuple[list[str], list[str]]:
        """Recomputed random operations use the generator's state of their first computation."""
        if operation not in self.replayed:
            return [], []
        generator, state = self.constant(operation.generator, "generator"), f"s{operation.index}"
        if operation not in self.drawn:
            self.drawn.add(operation)
            return [f"{state} = {generator}.get_state()"], []
        return [f"now = {generator}.get_state()", f"{generator}.set_state({state})"], [
            f"{generator}.set_state(now)",
            "now = None",
        ]

    def receive(self, operation: Operation, needed: Sequence[Value]) -> list[str]:
        call = self.call(operation.node)
        if isinstance(self.program.fake[operation.node], torch.Tensor):
            return [f"{name_of(needed[0])} = {call}{tight(needed[0])}"]
        parts = [f"{name_of(value)} = t[{value.place}]{tight(value)}" for value in needed]
        return [f"t = {call}", *parts, "t = None"]

    def hold(self, value: Value) -> None:
        self.held[value] = [name_of(value)]

    def release(self, value: Value) -> None:
        """Drops the value and all its views."""
        if value not in self.held and value in self.ending:  # it was not saved at the gate
            return
        gone = self.held.pop(value)
        self.lines.append(" = ".join(gone) + " = None")
        dead = set(gone)
        self.variable = {node: name for node, name in self.variable.items() if name not in dead}

    def store(self, value: Value) -> None:
        self.mark_other()
        self.stored.add(value)
        self.lines.append(f"h{value.index} = host.store({name_of(value)})")

    def load(self, value: Value) -> None:
        self.mark_other()
        self.lines.append(f"{name_of(value)} = host.load(h{value.index})")
        self.hold(value)

    def mark_other(self) -> None:
        if self.marks:
            self.lines.append("mark(-1)")

    def drop(self, value: Value) -> None:
        self.stored.remove(value)
        self.lines.append(f"host.drop(h{value.index}); h{value.index} = None")

    # -- the gate --------------------------------------------------------------------------------------------------

    def receive_tangents(self, needed: Sequence[Value]) -> None:
        """The gradients of the outputs arrive; in a split step the forward pass ends before that."""
        if not self.split:
            early = self.results(range(self.program.early))  # some of these need not exist later
            self.lines.append(f"early = ({early})")
            self.lines.append(f"tangents = {self.constant(self.program.make_tangents, 'f')}()")
        else:
            self.end_forward()
        self.lines += [f"{name_of(value)} = tangents[{value.place}]" for value in needed]
        self.lines.append("tangents = None")
        for value in needed:
            self.hold(value)

    def end_forward(self) -> None:
        """Returns the results so far and saves the values that are in memory; views are created again later. Buffers are
        updated now, so what is recomputed later reads copies of the old ones."""
        results = self.results(range(self.program.early))
        self.held = {value: names for value, names in self.held.items() if value not in self.ending}
        self.saved = [name_of(value) for value in self.held]
        self.saved += [f"h{value.index}" for value in sorted(self.stored, key=lambda value: value.index)]
        self.saved += [f"s{operation.index}" for operation in sorted(self.drawn, key=lambda operation: operation.index)]
        self.forward, self.lines = [*self.lines, f"results = ({results})"], []
        self.held = {value: [name_of(value)] for value in self.held}
        self.variable = {}
        for index, node in enumerate(self.program.given):
            old = node in self.program.rewritten
            self.variable[node] = f"o{index}" if old else f"g{index}"
            if old:
                self.old[f"o{index}"] = f"g{index}"

    # -- the step --------------------------------------------------------------------------------------------------

    def results(self, places: Sequence[int]) -> str:
        nodes = [self.program.results[place] for place in places]
        return "".join((self.tensor(node) if isinstance(node, fx.Node) else "None") + ", " for node in nodes)

    def finish(self) -> Any:
        for value in sorted(self.stored, key=lambda value: value.index):
            self.drop(value)
        first = self.program.early
        rest = self.results(range(first, len(self.program.results)))
        self.lines.append(f"return ({'*early, ' if first and not self.split else ''}{rest})")
        if not self.split:
            return self.function("step(given, host, mark)", self.lines)
        text = "\n".join(self.lines)
        read = [old for old in self.old if re.search(rf"\b{old}\b", text)]
        saved = ", ".join([*self.saved, *read])
        copies = [f"{old} = {self.old[old]}.clone()" for old in read]
        forward = self.function("forward(given, host)", [*copies, *self.forward, f"return results, [{saved}]"])
        unpack = [f"{saved}, = saved"] if saved else []
        return forward, self.function(
            "backward(given, saved, tangents, host)", [*unpack, "saved.clear()", *self.lines]
        )

    def function(self, head: str, lines: list[str]) -> Any:
        count = len(self.program.given)
        given = "".join(f"g{i}, " for i in range(count))
        body = "\n    ".join(([f"{given}= given"] if count else []) + lines)
        source = f"def {head}:\n    {body}\n"
        exec(compile(source, "<pebble_bridge plan>", "exec"), self.names)
        function = self.names[head.partition("(")[0]]
        function.source = source
        return function


def name_of(value: Value) -> str:
    return f"v{value.index}"


def tight(value: Value) -> str:
    """Copies an output that would keep a larger storage in memory."""
    return ".clone()" if value.loose else ""


Move = tuple[str, Operation | Value, Any]


def compile_step(
    program: Program,
    moves: Sequence[Move],
    *,
    marks: bool = False,
    watch: Watch | None = None,
    split: bool = False,
) -> Any:
    """A function that executes `moves`.

    Parameters
    ----------
    program : Program
        The captured step.
    moves : sequence of (str, Operation or Value, argument)
        ``("compute", operation, (needed values, overwritten value or None))``, ``("free", value, None)`` and, with a
        host pool, ``("store" | "load" | "drop", value, None)``.
    marks : bool
        Call ``mark(operation index)`` before each computation, and ``mark(-1)`` before each store and load.
    watch : callable, optional
        Called with the index and the tensor of each value when it was computed.
    split : bool
        Two functions, for the parts before and after the gate.

    Returns
    -------
    callable
        ``step(given, host, mark)`` returning the results in the order of ``program.results``; its source is
        ``step.source``. With `split`: ``forward(given, host)``, which returns its results and the saved values, and
        ``backward(given, saved, tangents, host)``, which empties the list of saved values.
    """
    compiler = Compiler(program, marks, replayed_operations(moves), watch, split)
    if split:
        compiler.ending = ending_values(moves)
    for kind, what, argument in moves:
        if kind == "compute":
            compiler.compute(what, *argument)
        elif kind == "free":
            compiler.release(what)
        else:
            getattr(compiler, kind)(what)
    return compiler.finish()


def replayed_operations(moves: Sequence[Move]) -> set[Operation]:
    """Random operations that are computed more than once."""
    times = Counter(what for kind, what, _ in moves if kind == "compute")
    return {operation for operation, count in times.items() if count > 1 and operation.random}


def ending_values(moves: Sequence[Move]) -> set[Value]:
    """Values that are in memory at the gate and are freed after it before anything reads them: outputs, which belong to
    the caller from then on."""
    held, read, ending, late = set(), set(), set(), False
    for kind, what, argument in moves:
        if kind == "compute" and what.is_gate:
            late = True
        elif kind == "compute":
            (read if late else held).update(argument[0])
            read.update(what.reads if late else ())
            if argument[1] is not None:
                held.discard(argument[1])
        elif not late and kind in ("free", "load"):
            (held.discard if kind == "free" else held.add)(what)
        elif late and kind == "free" and what in held and what not in read:
            ending.add(what)
        elif late:
            read.add(what)
    return ending


def program_order_moves(program: Program) -> list[Move]:
    """The moves of the program in program order: every value computed once and freed after its last use."""
    last: dict[Operation, list[Value]] = {}
    for value in program.values:
        if not value.kept:
            final = max(value.readers, key=lambda reader: reader.index, default=value.operation)
            last.setdefault(final, []).append(value)
    moves: list[Move] = []
    for operation in program.operations:
        moves.append(("compute", operation, (operation.values, None)))
        moves += [("free", value, None) for value in last.get(operation, ())]
    return write_in_place(moves)


def write_in_place(moves: Sequence[Move]) -> list[Move]:
    """The same moves, but writes into a part of a tensor that is freed right afterwards overwrite it, as the model's code
    does: that takes less time and less memory."""
    found: list[Move] = []
    gone: Value | None = None
    for place, move in enumerate(moves):
        kind, what, argument = move
        if kind == "free" and what is gone:
            gone = None
            continue
        if kind == "compute" and argument[1] is None:
            after = itertools.takewhile(lambda other: other[0] == "free", itertools.islice(moves, place + 1, None))
            gone = next((value for _, value, _ in after if value in what.over and what.over[value].part), None)
            move = kind, what, (argument[0], gone)
        found.append(move)
    return found


class HostPool:
    """Slow memory for offloaded values: buffers outside of the device's allocator, reused by size.

    On CUDA they are pinned host memory; on the CPU they are anonymous maps outside of the tensor allocator, so that
    they are not measured as fast memory.
    """

    def __init__(self) -> None:
        self.idle: dict[int, list[torch.Tensor]] = {}
        self.used = self.peak = 0

    def store(self, tensor: torch.Tensor) -> tuple[torch.Tensor, tuple]:
        flat = torch.empty(0, dtype=torch.uint8, device=tensor.device)
        flat.set_(tensor.untyped_storage())
        size = flat.numel()
        shelf = self.idle.get(size)
        buffer = shelf.pop() if shelf else _adapter.host_buffer(size, tensor.device)
        buffer.copy_(flat)
        self.used += size
        self.peak = max(self.peak, self.used)
        return buffer, (tensor.dtype, tensor.device, tensor.storage_offset(), tensor.shape, tensor.stride())

    def load(self, stored: tuple[torch.Tensor, tuple]) -> torch.Tensor:
        buffer, (dtype, device, offset, shape, stride) = stored
        flat = torch.empty(buffer.numel(), dtype=torch.uint8, device=device)
        flat.copy_(buffer)
        return torch.empty(0, dtype=dtype, device=device).set_(flat.untyped_storage(), offset, shape, stride)

    def drop(self, stored: tuple[torch.Tensor, tuple]) -> None:
        buffer = stored[0]
        self.used -= buffer.numel()
        self.idle.setdefault(buffer.numel(), []).append(buffer)
