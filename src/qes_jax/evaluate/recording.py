"""Whole states of a few episodes, for playback and plots."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.env.observe import clip_bounds
from qes_jax.env.state import EnvParams, body_of
from qes_jax.env.task import Task
from qes_jax.evaluate.rollout import Act, Carry, begin, evaluation_task, track_step


class Recording(NamedTuple):
    """B episodes over T+1 frames, the start included. L links, O objects."""

    frame: np.ndarray  # (T+1, B) int32 of the reference, its clip's last one once that is reached
    qpos: np.ndarray  # (T+1, B, nq)
    force: np.ndarray  # (T+1, B, L, O) net contact force [N]
    sensor_pos: np.ndarray  # (T+1, B, 3, 3) of the simulated body [m]
    placement: np.ndarray  # (B, O-1, 7) of the pieces


def record(task: Task, params: EnvParams, act: Act, policy: Any, starts: np.ndarray, n_frames: int) -> Recording:
    """Episodes from `starts` (B,), tracked as by `rollout.track` for `n_frames` control steps."""
    task = evaluation_task(task)
    carry = jax.jit(partial(begin, task))(params, jnp.asarray(starts, jnp.int32))
    physics = carry.state.physics
    placement = jnp.concatenate([physics.mocap_pos, physics.mocap_quat], axis=-1)
    rows = jax.jit(partial(_steps, task, act, n_frames))(params, policy, carry)
    return Recording(*jax.device_get(rows), placement=np.asarray(placement))


def _steps(task: Task, act: Act, n_frames: int, params: EnvParams, policy: Any, carry: Carry) -> tuple[jax.Array, ...]:
    step = jax.vmap(partial(track_step, task, act, params, policy))
    see = jax.vmap(partial(_see, task, params))

    def seen_step(carry: Carry, _: Any) -> tuple[Carry, tuple[jax.Array, ...]]:
        carry, _errors = step(carry)
        return carry, see(carry)

    _, rows = jax.lax.scan(seen_step, carry, length=n_frames)
    return jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), see(carry), rows)


def _see(task: Task, params: EnvParams, carry: Carry) -> tuple[jax.Array, ...]:
    state = carry.state
    _, last = clip_bounds(params.reference, carry.start.frame)
    force = jnp.linalg.norm(state.derived.force, axis=-1)
    body = body_of(task.engine.world.layout, state.physics, state.derived)
    return jnp.minimum(state.frame, last), state.physics.qpos, force, body.sensor_pos
