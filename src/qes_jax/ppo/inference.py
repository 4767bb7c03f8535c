"""The trained policy by itself: what evaluation and playback need of a train state."""

from typing import Any, NamedTuple

import jax

from qes_jax.ppo import networks
from qes_jax.ppo.config import PPOConfig
from qes_jax.ppo.normalize import mean_std, scale
from qes_jax.ppo.train import TrainState


class PolicyParams(NamedTuple):
    """Weights and statistics of a policy."""

    actor: Any
    log_std: jax.Array  # (n_act,)
    mean: jax.Array  # (n_policy,)
    std: jax.Array  # (n_policy,)


def policy_params(ts: TrainState) -> PolicyParams:
    """The policy of a train state."""
    mean, std = mean_std(ts.normalizer)
    return PolicyParams(ts.params["actor"], ts.params["log_std"], mean.policy, std.policy)


def policy(cfg: PPOConfig, params: PolicyParams, obs: jax.Array) -> jax.Array:
    """Mean action (..., n_act), not clipped, at raw policy observations (..., n_policy)."""
    x = scale(cfg, obs, params.mean, params.std)
    return networks.mean_action(cfg, {"actor": params.actor, "log_std": params.log_std}, x)
