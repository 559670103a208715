"""Numbers in and out of the library: numpy arrays if numpy is installed, else arrays of the standard library."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

from .errors import InvalidArgument, RangeError

try:
    import numpy
except ImportError:  # numpy is optional
    numpy = None  # type: ignore[assignment]

_CODE = {1: "B", 2: "H", 4: "I", 8: "Q"}
_TYPE = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32, 8: ctypes.c_uint64}


def numbers(values: Iterable[Any], width: int, what: str) -> Any:
    """Integers of `width` bytes; not copied if they have this type already."""
    largest = (1 << 8 * width) - 1
    if numpy is not None and hasattr(values, "__array__"):
        given = numpy.asarray(values)
        if given.size == 0:
            given = given.astype(f"u{width}")
        if given.dtype.kind not in "ui":
            raise InvalidArgument(f"{what}: expected integers, not {given.dtype}")
        if given.ndim != 1:
            raise InvalidArgument(f"{what}: expected one dimension, not {given.ndim}")
        if given.size and (int(given.min()) < 0 or int(given.max()) > largest):
            raise RangeError(f"{what}: expected numbers from 0 to {largest}")
        return numpy.ascontiguousarray(given, dtype=f"u{width}")
    try:
        return array(_CODE[width], [index(v) for v in values])
    except OverflowError:
        raise RangeError(f"{what}: expected numbers from 0 to {largest}") from None
    except TypeError:
        raise InvalidArgument(f"{what}: expected integers") from None


def pointer(values: Any, width: int) -> Any:
    """The address of the numbers, for a call; the caller keeps them alive. None for None."""
    if values is None:
        return None
    kind = ctypes.POINTER(_TYPE[width])
    address = values.ctypes.data if hasattr(values, "ctypes") else values.buffer_info()[0]
    return ctypes.cast(address, kind)


def empty(count: int, width: int) -> Any:
    """An array for a call to fill."""
    if numpy is not None:
        return numpy.zeros(count, dtype=f"u{width}")
    return array(_CODE[width], bytes(count * width))


def view(address: int | None, count: int, width: int, keeper: object) -> Any:
    """A read-only view of numbers in the library's memory; it keeps `keeper`, which owns them, alive."""
    if not address or not count:
        return empty(0, width)
    block: Any = (_TYPE[width] * count).from_address(address)
    block.keeper = keeper
    if numpy is None:
        return memoryview(block).cast("B").cast(_CODE[width]).toreadonly()
    array_view = numpy.frombuffer(block, dtype=f"u{width}")
    array_view.flags.writeable = False
    return array_view


def text(value: object, what: str) -> bytes:
    """A string for a call: UTF-8 without NUL."""
    try:
        encoded = str(value).encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"{what}: {value!r} cannot be encoded as UTF-8; use other characters") from None
    if b"\0" in encoded:
        raise InvalidArgument(f"{what}: {value!r} contains a NUL character; remove it")
    return encoded


def texts(values: Sequence[str], what: str) -> bytes:
    """Strings, each terminated by NUL."""
    for value in values:
        if not isinstance(value, str):
            raise InvalidArgument(f"{what}: expected strings, not {type(value).__name__}")
    return b"".join(text(value, what) + b"\0" for value in values)
