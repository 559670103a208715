"""Plans as `jax.checkpoint` policies: the function again, cut into segments, with names on what is saved."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax

from .. import NothingFound, Plan, verify
from .. import plan as plan_graph
from ..errors import GraphError, InternalError, InvalidArgument
from . import _adapter
from ._capture import Captured, capture, run_equation
from ._naming import NAME
from ._nodes import has_effect
from ._policy import Choice, Model, Replay
from ._search import Search


@dataclass(frozen=True)
class Saved:
    """A value that is held from the forward to the backward pass.

    `name` is its `checkpoint_name`, or None where it is kept because its part of the function is left plain.
    """

    name: str | None
    label: str
    bytes: int
    where: str


@dataclass
class Report:
    """What a policy keeps and costs, beside the plan that no policy binds.

    Attributes
    ----------
    budget : int or None
        Bytes that were allowed.
    written_peak, written_work : int
        The program as written: nothing computed again.
    peak, work : int
        The policy's schedule, replayed by the library's verifier.
    fixed : int
        Bytes of arguments and results, part of every peak.
    saved : list of Saved
    recomputed : int
        Computations that are done again.
    segments : int
        Parts of the function that became a `jax.checkpoint` each.
    plan : Plan or None
        The unrestricted plan for the same budget.
    lost : list of str
        What that plan does and a policy cannot say.
    notes : list of str
        What the model leaves out.
    """

    budget: int | None
    written_peak: int
    written_work: int
    peak: int
    work: int
    fixed: int
    cost_unit: str
    saved: list[Saved]
    recomputed: int
    segments: int
    plan: Plan | None = None
    lost: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def saved_bytes(self) -> int:
        """Bytes that are held from the forward to the backward pass."""
        return sum(s.bytes for s in self.saved)

    @property
    def overhead(self) -> float:
        """Work beyond computing everything once, as a part of it."""
        return self.work / self.written_work - 1 if self.written_work else 0.0

    def __str__(self) -> str:
        lines = [f"policy: peak {_bytes(self.peak)} (as written {_bytes(self.written_peak)}, of both {_bytes(self.fixed)} are "
                 f"arguments and results), {100 * self.overhead:.1f} % more work",
                 f"  saves {len(self.saved)} values, {_bytes(self.saved_bytes)}; computes {self.recomputed} again in "
                 f"{self.segments} segment{'s' * (self.segments != 1)}"]
        if self.plan:
            m = self.plan.metrics
            more = self.work / m.work - 1 if m.work else 0.0
            lines.append(f"plan without that restriction: peak {_bytes(m.peak)}, {100 * (m.work / self.written_work - 1):.1f} % more "
                         f"work; the policy needs {100 * more:.1f} % more than it")
        lines += [f"  a policy cannot say: {what}" for what in self.lost]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


def _bytes(n: int) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < 1024 or unit == "GiB":
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1024
    return ""


def plan(fun: Callable[..., Any], *args: Any, budget: int | str | None, argnums: int | Sequence[int] = 0, has_aux: bool = False,
         cost: str | Callable[[Any], int] = "flops", fuse: bool = True, **options: Any) -> Plan:
    """The library's plan of ``jax.value_and_grad(fun)(*args)``, which no policy binds.

    `budget` is a number of bytes, "8GiB", or "60%" of what the program as written needs; arguments and results count.
    `options` go to `pebble_bridge.plan`; the other parameters are those of :func:`capture`.
    """
    return plan_graph(capture(fun, *args, argnums=argnums, has_aux=has_aux, cost=cost, fuse=fuse).graph, budget, **options)


def remat(fun: Callable[..., Any], *args: Any, budget: int | str | None, argnums: int | Sequence[int] = 0,
          has_aux: bool = False, cost: str | Callable[[Any], int] = "flops", fuse: bool = True, compare: bool = True,
          effort: int = 500_000) -> Callable[..., Any]:
    """A function equal to `fun` whose gradient keeps only what fits the budget.

    It is `fun` cut into segments, each a `jax.checkpoint` with a ``save_only_these_names`` policy over values that got a
    `checkpoint_name`. Use it in place of `fun` in `jax.grad` and `jax.jit`, for arguments of the same shapes and types.

    Parameters
    ----------
    budget : int, str or None
        As in :func:`plan`.
    compare : bool
        Also plan without the restriction to policies, for the report.
    effort : int
        How many nodes may be looked at while save sets are compared.

    Returns
    -------
    callable
        With the attribute `report`, a :class:`Report`.

    Raises
    ------
    NothingFound
        No save set that was tried fits; the sentence names the smallest peak.
    GraphError
        The function cannot be cut this way; the sentence names the primitive.
    """
    captured = capture(fun, *args, argnums=argnums, has_aux=has_aux, cost=cost, fuse=fuse)
    _refuse_effects(captured)
    graph = captured.graph
    limit = None if budget is None else graph.parse_size(budget)
    model = Model(captured.nodes, graph.keep, graph.fixed_size, len(captured.forward.equations))
    search = Search(model, graph, limit, effort)
    best, smallest = search.run()
    if best is None:
        _refuse_budget(captured, model, limit, smallest)
    replay = model.replay(best, moves=True)
    verdict = verify(graph, replay.moves, cap=replay.peak)
    if not verdict or (verdict.metrics.peak, verdict.metrics.work) != (replay.peak, replay.work):
        raise InternalError(f"The policy's schedule does not replay as modelled: {verdict.sentence or verdict.metrics}")
    wrapped = _Rebuilt(captured, model, replay, best)
    function = functools.wraps(fun, updated=())(lambda *given: wrapped(*given))
    function.report = _report(captured, model, best, replay, limit, wrapped)
    if compare and replay.again:
        _compare(function.report, captured, model, search.unrestricted())
    return function


def _refuse_effects(captured: Captured) -> None:
    for equation in captured.forward.equations:
        if has_effect(equation.eqn):
            at = _adapter.where(equation.eqn)
            raise GraphError(f"{equation.name}{' at ' + at if at else ''} has a side effect, which a checkpoint would repeat or JAX "
                             "refuses to put into one. Take it out of the function, or return what it shows as aux (has_aux=True).")


def _refuse_budget(captured: Captured, model: Model, limit: int | None, smallest: Choice | None) -> None:
    if smallest is None:
        stuck = next((n for n in captured.nodes if n.once and not n.backward), None)
        raise GraphError(f"{stuck.equation.name} must run only once, but what its backward pass needs has no name to be saved by. "
                         "Leave it outside of the function that is planned.")
    least = model.replay(smallest).peak
    raise NothingFound(f"No save set that was tried fits {limit} bytes: the smallest peak of a policy is {least}, of which "
                       f"{model.fixed} are arguments and results. Ask for that much, or let pebble_bridge.jax.plan look for a plan "
                       "that no policy binds.")


class _Rebuilt:
    """The function cut into segments."""

    def __init__(self, captured: Captured, model: Model, replay: Replay, choice: Choice) -> None:
        self.captured, flat = captured, captured.forward
        again = {model.nodes[v].place for v in replay.again}
        self.names = sorted(model.nodes[v].forward for v in replay.kept
                            if v in choice.saved | model.results and model.nodes[v].forward is not None)
        edges = [0, *replay.cuts, len(flat.equations)]
        self.made_by = {o: k for k, e in enumerate(flat.equations) for o in e.outputs}
        self.segments: list[tuple[list[int], list[int], list[int], bool]] = []
        ranges = _segments(edges, again, choice.plain if again else 0)
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
        """The values behind free equations: those are evaluated anew wherever they are read."""
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
        return self._seen_through([i for k in equations if not self.captured.free[k] for i in flat.equations[k].inputs if i is not None])

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
        """Evaluate the free equations behind a value."""
        if v not in value:
            equation = self.captured.forward.equations[self.made_by[v]]
            for i in equation.inputs:
                if i is not None:
                    self._make(i, value)
            run_equation(equation, value, None)


def _segments(edges: list[int], again: set[int], plain: int) -> list[tuple[int, int, bool]]:
    """Ranges of forward equations, and whether each is a checkpoint: all before `plain` are.

    A range with nothing to compute again joins the one behind it, for fewer checkpoints.
    """
    ranges, start = [], 0
    for a, b in zip(edges, edges[1:], strict=False):
        ahead = b > plain
        if any(a <= p < b for p in again) or b == edges[-1] or (not ahead and b == plain):
            ranges.append((start, b, not ahead))
            start = b
    return ranges


def _check_arguments(captured: Captured, leaves: list[Any], tree: Any) -> None:
    if tree != captured.in_tree:
        raise InvalidArgument(f"The plan is for arguments of the structure {captured.in_tree}, not {tree}.")
    for k, (given, planned) in enumerate(zip(leaves, captured.in_avals, strict=True)):
        if jax.numpy.shape(given) != planned.shape or jax.numpy.result_type(given) != planned.dtype:
            raise InvalidArgument(f"Leaf {k} of the arguments is {jax.numpy.result_type(given)}{list(jax.numpy.shape(given))}; the plan is "
                                  f"for {planned.dtype}{list(planned.shape)}. Plan again for other shapes.")


def _report(captured: Captured, model: Model, choice: Choice, replay: Replay, limit: int | None,
            rebuilt: _Rebuilt) -> Report:
    graph, nodes = captured.graph, captured.nodes
    named = choice.saved | model.results
    saved = [Saved(f"{NAME}{nodes[v].forward}" if v in named else None, nodes[v].label, nodes[v].size,
                   _adapter.where(nodes[v].equation.eqn)) for v in replay.kept]
    plain = model.replay(Choice(frozenset(), 0))
    return Report(limit, plain.peak, plain.work, replay.peak, replay.work, model.fixed, graph.cost_unit, saved,
                  len(replay.again), rebuilt.checkpoints, notes=list(captured.notes))


def _compare(report: Report, captured: Captured, model: Model, found: Plan) -> None:
    if found:
        report.plan = found
        report.lost = _lost(captured, model, found)


def _lost(captured: Captured, model: Model, found: Plan) -> list[str]:
    """What an unrestricted plan does that has no words in a policy, counted."""
    nodes, times, early, first = captured.nodes, Counter(), Counter(), []
    resident: set[int] = set()
    held: set[int] | None = None
    for move in found.moves:
        if move.op == "free":
            resident.discard(move.node)
            continue
        v = move.node
        if nodes[v].backward:
            held = set(resident) if held is None else held
            first += [v] if not times[v] else []
        early[v] += held is None
        times[v] += 1
        resident.add(v)
        resident.update(move.also)
        resident.discard(move.over)
    lost = []
    often = sum(n > 2 for n in times.values())
    if often:
        lost.append(f"{often} values are computed more than twice; a policy computes each once more at most.")
    twice = sum(early[v] > 1 for v in early)
    if twice:
        lost.append(f"{twice} values are dropped and made again within the forward pass.")
    if sum(times[v] > 1 for v in model.back):
        lost.append(f"{sum(times[v] > 1 for v in model.back)} gradients are computed twice; a policy is about the forward pass.")
    if first != sorted(first):
        lost.append("the backward pass runs in another order than JAX writes it.")
    unnamed = [v for v in (held or ()) if nodes[v].forward is None and not nodes[v].backward and nodes[v].size]
    if unnamed:
        lost.append(f"{len(unnamed)} values ({_bytes(sum(nodes[v].size for v in unnamed))}) are kept that JAX makes for the backward pass "
                    "alone: they have no names.")
    return lost
