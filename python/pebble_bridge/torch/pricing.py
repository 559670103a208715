"""The graph of a step, whose nodes a machine prices by the variants of their kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pebble_bridge as pb

from .work import Work


class StepGraph(pb.Graph):
    """A graph with the work of each computed node as a variant of its kind; see variants.py."""

    def __init__(self, variants: Mapping[int, Work], **fields: Any) -> None:
        super().__init__(**fields)
        self._variants, self._fields = variants, fields

    def timed(self, machine: Any = None) -> pb.Graph:
        """As `Graph.timed`; variants that the machine's file has a model of are priced by it."""
        if machine is None:
            return super().timed()
        machine = machine if isinstance(machine, pb.Machine) else pb.Machine(machine)
        known = {(model["op"], model.get("dtype")) for model in machine.processors[0].get("models", ())}
        nodes = [node for node, work in self._variants.items() if (work.op, work.dtype) in known]
        if not nodes:
            return super().timed(machine)
        works = [self._variants[node] for node in nodes]
        alone = pb.Graph(
            cost=[1] * len(nodes),
            size=[0] * len(nodes),
            edges=[],
            flops=[work.flops for work in works],
            bytes=[work.bytes for work in works],
            op=[work.op for work in works],
            dtype=[work.dtype for work in works],
        ).timed(machine)
        times = {node: alone.times[place] for place, node in enumerate(nodes)}
        graph = pb.Graph(**self._fields, times=times).timed(machine)
        graph.time_report = joined(alone.time_report or {}, graph.time_report or {}, len(nodes))
        return graph


def joined(variants: Mapping[str, Any], others: Mapping[str, Any], count: int) -> dict[str, Any]:
    """One report of the `count` nodes that were priced as variants and of all others."""
    rows = sorted([*variants["rows"], *others["rows"]], key=lambda row: -int(row["time"]))
    outside = variants["outside"] + others["outside"]
    return {**others, "rows": rows, "outside": outside, "kept": others["kept"] - count}
