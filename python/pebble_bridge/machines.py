"""Machines: where a graph runs, and the times that follow."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from . import _arrays
from ._session import Session
from .errors import InvalidArgument

__all__ = ["Machine", "Sample", "machine_text"]

PER_SECOND = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}


class Sample(NamedTuple):
    """One measurement for `Machine.fit`; `dtype` may be None, `time` is in nanoseconds."""

    op: str
    dtype: str | None
    flops: int
    bytes: int
    time: int


class Machine:
    """Memories with caps, processors with rates, and links: a machine turns flops and bytes into time.

    Parameters
    ----------
    source : str, path, bytes or mapping
        A built-in name (`machines` lists them; ``"a100-40*4"`` is four of them), a file, the text of one, or a
        ``pebble-machine/1`` document as a mapping.

    Examples
    --------
    >>> import pebble_bridge as pb
    >>> m = pb.Machine("a100-40")
    >>> m.name, m.time_unit, [memory["name"] for memory in m.memories]
    ('a100-40', 'ns', ['hbm', 'host'])
    """

    def __init__(self, source: str | os.PathLike[str] | bytes | Mapping[str, Any]) -> None:
        text = source.decode() if isinstance(source, bytes) else machine_text(source)
        if text is None:
            raise InvalidArgument("expected the name of a machine, a file or a document; machines() lists the names")
        self.text = Session().write("pb_session_write_machine", _arrays.text(text, "machine")).decode()

    @cached_property
    def document(self) -> dict[str, Any]:
        """The machine as a ``pebble-machine/1`` document."""
        return json.loads(self.text)

    @property
    def name(self) -> str:
        """Its name."""
        return self.document["name"]

    @property
    def time_unit(self) -> str:
        """The unit of times: "ns", "us", "ms", "s", or any other word for an abstract clock."""
        return self.document["time_unit"]

    @property
    def memories(self) -> list[dict[str, Any]]:
        """Its memories; the first one is the default location."""
        return self.document["memories"]

    @property
    def processors(self) -> list[dict[str, Any]]:
        """Its processors; the first one computes in all games but timed ones."""
        return self.document["processors"]

    @property
    def links(self) -> list[dict[str, Any]]:
        """The links between its memories."""
        return self.document.get("links", [])

    def seconds(self, time: int | float) -> float | None:
        """A time of this machine in seconds; None if its clock is abstract."""
        unit = PER_SECOND.get(self.time_unit)
        return None if unit is None else time / unit

    def to_json(self) -> str:
        """The text of its file."""
        return self.text

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write its file."""
        from .graph import write_bytes  # circular import

        write_bytes(path, self.text.encode())

    @classmethod
    def fit(cls, samples: Iterable[Sample], base: Mapping[str, Any]) -> Machine:
        """A machine with models of the operations that were measured.

        Parameters
        ----------
        samples : iterable of Sample
            Measurements on its one processor.
        base : mapping
            The rest of its document: name, memories, the processor without rates, links.

        Returns
        -------
        Machine
            Its attribute `fitted` lists each model with its number of samples and its cross-validated error.
        """
        session = Session()
        by_kind: dict[tuple[str, str | None], list[int]] = {}
        for sample in samples:
            by_kind.setdefault((sample.op, sample.dtype), []).extend(sample[2:])
        for (op, dtype), rows in by_kind.items():
            numbers = _arrays.numbers(rows, 8, "samples")
            kind = None if dtype is None else _arrays.text(dtype, "dtype")
            session.do(
                "pb_session_add_samples", _arrays.text(op, "op"), kind, len(rows) // 3, _arrays.pointer(numbers, 8)
            )
        found = json.loads(session.write("pb_session_fit_machine", json.dumps(dict(base)).encode()))
        machine = cls(found["machine"])
        machine.fitted = found["models"]
        return machine

    #: What `fit` reports about each model: op, dtype, samples, and error (None: too few samples to tell).
    fitted: list[dict[str, Any]] = []  # noqa: RUF012

    def rescaled(self, factor: float) -> Machine:
        """The machine with every time multiplied by `factor`, for a file that was measured under other load."""
        return Machine(Session().write("pb_session_rescale_machine", self.text.encode(), float(factor)))

    def __str__(self) -> str:
        lines = [self.name if self.seconds(0) is not None else f"{self.name}, an abstract clock in {self.time_unit}"]
        for memory in self.memories:
            cap = memory.get("cap")
            lines.append(f"memory {memory['name']}: {'no limit' if cap is None else _short(cap) + 'B'}")
        for processor in self.processors:
            rates = {key: rate for key, rate in processor.get("rates", {}).items() if "/" not in key}
            shown = [f"{key} {_short(rate)}flop/s" for key, rate in rates.items()]
            if processor.get("bandwidth"):
                shown.append(f"memory {_short(processor['bandwidth'])}B/s")
            models = len(processor.get("models", []))
            shown += [f"{models} models"] if models else []
            lines.append(f"processor {processor['name']} in {processor['memory']}: {', '.join(shown) or 'no rates'}")
        for link in self.links:
            speed = f"{_short(link['bandwidth'])}B/s" if link.get("bandwidth") else "no bandwidth"
            lines.append(f"link {link['name']} from {link['from']} to {link['to']}: {speed}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Machine {self.name!r}: {len(self.memories)} memories, {len(self.processors)} processors>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Machine) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        return Machine, (self.text.encode(),)


def _short(number: int) -> str:
    """19500000000000 as "19.5 T"."""
    shown, prefixes = float(number), ["", "k", "M", "G", "T", "P", "E"]
    while shown >= 999.95 and len(prefixes) > 1:
        shown /= 1000
        del prefixes[0]
    return f"{shown:.4g} {prefixes[0]}"


def machine_text(machine: Any) -> str | None:
    """A machine for the library: a name, a path or a document; None leaves the graph's own, False is no machine."""
    if machine is None or machine is False:
        return None if machine is None else "none"
    if isinstance(machine, Machine):
        return machine.text
    if isinstance(machine, Mapping):
        return json.dumps(machine)
    if isinstance(machine, (str, os.PathLike)):
        return os.fspath(machine)
    raise InvalidArgument(f"machine: expected a name, a file or a Machine, not {type(machine).__name__}")
