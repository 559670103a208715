"""A program as a graph for the planner, and the planner's moves back as moves of the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

import pebble_bridge as pb

from .program import Operation, Program, Value
from .runner import Move

GENERATOR_STATE = torch.default_generator.get_state().numel()  # bytes


@dataclass
class Lowered:
    """The graph, and what each of its nodes is: the operation whose main value it is, a further value, or a token."""

    graph: Any
    operation_at: dict[int, Operation]
    value_at: dict[int, Value]
    node_of: dict[Value, int]


def lower(
    program: Program, *, replay: bool = False, scale: int = 1, cost_unit: str = "ns", name: str = "step"
) -> Lowered:
    """Writes `program` as a graph.

    An operation is the node of its largest output; its other outputs are by-products. The kernel makes all outputs
    whichever are wanted, so by-products count in its workspace too. Random operations are chained by by-products of
    no size: however a plan orders them, they draw from the generator in the order of the program.
    """
    names: list[str] = []
    cost: list[int] = []
    size: list[int] = []
    workspace: list[int] = []
    groups: list[str] = []
    byproduct_of: dict[int, int] = {}
    edges: list[tuple[int, int]] = []
    once, keep, targets = [], [], []
    inplace: dict[int, list[int]] = {}
    lowered = Lowered(None, {}, {}, {})

    def add(label: str, bytes_held: int, group: str) -> int:
        names.append(label)
        size.append(bytes_held)
        cost.append(0)
        workspace.append(0)
        groups.append(group)
        return len(names) - 1

    order: list[int] = []
    token = None
    draws = 0
    for operation in program.operations:
        main = operation.main
        group = group_of(operation)
        node = add(operation.name, main.size, group)
        order.append(node)
        lowered.operation_at[node] = operation
        cost[node] = operation.cost * scale
        others = [value for value in operation.values if value is not main]
        workspace[node] = operation.workspace + sum(value.size for value in others)
        edges += [(lowered.node_of[value], node) for value in operation.reads]
        for value, place in [(main, node)] + [(value, None) for value in others]:
            at = add(f"{operation.name}.{value.place}", value.size, group) if place is None else place
            if place is None:
                byproduct_of[at] = node
            lowered.node_of[value] = at
            lowered.value_at[at] = value
            if value.kept:
                keep.append(at)
                targets.append(at)
        if operation.once and not (replay and operation.random):
            once.append(node)
        if operation.once:
            targets.append(node)
        if operation.random:
            draws += 1
            if token is not None:
                edges.append((token, node))
            token = add(f"{operation.name}.drawn", 0, group)
            byproduct_of[token] = node
        if operation.over and not others:
            inplace[node] = [lowered.node_of[value] for value in operation.over]
    lowered.graph = pb.Graph(
        cost=cost,
        size=size,
        edges=edges,
        names=names,
        workspace=workspace,
        once=once,
        keep=keep,
        inplace=inplace,
        byproduct_of=byproduct_of,
        groups=groups,
        targets=sorted(set(targets)),
        order=with_byproducts(order, byproduct_of),
        fixed_size=(draws + 1) * GENERATOR_STATE if replay and draws else 0,
        name=name,
        cost_unit=cost_unit,
        size_unit="byte",
    )
    return lowered


def group_of(operation: Operation) -> str:
    return (
        operation.module + (" (backward)" if operation.backward else "")
        if operation.module
        else ("(backward)" if operation.backward else "(model)")
    )


def with_byproducts(order: list[int], byproduct_of: dict[int, int]) -> list[int]:
    following: dict[int, list[int]] = {}
    for node, source in byproduct_of.items():
        following.setdefault(source, []).append(node)
    return [item for node in order for item in (node, *following.get(node, ()))]


def moves_of(lowered: Lowered, moves: Any) -> list[Move]:
    """The planner's moves in terms of operations and values; moves of tokens alone do nothing."""
    found: list[Move] = []
    for move in moves:
        if move.op == "compute":
            operation = lowered.operation_at[move.node]
            wanted = [operation.main] + [lowered.value_at[w] for w in (move.also or ()) if w in lowered.value_at]
            over = lowered.value_at[move.over] if move.over is not None else None
            found.append(("compute", operation, (wanted, over)))
        elif move.node in lowered.value_at:
            found.append((move.op, lowered.value_at[move.node], None))
    return found
