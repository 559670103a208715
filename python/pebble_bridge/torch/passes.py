"""What is done to a captured graph before planning: less of it, in smaller pieces, with the freedom to overwrite."""
from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx

from . import _adapter
from .program import Operation, Overwrite, Program, Value

aten = torch.ops.aten


def simplify(trace: _adapter.Trace) -> None:
    """Removes what does nothing and splits convolutions' backward passes; results stay equal bit for bit."""
    graph = trace.module.graph
    for node in list(graph.nodes):
        if node.op != "call_function":
            continue
        if node.target in (aten.detach.default, aten.alias.default, aten.lift_fresh.default):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
        elif node.target is aten.clone.default and is_plain_copy(node):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    for node in list(graph.nodes):
        if node.op == "call_function" and node.target is aten.convolution_backward.default:
            split_convolution_backward(graph, node, trace)
    for node in reversed(list(graph.nodes)):
        if node.op == "call_function" and not node.users and not _adapter.is_random(node.target) \
                and not (node.target is not operator.getitem and _adapter.has_effects(node.target)):
            graph.erase_node(node)


def is_plain_copy(node: fx.Node) -> bool:
    """A copy with the layout of its source, which fills its storage: nothing in a functional graph can tell them apart."""
    source = node.args[0].meta.get("val")
    copy = node.meta.get("val")
    if source is None or copy is None or any(user.op == "output" for user in node.users):
        return False
    whole = source.untyped_storage().nbytes() == source.numel() * source.element_size()
    return whole and source.stride() == copy.stride() and source.storage_offset() == 0


def split_convolution_backward(graph: fx.Graph, node: fx.Node, trace: _adapter.Trace) -> None:
    """One call for the gradient of the input and one for those of the weights: the kernel does them one after the other anyway,
    and apart they need not be in memory together."""
    mask = list(node.args[10])
    items = {user.args[1]: user for user in node.users if user.target is operator.getitem}
    if not mask[0] or not (mask[1] or mask[2]) or 0 not in items or len(items) < 2:
        return
    for part in ([True, False, False], [False, mask[1], mask[2]]):
        with graph.inserting_before(node):
            call = graph.call_function(node.target, (*node.args[:10], part))
        trace.origin[call] = trace.origin[node]
        for place, item in items.items():
            if part[place]:
                item.replace_input_with(node, call)
    for item in [user for user in node.users if not user.users]:
        graph.erase_node(item)
    if not node.users:
        graph.erase_node(node)


# Elementwise operations that can write over an input: the overload that does, the name of its out argument ("" where it writes
# to its first argument), and the arguments that may be overwritten. Only kernels that really work in place: overloads that torch
# generates allocate a result and copy it.
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
# The same for kernels that work row by row: they are believed after a trial on the shapes at hand.
OVERWRITING_BY_ROWS: dict[Any, tuple[Any, str, tuple[int, ...]]] = {
    aten._softmax.default: (aten._softmax.out, "out", (0,)),
    aten._log_softmax.default: (aten._log_softmax.out, "out", (0,)),
    aten._softmax_backward_data.default: (aten._softmax_backward_data.out, "grad_input", (0,)),
    aten._log_softmax_backward_data.default: (aten._log_softmax_backward_data.out, "out", (0,)),
}


def find_inplace(program: Program) -> None:
    """Marks inputs that an operation may be made over: the same layout, the whole storage, read by nothing else that overlaps it."""
    for operation in program.operations:
        target = operation.node.target
        known = OVERWRITING.get(target) or OVERWRITING_BY_ROWS.get(target)
        if known is not None and not operation.once:
            function, out, places = known
            for place in places:
                value = overwritable(program, operation, place)
                if value is not None:
                    operation.over[value] = Overwrite(function, out, operation.node.args[place], target in OVERWRITING)


def try_inplace(program: Program, run: bool) -> None:
    """Keeps the doubtful ones of `find_inplace` that give the same bits on random data; without `run`, none."""
    tried: dict[Any, bool] = {}
    for operation in program.operations:
        for value, how in list(operation.over.items()):
            if not how.certain:
                key = (operation.node.target, program.fake[operation.node].shape, str(operation.node.args[1:]))
                if key not in tried:
                    tried[key] = run and same_in_place(program, operation, how)
                if not tried[key]:
                    del operation.over[value]


def same_in_place(program: Program, operation: Operation, how: Overwrite) -> bool:
    node = operation.node
    real = {source: _adapter.real_like(program.fake[source]) for source in node.all_input_nodes}
    args, kwargs = fx.map_arg((node.args, node.kwargs), real.__getitem__)
    with torch.no_grad():
        wanted = node.target(*args, **kwargs)
        return torch.equal(how.function(*args, **kwargs, **{how.out: real[how.node]}), wanted)


def overwritable(program: Program, operation: Operation, place: int) -> Value | None:
    node = operation.node.args[place] if place < len(operation.node.args) else None
    if not isinstance(node, fx.Node) or node not in program.value_of:
        return None
    value, source, result = program.value_of[node], program.fake[node], program.fake[operation.node]
    same = (source.shape == result.shape and source.stride() == result.stride() and source.dtype == result.dtype
            and source.storage_offset() == 0 and value.size == operation.main.size
            and value.size == source.numel() * source.element_size() and source.device == result.device)
    if not same or value.kept:
        return None
    others = [n for i, n in enumerate(operation.node.args) if isinstance(n, fx.Node) and i != place]
    if any(program.value_of.get(n) is value and n is not node for n in others):
        return None
    return value
