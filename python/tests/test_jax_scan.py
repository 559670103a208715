"""Planned loops in JAX: the gradients of lax.scan, with the fewest evaluations for the carries that are kept."""

from __future__ import annotations

import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import pebble_bridge as pb  # noqa: E402
import pebble_bridge.jax as pj  # noqa: E402
from pebble_bridge import adjoint  # noqa: E402

CALLS = [0]


def count() -> None:
    CALLS[0] += 1


def loss(scan, w, b, h, xs, **how):
    """Carries and inputs with whole numbers among them, results that are read, and closed-over parameters."""

    def step(carry, x):
        jax.debug.callback(count)
        h, i = carry
        h = jnp.tanh(h @ w + x["a"] + b) * jnp.where(i % 2 == 0, 1.0, 0.9)
        return (h, i + 1), (h.sum(), i + x["n"])

    start = (h, jnp.int32(0))
    (h, _), (sums, _) = scan(step, start, {"a": xs, "n": jnp.arange(len(xs))}, **how)
    return (h**2).sum() + (sums * jnp.arange(len(xs))).sum()


def arguments(n: int):
    r = np.random.default_rng(n)
    shapes = ((4, 4), (4,), (3, 4), (n, 3, 4))
    return [jnp.asarray(r.normal(size=shape) / 2, jnp.float32) for shape in shapes]


@pytest.mark.parametrize(("n", "checkpoints", "reverse"), [(1, 1, False), (20, 3, True)])
def test_gradients_and_evaluations(n: int, checkpoints: int, reverse: bool) -> None:
    args = arguments(n)
    plain = jax.jit(jax.grad(lambda *a: loss(jax.lax.scan, *a, reverse=reverse), (0, 1, 2, 3)))(*args)
    planned = jax.jit(
        jax.value_and_grad(lambda *a: loss(pj.scan, *a, checkpoints=checkpoints, reverse=reverse), (0, 1, 2, 3))
    )
    jax.block_until_ready(planned(*args))
    jax.effects_barrier()
    CALLS[0] = 0
    value, found = jax.block_until_ready(planned(*args))
    jax.effects_barrier()
    calls = CALLS[0]
    assert jnp.allclose(value, loss(jax.lax.scan, *args, reverse=reverse), rtol=1e-5)
    cost = pj.scan_cost((args[2], jnp.int32(0)), n, checkpoints=checkpoints)
    assert calls == cost.evaluations == adjoint.revolve_cost(n + 1, checkpoints).forward_steps - 1 or n == 1
    assert cost.saved_bytes == checkpoints * (3 * 4 * 4 + 4) or checkpoints > n
    for a, b in zip(found, plain, strict=True):
        assert jnp.allclose(a, b, rtol=1e-4, atol=1e-5)


def test_a_budget_is_bytes_or_a_share() -> None:
    state = jnp.zeros(256)
    assert pj.scan_cost(state, 100, budget=10_500) == pj.scan_cost(state, 100, checkpoints=10)
    assert pj.scan_cost(state, 100, budget="10%") == pj.scan_cost(state, 100, checkpoints=10)
    assert pj.scan_cost(state, 100, checkpoints=1000).checkpoints == 100
    assert pj.scan_cost(state, 100, checkpoints=100).evaluations == 200
    costs = [pj.scan_cost(state, 200, checkpoints=s).evaluations for s in range(1, 40)]
    assert costs == sorted(costs, reverse=True)
    for wrong in ({}, {"checkpoints": 3, "budget": 9}, {"budget": 10}, {"budget": "many"}):
        with pytest.raises(pb.InvalidArgument):
            pj.scan_cost(state, 100, **wrong)


def test_the_compiled_program_does_not_grow_and_keeps_few_carries() -> None:
    if jax.default_backend() != "cpu":
        pytest.skip("memory is compared on the CPU")

    def run(h, xs, checkpoints):
        return pj.scan(lambda c, x: (jnp.sin(c) * x, None), h, xs, checkpoints=checkpoints)[0].sum()

    def compiled(n, checkpoints):
        shapes = jax.ShapeDtypeStruct((10_000,), jnp.float32), jax.ShapeDtypeStruct((n,), jnp.float32)
        return jax.jit(jax.grad(lambda h, xs: run(h, xs, checkpoints))).lower(*shapes).compile()

    small, large = compiled(50, 5), compiled(800, 5)
    lines = [len(c.as_text().splitlines()) for c in (small, large)]
    assert lines[1] <= lines[0] + 20
    temporary = large.memory_analysis().temp_size_in_bytes
    assert temporary < 5 * 40_000 * 3  # of 800 carries; XLA may copy the places once or twice


def test_it_is_batched_and_refuses_other_carries() -> None:
    xs = jnp.linspace(0, 1, 9)
    one = jax.grad(lambda h: pj.scan(lambda c, x: (jnp.sin(c * x + 1), None), h, xs, checkpoints=2)[0])
    many = jax.vmap(one)(jnp.arange(3.0))
    assert jnp.allclose(many, jnp.stack([one(h) for h in jnp.arange(3.0)]))
    with pytest.raises(pb.InvalidArgument, match="same shapes and types"):
        pj.scan(lambda c, x: (c.astype(jnp.float16), None), jnp.zeros(3), length=5, checkpoints=2)
    with pytest.raises(pb.InvalidArgument, match="one length"):
        pj.scan(lambda c, x: (c, None), jnp.zeros(3), jnp.zeros(4), 5, checkpoints=2)


def test_never_more_evaluations_than_equinox() -> None:
    eqxi = pytest.importorskip("equinox.internal", reason="equinox is not installed")

    def theirs(h, n, checkpoints):
        def body(carry):
            jax.debug.callback(count)
            h, i = carry
            return jnp.sin(h) * 1.1, i + 1

        def less(carry):
            return carry[1] < n

        start = (h, jnp.int32(0))
        return eqxi.while_loop(less, body, start, max_steps=n, kind="checkpointed", checkpoints=checkpoints)[0].sum()

    for n, checkpoints in ((40, 5),):
        step = jax.jit(jax.value_and_grad(lambda h, n=n, s=checkpoints: theirs(h, n, s)))
        jax.block_until_ready(step(jnp.ones(3)))
        jax.effects_barrier()
        CALLS[0] = 0
        jax.block_until_ready(step(jnp.ones(3)))
        jax.effects_barrier()
        assert pj.scan_cost(jnp.ones(3), n, checkpoints=checkpoints).evaluations <= CALLS[0]
