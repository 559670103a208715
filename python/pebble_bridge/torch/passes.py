"""Passes over a captured graph before planning: simplify it, split kernels, and find in-place operations."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import repeat
from typing import Any

import torch
from torch import fx

from . import _adapter
from .program import Operation, Overwrite, Program, Value

aten = torch.ops.aten


def simplify(trace: _adapter.Trace, trials: bool) -> None:
    """Removes no-ops, and reads that only need a shape; results are bitwise equal.

    With `trials`, replacements of kernels are run on random data of the same shapes, and used if the results are
    bitwise equal; without, they are not used.
    """
    graph = trace.module.graph
    for node in list(graph.nodes):
        source = COPIES.get(node.target) if node.op == "call_function" else None
        if source is not None and (node.target in NOTHING or is_plain_copy(node, node.args[source])):
            node.replace_all_uses_with(node.args[source])
            graph.erase_node(node)
    for node in list(graph.nodes):
        if node.op == "call_function" and node.users and all(map(writes_only, node.users, repeat(node))):
            write_at_once(trace, node)
    for node in list(graph.nodes):
        if node.op == "call_function" and node.target is aten.native_dropout.default:
            round_dropout(trace, node)
    tried: dict[Any, bool] = {}
    for node in list(graph.nodes):
        if node.op == "call_function" and node.target is aten.convolution_backward.default:
            split_convolution_backward(trace, node, tried if trials else None)
        elif node.op == "call_function" and node.target in SHAPE_ONLY and trials:
            read_shape_only(trace, node, SHAPE_ONLY[node.target], tried)
    for node in reversed(list(graph.nodes)):
        if (
            node.op == "call_function"
            and not node.users
            and not _adapter.is_random(node.target)
            and not (node.target is not operator.getitem and _adapter.has_effects(node.target))
        ):
            graph.erase_node(node)


NOTHING = {aten.detach.default, aten.alias.default, aten.lift_fresh.default}
COPIES = dict.fromkeys(NOTHING, 0) | {aten.clone.default: 0, aten.copy.default: 1}  # the argument that is copied
# Backward operations, and the argument of which they need only the shape.
SHAPE_ONLY = {
    aten.max_pool2d_with_indices_backward.default: 1,
    aten.avg_pool2d_backward.default: 1,
    aten._adaptive_avg_pool2d_backward.default: 1,
}


def insert(trace: _adapter.Trace, before: fx.Node, target: Any, args: tuple) -> fx.Node:
    """A call in place of another, of the same module."""
    with trace.module.graph.inserting_before(before):
        node = trace.module.graph.call_function(target, args)
    trace.origin[node] = trace.origin[before]
    return node


def round_dropout(trace: _adapter.Trace, node: fx.Node) -> None:
    """Gives the kernel of dropout the factor of eager PyTorch on processors: 1 / (1 - p), divided and rounded in the
    type of the tensor. In bfloat16 the kernel's own factor for gradients differs in the third digit, in float32 that of
    some probabilities in the last one."""
    source, p, train = node.args[:3]
    value = source.meta["val"]
    if value.device.type != "cpu" or not train or not 0 < p < 1:
        return
    factor = torch.ones((), dtype=value.dtype).div_(1 - p).item()
    items = {user.args[1]: user for user in node.users if user.target is operator.getitem}
    for user in list(items[1].users) if 1 in items else ():
        if user.target is aten.native_dropout_backward.default and user.args[1] is items[1]:
            user.update_arg(2, factor)
    if 0 in items and 1 in items and value.dtype is torch.float32 and factor != torch.tensor(1 / (1 - p)).item():
        last = max(items.values(), key=list(trace.module.graph.nodes).index)
        with trace.module.graph.inserting_after(last):
            output = trace.module.graph.call_function(aten.native_dropout_backward.default, (source, items[1], factor))
        trace.origin[output], output.meta["val"] = trace.origin[node], items[0].meta["val"]
        items[0].replace_all_uses_with(output)


def read_shape_only(trace: _adapter.Trace, node: fx.Node, place: int, tried: dict[Any, bool]) -> None:
    """Replaces the argument by one number expanded to its shape, so that the argument need not be in memory."""
    value = node.args[place].meta["val"]
    if not value.is_contiguous():
        return

    def with_stand_in(*args: Any) -> torch.Tensor:
        shape_of = args[place]
        return node.target(*args[:place], shape_of.new_zeros(1).expand(shape_of.shape), *args[place + 1 :])

    if same_bits(node, node.target, with_stand_in, tried):
        kind = {"dtype": value.dtype, "device": value.device}
        with trace.module.graph.inserting_before(node):
            one = trace.module.graph.call_function(aten.zeros.default, ([1],), kind)
        trace.origin[one] = trace.origin[node]
        node.update_arg(place, insert(trace, node, aten.expand.default, (one, list(value.shape))))


def same_bits(node: fx.Node, one: Any, other: Any, tried: dict[Any, bool]) -> bool:
    """Whether two functions agree on random data in the shapes of the node's arguments; equal cases are tried once."""
    shapes = fx.map_arg(
        (node.args, node.kwargs),
        lambda n: (tuple(n.meta["val"].shape), tuple(n.meta["val"].stride()), n.meta["val"].dtype),
    )
    key = (node.target, getattr(other, "__name__", ""), str(shapes))
    if key not in tried:
        real = {source: _adapter.real_like(source.meta["val"]) for source in node.all_input_nodes}
        args, kwargs = fx.map_arg((node.args, node.kwargs), real.__getitem__)
        with torch.no_grad():
            expected, found = one(*args, **kwargs), other(*args, **kwargs)
        tried[key] = expected.stride() == found.stride() and torch.equal(expected, found)
    return tried[key]


def is_plain_copy(node: fx.Node, copied: fx.Node) -> bool:
    """Whether this is a copy with the layout of its source, which fills its storage: in a functional graph both are
    interchangeable."""
    source = copied.meta.get("val")
    copy = node.meta.get("val")
    if source is None or copy is None or any(user.op == "output" for user in node.users):
        return False
    whole = source.untyped_storage().nbytes() == source.numel() * source.element_size()
    same = source.dtype is copy.dtype and source.stride() == copy.stride() and source.device == copy.device
    return same and whole and source.storage_offset() == 0


def writes(node: fx.Node) -> bool:
    return node.op == "call_function" and node.target in WRITING_VIEWS


def writes_only(node: fx.Node, source: fx.Node) -> bool:
    """Whether it writes `source` into a part of another tensor."""
    return writes(node) and node.args[1] is source and node.args[0] is not source


def base_of(node: fx.Node) -> fx.Node:
    """The node whose storage this is a view of."""
    while node.op == "call_function" and _adapter.is_view(node.target):
        node = node.args[0]
    return node


def write_at_once(trace: _adapter.Trace, node: fx.Node) -> None:
    """Changes a value that is only written into parts of tensors. ``x[:, i] = y`` became a copy of ``y`` in the layout of
    ``x[:, i]``, with gaps as large as ``x``, and a write of that: the copy is taken out. ``x[:, i, :2] = y`` became a write
    into such a copy of ``x[:, i]``: it gets a copy without gaps."""
    copy = node.meta.get("val")
    source = node.args[1] if node.target is aten.copy.default else node.args[0] if writes(node) else None
    given = source.meta.get("val") if isinstance(source, fx.Node) else None
    if given is None or copy is None or given.dtype is not copy.dtype or given.device != copy.device:
        return
    if writes(node):
        if not given.is_contiguous():
            dense = insert(trace, node, aten.clone.default, (source,))
            dense.kwargs = {"memory_format": torch.contiguous_format}
            dense.meta["val"] = given.contiguous()
            node.update_arg(0, dense)
        return
    if any(base_of(user.args[0]) is base_of(source) for user in node.users):  # x[:, 1] = x[:, 0]
        return
    if given.shape != copy.shape:
        source = insert(trace, node, aten.expand.default, (source, list(copy.shape)))
        source.meta["val"] = given.expand(copy.shape)
    node.replace_all_uses_with(source)
    trace.module.graph.erase_node(node)


def split_convolution_backward(trace: _adapter.Trace, node: fx.Node, tried: dict[Any, bool] | None) -> None:
    """Splits the kernel into one call for the gradient of the input and one for those of the weights: it computes them
    in sequence anyway, and split they need not be in memory together. The first is a transposed convolution, which does
    not read the input. Without trials, or if results would differ, the node is unchanged."""
    mask = list(node.args[10])
    items = {user.args[1]: user for user in node.users if user.target is operator.getitem and user.users}
    weights = [place for place in (1, 2) if place in items]
    if 0 not in items or tried is None:
        return
    transposed = transposed_arguments(node)
    if transposed is not None and same_bits(node, gradient_of_input, by_transposition(transposed), tried):
        whole = insert(trace, node, aten.convolution.default, (node.args[0], node.args[2], None, *transposed))
        whole.meta["val"] = items[0].meta["val"]
        items[0].replace_all_uses_with(whole)
    elif weights and same_bits(node, gradient_of_input, by_part(node, [True, False, False], 0), tried):
        items[0].replace_input_with(node, insert(trace, node, node.target, (*node.args[:10], [True, False, False])))
    else:
        return
    part = [False, mask[1], mask[2]]
    if weights and all(same_bits(node, gradient_of(place), by_part(node, part, place), tried) for place in weights):
        rest = insert(trace, node, node.target, (*node.args[:10], part))
        for place in weights:
            items[place].replace_input_with(node, rest)


def gradient_of(place: int) -> Any:
    return lambda *args: aten.convolution_backward.default(*args)[place]


gradient_of_input = gradient_of(0)


def by_part(node: fx.Node, part: list[bool], place: int) -> Any:
    """One gradient of a convolution from a call that computes only some of them."""

    def parted(*args: Any) -> torch.Tensor:
        return node.target(*args[:10], part)[place]

    parted.__name__ = f"part {part} {place}"
    return parted


def by_transposition(transposed: tuple) -> Any:
    """The gradient of a convolution's input as a convolution."""

    def transposition(gradient: torch.Tensor, source: torch.Tensor, weight: torch.Tensor, *_: Any) -> torch.Tensor:
        return aten.convolution.default(gradient, weight, None, *transposed)

    return transposition


def transposed_arguments(node: fx.Node) -> tuple | None:
    """stride, padding, dilation, transposed, output padding and groups of the convolution that gives the input's
    gradient."""
    gradient, source, weight = (argument.meta["val"] for argument in node.args[:3])
    sizes, transposed, groups = node.args[4:7], node.args[7], node.args[9]
    # one number stands for all dimensions
    stride, padding, dilation = (list(size) * ((source.dim() - 2) // len(size)) for size in sizes)
    if transposed:
        return stride, padding, dilation, False, [0] * len(stride), groups
    rest = [
        source.shape[2 + i]
        - ((gradient.shape[2 + i] - 1) * stride[i] - 2 * padding[i] + dilation[i] * (weight.shape[2 + i] - 1) + 1)
        for i in range(len(stride))
    ]
    if any(not 0 <= r < max(s, d) for r, s, d in zip(rest, stride, dilation, strict=False)):
        return None
    return stride, padding, dilation, True, rest, groups


def settle_gradients(trace: _adapter.Trace, program: Program, parameters: Sequence[torch.Tensor]) -> bool:
    """Copies gradients that are views of something else, or not in the layout of their parameter, as autograd does
    when it accumulates them. True if there were such: then the program must be analysed again."""
    changed, seen = False, set()
    output = trace.module.graph.output_node()
    for place, index in trace.gradients.items():
        node, parameter = program.results[place], parameters[index]
        gradient, value = program.fake[node], program.value_of.get(node)
        whole = value is not None and value not in seen and value.size == gradient.numel() * gradient.element_size()
        seen.add(value)
        if not whole or gradient.stride() != parameter.stride():
            copy = insert(trace, output, aten.clone.default, (node,))
            copy.kwargs = {"memory_format": layout_of(parameter)}
            trace.origin[copy] = trace.origin[node]
            replace_result(output, place, copy)
            changed = True
    return changed


def layout_of(tensor: torch.Tensor) -> torch.memory_format:
    for layout, dimensions in ((torch.channels_last, 4), (torch.channels_last_3d, 5)):
        if tensor.dim() == dimensions and not tensor.is_contiguous() and tensor.is_contiguous(memory_format=layout):
            return layout
    return torch.contiguous_format


def replace_result(output: fx.Node, place: int, node: fx.Node) -> None:
    leaves, shape = _adapter.pytree.tree_flatten(output.args[0], is_leaf=lambda leaf: leaf is None)
    leaves[place] = node
    output.args = (_adapter.pytree.tree_unflatten(leaves, shape),)


# Elementwise operations that can overwrite an input: the overload that does, the name of its out argument ("" if it
# writes to its first argument), and the arguments that may be overwritten. Only kernels that really work in place:
# overloads that torch generates allocate a result and copy it.
OVERWRITING: dict[Any, tuple[Any, str, tuple[int, ...]]] = {
    aten.relu.default: (aten.relu_.default, "", (0,)),
    aten.masked_fill.Scalar: (aten.masked_fill_.Scalar, "", (0,)),
    aten.gelu.default: (aten.gelu.out, "out", (0,)),
    aten.silu.default: (aten.silu.out, "out", (0,)),
    aten.sigmoid.default: (aten.sigmoid.out, "out", (0,)),
    aten.tanh.default: (aten.tanh.out, "out", (0,)),
    aten.exp.default: (aten.exp.out, "out", (0,)),
    aten.neg.default: (aten.neg.out, "out", (0,)),
    aten.add.Tensor: (aten.add.out, "out", (0, 1)),
    aten.sub.Tensor: (aten.sub.out, "out", (0, 1)),
    aten.mul.Tensor: (aten.mul.out, "out", (0, 1)),
    aten.div.Tensor: (aten.div.out, "out", (0, 1)),
    aten.threshold_backward.default: (aten.threshold_backward.grad_input, "grad_input", (0, 1)),
    aten.gelu_backward.default: (aten.gelu_backward.grad_input, "grad_input", (0, 1)),
    aten.silu_backward.default: (aten.silu_backward.grad_input, "grad_input", (0, 1)),
    aten.sigmoid_backward.default: (aten.sigmoid_backward.grad_input, "grad_input", (0, 1)),
    aten.tanh_backward.default: (aten.tanh_backward.grad_input, "grad_input", (0, 1)),
}
# The same for kernels that work row by row: they are used after a successful trial with the actual shapes.
OVERWRITING_BY_ROWS: dict[Any, tuple[Any, str, tuple[int, ...]]] = {
    aten._softmax.default: (aten._softmax.out, "out", (0,)),
    aten._log_softmax.default: (aten._log_softmax.out, "out", (0,)),
    aten._softmax_backward_data.default: (aten._softmax_backward_data.out, "grad_input", (0,)),
    aten._log_softmax_backward_data.default: (aten._log_softmax_backward_data.out, "out", (0,)),
}


def write_slice(base: torch.Tensor, source: torch.Tensor, *places: Any, **named: Any) -> torch.Tensor:
    """``base[a:b] = source``: what functionalization turned into slice_scatter."""
    aten.slice.Tensor(base, *places, **named).copy_(source)
    return base


def write_selected(base: torch.Tensor, source: torch.Tensor, *places: Any, **named: Any) -> torch.Tensor:
    """``base[i] = source``."""
    aten.select.int(base, *places, **named).copy_(source)
    return base


# Writes into a part of a tensor, which functionalization made copies of the whole: the first argument is overwritten.
WRITING_PARTS: dict[Any, Any] = {
    aten.slice_scatter.default: write_slice,
    aten.select_scatter.default: write_selected,
    aten.copy.default: aten.copy_.default,
    aten.index_put.default: aten.index_put_.default,
    aten.index_copy.default: aten.index_copy_.default,
    aten.index_add.default: aten.index_add_.default,
    aten.index_fill.int_Scalar: aten.index_fill_.int_Scalar,
    aten.scatter.src: aten.scatter_.src,
    aten.scatter.value: aten.scatter_.value,
    aten.scatter_add.default: aten.scatter_add_.default,
    aten.masked_scatter.default: aten.masked_scatter_.default,
}
WRITING_VIEWS = {aten.slice_scatter.default, aten.select_scatter.default}  # they copy their second argument
OVERWRITING |= {target: (function, "", (0,)) for target, function in WRITING_PARTS.items()}


def find_inplace(program: Program) -> None:
    """Marks inputs that an operation may overwrite: they have the same layout, fill their storage, and no other
    argument overlaps them. The outputs belong to the caller, who may still read them when the backward pass is over."""
    returned = {program.value_of.get(node) for node in program.results[: program.early]}
    for operation in program.operations:
        target = operation.node.target
        known = OVERWRITING.get(target) or OVERWRITING_BY_ROWS.get(target)
        if known is not None and not operation.once:
            function, out, places = known
            for place in places:
                value = overwritable(program, operation, place)
                if value is not None and value not in returned:
                    node, certain = operation.node.args[place], target in OVERWRITING
                    operation.over[value] = Overwrite(function, out, node, certain, target in WRITING_PARTS)


def try_inplace(program: Program, trials: bool) -> None:
    """Keeps the uncertain results of `find_inplace` that are bitwise equal on random data; without `trials`, none."""
    tried: dict[Any, bool] = {}
    for operation in program.operations:
        for value, how in list(operation.over.items()):
            if not how.certain:
                key = (operation.node.target, program.fake[operation.node].shape, str(operation.node.args[1:]))
                if key not in tried:
                    tried[key] = trials and same_in_place(program, operation, how)
                if not tried[key]:
                    del operation.over[value]


def same_in_place(program: Program, operation: Operation, how: Overwrite) -> bool:
    node = operation.node
    real = {source: _adapter.real_like(program.fake[source]) for source in node.all_input_nodes}
    args, kwargs = fx.map_arg((node.args, node.kwargs), real.__getitem__)
    with torch.no_grad():
        expected = node.target(*args, **kwargs)
        return torch.equal(how.function(*args, **kwargs, **{how.out: real[how.node]}), expected)


def overwritable(program: Program, operation: Operation, place: int) -> Value | None:
    node = operation.node.args[place] if place < len(operation.node.args) else None
    if not isinstance(node, fx.Node) or node not in program.value_of:
        return None
    value, source, result = program.value_of[node], program.fake[node], program.fake[operation.node]
    same = (
        source.shape == result.shape
        and source.stride() == result.stride()
        and source.dtype == result.dtype
        and source.storage_offset() == 0
        and value.size == operation.main.size
        and value.size == source.numel() * source.element_size()
        and source.device == result.device
    )
    if not same or value.kept:
        return None
    others = [n for i, n in enumerate(operation.node.args) if isinstance(n, fx.Node) and i != place]
    if any(program.value_of.get(n) is value and n is not node for n in others):
        return None
    return value
