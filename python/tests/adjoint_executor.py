"""A small time-stepper with its adjoint, run by any schedule of actions: the judge of the adjoint tests.

It trusts nothing: a state that is read must be there, a slot that is written must be free, storage limits hold at every
moment, and a step that is reversed must be on the tape.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

SIZE = 5
_MIX = np.random.default_rng(7).normal(size=(SIZE, SIZE)) / 2


def start() -> np.ndarray:
    return np.linspace(-1.0, 1.0, SIZE)


def step(i: int, x: np.ndarray) -> np.ndarray:
    return np.sin(_MIX @ x + 0.1 * i) + 0.5 * x


def step_adjoint(i: int, x: np.ndarray, bar: np.ndarray) -> np.ndarray:
    return _MIX.T @ (np.cos(_MIX @ x + 0.1 * i) * bar) + 0.5 * bar


def store_all_gradient(n: int) -> np.ndarray:
    states = [start()]
    for i in range(n):
        states.append(step(i, states[-1]))
    bar = states[-1].copy()  # of half the squared norm of the final state
    for i in reversed(range(n)):
        bar = step_adjoint(i, states[i], bar)
    return bar


@dataclass
class Run:
    """What a run cost. Storage is by name; `most` has the largest number of states at once."""

    gradient: np.ndarray | None = None
    forward_steps: int = 0
    steps_by_number: dict[int, int] = field(default_factory=dict)
    writes: dict[str, int] = field(default_factory=dict)
    reads: dict[str, int] = field(default_factory=dict)
    most: dict[str, int] = field(default_factory=dict)

    def cost(self, uf: int, ub: int, wd: int, rd: int, n: int) -> int:
        return self.forward_steps * uf + n * ub + self.writes.get("DISK", 0) * wd + self.reads.get("DISK", 0) * rd


def execute(
    schedule,
    n: int,
    limits: dict[str, int] | None = None,
    finalize: bool = False,
    asked_ahead: bool = False,
    tidy: bool = True,
    sizes: tuple[int, int] = (1, 1),
) -> Run:
    """Run `schedule` for `n` steps.

    limits : most states at once in each storage, or with `sizes` of a state and a tape the sum of their sizes.
    finalize : call finalize() of an online schedule after the last step; with `asked_ahead`, after requesting one more.
    tidy : nothing may be left in storage at the end (some schedules of the other package leave states on disk).
    """
    run = Run(steps_by_number=dict.fromkeys(range(n), 0))
    kept: dict[tuple[str, int], np.ndarray] = {}
    taped_away: dict[tuple[str, int], np.ndarray] = {}  # tapes that a schedule keeps outside the working memory
    work: tuple[int, np.ndarray] | None = (0, start())
    tape: dict[int, np.ndarray] = {}
    bar: np.ndarray | None = None
    reversed_to, ended, finalized = n, False, not finalize

    def put(storage: str, i: int, what: dict, x: np.ndarray) -> None:
        assert storage in ("RAM", "DISK"), storage
        assert (storage, i) not in kept and (storage, i) not in taped_away, f"state {i} is in {storage} already"
        what[storage, i] = x.copy()
        run.writes[storage] = run.writes.get(storage, 0) + 1
        count = sum(size for of, size in zip((kept, taped_away), sizes, strict=True) for s, _ in of if s == storage)
        run.most[storage] = max(run.most.get(storage, 0), count)
        assert limits is None or count <= limits.get(storage, 0), f"{count} states in {storage}"

    for action in schedule:
        kind = type(action).__name__
        if kind == "Forward":
            if not finalized and action.n0 == n:
                assert asked_ahead
                schedule.finalize(n)
                finalized = True
                continue
            assert work is not None and work[0] == action.n0 and action.n1 <= n
            storage, x = action.storage.name, work[1]
            if action.write_ics:
                put(storage, action.n0, kept, x)
            for i in range(action.n0, action.n1):
                if action.write_adj_deps and storage == "WORK":
                    tape[i] = x
                elif action.write_adj_deps:
                    put(storage, i, taped_away, x)
                x = step(i, x)
                run.forward_steps += 1
                run.steps_by_number[i] += not action.write_adj_deps
            work = (action.n1, x)
            assert len(tape) <= 1, "one tape in addition to the storage"
            if not finalized and action.n1 == n and not asked_ahead:
                schedule.finalize(n)
                finalized = True
        elif kind == "EndForward":
            assert work is not None and work[0] == n and not ended
            bar, ended = work[1].copy(), True
        elif kind == "Reverse":
            assert ended and action.n1 == reversed_to
            for i in reversed(range(action.n0, action.n1)):
                bar = step_adjoint(i, tape.pop(i), bar)
            reversed_to, work = action.n0, None
        elif kind in ("Copy", "Move"):
            source, target = action.from_storage.name, action.to_storage.name
            where = taped_away if (source, action.n) in taped_away else kept
            x = work[1] if source == "WORK" and work[0] == action.n else where[source, action.n]
            if kind == "Move" and source != "WORK":
                del where[source, action.n]
            if target == "NONE":
                continue
            run.reads[source] = run.reads.get(source, 0) + 1
            if target != "WORK":
                put(target, action.n, kept, x)
            elif where is taped_away:
                tape[action.n] = x
            else:
                work = (action.n, x)
        else:
            assert kind == "EndReverse" and reversed_to == 0
            break
    assert not tape
    assert not tidy or (not kept and not taped_away), "something is left behind"
    run.gradient = bar
    return run
