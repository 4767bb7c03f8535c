"""Advantages and the loss of PPO (Schulman et al. 2016, 2017)."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from qes_jax.ppo import networks
from qes_jax.ppo.config import PPOConfig
from qes_jax.ppo.networks import NetworkParams
from qes_jax.types import Obs


class Samples(NamedTuple):
    """What the update learns from. Leading axis N."""

    obs: Obs  # normalised
    mirror_obs: Obs | None  # the mirrored observation, normalised
    action: jax.Array  # (N, n_act)
    mean: jax.Array  # (N, n_act) of the policy that acted
    log_prob: jax.Array  # (N,) of the policy that acted
    advantage: jax.Array  # (N,) normalised
    target: jax.Array  # (N,) of the value


class Mirror(NamedTuple):
    """Left-right symmetry: each maps one raw vector to its mirror image of the same length."""

    policy: Callable[[jax.Array], jax.Array]
    critic: Callable[[jax.Array], jax.Array]
    action: Callable[[jax.Array], jax.Array]


def gae(
    reward: jax.Array,
    value: jax.Array,
    next_value: jax.Array,
    terminated: jax.Array,
    truncated: jax.Array,
    gamma: float,
    lam: float,
) -> jax.Array:
    """Generalised advantages (T, B) of arrays (T, B).

    delta_t = r_t + gamma (1 - terminated_t) V(s'_t) - V(s_t);  A_t = delta_t + gamma lam (1 - done_t) A_{t+1}.
    s'_t is the state reached by step t, so a truncated episode is bootstrapped from its own last state.
    """
    delta = reward + gamma * (1.0 - terminated) * next_value - value
    decay = gamma * lam * (1.0 - jnp.maximum(terminated, truncated))

    def back(later: jax.Array, now: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        advantage = now[0] + now[1] * later
        return advantage, advantage

    return jax.lax.scan(back, jnp.zeros_like(reward[0]), (delta, decay), reverse=True)[1]


def surrogate(ratio: jax.Array, advantage: jax.Array, clip: float) -> jax.Array:
    """The clipped objective, negated, ()."""
    return -jnp.mean(jnp.minimum(ratio * advantage, jnp.clip(ratio, 1.0 - clip, 1.0 + clip) * advantage))


def sample_loss(
    cfg: PPOConfig, params: NetworkParams, old_log_std: jax.Array, samples: Samples
) -> tuple[jax.Array, dict[str, jax.Array]]:
    """Loss () of samples, and its terms."""
    log_std = params["log_std"]
    mean = networks.mean_action(cfg, params, samples.obs.policy)
    ratio = jnp.exp(networks.log_prob(mean, log_std, samples.action) - samples.log_prob)
    terms = {
        "loss/policy": surrogate(ratio, samples.advantage, cfg.clip),
        "loss/value": 0.5 * jnp.mean((networks.value(cfg, params, samples.obs.critic) - samples.target) ** 2),
        "loss/bound": jnp.mean(jnp.sum(jnp.maximum(jnp.abs(mean) - 1.0, 0.0) ** 2, -1)),
        "ppo/entropy": networks.entropy(log_std),
        "ppo/kl": jnp.mean(networks.kl(samples.mean, old_log_std, mean, log_std)),
        "ppo/clip_fraction": jnp.mean((jnp.abs(ratio - 1.0) > cfg.clip).astype(jnp.float32)),
    }
    total = (
        terms["loss/policy"]
        + cfg.value_coef * terms["loss/value"]
        + cfg.bound_coef * terms["loss/bound"]
        - cfg.entropy_coef * terms["ppo/entropy"]
    )
    return total, terms


def loss(
    cfg: PPOConfig, params: NetworkParams, old_log_std: jax.Array, samples: Samples, mirror: Mirror | None
) -> tuple[jax.Array, dict[str, jax.Array]]:
    """Loss () of a minibatch: of the samples, and with weight `mirror_weight` of their mirror images.

    The image was acted out by the mirrored policy, so the density that it was drawn with is the sample's own.
    """
    total, terms = sample_loss(cfg, params, old_log_std, samples)
    if mirror is None:
        return total, terms
    assert samples.mirror_obs is not None
    images = samples._replace(
        obs=samples.mirror_obs,
        action=jax.vmap(mirror.action)(samples.action),
        mean=jax.vmap(mirror.action)(samples.mean),
    )
    mirrored, mirror_terms = sample_loss(cfg, params, old_log_std, images)
    terms = terms | {"loss/mirror_policy": mirror_terms["loss/policy"], "loss/mirror_value": mirror_terms["loss/value"]}
    return (total + cfg.mirror_weight * mirrored) / (1.0 + cfg.mirror_weight), terms
