"""Continued clips: continuous, true to the recording, and what looping and resting promise."""

import dataclasses

import numpy as np
import pytest

from qes_jax.model.character import CharacterConfig
from qes_jax.model.scene import SCENES, Scene
from qes_jax.model.world import World, build_world
from qes_jax.motion.build import kinematics, velocities
from qes_jax.motion.clip import Clip
from qes_jax.motion.continuation import continue_clip, find_seam, loop, rest

FPS = 36.0


@pytest.fixture(scope="module")
def flat() -> World:
    return build_world()


@pytest.fixture(scope="module")
def furnished() -> World:
    return build_world(CharacterConfig(), SCENES["stool"].pieces)


def moving(world: World, scene: Scene, speed: float, seconds: float, turning: float = 0.0, rise: float = 0.0) -> Clip:
    """Limbs that swing once a second, on a body that goes along a circle."""
    t, layout = np.arange(round(seconds * FPS) + 1) / FPS, world.layout
    qpos = np.tile(layout.home_qpos, (len(t), 1))
    yaw = turning * t
    path = np.cumsum(speed / FPS * np.stack([np.cos(yaw), np.sin(yaw)], axis=1), axis=0)
    qpos[:, :2], qpos[:, 2] = path, qpos[:, 2] + rise * t / seconds
    qpos[:, 3], qpos[:, 6] = np.cos(yaw / 2), np.sin(yaw / 2)
    for name, phase in (("left_hip_pitch", 0.0), ("right_hip_pitch", np.pi), ("left_elbow", np.pi / 2)):
        qpos[:, layout.joint_qpos[layout.joints.index(name)]] = 0.4 + 0.3 * np.sin(2 * np.pi * t + phase)
    link_pos, link_quat, sensor_pos, sensor_quat = kinematics(world, qpos)
    contact = np.zeros((len(t), len(layout.links), len(layout.objects)), np.uint8)
    contact[:, 0, 0] = np.sin(2 * np.pi * t) > 0
    qvel = velocities(world.plain, qpos, FPS).astype(np.float32)
    return Clip(
        "walk", "made up", "none", FPS, 1.75, scene, qpos.astype(np.float32), qvel, link_pos, link_quat, contact,
        sensor_pos, sensor_quat,
    )  # fmt: skip


def steps(clip: Clip) -> tuple[float, float]:
    """Largest speed [m/s] and acceleration [m/s2] of a link."""
    velocity = np.diff(clip.link_pos.astype(float), axis=0) * clip.fps
    acceleration = np.diff(velocity, axis=0) * clip.fps
    return np.linalg.norm(velocity, axis=-1).max(), np.linalg.norm(acceleration, axis=-1).max()


def test_a_long_clip_comes_back_as_it_is(flat):
    clip = moving(flat, SCENES["flat"], 1.0, 2.0)
    assert continue_clip(clip, 2.0) is clip


def test_a_walk_walks_on(flat):
    """The gait stays in step, and the body goes as far as it would have without an end."""
    clip = moving(flat, SCENES["flat"], 1.2, 3.3)
    longer = continue_clip(clip, 12.0, flat)
    assert longer.n_frames == 12 * 36 + 1
    np.testing.assert_allclose(longer.qpos[:100], clip.qpos[:100], atol=1e-6)
    endless = moving(flat, SCENES["flat"], 1.2, 12.0)
    np.testing.assert_allclose(longer.link_pos, endless.link_pos, atol=0.02)
    assert (longer.contact == endless.contact).all(axis=(1, 2)).mean() > 0.98
    np.testing.assert_allclose(longer.qvel, endless.qvel, atol=0.2)


def test_a_circle_is_walked_round(flat):
    longer = continue_clip(moving(flat, SCENES["flat"], 1.0, 3.3, turning=0.5), 10.0, flat)
    endless = moving(flat, SCENES["flat"], 1.0, 10.0, turning=0.5)
    np.testing.assert_allclose(longer.link_pos, endless.link_pos, atol=0.05)
    assert np.abs(np.sum(longer.link_quat * endless.link_quat, axis=-1)).min() > 0.999


def test_crossing_is_as_smooth_as_the_motion(flat):
    """Half a second to spread a difference of a few centimetres over: bounded additional speed and acceleration."""
    clip = moving(flat, SCENES["flat"], 1.0, 3.3)
    drifting = dataclasses.replace(clip, qpos=clip.qpos.copy())
    drifting.qpos[:, 2] += 0.08 * np.arange(clip.n_frames, dtype=np.float32) / clip.n_frames
    link_pos, *_ = kinematics(flat, drifting.qpos.astype(float))
    drifting = dataclasses.replace(drifting, link_pos=link_pos)
    longer = continue_clip(drifting, 10.0, flat)
    assert find_seam(drifting) is not None
    (speed, acceleration), (speed0, acceleration0) = steps(longer), steps(drifting)
    assert speed < speed0 + 0.3 and acceleration < acceleration0 + 3.0


def test_among_furniture_a_clip_that_returns_loops_in_place(furnished):
    clip = moving(furnished, SCENES["stool"], 0.0, 3.3)
    longer = continue_clip(clip, 10.0, furnished)
    np.testing.assert_allclose(longer.qpos, moving(furnished, SCENES["stool"], 0.0, 10.0).qpos, atol=0.02)
    assert longer.scene == clip.scene


def test_among_furniture_a_clip_that_ends_elsewhere_comes_to_rest(furnished):
    clip = moving(furnished, SCENES["stool"], 1.0, 3.0, rise=0.3)
    longer = continue_clip(clip, 10.0, furnished)
    assert find_seam(clip) is None
    np.testing.assert_allclose(longer.qpos[-1], clip.qpos[-1], atol=1e-5)
    np.testing.assert_allclose(longer.qpos[:90], clip.qpos[:90], atol=1e-5)
    assert np.abs(longer.qvel[-1]).max() < 1e-5
    (speed, acceleration), (speed0, acceleration0) = steps(longer), steps(clip)
    assert (
        speed < speed0 + 1e-3 and acceleration < acceleration0 + 1.1 * speed0
    )  # from full speed to none in one second


def test_velocities_are_those_of_the_positions(flat):
    longer = continue_clip(moving(flat, SCENES["flat"], 1.0, 3.0, turning=0.4), 6.0, flat)
    np.testing.assert_allclose(longer.qvel, velocities(flat.plain, longer.qpos.astype(float), FPS), atol=1e-3)


def test_a_recording_of_sensors_only_loops_by_its_sensors(flat):
    clip = moving(flat, SCENES["flat"], 1.2, 3.3)
    standing = np.tile(clip.link_pos[:1], (clip.n_frames, 1, 1))
    longer = continue_clip(dataclasses.replace(clip, body_known=False, link_pos=standing), 9.0, flat)
    endless = moving(flat, SCENES["flat"], 1.2, 9.0)
    np.testing.assert_allclose(longer.sensor_pos, endless.sensor_pos, atol=0.02)
    assert not longer.body_known


def test_two_frames_are_enough(flat):
    longer = continue_clip(moving(flat, SCENES["flat"], 1.0, 1 / 36), 1.0, flat)
    assert longer.n_frames == 37 and np.isfinite(longer.qvel).all()


@pytest.mark.parametrize(("length", "start", "width"), [(50, 0, 5), (50, 11, 12), (20, 3, 5), (8, 2, 2)])
def test_the_loop_leaves_no_frame_out(length, start, width):
    """Outside of the crossings the source goes on frame by frame; it jumps only where the second has taken over."""
    s = loop(length, 200, start, width)
    assert (s.first[:length] == np.arange(length)).all() and s.second.max() < length and s.first.max() == length - 1
    jumps = np.flatnonzero(np.diff(s.first) != 1)
    assert len(jumps) > 0
    for j in jumps:
        assert s.first[j] == length - 1 and s.first[j + 1] == s.second[j] + 1 == start + width
        assert (
            s.first_turn[j + 1] == s.second_turn[j]
            and 0.9 * width / (width + 1) < s.share[j] + 1 / (width + 1)
            and s.share[j + 1] == 0
        )


def test_rest_slows_evenly():
    s = rest(100, 200, 18)
    time = s.first + s.share
    speed = np.diff(time)
    np.testing.assert_allclose(speed[:81], 1)
    assert (np.diff(speed) < 1e-9).all() and np.diff(speed).min() > -1 / 35 and time[-1] == 99
