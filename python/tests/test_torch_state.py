"""A step rejects a model that has changed since fit, and detects what a model does in addition to tensor operations."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch")

from pebble_bridge import torch as planning  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


def batch():
    return torch.randn(64, 32), torch.randint(0, 10, (64,))


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(32, 64), nn.BatchNorm1d(64), nn.Tanh(), nn.Linear(64, 10))


def planned_for(model, loss=None, inputs=None, **options):
    options = {"budget": "110%", "time": 1, "verbose": False, **options}
    return planning.fit(model, inputs or batch(), loss or nn.CrossEntropyLoss(), **options)


def replace_layer(model):
    model[3] = nn.Linear(64, 10)


CHANGES = {
    r"model is in the mode of eval\(\), and the step was planned for train\(\): call model.train": lambda m: m.eval(),
    r"model\[1\] is in the mode of eval": lambda model: model[1].eval(),
    r"model\[3\] changed from Linear": replace_layer,
    r"model\[0\].weight was replaced": lambda model: model.load_state_dict(network().state_dict(), assign=True),
    r"model\[0\].bias was frozen": lambda model: model[0].bias.requires_grad_(False),
    r"model\[1\].running_mean was replaced": lambda model: model.double(),
    r"model\[0\].weight was frozen, moved or converted": lambda model: model[0].double(),
    "model.extra is new": lambda model: model.register_parameter("extra", nn.Parameter(torch.zeros(1))),
}


@pytest.mark.parametrize("sentence", list(CHANGES))
def test_a_model_that_changed_is_refused(sentence):
    model = network()
    planned = planned_for(model)
    CHANGES[sentence](model)
    with pytest.raises(planning.Unsupported, match=sentence):
        planned(*batch())


def test_inputs_that_the_step_is_not_for_are_refused():
    planned, (x, y) = planned_for(network()), batch()
    for wrong, sentence in (
        ((x[:8], y[:8]), "call fit again for other shapes"),
        ((x.tolist(), y), "takes only tensors"),
        ((x.clone().requires_grad_(), y), "detach it"),
        ((torch.randn(32, 64).t(), y), "contiguous"),
    ):
        with pytest.raises(planning.Unsupported, match=sentence):
            planned(*wrong)
    with torch.inference_mode(), pytest.raises(planning.Unsupported, match="inference_mode"):
        planned(x, y)
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(planning.Unsupported, match="without autocast"):
        planned(x, y)


def test_a_step_planned_inside_autocast_keeps_its_types_outside():
    model, (x, y) = network(), batch()
    plain = copy.deepcopy(model)
    with torch.autocast("cpu", torch.bfloat16):
        planned = planned_for(model, inputs=(x, y))
        F.cross_entropy(plain(x), y).backward()
    planned(x, y)
    assert all(torch.equal(a.grad, b.grad) for a, b in zip(model.parameters(), plain.parameters(), strict=True))


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
        self.register_buffer("weight", torch.rand(10))

    def forward(self, output, labels):
        return F.cross_entropy(output * self.scale, labels, self.weight)


def test_a_loss_may_have_tensors_of_its_own():
    model, loss, (x, y) = network(), Scaled(), batch()
    plain, plain_loss = copy.deepcopy(model), copy.deepcopy(loss)
    planned = planned_for(model, loss, (x, y))
    assert torch.equal(planned(x, y), plain_loss(plain(x), y).detach())
    plain_loss(plain(x), y).backward()
    assert torch.equal(loss.scale.grad, plain_loss.scale.grad)
    weighted = nn.CrossEntropyLoss(weight=torch.rand(10))
    assert torch.equal(planned_for(model, weighted, (x, y))(x, y), weighted(model(x), y).detach())


class Remembers(nn.Module):
    """Its mean of outputs, by assignment or in place."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way, self.layer, self.cache = way, nn.Linear(32, 10), None
        self.register_buffer("mean", torch.zeros(10))

    def forward(self, x):
        h = self.layer(x)
        if self.way == "assign":
            self.mean = 0.9 * self.mean + 0.1 * h.detach().mean(0)
        elif self.way == "write":
            with torch.no_grad():
                self.mean.copy_(0.9 * self.mean + 0.1 * h.mean(0))
        elif self.way == "cache":
            self.cache = torch.arange(10.0) if self.cache is None else self.cache
            h = h + self.cache
        elif self.way == "store":
            self.cache = h
        return h + self.mean


def test_a_buffer_that_is_assigned_is_refused_and_one_that_is_written_is_not():
    with pytest.raises(planning.Unsupported, match=r"self.mean.copy_"):
        planned_for(Remembers("assign"))
    model, (x, y) = Remembers("write"), batch()
    plain = copy.deepcopy(model)
    planned = planned_for(model, inputs=(x, y))
    for _ in range(3):
        assert torch.equal(planned(x, y), F.cross_entropy(plain(x), y).detach())
    assert torch.equal(model.mean, plain.mean)


def test_plain_tensors_are_refused_and_capture_leaves_none_behind():
    model = Remembers("cache")
    with pytest.raises(planning.Unsupported, match="register_buffer"):
        planned_for(model)
    assert model.cache is None
    weight = torch.rand(10)
    with pytest.raises(planning.Unsupported, match=r"nll_loss_forward reads a tensor"):
        planned_for(network(), lambda output, labels: F.cross_entropy(output, labels, weight))
    model = Remembers("store")
    planned_for(model)
    assert model.cache is None


def test_what_has_no_dense_shape_is_refused():
    words = (torch.randint(0, 50, (16, 12)), torch.randint(0, 10, (16,)))
    sparse = nn.Sequential(nn.Embedding(50, 8, sparse=True), nn.Flatten(), nn.Linear(96, 10))
    with pytest.raises(planning.Unsupported, match="sparse=False"):
        planned_for(sparse, inputs=words)
    with pytest.raises(planning.Unsupported, match="run the model once"):
        planned_for(nn.Sequential(nn.LazyLinear(10)))
    for budget in (float("nan"), float("inf")):
        with pytest.raises(planning.DoesNotFit, match="whole number of bytes"):
            planned_for(network(), budget=budget)


def test_gradients_that_are_nothing_but_rounding_are_no_fault():
    torch.manual_seed(1)
    images, labels = torch.randn(4, 3, 32, 32).to(memory_format=torch.channels_last), torch.randint(0, 10, (4,))
    first = [nn.Conv2d(3, 16, 3, padding=1, stride=2), nn.BatchNorm2d(16), nn.ReLU(inplace=True)]
    second = [nn.Conv2d(16, 16, 3, 1, 1, groups=4), nn.GroupNorm(4, 16), nn.SiLU(), nn.ConvTranspose2d(16, 8, 2, 2)]
    last = [nn.InstanceNorm2d(8, affine=True), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 10)]
    model = nn.Sequential(*first, *second, *last).to(memory_format=torch.channels_last)
    planned_for(model, inputs=(images, labels))(images, labels)
    assert model[0].bias.grad.abs().max() < 1e-5 * model[0].weight.grad.abs().max()


def test_a_capture_is_shown_in_a_line():
    planned = planned_for(network())
    assert repr(planned.captured).startswith("<Captured Sequential: ") and len(repr(planned.captured.program)) < 200
    assert len(repr(planned.lowered)) < 200 and "aten." in repr(planned.moves[0])
