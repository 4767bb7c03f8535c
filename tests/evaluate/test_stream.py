"""A user who arrives frame by frame against the same user as a whole track."""

import dataclasses
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.env.task import Task
from qes_jax.evaluate.recording import record
from qes_jax.evaluate.rollout import track
from qes_jax.evaluate.stream import Follower
from qes_jax.model.engines import make_engine
from qes_jax.model.scene import PARKED, get_scene
from qes_jax.motion.clip import Clip
from qes_jax.motion.library import pack, world_for
from qes_jax.motion.sensors import SensorTrack, sensor_clip
from tests.evaluate.standing import CONFIG

FRAMES = 40


@cache
def user(scene: str = "flat") -> Clip:
    """Someone who sways, turns and waves, from rest."""
    t = np.arange(FRAMES) / 36.0
    sway = 0.06 * np.stack([np.sin(2 * t), 1 - np.cos(3 * t), 0 * t], axis=1)
    place = np.array([[0.1, 0.2, 1.62], [0.2, 0.5, 0.95], [0.2, -0.1, 0.95]])
    pos = place + sway[:, None] * np.array([1.0, 1.5, 0.5])[:, None]
    half = 0.1 * np.sin(t)
    quat = np.stack([np.cos(half), 0 * t, 0 * t, np.sin(half)], axis=1)[:, None].repeat(3, axis=1)
    track = SensorTrack("t", 1.75, 36.0, np.float32(pos), np.float32(quat), np.ones((FRAMES, 3), bool))
    clip = sensor_clip(track, get_scene(scene), "user")
    return dataclasses.replace(clip, qvel=np.zeros_like(clip.qvel))  # as a body stands that nobody has seen move


def task_for(future: int, scene: str = "flat") -> Task:
    world = world_for([user(scene)], "pd", CONFIG.sim_dt)
    return Task(dataclasses.replace(CONFIG, future=future), make_engine(world, "mujoco"))


def react(policy: jax.Array, obs: jax.Array) -> jax.Array:
    """A policy that answers to all it sees: policy (n_obs, J)."""
    return 0.3 * jnp.tanh(obs @ policy)


def setting(future: int, scene: str = "flat"):
    task, clip = task_for(future, scene), user(scene)
    params = task.params(pack([clip], task.engine.world))
    seen = jax.eval_shape(task.reset, params, jax.random.key(0))[1].policy.shape[0]
    policy = 0.05 * jax.random.normal(jax.random.PRNGKey(1), (seen, task.n_actions))
    follower = Follower(task, react, policy, params.mean_pose, params.reference.placement[0])
    return task, params, policy, clip, follower


@pytest.mark.parametrize(
    ("future", "scene"), [(6, "flat"), (0, "flat"), pytest.param(6, "office_chair", marks=pytest.mark.slow)]
)
def test_the_stream_is_the_batch_to_the_bit(future: int, scene: str) -> None:
    task, params, policy, clip, follower = setting(future, scene)
    steps = FRAMES - 1 - future
    whole = record(task, params, react, policy, np.array([0]), steps)
    error = track(task, params, react, policy, np.array([0]), steps).error[:, 0]
    poses = [follower.reset(clip.sensor_pos[0], clip.sensor_quat[0])]
    poses += [follower.step(p, q) for p, q in zip(clip.sensor_pos, clip.sensor_quat, strict=True)]
    moved = poses[future : future + steps + 1]
    np.testing.assert_array_equal(np.stack([p.qpos for p in moved]), whole.qpos[:, 0])
    np.testing.assert_allclose(np.stack([p.force for p in moved])[1:], whole.force[1:, 0], rtol=1e-5, atol=1e-3)
    if future:
        known = np.isfinite(error)  # a batch whose bodies are all lost is left early
        assert known.sum() > 20
        np.testing.assert_allclose(np.stack([p.error for p in moved])[1:][known], error[known], atol=1e-6)
    assert np.abs(whole.qpos[-1, 0] - whole.qpos[0, 0]).max() > 0.05  # it has moved


def test_the_body_waits_until_it_can_look_ahead_and_compiles_once() -> None:
    _, _, _, clip, follower = setting(6)
    assert follower.latency == pytest.approx(5 / 36)
    for _ in range(2):
        first = follower.reset(clip.sensor_pos[9], clip.sensor_quat[9])
        poses = [follower.step(p, q) for p, q in zip(clip.sensor_pos[10:17], clip.sensor_quat[10:17], strict=True)]
        assert [bool((p.qpos == first.qpos).all()) for p in poses] == [True] * 6 + [False]
        follower.place(follower.placement)
    assert follower._step._cache_size() == 1
    assert follower._begin._cache_size() == 1


def test_the_body_stands_under_the_headset_wherever_the_user_is() -> None:
    _, _, _, clip, follower = setting(0)
    pos = clip.sensor_pos[0] + np.float32([3.0, -2.0, 0.0])
    pose = follower.reset(pos, clip.sensor_quat[0])
    assert np.linalg.norm(pose.qpos[:2] - pos[0, :2]) < 0.15
    assert pose.error == 0


def test_pieces_move_while_the_body_goes_on() -> None:
    _, params, _, clip, follower = setting(0, "office_chair")
    follower.reset(clip.sensor_pos[0], clip.sensor_quat[0])
    placement = np.array(params.reference.placement[0])
    placement[0, :2] = 1.5, 0.5
    follower.place(placement)
    pose = follower.step(clip.sensor_pos[1], clip.sensor_quat[1])
    row = follower.world.layout.piece_ids[0]
    np.testing.assert_allclose(pose.xpos[row], placement[0, :3], atol=1e-5)
    follower.place(np.array([PARKED]))
    assert follower.step(clip.sensor_pos[2], clip.sensor_quat[2]).xpos[row, 2] < -90


def test_a_step_needs_a_reset() -> None:
    _, _, _, clip, follower = setting(0)
    with pytest.raises(RuntimeError, match="only after a reset"):
        follower.step(clip.sensor_pos[0], clip.sensor_quat[0])
