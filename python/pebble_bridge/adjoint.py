"""Checkpointing for time-stepping adjoint codes: streams of actions, without a graph.

>>> from pebble_bridge import adjoint
>>> for action in adjoint.revolve(steps=2, snapshots=1):
...     print(action)
Forward(0, 1, true, false, RAM)
Forward(1, 2, false, true, WORK)
EndForward()
Reverse(2, 1)
Move(0, RAM, WORK)
Forward(0, 1, false, true, WORK)
Reverse(1, 0)
EndReverse()
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from . import _arrays
from ._library import UNLIMITED, lib
from ._session import Session
from .errors import InvalidArgument
from .results import whole

__all__ = ["Action", "Level", "RevolveCost", "Stream", "multilevel", "online", "revolve", "revolve_cost"]

KINDS = tuple(lib.pb_action_label(k).decode() for k in range(6))
STORAGES = tuple(lib.pb_storage_label(k).decode() for k in range(10))
ROW, BATCH = 7, 256


class Action(NamedTuple):
    """One action. Step i computes state i + 1 from state i.

    Attributes
    ----------
    kind : str
        "Forward", "Reverse", "Copy", "Move", "EndForward" or "EndReverse".
    n0, n1 : int
        Forward runs steps n0 .. n1 - 1; Reverse runs their adjoints in reverse order; Copy and Move load state n0.
    slot : int
        The slot of the storage that is written or read.
    write_restart, write_reverse : bool
        Forward stores state n0 first; Forward records what the adjoints of its steps need.
    source, target : str
        The storages: "NONE", "WORK", "RAM", "DISK", "DISK2" and so on.
    """

    kind: str
    n0: int
    n1: int
    slot: int
    write_restart: bool
    write_reverse: bool
    source: str
    target: str

    def __str__(self) -> str:
        def word(flag: bool) -> str:
            return "true" if flag else "false"

        if self.kind == "Forward":
            written = f"{word(self.write_restart)}, {word(self.write_reverse)}"
            return f"Forward({self.n0}, {self.n1}, {written}, {self.target})"
        if self.kind == "Reverse":
            return f"Reverse({self.n1}, {self.n0})"
        if self.kind in ("Copy", "Move"):
            return f"{self.kind}({self.n0}, {self.source}, {self.target})"
        return f"{self.kind}()"


def _actions(rows: Sequence[int], count: int) -> list[Action]:
    found = []
    for k in range(count):
        kind, n0, n1, slot, flags, source, target = (int(x) for x in rows[k * ROW : (k + 1) * ROW])
        found.append(
            Action(KINDS[kind], n0, n1, slot, bool(flags & 1), bool(flags & 2), STORAGES[source], STORAGES[target])
        )
    return found


class Stream:
    """A sequence of actions; iterate over it, or take batches."""

    def __init__(self, session: Session, handle: int, open_end: bool = False, mixed: bool = False) -> None:
        self._session, self._handle = session, handle
        self._open, self._mixed = open_end, mixed

    @property
    def cost(self) -> int:
        """The cost of all actions of a multi-level or mixed stream (after `end`, if that is called); 0 for others."""
        return lib.pb_stream_cost(self._handle)

    def take(self, count: int) -> list[Action]:
        """Up to `count` more actions; fewer only at the end.

        An online stream returns nothing before `end`.
        """
        rows = _arrays.empty(count * ROW, 8)
        return _actions(rows, lib.pb_stream_actions(self._handle, count, _arrays.pointer(rows, 8)))

    def step(self, count: int = 1) -> list[Action]:
        """For an online stream: the actions of `count` more forward steps."""
        if not self._open:
            raise InvalidArgument("step() needs an online stream before its end(); create one with adjoint.online()")
        rows = _arrays.empty(count * ROW, 8)
        return _actions(rows, lib.pb_stream_online_steps(self._handle, count, _arrays.pointer(rows, 8)))

    def end(self) -> Stream:
        """For an online stream: there are no more steps. The stream then yields the backward pass."""
        if not self._open:
            raise InvalidArgument("end() may be called once, and only on a stream of adjoint.online(); iterate instead")
        self._open = False
        if self._mixed:
            self._session.do("pb_session_mixed_end", self._handle)
        else:
            lib.pb_stream_online_end(self._handle)
        return self

    def __iter__(self) -> Iterator[Action]:
        if self._open:
            raise InvalidArgument("an online stream yields the backward pass after end(); call end() first")
        while batch := self.take(BATCH):
            yield from batch


@dataclass(frozen=True)
class RevolveCost:
    """The cost of binomial checkpointing, by closed form.

    Attributes
    ----------
    forward_steps : int
        All forward steps: the minimum.
    writes, reads, actions : int
        Snapshots written, snapshots read, all actions.
    repetitions : int
        The maximum number of times that a step is run without being recorded.
    """

    forward_steps: int
    writes: int
    reads: int
    actions: int
    repetitions: int


def revolve(steps: int, snapshots: int) -> Stream:
    """Binomial checkpointing: the fewest forward steps for a known number of steps.

    Examples
    --------
    >>> from pebble_bridge import adjoint
    >>> sum(a.n1 - a.n0 for a in adjoint.revolve(100, 10) if a.kind == "Forward")
    322
    >>> adjoint.revolve_cost(100, 10).forward_steps
    322
    """
    session = Session()
    return Stream(session, session.make("pb_session_revolve", _count(steps), _count(snapshots)))


def revolve_cost(steps: int, snapshots: int) -> RevolveCost:
    """The cost of `revolve`, without running it."""
    counts = json.loads(Session().write("pb_session_revolve_count", _count(steps), _count(snapshots)))
    return RevolveCost(**{key: whole(value) for key, value in counts.items()})


class Level(NamedTuple):
    """One storage level: its number of states, and the cost of writing and reading one."""

    slots: int
    write_cost: int = 0
    read_cost: int = 0


def multilevel(
    steps: int, levels: Sequence[Level | tuple[int, ...]], *, forward_cost: int = 1, reverse_cost: int = 1
) -> Stream:
    """A schedule of minimum cost over several storage levels, cheapest first: RAM, disk and so on.

    Examples
    --------
    >>> from pebble_bridge import adjoint
    >>> adjoint.multilevel(10, [(2,), (5, 2, 2)]).cost
    40
    """
    session = Session()
    for level in levels:
        session.do("pb_session_add_level", *(_count(number) for number in Level(*level)))
    costs = _count(forward_cost), _count(reverse_cost)
    return Stream(session, session.make_long("pb_session_multilevel", _count(steps), *costs))


def online(snapshots: int) -> Stream:
    """Checkpointing for a number of steps that is not known before the last one.

    Examples
    --------
    >>> from pebble_bridge import adjoint
    >>> stream = adjoint.online(3)
    >>> forward = stream.step(10)
    >>> back = list(stream.end())
    >>> len(forward), back[0].kind, back[-1].kind
    (10, 'EndForward', 'EndReverse')
    """
    session = Session()
    return Stream(session, session.make("pb_session_online", _count(snapshots, 4)), open_end=True)


class MixedLevel(NamedTuple):
    """One storage level for states and tapes: the sum of their sizes (None: no limit), and costs of transfers."""

    size: int | None
    state_write: int = 0
    state_read: int = 0
    tape_write: int = 0
    tape_read: int = 0


def mixed(
    steps: int | None,
    levels: Sequence[MixedLevel | tuple[int | None, ...]],
    *,
    state_size: int = 1,
    tape_size: int = 1,
    forward_cost: int = 1,
    reverse_cost: int = 0,
) -> Stream:
    """A schedule of minimum cost that stores states and tapes, of different sizes, in up to three levels.

    A tape (what reversing a step needs) that was stored needs no forward step later; a state allows to run any number
    of steps again. Without `steps` the stream is for a number of steps that is not known in advance, as that of
    `online`.

    Examples
    --------
    >>> from pebble_bridge import adjoint
    >>> adjoint.mixed(100, [(10,)]).cost, adjoint.revolve_cost(100, 10).forward_steps
    (237, 322)
    >>> adjoint.mixed(100, [(10,)], tape_size=4).cost
    288
    """
    session = Session()
    for level in levels:
        size, *costs = MixedLevel(*level)
        numbers = _arrays.numbers(costs, 8, "costs")
        session.do(
            "pb_session_add_mixed_level", UNLIMITED if size is None else _count(size), _arrays.pointer(numbers, 8)
        )
    numbers = _arrays.numbers([state_size, tape_size, forward_cost, reverse_cost], 8, "sizes and costs")
    length = UNLIMITED if steps is None else _count(steps)
    handle = session.make_long("pb_session_mixed", length, _arrays.pointer(numbers, 8))
    return Stream(session, handle, open_end=steps is None, mixed=True)


def _count(value: int, width: int = 8) -> int:
    return int(_arrays.numbers([value], width, "a count")[0])
