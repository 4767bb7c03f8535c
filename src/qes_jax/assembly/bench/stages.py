"""The stages above the engine: the environment, and the whole PPO iteration, on the built-in chair and box clips."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp

from qes_jax.assembly.clips import find_clips
from qes_jax.assembly.program import initial_state, make_task
from qes_jax.assembly.settings import RunConfig
from qes_jax.env.state import EnvParams
from qes_jax.env.task import Task
from qes_jax.ppo import train
from qes_jax.ppo.config import cpu

CLIPS = ("chair", "boxes_18_45")


def furnished_task() -> tuple[Task, EnvParams]:
    """A chair and two boxes, the paper's actuation."""
    return make_task(RunConfig(clips=CLIPS, engine="mujoco"), find_clips(CLIPS))


def environment(task: Task, params: EnvParams, envs: int, control_steps: int) -> Callable[[], int]:
    """A block of environment steps under random actions: observation, reward and resets as in training."""

    @jax.jit
    def run(params: EnvParams, key: jax.Array) -> jax.Array:
        k_now, k_pool, k_act = jax.random.split(key, 3)
        reset = jax.vmap(task.reset, (None, 0))
        now, pool = (reset(params, jax.random.split(k, envs))[0] for k in (k_now, k_pool))

        def control_step(state, k):
            action = 0.2 * jax.random.normal(k, (envs, task.n_actions))
            after, seen = jax.vmap(task.step, (None, 0, 0))(params, state, action)
            done = (seen.terminated + seen.truncated) > 0
            after = jax.tree.map(partial(_where, done), pool, after)
            return after, seen.reward.sum() + seen.obs.policy.sum() + seen.obs.critic.sum()

        return jax.lax.scan(control_step, now, jax.random.split(k_act, control_steps))[1].sum()

    def block() -> int:
        jax.block_until_ready(run(params, jax.random.PRNGKey(0)))
        return envs * control_steps * task.config.n_substeps

    return block


def iteration(task: Task, params: EnvParams, envs: int) -> Callable[[], int]:
    """A block of one PPO iteration of the `cpu` preset, with as many environments as the other stages."""
    config = RunConfig(ppo=replace(cpu(), n_envs=envs))
    run = train.make_iteration(config.ppo, task.reset, task.step)
    state = [initial_state(config, task, params)]

    def block() -> int:
        state[0], metrics, _ = run(state[0], params)
        jax.block_until_ready(metrics)
        return config.ppo.n_samples * task.config.n_substeps

    return block


def _where(done: jax.Array, there: jax.Array, here: jax.Array) -> jax.Array:
    return jnp.where(done.reshape(-1, *[1] * (here.ndim - 1)), there, here)
