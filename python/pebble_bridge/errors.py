"""What can go wrong, with the library's own sentence."""

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
    """Base of everything that this package raises by itself.

    Attributes
    ----------
    sentence : str
        What is wrong, as the library says it.
    line, column : int or None
        Where in a file, counted from 1; None where there is no place.
    """

    def __init__(self, sentence: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(f"line {line}, column {column}: {sentence}" if line else sentence)
        self.sentence = sentence
        self.line = line
        self.column = column


class LibraryError(PebbleError, ImportError):
    """The compiled library is missing, or does not fit this package."""


class OutOfMemory(PebbleError, MemoryError):
    """Memory, or the limit that was set for it, is exhausted."""


class InvalidArgument(PebbleError, ValueError):
    """An argument cannot be used."""


class UnknownName(PebbleError, ValueError):
    """There is no strategy, game, policy, family or parameter of that name."""


class RangeError(PebbleError, ValueError):
    """A number, or a sum of them, is out of range."""


class FormatError(PebbleError, ValueError):
    """A file is not well formed; `line` and `column` say where."""


class GraphError(PebbleError, ValueError):
    """The graph breaks a rule of the model: a loop, a cycle, a bad reference."""


class ReadWriteError(PebbleError, OSError):
    """Reading or writing failed."""


class Cancelled(PebbleError, KeyboardInterrupt):
    """Stopped by Ctrl-C before anything was found. It is a KeyboardInterrupt too."""


class LimitReached(PebbleError):
    """A limit on ticks or on the size of a method was reached."""


class InternalError(PebbleError):
    """A plan failed its own verification: a fault of the library."""


class Infeasible(PebbleError):
    """It is proved that no plan fits the cap."""


class NothingFound(PebbleError):
    """No plan was found: it does not fit, does not apply, or a limit was hit."""


# By status, in the order of the library's status.def; 0 is "done".
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
