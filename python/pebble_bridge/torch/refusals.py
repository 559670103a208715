"""Why a step cannot be captured: torch's errors in terms of the model, with the line that caused them."""

from __future__ import annotations

import linecache
import os
import re
from textwrap import shorten
from typing import Any

import torch


def why_not(error: Exception) -> str:
    """Our message for an error that torch raises while capturing."""
    from torch._subclasses.fake_tensor import (
        DataDependentOutputException,
        DynamicOutputShapeException,
        UnsupportedOperatorException,
    )

    line = place_of(error)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, DynamicOutputShapeException):
            name = name_of(cause.func)
            advice = next((text for start, text in FIXED_SHAPES.items() if name.startswith(start)), OUTSIDE)
            return f"{name} returns a tensor whose shape depends on data{line}; a plan needs fixed shapes: {advice}"
        if isinstance(cause, DataDependentOutputException):
            if "one_hot(" in line:
                return f"one_hot reads the largest class from data{line}: give it num_classes"
            return (
                f"{name_of(cause.func)} turns data into a number for Python (item(), bool(), int(), tolist()){line}; "
                "what depends on it cannot be planned: use torch.where, or compute the number outside of the step and "
                "call fit for each of its values"
            )
        if isinstance(cause, UnsupportedOperatorException):
            return f"{name_of(cause.func)} has no fake implementation{line}; add one with torch.library.register_fake"
        cause = cause.__cause__ or cause.__context__
    message = str(error).strip().split("\n")[0]
    custom = re.search(r"no fake impl registered for <CustomOpDef\((\S+?)\)>", message)
    if custom:
        return f"{custom[1]} has no fake implementation{line}; add one with torch.library.register_fake"
    foreign = re.search(r"convert all Tensors to FakeTensors first.*?(?:Found in ([\w.]+)\(|$)", str(error), re.DOTALL)
    if foreign or "Unexpected fake buffer" in message:
        reader = f"{foreign[1].removesuffix('.default')} reads" if foreign and foreign[1] else "the step reads"
        return (
            f"{reader} a tensor that is not a parameter, a buffer or an input{line}: an attribute of a module that is "
            "a plain tensor (register_buffer makes it a buffer), or one that the loss or the model closes over (pass "
            "it in)"
        )
    if "data-dependent" in str(error).lower() or "GuardOnDataDependent" in type(error).__name__:
        return (
            f"the model's control flow or a shape depends on data{line}; use torch.where or fixed shapes, or decide "
            f"outside of the step and pass it in (torch: {message})"
        )
    return f"the step cannot be captured as one graph{line}: {type(error).__name__}: {message}"


OUTSIDE = "if it does not depend on parameters, compute it outside of the step and pass it in"
MASKED = "use a form that keeps the shape (torch.where, masked_fill, a product with the mask)"
FIXED_SHAPES = {  # what to do instead of an operation whose result has no fixed shape
    "aten.nonzero": f"{MASKED}, or torch.nonzero_static with a fixed size",
    "aten.masked_select": MASKED,
    "aten.index": MASKED,
    "aten.repeat_interleave": "give repeat_interleave its output_size",
    "aten.bincount": "use torch.zeros(classes).index_add or a sum of one_hot with num_classes",
    "aten._ctc_loss": (
        "wrap the CTC loss in a torch.library.custom_op that returns the losses and their gradient, which have fixed "
        "shapes (docs/torch.md has the lines)"
    ),
    "aten._pack_padded_sequence": "leave the sequences padded, and mask the outputs that count",
}


def place_of(error: BaseException) -> str:
    """The line of the model or the loss that caused an error, in parentheses."""
    found = ""
    cause: BaseException | None = error
    while cause is not None and not found:
        trace = cause.__traceback__
        while trace is not None:
            name, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno
            if is_of_model(name):
                text = shorten(linecache.getline(name, line).strip(), 100, placeholder=" ...")
                found = f" ({os.path.basename(name)}, line {line}{': ' + text if text else ''})"
            trace = trace.tb_next
        cause = cause.__cause__ or cause.__context__
    return found


def is_of_model(file: str) -> bool:
    """Whether a source file belongs neither to torch nor to this package nor to Python."""
    if file.startswith(("<", os.path.dirname(torch.__file__), os.path.dirname(__file__))):
        return False
    return not file.startswith(os.path.dirname(os.__file__)) or "-packages" in file


def name_of(operation: Any) -> str:
    return str(operation).removesuffix(".default")
