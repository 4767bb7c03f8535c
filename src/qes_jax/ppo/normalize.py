"""Running mean and deviation of both observations: brax's statistics, in the few words needed here."""

from typing import cast

import jax
import jax.numpy as jnp
from brax.training.acme import running_statistics
from brax.training.acme.running_statistics import RunningStatisticsState

from qes_jax.ppo.config import PPOConfig
from qes_jax.types import Obs

Normalizer = RunningStatisticsState  # mean, std, summed_variance: Obs; count


def init_normalizer(obs: Obs) -> Normalizer:
    """Statistics of nothing, for observations like `obs` (no batch axis)."""
    # brax leaves a Python number among the leaves; as a typed array it comes back from a checkpoint as what it was.
    return jax.tree.map(lambda x: jnp.asarray(x, jnp.result_type(x)), running_statistics.init_state(obs))


def update_normalizer(cfg: PPOConfig, normalizer: Normalizer, obs: Obs, axis: str | None = None) -> Normalizer:
    """Adds raw observations of any batch shape; summed over the device axis `axis` where there is one."""
    return running_statistics.update(normalizer, obs, std_min_value=cfg.obs_std_min, pmap_axis_name=axis)


def normalize(cfg: PPOConfig, normalizer: Normalizer, obs: Obs) -> Obs:
    """(obs - mean) / std, clipped to +-obs_clip. A NaN stays one."""
    mean, std = mean_std(normalizer)
    return Obs(scale(cfg, obs.policy, mean.policy, std.policy), scale(cfg, obs.critic, mean.critic, std.critic))


def mean_std(normalizer: Normalizer) -> tuple[Obs, Obs]:
    """Mean and deviation of each feature, (n,) each."""
    return cast(Obs, normalizer.mean), cast(Obs, normalizer.std)


def scale(cfg: PPOConfig, x: jax.Array, mean: jax.Array, std: jax.Array) -> jax.Array:
    """One part of `normalize`: (..., n) with mean and std (n,)."""
    return jnp.clip((x - mean) * (1.0 / std), -cfg.obs_clip, cfg.obs_clip)
