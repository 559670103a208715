"""The exceptions of this package. Most carry the library's own message."""

from __future__ import annotations

__all__ = [
    "Cancelled",
    "FormatError",
    "GraphError",
    "Infeasible",
    "InternalError",
    "InvalidArgument",
    "LibraryError",
    "LimitReached",
    "NothingFound",
    "OutOfMemory",
    "PebbleError",
    "RangeError",
    "ReadWriteError",
    "UnknownName",
]


class PebbleError(Exception):
    """Base class of the exceptions of this package.

    Attributes
    ----------
    sentence : str
        The message, without line and column.
    line, column : int or None
        The position in a file, counted from 1; None if there is none.
    """

    def __init__(self, sentence: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(f"line {line}, column {column}: {sentence}" if line else sentence)
        self.sentence = sentence
        self.line = line
        self.column = column


class LibraryError(PebbleError, ImportError):
    """The compiled library is missing, or does not match this package."""


class OutOfMemory(PebbleError, MemoryError):
    """Memory, or the limit on it, is exhausted."""


class InvalidArgument(PebbleError, ValueError):
    """An argument is invalid."""


class UnknownName(PebbleError, ValueError):
    """There is no strategy, game, policy, family or parameter of that name."""


class RangeError(PebbleError, ValueError):
    """A number, or a sum of them, is out of range."""


class FormatError(PebbleError, ValueError):
    """A file is malformed; `line` and `column` are the position."""


class GraphError(PebbleError, ValueError):
    """The graph is invalid: a self-loop, a cycle, a bad reference."""


class ReadWriteError(PebbleError, OSError):
    """Reading or writing failed."""


class Cancelled(PebbleError, KeyboardInterrupt):
    """Stopped by Ctrl-C before anything was found. It is also a KeyboardInterrupt."""


class LimitReached(PebbleError):
    """A limit on ticks or on the size of a method was reached."""


class InternalError(PebbleError):
    """A plan failed its own verification: a bug of the library. Please report it."""


class Infeasible(PebbleError):
    """It is proved that no plan fits under the cap."""


class NothingFound(PebbleError):
    """No plan was found: it does not fit, the strategy does not apply, or a limit was reached."""


# By status, in the order of the library's status.def; 0 is success.
BY_STATUS: tuple[type[PebbleError], ...] = (
    PebbleError,
    OutOfMemory,
    InvalidArgument,
    UnknownName,
    RangeError,
    FormatError,
    GraphError,
    ReadWriteError,
    Cancelled,
    LimitReached,
    InternalError,
    NothingFound,
)
