"""A training step as a program of operations over storages.

The captured fx graph has tensors, but memory consists of storages. Here every fx node is one of: a *given* tensor
(parameter, buffer, input, constant), an *operation* that allocates one or more new storages, or a *view* of an existing
storage. Views own no memory: they are created again whenever their base is recomputed, and freed with it.

In a step whose outputs get gradients from outside, these gradients (*tangents*) are the values of one special operation,
the *gate*. It reads all outputs and updated buffers, so that in every plan the part before the gate is the forward pass.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import fx

from . import _adapter
from .errors import Unsupported
from .variants import variant_of
from .work import Work, work_of


# A loss outside of the model keeps a tensor of the size of its input (cross entropy: the logarithms of probabilities), and
# its backward pass needs another one before the gradient of the output exists.
LOSS_TENSORS = 2


@dataclass(eq=False, repr=False)  # values and operations refer to each other: a full repr would not end
class Value:
    """One storage that an operation allocates."""

    index: int
    operation: Operation
    place: int  # which output of the operation
    size: int  # bytes of the storage
    loose: bool = False  # the kernel's storage is much larger: the output is copied out of it
    readers: list[Operation] = field(default_factory=list)
    kept: bool = False  # a result of the step: loss, gradient or updated buffer


class Overwrite(NamedTuple):
    """How an operation overwrites an input."""

    function: Any
    out: str  # the out argument's name, or "" if the function writes to its first argument
    node: fx.Node  # the tensor that is overwritten
    certain: bool  # elementwise; otherwise a trial must decide
    part: bool = False  # it writes a part; the kernel that does not overwrite copies the rest


@dataclass(eq=False, repr=False)
class Operation:
    """One call that allocates new storages."""

    index: int
    node: fx.Node
    outputs: list[Value | None]  # by place; None for outputs that are not tensors or are not read
    reads: list[Value]  # without repetition, views folded into their base
    module: str = ""
    backward: bool = False
    random: bool = False
    generator: torch.Generator | None = None  # of a random operation that can be recomputed from its state
    once: bool = False
    work: Work = Work("other", "float32", 0, 0)
    variant: Work = Work("other", "float32", 0, 0)  # the work as that of one kernel; see variants.py
    cost: int = 1
    workspace: int = 0  # bytes that the kernel needs in addition to its outputs, including outputs that are not read
    over: dict[Value, Overwrite] = field(default_factory=dict)  # inputs that it may overwrite

    @property
    def values(self) -> list[Value]:
        return [value for value in self.outputs if value is not None]

    @property
    def is_gate(self) -> bool:
        return self.node.op == "placeholder"

    @property
    def main(self) -> Value:
        """The output that represents the operation in the graph: the largest, the first of equals."""
        return max(self.values, key=lambda value: (value.size, -value.place))

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def target(self) -> str:
        return "gradients of the outputs" if self.is_gate else _adapter.op_name(self.node.target)

    def __repr__(self) -> str:
        return f"<Operation {self.name}: {self.target}>"


@dataclass(repr=False)
class Program:
    """The whole step; `graph` holds the fx nodes that the operations and views refer to."""

    graph: fx.Graph
    module: fx.GraphModule
    operations: list[Operation]
    values: list[Value]
    value_of: dict[fx.Node, Value]  # for every node whose storage an operation allocated
    root_of: dict[fx.Node, Value]  # of these, the nodes that are the output itself, not a view of it
    given: list[fx.Node]  # placeholders in order, then constants
    results: list[fx.Node | None]  # what the step returns, in order
    fake: dict[fx.Node, Any]
    tangents: list[torch.Tensor] = field(default_factory=list)  # examples
    rewritten: list[fx.Node] = field(default_factory=list)  # given buffers that get new values at the gate
    early: int = 0  # how many of the results are those before the gate
    held: int = 0  # bytes that the caller makes of the outputs and keeps during the backward pass

    @property
    def gate(self) -> Operation | None:
        return next((operation for operation in self.operations if operation.is_gate), None)

    def make_tangents(self) -> list[torch.Tensor]:
        """New tensors with the values of the examples, and what else the caller keeps; takes the memory that a loss
        outside of the model takes."""
        room = [torch.empty_like(t) for t in self.tangents if t.dim() for _ in range(LOSS_TENSORS)]
        tangents = [tangent.clone() for tangent in self.tangents]
        if self.held:
            tangents.append(torch.empty(self.held, dtype=torch.uint8, device=tangents[0].device))
        del room
        return tangents


def tensors(value: Any) -> list[torch.Tensor | None]:
    """The outputs of a call by place: a single tensor is a list of one."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [item if isinstance(item, torch.Tensor) else None for item in value]
    return []


def analyse(
    trace: _adapter.Trace,
    inputs: list[torch.Tensor],
    tangents: list[torch.Tensor] | None = None,
    held: int = 0,
) -> Program:
    """Finds the storages of a captured step by running it on fake tensors.

    Parameters
    ----------
    trace : Trace
        Its graph is functional: placeholders, calls of aten operations, one output.
    inputs : list of tensors
        The tensors for the placeholders before the tangents, in order; their data is not read.
    tangents : list of tensors
        Examples of the tangents.
    held : int
        Bytes that the caller makes of the outputs and keeps during the backward pass.

    Raises
    ------
    Unsupported
        For an operation that writes to its arguments, or returns both new storages and views.
    """
    return _Analysis(trace, inputs, tangents or [], held).program()


class _Analysis:
    def __init__(
        self, trace: _adapter.Trace, inputs: list[torch.Tensor], tangents: list[torch.Tensor], held: int
    ) -> None:
        self.held = held
        self.module, self.graph = trace.module, trace.module.graph
        self.trace, self.tangents = trace, tangents
        self.fake: dict[fx.Node, Any] = {}
        self.owner: dict[int, Value | None] = {}  # by storage; None: given
        self.alive: list[torch.Tensor] = []  # keeps storages alive, so that their keys are not reused
        self.operations: list[Operation] = []
        self.values: list[Value] = []
        self.value_of: dict[fx.Node, Value] = {}
        self.root_of: dict[fx.Node, Value] = {}
        self.given: list[fx.Node] = []
        self.fakes = _adapter.Fakes()
        self.gate = self.make_gate() if trace.tangents else None
        waiting = iter(inputs)
        for node in self.graph.nodes:
            self.visit(node, waiting)

    def make_gate(self) -> Operation:
        """The operation that receives the tangents; it joins the others before the first one that reads a tangent."""
        gate = Operation(-1, self.trace.tangents[0], [], [], backward=True, once=True)
        for place, (node, tangent) in enumerate(zip(self.trace.tangents, self.tangents, strict=True)):
            self.fake[node] = fake = self.fakes.of(tangent)
            # autograd has them until the backward pass ends
            value = Value(-1, gate, place, fake.untyped_storage().nbytes(), kept=True)
            gate.outputs.append(value)
            self.owner[_adapter.storage_key(fake)] = value
            self.alive.append(fake)
            self.value_of[node] = self.root_of[node] = value
            gate.workspace += LOSS_TENSORS * value.size if tangent.dim() else 0
        if self.held:
            gate.outputs.append(Value(-1, gate, len(gate.outputs), self.held, kept=True))
        return gate

    def place_gate(self) -> None:
        """All outputs and updated buffers are computed now."""
        results = _adapter.pytree.tree_leaves(self.graph.output_node().args[0], is_leaf=lambda leaf: leaf is None)
        places = [*self.trace.buffers, *self.trace.outputs]
        self.gate.reads = list({self.value_of[results[p]]: None for p in places if results[p] in self.value_of})
        for value in self.gate.reads:
            value.readers.append(self.gate)
        self.gate.index = len(self.operations)
        self.operations.append(self.gate)

    def visit(self, node: fx.Node, inputs: Iterator[torch.Tensor]) -> None:
        if node in self.trace.tangents:
            return
        if node.op == "placeholder":
            self.hand_in(node, self.fakes.of(next(inputs)))
        elif node.op == "get_attr":
            self.hand_in(node, self.fakes.of(getattr(self.module, node.target)))
        elif node.op == "call_function":
            try:
                self.call(node)
            except Unsupported as error:
                module = self.trace.origin.get(node, ("",))[0] or "the model itself"
                raise Unsupported(f"{error} (called in {module})") from None
        elif node.op != "output":
            raise Unsupported(f"nodes of kind {node.op} are not supported ({node.format_node()}): remove it")

    def hand_in(self, node: fx.Node, value: Any) -> None:
        self.fake[node] = value
        self.given.append(node)
        for tensor in tensors(value):
            self.owner[_adapter.storage_key(tensor)] = None
            self.alive.append(tensor)

    def call(self, node: fx.Node) -> None:
        look_up = self.fake.__getitem__
        args, kwargs = fx.map_arg(node.args, look_up), fx.map_arg(node.kwargs, look_up)
        if node.target is operator.getitem:
            self.getitem(node, args)
            return
        _adapter.refuse_mutation(node)
        out = self.fakes.call(node.target, args, kwargs)
        self.fake[node] = out
        outputs = tensors(out)
        for tensor in outputs:
            if tensor is not None and tensor.layout is not torch.strided:
                raise Unsupported(
                    f"{_adapter.op_name(node.target)} returns a tensor of the layout {tensor.layout}: only dense ones "
                    "can be planned; for nn.Embedding use sparse=False"
                )
        fresh = [t is not None and _adapter.storage_key(t) not in self.owner for t in outputs]
        if any(fresh):
            operation = self.operation(node, outputs, fresh)
            operation.work = work_of(node.target, args, kwargs, out)
            operation.variant = variant_of(node.target, args, kwargs, out, operation.work)
        elif isinstance(out, torch.Tensor):
            self.alias(node, out)
        elif any(t is not None for t in outputs):
            self.alias(node, next(t for t in outputs if t is not None))  # several views at once, such as from split
        else:
            raise Unsupported(
                f"{_adapter.op_name(node.target)} returns no tensor; a plan needs values that do not depend on data: "
                "compute it outside of the step and pass it in"
            )

    def operation(self, node: fx.Node, outputs: list[torch.Tensor | None], fresh: list[bool]) -> Operation:
        if any(t is not None and not new for t, new in zip(outputs, fresh, strict=False)):
            raise Unsupported(
                f"{_adapter.op_name(node.target)} returns new tensors and views of its inputs at once; "
                "call it in a custom operator that copies"
            )
        reads = self.reads(node)
        if self.gate is not None and self.gate.index < 0 and any(value.operation is self.gate for value in reads):
            self.place_gate()
        operation = Operation(len(self.operations), node, [], reads, random=_adapter.is_random(node.target))
        operation.once = operation.random or _adapter.has_effects(node.target)
        if operation.random:
            operation.generator = _adapter.generator_of(node, next(t.device for t in outputs if t is not None))
        for place, tensor in enumerate(outputs):
            if tensor is None:
                operation.outputs.append(None)
                continue
            value = Value(len(self.values), operation, place, tensor.untyped_storage().nbytes())
            operation.outputs.append(value)
            self.values.append(value)
            self.owner[_adapter.storage_key(tensor)] = value
            self.alive.append(tensor)
        for value in operation.reads:
            value.readers.append(operation)
        if isinstance(self.fake[node], torch.Tensor):
            self.value_of[node] = self.root_of[node] = operation.outputs[0]
        self.operations.append(operation)
        return operation

    def getitem(self, node: fx.Node, args: tuple) -> None:
        out = operator.getitem(*args)
        self.fake[node] = out
        if not isinstance(out, torch.Tensor):
            return
        self.alias(node, out)
        value = self.owner[_adapter.storage_key(out)]
        if value is not None and value.operation.node is node.args[0]:
            self.root_of[node] = value

    def alias(self, node: fx.Node, tensor: torch.Tensor) -> None:
        value = self.owner[_adapter.storage_key(tensor)]
        if value is not None:
            self.value_of[node] = value

    def reads(self, node: fx.Node) -> list[Value]:
        found: dict[Value, None] = {}
        for source in node.all_input_nodes:
            for tensor in tensors(self.fake[source]):
                value = self.owner.get(_adapter.storage_key(tensor)) if tensor is not None else None
                if value is not None:
                    found[value] = None
        return list(found)

    def program(self) -> Program:
        output = next(node for node in self.graph.nodes if node.op == "output")
        results = _adapter.pytree.tree_leaves(output.args[0], is_leaf=lambda leaf: leaf is None)
        # of the results at the gate, buffers are copied then, and other outputs belong to the caller
        brief = {*self.trace.buffers, *self.trace.brief} if self.gate is not None else set()
        for place, node in enumerate(results):
            if isinstance(node, fx.Node) and node in self.value_of and place not in brief:
                self.value_of[node].kept = True
        self.drop_unread()
        return Program(
            self.graph,
            self.module,
            self.operations,
            self.values,
            self.value_of,
            self.root_of,
            self.given,
            results,
            self.fake,
            self.tangents,
            [self.given[place] for place in self.trace.written] if self.gate is not None else [],
            len(self.trace.buffers) + len(self.trace.outputs) if self.gate is not None else 0,
            self.held,
        )

    def drop_unread(self) -> None:
        """Counts unused outputs as memory of the kernel, and removes operations without other outputs."""
        for operation in reversed(self.operations):
            effect = operation.main if operation.once else None  # an unused draw still advances the generator
            for place, value in enumerate(operation.outputs):
                if value is not None and value is not effect and not value.readers and not value.kept:
                    operation.outputs[place] = None
                    operation.workspace += value.size
            if not operation.values:
                for value in operation.reads:
                    value.readers.remove(operation)
        self.operations = [operation for operation in self.operations if operation.values]
        self.values = [value for operation in self.operations for value in operation.values]
        for index, operation in enumerate(self.operations):
            operation.index = index
        for index, value in enumerate(self.values):
            value.index = index
