"""Types shared by every room: what an environment hands to a learner. Imports nothing of ours."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax

Params = Any  # a pytree, traced: everything of an environment that may change without recompilation
State = Any  # a pytree: one environment's state


class Obs(NamedTuple):
    """What the policy sees and what the critic sees (the critic's may hold the reference body)."""

    policy: jax.Array  # (n_policy,) f32
    critic: jax.Array  # (n_critic,) f32


class Timestep(NamedTuple):
    """The outcome of one control step. `obs` is the state reached, also where the episode ended there."""

    obs: Obs
    reward: jax.Array  # ()
    terminated: jax.Array  # () 0 or 1: failed, no value beyond
    truncated: jax.Array  # () 0 or 1: out of time, its value is bootstrapped
    metrics: dict[str, jax.Array]  # () each, logged by name


ResetFn = Callable[[Params, jax.Array], tuple[State, Obs]]
StepFn = Callable[[Params, State, jax.Array], tuple[State, Timestep]]
