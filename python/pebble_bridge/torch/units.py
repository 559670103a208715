"""Parses budgets and formats bytes."""

from __future__ import annotations

import re

from .errors import DoesNotFit

UNITS = {
    "": 1,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 1 << 10,
    "MIB": 1 << 20,
    "GIB": 1 << 30,
    "TIB": 1 << 40,
}


def parse_budget(budget: int | float | str, whole: int) -> int:
    """Bytes of a budget: a number of them, ``"60%"`` of `whole`, or a number with a unit."""
    if isinstance(budget, (int, float)) and not isinstance(budget, bool):
        if not 0 < budget < float("inf") or budget != int(budget):
            raise DoesNotFit(f'budget={budget}: expected a whole number of bytes, or a percentage such as "60%"')
        return int(budget)
    found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(%|[A-Za-z]*)\s*", str(budget))
    if found and found[2] == "%":
        return int(float(found[1]) * whole / 100)
    if found and found[2].upper() in UNITS:
        return int(float(found[1]) * UNITS[found[2].upper()])
    raise DoesNotFit(f'budget="{budget}": expected bytes (123456), "8GiB" or "60%"')


def bytes_text(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.2f} {unit}"
        count /= 1024
    raise AssertionError


def time_text(ns: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"
