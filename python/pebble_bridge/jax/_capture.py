"""From a function to the graph of its value and gradient.

The forward jaxpr is flattened and every value it computes gets a name; the jaxpr of value and gradient is then traced
from the named function. So a policy can save each named value of the joint program, and the backward pass starts at the
first use of the cotangent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
from jax.ad_checkpoint import checkpoint_name

from .. import Graph, Machine
from ..errors import GraphError
from . import _adapter, _cost
from ._flatten import Equation, Flat, flatten
from ._naming import DONE, NAME, bind_named
from ._nodes import Node, free_equations, joint_nodes


@dataclass
class Captured:
    """A function's value and gradient as a graph.

    Attributes
    ----------
    graph : Graph
        Nodes are computations in program order, sizes are bytes; arguments, closed-over arrays and results are its
        `fixed_size`.
    nodes : list of Node
        What each node is.
    forward : Flat
        The flattened function.
    boundary : int
        The first node of the backward pass.
    notes : list of str
        What the cost model ignores.
    """

    graph: Graph
    nodes: list[Node]
    forward: Flat
    boundary: int
    free: list[bool]
    in_tree: Any
    out_tree: Any
    in_avals: list[Any]
    notes: list[str]


def run_marked(flat: Flat, free: Sequence[bool], arguments: Sequence[Any]) -> list[Any]:
    """Evaluate a flat program with names on all values that own memory, and marks after each traced equation."""
    value: dict[int, Any] = dict(flat.constants)
    value.update(zip(flat.arguments, arguments, strict=True))
    for k, equation in enumerate(flat.equations):
        run_equation(equation, value, None if free[k] else f"{NAME}{k}")
        if not free[k] and equation.outputs:
            checkpoint_name(value[equation.outputs[0]], f"{DONE}{k}")
    return [flat.result_literals[i] if r is None else value[r] for i, r in enumerate(flat.results)]


def run_equation(equation: Equation, value: dict[int, Any], name: str | None) -> None:
    """Evaluate one equation into `value`, with a name on its results if there is one."""
    given = [
        v.val if isinstance(v, _adapter.Literal) else value[i]
        for i, v in zip(equation.inputs, equation.eqn.invars, strict=True)
    ]
    results = _adapter.bind(equation.eqn, given) if name is None else bind_named(equation.eqn, given, name)
    value.update(zip(equation.outputs, results, strict=True))


def capture(
    fun: Callable[..., Any],
    *args: Any,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    cost: str | Callable[[Any], int] = "flops",
    machine: Any = None,
    fuse: bool = True,
    name: str | None = None,
) -> Captured:
    """The graph of ``jax.value_and_grad(fun, argnums, has_aux)(*args)``.

    Parameters
    ----------
    fun : callable
        Returns a scalar, or (scalar, aux) with `has_aux`.
    *args
        Arrays, or `jax.ShapeDtypeStruct`: only shapes and types matter, unless costs are measured.
    argnums : int or sequence of int
        The arguments to differentiate with respect to.
    has_aux : bool
        As in `jax.grad`.
    cost : {"flops", "measured"} or callable
        Operations counted from shapes, nanoseconds of each equation run separately, or a function of an equation.
    machine : Machine, str, path or mapping, optional
        Costs are times on this machine, whatever `cost` is.
    fuse : bool
        Treat an elementwise value that has one reader as part of its reader, as XLA does: it takes no memory.
    name : str, optional
        The name of the graph.
    """
    leaves, in_tree = jax.tree.flatten(args)
    closed, shape = jax.make_jaxpr(fun, return_shape=True)(*args)
    out_leaves, out_tree = jax.tree.flatten(shape)
    _check_output(fun, shape, has_aux)
    forward = flatten(closed, open_custom=False)
    free = free_equations(forward)
    joint = flatten(_joint(forward, free, args, argnums, has_aux, out_tree), open_custom=True)
    clock = {"flops": _cost.flops, "measured": _cost.Clock()}.get(cost, cost)
    if not callable(clock):
        raise ValueError(f'cost must be "flops", "measured" or a function of an equation, not {cost!r}.')
    nodes, boundary, fixed = joint_nodes(joint, clock, len(out_leaves), fuse)
    fixed += sum(_adapter.size_of(v) for v in closed.in_avals) + sum(
        _adapter.size_of(forward.avals[c]) for c in forward.constants
    )
    name = name or getattr(fun, "__name__", "function")
    graph = _graph(nodes, fixed, name, "flop" if cost == "flops" else "ns" if cost == "measured" else "cost")
    if machine is not None:
        graph = _priced(graph, nodes, Machine(machine), fixed)
    return Captured(
        graph,
        nodes,
        forward,
        boundary,
        free,
        in_tree,
        out_tree,
        [jax.typeof(v) if not hasattr(v, "shape") else v for v in leaves],
        _notes(forward, joint),
    )


def _priced(graph: Graph, nodes: list[Node], machine: Machine, fixed: int) -> Graph:
    """The same graph with times as costs."""
    processor, times = machine.processors[0]["name"], graph.timed(machine).times
    for v, node in enumerate(nodes):
        if v in times:
            node.cost = times[v][processor]
    return _graph(nodes, fixed, graph.name, machine.time_unit)


def _check_output(fun: Any, shape: Any, has_aux: bool) -> None:
    loss = shape[0] if has_aux and isinstance(shape, tuple) and len(shape) == 2 else shape
    if has_aux and loss is shape:
        raise GraphError("With has_aux=True the function must return a pair (scalar, aux). Return one.")
    leaves = jax.tree.leaves(loss)
    if len(leaves) != 1 or leaves[0].shape != () or not jax.numpy.issubdtype(leaves[0].dtype, jax.numpy.floating):
        shapes = ", ".join(f"{v.dtype}{list(v.shape)}" for v in leaves) or "nothing"
        raise GraphError(
            f"{getattr(fun, '__name__', 'The function')} returns {shapes}: a gradient needs one real scalar. Return "
            "the loss, and everything else as aux with has_aux=True."
        )


def _joint(
    forward: Flat, free: Sequence[bool], args: Any, argnums: int | Sequence[int], has_aux: bool, out_tree: Any
) -> Any:
    """The jaxpr of value and gradient with every forward value named; its first argument is the cotangent."""
    chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    def value_and_gradient(cotangent: Any, *args: Any) -> Any:
        def of_chosen(*some: Any) -> Any:
            full = list(args)
            for k, value in zip(chosen, some, strict=True):
                full[k] = value
            return jax.tree.unflatten(out_tree, run_marked(forward, free, jax.tree.leaves(full)))

        out = jax.vjp(of_chosen, *(args[k] for k in chosen), has_aux=has_aux)
        return out[0], out[2:], out[1](cotangent.astype(out[0].dtype))

    try:
        return jax.make_jaxpr(value_and_gradient)(jax.ShapeDtypeStruct((), jax.numpy.float32), *args)
    except (TypeError, ValueError, NotImplementedError) as problem:
        raise GraphError(f"JAX cannot differentiate this function: {problem}. Fix jax.grad of it first.") from problem


def _notes(forward: Flat, joint: Flat) -> list[str]:
    notes = []
    loops = sorted({e.name for e in forward.equations if e.name in _cost.LOOPS})
    if loops:
        notes.append(
            f"{' and '.join(loops)}: one node each, with its total cost; its body is not planned. Unroll a short "
            "loop in Python to plan its steps."
        )
    if any(e.name == "while" for e in joint.equations):
        notes.append("while: the number of iterations is unknown, so its body is counted once.")
    if forward.opened_checkpoints:
        notes.append(f"{forward.opened_checkpoints} jax.checkpoint inside the function: the plan replaces them.")
    return notes


def _graph(nodes: list[Node], fixed: int, name: str, cost_unit: str) -> Graph:
    """The nodes as a graph of the library."""

    return Graph(
        cost=[0 if n.residual_of is not None else n.cost for n in nodes],
        size=[n.size for n in nodes],
        workspace=[0 if n.residual_of is not None else n.workspace for n in nodes],
        edges=[(u, v) for v, n in enumerate(nodes) if n.residual_of is None for u in sorted(n.inputs)],
        names=[n.label for n in nodes],
        groups=[_adapter.where(n.equation.eqn) or None for n in nodes],
        once=[v for v, n in enumerate(nodes) if n.once and n.residual_of is None],
        keep=[v for v, n in enumerate(nodes) if n.result and not n.size],
        inplace={v: n.inplace for v, n in enumerate(nodes) if n.inplace},
        byproduct_of={v: n.residual_of for v, n in enumerate(nodes) if n.residual_of is not None},
        targets=[v for v, n in enumerate(nodes) if n.result or n.effect],
        order=[v for v, n in enumerate(nodes) if n.residual_of is None],
        fixed_size=fixed,
        flops=[None if n.residual_of is not None else n.work.flops for n in nodes],
        bytes=[None if n.residual_of is not None else n.work.bytes for n in nodes],
        op=[None if n.residual_of is not None else n.work.op for n in nodes],
        dtype=[None if n.residual_of is not None else n.work.dtype for n in nodes],
        name=name,
        cost_unit=cost_unit,
        size_unit="byte",
    )
