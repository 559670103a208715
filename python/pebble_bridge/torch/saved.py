"""What is known about planned steps, in memory and in files: costs and memory of kernels, and the plan."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import warnings
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch

from .program import Program
from .step import Options

FORMAT = "pebble-torch-plans/1"
NUMBERS = ("work", "costs", "workspaces", "extra", "loose")


@dataclass
class Known:
    """A planned step: what other shapes can learn from it, and its plan.

    Attributes
    ----------
    program : str
        Equal for steps with the same operations in the same order (`digest`).
    graph : str
        Hash of the graph with counted costs: equal for steps of equal shapes, in every process.
    plain_peak, order_peak, peak : int
        The measured peak without a plan (0 if it was not measured), the planned one in program order, and the measured
        one of the plan.
    work, costs, workspaces : array
        For each operation.
    extra, loose : array
        For each value: the bytes that its kernel keeps in addition to those of the captured one, and whether it is copied.
    measured : bool
        Costs were measured, not estimated from other shapes.
    final : bool
        The planner had its full time for the plan.
    checked : bool
        The plan has run in this process.
    """

    program: str
    graph: str
    options: str
    budget: int
    plain_peak: int
    order_peak: int
    peak: int
    work: array
    costs: array
    workspaces: array
    extra: array
    loose: array
    schedule: bytes
    measured: bool
    final: bool
    checked: bool = False

    @property
    def size(self) -> int:
        """How large the shapes are, to compare with other shapes of the same program."""
        return self.order_peak

    @property
    def key(self) -> tuple[str, int]:
        return self.graph, self.budget

    def to_document(self) -> dict[str, Any]:
        document = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "checked"}
        document |= {name: list(document[name]) for name in NUMBERS}
        document["schedule"] = base64.b64encode(self.schedule).decode()
        return document

    @classmethod
    def of_document(cls, document: dict[str, Any]) -> Known:
        numbers = {name: array("q", document[name]) for name in NUMBERS}
        return cls(**{**document, **numbers, "schedule": base64.b64decode(document["schedule"])})


def digest(program: Program) -> str:
    """Equal for programs with the same operations in the same order, on other sizes: then moves of one are moves of the
    other."""
    rows = [
        (
            operation.target,
            operation.main.place,
            operation.random,
            operation.once,
            [(value.place, value.kept) for value in operation.values],
            [value.index for value in operation.reads],
        )
        for operation in program.operations
    ]
    return hashlib.sha256(repr(rows).encode()).hexdigest()


def moves_digest(program: Program, plan: Any) -> str:
    """Equal for the same moves of programs with the same operations."""
    moves = plan.moves
    parts = [digest(program).encode(), *(bytes(column) for column in (moves.op, moves.node, moves.over))]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def options_text(options: Options) -> str:
    """What a plan depends on in addition to its graph and budget."""
    settings = vars(options) | {"machine": options.machine and options.machine.text, "torch": torch.__version__}
    return hashlib.sha256(repr(sorted(settings.items())).encode()).hexdigest()


# -- files -----------------------------------------------------------------------------------------------------------


def write(path: str | os.PathLike, known: Iterable[Known]) -> None:
    """Writes a file of plans; a reader never sees half of it."""
    plans = [one.to_document() for one in known]
    document = {"format": FORMAT, "torch": torch.__version__, "sha256": checksum(plans), "plans": plans}
    path = Path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_text(json.dumps(document))
    part.replace(path)


def read(path: str | os.PathLike) -> list[Known]:
    """The plans of a file; none, and a warning, if it is damaged or not such a file."""
    try:
        document = json.loads(Path(path).read_bytes())
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError("it is not a file of plans")
        if document["sha256"] != checksum(document["plans"]):
            raise ValueError("its content does not have the checksum that it states")
        return [Known.of_document(one) for one in document["plans"]]
    except (OSError, ValueError, TypeError, KeyError, OverflowError) as error:
        warnings.warn(
            f"{path} is not used: {error}; steps are planned as without it. Delete it, or write it again with "
            "pebble_bridge.torch.save",
            stacklevel=3,
        )
        return []


def checksum(plans: Any) -> str:
    return hashlib.sha256(json.dumps(plans, sort_keys=True).encode()).hexdigest()


def read_folder(folder: Path) -> list[Known]:
    """All plans of a cache folder."""
    return [known for path in sorted(folder.glob("*.json")) for known in read(path)]


def write_in_folder(folder: Path, known: Known) -> None:
    """Writes a plan into a cache folder, in place of an older one for the same graph, options and budget."""
    name = hashlib.sha256(f"{known.graph} {known.options} {known.budget}".encode()).hexdigest()[:32]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write(folder / f"{name}.json", [known])
    except OSError as error:
        warnings.warn(f"the plan was not written to the cache: {error}", stacklevel=3)
