"""Actor and critic: two separate perceptrons, and a gaussian whose deviation does not depend on the observation."""

import math
from typing import Any, cast

import jax
import jax.numpy as jnp
from flax import linen as nn

from qes_jax.ppo.config import PPOConfig

NetworkParams = dict[str, Any]  # {"actor": flax variables, "critic": flax variables, "log_std": (n_act,)}


class MLP(nn.Module):
    """(..., n_in) -> (..., n_out), linear at the end, orthogonal weights."""

    hidden: tuple[int, ...]
    n_out: int
    activation: str
    last_layer_scale: float = 1.0

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        act = getattr(nn, self.activation)
        for n in self.hidden:
            x = act(nn.Dense(n, kernel_init=nn.initializers.orthogonal(math.sqrt(2.0)))(x))
        return nn.Dense(self.n_out, kernel_init=nn.initializers.orthogonal(self.last_layer_scale))(x)


def actor(cfg: PPOConfig, n_act: int) -> MLP:
    """The network of the mean action."""
    return MLP(cfg.actor_hidden, n_act, cfg.activation, cfg.last_layer_scale)


def critic(cfg: PPOConfig) -> MLP:
    """The network of the value; its output has a last axis of one."""
    return MLP(cfg.critic_hidden, 1, cfg.activation)


def init_params(cfg: PPOConfig, n_policy: int, n_critic: int, n_act: int, key: jax.Array) -> NetworkParams:
    """Fresh weights for observations of n_policy and n_critic numbers. Consumes `key`."""
    actor_key, critic_key = jax.random.split(key)
    return {
        "actor": actor(cfg, n_act).init(actor_key, jnp.zeros(n_policy)),
        "critic": critic(cfg).init(critic_key, jnp.zeros(n_critic)),
        "log_std": jnp.full(n_act, cfg.log_std_init, jnp.float32),
    }


def mean_action(cfg: PPOConfig, params: NetworkParams, obs: jax.Array) -> jax.Array:
    """Mean of the policy (..., n_act) at normalised policy observations (..., n_policy)."""
    return cast(jax.Array, actor(cfg, params["log_std"].shape[0]).apply(params["actor"], obs))


def value(cfg: PPOConfig, params: NetworkParams, obs: jax.Array) -> jax.Array:
    """Value (...,) at normalised critic observations (..., n_critic)."""
    return cast(jax.Array, critic(cfg).apply(params["critic"], obs))[..., 0]


def log_prob(mean: jax.Array, log_std: jax.Array, action: jax.Array) -> jax.Array:
    """Log density (...,) of `action` (..., n_act) under the diagonal gaussian."""
    z = (action - mean) * jnp.exp(-log_std)
    return -0.5 * jnp.sum(z * z, -1) - jnp.sum(log_std) - 0.5 * mean.shape[-1] * math.log(2.0 * math.pi)


def entropy(log_std: jax.Array) -> jax.Array:
    """Entropy () of the diagonal gaussian, in nats."""
    return jnp.sum(log_std) + 0.5 * log_std.shape[-1] * (1.0 + math.log(2.0 * math.pi))


def kl(mean: jax.Array, log_std: jax.Array, new_mean: jax.Array, new_log_std: jax.Array) -> jax.Array:
    """KL(old || new) (...,) of two diagonal gaussians, in nats."""
    squares = jnp.exp(2.0 * log_std) + (mean - new_mean) ** 2
    return jnp.sum(new_log_std - log_std + 0.5 * squares * jnp.exp(-2.0 * new_log_std) - 0.5, -1)
