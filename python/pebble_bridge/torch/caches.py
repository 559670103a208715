"""Keys and values of attention that models cache for generation, which training does not read."""

from __future__ import annotations

import copy
from typing import Any


def without_caches(output: Any) -> Any:
    """A model's output without keys and values of attention that are cached for generation: in training nobody reads
    them, and each would be in memory until the step ends. Libraries do the same for gradient checkpointing."""
    keys = [key for key, value in output.items() if is_cache(value)] if isinstance(output, dict) else []
    if not keys:
        return tuple(None if is_cache(o) else o for o in output) if type(output) is tuple else output
    output = copy.copy(output)
    for key in keys:
        output[key] = None
    return output


def is_cache(value: Any) -> bool:
    return any(base.__name__ == "Cache" and "transformers" in base.__module__ for base in type(value).__mro__)
