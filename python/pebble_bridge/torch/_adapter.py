"""All uses of undocumented torch interfaces, in this one file.

Written for torch 2.13; `check_version` rejects versions that were not tested, so that a change inside torch causes an
error and not a wrong plan.
"""

from __future__ import annotations

import bisect
import gc
import mmap
import operator
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import torch
from torch import fx, nn
from torch.utils import _pytree as pytree

from .errors import Unsupported, UnsupportedTorch
from .refusals import why_not

TESTED = (2, 13)


def check_version(version: str | None = None) -> None:
    """Raises `UnsupportedTorch` if the installed version of torch is not supported."""
    text = version or torch.__version__
    try:
        found = tuple(int(part) for part in text.split("+")[0].split(".")[:2])
    except ValueError:
        found = (0, 0)
    if found != TESTED:
        supported = ".".join(map(str, TESTED))
        raise UnsupportedTorch(
            f"pebble_bridge.torch supports torch {supported}, and this is torch {text}: install torch {supported}, "
            "or plan a graph file with pebble_bridge, without torch"
        )


# -- operations ----------------------------------------------------------------------------------------------------

COLLECTIVES = {"_c10d_functional", "c10d", "c10d_functional", "_c10d_functional_autograd"}


def op_name(target: Any) -> str:
    """The displayed name of an operation: ``aten.relu``, with its overload unless that is the default."""
    if target is operator.getitem:
        return "getitem"
    return str(target).removesuffix(".default")


def storage_key(tensor: torch.Tensor) -> int:
    """A key that is equal for tensors that share memory, while one of them is alive."""
    return tensor.untyped_storage()._cdata


def writes_in_place(target: Any) -> bool:
    """Whether an operation writes to an argument."""
    schema = getattr(target, "_schema", None)
    return schema is not None and schema.is_mutable


def is_random(target: Any) -> bool:
    """Whether it draws from a random generator, so that another call gives another result."""
    return torch.Tag.nondeterministic_seeded in getattr(target, "tags", ())


def generator_of(node: fx.Node, device: torch.device) -> torch.Generator | None:
    """The default generator of the device, if a random operation draws only from it: its state can be restored."""
    given = pytree.tree_leaves((node.args, node.kwargs))
    if node.target.namespace != "aten" or any(isinstance(leaf, torch.Generator) for leaf in given):
        return None
    if device.type == "cuda":
        return torch.cuda.default_generators[torch.cuda.current_device() if device.index is None else device.index]
    return torch.default_generator if device.type == "cpu" else None


def has_effects(target: Any) -> bool:
    """A collective, or an unknown operation: computed only once."""
    schema = getattr(target, "_schema", None)
    if schema is None:
        return True
    if target.namespace in COLLECTIVES:
        return True
    return schema.is_mutable


def is_view(target: Any) -> bool:
    """Whether an operation returns views of its first argument."""
    schema = getattr(target, "_schema", None)
    returned = schema.returns[0].alias_info if schema is not None and schema.returns else None
    return returned is not None and not returned.is_write


def refuse_mutation(node: fx.Node) -> None:
    """Captured steps are functional; an operation that still writes to its arguments cannot be repeated."""
    operation = node.args[0] if "auto_functionalized" in str(node.target) else node.target  # a custom operator in it
    schema = getattr(operation, "_schema", None)
    if schema is None:
        raise Unsupported(
            f"{operation} is not an aten operation; wrap it as torch.library.custom_op with a fake implementation"
        )
    if schema.is_mutable:
        raise Unsupported(
            f"{op_name(operation)} writes to its arguments and has no functional form; "
            "use its out-of-place variant in the model"
        )


# -- capture -------------------------------------------------------------------------------------------------------


class Trace(NamedTuple):
    """A captured step; its placeholders are the parameters, the buffers, the inputs and the tangents, in order.

    A tangent is the gradient of an output, which the step takes as an input. The fused step of a loss has none.
    """

    module: fx.GraphModule
    gradients: dict[int, int]  # result place -> parameter, or an input after the parameters and buffers
    buffers: dict[int, int]  # result place -> buffer
    written: list[int]  # places of these buffers among the placeholders
    outputs: list[int]  # result places
    brief: list[int]  # of these, outputs that need not exist in the backward pass
    tangents: list[fx.Node]
    origin: dict[fx.Node, tuple[str, bool]]  # the module of a node, and whether it is of the backward pass


class _Scribe:
    """Records the module of each node of the trace: in the forward pass by hooks, in the backward pass by the autograd
    node that runs.

    Nodes are marked at each change of the module: all nodes since the last change belong to the previous module.
    """

    def __init__(self) -> None:
        self.stack: list[str] = [""]
        self.now = ""
        self.sequences: list[tuple[int, str]] = []  # autograd sequence numbers from this one on belong to this module
        self.hooks: list[Any] = []

    def listen(self, model: nn.Module) -> None:
        for name, module in model.named_modules():
            if module is not model:
                self.hooks.append(module.register_forward_pre_hook(lambda m, a, name=name: self.enter(name)))
                self.hooks.append(module.register_forward_hook(lambda m, a, out: self.leave(), always_call=True))

    def close(self) -> None:
        for hook in self.hooks:
            hook.remove()

    def change(self, module: str) -> None:
        from torch.fx.experimental.proxy_tensor import get_proxy_mode

        mode = get_proxy_mode()
        if mode is not None:
            for node in reversed(mode.tracer.graph.nodes):
                if "pebble" in node.meta.get("custom", ()):
                    break
                node.meta["custom"] = {**node.meta.get("custom", {}), "pebble": self.now}
        self.now = module

    def enter(self, name: str) -> None:
        self.stack.append(name)
        self.forward()

    def leave(self) -> None:
        self.stack.pop()
        self.forward()

    def forward(self) -> None:
        self.change(self.stack[-1])
        self.sequences.append((torch.autograd._get_sequence_nr(), self.stack[-1]))

    def backward(self, outputs: Sequence[Any]) -> None:
        """Called with the outputs before the backward pass: adds a hook to every autograd node."""
        self.change("")
        first = {output.grad_fn for output in outputs if isinstance(output, torch.Tensor)} - {None}
        waiting, seen = list(first), set(first)
        while waiting:
            function = waiting.pop()
            function.register_prehook(self.teller(function._sequence_nr()))
            for following, _ in function.next_functions:
                if following is not None and following not in seen:
                    seen.add(following)
                    waiting.append(following)

    def teller(self, sequence: int) -> Callable:
        return lambda grads: self.runs(sequence)

    def runs(self, sequence: int) -> None:
        if (
            self.sequences and sequence <= self.sequences[-1][0]
        ):  # accumulation into leaves has the largest sequence number
            place = bisect.bisect_right(self.sequences, sequence, key=lambda entry: entry[0])
            self.change(self.sequences[place - 1][1] if place else "")


def trace(
    model: nn.Module,
    run: Callable,
    parameters: Sequence[nn.Parameter],
    buffers: Sequence[torch.Tensor],
    inputs: Sequence[torch.Tensor],
    differentiated: Callable | None = None,
) -> Trace:
    """Captures forward, loss and backward as one functional graph of aten operations.

    Parameters
    ----------
    model : nn.Module
        The source of module names.
    run : callable
        ``run(parameters, buffers, inputs)`` returns the list of outputs; without `differentiated`, one loss.
    parameters, buffers, inputs : sequences of tensors
        Parameters get gradients, and so do inputs that require one; buffers may be written to.
    differentiated : callable, optional
        ``differentiated(outputs)`` returns the places of the outputs whose gradients the step takes as inputs. Without
        it the only output is a loss, whose gradient is 1.
    """
    from torch._functorch.aot_autograd import _aot_export_function

    register_fakes()
    scribe = _Scribe()
    state = len(parameters) + len(buffers)
    device = next((value.device.type for value in (*parameters, *buffers, *inputs)), "cpu")
    cast = torch.is_autocast_enabled(device)

    def step(*values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        torch.set_autocast_enabled(device, cast)
        outputs = run(values[: len(parameters)], values[len(parameters) : state], values[state:])
        if differentiated is not None:
            # a view that gets a gradient would be traced through its base, which is no output
            chosen = set(differentiated(outputs))
            outputs = [
                (out.clone() if out._is_view() else out) if place in chosen else out.detach()
                for place, out in enumerate(outputs)
            ]
        scribe.backward(outputs)
        torch.set_autocast_enabled(device, False)  # users call backward() outside of autocast
        return tuple(outputs)

    try:
        scribe.listen(model)
        with torch.enable_grad(), torch.fx.traceback.preserve_node_meta(), as_in_eager(), compiling():
            module, metadata, _, _ = _aot_export_function(
                step,
                (*parameters, *buffers, *inputs),
                num_params_buffers=state,
                decompositions={},
                no_tangents=differentiated is None,
                trace_joint=True,
            )
    except Unsupported:
        raise
    except Exception as error:
        raise Unsupported(why_not(error)) from error
    finally:
        scribe.close()
        torch.set_autocast_enabled(device, cast)
    tangents = list(module.graph.find_nodes(op="placeholder"))[state + len(inputs) :]
    if differentiated is None:
        for node in tangents:
            module.graph.erase_node(node)  # that of the loss is 1
        tangents = []
    written = list(metadata.mutated_inp_runtime_indices)
    if any(index >= state for index in written):
        raise Unsupported(
            f"the model writes to its input {min(i for i in written if i >= state) - state}: copy it first"
        )
    if any(index < len(parameters) for index in written):
        raise Unsupported(
            "the model writes to a parameter during the step: make it a buffer, or write under the optimizer"
        )
    results = pytree.tree_leaves(module.graph.output_node().args[0], is_leaf=lambda leaf: leaf is None)
    first = len(results) - state - len(inputs)
    origin, waiting = {}, {node for node in results[:first] if isinstance(node, fx.Node)}  # the backward pass begins after the last output
    for node in module.graph.nodes:
        origin[node] = (node.meta.get("custom", {}).get("pebble", ""), not waiting)
        waiting.discard(node)
    return Trace(
        module,
        {first + i: i for i in range(state + len(inputs)) if results[first + i] is not None},
        {place: index - len(parameters) for place, index in enumerate(written)},
        written,
        list(range(len(written), len(written) + len(metadata.output_info))),
        [],
        tangents,
        origin,
    )


@contextmanager
def compiling() -> Iterator[None]:
    """A context in which ``torch.compiler.is_compiling()`` is true: models then omit shortcuts that depend on data,
    such as that of a mask without padding."""
    before = torch.compiler._is_compiling_flag
    torch.compiler._is_compiling_flag = True
    try:
        yield
    finally:
        torch.compiler._is_compiling_flag = before


def is_exporting() -> bool:
    """Whether torch.export traces this code, or capture itself."""
    flagged = torch.compiler._is_compiling_flag and not torch.compiler.is_dynamo_compiling()
    return torch.compiler.is_exporting() or flagged


@contextmanager
def as_in_eager() -> Iterator[None]:
    """A context in which torch traces the operations that eager autograd runs."""
    whole = [torch.ops.aten.silu_backward.default, torch.ops.aten.mish_backward.default]
    with ExitStack() as stack:
        for operation in undecomposed():
            stack.enter_context(without_python(operation))
        for operation in whole:  # one kernel, and eight operations in torch's traces
            operation.decompose = lambda *args, **kwargs: NotImplemented
            stack.callback(delattr, operation, "decompose")
        yield


def undecomposed() -> Iterator[Any]:
    """Operations that torch's traces would replace by others, written in Python: those lose the order of sums, and are
    several times slower in eager kernels (interpolation by gathering, layers of recurrent networks)."""
    import torch._decomp.decompositions  # noqa: F401, which registers them

    for name in dir(torch.ops.aten):
        if "upsample" in name or name in PYTHON_FORMS:
            packet = getattr(torch.ops.aten, name)
            yield from (getattr(packet, overload) for overload in packet.overloads())


PYTHON_FORMS = {"gru", "lstm", "rnn_relu", "rnn_tanh", "hardshrink", "softshrink", "multi_margin_loss", "unsafe_chunk"}
PYTHON_FORMS |= {"multilabel_margin_loss_forward"}


@contextmanager
def without_python(operation: Any) -> Iterator[None]:
    """An operation with its own kernels in place of functions that torch has registered for its traces."""
    keys = [torch._C.DispatchKey.Autograd, torch._C.DispatchKey.CompositeImplicitAutograd]
    removed = {key: operation.py_kernels.pop(key) for key in keys if key in operation.py_kernels}
    operation._dispatch_cache.clear()
    try:
        yield
    finally:
        operation.py_kernels.update(removed)
        operation._dispatch_cache.clear()


def register_fakes() -> None:
    """Shapes of results of kernels for which torch has none."""
    if FAKES:
        return

    def lstm_backward(
        values: torch.Tensor, w0: torch.Tensor, w1: torch.Tensor, w2: torch.Tensor, w3: torch.Tensor, *rest: Any
    ) -> tuple[torch.Tensor, ...]:
        return tuple(map(torch.empty_like, (values, w0, w1, w2, w3, *rest[:2])))

    FAKES.append(torch.library.register_fake("aten::mkldnn_rnn_layer_backward", lstm_backward))


FAKES: list[Any] = []


def kernel_of(target: Any) -> Any:
    """What a plan calls for an operation of the graph."""
    return lstm_for_training if target is torch.ops.aten.mkldnn_rnn_layer.default else target


def lstm_for_training(*arguments: Any) -> Any:
    """Its result for the backward pass exists only while autograd is on, which must not see the parameters."""
    detached = [value.detach() if isinstance(value, torch.Tensor) else value for value in arguments]
    with torch.enable_grad():
        return torch.ops.aten.mkldnn_rnn_layer.default(*detached)


@contextmanager
def reparametrized(module: nn.Module, tensors: dict[str, torch.Tensor]) -> Iterator[None]:
    """`module` with other tensors in place of its parameters and buffers, also where they are tied."""
    from torch.nn.utils.stateless import _reparametrize_module

    with _reparametrize_module(module, tensors, tie_weights=True):
        yield


def container_of(value: Any) -> tuple[list[Any], Any, Callable] | None:
    """The entries of a container that torch knows, what else determines it, and a function that builds one of other
    entries; None for other objects."""
    node = pytree.SUPPORTED_NODES.get(pytree._get_node_type(value))
    if node is None:
        return None
    entries, context = node.flatten_fn(value)
    return list(entries), context, lambda others: node.unflatten_fn(others, context)


class Fakes:
    """Tensors without data, to get the shapes, layouts and aliasing of a step without computing."""

    def __init__(self) -> None:
        from torch._subclasses.fake_tensor import FakeTensorMode

        self.mode = FakeTensorMode()

    def of(self, tensor: torch.Tensor) -> torch.Tensor:
        return self.mode.from_tensor(tensor.detach())

    def call(self, target: Any, args: tuple, kwargs: dict) -> Any:
        with self.mode, torch.no_grad():
            return target(*args, **kwargs)


# -- memory --------------------------------------------------------------------------------------------------------


class AllocatorEvent(NamedTuple):
    """A change of the allocator's total, or the beginning of a marked range (bytes 0, its name)."""

    time: int
    bytes: int
    mark: str | None


EVENT_SESSIONS = [0]  # how often events were recorded so far


@contextmanager
def allocator_events(events: list[AllocatorEvent], device: str = "cpu") -> Iterator[None]:
    """Fills `events`, in order of time, with the allocations and frees of `device` inside the block."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # otherwise it writes to standard error at each start and stop
    from torch.autograd.profiler import profile

    EVENT_SESSIONS[0] += 1
    with profile(use_kineto=True, profile_memory=True) as profiler:
        yield
    kind = torch.device(device).type
    for event in profiler.kineto_results.events():
        if event.name() == "[memory]":
            if str(event.device_type()).rsplit(".", 1)[-1].lower() == kind:
                events.append(AllocatorEvent(event.start_ns(), event.nbytes(), None))
        elif event.name().startswith("pebble:"):
            events.append(AllocatorEvent(event.start_ns(), 0, event.name()[len("pebble:") :]))
    events.sort(key=lambda event: event.time)


class LiveTensors:
    """The tensors that exist at one moment, to find those that were made since."""

    def __init__(self) -> None:
        self.known = {id(tensor): weakref.ref(tensor) for tensor in live_tensors()}

    def bytes_since(self, without: Sequence[torch.Tensor]) -> int:
        """Bytes of storages of newer tensors in autograd's graph, except those that belong to the tensors `without` or to
        older ones. Tensors without a history are not made of the outputs: another thread may be loading a batch."""
        new: dict[int, int] = {}
        old = {storage_key(tensor) for tensor in without}
        for tensor in live_tensors():
            if id(tensor) in self.known and self.known[id(tensor)]() is tensor:
                old.add(storage_key(tensor))
            elif tensor.grad_fn is not None:
                new[storage_key(tensor)] = tensor.untyped_storage().nbytes()
        return sum(size for key, size in new.items() if key not in old)


def live_tensors() -> Iterator[torch.Tensor]:
    for thing in gc.get_objects():
        if type(thing) in (torch.Tensor, nn.Parameter) and thing.device.type == "cpu" and thing.layout is torch.strided:
            yield thing


class Marker:
    """Marks ranges among the allocator's events: each call ends the previous range."""

    def __init__(self) -> None:
        self.handle: Any = None

    def __call__(self, name: object) -> None:
        self.end()
        self.handle = torch.ops.profiler._record_function_enter_new(f"pebble:{name}", None)

    def end(self) -> None:
        if self.handle is not None:
            torch.ops.profiler._record_function_exit._RecordFunction(self.handle)
            self.handle = None


def host_buffer(size: int, device: torch.device) -> torch.Tensor:
    """Bytes of slow memory that the allocator of `device` does not count."""
    if device.type == "cuda":
        return torch.empty(size, dtype=torch.uint8, pin_memory=True)
    return torch.frombuffer(mmap.mmap(-1, max(size, 1)), dtype=torch.uint8)[:size]


# -- torch's own ways to save memory ---------------------------------------------------------------------------------


def knapsack_base() -> type:
    """The base class that torch requires for ``activation_memory_budget_solver``."""
    from torch._inductor.custom_graph_pass import CustomKnapsackSolver

    return CustomKnapsackSolver


def runtime_base() -> type:
    """The base class that torch requires for ``activation_memory_budget_runtime_estimator``."""
    from torch._inductor.custom_graph_pass import CustomRuntimeEstimator

    return CustomRuntimeEstimator


@contextmanager
def real_tensors() -> Iterator[None]:
    """A context, inside torch's tracing, in which tensors have data."""
    from torch._subclasses.fake_tensor import unset_fake_temporarily
    from torch.utils._mode_utils import no_dispatch

    with no_dispatch(), unset_fake_temporarily():
        yield


def real_like(fake: Any) -> Any:
    """A tensor with data and the layout of a fake one; other values are returned unchanged."""
    if isinstance(fake, (list, tuple)):
        return type(fake)(real_like(item) for item in fake)
    if not isinstance(fake, torch.Tensor):
        return fake
    extent = 1 + sum((size - 1) * stride for size, stride in zip(fake.shape, fake.stride(), strict=True))
    flat = torch.empty(extent if fake.numel() else 0, dtype=fake.dtype, device=fake.device)  # elements may overlap
    return (flat.normal_() if flat.is_floating_point() else flat.zero_()).as_strided(fake.shape, fake.stride())


def saved_bytes(node: fx.Node) -> int:
    """Bytes that saving a node of torch's joint graph takes, as its partitioner counts them."""
    from torch._functorch.partitioners import _size_of

    return int(_size_of(node))


def partitioned_step(run: Callable, budget: float | None, solver: Any = "dp", estimator: Any = "flops") -> Callable:
    """`run` cut into forward and backward by torch's partitioner under ``activation_memory_budget``, with eager
    kernels.

    Parameters
    ----------
    run : callable
        ``run(parameters, buffers, inputs)`` returns a list with the loss.
    budget : float or None
        From 0 to 1; None: the partitioner that saves everything.
    solver, estimator : str or object
        Values of ``activation_memory_budget_solver`` and ``activation_memory_budget_runtime_estimator``.

    Returns
    -------
    callable
        ``step(parameters, buffers, inputs)``: forward, backward into ``.grad``, updated buffers; traced at the first
        call.
    """
    from torch._dynamo.backends.debugging import boxed_nop
    from torch._functorch import config
    from torch._functorch.aot_autograd import aot_function
    from torch._functorch.partitioners import default_partition, min_cut_rematerialization_partition

    partition = default_partition if budget is None else min_cut_rematerialization_partition

    def functional(parameters: list[torch.Tensor], buffers: list[torch.Tensor], inputs: list[torch.Tensor]) -> tuple:
        copies = [
            buffer.clone() for buffer in buffers
        ]  # otherwise a backward pass that recomputes would read updated buffers
        return run(parameters, copies, inputs)[0], copies

    compiled = aot_function(
        functional, fw_compiler=boxed_nop, bw_compiler=boxed_nop, partition_fn=partition, decompositions={}
    )
    settings = {"activation_memory_budget_solver": solver, "activation_memory_budget_runtime_estimator": estimator}
    if budget is not None:
        settings["activation_memory_budget"] = budget

    def step(
        parameters: Sequence[torch.Tensor], buffers: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor]
    ) -> torch.Tensor:
        with config.patch(settings):
            loss, updated = compiled(list(parameters), list(buffers), list(inputs))
        loss.backward()
        with torch.no_grad():
            for buffer, new in zip(buffers, updated, strict=False):
                buffer.copy_(new)
        return loss.detach()

    return step
