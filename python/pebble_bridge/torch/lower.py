"""Converts a program to a graph for the planner, and the planner's moves to moves of the program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pebble_bridge as pb
import torch

from .pricing import StepGraph
from .program import Operation, Program, Value
from .runner import Move, write_in_place
from .work import Work

GENERATOR_STATE = torch.default_generator.get_state().numel()  # bytes
WORTH_REPLAY = 8  # times the state: then a random operation may be recomputed by default


@dataclass(repr=False)
class Lowered:
    """The graph, and what each of its nodes is: an operation (by its main value), another value of one, or a token."""

    graph: pb.Graph
    operation_at: dict[int, Operation]
    value_at: dict[int, Value]
    node_of: dict[Value, int]
    once: set[Operation]  # that no plan recomputes


def lower(
    program: Program, *, random: str = "once", scale: int = 1, cost_unit: str = "ns", name: str = "step"
) -> Lowered:
    """Converts `program` to a graph.

    An operation is the node of its largest output; its other outputs are by-products. The kernel computes all outputs,
    also unneeded ones, so by-products count in its workspace too, unless it runs once and all are needed. Random
    operations are chained by by-products of size 0: in every plan they draw from the generator in program order.

    Parameters
    ----------
    program : Program
        With costs and workspaces filled in.
    random : {"once", "replay", "auto"}
        Which random operations may be recomputed: none, all, or those with large results. Their generator's states are
        then always in memory.
    scale : int
        Factor for costs, if the graph's unit is smaller than theirs.
    cost_unit, name : str
        The graph's unit and name, for display.
    """
    writer = _Writer(random, scale)
    for operation in program.operations:
        writer.add_operation(operation)
    writer.fixed = sum(program.fake[node].untyped_storage().nbytes() for node in program.rewritten)
    return writer.finish(cost_unit, name)


@dataclass
class _Writer:
    random: str
    scale: int
    names: list[str] = field(default_factory=list)
    cost: list[int] = field(default_factory=list)
    size: list[int] = field(default_factory=list)
    workspace: list[int] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    once: list[int] = field(default_factory=list)
    keep: list[int] = field(default_factory=list)
    effects: list[int] = field(default_factory=list)
    inplace: dict[int, list[int]] = field(default_factory=dict)
    byproduct_of: dict[int, int] = field(default_factory=dict)
    works: dict[int, Work] = field(default_factory=dict)
    variants: dict[int, Work] = field(default_factory=dict)
    operation_at: dict[int, Operation] = field(default_factory=dict)
    value_at: dict[int, Value] = field(default_factory=dict)
    node_of: dict[Value, int] = field(default_factory=dict)
    token: int | None = None
    states: int = 0  # bytes of the generator's states
    fixed: int = 0  # bytes in memory during the whole step

    def add(self, name: str, size: int, group: str, cost: int = 0, workspace: int = 0) -> int:
        self.names.append(name)
        self.size.append(size)
        self.groups.append(group)
        self.cost.append(cost)
        self.workspace.append(workspace)
        return len(self.names) - 1

    def add_value(self, node: int, value: Value) -> None:
        self.node_of[value] = node
        self.value_at[node] = value
        if value.kept:
            self.keep.append(node)

    def add_operation(self, operation: Operation) -> None:
        main, group = operation.main, group_of(operation)
        others = [value for value in operation.values if value is not main]
        replay = may_replay(operation, self.random)
        once = (operation.once and not replay) or better_once(operation, others) or is_returned(operation)
        self.states += state_size(operation) if replay else 0
        space = operation.workspace + (0 if once else sum(value.size for value in others))
        node = self.add(operation.name, main.size, group, operation.cost * self.scale, space)
        self.operation_at[node] = operation
        self.works[node], self.variants[node] = operation.work, operation.variant
        self.edges += [(self.node_of[value], node) for value in operation.reads]
        self.add_value(node, main)
        for value in others:
            place = self.add(f"{operation.name}.{value.place}", value.size, group)
            self.byproduct_of[place] = node
            self.add_value(place, value)
        if once:
            self.once.append(node)
        if operation.once:
            self.effects.append(node)
        if operation.is_gate and self.token is not None:
            self.edges.append((self.token, node))  # all draws of the forward pass come before
        if operation.random:
            self.chain(operation, node, group)
        if operation.over and not others:
            self.inplace[node] = [self.node_of[value] for value in operation.over]

    def chain(self, operation: Operation, node: int, group: str) -> None:
        """Makes a draw depend on the previous one in the program."""
        if self.token is not None:
            self.edges.append((self.token, node))
        self.token = self.add(f"{operation.name}.drawn", 0, group)
        self.byproduct_of[self.token] = node

    def finish(self, cost_unit: str, name: str) -> Lowered:
        states = self.states + GENERATOR_STATE if self.states else 0  # one more while an operation is recomputed
        graph = StepGraph(
            self.variants,
            cost=self.cost,
            size=self.size,
            edges=self.edges,
            names=self.names,
            workspace=self.workspace,
            once=self.once,
            keep=self.keep,
            inplace=self.inplace,
            byproduct_of=self.byproduct_of,
            groups=self.groups,
            targets=sorted({*self.keep, *self.effects}),
            order=range(len(self.names)),
            fixed_size=states + self.fixed,
            flops={node: work.flops for node, work in self.works.items()},
            bytes={node: work.bytes for node, work in self.works.items()},
            op={node: work.op for node, work in self.works.items()},
            dtype={node: work.dtype for node, work in self.works.items()},
            name=name,
            cost_unit=cost_unit,
            size_unit="byte",
        )
        once = {self.operation_at[node] for node in self.once}
        return Lowered(graph, self.operation_at, self.value_at, self.node_of, once)


def may_replay(operation: Operation, random: str) -> bool:
    """Whether a random operation may be recomputed from a saved state of its generator."""
    if random == "once" or operation.generator is None:
        return False
    size = sum(value.size for value in operation.values)
    return random == "replay" or size > WORTH_REPLAY * state_size(operation)


def state_size(operation: Operation) -> int:
    """Bytes of a state in the memory that is planned: that of a GPU's generator is on the host."""
    return GENERATOR_STATE if operation.generator.device.type == "cpu" else 0


def is_returned(operation: Operation) -> bool:
    """Whether the caller keeps an output of it: a plan that frees it and computes it again would have it twice."""
    return any(value.kept and any(reader.is_gate for reader in value.readers) for value in operation.values)


def better_once(operation: Operation, others: list[Value]) -> bool:
    """Whether a kernel computes several gradients at once, such as that of attention: recomputing it gains nothing, and
    the peak of a kernel that runs once is exact."""
    return operation.backward and 16 * sum(value.size for value in others) > operation.main.size


def group_of(operation: Operation) -> str:
    """The module, with "(backward)" in the backward pass."""
    name = operation.module or "(model)"
    return f"{name} (backward)" if operation.backward else name


def moves_of(lowered: Lowered, moves: Any) -> list[Move]:
    """The planner's moves in terms of operations and values; moves of tokens have no effect."""
    found: list[Move] = []
    for move in moves:
        if move.op == "compute":
            operation = lowered.operation_at[move.node]
            needed = [operation.main] + [lowered.value_at[w] for w in (move.also or ()) if w in lowered.value_at]
            over = lowered.value_at[move.over] if move.over is not None else None
            found.append(("compute", operation, (needed, over)))
        elif move.node in lowered.value_at:
            found.append((move.op, lowered.value_at[move.node], None))
    return write_in_place(found)
