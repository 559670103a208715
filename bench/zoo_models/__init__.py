"""Training models for bench/zoo, built from configurations alone: nothing is downloaded.

``MODELS[name]()`` returns a `Case`: the model in training mode, the arguments that a trainer passes to it, and the loss if
the model does not return it. Sizes are such that a step takes less than a second on one core and that activations, 20 to
200 MB, are more than the parameters. Dropout is that of the default configuration.
"""
from __future__ import annotations

from collections.abc import Callable

from . import diffusion, held_out, language, plain, senses
from .case import Case

LIBRARIES: dict[str, dict[str, Callable[[], Case]]] = {
    "transformers": language.MODELS | senses.MODELS,
    "diffusers": diffusion.MODELS,
    "torch": plain.MODELS,
}
MODELS = {name: build for models in LIBRARIES.values() for name, build in models.items()}
HELD_OUT = held_out.MODELS
MODELS |= HELD_OUT
LIBRARIES["not looked at before"] = HELD_OUT
LIBRARY = {name: library for library, models in LIBRARIES.items() for name in models}
