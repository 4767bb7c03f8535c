"""The task as a brax environment, so that brax's own learners train on it."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from brax.envs.base import Env, State

from qes_jax.env.state import EnvParams
from qes_jax.env.task import Task
from qes_jax.types import Obs

OBS_KEYS = {"policy_obs_key": "state", "value_obs_key": "privileged_state"}  # for brax's network factories


class BraxEnv(Env):
    """One environment with brax's `reset` and `step`; brax's wrappers batch it and reset it.

    Observations are a dictionary: "state" (the policy's) and "privileged_state" (the critic's). A clip's end counts as
    `done`, with info["truncation"] = 1 until brax's EpisodeWrapper writes its own there, and info["time_out"] = 1 for
    PPO's `bootstrap_on_timeout`.
    """

    def __init__(self, task: Task, params: EnvParams) -> None:
        self.task, self.params = task, params

    def reset(self, rng: jax.Array) -> State:
        """A new episode. Consumes rng."""
        state, obs = self.task.reset(self.params, rng)
        metrics = jax.eval_shape(self.task.step, self.params, state, jnp.zeros(self.action_size))[1].metrics
        zeros = {name: jnp.zeros(()) for name in metrics if not name.startswith("trace/")}
        pipeline_state: Any = state  # brax's annotation knows its own physics only
        info = {"truncation": jnp.zeros(()), "time_out": jnp.zeros(())}
        return State(pipeline_state, _named(obs), jnp.zeros(()), jnp.zeros(()), zeros, info)

    def step(self, state: State, action: jax.Array) -> State:
        """One control step; action (J,)."""
        before: Any = state.pipeline_state
        after, timestep = self.task.step(self.params, before, action)
        metrics = {k: v for k, v in timestep.metrics.items() if not k.startswith("trace/")}
        return dataclasses.replace(
            state,
            pipeline_state=after,
            obs=_named(timestep.obs),
            reward=timestep.reward,
            done=jnp.maximum(timestep.terminated, timestep.truncated),
            metrics={**state.metrics, **metrics},  # a wrapper may have added its own
            info={**state.info, "truncation": timestep.truncated, "time_out": timestep.truncated},
        )

    @property
    def observation_size(self) -> dict[str, tuple[int, ...]]:
        """Shapes of both observations."""
        obs = jax.eval_shape(self.task.reset, self.params, jax.random.PRNGKey(0))[1]
        return {name: x.shape for name, x in _named(obs).items()}

    @property
    def action_size(self) -> int:
        """J."""
        return self.task.n_actions

    @property
    def backend(self) -> str:
        """The engine's class, such as MjxEngine."""
        return type(self.task.engine).__name__


def _named(obs: Obs) -> dict[str, jax.Array]:
    return {"state": obs.policy, "privileged_state": obs.critic}
