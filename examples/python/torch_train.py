"""Train a small network within half of the memory, and see that nothing else changes.

    python examples/python/torch_train.py [BUDGET]

The budget is of the peak of a step above what is there before it: "50%" of the plain step's, "20MiB", or bytes.
"""

import sys

import torch
from pebble_bridge.torch import fit
from torch import nn


def network() -> nn.Module:
    torch.manual_seed(1)
    layers: list[nn.Module] = []
    for width in (3, 32, 32, 32):
        layers += [nn.Conv2d(width, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers, nn.Dropout(0.1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))


def train(planned: bool, steps: int = 5) -> list[float]:
    model, loss = network(), nn.CrossEntropyLoss()
    images, labels = torch.randn(16, 3, 32, 32), torch.randint(10, (16,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    if planned:
        step = fit(model, (images, labels), loss, budget, time=3)  # prints the measured and the planned peak
        print(step.report())
    torch.manual_seed(2)  # the same dropout masks in both
    curve = []
    for _ in range(steps):
        optimizer.zero_grad()
        if planned:
            value = step(images, labels)  # forward, loss and backward, by the plan
        else:
            value = loss(model(images), labels)
            value.backward()
        optimizer.step()
        curve.append(value.item())
    return curve


budget = sys.argv[1] if len(sys.argv) > 1 else "60%"
torch.set_num_threads(1)
planned, plain = train(True), train(False)
print("losses  ", " ".join(f"{value:.6f}" for value in planned))
print("as plain" if planned == plain else "DIFFERENT from the plain ones", " ".join(f"{value:.6f}" for value in plain))
