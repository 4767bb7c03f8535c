"""One rollout: T steps of B environments, those that end going on from a pool of fresh states."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from qes_jax.ppo import networks
from qes_jax.ppo.config import PPOConfig
from qes_jax.ppo.networks import NetworkParams
from qes_jax.ppo.normalize import Normalizer, scale
from qes_jax.types import Obs, Params, ResetFn, State, StepFn


class Carry(NamedTuple):
    """Where the environments stand. Leading axis B."""

    state: State
    obs: Obs  # raw
    value: jax.Array  # (B,) of obs


class Trajectory(NamedTuple):
    """What was seen. Leading axes (T, B)."""

    obs: Obs  # raw, before the action
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
    return networks.value(cfg, params, scale(cfg, obs.critic, normalizer.mean.critic, normalizer.std.critic))


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
) -> tuple[Carry, Trajectory]:
    """Acts with mean + exp(log_std) * noise.

    noise: (T, B, n_act) standard normal.
    slots: (T, B) the row of `pool` that an environment goes on from, should it end at that step.
    """
    log_std = params["log_std"]
    mean_std = normalizer.mean.policy, normalizer.std.policy

    def one(carry: Carry, draw: tuple[jax.Array, jax.Array]) -> tuple[Carry, Trajectory]:
        eps, slot = draw
        mean = networks.mean_action(cfg, params, scale(cfg, carry.obs.policy, *mean_std))
        action = mean + jnp.exp(log_std) * eps
        log_prob = networks.log_prob(mean, log_std, action)
        state, ts = jax.vmap(step, (None, 0, 0))(env_params, carry.state, action)
        reached = Carry(state, ts.obs, critic_value(cfg, params, normalizer, ts.obs))
        done = (ts.terminated + ts.truncated) > 0
        seen = Trajectory(
            obs=carry.obs,
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
        return restart(done, reached, pool, slot), seen

    return jax.lax.scan(one, carry, (noise, slots))


def restart(done: jax.Array, reached: Carry, pool: Carry, slot: jax.Array) -> Carry:
    """Row i of `pool[slot]` where `done[i]`, else of `reached`."""

    def choose(old: jax.Array, fresh: jax.Array) -> jax.Array:
        return jnp.where(done.reshape(done.shape + (1,) * (old.ndim - 1)), fresh[slot], old)

    return jax.tree.map(choose, reached, pool)
