"""What captured equations of JAX state for machines."""

from __future__ import annotations

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

import pebble_bridge as pb  # noqa: E402
from pebble_bridge import jax as planning  # noqa: E402


def stated(graph: pb.Graph) -> list[tuple]:
    return list(zip(graph.op, graph.dtype, graph.flops, graph.bytes, strict=True))


def test_products_and_functions() -> None:
    w, x = jnp.ones((8, 4)), jnp.ones((16, 8))
    graph = planning.capture(lambda w: jnp.tanh(x @ w).sum(), w, fuse=False).graph
    found = stated(graph)
    assert ("matmul", "float32", 2 * 16 * 8 * 4, 4 * (128 + 32 + 64)) in found
    assert any(op == "math" and flops == 10 * 64 for op, _, flops, _ in found)
    assert "reduce" in graph.op
    w, x = w.astype(jnp.bfloat16), x.astype(jnp.bfloat16)
    half = planning.capture(lambda w: (x @ w).astype(jnp.float32).sum(), w).graph
    assert ("matmul", "bfloat16") in {row[:2] for row in stated(half)}


@pytest.mark.parametrize("groups, kind", [(1, "conv"), (2, "conv"), (8, "depthwise")])
def test_convolutions_count_their_groups(groups: int, kind: str) -> None:
    x, w = jnp.ones((2, 8, 6, 6)), jnp.ones((8, 8 // groups, 3, 3))

    def loss(w, x):
        return (jax.lax.conv_general_dilated(x, w, (1, 1), "VALID", feature_group_count=groups) ** 2).sum()

    graph = planning.capture(loss, w, x, argnums=(0, 1), fuse=False).graph
    once = 2 * 2 * 16 * 8 * (8 // groups) * 9
    found = {row[0]: row[2] for row in stated(graph) if row[0] and row[0].startswith(kind)}
    assert set(found) == {kind, f"{kind}.dx", f"{kind}.dw"}
    assert set(found.values()) == {once}


def test_broadcast_values_are_read_as_far_as_they_reach() -> None:
    x, bias = jnp.ones((64, 32)), jnp.ones(32)
    graph = planning.capture(lambda b: jnp.sin(x + b).sum(), bias, fuse=False).graph
    added = graph.bytes[next(v for v, name in enumerate(graph.names) if name.startswith("add"))]
    assert added == 4 * (2 * 64 * 32 + 32)


def test_fused_values_are_neither_written_nor_read() -> None:
    x = jnp.ones((64, 32))
    apart = planning.capture(lambda x: jnp.exp(jnp.sin(x)).sum(), x, fuse=False).graph
    fused = planning.capture(lambda x: jnp.exp(jnp.sin(x)).sum(), x).graph
    assert sum(b or 0 for b in fused.bytes) < sum(b or 0 for b in apart.bytes)
    assert sum(f or 0 for f in fused.flops) == sum(f or 0 for f in apart.flops)


def test_a_machine_prices_plans_and_policies() -> None:
    w = jnp.ones((32, 32))

    def loss(w):
        x = jnp.ones((64, 32))
        for _ in range(4):
            x = jnp.tanh(x @ w)
        return x.sum()

    p = planning.plan(loss, w, budget="80%", machine="a100-40", time=1)
    assert p.cost_unit == "ns" and p.runtime is not None and p.runtime > 10 * 4e-6
    report = planning.remat(loss, w, budget="90%", machine="a100-40", compare=0).report
    assert report.cost_unit == "ns"
