"""One rollout: T steps of B environments, those that end going on from a pool of fresh states."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from qes_jax.ppo import networks
from qes_jax.ppo.config import PPOConfig
from qes_jax.ppo.loss import Mirror
from qes_jax.ppo.networks import NetworkParams
from qes_jax.ppo.normalize import Normalizer, mean_std, normalize, scale, update_normalizer
from qes_jax.types import Obs, Params, ResetFn, State, StepFn


class Carry(NamedTuple):
    """Where the environments stand. Leading axis B."""

    state: State
    obs: Obs  # raw
    value: jax.Array  # (B,) of obs


class Trajectory(NamedTuple):
    """What was seen. Leading axes (T, B)."""

    obs: Obs  # normalised, before the action
    mirror_obs: Obs | None  # mirrored, then normalised
    action: jax.Array  # (T, B, n_act) as drawn, not clipped
    mean: jax.Array  # (T, B, n_act)
    log_prob: jax.Array
    value: jax.Array  # of obs
    next_value: jax.Array  # of the state reached, also where the episode ended there
    reward: jax.Array
    terminated: jax.Array
    truncated: jax.Array
    metrics: dict[str, jax.Array]


def start(
    cfg: PPOConfig, params: NetworkParams, normalizer: Normalizer, reset: ResetFn, env_params: Params, keys: jax.Array
) -> Carry:
    """B fresh environments with their values; `keys` (B, 2) are consumed by `reset`."""
    state, obs = jax.vmap(reset, (None, 0))(env_params, keys)
    return Carry(state, obs, critic_value(cfg, params, normalizer, obs))


def critic_value(cfg: PPOConfig, params: NetworkParams, normalizer: Normalizer, obs: Obs) -> jax.Array:
    """Values (B,) of raw observations."""
    mean, std = mean_std(normalizer)
    return networks.value(cfg, params, scale(cfg, obs.critic, mean.critic, std.critic))


def rollout(
    cfg: PPOConfig,
    params: NetworkParams,
    normalizer: Normalizer,
    step: StepFn,
    env_params: Params,
    carry: Carry,
    pool: Carry,
    noise: jax.Array,
    slots: jax.Array,
    mirror: Mirror | None = None,
    axis: str | None = None,
) -> tuple[Carry, Normalizer, Trajectory]:
    """Acts with mean + exp(log_std) * noise, all observations normalised by `normalizer`; gives back its successor.

    noise: (T, B, n_act) standard normal.
    slots: (T, B) the row of `pool` that an environment goes on from, should it end at that step.
    """
    log_std = params["log_std"]

    def one(
        carries: tuple[Carry, Normalizer], draw: tuple[jax.Array, jax.Array]
    ) -> tuple[tuple[Carry, Normalizer], Trajectory]:
        carry, successor = carries
        eps, slot = draw
        obs = normalize(cfg, normalizer, carry.obs)
        mean = networks.mean_action(cfg, params, obs.policy)
        action = mean + jnp.exp(log_std) * eps
        log_prob = networks.log_prob(mean, log_std, action)
        state, ts = jax.vmap(step, (None, 0, 0))(env_params, carry.state, action)
        reached = Carry(state, ts.obs, critic_value(cfg, params, normalizer, ts.obs))
        done = (ts.terminated + ts.truncated) > 0
        seen = Trajectory(
            obs=obs,
            mirror_obs=None if mirror is None else normalize(cfg, normalizer, mirror_image(mirror, carry.obs)),
            action=action,
            mean=mean,
            log_prob=log_prob,
            value=carry.value,
            next_value=reached.value,
            reward=ts.reward,
            terminated=ts.terminated,
            truncated=ts.truncated,
            metrics=ts.metrics,
        )
        # Here, where the observations are still in the cache, their statistics cost half of what they do afterwards.
        successor = update_normalizer(cfg, successor, carry.obs, axis)
        return (restart(done, reached, pool, slot), successor), seen

    (carry, successor), seen = jax.lax.scan(one, (carry, normalizer), (noise, slots))
    return carry, successor, seen


def mirror_image(mirror: Mirror, obs: Obs) -> Obs:
    """Mirror images of raw observations, leading axis B."""
    return Obs(jax.vmap(mirror.policy)(obs.policy), jax.vmap(mirror.critic)(obs.critic))


def restart(done: jax.Array, reached: Carry, pool: Carry, slot: jax.Array) -> Carry:
    """Row i of `pool[slot]` where `done[i]`, else of `reached`."""

    def choose(old: jax.Array, fresh: jax.Array) -> jax.Array:
        return jnp.where(done.reshape(done.shape + (1,) * (old.ndim - 1)), fresh.at[slot].get(mode="clip"), old)

    return jax.tree.map(choose, reached, pool)
