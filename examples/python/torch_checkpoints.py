"""From a plan to torch.utils.checkpoint, for those who stay with it: which blocks to wrap, and what to save in them.

python examples/python/torch_checkpoints.py
"""

import torch
from pebble_bridge.torch import as_code, checkpointed, fit, measure_peak, modules_to_checkpoint, selective_contexts
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
width = 64


def block() -> nn.Module:
    return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))


model = nn.Sequential(*(block() for _ in range(6)), nn.Linear(width, 10))
inputs, labels = torch.randn(512, width), torch.randint(10, (512,))
loss = nn.CrossEntropyLoss()


def step() -> None:
    model.zero_grad(set_to_none=True)
    loss(model(inputs), labels).backward()


planned = fit(model, (inputs, labels), loss, budget="40%", time=3)
print(as_code(planned))

peaks = {"plain": measure_peak(step), "planned": planned.measured_peak}
names = modules_to_checkpoint(planned)
with checkpointed(model, names):
    peaks["the blocks above, wrapped"] = measure_peak(step)
with checkpointed(model, names, {name: selective_contexts(planned, name) for name in names}):
    peaks["and what the plan keeps inside, saved"] = measure_peak(step)
for name, peak in peaks.items():
    print(f"{peak / 2**20:8.2f} MiB  {name}")
