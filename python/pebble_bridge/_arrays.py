"""Numbers in and out of the library: numpy arrays where numpy is there, arrays of the standard library where not."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

from .errors import InvalidArgument, RangeError

try:
    import numpy
except ImportError:  # everything works without
    numpy = None  # type: ignore[assignment]

_CODE = {1: "B", 2: "H", 4: "I", 8: "Q"}
_TYPE = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32, 8: ctypes.c_uint64}


def numbers(values: Iterable[Any], width: int, what: str) -> Any:
    """Whole numbers of `width` bytes, without a copy where they are that already."""
    most = (1 << 8 * width) - 1
    if numpy is not None and hasattr(values, "__array__"):
        given = numpy.asarray(values)
        if given.size == 0:
            given = given.astype(f"u{width}")
        if given.dtype.kind not in "ui":
            raise InvalidArgument(f"{what}: whole numbers are wanted, not {given.dtype}")
        if given.ndim != 1:
            raise InvalidArgument(f"{what}: one row of numbers is wanted, not {given.ndim} dimensions")
        if given.size and (int(given.min()) < 0 or int(given.max()) > most):
            raise RangeError(f"{what}: numbers go from 0 to {most}")
        return numpy.ascontiguousarray(given, dtype=f"u{width}")
    try:
        return array(_CODE[width], [index(v) for v in values])
    except OverflowError:
        raise RangeError(f"{what}: numbers go from 0 to {most}") from None
    except TypeError:
        raise InvalidArgument(f"{what}: whole numbers are wanted") from None


def pointer(values: Any, width: int) -> Any:
    """Where the numbers lie, for a call; the caller keeps them. None for None."""
    if values is None:
        return None
    kind = ctypes.POINTER(_TYPE[width])
    address = values.ctypes.data if hasattr(values, "ctypes") else values.buffer_info()[0]
    return ctypes.cast(address, kind)


def empty(count: int, width: int) -> Any:
    """Room for numbers that a call fills."""
    if numpy is not None:
        return numpy.zeros(count, dtype=f"u{width}")
    return array(_CODE[width], bytes(count * width))


def view(address: int | None, count: int, width: int, keeper: object) -> Any:
    """Numbers of the library, not copied and not to be written; `keeper` owns them and stays as long as the view."""
    if not address or not count:
        return empty(0, width)
    block: Any = (_TYPE[width] * count).from_address(address)
    block.keeper = keeper
    if numpy is None:
        return memoryview(block).cast("B").cast(_CODE[width]).toreadonly()
    seen = numpy.frombuffer(block, dtype=f"u{width}")
    seen.flags.writeable = False
    return seen


def text(value: object, what: str) -> bytes:
    """A text for a call: UTF-8, without the NUL that would end it early."""
    try:
        told = str(value).encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"{what}: {value!r} is not text that UTF-8 can hold") from None
    if b"\0" in told:
        raise InvalidArgument(f"{what}: {value!r} has a NUL in it")
    return told


def texts(values: Sequence[str], what: str) -> bytes:
    """Texts one after the other, each ended by NUL."""
    for value in values:
        if not isinstance(value, str):
            raise InvalidArgument(f"{what}: names are texts, not {type(value).__name__}")
    return b"".join(text(value, what) + b"\0" for value in values)
