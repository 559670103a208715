"""Numbers formatted for reading."""

from __future__ import annotations

__all__ = ["amount", "percent"]

_BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def amount(value: int, unit: str) -> str:
    """ "1.5 GiB" if the unit is byte, else "12,345 step". Sizes are rounded down."""
    if unit not in ("byte", "bytes"):
        times = "x " if unit.startswith("0.") else ""  # 12 x 0.1 step
        return f"{value:,} {times}{unit}".rstrip()
    step = 0
    while step + 1 < len(_BYTES) and value >> 10 * (step + 1):
        step += 1
    hundredths = value * 100 >> 10 * step
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".") + f" {_BYTES[step]}"


def percent(share: float) -> str:
    """ "21.3 %"; more digits for small values."""
    value = 100 * share
    digits = 0 if value == 0 or value >= 99.95 else 1 if value >= 0.095 else 3
    return f"{value:.{digits}f} %"
