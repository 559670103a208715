"""How far a budget goes: a small transformer in plain jax.numpy, planned at several budgets and compiled.

pip install pebble_bridge jax, then: python jax_transformer.py [BLOCKS]

For each budget: the peak that the policy's replay needs and what the compiler allots, both in addition to arguments and
results, and how far the gradient is from the one that keeps everything.
"""

from __future__ import annotations

import sys
from typing import Any

import jax
import jax.numpy as jnp
import pebble_bridge as pb
from pebble_bridge.jax import compiler_options, measure, remat

WIDTH, HEADS, LENGTH, BATCH = 64, 4, 128, 4


def block(p: dict[str, Any], x: Any) -> Any:
    def norm(x: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)

    q, k, v = jnp.split((norm(x) @ p["qkv"]).reshape(BATCH, LENGTH, 3 * HEADS, WIDTH // HEADS), 3, axis=2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / (WIDTH // HEADS) ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
    x = x + jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape) @ p["out"]
    return x + jax.nn.gelu(norm(x) @ p["up"]) @ p["down"]


def loss(blocks: list[dict[str, Any]], x: Any) -> Any:
    for p in blocks:
        x = block(p, x)
    return jnp.mean(jax.nn.logsumexp(x, axis=-1))


def parameters(count: int) -> list[dict[str, Any]]:
    shapes = {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH), "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
    keys = iter(jax.random.split(jax.random.key(0), 4 * count))
    return [{k: jax.random.normal(next(keys), s) / s[0] ** 0.5 for k, s in shapes.items()} for _ in range(count)]


def main(count: int = 4) -> None:
    args = parameters(count), jax.random.normal(jax.random.key(1), (BATCH, LENGTH, WIDTH))
    expected = jax.jit(jax.grad(loss))(*args)
    print("budget  replayed  allotted  more work  gradient differs by")
    for budget in ("100%", "80%", "60%", "50%"):
        try:
            smaller = remat(loss, *args, budget=budget, compare=0)
        except pb.NothingFound as nothing:
            print(f"{budget:>6}  {nothing}")
            continue
        found = jax.jit(jax.grad(smaller), compiler_options=compiler_options())(*args)
        off = max(
            float(jnp.abs(a - b).max() / jnp.abs(b).max())
            for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True)
        )
        r = smaller.report
        temporary = measure(smaller, *args).temporary
        print(f"{budget:>6}  {r.peak - r.fixed:>8}  {temporary:>8}  {100 * r.overhead:>7.1f} %  {off:.1e}")
        if off > 1e-4:
            raise SystemExit("The gradient is wrong.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
