"""Kernels of one kind that differ in speed: by layout, by shape, by implementation.

A kind such as "copy" has one model in a machine file, which steps of any origin can use. Between a copy of consecutive
memory and one that transposes there is a factor of three, so `measure_machine` also fits models of variants, named
"copy transposed", and steps of torch are priced by them where a file has them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch

from .work import Work, argument, tensors

BLOCK = 16  # channels that kernels of convolutions compute together: those of the last block cost as much as a full one
FEW = 4  # channels of images, for which kernels have their own layout
SHORT = 32  # rows that do not fill the registers of a kernel several times
ARITHMETIC = {"add", "sub", "rsub", "mul", "div", "neg", "relu", "maximum", "minimum", "clamp", "clamp_min", "square"}
SAME = {"clone", "copy", "_to_copy", "contiguous", "expand_copy", "permute_copy", "view_copy", "_reshape_copy"}
NEW = {"zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "fill"}


def variant_of(target: Any, args: tuple, kwargs: dict[str, Any], out: Any, work: Work) -> Work:
    """What a call does as a variant of its kind; the same `work` if there is only one.

    The flops of a convolution are then those that the kernel computes, with channels filled up to whole blocks.
    """
    name = getattr(getattr(target, "overloadpacket", target), "__name__", str(target))
    kind = work.op.split(".")[0]
    if kind in ("conv", "depthwise"):
        return convolution(name, args, work)
    find = KINDS.get(kind)
    variant = find(name, target, args, kwargs, tensors(out)) if find else ""
    return work._replace(op=f"{work.op} {variant}") if variant else work


def convolution(name: str, args: tuple, work: Work) -> Work:
    back = name == "convolution_backward"
    weight, transposed, groups = (args[2], args[7], args[9]) if back else (args[1], args[6], args[8])
    mask = args[10] if back else ()
    if back and mask[0] and mask[1]:
        return work
    if work.op.startswith("depthwise"):
        return work._replace(op=f"{work.op} {'small' if max(weight.shape[2:]) <= 3 else 'large'}")
    if groups > 1:
        return work
    rows, columns = weight.shape[:2]
    few = "from few" if columns <= FEW else "to few" if rows <= FEW else ""
    form = few or ("1x1" if math.prod(weight.shape[2:]) == 1 else "wide")
    stride = args[4] if back else args[3]
    strided = any(step > 1 for step in stride) and not (transposed and work.op == "conv")
    full = math.prod(n if n <= FEW else -(-n // BLOCK) * BLOCK for n in (rows, columns))
    op = f"{work.op} {form}{' strided' if strided and not few else ''}"
    return work._replace(op=op, flops=work.flops * full // (rows * columns))


def product(name: str, target: Any, args: tuple, kwargs: dict, out: list[torch.Tensor]) -> str:
    matrices = [arg for arg in args if isinstance(arg, torch.Tensor) and arg.dim() > 1][-2:]
    if len(matrices) < 2 or name not in ("mm", "addmm", "bmm", "baddbmm"):
        return ""
    layout = "".join("n" if matrix.stride(-1) == 1 else "t" for matrix in matrices)
    return f"{'batched' if 'b' in name else 'plain'} {layout}"


def norm(name: str, target: Any, args: tuple, kwargs: dict, out: list[torch.Tensor]) -> str:
    return next((which for which in ("batch", "layer", "group", "rms") if which in name), "")


def by_rows(name: str, target: Any, args: tuple, kwargs: dict, out: list[torch.Tensor]) -> str:
    """Softmax: along the last dimension, or across."""
    source, dim = args[0], argument(target, args, kwargs, "dim")
    last = isinstance(dim, int) and dim % source.dim() == source.dim() - 1
    rows = "columns" if not last else "rows" if source.shape[-1] >= SHORT else "short rows"
    form = next((f"{which} " for which in ("log", "safe") if which in name), "")
    return form + rows


def copies(name: str, target: Any, args: tuple, kwargs: dict, out: list[torch.Tensor]) -> str:
    if name in NEW:
        return "fill"
    if name == "cat":
        dim = argument(target, args, kwargs, "dim") or 0
        return "cat" if dim % max(1, out[0].dim()) == 0 else "cat inner"
    if name in SAME and isinstance(args[0], torch.Tensor):
        return order_of(args[0], out[0])
    return name


def order_of(source: torch.Tensor, copy: torch.Tensor) -> str:
    """How a copy rearranges memory: not at all, by whole rows, or within them."""
    dims = [k for k in range(copy.dim()) if copy.shape[k] > 1 and k < source.dim()]
    if source.shape != copy.shape or not dims:
        return "same"
    inner = min(dims, key=copy.stride)
    if source.stride(inner) != copy.stride(inner):
        return "transposed"
    return "same" if all(source.stride(k) == copy.stride(k) for k in dims) else "rows"


def elementwise(name: str, target: Any, args: tuple, kwargs: dict, out: list[torch.Tensor]) -> str:
    sizes = [arg.numel() for arg in args if isinstance(arg, torch.Tensor)]
    full = sum(size == out[0].numel() for size in sizes)
    part = " and a part" if any(1 < size < out[0].numel() for size in sizes) else ""
    return f"of {full}{part}" if name in ARITHMETIC else f"{name}{part}"


def reduction(name: str, target: Any, args: tuple, kwargs: dict, out: list[torch.Tensor]) -> str:
    source = args[0]
    dims = argument(target, args, kwargs, "dim")
    if isinstance(dims, int):
        dims = [dims]
    if name not in ("sum", "mean") or not isinstance(source, torch.Tensor):
        return name
    if not dims or len(dims) == source.dim():
        return "all"
    found = {dim % source.dim() for dim in dims}
    if source.dim() - 1 not in found:
        return "columns"
    return "rows" if 0 not in found else "planes"


def named(name: str, target: Any, args: tuple, kwargs: dict, out: list[torch.Tensor]) -> str:
    form = " tanh" if argument(target, args, kwargs, "approximate") == "tanh" else ""
    return name.removeprefix("native_").removesuffix("_with_indices") + form


Finder = Callable[[str, Any, tuple, dict[str, Any], list[torch.Tensor]], str]
KINDS: dict[str, Finder] = {
    "matmul": product,
    "norm": norm,
    "softmax": by_rows,
    "copy": copies,
    "elementwise": elementwise,
    "reduce": reduction,
    "math": named,
    "pool": named,
    "loss": named,
    "embed": named,
    "dropout": named,
}


def enough(works: Iterable[Work], least: int) -> set[tuple[str, str]]:
    """The operations and types that were measured at that many sizes; of fewer, a model would be a guess."""
    sizes: dict[tuple[str, str], set[tuple[int, int]]] = {}
    for work in works:
        sizes.setdefault((work.op, work.dtype), set()).add((work.flops, work.bytes))
    return {kind for kind, found in sizes.items() if len(found) >= least}
