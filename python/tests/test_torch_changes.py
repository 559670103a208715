"""What the captured graph took from Python objects is compared before each step; ordinary training is not refused."""

from __future__ import annotations

import argparse
import copy
import dataclasses
import enum
import functools
import time

import pytest

torch = pytest.importorskip("torch")

from pebble_bridge import torch as planning  # noqa: E402
from pebble_bridge.torch.found import as_found  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

TEMPERATURE = 1.0


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


class Kind(enum.Enum):
    MEAN = 1
    SUM = 2


@dataclasses.dataclass
class Config:
    scale: float = 1.0
    unused: int = 0
    kinds: list = dataclasses.field(default_factory=lambda: [Kind.MEAN])


class Settings:
    __slots__ = ("slope",)

    def __init__(self) -> None:
        self.slope = 0.1


class Net(nn.Module):
    """Reads numbers from everywhere that Python code can read them from."""

    power = 1

    def __init__(self) -> None:
        super().__init__()
        self.first, self.drop, self.last = nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 4)
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Tanh()) for _ in range(2)])
        self.beta, self.flag, self.name, self.nothing = 0.5, True, "tanh", None
        self.pair, self.table, self.rows = (1.0, 2), {"gain": 1.0}, [1.0, [2.0]]
        self.tags, self.tensor = {"a"}, torch.tensor([1.0, 2.0])
        self.config, self.settings = Config(), Settings()
        self.options = argparse.Namespace(offset=0.0)
        self.activation = functools.partial(F.leaky_relu, negative_slope=0.2)
        self.never_read = 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.drop(getattr(torch, self.name)(self.first(x)))
        for block in self.blocks:
            h = block(h)
        h = h * self.beta * self.config.scale * self.table["gain"] * self.rows[0] * self.rows[1][0] * self.pair[0]
        h = F.leaky_relu(h, self.settings.slope) + self.options.offset + self.tensor.tolist()[0]
        h = self.activation(h) ** self.power
        if self.flag and "a" in self.tags and self.nothing is None and self.config.kinds[0] is Kind.MEAN:
            h = h * 2
        return self.last(h)


def loss_of(smoothing: float):
    def loss(output: torch.Tensor, labels: torch.Tensor, *, weight: float = 1.0) -> torch.Tensor:
        return weight * F.cross_entropy(output / TEMPERATURE, labels, label_smoothing=smoothing)

    return loss


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(16, 8), torch.randint(0, 4, (16,))


def set_closure(function, value: float) -> None:
    function.__closure__[0].cell_contents = value


def replaced(model: Net) -> None:
    model.blocks[1][2] = nn.ReLU()


def set_global(value: float) -> None:
    global TEMPERATURE
    TEMPERATURE = value


def other_forward(model: Net) -> None:
    old = model.last.forward
    model.last.forward = lambda x: old(x) * 2


def other_class(model: Net) -> None:
    class Doubled(nn.Linear):
        def forward(self, x):
            return super().forward(x) * 2

    model.last.__class__ = Doubled


CHANGES = {  # the message, and the change of the model or the loss
    r"model\.drop\.p changed from 0\.5 to 0\.0 since fit; call fit again": lambda m, f: setattr(m.drop, "p", 0.0),
    r"model\.beta changed from 0\.5 to 0\.25": lambda m, f: setattr(m, "beta", 0.25),
    r"model\.flag changed from True to False": lambda m, f: setattr(m, "flag", False),
    r"model\.name changed from 'tanh' to 'sin'": lambda m, f: setattr(m, "name", "sin"),
    r"model\.nothing changed from None to 1": lambda m, f: setattr(m, "nothing", 1),
    r"model\.pair changed from \(1\.0, 2\) to \(3\.0, 2\)": lambda m, f: setattr(m, "pair", (3.0, 2)),
    r"model\.table\['gain'\] changed from 1\.0 to 2\.0": lambda m, f: m.table.update(gain=2.0),
    r"model\.table\['new'\] is new": lambda m, f: m.table.update(new=2.0),
    r"model\.rows\[1\]\[0\] changed from 2\.0 to 3\.0": lambda m, f: m.rows[1].__setitem__(0, 3.0),
    r"model\.rows has 3 entries, and had 2": lambda m, f: m.rows.append(1.0),
    r"model\.tags changed": lambda m, f: m.tags.clear(),
    r"the tensor model\.tensor was written to": lambda m, f: m.tensor.add_(1),
    r"model\.tensor was replaced": lambda m, f: setattr(m, "tensor", torch.zeros(2)),
    r"model\.config\.scale changed from 1\.0 to 2\.0": lambda m, f: setattr(m.config, "scale", 2.0),
    r"model\.config\.kinds\[0\] changed from <Kind.MEAN": lambda m, f: m.config.kinds.__setitem__(0, Kind.SUM),
    r"model\.config changed from": lambda m, f: setattr(m, "config", Config(2.0)),
    r"model\.settings\.slope changed from 0\.1 to 0\.3": lambda m, f: setattr(m.settings, "slope", 0.3),
    r"model\.options\.offset changed": lambda m, f: setattr(m.options, "offset", 1.0),
    r"model\.activation\.keywords\['negative_slope'\] changed": lambda m, f: m.activation.keywords.update(
        negative_slope=0.3
    ),
    r"model\.blocks\[1\]\[1\]\.momentum changed": lambda m, f: setattr(m.blocks[1][1], "momentum", 1.0),
    r"model\.blocks\[1\]\[2\] changed from Tanh\(\.\.\.\) to ReLU": lambda m, f: replaced(m),
    r"model\.last\.forward is new": lambda m, f: other_forward(m),
    r"the class of model\.last changed from Linear to Doubled": lambda m, f: other_class(m),
    r"model\.power is new": lambda m, f: setattr(m, "power", 2),
    r"Net\.power changed from 1 to 2": lambda m, f: setattr(Net, "power", 2),
    r"model\.blocks\[0\]\[1\] is in the mode of eval": lambda m, f: m.blocks[0][1].eval(),
    r"model\.first\.weight was frozen": lambda m, f: m.first.weight.requires_grad_(False),
    r"model\.first\._forward_hooks has a new hook": lambda m, f: m.first.register_forward_hook(lambda *a: None),
    r"model\.first\._forward_pre_hooks has a new hook": lambda m, f: m.first.register_forward_pre_hook(
        lambda *a: None
    ),
    r"model\.first\._backward_hooks has a new hook": lambda m, f: m.first.register_full_backward_hook(lambda *a: None),
    r"the class of model\.first changed|model\.first\.weight is gone": lambda m, f: (
        nn.utils.parametrizations.weight_norm(m.first)
    ),
    r'parameter "first.weight" has a hook \(register_hook\)': lambda m, f: m.first.weight.register_hook(
        lambda g: g * 0
    ),
    r'"first.weight" has a hook \(register_post_accumulate_grad_hook\)': lambda m, f: (
        m.first.weight.register_post_accumulate_grad_hook(lambda p: None)
    ),
    r'accumulates the gradient of "first.weight" has a hook': lambda m, f: (
        m.first.weight.view_as(m.first.weight).grad_fn.next_functions[0][0].register_hook(lambda *a: None)
    ),
    r"the variable smoothing of loss changed from 0\.0 to 0\.5": lambda m, f: set_closure(f, 0.5),
    r"loss\.__kwdefaults__\['weight'\] changed": lambda m, f: f.__kwdefaults__.update(weight=2.0),
    r"the global variable TEMPERATURE of \S+ changed from 1\.0 to 2\.0": lambda m, f: set_global(2.0),
    r"the default dtype changed": lambda m, f: torch.set_default_dtype(torch.float64),
    r"torch.use_deterministic_algorithms changed": lambda m, f: torch.use_deterministic_algorithms(True),
}


LASTING = ("written to", "has a hook")  # what `as_found` cannot undo


@pytest.fixture(scope="module")
def shared():
    torch.manual_seed(0)
    model, loss = Net(), loss_of(0.0)
    return model, loss, planning.capture(model, batch(), loss).state


@pytest.mark.parametrize("sentence", list(CHANGES))
def test_what_changed_is_named(sentence, shared):
    model, loss, state = shared
    if any(words in sentence for words in LASTING):
        model, loss = Net(), loss_of(0.0)
        state = planning.capture(model, batch(), loss).state
    state.check()
    try:
        with as_found([model, loss]):
            CHANGES[sentence](model, loss)
            with pytest.raises(planning.Unsupported, match=sentence):
                state.check()
    finally:
        set_global(1.0)
        Net.power = 1
        torch.set_default_dtype(torch.float32)
        torch.use_deterministic_algorithms(False)


def test_a_step_refuses_and_goes_on_when_the_change_is_undone():
    model, (x, y) = Net(), batch()
    planned = planning.fit(model, (x, y), loss_of(0.0), "150%", time=0.3, verbose=False)
    planned(x, y)
    model.drop.p = 0.0
    with pytest.raises(planning.Unsupported, match=r"model\.drop\.p changed"):
        planned(x, y)
    model.drop.p = 0.5
    planned(x, y)
    handle = model.first.weight.register_hook(lambda g: g)
    with pytest.raises(planning.Unsupported, match="has a hook"):
        planned(x, y)
    handle.remove()
    planned(x, y)


def test_losses_of_all_kinds_are_followed():
    class Weighted:
        def __init__(self) -> None:
            self.weight = 1.0

        def __call__(self, output, labels):
            return self.weight * F.cross_entropy(output, labels)

        def method(self, output, labels):
            return self(output, labels)

    held = Weighted()
    part = functools.partial(F.cross_entropy, label_smoothing=0.0)
    for loss, change in (
        (held, lambda: setattr(held, "weight", held.weight + 1)),
        (held.method, lambda: setattr(held, "weight", held.weight + 1)),
        (nn.CrossEntropyLoss(), None),
        (part, lambda: part.keywords.update(label_smoothing=0.5)),
    ):
        state = planning.capture(nn.Linear(8, 4), batch(), loss, model_inputs=1).state
        state.check()
        change() if change else setattr(loss, "label_smoothing", 0.5)
        with pytest.raises(planning.Unsupported, match=r"loss\S* changed from"):
            state.check()


class Caches(nn.Module):
    """Writes to itself in forward: a cache that is made once, what it saw last, and a list of it."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.last, self.table, self.seen, self.ready = nn.Linear(8, 4), None, {}, [], False

    def forward(self, x):
        if not self.ready:
            self.ready = True
        self.table[x.shape[0]] = x.shape
        self.last = self.layer(x)
        self.seen = [self.last]
        return self.last


def test_ordinary_training_is_not_refused(tmp_path):
    model, loss, (x, y) = Net(), loss_of(0.0), batch()
    planned = planning.fit(model, (x, y), loss, "150%", time=0.3, verbose=False)
    optimizer = torch.optim.AdamW(model.parameters())
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    average = torch.optim.swa_utils.AveragedModel(model)
    kept = copy.deepcopy(model)
    for _ in range(2):
        optimizer.zero_grad(set_to_none=True)
        planned(x, y)
        planned(x, y)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        average.update_parameters(model)
    model.eval()
    with torch.no_grad():
        model(x)
    model.train()
    planned(x, y)
    loss(model(x), y).backward()
    torch.save(model.state_dict(), tmp_path / "model.pt")
    model.load_state_dict(torch.load(tmp_path / "model.pt"))
    model.load_state_dict(kept.state_dict())
    model.to("cpu").float()
    model.never_read, model.config.unused, model.epoch, model.config.epoch = 2, 1, 3, 4
    model.dtype, model.config.shape = "float32", 3  # names of attributes of tensors, which the code reads from those
    model.beta, model.rows, model.table, model.pair = 0.5, [1.0, [2.0]], {"gain": 1.0}, tuple([1.0, 2])
    model.tags, model.tensor = {"a"}, torch.tensor([1.0, 2.0])
    planned(x, y)
    model.rows[1][0] = 5.0  # of the list that took the place of the first
    with pytest.raises(planning.Unsupported, match=r"model\.rows\[1\]\[0\] changed from 2\.0 to 5\.0"):
        planned(x, y)


def test_what_a_model_writes_to_itself_is_not_refused():
    model, (x, y) = Caches(), batch()
    planned = planning.fit(model, (x, y), nn.CrossEntropyLoss(), "150%", time=0.3, verbose=False)
    planned(x, y)
    model(x)
    planned(x, y)
    assert type(model.last) is torch.Tensor


def test_python_that_does_something_else_each_time_is_refused():
    class Counts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.steps = nn.Linear(8, 4), 0

        def forward(self, x):
            self.steps += 1
            return self.layer(x) * (0.1 if self.steps < 1000 else 1.0)

    class Skips(nn.Linear):
        def forward(self, x):
            import random

            return super().forward(x) * (0.5 if random.random() < 1e-9 else 1.0)

    model = Counts()
    with pytest.raises(planning.Unsupported, match=r'changes "steps" at each call \(from 1 to 2\).*register_buffer'):
        planning.capture(model, batch(), nn.CrossEntropyLoss())
    assert model.steps == 0
    with pytest.raises(planning.Unsupported, match=r"draws from random.*torch\.rand"):
        planning.capture(Skips(8, 4), batch(), nn.CrossEntropyLoss())


def test_hooks_of_modules_are_captured_and_hooks_of_parameters_refused():
    model, (x, y) = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 4)), batch()
    model[1].register_full_backward_hook(lambda m, into, out: tuple(g.clamp(-1e-3, 1e-3) for g in into))
    model[0].register_forward_hook(lambda m, given, out: out.clamp(-1, 1))
    planned = planning.fit(model, (x * 1e-3, y), nn.CrossEntropyLoss(), "200%", time=0.3, verbose=False)
    planned(10 * x, y)  # on the example neither of them does anything
    found = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    F.cross_entropy(model(10 * x), y).backward()
    assert all(torch.equal(a, p.grad) for a, p in zip(found, model.parameters(), strict=True))
    model[0].weight.register_hook(lambda g: g.clamp(-0.5, 0.5))
    with pytest.raises(planning.Unsupported, match=r'parameter "0.weight" has a hook.*change \.grad after the step'):
        planning.capture(model, (x, y), nn.CrossEntropyLoss())


def test_checking_is_cheap():
    model = nn.Sequential(*[nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1), nn.BatchNorm1d(8)) for _ in range(8)])
    state = planning.capture(model, batch(), nn.CrossEntropyLoss()).state
    assert sum(1 for _ in model.modules()) == 33
    times = []
    for _ in range(200):
        start = time.perf_counter()
        state.check()
        times.append(time.perf_counter() - start)
    assert min(times) < 0.0005, f"{1e6 * min(times):.0f} microseconds"  # about 40 on an idle machine


class Makes(dict):
    """A table of classes that returns a new object at each look-up."""

    def __getitem__(self, key):
        return super().__getitem__(key)()


ACTIVATIONS = Makes(relu=nn.ReLU, tanh=nn.Tanh)


class LooksUp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return ACTIVATIONS["relu"](self.layer(x)).square().mean()


def test_tables_that_make_their_entries_have_not_changed(monkeypatch):
    step = planning.fit(LooksUp(), torch.randn(8, 4), None, "150%", time=0.5, verbose=False)
    step(torch.randn(8, 4))
    monkeypatch.setitem(ACTIVATIONS, "relu", nn.Tanh)
    with pytest.raises(planning.Unsupported, match="ACTIVATIONS.*relu.*call fit again"):
        step(torch.randn(8, 4))
