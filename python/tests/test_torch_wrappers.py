"""Gradients that hooks would synchronize: DistributedDataParallel and its kind are refused, before and after `fit`."""

from __future__ import annotations

import gc
import sys

import pytest

torch = pytest.importorskip("torch")

from pebble_bridge import torch as planning  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402

if not (torch.distributed.is_available() and torch.distributed.is_gloo_available()):
    pytest.skip("torch without gloo", allow_module_level=True)


@pytest.fixture
def one_process(tmp_path):
    torch.manual_seed(0)
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/meet", rank=0, world_size=1)
    yield
    gc.collect()
    torch.distributed.destroy_process_group()


def batch():
    return torch.randn(16, 8), torch.randint(0, 4, (16,))


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 4))


def test_a_wrapper_made_after_fit_is_noticed(one_process):
    model, inputs = network(), batch()
    planned = planning.fit(model, inputs, nn.CrossEntropyLoss(), "200%", time=0.3, verbose=False)
    planned(*inputs)
    wrapper = DistributedDataParallel(model)
    with pytest.raises(planning.Unsupported, match=r"synchronized by DistributedDataParallel.*all_reduce\(p\.grad\)"):
        planned(*inputs)
    del wrapper
    gc.collect()
    planned(*inputs)
    part = DistributedDataParallel(model[2])
    with pytest.raises(planning.Unsupported, match="synchronized by DistributedDataParallel"):
        planned(*inputs)
    del part
    other = DistributedDataParallel(network())
    gc.collect()
    planned(*inputs)
    assert other is not None


def test_a_wrapped_model_is_not_planned(one_process):
    model, inputs = network(), batch()
    wrapper = DistributedDataParallel(model)
    with pytest.raises(planning.Unsupported, match="the model is wrapped in DistributedDataParallel"):
        planning.capture(wrapper, inputs, nn.CrossEntropyLoss())
    with pytest.raises(planning.Unsupported, match='the module "0" is wrapped in DistributedDataParallel'):
        planning.capture(nn.Sequential(wrapper), inputs, nn.CrossEntropyLoss())
    with pytest.raises(planning.Unsupported, match="synchronized by DistributedDataParallel"):
        planning.capture(model, inputs, nn.CrossEntropyLoss())
    del wrapper
    gc.collect()
    planning.capture(model, inputs, nn.CrossEntropyLoss()).state.check()


def test_sharded_parameters_are_refused(one_process):
    from torch.distributed.fsdp import fully_shard

    model, inputs = network(), batch()
    state = planning.capture(model, inputs, nn.CrossEntropyLoss()).state
    fully_shard(model, mesh=torch.distributed.device_mesh.init_device_mesh("cpu", (1,)))
    with pytest.raises(planning.Unsupported, match="since fit"):
        state.check()
    with pytest.raises(planning.Unsupported, match='"0.weight" is sharded'):
        planning.capture(model, inputs, nn.CrossEntropyLoss())


def test_the_watch_for_wrappers_ends_with_the_last_step():
    from pebble_bridge.torch.gradient_hooks import WRAPPINGS

    captured = planning.capture(network(), batch(), nn.CrossEntropyLoss())
    assert WRAPPINGS.handle is not None
    del captured
    gc.collect()
    if not WRAPPINGS.guards:  # no step of another test is left
        network()
        assert WRAPPINGS.handle is None


AVERAGING = """
import os, sys, torch
from torch import nn
rank = int(sys.argv[2])
torch.set_num_threads(1)
torch.distributed.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=rank, world_size=2)
from pebble_bridge.torch import Unsupported, fit
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 4))
torch.manual_seed(rank)
x, y = torch.randn(16, 8), torch.randint(0, 4, (16,))
step = fit(model, (x, y), nn.CrossEntropyLoss(), "200%", time=0.3, verbose=False)
step(x, y)
for p in model.parameters():  # as the message advises
    torch.distributed.all_reduce(p.grad)
    p.grad /= torch.distributed.get_world_size()
found = [p.grad.clone() for p in model.parameters()]
model.zero_grad()
wrapper = nn.parallel.DistributedDataParallel(model)
nn.functional.cross_entropy(wrapper(x), y).backward()
assert all(torch.allclose(a, p.grad, atol=1e-6) for a, p in zip(found, model.parameters()))
try:
    step(x, y)
except Unsupported as error:
    print("refused" if "all_reduce" in str(error) else error, flush=True)
torch.distributed.barrier()
os._exit(0)  # gloo's threads may still run when the interpreter ends, and then the process aborts
"""


def test_two_processes_average_as_the_message_says(tmp_path, root):
    import os
    import subprocess

    environment = {**os.environ, "PYTHONPATH": str(root / "python")}
    command = [sys.executable, "-B", "-c", AVERAGING, str(tmp_path / "meet")]
    running = [
        subprocess.Popen([*command, str(rank)], env=environment, stdout=subprocess.PIPE, text=True) for rank in (0, 1)
    ]
    for process in running:
        output, _ = process.communicate(timeout=300)
        assert process.returncode == 0 and output == "refused\n"
