"""Plans as `jax.checkpoint` policies: the function cut into segments, with names on saved values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import jax

from .. import Graph, NothingFound, Plan, verify
from .. import plan as plan_graph
from ..errors import GraphError, InternalError, InvalidArgument
from . import _adapter
from ._capture import Captured, capture, run_equation
from ._naming import NAME
from ._nodes import has_effect
from ._policy import Choice, Model, Replay
from ._report import compare_plan, make_report
from ._search import Search


def plan(
    fun: Callable[..., Any],
    *args: Any,
    budget: int | str | None,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    cost: str | Callable[[Any], int] = "flops",
    machine: Any = None,
    fuse: bool = True,
    **options: Any,
) -> Plan:
    """The library's plan of ``jax.value_and_grad(fun)(*args)``, not restricted to policies.

    `budget` is a number of bytes, "8GiB", or "60%" of the peak in program order; arguments and results count. "60%
    temporary" is a share of what the compiler calls temporary: the rest of the peak, with all arguments and results
    in addition.
    `options` go to `pebble_bridge.plan`; the other parameters are those of :func:`capture`.
    """
    captured = capture(fun, *args, argnums=argnums, has_aux=has_aux, cost=cost, machine=machine, fuse=fuse)
    return plan_graph(captured.graph, _budget(captured.graph, budget), **options)


def _budget(graph: Graph, budget: int | str | None) -> int | None:
    """Bytes; shares of temporary memory do not count arguments and results."""
    words = budget.split() if isinstance(budget, str) else []
    if len(words) == 2 and words[1] == "temporary" and words[0].endswith("%"):
        graph.parse_size(words[0])  # raises if it is not a share
        return graph.fixed_size + int(Fraction(words[0][:-1]) / 100 * (graph.written_peak - graph.fixed_size))
    return None if budget is None else graph.parse_size(budget)


def remat(
    fun: Callable[..., Any],
    *args: Any,
    budget: int | str | None,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    cost: str | Callable[[Any], int] = "flops",
    machine: Any = None,
    fuse: bool = True,
    compare: float = 2.0,
    effort: int = 500_000,
) -> Callable[..., Any]:
    """A function equal to `fun` whose gradient keeps only what fits the budget.

    It is `fun` cut into segments. Each is a `jax.checkpoint` with a ``save_only_these_names`` policy over values with a
    `checkpoint_name`. Use it in place of `fun` in `jax.grad` and `jax.jit`, for positional arguments of the same shapes
    and types.

    Parameters
    ----------
    budget : int, str or None
        As in :func:`plan`.
    compare : float
        Seconds for the unrestricted plan in the report; 0: omit it.
    effort : int
        The number of node visits for comparing save sets.

    Returns
    -------
    callable
        With the attribute `report`, a :class:`Report`.

    Raises
    ------
    NothingFound
        No save set that was tried fits; the message has the smallest peak.
    GraphError
        The function cannot be cut this way; the message names the primitive.
    """
    captured = capture(fun, *args, argnums=argnums, has_aux=has_aux, cost=cost, machine=machine, fuse=fuse)
    _refuse_effects(captured)
    graph = captured.graph
    limit = _budget(graph, budget)
    model = Model(captured.nodes, graph.keep, graph.fixed_size, len(captured.forward.equations))
    search = Search(model, graph, limit, effort)
    best, smallest = search.run()
    if best is None:
        _refuse_budget(captured, model, limit, smallest)
    replay = model.replay(best, moves=True)
    verdict = verify(graph, replay.moves, cap=replay.peak)
    if not verdict or (verdict.metrics.peak, verdict.metrics.work) != (replay.peak, replay.work):
        found = verdict.sentence or verdict.metrics
        raise InternalError(
            f"The replay of the policy's schedule differs from its model ({found}): this is a bug in pebble_bridge; "
            "please report it with the function."
        )
    wrapped = _Rebuilt(captured, model, replay, best)
    function = functools.wraps(fun, updated=())(lambda *given: wrapped(*given))
    function.report = make_report(captured, model, best, replay, limit, wrapped.checkpoints)
    if compare and replay.recomputed:
        compare_plan(function.report, captured, model, plan_graph(graph, limit, time=compare))
    return function


def _refuse_effects(captured: Captured) -> None:
    for equation in captured.forward.equations:
        if has_effect(equation.eqn):
            at = _adapter.where(equation.eqn)
            raise GraphError(
                f"{equation.name}{' at ' + at if at else ''} has a side effect, which a checkpoint would repeat or JAX "
                "rejects inside one. Move it out of the function, or return its value as aux (has_aux=True)."
            )


def _refuse_budget(captured: Captured, model: Model, limit: int | None, smallest: Choice | None) -> None:
    if smallest is None:
        stuck = next((n for n in captured.nodes if n.once and not n.backward), None)
        raise GraphError(
            f"{stuck.equation.name} must run only once, but JAX has no names for what its backward pass needs. "
            "Move it out of the planned function."
        )
    peak = model.replay(smallest).peak
    raise NothingFound(
        f"No save set that was tried fits {limit} bytes: the smallest peak of a policy is {peak}, of which "
        f"{model.fixed} are arguments and results. Raise the budget to that, or use pebble_bridge.jax.plan, which is "
        "not restricted to policies."
    )


class _Rebuilt:
    """The function cut into segments."""

    def __init__(self, captured: Captured, model: Model, replay: Replay, choice: Choice) -> None:
        self.captured, flat = captured, captured.forward
        recomputed = {model.nodes[v].place for v in replay.recomputed}
        self.names = sorted(
            model.nodes[v].forward
            for v in replay.kept
            if v in choice.saved | model.results and model.nodes[v].forward is not None
        )
        edges = [0, *replay.cuts, len(flat.equations)]
        self.made_by = {o: k for k, e in enumerate(flat.equations) for o in e.outputs}
        self.segments: list[tuple[list[int], list[int], list[int], bool]] = []
        ranges = _segments(edges, recomputed, choice.plain if recomputed else 0)
        reads = [self._roots(range(a, b)) for a, b, _ in ranges]
        later: list[set[int]] = [set() for _ in ranges]
        wanted = self._seen_through([r for r in flat.results if r is not None])
        for k in reversed(range(len(ranges))):
            later[k] = set(wanted)
            wanted |= reads[k]
        for k, (a, b, checkpointed) in enumerate(ranges):
            own = [e for e in range(a, b) if not captured.free[e]]
            made = {o for e in own for o in flat.equations[e].outputs}
            self.segments.append((own, sorted(reads[k] - made), sorted(made & later[k]), checkpointed))
        self.checkpoints = sum(s[3] for s in self.segments)

    def _seen_through(self, values: Sequence[int]) -> set[int]:
        """The values that free equations depend on: free equations are evaluated at each use."""
        found, wanted = set(), list(values)
        while wanted:
            v = wanted.pop()
            k = self.made_by.get(v)
            if k is not None and self.captured.free[k]:
                wanted.extend(i for i in self.captured.forward.equations[k].inputs if i is not None)
            else:
                found.add(v)
        return found

    def _roots(self, equations: range) -> set[int]:
        flat = self.captured.forward
        return self._seen_through(
            [i for k in equations if not self.captured.free[k] for i in flat.equations[k].inputs if i is not None]
        )

    def __call__(self, *args: Any) -> Any:
        captured, flat = self.captured, self.captured.forward
        leaves, tree = jax.tree.flatten(args)
        _check_arguments(captured, leaves, tree)
        value: dict[int, Any] = dict(flat.constants)
        value.update(zip(flat.arguments, leaves, strict=True))
        policy = jax.checkpoint_policies.save_only_these_names(*(f"{NAME}{k}" for k in self.names))
        for own, inputs, outputs, checkpointed in self.segments:
            run = functools.partial(self._run, own, inputs, outputs)
            if checkpointed:
                run = jax.checkpoint(run, policy=policy)
            value.update(zip(outputs, run(*(value[i] for i in inputs)), strict=True))
        results = []
        for r, literal in zip(flat.results, flat.result_literals, strict=True):
            if r is not None:
                self._make(r, value)
            results.append(literal if r is None else value[r])
        return jax.tree.unflatten(captured.out_tree, results)

    def _run(self, own: list[int], inputs: list[int], outputs: list[int], *given: Any) -> list[Any]:
        value = dict(zip(inputs, given, strict=True))
        named = set(self.names)
        for k in own:
            equation = self.captured.forward.equations[k]
            for i in equation.inputs:
                if i is not None:
                    self._make(i, value)
            run_equation(equation, value, f"{NAME}{k}" if k in named else None)
        return [value[o] for o in outputs]

    def _make(self, v: int, value: dict[int, Any]) -> None:
        """Evaluate the free equations that lead to a value."""
        if v not in value:
            equation = self.captured.forward.equations[self.made_by[v]]
            for i in equation.inputs:
                if i is not None:
                    self._make(i, value)
            run_equation(equation, value, None)


def _segments(edges: list[int], recomputed: set[int], plain: int) -> list[tuple[int, int, bool]]:
    """Ranges of forward equations, and whether each is a checkpoint: all before `plain` are.

    A range with nothing to recompute is merged with the next one, for fewer checkpoints.
    """
    ranges, start = [], 0
    for a, b in pairwise(edges):
        ahead = b > plain
        if any(a <= p < b for p in recomputed) or b == edges[-1] or (not ahead and b == plain):
            ranges.append((start, b, not ahead))
            start = b
    return ranges


def _check_arguments(captured: Captured, leaves: list[Any], tree: Any) -> None:
    if tree != captured.in_tree:
        raise InvalidArgument(f"The plan is for arguments of the structure {captured.in_tree}, not {tree}. Plan again.")
    for k, (given, planned) in enumerate(zip(leaves, captured.in_avals, strict=True)):
        if jax.numpy.shape(given) != planned.shape or jax.numpy.result_type(given) != planned.dtype:
            raise InvalidArgument(
                f"Leaf {k} of the arguments is {jax.numpy.result_type(given)}{list(jax.numpy.shape(given))}; the plan "
                f"is for {planned.dtype}{list(planned.shape)}. Plan again for these shapes."
            )
