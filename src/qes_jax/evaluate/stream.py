"""A policy follows a user who arrives frame by frame: what `rollout.py` does with whole tracks, a control step a time.

A policy that looks `future` frames ahead is told of `now` only when the user is there already, so the body runs behind:
a call with the user's frame t gives the body at frame t + 1 - future. One without a look ahead answers for frame t + 1.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.env.state import EnvParams
from qes_jax.env.task import Task
from qes_jax.evaluate.rollout import Act, Carry, begin, evaluation_task, track_step
from qes_jax.model.scene import SCENES
from qes_jax.motion.clip import FPS
from qes_jax.motion.library import Reference, pack
from qes_jax.motion.sensors import SensorTrack, sensor_clip, stand_under

NOW = 1  # row of the window where the body is; the one before it gives the user's velocity

Array = Any  # JAX's while it is simulated, then NumPy's


class Pose(NamedTuple):
    """The body after a control step. K bodies but the world, L links, O objects."""

    qpos: Array  # (nq,)
    xpos: Array  # (K, 3) [m]
    xquat: Array  # (K, 4)
    force: Array  # (L, O) net contact force [N]
    error: Array  # () [m] mean distance of headset and controllers from the user's; infinite where physics went astray


class Follower:
    """One body that follows one user. Compiles once, whatever the user, the room or the start are later.

    `placement` (O-1, 7) is where the pieces stand, `scene.PARKED` for those that are not there.
    """

    def __init__(self, task: Task, act: Act, policy: Any, mean_pose: jax.Array, placement: np.ndarray) -> None:
        self.task, self.policy = evaluation_task(task), policy
        self.world = task.engine.world
        self.placement = np.asarray(placement, np.float32)
        self._params = _window_params(task, mean_pose)
        # One row of a batch: thus it is the very program that evaluates batches, to the bit.
        self._begin = jax.jit(lambda params: begin(self.task, params, jnp.full(1, NOW)))
        self._step = jax.jit(partial(_advance, self.task, act))
        self._carry: Carry | None = None
        self._waits = 0

    @property
    def latency(self) -> float:
        """How far the body that is shown lies behind the user [s]; negative where it is ahead by a frame."""
        return (self.task.config.future - 1) * self.task.config.ctrl_dt

    def reset(self, pos: np.ndarray, quat: np.ndarray, objects: np.ndarray | None = None) -> Pose:
        """Stand the body at rest in the A-pose under a headset; pos (3, 3) and quat (3, 4) of the user's sensors.

        `objects` are the joint angles of moving pieces as an earlier `Pose.qpos` has them, as modelled where None.
        Then `step` takes the user's frames from this one on.
        """
        qpos = stand_under(self.world, np.asarray(pos)[None, 0], np.asarray(quat)[None, 0])[0]
        if objects is not None:
            qpos[self.world.layout.object_qpos] = objects
        self._params = _standing(self._params, qpos, self.placement, pos, quat)
        self._carry = self._begin(self._params)
        self._waits = self.task.config.future
        return self._pose(jnp.zeros(()))

    def step(self, pos: np.ndarray, quat: np.ndarray) -> Pose:
        """The body one control step on, given the user's next frame. RuntimeError before the first `reset`.

        For the first `future` frames it still stands, until the policy can look that far ahead.
        """
        if self._carry is None:
            raise RuntimeError("a follower steps only after a reset")
        self._params = _shifted(self._params, pos, quat)
        if self._waits > 0:
            self._waits -= 1
            return self._pose(jnp.zeros(()))
        self._carry, error = self._step(self._params, self.policy, self._carry)
        return self._pose(error)

    def place(self, placement: np.ndarray) -> None:
        """Move the pieces to `placement` (O-1, 7) while the body goes on."""
        self.placement = np.asarray(placement, np.float32)
        if self._carry is not None:
            state, start = (_placed(s, self.placement) for s in self._carry[:2])
            self._carry = self._carry._replace(state=state, start=start)

    def _pose(self, error: jax.Array) -> Pose:
        assert self._carry is not None
        physics, derived = self._carry.state.physics, self._carry.state.derived
        seen = jax.device_get((physics.qpos, derived.xpos, derived.xquat, derived.force))
        qpos, xpos, xquat, force = (np.asarray(x)[0] for x in seen)
        return Pose(qpos, xpos, xquat, np.linalg.norm(force, axis=-1), np.asarray(error))


def _window_params(task: Task, mean_pose: jax.Array) -> EnvParams:
    """Parameters whose reference is the window: one clip of the frames from before now to the one looked ahead to."""
    frames, world = NOW + 1 + task.config.future, task.engine.world
    pos = np.tile(np.float32([[0, 0, 1.6], [0, 0.3, 1], [0, -0.3, 1]]), (frames, 1, 1))
    quat = np.tile(np.float32([1, 0, 0, 0]), (frames, 3, 1))
    track = SensorTrack("live", world.character.height, FPS, pos, quat, np.ones((frames, 3), bool))
    params = task.params(pack([sensor_clip(track, SCENES["flat"])], world))
    return jax.device_get(params._replace(mean_pose=mean_pose))


def _standing(params: EnvParams, qpos: np.ndarray, placement: np.ndarray, pos: np.ndarray, quat: np.ndarray):
    """The window filled with one frame, the body standing in it."""
    ref: Reference = params.reference
    fill = {"qpos": qpos, "sensor_pos": pos, "sensor_quat": quat}
    rows = {k: np.broadcast_to(np.float32(v), getattr(ref, k).shape) for k, v in fill.items()}
    rows |= {k: np.zeros_like(getattr(ref, k)) for k in ("qvel", "contact")}
    return params._replace(reference=ref._replace(**rows, placement=np.float32(placement)[None]))


def _shifted(params: EnvParams, pos: np.ndarray, quat: np.ndarray) -> EnvParams:
    """The window one frame on."""
    ref = params.reference
    pos, quat = (np.concatenate([old[1:], np.float32(new)[None]]) for old, new in
                 ((ref.sensor_pos, pos), (ref.sensor_quat, quat)))  # fmt: skip
    return params._replace(reference=ref._replace(sensor_pos=pos, sensor_quat=quat))


def _advance(task: Task, act: Act, params: EnvParams, policy: Any, carry: Carry) -> tuple[Carry, jax.Array]:
    """One step of a batch of one, and its error. The body stays at row NOW: it is the window that moves."""
    carry, row = jax.vmap(partial(track_step, task, act, params, policy))(carry)
    stay = jnp.full_like(carry.state.frame, NOW)
    return carry._replace(state=carry.state._replace(frame=stay)), row.error[0]


def _placed(state, placement: np.ndarray):
    """A batch of one state with its pieces moved; what is derived follows with the next step."""
    physics = state.physics._replace(mocap_pos=placement[None, :, :3], mocap_quat=placement[None, :, 3:])
    return state._replace(physics=physics)
