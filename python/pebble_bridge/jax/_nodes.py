"""The equations of a joint program (value and gradient, forward values named) as nodes with sizes, costs and inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from . import _adapter, _cost
from ._flatten import Equation, Flat
from ._naming import DONE, NAME
from ._work import Work, joined, work_of

# They own no memory: the compiler reads through them.
VIEWS = {
    "reshape",
    "squeeze",
    "expand_dims",
    "broadcast_in_dim",
    "bitcast_convert_type",
    "stop_gradient",
    "name",
    "reduce_precision",
    "optimization_barrier",
    "copy",
    "copy_p",
    "sharding_constraint",
    "pvary",
    "mesh_cast",
}
KEYS = {"random_wrap", "random_unwrap", "random_seed"}


@dataclass
class Node:
    """A computation of the joint program, including equations that own no memory."""

    label: str
    equation: Equation
    inputs: set[int]
    size: int
    cost: int
    work: Work = Work("other", "float32", 0, 0)
    workspace: int = 0
    elements: int = 0  # of its result
    forward: int | None = None  # the forward equation of these results: a policy can save them
    place: int = 0  # the forward equation that it belongs to; None in the backward pass
    backward: bool = False
    needed_forward: bool = False  # the function's value depends on it
    residual_of: int | None = None  # a by-product: results of that node's computation that only the backward pass reads
    once: bool = False
    effect: bool = False
    result: bool = False  # of the whole program
    inplace: list[int] = field(default_factory=list)


def free_equations(flat: Flat) -> list[bool]:
    """The equations with no memory and negligible work: views, keys, and those that depend on no argument."""
    constant: set[int] = set()
    free = []
    for equation in flat.equations:
        fixed = all(i is None or i in constant for i in equation.inputs) and not has_effect(equation.eqn)
        if fixed:
            constant.update(equation.outputs)
        free.append(fixed or _is_view(equation, flat.avals))
    return free


def _is_view(equation: Equation, avals: Sequence[Any]) -> bool:
    name, eqn = equation.name, equation.eqn
    if name in VIEWS or name in KEYS:
        return True
    if name == "convert_element_type":
        return eqn.invars[0].aval.dtype == eqn.outvars[0].aval.dtype
    if name == "transpose":
        order = [d for d in eqn.params["permutation"] if eqn.invars[0].aval.shape[d] != 1]
        return order == sorted(order)
    return bool(equation.outputs) and all(_adapter.is_key(avals[o]) for o in equation.outputs)


def has_effect(eqn: Any) -> bool:
    """Whether running an equation twice has a visible effect."""
    return bool(eqn.effects) or ("callback" in eqn.primitive.name and eqn.primitive.name != "pure_callback")


def has_collective(eqn: Any) -> bool:
    """Whether an equation, or one inside it, communicates with other devices."""
    return eqn.primitive.name in _cost.COLLECTIVES or any(
        has_collective(e) for j in _adapter.inner_jaxprs(eqn) for e in j.eqns
    )


def joint_nodes(
    joint: Flat, cost: Callable[[Any], int], forward_results: int, fuse: bool
) -> tuple[list[Node], int, int]:
    """The nodes of a joint program in program order, the first of the backward pass, and the bytes of its results.

    Results are allocated from the start, as in compiled programs, and are not part of their nodes' sizes.
    The first argument of `joint` is the cotangent, its first `forward_results` results are the function's own.
    """
    equations = joint.equations
    boundary = _boundary(joint)
    live = _needed_values(joint, [r for r in joint.results if r is not None], effects=True)
    forward = _needed_values(joint, [r for r in joint.results[:forward_results] if r is not None], effects=False)
    place = _places(equations, boundary)
    free = free_equations(joint)
    roots: dict[int, set[int]] = {}  # value: the nodes it needs, through free equations
    # value: the bytes that reading it takes
    extent = {v: _adapter.size_of(joint.avals[v]) for v in (*joint.arguments, *joint.constants)}
    nodes: list[Node] = []
    for k, equation in enumerate(equations):
        inputs = set().union(*(roots.get(i, ()) for i in equation.inputs if i is not None))
        if equation.name == "name" and equation.eqn.params["name"].startswith(NAME):
            for v in inputs if len(inputs) == 1 else ():
                if equation.inputs[0] in nodes[v].equation.outputs and nodes[v].forward is None:
                    nodes[v].forward = int(equation.eqn.params["name"][len(NAME) :])
        read = [extent.get(i, 0) for i in dict.fromkeys(equation.inputs) if i is not None]
        for o in equation.outputs:  # a broadcast value is no longer than what it repeats
            size = _adapter.size_of(joint.avals[o])
            extent[o] = min(size, sum(read)) if free[k] else size
        if free[k]:
            roots.update(dict.fromkeys(equation.outputs, inputs))
        elif any(o in live for o in equation.outputs) or has_effect(equation.eqn):
            _add(nodes, roots, joint, equation, inputs, cost, live, forward)
            for node in nodes[-2:]:
                if node.equation is equation:
                    node.backward, node.place = k >= boundary, place[k] if k < boundary else -1
                    node.work = work_of(equation.eqn, node.backward, read)
    results = {r for r in joint.results if r in roots}
    for r in results:
        size = _adapter.size_of(joint.avals[r])
        for v in roots[r]:
            nodes[v].result = True
            if r in nodes[v].equation.outputs or size == nodes[v].size:
                nodes[v].size -= size
    if fuse:
        nodes = _fuse(nodes)
    for node in nodes:
        if node.equation.name in _cost.ELEMENTWISE and node.residual_of is None:
            node.inplace = sorted(u for u in node.inputs if nodes[u].size == node.size and nodes[u].residual_of is None)
    turn = next((v for v, n in enumerate(nodes) if n.backward), len(nodes))
    return nodes, turn, sum(_adapter.size_of(joint.avals[r]) for r in results)


def _boundary(joint: Flat) -> int:
    """The first equation that depends on the cotangent."""
    for k, equation in enumerate(joint.equations):
        if joint.arguments[0] in equation.inputs:
            return k
    return len(joint.equations)


def _needed_values(joint: Flat, wanted: list[int], effects: bool) -> set[int]:
    needed = set(wanted)
    for equation in reversed(joint.equations):
        if any(o in needed for o in equation.outputs) or (effects and has_effect(equation.eqn)):
            needed.update(i for i in equation.inputs if i is not None)
    return needed


def _places(equations: Sequence[Equation], boundary: int) -> list[int]:
    """The forward equation that each equation before the boundary was traced for, found by the mark after it."""
    place = [0] * boundary
    names = [
        int(e.eqn.params["name"][len(DONE) :]) if e.name == "name" and e.eqn.params["name"].startswith(DONE) else None
        for e in equations[:boundary]
    ]
    latest = max((n for n in names if n is not None), default=0)
    for k in reversed(range(boundary)):
        latest = names[k] if names[k] is not None else latest
        place[k] = latest
    return place


def _add(
    nodes: list[Node],
    roots: dict[int, set[int]],
    joint: Flat,
    equation: Equation,
    inputs: set[int],
    cost: Callable[[Any], int],
    live: set[int],
    forward: set[int],
) -> None:
    """One node; two if the forward and the backward pass need different results of an equation."""
    eqn, used = equation.eqn, [o for o in equation.outputs if o in live]
    ahead = [o for o in used if o in forward]
    parts = [ahead, [o for o in used if o not in forward]] if ahead else [used]
    owner = len(nodes)
    once = has_effect(eqn) or has_collective(eqn)
    for part, outputs in enumerate(parts):
        if part and not outputs:
            break
        nodes.append(
            Node(
                label=f"{equation.name}.{len(nodes)}" + (".residuals" if part else ""),
                equation=equation,
                inputs=set(inputs),
                size=sum(_adapter.size_of(joint.avals[o]) for o in outputs),
                cost=cost(eqn),
                workspace=_cost.body_peak(eqn) if equation.name in _cost.LOOPS else 0,
                elements=max((prod(getattr(joint.avals[o], "shape", ())) for o in outputs), default=0),
                needed_forward=bool(ahead) and not part,
                residual_of=owner if part else None,
                once=once,
                effect=has_effect(eqn),
            )
        )
        roots.update({o: {len(nodes) - 1} for o in outputs})


def _fuse(nodes: list[Node]) -> list[Node]:
    """Merge each elementwise value with its only reader, if the compiler would fuse both into one loop."""
    readers: list[set[int]] = [set() for _ in nodes]
    for v, node in enumerate(nodes):
        for u in node.inputs:
            readers[u].add(v)
    owners = {n.residual_of for n in nodes if n.residual_of is not None}
    gone = set()
    for u in reversed(range(len(nodes))):
        node = nodes[u]
        if node.result or u in owners or node.once or node.residual_of is not None or len(readers[u]) != 1:
            continue
        if node.equation.name not in _cost.ELEMENTWISE and node.equation.name not in _cost.MOVES:
            continue
        reader = nodes[next(iter(readers[u]))]
        name = reader.equation.name
        if reader.residual_of is not None or next(iter(readers[u])) in owners:
            continue
        if name.startswith("reduce_") or (
            (name in _cost.ELEMENTWISE or name in _cost.MOVES) and reader.elements <= node.elements
        ):
            v = readers[u].pop()
            reader.inputs = (reader.inputs - {u}) | node.inputs
            reader.cost += node.cost
            between = sum(_adapter.size_of(v.aval) for v in node.equation.eqn.outvars)
            reader.work = joined(node.work, reader.work, between)
            for w in node.inputs:
                readers[w].discard(u)
                readers[w].add(v)
            gone.add(u)
    number = {v: k for k, v in enumerate(v for v in range(len(nodes)) if v not in gone)}
    kept = [nodes[v] for v in number]
    for node in kept:
        node.inputs = {number[u] for u in node.inputs}
        node.residual_of = None if node.residual_of is None else number[node.residual_of]
    return kept
