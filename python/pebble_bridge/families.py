"""What the library provides: version, strategies, policies and families, and graphs of those families."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from . import _library
from ._session import Session
from .errors import InvalidArgument, UnknownName
from .graph import Graph

__all__ = ["Version", "families", "generate", "machines", "policies", "strategies", "version"]


@lru_cache(maxsize=1)
def _about() -> dict[str, Any]:
    return json.loads(Session().write("pb_session_about"))


@dataclass(frozen=True)
class Version:
    """The versions in use.

    Attributes
    ----------
    pebble : str
        The version of libpebble.
    library : str
        The path it was loaded from.
    cbc, cadical : str or None
        The solvers behind the strategies milp and lp-rounding, and sat; None if they are not built in.
    """

    pebble: str
    library: str
    cbc: str | None
    cadical: str | None

    def __str__(self) -> str:
        cbc = self.cbc or "not built in: install coinor-libcbc-dev, then make"
        cadical = self.cadical or "not built in: install libcadical-dev, then make"
        return f"libpebble {self.pebble} at {self.library} (Cbc {cbc}, CaDiCaL {cadical})"


def version() -> Version:
    """The version of the library, its path, and its solvers."""
    about = _about()
    return Version(about["version"], str(_library.find()), about["cbc"], about["cadical"])


def strategies() -> list[dict[str, Any]]:
    """All strategies: name, summary, games, options, and whether they are exact."""
    return _about()["strategies"]


def machines() -> list[dict[str, Any]]:
    """The machines that come with the library: name and summary. `Machine` has the details."""
    return _about()["machines"]


def policies() -> list[dict[str, Any]]:
    """All eviction policies: name and summary."""
    return _about()["policies"]


def families() -> list[dict[str, Any]]:
    """All graph families: name, help and parameters."""
    return _about()["families"]


def generate(family: str, *positional: Any, **parameters: Any) -> Graph:
    """Generates a graph of a family, as ``pebble gen`` does.

    Parameters
    ----------
    family : str
        "chain", "adjoint-chain", "tree", "pyramid", "grid", "layered", "unet", "transformer"...; see `families`.
    *positional
        The positional parameters of the family.
    **parameters
        Named parameters, with ``_`` for ``-``: ``grad_size=1``.

    Examples
    --------
    >>> import pebble_bridge as pb
    >>> pb.generate("chain", 10).node_count
    10
    """
    known = {row["name"]: row for row in families()}
    name = family.replace("_", "-")
    if name not in known:
        raise UnknownName(f"there is no family `{family}`{_near(name, known)}; pebble_bridge.families() lists all")
    specs = known[name]["parameters"]
    keys = [p["key"] for p in specs]
    places = [p["key"] for p in specs if p["positional"]]
    if len(positional) > len(places):
        raise InvalidArgument(f"{name} takes {len(places)} positional parameters, not {len(positional)}; use names")
    chosen = dict(zip(places, positional, strict=False))
    for key, value in parameters.items():
        key = key.replace("_", "-")
        if key in chosen:
            raise InvalidArgument(f"{key} is given twice: as a positional parameter and by name; give it once")
        if key not in keys:
            raise UnknownName(f"{name} has no parameter {key}{_near(key, keys)}; it takes {', '.join(keys)}")
        chosen[key] = value
    session = Session()
    lines = "\n".join(f"{key}={value}" for key, value in chosen.items())
    return Graph._made(session, session.make("pb_session_generate", name.encode(), lines.encode()))


def _near(word: str, names: Iterable[str]) -> str:
    found = difflib.get_close_matches(word, list(names), 1)
    return f" (did you mean {found[0]}?)" if found else ""
