"""Small models in plain jax.numpy for the JAX tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp


def mlp(layers: int = 16, width: int = 64, batch: int = 256) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    keys = jax.random.split(jax.random.key(0), layers)
    params = [{"w": jax.random.normal(k, (width, width)) / width**0.5, "b": jnp.zeros(width)} for k in keys]

    def loss(params: Any, x: Any) -> Any:
        for layer in params:
            x = jnp.tanh(x @ layer["w"] + layer["b"])
        return jnp.mean(x**2)

    return loss, (params, jax.random.normal(jax.random.key(1), (batch, width)))


def cnn(
    blocks: int = 6, channels: int = 8, side: int = 32, batch: int = 4
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    keys = jax.random.split(jax.random.key(0), blocks)
    params = [jax.random.normal(k, (channels, channels, 3, 3)) / (3 * channels**0.5) for k in keys]

    def loss(params: Any, x: Any) -> Any:
        for k, w in enumerate(params):
            y = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME")
            y = (y - y.mean((0, 2, 3), keepdims=True)) * jax.lax.rsqrt(y.var((0, 2, 3), keepdims=True) + 1e-5)
            x = jax.nn.relu(y) + (x if k % 2 else 0)
        return jnp.mean(x**2)

    return loss, (params, jax.random.normal(jax.random.key(1), (batch, channels, side, side)))


def transformer(
    blocks: int = 4, width: int = 32, heads: int = 4, length: int = 64, batch: int = 2, dropout: float = 0.0
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    def block_params(key: Any) -> dict[str, Any]:
        k = jax.random.split(key, 4)
        return {
            "qkv": jax.random.normal(k[0], (width, 3 * width)) / width**0.5,
            "out": jax.random.normal(k[1], (width, width)) / width**0.5,
            "up": jax.random.normal(k[2], (width, 4 * width)) / width**0.5,
            "down": jax.random.normal(k[3], (4 * width, width)) / (4 * width) ** 0.5,
        }

    def norm(x: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)

    def attention(p: Any, x: Any) -> Any:
        q, k, v = jnp.split((x @ p["qkv"]).reshape(*x.shape[:2], 3 * heads, width // heads), 3, axis=2)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / (width // heads) ** 0.5
        scores = jnp.where(jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool)), scores, -1e9)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape) @ p["out"]

    def loss(params: Any, x: Any, key: Any) -> Any:
        for k, p in enumerate(params):
            y = attention(p, norm(x))
            if dropout:
                y = jnp.where(
                    jax.random.bernoulli(jax.random.fold_in(key, k), 1 - dropout, y.shape), y / (1 - dropout), 0
                )
            x = x + y
            x = x + jax.nn.gelu(norm(x) @ p["up"]) @ p["down"]
        return jnp.mean(jax.nn.logsumexp(x, axis=-1))

    params = [block_params(k) for k in jax.random.split(jax.random.key(0), blocks)]
    return loss, (params, jax.random.normal(jax.random.key(1), (batch, length, width)), jax.random.key(2))


def rnn(
    length: int = 32, width: int = 32, batch: int = 16, layers: int = 3
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    keys = jax.random.split(jax.random.key(0), layers)
    params = [
        (jax.random.normal(k, (width, width)) / width**0.5, jax.random.normal(k, (width, width)) / width**0.5)
        for k in keys
    ]

    def loss(params: Any, xs: Any) -> Any:
        for w, u in params:

            def step(h: Any, x: Any, w: Any = w, u: Any = u) -> Any:
                h = jnp.tanh(h @ w + x @ u)
                return h, h

            _, xs = jax.lax.scan(step, jnp.zeros((batch, width)), xs)
            xs = jnp.sin(xs)
        return jnp.mean(xs**2)

    return loss, (params, jax.random.normal(jax.random.key(1), (length, batch, width)))
