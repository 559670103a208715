"""`fit` leaves a model exactly as it was found, also when it fails at any stage."""

from __future__ import annotations

import itertools
import random
from collections import OrderedDict, deque

import pytest

torch = pytest.importorskip("torch")

import torch_models as models  # noqa: E402
from pebble_bridge import torch as planning  # noqa: E402
from pebble_bridge.torch import _adapter, measure, passes, step  # noqa: E402
from pebble_bridge.torch.found import as_found  # noqa: E402
from torch import nn  # noqa: E402
from torch._functorch import aot_autograd  # noqa: E402
from torch.nn import functional as F  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


def contents(thing, depth: int = 0):
    """A value that is equal to another one just if nothing inside has changed, by identity and by contents."""
    if isinstance(thing, torch.Tensor):
        grad = None if thing.grad is None else (id(thing.grad), thing.grad.tolist())
        hooks = (dict(thing._backward_hooks or {}), dict(thing._post_accumulate_grad_hooks or {}))
        return id(thing), type(thing), thing.detach().tolist(), thing.requires_grad, grad, hooks
    if isinstance(thing, (dict, OrderedDict)):
        return id(thing), [(key, contents(value, depth + 1)) for key, value in thing.items()]
    if isinstance(thing, (list, tuple, deque)):
        return id(thing), [contents(value, depth + 1) for value in thing]
    if isinstance(thing, set):
        return id(thing), frozenset(thing)
    if isinstance(thing, nn.Module) or (hasattr(thing, "__dict__") and not callable(thing) and depth < 8):
        return id(thing), type(thing), contents(vars(thing), depth + 1)
    return id(thing), repr(thing)


def everything(model, loss) -> tuple:
    numpy = pytest.importorskip("numpy")
    generators = torch.get_rng_state().tolist(), random.getstate(), numpy.random.get_state()[1].tolist()
    return contents(model), contents(loss) if isinstance(loss, nn.Module) else None, *generators


class Recorder(nn.Module):
    """Installs hooks on its parts when it runs for the first time, and marks itself, as models of transformers do."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(8, 8) for _ in range(2)])
        self.installed, self.calls, self.cache, self.shapes, self.first = False, [], None, {}, True
        self.state = type("State", (), {})()
        self.state.seen = deque(maxlen=4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.installed:
            for part in self.parts:
                part.register_forward_hook(self.record)
            self.installed = True
            self.parts[0].extra = "lazily"
        self.shapes[x.shape] = len(x)
        self.state.seen.append(x.shape)
        for part in self.parts:
            x = torch.tanh(part(x))
        self.cache, self.first = x, False
        return x

    def record(self, module: nn.Module, given: tuple, out: torch.Tensor) -> None:
        self.calls.append(module)


def recorder():
    return Recorder(), (torch.randn(16, 8), torch.randint(0, 8, (16,))), nn.CrossEntropyLoss()


class Wide(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
        self.register_buffer("weight", torch.rand(10))

    def forward(self, output, labels):
        return F.cross_entropy(output * self.scale, labels, self.weight)


def with_gradients():
    model, inputs, _ = models.mlp(depth=3, width=8, batch=16, dropout=0.3)
    loss = Wide()
    loss(model(inputs[0]), inputs[1]).backward()
    model[0][0].bias.requires_grad_(False)
    model[1].eval()
    model[0].register_forward_hook(lambda *values: None)
    return model, inputs, loss


CASES = {
    "recorder": recorder,
    "with gradients": with_gradients,
    "batch norm": lambda: models.unet(image=8, width=2, depth=1),
    "gpt": lambda: models.gpt(layers=1, length=8, width=8, dropout=0.1),
}


@pytest.mark.parametrize("name", list(CASES))
def test_fit_leaves_a_model_as_it_was_found(name):
    model, inputs, loss = CASES[name]()
    before = everything(model, loss)
    planned = planning.fit(model, inputs, loss, "200%", time=0.3, verbose=False)
    assert everything(model, loss) == before
    with pytest.raises(planning.DoesNotFit):
        planning.fit(model, inputs, loss, 1000, time=0.3, verbose=False)
    assert everything(model, loss) == before
    planned(*inputs)


def test_hooks_that_a_model_installs_are_there_once():
    model, (x, y), loss = recorder()
    planned = planning.fit(model, (x, y), loss, "200%", time=0.3, verbose=False)
    model(x)
    assert [len(part._forward_hooks) for part in model.parts] == [1, 1] and len(model.calls) == 2
    planned(x, y)  # what the model installs itself is no change of somebody else's
    model.parts[0].register_forward_hook(lambda *values: None)
    with pytest.raises(planning.Unsupported, match=r"model\.parts\[0\]\._forward_hooks has a new hook"):
        planned(x, y)


class Failure(Exception):
    pass


def fail(*values, **options):
    raise Failure


def fails(model, inputs, loss) -> None:
    """`fit` ends with the failure, or with a sentence because of it."""
    with pytest.raises((Failure, planning.Unsupported)) as caught:
        planning.fit(model, inputs, loss, "200%", time=0.3, verbose=False)
    assert isinstance(caught.value, Failure) or isinstance(caught.value.__cause__, Failure)


STAGES = {
    "capture": (aot_autograd, "_aot_export_function"),
    "hooks of the capture": (_adapter._Scribe, "listen"),
    "backward of the capture": (_adapter._Scribe, "backward"),
    "simplify": (passes, "simplify"),
    "gradients": (passes, "settle_gradients"),
    "overwriting": (passes, "try_inplace"),
    "comparison": (measure, "nearly_equal"),
    "plain peak": (measure, "plain_peak"),
    "peak": (measure, "measure_peak"),
    "profile": (measure, "times_of"),
    "workspaces": (measure, "workspaces"),
    "moves": (step, "moves_of"),
    "results": (measure, "check_results"),
}


@pytest.mark.parametrize("stage", list(STAGES))
def test_a_failure_leaves_a_model_as_it_was_found(stage, monkeypatch):
    model, inputs, loss = recorder()
    before = everything(model, loss)
    monkeypatch.setattr(*STAGES[stage], fail)
    fails(model, inputs, loss)
    assert everything(model, loss) == before


@pytest.mark.parametrize("call", [1, 2, 3, 4])
def test_a_forward_pass_that_fails_leaves_the_model_as_it_was_found(call):
    model, inputs, loss = recorder()
    calls = itertools.count(1)  # which nobody can put back

    def break_off(module, given, out):
        if next(calls) == call:
            model.parts[1].spoilt = True
            raise Failure

    model.parts[1].register_forward_hook(break_off)
    before = everything(model, loss)
    fails(model, inputs, loss)
    assert everything(model, loss) == before


def test_checkpointed_keeps_a_forward_of_the_modules_own():
    model, (x, _), _ = models.mlp(depth=3, width=8, batch=4)
    own = model[0].forward
    model[0].forward = lambda value: own(value) * 2
    mine = model[0].forward
    with planning.checkpointed(model, ["0", "1"]):
        model(x).sum().backward()
    assert model[0].forward is mine and "forward" not in vars(model[1])


class Slotted:
    """An object without a dictionary."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


class Other(nn.Linear):
    """Another class for the same module."""


def test_everything_that_a_call_changed_is_put_back() -> None:
    numpy = pytest.importorskip("numpy")
    seen, slotted, table = 0, Slotted(), {"a": 1, "b": 1}

    def loss() -> int:
        return seen + slotted.count + len(table)

    model = nn.Linear(2, 2)
    state, drawn = random.getstate(), str(numpy.random.get_state())
    with as_found([model, loss]):
        seen, slotted.count = 1, 1
        table["a"] = table.pop("a")  # the same entries in another order
        model.__class__ = Other
        model.weight.requires_grad_(False)
        random.random()
        numpy.random.random()
    assert type(model) is nn.Linear and model.weight.requires_grad
    assert seen == 0 and slotted.count == 0 and list(table) == ["a", "b"]
    assert random.getstate() == state and str(numpy.random.get_state()) == drawn
