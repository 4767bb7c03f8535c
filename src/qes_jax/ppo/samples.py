"""From a rollout to what the update learns from and to what is logged."""

from typing import Any

import jax
import jax.numpy as jnp

from qes_jax.ppo.config import PPOConfig
from qes_jax.ppo.loss import Samples, gae
from qes_jax.ppo.rollout import Trajectory
from qes_jax.ppo.update import count_nan

Metrics = dict[str, jax.Array]


def block_rows(within: jax.Array, n_envs: int) -> jax.Array:
    """Environment numbers (..., blocks, n) on this device from numbers within each block."""
    blocks = within.shape[-2]
    return within + (jnp.arange(blocks, dtype=within.dtype) * (n_envs // blocks))[:, None]


def minibatch_rows(cfg: PPOConfig, shuffle: jax.Array, n_envs: int) -> jax.Array:
    """Rows of (T, B) flattened, (epochs * n_minibatches, minibatch on this device), from permutations within blocks."""
    width = n_envs // shuffle.shape[1]
    rows = shuffle // width * n_envs + block_rows(shuffle % width, n_envs)  # (epochs, blocks, T * width)
    rows = rows.reshape(cfg.epochs, shuffle.shape[1], cfg.n_minibatches, -1).swapaxes(1, 2)
    return rows.reshape(cfg.epochs * cfg.n_minibatches, -1)


def make_samples(cfg: PPOConfig, seen: Trajectory, axis: str | None) -> tuple[Samples, Metrics]:
    """Flat samples (T * B, ...) with advantages normalised over all devices."""
    advantage = gae(seen.reward, seen.value, seen.next_value, seen.terminated, seen.truncated, cfg.gamma, cfg.lam)
    target = advantage + seen.value
    mean, var = moments(advantage, axis)
    samples = Samples(
        obs=seen.obs,
        mirror_obs=seen.mirror_obs,
        action=seen.action,
        mean=seen.mean,
        log_prob=seen.log_prob,
        advantage=(advantage - mean) * jax.lax.rsqrt(var + 1e-8),
        target=target,
    )
    unexplained = var / (moments(target, axis)[1] + 1e-8)
    metrics = {"ppo/explained_variance": 1.0 - unexplained, "rollout/value": all_mean(seen.value, axis)}
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), samples), metrics


def all_mean(x: jax.Array, axis: str | None) -> jax.Array:
    """Mean () over the array and over devices."""
    return jnp.mean(x) if axis is None else jax.lax.pmean(jnp.mean(x), axis)


def moments(x: jax.Array, axis: str | None) -> tuple[jax.Array, jax.Array]:
    """Mean () and variance () over the array and over devices."""
    mean = all_mean(x, axis)
    return mean, all_mean((x - mean) ** 2, axis)


def rollout_metrics(seen: Trajectory, axis: str | None) -> Metrics:
    """Means of the environment's own metrics and of reward and endings, and counts of what is not finite."""
    ours = {"rollout/reward": seen.reward, "rollout/terminated": seen.terminated, "rollout/truncated": seen.truncated}
    named = {name: x.astype(jnp.float32) for name, x in seen.metrics.items() if not name.startswith("trace/")}
    metrics = {name: all_mean(x, axis) for name, x in (ours | named).items()}
    bad = {"nan/reward": count_nan(seen.reward), "nan/action": count_nan(seen.action)}
    return metrics | (bad if axis is None else jax.lax.psum(bad, axis))


def episodes(seen: Trajectory) -> Metrics:
    """What callers follow up environment by environment, (T, B) each."""
    traces: dict[str, Any] = {name: x for name, x in seen.metrics.items() if name.startswith("trace/")}
    return {"terminated": seen.terminated, "truncated": seen.truncated} | traces
