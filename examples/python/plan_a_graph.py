"""Plan a small training step under half of its memory, and see what the plan does.

python examples/python/plan_a_graph.py
"""

import pebble_bridge as pb

# Four layers and their gradients; a gradient reads the activation of its layer and of the layer before.
layers = 4
names = [f"x{i}" for i in range(layers + 1)] + [f"g{i}" for i in reversed(range(layers))]
edges = [(f"x{i}", f"x{i + 1}") for i in range(layers)]
for i in range(layers):
    edges += [(f"x{i}", f"g{i}"), (f"x{i + 1}", f"g{i}")]
    if i + 1 < layers:
        edges.append((f"g{i + 1}", f"g{i}"))

graph = pb.Graph(
    cost=[0] + [10] * layers + [20] * layers,
    size=[4 << 20] * len(names),
    edges=edges,
    names=names,
    given=["x0"],
    name="four layers",
    cost_unit="ms",
    size_unit="byte",
)

plan = pb.plan(graph, cap="90%").require()
print(f"{plan.outcome} by {plan.strategy}: {plan.metrics.work} ms within {plan.cap >> 20} MiB")
print(f"in program order it needs {graph.written_peak >> 20} MiB; the lower bound on the work is {plan.lower_bound} ms")
print(plan.export("decisions"), end="")
for move in plan.moves:
    over = f" over {names[move.over]}" if move.over is not None else ""
    print(f"  {move.op} {names[move.node]}{over}")

verdict = pb.verify(graph, plan)
print("verified" if verdict else verdict.sentence)
plan.write("plan.json")
