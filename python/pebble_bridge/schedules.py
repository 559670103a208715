"""Checkpointing schedules for programs that use the package checkpoint_schedules: pyadjoint, Firedrake and others.

:class:`Revolve`, :class:`MultiLevel`, :class:`Mixed`, :class:`Online`, :class:`OnlineMixed` and :class:`PlanSchedule`
are ``checkpoint_schedules.CheckpointSchedule`` objects::

    from pebble_bridge.schedules import Revolve
    tape.enable_checkpointing(Revolve(1000, 20))

The same actions as plain tuples, without that package, come from :mod:`pebble_bridge.adjoint` and :func:`plan_actions`.

Step i computes state i+1 from state i. The working state starts as state 0. Neither it nor the tape of one step counts
as a snapshot. docs/adjoint.md has the conventions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from . import adjoint
from .adjoint import Action
from .errors import InvalidArgument
from .graph import Graph
from .results import Plan

try:
    import checkpoint_schedules as _cs
except ImportError:  # creating a schedule then raises an error
    _cs = None

__all__ = ["Mixed", "MultiLevel", "Online", "OnlineMixed", "PlanSchedule", "Revolve", "chain_graph", "plan_actions"]

_TEXT = re.compile(r"(\w+)\(([^)]*)\)")
NO_SLOT = -1


def plan_actions(plan: Plan) -> Iterator[Action]:
    """A plan of an adjoint chain as actions of adjoint codes.

    The graph is an adjoint chain (`pb.generate("adjoint-chain", …)` or :func:`chain_graph`); otherwise
    `InvalidArgument` is raised. Costs and sizes may differ from step to step. Slots are unknown: -1.
    """
    for line in plan.require().export("actions").splitlines():
        kind, arguments = _TEXT.fullmatch(line.strip()).groups()
        a = [word.strip() for word in arguments.split(",")]
        if kind == "Forward":
            yield Action(kind, int(a[0]), int(a[1]), NO_SLOT, a[2] == "true", a[3] == "true", "NONE", a[4])
        elif kind == "Reverse":
            yield Action(kind, int(a[1]), int(a[0]), NO_SLOT, False, False, "NONE", "NONE")
        elif kind in ("Copy", "Move"):
            yield Action(kind, int(a[0]), int(a[0]), NO_SLOT, False, False, a[1], a[2])
        else:
            yield Action(kind, 0, 0, NO_SLOT, False, False, "NONE", "NONE")


def chain_graph(
    step_costs: Sequence[int],
    *,
    state_sizes: int | Sequence[int] = 1,
    reverse_costs: int | Sequence[int] = 1,
    tape_sizes: int | Sequence[int] = 0,
    size_unit: str = "pebble",
    cost_unit: str = "step",
    name: str = "steps",
) -> Graph:
    """The graph of steps of different costs and their adjoints, for `pb.plan` and :class:`PlanSchedule`.

    Step i overwrites the state before it; gradient i reads state i and recomputes its step onto the tape, so it
    costs ``step_costs[i] + reverse_costs[i]``. The adjoint state is not counted. With equal states of size 1 a cap of
    s + 1 allows s snapshots and the working state.

    Parameters
    ----------
    step_costs : sequence of int
        The cost of each step.
    state_sizes : int or sequence of int
        The sizes of states 0 … n-1, the inputs of the steps.
    reverse_costs, tape_sizes : int or sequence of int
        For each step: the cost of the adjoint step alone, and the size of the tape, which exists only while the step is
        reversed.
    """
    n = len(step_costs)
    if n == 0:
        raise InvalidArgument("A chain needs at least one step: pass one or more step_costs.")
    sizes = _each("state_sizes", state_sizes, n)
    backs = _each("reverse_costs", reverse_costs, n)
    tapes = _each("tape_sizes", tape_sizes, n)
    steps = _each("step_costs", step_costs, n)
    gradient = {i: 2 * n - 1 - i for i in range(n)}  # nodes: states 0 … n-1, then gradients n-1 … 0
    edges = [(i, i + 1) for i in range(n - 1)]
    for i in range(n):
        edges.append((i, gradient[i]))
        if i + 1 < n:
            edges.append((gradient[i + 1], gradient[i]))
    back = range(n - 1, -1, -1)
    return Graph(
        cost=[0, *steps[:-1], *(steps[i] + backs[i] for i in back)],
        size=[*sizes, *([0] * n)],
        workspace=[0] * n + [tapes[i] for i in back],
        edges=edges,
        names=[f"x{i}" for i in range(n)] + [f"g{i}" for i in back],
        given=[0],
        inplace={i + 1: [i] for i in range(1, n - 1)},
        targets=[gradient[0]],
        order=range(1, 2 * n),
        name=name,
        cost_unit=cost_unit,
        size_unit=size_unit,
    )


def _each(what: str, values: int | Sequence[int], n: int) -> list[int]:
    row = [values] * n if isinstance(values, int) else list(values)
    if len(row) != n:
        raise InvalidArgument(f"{what} has {len(row)} entries for {n} steps; give one for each step.")
    return [_whole(what, value, 0) for value in row]


def _whole(what: str, value: Any, minimum: int) -> int:
    if int(value) != value or value < minimum:
        raise InvalidArgument(
            f"{what} must be an integer of at least {minimum}, not {value!r}; multiply costs by a common factor."
        )
    return int(value)


# ---- schedules for users of checkpoint_schedules ----

if _cs is not None:
    _Base = _cs.CheckpointSchedule
else:

    class _Base:  # type: ignore[no-redef]
        def __init__(self, max_n: int | None = None) -> None:
            raise ImportError(
                "This needs the package checkpoint_schedules, which is not installed: pip install "
                "checkpoint_schedules. Without it, use pebble_bridge.adjoint, or plan_actions of this module."
            )


class _Schedule(_Base):
    """Converts :class:`Action` tuples to objects of checkpoint_schedules."""

    def __init__(self, max_n: int | None, storages: Iterable[str]) -> None:
        super().__init__(max_n)
        self._exhausted = False
        self._storages = {"WORK", *storages}
        for storage in self._storages:
            _storage(storage)  # raises before anything runs

    def _actions(self) -> Iterable[Action]:
        raise NotImplementedError

    def _iterator(self) -> Iterator[Any]:
        for action in self._actions():
            yield self._convert(action)

    def _convert(self, a: Action) -> Any:
        if a.kind == "Forward":
            self._n = a.n1
            # a Forward that writes nothing has WORK here, as in checkpoint_schedules' own schedules
            return _cs.Forward(
                a.n0, a.n1, a.write_restart, a.write_reverse, _storage(a.target if a.target != "NONE" else "WORK")
            )
        if a.kind == "Reverse":
            self._r += a.n1 - a.n0
            return _cs.Reverse(a.n1, a.n0, True)
        if a.kind in ("Copy", "Move"):
            if a.target == "WORK":
                self._n = a.n0
            return getattr(_cs, a.kind)(a.n0, _storage(a.source), _storage(a.target))
        if a.kind == "EndReverse":
            self._exhausted = True
        return getattr(_cs, a.kind)()

    @property
    def is_exhausted(self) -> bool:
        """Whether the schedule has concluded. One adjoint calculation is permitted."""
        return self._exhausted

    def uses_storage_type(self, storage_type: Any) -> bool:
        """Whether the schedule may use a storage type."""
        return storage_type.name in self._storages


def _storage(name: str) -> Any:
    if name not in _cs.StorageType.__members__:
        raise InvalidArgument(
            f"checkpoint_schedules has no storage {name}: use at most two levels, RAM and DISK, or use "
            "the actions of pebble_bridge.adjoint.multilevel."
        )
    return _cs.StorageType[name]


class Revolve(_Schedule):
    """Binomial checkpointing: the minimum of forward steps and, among those schedules, the fewest snapshot writes.

    Offline, one adjoint calculation.

    Parameters
    ----------
    max_n : int
        Number of steps, up to 10**15.
    snapshots : int
        States that may be kept at once, including state 0, in addition to the working state and the tape of one step.
    storage : str
        ``"RAM"`` or ``"DISK"``.

    Attributes
    ----------
    cost : adjoint.RevolveCost
        Forward steps, writes and reads, by closed form.
    """

    def __init__(self, max_n: int, snapshots: int, *, storage: str = "RAM") -> None:
        if storage not in ("RAM", "DISK"):
            raise InvalidArgument(f"storage must be RAM or DISK, not {storage!r}.")
        super().__init__(max_n, [storage] if max_n > 1 else [])
        self.cost = adjoint.revolve_cost(max_n, snapshots)
        self._snapshots, self._place = snapshots, storage

    def _actions(self) -> Iterator[Action]:
        for a in adjoint.revolve(self._max_n, self._snapshots):
            if self._place != "RAM":
                a = a._replace(**{end: self._place for end in ("source", "target") if getattr(a, end) == "RAM"})
            yield a


class MultiLevel(_Schedule):
    """Checkpoints in RAM and on disk with minimum cost.

    State 0 starts in the working state and is not stored. Reversing a step recomputes it onto the tape. Offline,
    one adjoint calculation. Planning takes O(max_n**2 * disk) time at most.

    Parameters
    ----------
    max_n : int
        Number of steps.
    ram, disk : int
        States that may be kept in each at once.
    forward_cost, reverse_cost : int
        The cost of a step and of an adjoint step (`uf` and `ub` of HRevolve).
    write_cost, read_cost : int
        The cost of writing and reading a state on disk (`wd` and `rd`); RAM costs nothing.

    Attributes
    ----------
    cost : int
        The cost of the whole schedule, including taped steps and transfers.
    """

    def __init__(
        self,
        max_n: int,
        ram: int,
        disk: int,
        *,
        forward_cost: int = 1,
        reverse_cost: int = 1,
        write_cost: int = 2,
        read_cost: int = 2,
    ) -> None:
        super().__init__(max_n, [name for name, slots in (("RAM", ram), ("DISK", disk)) if slots])
        costs = [
            _whole(what, value, 0)
            for what, value in (
                ("forward_cost", forward_cost),
                ("reverse_cost", reverse_cost),
                ("write_cost", write_cost),
                ("read_cost", read_cost),
            )
        ]
        self._stream = adjoint.multilevel(
            max_n, [(ram, 0, 0), (disk, *costs[2:])], forward_cost=costs[0], reverse_cost=costs[1]
        )
        self.cost = self._stream.cost

    def _actions(self) -> Iterable[Action]:
        return self._stream


class Mixed(_Schedule):
    """States and tapes in RAM and on disk at minimum cost: fewer steps than any schedule that stores only states.

    What a step needs for its reverse (the tape) may have another size than a state. With equal sizes, one level and no
    costs of transfers it runs as few steps as the `MixedCheckpointSchedule` of checkpoint_schedules. Offline, one
    adjoint calculation.

    Parameters
    ----------
    max_n : int
        Number of steps.
    ram, disk : int
        The room in each, in the units of the sizes. The working state, and the tape of the step that is reversed next,
        do not count.
    state_size, tape_size : int
        The sizes of a state and of a tape.
    forward_cost, reverse_cost : int
        The cost of a step and of an adjoint step.
    write_cost, read_cost : int
        The cost of writing and reading a state on disk; RAM costs nothing.
    tape_write_cost, tape_read_cost : int, optional
        The same for tapes (default: by their size, rounded up).

    Attributes
    ----------
    cost : int
        The cost of the whole schedule: the number of forward steps, with the default costs.
    """

    def __init__(
        self,
        max_n: int,
        ram: int,
        disk: int = 0,
        *,
        state_size: int = 1,
        tape_size: int = 1,
        forward_cost: int = 1,
        reverse_cost: int = 0,
        write_cost: int = 0,
        read_cost: int = 0,
        tape_write_cost: int | None = None,
        tape_read_cost: int | None = None,
    ) -> None:
        super().__init__(max_n, _names(ram, disk))
        prices = (write_cost, read_cost, tape_write_cost, tape_read_cost)
        self._stream = _mixed(max_n, ram, disk, (state_size, tape_size), (forward_cost, reverse_cost), prices)
        self.cost = self._stream.cost

    def _actions(self) -> Iterable[Action]:
        return self._stream


def _names(ram: int, disk: int) -> list[str]:
    return [name for name, room in (("RAM", ram), ("DISK", disk)) if room]


def _mixed(
    steps: int | None, ram: int, disk: int, sizes: tuple[int, int], costs: tuple[int, int], prices: tuple[Any, ...]
) -> adjoint.Stream:
    state, tape = (_whole(what, size, 1) for what, size in zip(("state_size", "tape_size"), sizes, strict=True))
    names = ("write_cost", "read_cost", "tape_write_cost", "tape_read_cost")
    scaled = [*prices[:2], *(-(-prices[i] * tape // state) if prices[i + 2] is None else prices[i + 2] for i in (0, 1))]
    checked = [_whole(what, price, 0) for what, price in zip(names, scaled, strict=True)]
    forward, reverse = (
        _whole(what, cost, 0) for what, cost in zip(("forward_cost", "reverse_cost"), costs, strict=True)
    )
    levels = [(_whole("ram", ram, 0),), (_whole("disk", disk, 0), *checked)]
    return adjoint.mixed(steps, levels, state_size=state, tape_size=tape, forward_cost=forward, reverse_cost=reverse)


class PlanSchedule(_Schedule):
    """Any plan of an adjoint chain: steps of different costs, states of different sizes, slow memory.

    Parameters
    ----------
    plan : Plan
        From `pb.plan`, for a graph of :func:`chain_graph` or ``pb.generate("adjoint-chain", …)``. In the ``tiered``
        game, states go to DISK; pyadjoint itself reads them only to the working state.
    """

    def __init__(self, plan: Plan) -> None:
        self._list = list(plan_actions(plan))
        steps = max(a.n1 for a in self._list)
        super().__init__(steps, {s for a in self._list for s in (a.source, a.target) if s not in ("NONE", "WORK")})

    def _actions(self) -> Iterable[Action]:
        return self._list


class Online(_Schedule):
    """Checkpointing for a number of steps that is unknown until the last one: call `finalize(n)` then.

    Every ``Forward`` before that is one step. A state that is replaced by another is reported as
    ``Move(n, RAM, NONE)``, which means deletion in checkpoint_schedules. Programs that cannot delete states during the
    forward pass, such as pyadjoint, can use this schedule only if there are enough snapshots.

    No step is run more than r times in addition to its taped run, where r is the smallest number with
    n + 1 <= C(snapshots + r, r). A program that requests one step more than it runs, such as pyadjoint, gets the
    guarantee of n + 1 steps.

    Parameters
    ----------
    snapshots : int
        States that may be kept at once, including state 0.
    """

    def __init__(self, snapshots: int) -> None:
        super().__init__(None, ["RAM"])
        self._stream = adjoint.online(snapshots)

    def finalize(self, n: int) -> None:
        """There were `n` steps: all requested ones, or all but the last."""
        if self._max_n is None and n < self._n - 1:
            raise RuntimeError(f"Step {self._n - 1} was requested, so pass {self._n - 1} or {self._n} steps, not {n}.")
        super().finalize(n)

    def _iterator(self) -> Iterator[Any]:
        held: dict[tuple[str, int], int] = {}  # storage and slot: state

        def convert(a: Action) -> Iterator[Any]:
            if a.kind == "Forward" and a.write_restart:
                if (a.target, a.slot) in held:
                    yield _cs.Move(held[a.target, a.slot], _storage(a.target), _storage("NONE"))
                held[a.target, a.slot] = a.n0
            elif a.kind == "Move":
                held.pop((a.source, a.slot), None)  # a tape is not in the list
            yield self._convert(a)

        while self._max_n is None:
            yield from convert(self._stream.step()[0])
        # the last requested step may not have been run: then its part of the backward pass is omitted
        n = self._max_n
        for slot in [slot for slot, state in held.items() if state == n]:
            del held[slot]
        for a in self._stream.end():
            if a.kind in ("EndForward", "EndReverse") or a.n0 < n:
                yield from convert(a._replace(n1=min(a.n1, n)) if a.n1 > n else a)


class OnlineMixed(Online):
    """As :class:`Online`, with a backward pass of minimum cost that stores states and tapes in the room that is free.

    While the number of steps is unknown, states are stored as :class:`Online` does. After the last step, the backward
    pass is planned: which states to use, and where tapes and further states are stored in between. Parameters as for
    :class:`Mixed`; `ram` and `disk` together have room for at least one state.

    Attributes
    ----------
    cost : int
        After `finalize`, once the backward pass has begun: its cost.
    """

    def __init__(
        self,
        ram: int,
        disk: int = 0,
        *,
        state_size: int = 1,
        tape_size: int = 1,
        forward_cost: int = 1,
        reverse_cost: int = 0,
        write_cost: int = 0,
        read_cost: int = 0,
        tape_write_cost: int | None = None,
        tape_read_cost: int | None = None,
    ) -> None:
        _Schedule.__init__(self, None, _names(ram, disk))
        prices = (write_cost, read_cost, tape_write_cost, tape_read_cost)
        self._stream = _mixed(None, ram, disk, (state_size, tape_size), (forward_cost, reverse_cost), prices)

    @property
    def cost(self) -> int:
        """The cost of the backward pass; 0 before it."""
        return self._stream.cost
