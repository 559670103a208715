"""What each operation of a step does, for machines: its kind, its type, floating-point operations and bytes moved.

Kinds are those of docs/machines.md. Operations that are not in the tables are classified by torch's own tags.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import torch

from . import _adapter

aten = torch.ops.aten


class Work(NamedTuple):
    """What a kernel does."""

    op: str
    dtype: str
    flops: int
    bytes: int


# Kinds by the name of the operation without its overload; `MATH` and `PER_ELEMENT` have the operations per element.
KINDS: dict[str, str] = {}


def _kind(kind: str, names: str) -> None:
    KINDS.update(dict.fromkeys(names.split(), kind))


_kind("matmul", "mm addmm bmm baddbmm addbmm mv addmv dot addr _int_mm _addmm_activation linear linear_backward")
_kind("norm", "native_layer_norm native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_functional")
_kind("norm", "_native_batch_norm_legit_no_training _batch_norm_with_update _batch_norm_with_update_functional")
_kind("norm", "native_group_norm cudnn_batch_norm miopen_batch_norm _fused_rms_norm")
_kind("norm.dx", "native_layer_norm_backward native_batch_norm_backward batch_norm_backward native_group_norm_backward")
_kind("norm.dx", "cudnn_batch_norm_backward miopen_batch_norm_backward _fused_rms_norm_backward")
_kind("softmax", "_softmax _log_softmax _safe_softmax")
_kind("softmax.dx", "_softmax_backward_data _log_softmax_backward_data")
_kind("pool", "max_pool2d_with_indices max_pool3d_with_indices avg_pool1d avg_pool2d avg_pool3d _adaptive_avg_pool2d")
_kind("pool", "_adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d")
_kind("pool.dx", "max_pool2d_with_indices_backward max_pool3d_with_indices_backward avg_pool2d_backward")
_kind("pool.dx", "avg_pool3d_backward _adaptive_avg_pool2d_backward _adaptive_avg_pool3d_backward")
_kind("pool.dx", "adaptive_max_pool2d_backward adaptive_max_pool3d_backward")
_kind("embed", "embedding _embedding_bag")
_kind("embed.dw", "embedding_dense_backward _embedding_bag_dense_backward index_add scatter_add index_put")
_kind("embed.dw", "_unsafe_index_put scatter_reduce")
_kind("dropout", "native_dropout bernoulli rand randn randint rand_like randn_like randint_like uniform normal")
_kind("dropout", "randperm normal_functional exponential")
_kind("elementwise", "native_dropout_backward threshold_backward tanh_backward sigmoid_backward hardtanh_backward")
_kind("elementwise", "leaky_relu_backward hardswish_backward hardsigmoid_backward masked_fill where hardswish")
_kind("elementwise", "hardsigmoid hardtanh leaky_relu relu6 _prelu_kernel _prelu_kernel_backward")
_kind("reduce", "cumsum cumprod logcumsumexp cummax cummin logsumexp linalg_vector_norm norm std var var_mean std_mean")
_kind("copy", "cat stack clone copy _to_copy constant_pad_nd slice_backward select_backward slice_scatter")
_kind("copy", "select_scatter")
_kind("copy", "diagonal_backward unfold_backward as_strided_scatter repeat flip roll index_select gather index")
_kind("copy", "_unsafe_index scatter index_copy tril triu expand_copy permute_copy view_copy _reshape_copy im2col")
_kind("copy", "col2im pixel_shuffle pixel_unshuffle reflection_pad1d reflection_pad2d replication_pad2d masked_scatter")
_kind("copy", "upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_nearest2d_backward zeros ones full")
_kind("copy", "zeros_like ones_like full_like empty_like new_zeros new_ones new_full new_empty new_empty_strided empty")
_kind("copy", "scalar_tensor arange eye linspace fill lift_fresh_copy")

# Functions that take many operations per element: about as many as a vectorized implementation does.
MATH = {
    "exp": 12, "exp2": 12, "expm1": 16, "log": 14, "log2": 14, "log10": 14, "log1p": 12, "sin": 18, "cos": 18,
    "tan": 24, "atan": 16, "atan2": 20, "tanh": 34, "sinh": 24, "cosh": 24, "asin": 18, "acos": 18, "erf": 18,
    "erfc": 18, "erfinv": 30, "sigmoid": 6, "log_sigmoid_forward": 20, "log_sigmoid_backward": 20, "silu": 6,
    "silu_backward": 8, "gelu": 12, "gelu_backward": 16, "mish": 30, "mish_backward": 34, "softplus": 22,
    "softplus_backward": 14, "elu": 18, "elu_backward": 10, "pow": 36, "lgamma": 40, "digamma": 40, "logaddexp": 26,
    "glu": 10, "glu_backward": 14,
}  # fmt: skip
TANH_FORM = {"gelu": 25, "gelu_backward": 28}  # the same with approximate="tanh"
# Operations per element of other kinds.
PER_ELEMENT = {"norm": 6, "norm.dx": 10, "softmax": 10, "softmax.dx": 4, "loss": 3, "loss.dx": 3, "dropout": 2}
BY_NAME = {"native_layer_norm": 8, "native_layer_norm_backward": 14}
BY_NAME |= {"native_group_norm": 7, "native_group_norm_backward": 12, "masked_fill": 2, "where": 2}
KEYS_AT_ONCE = 512  # of fused attention on processors
# They read only the shape of their argument.
SHAPES = {"zeros_like", "ones_like", "full_like", "empty_like", "new_zeros", "new_ones", "new_full", "new_empty"}
SHAPES |= {"new_empty_strided", "rand_like", "randn_like", "randint_like"}
# They read only as much of their first argument as they return.
GATHERS = {"embedding", "index", "_unsafe_index", "index_select", "gather"}


def work_of(target: Any, args: tuple, kwargs: dict[str, Any], out: Any) -> Work:
    """What a call does. Tensors may be fake: only their shapes, strides and types are read.

    Bytes are those of all tensors that the kernel reads and writes, views as far as they reach, expanded dimensions
    once. A product and a sum are two operations.
    """
    name = getattr(getattr(target, "overloadpacket", target), "__name__", str(target))
    read, written = tensors((args, kwargs)), tensors(out)
    kind, flops = counted(name, target, args, kwargs, read, written)
    dtype = type_of(kind, [*read, *written])
    if name in SHAPES:
        return Work(kind, dtype, flops, moved(written))
    if name in GATHERS:
        return Work(kind, dtype, flops, moved(read[1:]) + 2 * moved(written))
    return Work(kind, dtype, flops, moved([*read, *written]))


def tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in _adapter.pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def moved(touched: Iterable[torch.Tensor]) -> int:
    """Bytes of tensors; one that is passed twice is read once."""
    seen: dict[Any, int] = {}
    for k, tensor in enumerate(touched):
        steps = tensor.stride() if tensor.layout is torch.strided else ()
        once = math.prod(n for n, step in zip(tensor.shape, steps, strict=False) if step)
        place = (_adapter.storage_key(tensor), tensor.storage_offset(), tuple(tensor.shape)) if steps else k
        seen[place] = once * tensor.element_size()
    return sum(seen.values())


def type_of(kind: str, touched: list[torch.Tensor]) -> str:
    """The type that the kernel computes in: that of its first floating-point tensor."""
    first = next((t for t in touched if t.is_floating_point() or t.is_complex()), touched[-1] if touched else None)
    if first is None:
        return "int64"
    name = str(first.dtype).removeprefix("torch.")
    if name == "float32" and first.device.type == "cuda":
        exact = torch.backends.cudnn.allow_tf32 if kind.startswith("conv") else torch.backends.cuda.matmul.allow_tf32
        return "tf32" if exact and kind.split(".")[0] in ("conv", "matmul") else name
    return name


def counted(
    name: str, target: Any, args: tuple, kwargs: dict, read: list[torch.Tensor], written: list[torch.Tensor]
) -> tuple[str, int]:
    """The kind of an operation and its floating-point operations."""
    elements = max((t.numel() for t in written), default=0)
    largest = max((t.numel() for t in [*read, *written]), default=0)
    if name in ("convolution", "convolution_backward", "convolution_overrideable"):
        return convolution(name, args)
    if "scaled_dot_product" in name or name in ("_flash_attention_forward", "_efficient_attention_forward"):
        causal = bool(argument(target, args, kwargs, "is_causal"))
        return attention("backward" in name, causal, *(read[1:4] if "backward" in name else read[:3]))
    kind = KINDS.get(name)
    if kind == "matmul":
        return kind, product(name, read, written)
    if name == "pow" and isinstance(args[1], (int, float)) and args[1] in (0.5, 1, 2, 3, -1, -2):
        return "elementwise", elements
    if kind in ("pool", "pool.dx"):
        return kind, largest
    if kind is None and name in MATH:
        form = TANH_FORM if argument(target, args, kwargs, "approximate") == "tanh" else MATH
        return "math", form[name] * elements
    if kind is None and "_loss" in name:
        kind = "loss.dx" if "backward" in name else "loss"
    if name == "_to_copy" and read and written and read[0].dtype != written[0].dtype:
        return "elementwise", elements  # a cast
    tags = getattr(target, "tags", ())
    if kind is None:
        kind = "elementwise" if torch.Tag.pointwise in tags else "reduce" if torch.Tag.reduction in tags else "other"
    if kind in ("copy", "embed", "embed.dw"):
        return kind, elements if kind == "embed.dw" else 0
    return kind, BY_NAME.get(name, PER_ELEMENT.get(kind, 1)) * (elements if kind == "elementwise" else largest)


def product(name: str, read: list[torch.Tensor], written: list[torch.Tensor]) -> int:
    """Two operations for each element of the result and of the inner dimension."""
    first = read[1] if name in ("addmm", "baddbmm", "addbmm", "addmv", "addr", "_addmm_activation") else read[0]
    if name == "linear_backward":
        return 4 * read[1].numel() * read[2].shape[1]
    inner = 1 if name == "addr" else first.shape[-1]
    batch = first.shape[0] if name == "addbmm" else 1
    return 2 * batch * inner * written[0].numel()


def convolution(name: str, args: tuple) -> tuple[str, int]:
    """Each element of the weight meets every position of the smaller side, for each sample; groups are in its shape.

    A transposed convolution is the gradient of the input of an ordinary one, and runs that kernel."""
    back = name == "convolution_backward"
    out = args[0] if back else None
    source, weight = (args[1], args[2]) if back else (args[0], args[1])
    transposed, groups = (args[7], args[9]) if back else (args[6], args[8])
    if transposed:
        positions = math.prod(source.shape[2:])
    elif out is not None:
        positions = math.prod(out.shape[2:])
    else:
        stride, padding, dilation = args[3:6]
        positions = math.prod(
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, k, s, p, d in zip(
                source.shape[2:], weight.shape[2:], *(spread(v, source.dim() - 2) for v in (stride, padding, dilation)),
                strict=True,
            )
        )
    once = 2 * source.shape[0] * positions * weight.numel()
    channels = weight.shape[0] if transposed else weight.shape[1] * groups
    kind = "depthwise" if groups > 1 and groups == channels else "conv"
    if not back:
        return kind + (".dx" if transposed else ""), once
    mask = args[10]
    if mask[0] and not mask[1]:
        return kind + ("" if transposed else ".dx"), once
    return kind + ".dw", once * (int(mask[0]) + int(mask[1]))


def spread(value: Any, count: int) -> list[int]:
    listed = list(value)
    return listed * count if len(listed) == 1 else listed


def attention(
    back: bool, causal: bool, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
) -> tuple[str, int]:
    """Two products, of queries with keys and of weights with values; backward five. Causal kernels skip whole blocks of
    keys: on processors these are long."""
    length, keys = query.shape[-2], key.shape[-2]
    block = KEYS_AT_ONCE if query.device.type == "cpu" else 1
    if causal and length == keys:
        met = sum(min(block, length - k) * min(keys, k + block) for k in range(0, length, block))
    else:
        met = length * keys
    deep, wide = query.shape[-1], value.shape[-1]
    flops = 2 * math.prod(query.shape[:-2]) * met * (3 * deep + 2 * wide if back else deep + wide)
    return "attention.dx" if back else "attention", flops


def argument(target: Any, args: tuple, kwargs: dict[str, Any], name: str) -> Any:
    """An argument of a call by its name; None if the operation has no such."""
    for place, declared in enumerate(target._schema.arguments if hasattr(target, "_schema") else ()):
        if declared.name == name:
            given = args[place] if place < len(args) else kwargs.get(name)
            return declared.default_value if given is None and declared.has_default_value() else given
    return None
