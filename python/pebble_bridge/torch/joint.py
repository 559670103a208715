"""Which plan each call of a region runs, so that the whole step stays within the budget.

A step consists of regions, which run plans, and of eager code in between. A *moment* is one interval of a measured step:
what eager code holds then, which calls have values saved for the backward pass, and which call runs. Plans are chosen
for all calls together: the least extra time such that every moment is within the budget.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

FORWARD, BACKWARD, EAGER = "forward", "backward", "eager"


class Figures(NamedTuple):
    """The memory and the cost of a plan of a region, in bytes and nanoseconds (or operations)."""

    saved: int  # from the end of the forward pass to the begin of the backward pass
    forward: int  # the peak of the forward pass, in addition to what there is at its begin
    backward: int  # the same of the backward pass; what was saved exists at its begin
    extra: int  # recomputation


@dataclass
class Moment:
    """An interval of a step, without what the plans of regions hold."""

    kind: str
    base: int  # bytes of everything else
    live: set[Hashable]  # calls whose saved values exist
    call: Hashable | None = None  # that runs; in eager code the last one that has run
    slack: int = 0  # bytes that the plan of this call did not foresee


@dataclass
class Path:
    """The moments of one measured step, and its calls in order."""

    calls: list[Hashable]
    moments: list[Moment]
    growth: dict[Hashable, int]  # what eager code holds for the backward pass because of this call and until the next one

    def covers(self, calls: Sequence[Hashable]) -> bool:
        """Whether these are calls of this path, in the same order; leaving calls out needs no more memory."""
        mine = iter(self.calls)
        return all(call in mine for call in calls)


def path_of(segments: Iterable[tuple[str, int, int]], calls: list[Hashable], figures: dict[Hashable, Figures]) -> Path:
    """From a step that was measured with plans of known `figures`.

    A segment is (mark, bytes at its begin, largest number of bytes in it); marks are "f3" and "e3" at the begin and the
    end of the forward pass of call 3, "b3" and "d3" in the backward pass.
    """
    moments: list[Moment] = []
    live: dict[Hashable, None] = {}
    starts: list[tuple[Hashable, int]] = []
    last: Hashable | None = None
    backward = False
    for mark, start, most in segments:
        step, call = mark[:1], calls[int(mark[1:])] if mark[1:] else None
        last = call if call is not None else last
        held = sum(figures[one].saved for one in live)
        if step == "f":
            known = figures[call]
            moments.append(Moment(FORWARD, start - held, set(live), call, max(0, most - start - known.forward)))
            starts.append((call, start - held))
            continue
        if step == "b":
            known, backward = figures[call], True
            live.pop(call, None)
            moments.append(Moment(BACKWARD, start - held, set(live), call, max(0, most - start - known.backward)))
            continue
        if step == "e":
            live[call] = None
            held += figures[call].saved
        moments.append(Moment(EAGER, most - held, set(live), last))
        if not backward:
            end = most - held
    ends = [base for _, base in starts[1:]] + ([end] if starts else [])
    growth = {call: max(0, after - base) for (call, base), after in zip(starts, ends, strict=True)}
    return Path(list(calls), moments, growth)


def together(paths: Sequence[Path]) -> list[Moment]:
    """The moments of all paths, each as if the calls of the other paths had run too: a later step may take any subset.

    A call that a path lacks is added where the one before it, in a path that has it, holds its values.
    """
    moments: list[Moment] = []
    for path in paths:
        own = set(path.calls)
        added: dict[Hashable, tuple[Hashable | None, int]] = {}
        for other in paths:
            before = None
            for call in other.calls:
                if call in own:
                    before = call
                elif call not in added:
                    added[call] = (before, other.growth[call])
        for moment in path.moments:
            more = {call: size for call, (before, size) in added.items() if before is None or before in moment.live}
            base = moment.base + sum(more.values())
            moments.append(Moment(moment.kind, base, moment.live | set(more), moment.call, moment.slack))
    return moments


class Problem:
    """The choice of a plan for each call.

    Parameters
    ----------
    moments : list of Moment
    plans : dict
        For each call the figures of its plans.
    """

    def __init__(self, moments: list[Moment], plans: dict[Hashable, list[Figures]]) -> None:
        self.moments, self.calls, self.plans = moments, list(plans), plans
        place = {call: index for index, call in enumerate(self.calls)}
        count, width = len(self.calls), max((len(known) for known in plans.values()), default=1)
        filled = [known + [known[-1]] * (width - len(known)) for known in plans.values()]  # of equal lengths
        table = torch.tensor(filled, dtype=torch.int64).reshape(count, width, 4)
        self.saved, self.forward, self.backward, self.extra = table.unbind(2)
        self.base = torch.tensor([moment.base + moment.slack for moment in moments], dtype=torch.int64)
        shape = (len(moments), count)
        self.live, self.in_forward, self.in_backward = (torch.zeros(shape, dtype=torch.int64) for _ in range(3))
        for row, moment in enumerate(moments):
            for call in moment.live:
                self.live[row, place[call]] = 1
            if moment.kind != EAGER:
                (self.in_forward if moment.kind == FORWARD else self.in_backward)[row, place[moment.call]] = 1

    def use(self, choice: torch.Tensor) -> torch.Tensor:
        """Bytes at each moment."""
        at = choice[:, None]
        saved, forward, backward = (table.gather(1, at)[:, 0] for table in (self.saved, self.forward, self.backward))
        return (
            self.base + _product(self.live, saved) + _product(self.in_forward, forward)
            + _product(self.in_backward, saved + backward)
        )  # fmt: skip

    def peak(self, choice: torch.Tensor) -> int:
        return int(self.use(choice).max()) if len(self.moments) else 0

    def peak_of_fastest(self) -> int:
        return self.peak(self.starts()[0])

    def cost(self, choice: torch.Tensor) -> int:
        return int(self.extra.gather(1, choice[:, None]).sum())

    def solve(self, cap: int) -> torch.Tensor | None:
        """A choice within `cap`, the cheapest of those that two searches find; None if they find none."""
        found = [self.improve(choice, cap) for start in self.starts() if (choice := self.reduce(start, cap)) is not None]
        return min(found, key=self.cost, default=None)

    def starts(self) -> list[torch.Tensor]:
        """The cheapest plans, and those that save least."""
        cheapest = self.extra.argmin(1) if self.calls else torch.zeros(0, dtype=torch.int64)
        return [cheapest, self.frugal()]

    def frugal(self) -> torch.Tensor:
        return (self.saved * 4 + self.backward + self.forward).argmin(1) if self.calls else self.saved.new_zeros(0)

    def changes(self, choice: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """For every other plan of every call: the bytes that it adds at each moment, and its additional cost."""
        now = [table.gather(1, choice[:, None]) for table in (self.saved, self.forward, self.backward, self.extra)]
        saved, forward, backward, extra = (
            table - own for table, own in zip((self.saved, self.forward, self.backward, self.extra), now, strict=True)
        )
        bytes_at = (
            self.live.T[:, None] * saved[:, :, None] + self.in_forward.T[:, None] * forward[:, :, None]
            + self.in_backward.T[:, None] * (saved + backward)[:, :, None]
        )  # fmt: skip
        return bytes_at, extra

    def reduce(self, choice: torch.Tensor, cap: int) -> torch.Tensor | None:
        """Changes one plan after the other, each time the one that removes most of the excess for its cost."""
        choice = choice.clone()
        while True:
            use = self.use(choice)
            excess = (use - cap).clamp(min=0).sum()
            if excess == 0:
                return choice
            if not self.calls:
                return None
            bytes_at, extra = self.changes(choice)
            gain = (excess - (use + bytes_at - cap).clamp(min=0).sum(2)).double()
            worth = torch.where(gain > 0, gain / extra.clamp(min=1), torch.zeros_like(gain))
            best = int(worth.argmax())
            if worth.flatten()[best] <= 0:
                return None
            choice[best // worth.shape[1]] = best % worth.shape[1]

    def improve(self, choice: torch.Tensor, cap: int) -> torch.Tensor:
        """Takes cheaper plans while the step stays within `cap`."""
        while self.calls:
            bytes_at, extra = self.changes(choice)
            fits = ((self.use(choice) + bytes_at) <= cap).all(2)
            gain = torch.where(fits, -extra, torch.zeros_like(extra))
            best = int(gain.argmax())
            if gain.flatten()[best] <= 0:
                break
            choice[best // gain.shape[1]] = best % gain.shape[1]
        return choice

    def inner(self, choice: torch.Tensor, moment: Moment) -> int:
        """Bytes that the running call itself needs at a moment."""
        place = self.calls.index(moment.call)
        figures = self.plans[moment.call][int(choice[place])]
        return figures.forward if moment.kind == FORWARD else figures.saved + figures.backward


def _product(table: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Of a matrix and a vector of integers, exactly."""
    return (table * values).sum(1)


def as_dict(problem: Problem, choice: torch.Tensor) -> dict[Hashable, Any]:
    return dict(zip(problem.calls, choice.tolist(), strict=True))
