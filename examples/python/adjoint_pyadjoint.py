"""A gradient by pyadjoint whose checkpoints follow Pebble-Bridge.

pip install pebble_bridge checkpoint_schedules pyadjoint-ad, then: python adjoint_pyadjoint.py [STEPS [SNAPSHOTS]]

A damped pendulum is integrated by pyadjoint's overloaded floats, once with everything on the tape and once with a few
snapshots; both gradients must be equal to the last bit.
"""

from __future__ import annotations

import sys

from pebble_bridge.schedules import Revolve
from pyadjoint import AdjFloat, Control, ReducedFunctional, Tape, continue_annotation, set_working_tape, stop_annotating
from pyadjoint.adjfloat import exp


def gradient(steps: int, start: float, schedule: object | None) -> tuple[float, float]:
    """The functional and its derivative with respect to the start."""
    tape = Tape()
    with set_working_tape(tape):
        continue_annotation()
        if schedule is not None:
            tape.enable_checkpointing(schedule)
        x0 = AdjFloat(start)
        x, total = x0, AdjFloat(0.0)
        for _ in tape.timestepper(iter(range(steps))):
            x = x + 0.01 * (exp(-x * x) - 0.3 * x)
            total = total + x * x
        reduced = ReducedFunctional(total, Control(x0))
        with stop_annotating():
            derivative = reduced.derivative()
    return float(total), float(derivative)


def main(steps: int = 200, snapshots: int = 6) -> None:
    plain = gradient(steps, 1.5, None)
    schedule = Revolve(steps, snapshots)
    planned = gradient(steps, 1.5, schedule)
    print(f"{steps} steps, {snapshots} snapshots: {schedule.cost.forward_steps} forward steps, the least possible")
    print(f"dJ/dx0 = {planned[1]:.15g}")
    if plain != planned:
        raise SystemExit(f"The gradients differ: {plain} without checkpoints, {planned} with them.")
    print("equal to the gradient without checkpoints, bit by bit")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
