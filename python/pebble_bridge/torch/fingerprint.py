"""The values that a captured step read from Python objects, and whether they have changed.

Capture runs the Python code of a model and its loss once. What that code read (attributes of modules and of their
configuration, closures, default arguments, global variables, class attributes, hooks) is part of the graph from then
on. During capture, `Reads` records which attributes were read and which functions were called. `Fingerprint` keeps
those values and compares them before each step.

The comparison is by identity first, container by container, without a loop in Python over entries:
`operator.itemgetter` gets the entries and `all(map(is_, ...))` compares them. Only a container with a difference is
examined in detail.
"""

from __future__ import annotations

import argparse
import dis
import enum
import functools
import os
import sys
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from operator import is_, itemgetter
from typing import Any

import torch
from torch import nn

from .errors import Unsupported
from .found import LARGE, MISSING, Own, contents, slots_of

TORCH = os.path.dirname(torch.__file__) + os.sep
ALWAYS = ("training", "_parameters", "_buffers", "_modules")  # of a module, always watched
HOOKS = (
    "_forward_pre_hooks",
    "_forward_hooks",
    "_backward_pre_hooks",
    "_backward_hooks",
)
GLOBAL_HOOKS = (
    "_global_forward_pre_hooks",
    "_global_forward_hooks",
    "_global_backward_pre_hooks",
    "_global_backward_hooks",
)
IGNORED = {"_compiled_call_impl", "__weakref__", "__dict__", "__doc__", "__module__"}
IGNORED |= {"__init__"}  # torch.compile replaces that of nn.Module


def attention_kernels() -> tuple[bool, ...]:
    """Those that are allowed, as ``torch.nn.attention.sdpa_kernel`` sets them."""
    backends = torch.backends.cuda
    return backends.flash_sdp_enabled(), backends.mem_efficient_sdp_enabled(), backends.math_sdp_enabled()


SETTINGS = {  # settings of torch that Python code of a model may depend on
    "the default dtype": torch.get_default_dtype,
    "the default device": torch.get_default_device,
    "torch.use_deterministic_algorithms": torch.are_deterministic_algorithms_enabled,
    "the kernels of scaled_dot_product_attention": attention_kernels,
}
PLAIN = (type(None), bool, int, float, complex, str, bytes, range, slice, torch.dtype, torch.device, torch.Size)
PLAIN += (torch.layout, torch.memory_format, enum.Enum)
FOREIGN = {*sys.stdlib_module_names, "torch", "numpy", "builtins"}  # modules whose variables are not settings
PATCHED = (torch, nn.functional)  # modules of torch whose functions other libraries replace
INNER = set(vars(nn.Module())) - set(ALWAYS)
MACHINERY = FOREIGN - {"torch"} | {"sympy", "mpmath", "networkx", "optree", "triton", "_pytest", "pluggy"}
SETTING_OBJECTS = (types.SimpleNamespace, argparse.Namespace)


class Reads:
    """What code has read: attributes of objects, the called functions with their global variables, and all names in
    their code."""

    def __init__(self) -> None:
        self.codes: dict[types.CodeType, dict[str, Any]] = {}
        self.attributes: dict[int, set[str]] = {}  # by the id of the object
        self.seen_classes: set[type] = set()

    @contextmanager
    def recording(self, classes: Iterable[type], now: bool = True) -> Iterator[None]:
        """Records function calls, and reads of attributes of objects of some classes."""
        if not now:
            yield
            return
        codes, before = self.codes, sys.gettrace()

        def called(frame: types.FrameType, event: str, argument: Any) -> None:
            codes.setdefault(frame.f_code, frame.f_globals)

        with ExitStack() as stack:
            for kind in classes:
                if is_written_in_python(kind):
                    stack.enter_context(self.reading(kind))
            stack.callback(sys.settrace, before)
            sys.settrace(called)
            yield

    @contextmanager
    def reading(self, kind: type) -> Iterator[None]:
        """Records reads of attributes, by replacing a method of the class."""
        own, read, attributes = vars(kind).get("__getattribute__"), kind.__getattribute__, self.attributes
        aliases = getattr(kind, "attribute_map", None)  # attribute aliases, as in transformers
        aliases = aliases if isinstance(aliases, dict) else {}

        def get(thing: Any, name: str) -> Any:
            names = attributes.setdefault(id(thing), set())
            names.add(name)
            if name in aliases:
                names.add(aliases[name])
            return read(thing, name)

        try:
            kind.__getattribute__ = get
        except (AttributeError, TypeError):  # a class that cannot be changed
            yield
            return
        self.seen_classes.add(kind)
        try:
            yield
        finally:
            if own is None:
                del kind.__getattribute__
            else:
                kind.__getattribute__ = own

    def of(self, thing: Any, keys: Iterable[str]) -> list[str]:
        """The attributes of an object that code has read; if that was not recorded, those that its code names."""
        names = self.attributes.get(id(thing), ()) if type(thing) in self.seen_classes else self.names
        if "__dict__" in names and not isinstance(thing, nn.Module):  # it reads its __dict__, as modules do
            names = self.names
        return [key for key in keys if key in names and key not in IGNORED]

    def finish(self) -> None:
        """Keeps the code of models, losses and torch.nn, and drops that of torch internals."""
        self.codes = {code: own for code, own in self.codes.items() if not is_machinery(code, own)}
        self.names = {name for code in self.codes for name in names_in(code)} - IGNORED

    def global_names(self) -> Iterator[tuple[dict[str, Any], str]]:
        """Global variables that called functions read, other than torch's own."""
        for code, variables in self.codes.items():
            if not code.co_filename.startswith(TORCH):  # settings of torch itself: SETTINGS
                for instruction in dis.get_instructions(code):
                    if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME") and instruction.argval in variables:
                        yield variables, instruction.argval


def is_written_in_python(kind: type) -> bool:
    """Whether a class is part of the model's code and can be watched."""
    package = kind.__module__.partition(".")[0]
    return bool(kind.__flags__ & HEAP_TYPE) and (package not in FOREIGN - {"torch"} or kind in SETTING_OBJECTS)


HEAP_TYPE = 1 << 9  # a class statement sets this flag in the interpreter


def has_backward_hooks(modules: Iterable[nn.Module]) -> bool:
    return any(module._backward_hooks or module._backward_pre_hooks for module in modules) or any(
        getattr(nn.modules.module, name) for name in GLOBAL_HOOKS if "backward" in name
    )


def is_machinery(code: types.CodeType, variables: dict[str, Any]) -> bool:
    """Code that is not the model's: Python's library, torch outside of its modules and functions, and this package."""
    if not code.co_filename.startswith(TORCH):
        name = str(variables.get("__name__", ""))
        return name.partition(".")[0] in MACHINERY or name.startswith("pebble_bridge.torch")
    inside = code.co_filename[len(TORCH) :]
    return inside.startswith(("_", "fx", "utils/_")) or os.sep not in inside


def names_in(code: types.CodeType) -> Iterator[str]:
    """Names of attributes and variables, and strings that could be passed to ``getattr``."""
    yield from code.co_names
    for constant in code.co_consts:
        for text in constant if isinstance(constant, (tuple, frozenset)) else (constant,):
            if isinstance(text, str) and text.isidentifier():
                yield text


class Watch:
    """Entries of one container: `get` reads them from `source`, which has `length` entries in total."""

    __slots__ = ("get", "keys", "kind", "length", "path", "source", "values")

    def __init__(self, source: Any, get: Callable, keys: list[Any], path: str, kind: str) -> None:
        self.source, self.get, self.keys, self.path, self.kind = source, get, keys, path, kind
        self.remember()

    def remember(self) -> None:
        self.values = list(self.get(self.source))
        self.length = len(self.source) if hasattr(self.source, "__len__") else None


class Fingerprint:
    """The values that a capture read.

    Parameters
    ----------
    roots : dict of str to object
        The model and the loss, by their names in messages.
    reads : Reads
        What ran during capture.
    """

    def __init__(self, roots: dict[str, Any], reads: Reads) -> None:
        self.reads = reads
        self.watches: list[Watch] = []
        self.place: dict[int, int] = {}  # of a watched container
        self.seen: dict[int, Any] = {}  # by id; kept alive so that ids are not reused
        self.tensors: list[list[Any]] = []  # plain ones: [tensor, version, path]
        self.arrays: list[tuple[Any, bytes, str]] = []
        self.sets: list[list[Any]] = []  # [set, its contents, path]
        self.vacant: list[tuple[dict, str, str]] = []  # tables of modules without entries
        self.empty: list[Any] = []  # hook dictionaries without hooks
        self.empty_paths: list[str] = []
        self.owner: dict[int, Any] = {}  # of a dictionary of attributes
        self.typed: list[Any] = []
        self.types: list[type] = []
        self.type_paths: list[str] = []
        self.written: set[tuple[int, Any]] = set()  # entries that the model's own code writes
        self.installed: set[Any] = set()  # code of hooks that the model's own code installs
        self.settings = {name: get() for name, get in SETTINGS.items()}
        self.waiting: deque[tuple[Any, str]] = deque((thing, name) for name, thing in roots.items())
        for name in GLOBAL_HOOKS:
            self.add_hooks(getattr(nn.modules.module, name), "torch.nn.modules.module", name)
        self.walk()
        for variables, name in reads.global_names():
            self.add_global(variables, name)
        self.walk()
        self.finish()

    # -- what is watched -------------------------------------------------------------------------------------------

    def walk(self) -> None:
        while self.waiting:
            thing, path = self.waiting.popleft()
            if id(thing) not in self.seen and not isinstance(thing, PLAIN):
                self.seen[id(thing)] = thing
                self.visit(thing, path)

    def visit(self, thing: Any, path: str) -> None:
        if isinstance(thing, nn.Module):
            self.visit_module(thing, path)
        elif isinstance(thing, Own):
            self.waiting.append((thing.__wrapped__, path))
        elif isinstance(thing, torch.Tensor):
            self.tensors.append([thing, version_of(thing), path])
        elif isinstance(thing, (types.FunctionType, types.MethodType, functools.partial, staticmethod, classmethod)):
            self.visit_callable(thing, path)
        elif isinstance(thing, property):
            self.waiting.append((thing.fget, path))
        elif isinstance(thing, types.ModuleType):
            if thing.__name__.partition(".")[0] not in FOREIGN or thing in PATCHED:
                self.add(vars(thing), self.mentioned(vars(thing)), thing.__name__, "file")
        elif isinstance(thing, (dict, list, tuple, set, frozenset, deque)):
            self.visit_container(thing, path)
        elif type(thing).__module__ == "numpy" and hasattr(thing, "tobytes"):
            self.arrays.append((thing, thing.tobytes(), path))
        elif not isinstance(thing, type):
            self.visit_object(thing, path)

    def mentioned(self, entries: Any) -> list[str]:
        return [key for key in entries if key in self.reads.names]

    def add_type(self, thing: Any, path: str) -> None:
        self.owner[id(vars(thing))] = thing
        self.typed.append(thing)
        self.types.append(type(thing))
        self.type_paths.append(path)

    def visit_module(self, module: nn.Module, path: str) -> None:
        own = vars(module)
        keys = [*ALWAYS, *(key for key in self.reads.of(module, own) if key not in INNER and key not in ALWAYS)]
        self.add_type(module, path)
        self.add(own, keys, path, "module")
        for table in ("_parameters", "_buffers", "_modules"):
            # parameters and buffers are inputs of the captured step: only their identity is compared
            if own[table]:
                self.add(own[table], list(own[table]), path, table)
            else:
                self.vacant.append((own[table], path, table))
        for table in HOOKS:
            self.add_hooks(own[table], path, table)
        self.visit_class(type(module))

    def visit_object(self, thing: Any, path: str) -> None:
        if type(thing).__module__.partition(".")[0] in FOREIGN - {"torch"} and not isinstance(thing, SETTING_OBJECTS):
            return  # loggers, locks, files
        own = getattr(thing, "__dict__", None)
        if isinstance(own, dict):
            self.add(own, self.reads.of(thing, own), path, "object")
            self.add_type(thing, path)
        slots = self.reads.of(thing, slots_of(thing))
        if slots:
            self.watch(thing, lambda t: [getattr(t, name, MISSING) for name in slots], slots, path, "slots")
        self.visit_class(type(thing))

    def visit_class(self, kind: type) -> None:
        """Methods and class attributes, which an assignment may replace."""
        for base in kind.__mro__:
            if id(base) not in self.seen and base.__module__ != "builtins":
                self.seen[id(base)] = base
                self.add(vars(base), self.mentioned(vars(base)), base.__qualname__, "class")

    def visit_callable(self, thing: Any, path: str) -> None:
        if isinstance(thing, types.MethodType):
            self.waiting += [(thing.__self__, f"{path}.__self__"), (thing.__func__, path)]
        elif isinstance(thing, functools.partial):
            self.waiting += [(thing.func, f"{path}.func"), (thing.args, f"{path}.args")]
            self.waiting.append((thing.keywords, f"{path}.keywords"))
        elif isinstance(thing, (staticmethod, classmethod)):
            self.waiting.append((thing.__func__, path))
        elif thing.__code__ in self.reads.codes:
            fields = ["__code__", "__defaults__", "__kwdefaults__"]
            self.watch(thing, lambda f: (f.__code__, f.__defaults__, f.__kwdefaults__), fields, path, "function")
            if thing.__closure__:
                variables = list(thing.__code__.co_freevars)
                self.watch(thing.__closure__, lambda cells: list(map(contents, cells)), variables, path, "closure")

    def visit_container(self, thing: Any, path: str) -> None:
        if len(thing) > LARGE:
            return
        if isinstance(thing, dict):
            self.add(thing, list(thing), path, "cache" if path.startswith(GLOBAL) else "dict")
        elif isinstance(thing, (set, frozenset)):
            self.sets.append([thing, frozenset(thing), path])
        elif not (isinstance(thing, tuple) and all(isinstance(entry, PLAIN) for entry in thing)):  # those cannot change
            self.watch(thing, list, list(range(len(thing))), path, "list")

    def add(self, source: Any, keys: list[Any], path: str, kind: str) -> None:
        if id(source) not in self.place:
            self.seen[id(source)] = source
            self.watch(source, getter(source, keys), keys, path, kind)

    def watch(self, source: Any, get: Callable, keys: list[Any], path: str, kind: str) -> None:
        watch = Watch(source, get, keys, path, kind)
        self.place[id(source)] = len(self.watches)
        self.watches.append(watch)
        if kind not in ("_parameters", "_buffers"):
            for key, value in zip(keys, watch.values, strict=False):
                if not (kind == "module" and key in ALWAYS):
                    self.waiting.append((value, place_name(path, key, kind)))

    def add_global(self, variables: dict[str, Any], name: str) -> None:
        """One watch for all global variables of a Python file."""
        file = variables.get("__name__", "?")
        self.add(variables, [], file, "file")
        watch = self.watches[self.place[id(variables)]]
        if name not in watch.keys and name not in IGNORED:
            watch.keys.append(name)
            watch.get = getter(variables, watch.keys)
            watch.remember()
            self.waiting.append((variables[name], place_name(file, name, "file")))

    def add_hooks(self, hooks: dict[int, Callable], path: str, table: str) -> None:
        if hooks:
            self.watch(hooks, lambda now: list(now.values()), list(hooks), f"{path}.{table}", "hooks")
        else:
            self.empty.append(hooks)
            self.empty_paths.append(f"{path}.{table}")

    def finish(self) -> None:
        """Drops what has nothing to compare."""
        self.watches = [w for w in self.watches if w.keys or w.kind not in ("object", "class", "file")]
        self.place = {id(watch.source): index for index, watch in enumerate(self.watches)}
        self.nothing = [table for table, _, _ in self.vacant]

    # -- what the model's own code writes --------------------------------------------------------------------------

    def see(self, changes: list[tuple[Any, Any, Any]]) -> None:
        """Records what a run of the model changes in its own objects (`Found.changes`): such changes are allowed."""
        tables = {id(hooks) for hooks in self.empty} | {id(w.source) for w in self.watches if w.kind == "hooks"}
        for part, key, now in changes:
            self.seen[id(part)] = part
            if id(part) in tables:
                self.installed.add(code_of(now))
            else:
                self.written.add((id(part), key))

    # -- before each step ------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raises `Unsupported` with the first difference."""
        for watch in self.watches:
            try:
                source = watch.source
                if (watch.length is None or len(source) == watch.length) and all(
                    map(is_, watch.get(source), watch.values)
                ):
                    continue
            except KeyError:
                pass
            self.look(watch)
        if any(self.nothing):
            for table, path, kind in self.vacant:
                for key in table:
                    if (id(table), key) not in self.written:
                        raise Unsupported(f"{place_name(path, key, kind)} is new since fit; call fit again")
        if any(self.empty):
            self.look_at_new_hooks()
        if not all(map(is_, map(type, self.typed), self.types)):
            for thing, kind, path in zip(self.typed, self.types, self.type_paths, strict=True):
                if type(thing) is not kind:
                    raise changed(f"the class of {path}", kind, type(thing))
        for tensor, version, path in self.tensors:
            if version_of(tensor) != version:
                raise Unsupported(f"the tensor {path} was written to since fit; call fit again")
        for array, before, path in self.arrays:
            if array.tobytes() != before:
                raise Unsupported(f"the array {path} was written to since fit; call fit again")
        for entries, before, path in self.sets:
            if entries != before and (id(entries), None) not in self.written:
                raise changed(path, set(before), entries)
        for name, before in self.settings.items():
            if SETTINGS[name]() != before:
                raise changed(name, before, SETTINGS[name]())

    def look(self, watch: Watch) -> None:
        """Raises for a container with a relevant difference; otherwise stores its current state."""
        if watch.kind == "hooks":
            self.look_at_hooks(watch)
        elif watch.kind in KEYED:
            self.look_at_entries(watch)
        else:
            now = list(watch.get(watch.source))
            if len(now) != len(watch.values) and (id(watch.source), None) not in self.written:
                raise Unsupported(
                    f"{watch.path} has {len(now)} entries, and had {len(watch.values)} at fit; call fit again"
                )
            parts = watch.source if watch.kind == "closure" else [watch.source] * len(now)
            for part, key, before, value in zip(parts, watch.keys, watch.values, now, strict=False):
                self.compare(watch, (id(part), None), before, value, key)
        watch.remember()

    def look_at_entries(self, watch: Watch) -> None:
        source, known = watch.source, set(watch.keys)
        for key, before in zip(watch.keys, watch.values, strict=False):
            self.compare(watch, (id(source), key), before, source.get(key, MISSING), key)
        if watch.kind not in ("file", "cache"):
            for key in source:
                if key not in known and self.matters(watch, key) and (id(source), key) not in self.written:
                    raise Unsupported(f"{place_name(watch.path, key, watch.kind)} is new since fit; call fit again")
        watch.keys = [key for key in watch.keys if key in source]
        watch.get = getter(source, watch.keys)

    def matters(self, watch: Watch, key: Any) -> bool:
        """Whether code would read an entry that did not exist."""
        if watch.kind in ("module", "object"):
            return key not in INNER and bool(self.reads.of(self.owner[id(watch.source)], [key]))
        return watch.kind != "class" or key in self.reads.names

    def compare(self, watch: Watch, place: tuple[int, Any], before: Any, now: Any, key: Any) -> None:
        if now is before or place in self.written:
            return
        if same(before, now):
            self.follow(before, now)
            return
        if watch.kind == "module" and key == "training":
            modes = ("train()", "eval()") if before else ("eval()", "train()")
            raise Unsupported(
                f"{watch.path} is in the mode of {modes[1]}, and the step was planned for {modes[0]}: "
                f"call {watch.path}.{modes[0]}, or call fit again"
            )
        raise changed(place_name(watch.path, key, watch.kind), before, now)

    def follow(self, before: Any, now: Any) -> None:
        """Watches an equal object in place of one that was replaced."""
        if isinstance(now, (list, tuple, dict, deque)) and id(before) in self.place:
            watch = self.watches[self.place[id(before)]]
            parts = zip(watch.values, watch.get(now), strict=False)
            watch.source = self.seen[id(now)] = now
            self.place[id(now)] = self.place[id(before)]
            for one, other in parts:
                self.follow(one, other)
            watch.remember()
        for entry in (*self.tensors, *self.sets):
            if entry[0] is before:
                entry[0] = now
                if isinstance(now, torch.Tensor):
                    entry[1] = version_of(now)

    def look_at_hooks(self, watch: Watch) -> None:
        now = list(watch.source.values())
        for hook in watch.values:
            if not any(hook is other for other in now):
                raise Unsupported(f"a hook of {watch.path} was removed since fit; call fit again")
        self.refuse_new(watch.path, [hook for hook in now if not any(hook is other for other in watch.values)])

    def look_at_new_hooks(self) -> None:
        for hooks, path in zip(self.empty, self.empty_paths, strict=True):
            self.refuse_new(path, list(hooks.values()))

    def refuse_new(self, path: str, hooks: list[Any]) -> None:
        for hook in hooks:
            if code_of(hook) not in self.installed:
                raise Unsupported(
                    f"{path} has a new hook since fit ({short(hook)}), which the planned step would not run; remove "
                    "it, or call fit again"
                )


GLOBAL = "the global variable "
KEYED = {"module", "object", "dict", "cache", "class", "file", "_parameters", "_buffers", "_modules"}


def getter(source: Any, keys: list[Any]) -> Callable:
    if not keys:
        return nothing
    if isinstance(source, dict) and type(source).__getitem__ is not dict.__getitem__:  # it may make what it returns
        return lambda entries: [dict.__getitem__(entries, key) for key in keys]
    return itemgetter(*keys) if len(keys) > 1 else itemgetter(keys[0], keys[0])


def nothing(entries: Any) -> tuple:
    return ()


def version_of(tensor: torch.Tensor) -> int:
    return -1 if tensor.is_inference() else tensor._version


def code_of(hook: Any) -> Any:
    """A key that is equal for hooks that the same code created."""
    while isinstance(hook, functools.partial):
        hook = hook.func
    return getattr(getattr(hook, "__func__", hook), "__code__", type(hook))


def place_name(path: str, key: Any, kind: str) -> str:
    """The Python expression: ``model.encoder[2].p``."""
    if kind == "closure":
        return f"the variable {key} of {path}"
    if kind == "file":
        return f"{GLOBAL}{key} of {path}"
    if kind in ("dict", "cache", "list", "hooks"):
        return f"{path}[{key!r}]"
    return f"{path}[{key}]" if kind == "_modules" and str(key).isdigit() else f"{path}.{key}"


def same(before: Any, now: Any) -> bool:
    """Whether two values are the same for code that reads them."""
    if before is now:
        return True
    if type(before) is not type(now):
        return False
    if isinstance(before, (float, complex)):
        return repr(before) == repr(now)  # -0.0 is not 0.0, and nan is nan
    if isinstance(before, (list, tuple, deque)):
        return len(before) == len(now) and all(map(same, before, now))
    if isinstance(before, dict):
        return list(before) == list(now) and all(map(same, before.values(), now.values()))
    if isinstance(before, torch.Tensor):
        return (
            (before.shape, before.dtype, before.device, before.requires_grad)
            == (now.shape, now.dtype, now.device, now.requires_grad)
            and not isinstance(now, nn.Parameter)
            and torch.equal(before, now)
        )
    if isinstance(before, (*PLAIN, set, frozenset, types.MethodType)):
        return before == now
    return False


def short(value: Any) -> str:
    if isinstance(value, type):
        return value.__name__
    name = getattr(value, "__qualname__", None) if callable(value) and not isinstance(value, nn.Module) else None
    text = name or (f"{type(value).__name__}(...)" if isinstance(value, nn.Module) else repr(value))
    return text if len(text) <= 60 else f"{text[:57]}..."


def changed(what: str, before: Any, now: Any) -> Unsupported:
    if now is MISSING:
        return Unsupported(f"{what} is gone since fit; call fit again")
    if isinstance(before, torch.Tensor) and isinstance(now, torch.Tensor):
        return Unsupported(f"{what} was replaced since fit; call fit again")
    error = Unsupported(f"{what} changed from {short(before)} to {short(now)} since fit; call fit again")
    error.what = what
    return error
