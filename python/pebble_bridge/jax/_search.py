"""Finds a good save set: many are proposed and replayed exactly; the best that fits is improved value by value."""

from __future__ import annotations

from collections.abc import Iterator

from .. import Graph, plan
from ._policy import Choice, Model, Replay

NEVER = 1 << 60


class Search:
    """Searches for the cheapest choice whose replay fits a budget, within a limited effort.

    Deterministic: effort is counted in node visits, not in time.
    """

    def __init__(self, model: Model, graph: Graph, budget: int | None, effort: int) -> None:
        self.model, self.graph = model, graph
        self.budget = NEVER if budget is None else budget
        self.left = effort
        self.seen: dict[Choice, Replay] = {}
        self.best: Choice | None = None
        self.smallest: Choice | None = None
        nodes = model.nodes
        self.must = frozenset(v for v in model.savable if nodes[v].once)

    def run(self) -> tuple[Choice | None, Choice]:
        """The best choice that fits, or None, and the one with the smallest peak."""
        for choice in self._proposals():
            self._try(choice)
        if self.best is None:
            self._shrink()
        if self.best is not None and self._replay(self.best).recomputed:
            self._grow()
        if self.best is not None and self._replay(self.best).recomputed:
            everywhere = Choice(self.best.saved, NEVER)  # nothing plain, if that is not worse
            if self._figures(everywhere) == self._figures(self.best):
                self.best = everywhere
        return self.best, self.smallest

    # ---- judging ----

    def _replay(self, choice: Choice) -> Replay:
        if choice not in self.seen:
            self.left -= len(self.model.nodes)
            self.seen[choice] = self.model.replay(choice)
        return self.seen[choice]

    def _try(self, choice: Choice) -> bool:
        """Evaluate a choice; True if it is the best so far that fits."""
        choice = Choice(choice.saved | self.must, choice.plain)
        found = self._replay(choice)
        if any(self.model.nodes[v].once for v in found.recomputed):
            return False
        if self.smallest is None or (found.peak, found.work) < self._figures(self.smallest, peak_first=True):
            self.smallest = choice
        if found.peak > self.budget:
            return False
        if self.best is None or (found.work, found.peak) < self._figures(self.best):
            self.best = choice
            return True
        return False

    def _figures(self, choice: Choice, peak_first: bool = False) -> tuple[int, int]:
        found = self._replay(choice)
        return (found.peak, found.work) if peak_first else (found.work, found.peak)

    # ---- proposals ----

    def _proposals(self) -> Iterator[Choice]:
        yield Choice(frozenset(), 0)  # no checkpoint at all
        yield Choice(frozenset(), NEVER)  # recompute everything
        dense = self._by_density()
        for saved in dense:
            yield Choice(saved, NEVER)
        yield Choice(self.products(), NEVER)
        late = sum(self.model.nodes[v].size for v in self.model.savable)
        for k in range(1, 33):
            cuts, saved = self._segments(max(1, late // k))
            yield Choice(saved, NEVER)
            if cuts:
                yield Choice(saved, cuts[-1])
                for extra in dense[:: max(1, len(dense) // 4)]:
                    yield Choice(saved | extra, cuts[-1])
        yield from self._planned()

    def products(self) -> frozenset[int]:
        """What the policy `dots_saveable` of JAX saves: results of matrix products; of convolutions too."""
        kinds = ("dot_general", "conv_general_dilated")
        nodes = self.model.nodes
        return frozenset(v for v in self.model.savable if nodes[v].equation.name in kinds)

    def _by_density(self) -> list[frozenset[int]]:
        """Values that cost at least this much work per byte."""
        nodes = self.model.nodes
        order = sorted((v for v in self.model.savable if nodes[v].size), key=lambda v: -nodes[v].cost / nodes[v].size)
        points = sorted({round(len(order) * k / 8) for k in range(1, 9)})
        return [frozenset(order[:p]) for p in points]

    def _segments(self, target: int) -> tuple[list[int], frozenset[int]]:
        """Cuts about `target` bytes apart, each at the nearby place that the fewest bytes cross."""
        crossing, made = self._crossing()
        cuts, saved, held, start = [], set(), 0, 0
        for k in range(1, self.model.equations):
            held += made[k - 1]
            if held < target:
                continue
            low = k
            behind = held
            while low > start + 1 and behind > held // 2:
                low -= 1
                behind -= made[low]
            cut = min(range(low, k + 1), key=lambda p: (sum(self.model.nodes[v].size for v in crossing[p]), -p))
            cuts.append(cut)
            saved.update(crossing[cut])
            held, start = sum(made[cut:k]), cut
        return cuts, frozenset(saved)

    def _crossing(self) -> tuple[list[list[int]], list[int]]:
        """For each forward equation: savable values read across the cut before it, and bytes it computes for later."""
        if not hasattr(self, "_crossed"):
            nodes, count = self.model.nodes, self.model.equations + 1
            crossing: list[list[int]] = [[] for _ in range(count)]
            made = [0] * count
            for v in self.model.savable:
                readers = [nodes[r].place for r in self.model.readers[v] if not nodes[r].backward]
                for k in range(nodes[v].place + 1, max(readers, default=-1) + 1):
                    crossing[k].append(v)
                made[nodes[v].place] += nodes[v].size
            self._crossed = (crossing, made)
        return self._crossed

    def _planned(self) -> Iterator[Choice]:
        """What the unrestricted plan for this budget keeps when the backward pass begins."""
        if self.budget >= self.graph.written_peak or not self.model.late_reads:
            return
        resident: set[int] = set()
        for move in plan(self.graph, self.budget, strategy="cut").moves:
            if self.model.nodes[move.node].backward:
                break
            if move.op == "compute":
                resident.add(move.node)
                resident.discard(move.over)
            elif move.op == "free":
                resident.discard(move.node)
        yield Choice(frozenset(resident & set(self.model.savable)), NEVER)

    # ---- improving ----

    def _shrink(self) -> None:
        """Reduce the peak until it fits."""
        moved = True
        while moved and self.best is None and self.left > 0:
            moved, base = False, self.smallest
            peak = self._replay(base).peak
            for v in sorted(self.model.savable, key=lambda v: -self.model.nodes[v].size):
                if self.left <= 0 or self.best is not None:
                    return
                self._try(Choice(self.smallest.saved ^ {v}, self.smallest.plain))
            moved = self._replay(self.smallest).peak < peak

    def _grow(self) -> None:
        """Save more, leave more plain, or exchange values, while that reduces work and fits."""
        nodes, moved = self.model.nodes, True
        while moved and self.left > 0:
            moved = False
            recomputed = set(self._replay(self.best).recomputed)
            savable = recomputed & set(self.model.savable)
            for v in sorted(savable, key=lambda v: (-nodes[v].cost / max(1, nodes[v].size), v)):
                moved |= self.left > 0 and self._try(Choice(self.best.saved | {v}, self.best.plain))
            last = min(self.best.plain, self.model.equations)
            for cut in [c for c in self._replay(self.best).cuts if c < last][-4:]:
                moved |= self.left > 0 and self._try(Choice(self.best.saved, cut))
            if not moved:
                moved = self._exchange()

    def _exchange(self) -> bool:
        """Drop one saved value for another of at most its size."""
        nodes, found = self.model.nodes, self._replay(self.best)
        candidates = sorted(set(found.recomputed) & set(self.model.savable), key=lambda v: (-nodes[v].cost, v))[:24]
        for u in sorted(self.best.saved & set(found.kept), key=lambda v: (nodes[v].cost, v))[:24]:
            for v in candidates:
                if self.left <= 0:
                    return False
                if self._try(Choice((self.best.saved - {u}) | {v}, self.best.plain)):
                    return True
        return False
