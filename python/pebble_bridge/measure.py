"""Measures this computer as a machine, by the kernels of torch.

    python -m pebble_bridge.measure -o here.json [--device cuda] [--types float32,bfloat16] [--quick]
    python -m pebble_bridge.measure --rescale here.json -o now.json

The file prices any captured step: ``fit(..., machine="here.json")``, ``graph.timed("here.json")``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .errors import PebbleError
from .machines import Machine


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m pebble_bridge.measure", description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", required=True, help="the machine file to write")
    parser.add_argument("--name", default="here", help="the name of the machine")
    parser.add_argument("--device", help="cpu or cuda (default: cuda if there is one)")
    parser.add_argument("--types", help="types of numbers (default: float32, on cuda also float16 and bfloat16)")
    parser.add_argument("--rounds", type=int, default=3, help="how often everything is timed (3)")
    parser.add_argument("--quick", action="store_true", help="a few sizes, once: some seconds")
    parser.add_argument("--rescale", metavar="FILE", help="times the reference of FILE again, and corrects its times")
    options = parser.parse_args(arguments)
    try:
        import torch

        from .torch import kernels
    except ImportError as error:
        print(f"measure: {error}; install torch, or use `pebble machine measure`", file=sys.stderr)
        return 1
    kernels.pin_allocator()
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    types = options.types or ("float32" if device == "cpu" else "float32,float16,bfloat16")

    def progress(done: int, total: int) -> None:
        if sys.stderr.isatty():
            print(f"\rmeasuring {done} of {total}", end="" if done < total else "\n", file=sys.stderr)

    try:
        if options.rescale:
            machine = kernels.rescaled(Machine(options.rescale))
        else:
            machine = kernels.measure_machine(
                options.name,
                device=device,
                types=tuple(types.split(",")),
                rounds=options.rounds,
                quick=options.quick,
                progress=progress,
            )
        machine.write(options.output)
    except PebbleError as error:
        print(f"measure: {error}", file=sys.stderr)
        return 1
    wide = max((len(row["op"]) for row in machine.fitted), default=0)
    for row in machine.fitted:
        error = "" if row["error"] is None else f"  {100 * row['error']:5.1f} % off in cross-validation"
        print(f"{row['op']:{wide}}  {row['dtype'] or '':10}{row['samples']:4} sizes{error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
