"""Your own functions on NumPy arrays under a plan, in one block of memory.

pip install pebble_bridge numpy, then: python run_my_kernels.py

Layers x[i+1] = tanh(w[i] @ x[i]) and the gradient of their sum by x[0]. The costs of the plan are measured first.
"""

from __future__ import annotations

import numpy as np

import pebble_bridge as pb

LAYERS, WIDTH, BATCH = 12, 256, 512
rng = np.random.default_rng(1)
weights = rng.normal(size=(LAYERS, WIDTH, WIDTH)) / np.sqrt(WIDTH)
start = rng.normal(size=(WIDTH, BATCH))


def kernel(name, *values):
    """One function for all nodes; a mapping from names to functions works too."""
    kind, i = name[0], int(name[1:])
    if kind == "x":
        return np.tanh(weights[i - 1] @ values[0])
    after = values[1] if i + 1 < LAYERS else 1.0  # gradient i reads x[i+1] and gradient i+1
    return weights[i].T @ (after * (1 - values[0] ** 2))


def make_graph(costs=None):
    """x0 is given, g0 is the result."""
    names = [f"x{i}" for i in range(LAYERS + 1)] + [f"g{i}" for i in range(LAYERS - 1, -1, -1)]
    edges = [(f"x{i}", f"x{i + 1}") for i in range(LAYERS)] + [(f"x{i + 1}", f"g{i}") for i in range(LAYERS)]
    edges += [(f"g{i + 1}", f"g{i}") for i in range(LAYERS - 1)]
    return pb.Graph(
        cost=costs or [0] + [1] * (len(names) - 1),
        size=[start.nbytes] * len(names),
        names=names,
        edges=edges,
        given=["x0"],
        keep=["g0"],
        cost_unit="ns",
        size_unit="byte",
    )


def main() -> None:
    graph = make_graph()
    once = pb.run(graph, kernel, pb.plan(graph, "100%"), given={"x0": start})
    graph = make_graph(once.node_ns)
    print("cap    predicted peak  measured  predicted time  measured  equal")
    for cap in ("100%", "60%", "45%"):
        plan = pb.plan(graph, cap)
        ran = pb.run(graph, kernel, plan, given={"x0": start}, steps=3, reference=True)
        times = f"{1e3 * plan.runtime:11.1f} ms  {1e3 * ran.seconds:5.1f} ms"
        print(f"{cap:5}  {plan.metrics.peak:14,}  {ran.peak:8,}  {times}  {ran.equal}")
        assert ran.equal and ran.peak == plan.metrics.peak
    print(
        "kernels that are not deterministic:",
        pb.run(graph, kernel, plan, given={"x0": start}, check=True).differs,
    )


if __name__ == "__main__":
    main()
