"""The schedule that `jax.checkpoint` runs for a save set, its peak and its work.

A choice is a set of forward values that are saved, and a tail of forward equations outside of any checkpoint ("plain"),
for which JAX keeps everything that their backward pass reads. Everything else is dropped and recomputed.

The function is cut into segments at places that no recomputed value is read across; each segment with recomputed values
becomes one `jax.checkpoint`. When the backward pass reaches a segment, all values that it needs are recomputed, once
and in order, and then the segment is reversed. JAX generates the program this way, and a compiler that keeps its order
needs exactly this memory.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from .. import Move
from ._nodes import Node


@dataclass(frozen=True)
class Choice:
    """What is saved: nodes by index; forward equations from `plain` on are outside of checkpoints."""

    saved: frozenset[int]
    plain: int


@dataclass
class Replay:
    """The schedule that a choice implies."""

    peak: int
    work: int
    recomputed: list[int]  # recomputed, in forward order
    kept: list[int]  # kept from the forward to the backward pass
    cuts: list[int]  # segments end before these forward equations
    moves: list[Move] = field(default_factory=list)


class Model:
    """Replays choices over the nodes of a captured function."""

    def __init__(self, nodes: list[Node], keep: Iterable[int], fixed: int, equations: int) -> None:
        self.nodes, self.keep, self.fixed, self.equations = nodes, set(keep), fixed, equations
        self.ahead = [v for v, n in enumerate(nodes) if not n.backward]
        self.back = [v for v, n in enumerate(nodes) if n.backward]
        self.readers: list[list[int]] = [[] for _ in nodes]
        for v, n in enumerate(nodes):
            for u in n.inputs:
                self.readers[u].append(v)
        self.parts: dict[int, int] = {n.residual_of: v for v, n in enumerate(nodes) if n.residual_of is not None}
        # results of the function are in memory anyway: they are always saved
        self.results = frozenset(v for v in self.keep if nodes[v].forward is not None)
        self.savable = [v for v in self.ahead if nodes[v].forward is not None and nodes[v].residual_of is None]
        self.late_reads = {u for v in self.back for u in nodes[v].inputs if not nodes[u].backward}

    def late(self, choice: Choice) -> tuple[set[int], set[int]]:
        """Forward nodes that are in memory when the backward pass starts, and those it recomputes."""
        nodes, kept, recomputed = self.nodes, set(), set()
        wanted = list(self.late_reads)
        while wanted:
            v = wanted.pop()
            if v in kept or v in recomputed:
                continue
            if v in choice.saved or v in self.results or nodes[v].place >= choice.plain:
                kept.add(v)
            else:
                recomputed.add(v)
                wanted.extend(nodes[v].inputs)
        return kept, recomputed

    def replay(self, choice: Choice, moves: bool = False) -> Replay:
        """Simulate the schedule of a choice; with `moves`, record it."""
        kept, recomputed = self.late(choice)
        cuts = self._cuts(recomputed)
        ledger = _Ledger(self, moves)
        first = self._first_run(kept)
        ledger.run(first, until_later=kept)
        segment, batches = {}, {}
        for v in sorted(recomputed):
            k = bisect_right(cuts, self.nodes[v].place)
            segment[v] = k
            batches.setdefault(k, []).append(v)
        sequence: list[int] = []
        for v in self.back:
            for u in self.nodes[v].inputs:
                if u in segment:
                    sequence.extend(batches.pop(segment[u], ()))
            sequence.append(v)
        ledger.run(sequence, until_later=set())
        return Replay(ledger.peak, ledger.work, sorted(recomputed), sorted(kept), cuts, ledger.moves)

    def _first_run(self, kept: set[int]) -> list[int]:
        """What the forward pass computes: everything that the value and the kept values need."""
        chosen = {v for v in self.ahead if self.nodes[v].needed_forward or self.nodes[v].effect}
        wanted = [v for v in kept if v not in chosen]
        while wanted:
            v = wanted.pop()
            if v not in chosen:
                chosen.add(v)
                wanted.extend(self.nodes[v].inputs)
        return sorted(chosen)

    def _cuts(self, recomputed: set[int]) -> list[int]:
        """Forward equations such that no recomputed value is read across the cut before them."""
        nodes, crossing = self.nodes, [0] * (self.equations + 1)
        for v in recomputed:
            last = max((nodes[r].place for r in self.readers[v] if not nodes[r].backward), default=nodes[v].place)
            if last > nodes[v].place:  # no cut before equations place+1 .. last
                crossing[nodes[v].place + 1] += 1
                crossing[last + 1 if last + 1 <= self.equations else self.equations] -= 1
        cuts, open_ = [], 0
        for k in range(self.equations):
            open_ += crossing[k]
            if k and open_ == 0:
                cuts.append(k)
        return cuts


class _Ledger:
    """Memory and work while nodes are computed in sequence, each freed after its last use."""

    def __init__(self, model: Model, write: bool) -> None:
        self.model, self.write = model, write
        self.resident: set[int] = set()
        self.now = self.peak = model.fixed
        self.work = 0
        self.moves: list[Move] = []

    def run(self, sequence: list[int], until_later: set[int]) -> None:
        """Compute a sequence; afterwards only `until_later` and results of the program are kept."""
        nodes, keep = self.model.nodes, self.model.keep
        last: dict[int, int] = {}
        for k, v in enumerate(sequence):
            last[v] = k
            for u in nodes[v].inputs:
                last[u] = k
        members = set(sequence)
        for k, v in enumerate(sequence):
            node = nodes[v]
            if v in self.resident:  # computed together with its by-product
                self._release(v, k, last, until_later)
                continue
            owner = node.residual_of
            if owner is not None:
                self._compute_parts(owner, v, k, last, until_later)
            else:
                part = self.model.parts.get(v)
                both = part is not None and part in members and part not in self.resident
                over = None if both else self._taken_over(node, k, last, until_later)
                self._compute(v, over, [part] if both else [])
            for u in (*node.inputs, v):
                self._release(u, k, last, until_later)
        for v in [v for v in self.resident if v not in until_later and v not in keep and v not in last]:
            self._free(v)

    def _compute(self, v: int, over: int | None, also: list[int]) -> None:
        node, nodes = self.model.nodes[v], self.model.nodes
        made = sum(nodes[w].size for w in also) + (0 if v in self.resident else node.size)
        taken = nodes[over].size if over is not None else 0
        self.peak = max(self.peak, self.now + max(0, made - taken) + node.workspace)
        self.now += made - taken
        self.work += node.cost
        self.resident.add(v)
        self.resident.update(also)
        if over is not None:
            self.resident.discard(over)
        if self.write:
            self.moves.append(Move("compute", v, over=over, also=tuple(also)))

    def _compute_parts(self, owner: int, v: int, k: int, last: dict[int, int], until_later: set[int]) -> None:
        """Recompute a by-product: its node's work again; the node's own value is dropped if it is not needed."""
        had = owner in self.resident
        self._compute(owner, None, [v])
        if not had and last.get(owner, -1) <= k and owner not in until_later and owner not in self.model.keep:
            self._free(owner)

    def _taken_over(self, node: Node, k: int, last: dict[int, int], until_later: set[int]) -> int | None:
        for u in node.inplace:
            if u in self.resident and last[u] == k and u not in until_later and u not in self.model.keep:
                return u
        return None

    def _release(self, u: int, k: int, last: dict[int, int], until_later: set[int]) -> None:
        if u in self.resident and last.get(u, -1) <= k and u not in until_later and u not in self.model.keep:
            self._free(u)

    def _free(self, v: int) -> None:
        self.resident.discard(v)
        self.now -= self.model.nodes[v].size
        if self.write:
            self.moves.append(Move("free", v))
