"""Progress of long calls: a line in terminals, a live display in notebooks, or a callable."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ._session import Progress
from .graph import Graph
from .text import amount

__all__ = ["watching"]

# A line appears after this many seconds; shorter calls need none.
DELAY = 0.5


@contextmanager
def watching(progress: Any, graph: Graph) -> Iterator[Callable[[Progress], None] | None]:
    """The progress callable of a call: none for None and False, a display for True, else the callable itself."""
    if not progress:
        yield None
    elif callable(progress):
        yield progress
    else:
        shown = NotebookDisplay(graph) if in_notebook() else Line(graph)
        try:
            yield shown
        finally:
            shown.close()


def in_notebook() -> bool:
    """Is this the kernel of a notebook? IPython is used only if it is already imported."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return running is not None and getattr(running, "kernel", None) is not None


def sentence(state: Progress, graph: Graph, seconds: float) -> str:
    """The progress as one line."""
    parts = [state.what or "planning"]
    if state.total:
        parts.append(f"{100 * state.done / state.total:.0f} %")
    if state.plans:
        parts.append(f"best: {amount(state.makespan, graph.cost_unit)} in {amount(state.peak, graph.size_unit)}")
    parts.append(f"{seconds:.0f} s")
    return ", ".join(parts)


class Line:
    """A line on standard error that is overwritten with each update; only if that is a terminal."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self._begin, self._visible = graph, time.monotonic(), False
        self._terminal = hasattr(sys.stderr, "isatty") and sys.stderr.isatty()

    def __call__(self, state: Progress) -> None:
        seconds = time.monotonic() - self._begin
        if self._terminal and seconds >= DELAY:
            sys.stderr.write("\r\033[K" + sentence(state, self._graph, seconds)[:100])
            sys.stderr.flush()
            self._visible = True

    def close(self) -> None:
        """Erase the line."""
        if self._visible:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


class NotebookDisplay:
    """A bar and a line in the output of the cell, removed at the end."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self._begin, self._handle = graph, time.monotonic(), None

    def __call__(self, state: Progress) -> None:
        from IPython.display import HTML, display  # type: ignore[import-not-found]  # every notebook has it

        seconds = time.monotonic() - self._begin
        if seconds < DELAY:
            return
        text = html.escape(sentence(state, self._graph, seconds))
        bar = f'<progress max="{state.total}" value="{state.done}"></progress> ' if state.total else ""
        shown = HTML(f'<div style="opacity:.8">{bar}{text}</div>')
        if self._handle is None:
            self._handle = display(shown, display_id=True)
        else:
            self._handle.update(shown)

    def close(self) -> None:
        """Empty the display."""
        if self._handle is not None:
            from IPython.display import HTML

            self._handle.update(HTML(""))
