"""Tiny environments whose values are known on paper. An observation is one to three numbers."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from qes_jax.types import Obs, Timestep


class Probe(NamedTuple):
    """State of every probe."""

    t: jax.Array
    memory: jax.Array
    key: jax.Array


def observe(*numbers: jax.Array) -> Obs:
    x = jnp.stack([jnp.asarray(n, jnp.float32) for n in numbers])
    return Obs(x, x)


def outcome(obs: Obs, reward: jax.Array, terminated: jax.Array, truncated: jax.Array) -> Timestep:
    terminated, truncated = jnp.float32(terminated), jnp.float32(truncated)
    return Timestep(obs, jnp.float32(reward), terminated, truncated, {"trace/reward": jnp.float32(reward)})


def coin(key: jax.Array) -> jax.Array:
    """-1 or 1."""
    return jax.random.rademacher(key, (), jnp.float32)


class Ending(NamedTuple):
    """Parameters of `constant`: a traced length [steps], and whether the end is a termination or a truncation."""

    length: int
    terminates: bool


def constant():
    """Reward 1 at each step, nothing to see; ages spread at the start. Parameters: Ending."""

    def reset(params, key):
        return Probe(jax.random.randint(key, (), 0, params.length), jnp.float32(0), key), observe(1.0)

    def step(params, state, action):
        t = state.t + 1
        over = t >= params.length
        return state._replace(t=t), outcome(observe(1.0), 1.0, over & params.terminates, over & ~params.terminates)

    return reset, step


def counter():
    """Two steps, reward 1 at each, the second terminates; the observation is the number of steps done."""

    def reset(params, key):
        return Probe(jnp.int32(0), jnp.float32(0), key), observe(0.0)

    def step(params, state, action):
        t = state.t + 1
        return state._replace(t=t), outcome(observe(t), 1.0, t >= 2, False)

    return reset, step


def shown_reward():
    """One or two steps (parameters: how many); the last rewards what was shown from the start, -1 or 1, and terminates.

    Observed: (shown, time).
    """

    def reset(params, key):
        x = coin(key)
        return Probe(jnp.int32(0), x, key), observe(x, 0.0)

    def step(params, state, action):
        t = state.t + 1
        last = t == params
        return state._replace(t=t), outcome(observe(state.memory, t), jnp.where(last, state.memory, 0.0), last, False)

    return reset, step


def matched_action():
    """One step; reward -(action - observation / 2)^2: the best mean action is half of what is seen."""

    def reset(params, key):
        x = coin(key)
        return Probe(jnp.int32(0), x, key), observe(x)

    def step(params, state, action):
        return state, outcome(observe(state.memory), -((action[0] - 0.5 * state.memory) ** 2), True, False)

    return reset, step


def point_mass():
    """Push a mass on a line to a place shown, 30 steps of 0.1 s; reward exp(-2 distance^2); params: force [m/s^2]."""

    def reset(params, key):
        pos = jax.random.uniform(key, (2,), minval=-1.0, maxval=1.0)
        x = jnp.array([pos[0], 0.0, pos[1]])
        return Probe(jnp.int32(0), x, key), observe(*x)

    def step(params, state, action):
        pos, vel, goal = state.memory
        vel = 0.9 * vel + 0.1 * params * jnp.clip(action[0], -1.0, 1.0)
        x = jnp.array([pos + 0.1 * vel, vel, goal])
        t = state.t + 1
        lost = jnp.abs(x[0]) > 3.0
        return Probe(t, x, state.key), outcome(observe(*x), jnp.exp(-2.0 * (x[0] - goal) ** 2), lost, t >= 30)

    return reset, step
