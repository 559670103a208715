"""Plans that play: the player of the page as one HTML file, in a notebook or in a browser."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import webbrowser
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ._library import find
from .errors import LibraryError

if TYPE_CHECKING:
    from .results import Plan

__all__ = ["Player", "command", "player_html"]


def command() -> str:
    """The path of the command ``pebble``, which has the player.

    Raises
    ------
    LibraryError
        It is not installed.
    """
    named = os.environ.get("PEBBLE")
    places = [named] if named else [str(find().parent / "pebble"), shutil.which("pebble") or ""]
    for place in places:
        if place and os.access(place, os.X_OK) and not os.path.isdir(place):
            return place
    if named:
        raise LibraryError(f"PEBBLE is {named}, but that is not a program; correct it, or unset it")
    raise LibraryError(
        "playing needs the command pebble, which has the player: install it (make install), or set PEBBLE to its path"
    )


def player_html(plan: Plan) -> str:
    """One file that plays the plan in any browser, offline: what ``pebble export --as html`` writes."""
    program = command()
    with tempfile.TemporaryDirectory() as folder:
        graph, schedule, page = (str(Path(folder) / name) for name in ("graph.json", "plan.json", "plan.html"))
        plan.graph.write(graph)
        plan.write(schedule)
        done = subprocess.run(
            [program, "export", graph, schedule, "--as", "html", "-o", page],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise LibraryError(f"{program} could not write the file: {done.stderr.strip()}")
        return Path(page).read_text(encoding="utf-8")


class Player:
    """A plan that plays: notebooks show it as a frame."""

    def __init__(self, plan: Plan, height: int = 640) -> None:
        self.html, self.height = player_html(plan), height

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def open(self) -> Path:
        """Open it in the browser; returns the file that it is in."""
        folder = Path(tempfile.mkdtemp(prefix="pebble-"))
        page = folder / "plan.html"
        self.write(page)
        webbrowser.open(page.as_uri())
        return page

    def _repr_html_(self) -> str:
        # The frame has no access to the notebook: scripts run, but in an origin of their own.
        return (
            f'<iframe style="width:100%;height:{self.height}px;border:1px solid #8888;border-radius:6px" '
            f'sandbox="allow-scripts" title="a plan that plays" srcdoc="{escape(self.html)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Player: {len(self.html):,} characters; .write(path) saves it, .open() shows it in the browser>"
