"""A session of the library: settings, limits, errors, and calls that Ctrl-C can stop."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from ctypes import byref, c_uint64, c_void_p
from typing import Any, NamedTuple

from . import _arrays
from ._library import lib
from .errors import BY_STATUS, OutOfMemory, PebbleError

# How often a waiting thread looks for progress, in seconds.
POLL = 0.1


class Progress(NamedTuple):
    """How planning gets on, for a `progress` callable.

    Attributes
    ----------
    what : str
        What is done now: a strategy, or a step of one.
    done, total : int
        How far it is; `total` is 0 where that is not known.
    plans, peak, makespan : int
        How many plans were found, and the figures of the latest, before it is verified.
    """

    what: str
    done: int
    total: int
    plans: int
    peak: int
    makespan: int


class Session:
    """Owns what its calls make; whoever keeps a handle keeps the session, and what that borrows from."""

    keeps: object = None

    def __init__(self, **settings: object) -> None:
        self._address = lib.pb_session_new()
        if not self._address:
            raise OutOfMemory("out of memory")
        for key, value in settings.items():
            if value is not None:
                self.check(lib.pb_session_set(self._address, key.encode(), _arrays.text(value, key)))

    def __del__(self) -> None:
        if getattr(self, "_address", None):
            lib.pb_session_free(self._address)
            self._address = None

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            "comparisons and sweeps live in the memory of the library and cannot be pickled or copied deeply: "
            "pickle their plans, or keep their documents"
        )

    def check(self, status: int) -> None:
        """Raise the exception of a status that is not 0."""
        if status == 0:
            return
        sentence = lib.pb_session_message(self._address).decode(errors="replace")
        line = lib.pb_session_line(self._address) or None
        kind = BY_STATUS[status] if status < len(BY_STATUS) else PebbleError
        raise kind(sentence, line, lib.pb_session_column(self._address) if line else None)

    def do(self, name: str, *arguments: Any) -> None:
        """A call that is over soon."""
        self.check(getattr(lib, name)(self._address, *arguments))

    def make(self, name: str, *arguments: Any) -> int:
        """A call that makes something: its handle."""
        handle = c_void_p()
        self.do(name, *arguments, byref(handle))
        return handle.value or 0

    def patiently(self, name: str, *arguments: Any, watch: Callable[[Progress], None] | None = None) -> None:
        """A call that may take long: Ctrl-C asks it to stop, and what it has found by then is its answer.

        The call runs in a thread of its own without the interpreter's lock, since a signal is heard only by a main
        thread that is back in Python. A second Ctrl-C is raised as always. Graphs and plans among the arguments are
        kept until the call is over, which may be after that.
        """
        over, answer = threading.Event(), []

        def work() -> None:
            try:
                answer.append(getattr(lib, name)(self._address, *(getattr(a, "_handle", a) for a in arguments)))
            finally:
                over.set()

        if threading.current_thread() is not threading.main_thread() and watch is None:
            work()
        else:
            threading.Thread(target=work, name=name, daemon=True).start()
            self._wait(over, watch)
        self.check(answer[0])

    def make_patiently(self, name: str, *arguments: Any, watch: Callable[[Progress], None] | None = None) -> int:
        """The same for a call that makes something: its handle."""
        handle = c_void_p()
        self.patiently(name, *arguments, byref(handle), watch=watch)
        return handle.value or 0

    def _wait(self, over: threading.Event, watch: Callable[[Progress], None] | None) -> None:
        asked = False
        while True:
            try:
                while not over.wait(POLL if watch else None):
                    if watch:
                        watch(self.progress())
                return
            except KeyboardInterrupt:
                lib.pb_session_stop(self._address)
                if asked:
                    raise
                asked = True
            except BaseException:  # of the watcher: nobody is going to ask for the answer
                lib.pb_session_stop(self._address)
                over.wait()
                raise

    def progress(self) -> Progress:
        what = ctypes.create_string_buffer(96)
        numbers = [c_uint64() for _ in range(5)]
        lib.pb_session_progress(self._address, what, 96, *(byref(n) for n in numbers))
        return Progress(what.value.decode(errors="replace"), *(n.value for n in numbers))

    def write(self, name: str, *arguments: Any) -> bytes:
        """A call that writes a text: its bytes."""
        self.do(name, *arguments)
        return self.written()

    def written(self) -> bytes:
        """The text of the last call that wrote one."""
        length = c_uint64()
        start = lib.pb_session_text(self._address, byref(length))
        return ctypes.string_at(start, length.value)

    def notes(self) -> list[str]:
        """What readers had to tell."""
        return lib.pb_session_notes(self._address).decode(errors="replace").splitlines()

    def stopped(self) -> str | None:
        """Why the last call stopped early: "interrupt", "time" or None."""
        return (None, "interrupt", "time")[lib.pb_session_stopped(self._address)]
