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

# How often a waiting thread checks for progress, in seconds.
POLL = 0.1


class Progress(NamedTuple):
    """The progress of planning, for a `progress` callable.

    Attributes
    ----------
    what : str
        The current strategy, or a step of one.
    done, total : int
        The progress; `total` is 0 if it is unknown.
    plans, peak, makespan : int
        The number of plans found, and the figures of the latest one, before verification.
    """

    what: str
    done: int
    total: int
    plans: int
    peak: int
    makespan: int


class Session:
    """Owns the objects that its calls create: whoever keeps a handle must keep the session, which keeps `keeps`."""

    keeps: object = None

    def __init__(self, **settings: object) -> None:
        self._address = lib.pb_session_new()
        if not self._address:
            raise OutOfMemory("out of memory: the library could not start a session; free some memory")
        for key, value in settings.items():
            if value is not None:
                self.check(lib.pb_session_set(self._address, key.encode(), _arrays.text(value, key)))

    def __del__(self) -> None:
        if getattr(self, "_address", None):
            lib.pb_session_free(self._address)
            self._address = None

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            "comparisons and sweeps are in the library's memory and cannot be pickled or deep-copied: "
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
        """A short call."""
        self.check(getattr(lib, name)(self._address, *arguments))

    def make(self, name: str, *arguments: Any) -> int:
        """A call that creates an object; returns its handle."""
        handle = c_void_p()
        self.do(name, *arguments, byref(handle))
        return handle.value or 0

    def do_long(self, name: str, *arguments: Any, watch: Callable[[Progress], None] | None = None) -> None:
        """A call that may take long: Ctrl-C stops it, and the result is what it has found by then.

        The call runs in its own thread without the interpreter's lock, because Python handles signals only in the main
        thread, while it runs Python code. A second Ctrl-C is raised as usual. Graphs and plans among the arguments are
        kept alive until the call ends, which may be after that.
        """
        ended, status = threading.Event(), []

        def run() -> None:
            try:
                status.append(getattr(lib, name)(self._address, *(getattr(a, "_handle", a) for a in arguments)))
            finally:
                ended.set()

        if threading.current_thread() is not threading.main_thread() and watch is None:
            run()
        else:
            threading.Thread(target=run, name=name, daemon=True).start()
            self._wait(ended, watch)
        self.check(status[0])

    def make_long(self, name: str, *arguments: Any, watch: Callable[[Progress], None] | None = None) -> int:
        """The same for a call that creates an object; returns its handle."""
        handle = c_void_p()
        self.do_long(name, *arguments, byref(handle), watch=watch)
        return handle.value or 0

    def _wait(self, ended: threading.Event, watch: Callable[[Progress], None] | None) -> None:
        interrupted = False
        while True:
            try:
                while not ended.wait(POLL if watch else None):
                    if watch:
                        watch(self.progress())
                return
            except KeyboardInterrupt:
                lib.pb_session_stop(self._address)
                if interrupted:
                    raise
                interrupted = True
            except BaseException:  # from the progress callable: the result will not be used
                lib.pb_session_stop(self._address)
                ended.wait()
                raise

    def progress(self) -> Progress:
        what = ctypes.create_string_buffer(96)
        numbers = (c_uint64 * 5)()
        lib.pb_session_progress(self._address, what, 96, numbers)
        return Progress(what.value.decode(errors="replace"), *numbers)

    def write(self, name: str, *arguments: Any) -> bytes:
        """A call that writes text; returns its bytes."""
        self.do(name, *arguments)
        return self.written()

    def written(self) -> bytes:
        """The text of the last call that wrote one."""
        length = c_uint64()
        start = lib.pb_session_text(self._address, byref(length))
        return ctypes.string_at(start, length.value)

    def notes(self) -> list[str]:
        """The notes of the reader."""
        return lib.pb_session_notes(self._address).decode(errors="replace").splitlines()

    def stopped(self) -> str | None:
        """Why the last call stopped early: "interrupt", "time" or None."""
        return (None, "interrupt", "time")[lib.pb_session_stopped(self._address)]
