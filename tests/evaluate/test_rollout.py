"""Tracking of a standing user by a body that stands under PD targets."""

import dataclasses
from collections.abc import Sequence
from functools import cache, partial

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from qes_jax.env.state import EnvParams, EnvState, body_of
from qes_jax.evaluate.metrics import tracked_span
from qes_jax.evaluate.recording import record
from qes_jax.evaluate.rollout import Tracked, Tracker, evaluation_config, evaluation_task, make_tracker, track
from qes_jax.motion.clip import Clip
from tests.evaluate.standing import CONFIG, hold, params_for, shifted, standing, task_for

POLICY = jnp.zeros(())


@cache
def tracker() -> Tracker:
    return make_tracker(task_for(), hold)


def follow(*clips: Clip, starts: Sequence[int], n_frames: int = 40, **more) -> Tracked:
    more = {"tracker": tracker(), **more}
    return track(task_for(), params_for(*clips), hold, POLICY, np.array(starts), n_frames, **more)


def begin(params: EnvParams, *frames: int) -> EnvState:
    return tracker().begin(params, jnp.asarray(frames)).state


def test_the_observation_is_that_of_training() -> None:
    task, params = task_for(), params_for(standing())
    state, obs = jax.jit(task.reset)(params, jax.random.PRNGKey(3))
    for mine, theirs in zip(jax.jit(evaluation_task(task).observe)(params, state), obs, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-6)


def test_nothing_is_random_and_no_threshold_ends_an_episode() -> None:
    params = params_for(standing())
    state = begin(params, 5, 20)
    np.testing.assert_array_equal(state.physics.qpos, params.reference.qpos[jnp.array([5, 20])])
    np.testing.assert_array_equal(state.physics.qvel, params.reference.qvel[jnp.array([5, 20])])
    config = evaluation_config(CONFIG)
    assert (config.terminate.sensor, config.terminate.height) == (np.inf, np.inf)
    assert config.terminate.speed == CONFIG.terminate.speed
    assert config.max_frames > 10**9


def test_a_standing_body_stays_with_a_standing_user() -> None:
    tracked = follow(standing(), starts=[0, 3])
    assert tracked.error.shape == (40, 2)
    assert tracked.valid.all()
    assert tracked.error.max() < 0.1
    np.testing.assert_allclose(tracked.error, (tracked.headset + 2 * tracked.controllers) / 3, rtol=1e-5)


def test_a_user_who_jumps_away_is_lost_at_that_frame() -> None:
    clip = shifted(standing(), "jumps", 0.5, 0.65)
    tracked = follow(clip, starts=[0, 4])
    assert tracked_span(tracked, 0.5).frames.tolist() == [
        17,
        13,
    ]  # row t is frame start + t + 1; the jump is at frame 18
    assert tracked_span(tracked, 0.8).frames.tolist() == [40, 40]


def test_an_episode_ends_with_its_own_clip_and_not_in_the_next() -> None:
    tracked = follow(standing(0.5), standing(1.5), starts=[10, 19], n_frames=36)
    assert tracked.valid.sum(axis=0).tolist() == [8, 36]


def test_chunks_change_nothing_and_progress_arrives_at_the_end() -> None:
    seen = []
    whole = follow(standing(), starts=range(3))
    parts = follow(standing(), starts=range(3), chunk=2, progress=lambda done, total: seen.append((done, total)))
    for a, b in zip(jax.tree.leaves(whole), jax.tree.leaves(parts), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    assert seen == sorted(seen)
    assert seen[-1] == (120, 120)


def test_a_chunk_of_lost_episodes_is_left_early() -> None:
    calls = []

    def segment(*args):
        calls.append(1)
        return tracker().segment(*args)

    clip = shifted(standing(), "away", 0.1, 3.0)
    tracked = follow(clip, starts=[0, 1], n_frames=200, tracker=tracker()._replace(segment=segment))
    assert len(calls) == 1
    assert tracked.error.shape == (200, 2)
    assert tracked_span(tracked, 0.8).frames.tolist() == [3, 2]


def test_jerk_is_the_second_difference_of_link_velocities() -> None:
    task, params = evaluation_task(task_for()), params_for(standing())
    tracked = track(task, params, hold, jnp.float32(0.3), np.array([0, 0]), 36, tracker=tracker())
    state = jax.tree.map(lambda x: x[0], begin(params, 0, 0))
    step, layout = jax.jit(partial(task.step, params)), task.engine.world.layout
    velocity = [body_of(layout, state.physics, state.derived).linvel]
    for _ in range(8):
        state, _ = step(state, jnp.full(32, 0.3))
        velocity.append(body_of(layout, state.physics, state.derived).linvel)
    jerk = np.linalg.norm(np.diff(np.stack(velocity), n=2, axis=0), axis=-1).mean(axis=-1) * 36.0**2
    assert np.isnan(tracked.jerk[0, 0])
    np.testing.assert_allclose(tracked.jerk[1:8, 0], jerk, rtol=2e-3)


@pytest.mark.parametrize("speed", [150.0, 1e9, np.nan])  # [m/s] the simulation goes on, breaks down, cannot begin
def test_a_simulation_that_goes_astray_has_failed_and_leaves_the_others_alone(speed: float) -> None:
    params = params_for(standing())
    fast = params.reference.qvel.at[7, 0].set(speed)
    params = params._replace(reference=params.reference._replace(qvel=fast))
    tracked = track(task_for(), params, hold, POLICY, np.array([7, 20]), 36, tracker=tracker())
    assert np.isinf(tracked.error[0, 0])
    assert tracked_span(tracked, 0.8).frames.tolist() == [0, 36]
    assert tracked.error[:, 1].max() < 0.1


def link_places(qpos: np.ndarray) -> np.ndarray:
    """(L, 3) by MuJoCo."""
    world = task_for().engine.world
    data = mujoco.MjData(world.plain)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(world.plain, data)
    return data.xpos[1:][world.layout.link_ids]


def test_contacts_agree_while_both_feet_stand_and_not_where_none_should() -> None:
    stands = follow(standing(), starts=[0, 3])
    flies = follow(dataclasses.replace(standing(), contact=np.zeros_like(standing().contact)), starts=[0, 3])
    assert stands.contact[:10].min() > 0.7  # then it leans, and its heels rise
    assert flies.contact.max() < 0.1


def test_of_a_body_that_was_not_recorded_nothing_is_said() -> None:
    tracked = follow(dataclasses.replace(standing(), body_known=False), starts=[0, 3])
    assert np.isnan(tracked.body).all()
    assert np.isnan(tracked.contact).all()
    assert np.isfinite(tracked.error).all()


def test_a_recording_holds_what_tracking_saw() -> None:
    clip = shifted(standing(), "jumps", 0.5, 0.65)
    starts = np.array([0, 50])
    recording = record(task_for(), params_for(clip), hold, POLICY, starts, 30)
    tracked = follow(clip, starts=starts, n_frames=30)
    assert recording.qpos.shape == (31, 2, 39)
    assert recording.force.shape == (31, 2, 18, 1)
    assert recording.placement.shape == (2, 0, 7)
    assert recording.frame[:, 0].tolist() == list(range(31))
    assert recording.frame[-1, 1] == 72  # the clip's last
    off = np.linalg.norm(recording.sensor_pos[1:, 0] - clip.sensor_pos[1:31], axis=-1).mean(axis=-1)
    np.testing.assert_allclose(off, tracked.error[:, 0], atol=1e-5)
    links = np.stack([link_places(qpos) for qpos in recording.qpos[1:, 0]])
    body = np.linalg.norm(links - clip.link_pos[1:31], axis=-1).mean(axis=-1)
    np.testing.assert_allclose(body, tracked.body[:, 0], atol=1e-5)
    weight = recording.force[20:, 0].sum(axis=(1, 2)).mean()
    assert weight == pytest.approx(task_for().engine.world.plain.body_mass.sum() * 9.81, rel=0.15)
