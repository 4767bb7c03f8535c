"""Measures of made-up motions whose slip, tremble, steps, flight and power are known beforehand."""

import dataclasses

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
from scipy.signal import sosfilt
from scipy.spatial.transform import Rotation

from qes_jax.evaluate.likeness import (
    FAST,
    TOUCHED,
    Likeness,
    Motion,
    Pose,
    high_pass,
    make_gauge,
    measure,
    mechanical_power,
    remember,
)
from qes_jax.evaluate.metrics import scores
from qes_jax.evaluate.rollout import Tracked
from qes_jax.model.character import CharacterConfig
from qes_jax.model.world import build_world
from qes_jax.motion.clip import FPS
from tests.evaluate.standing import standing
from tests.evaluate.test_rollout import follow

WORLD = build_world()
GAUGE = make_gauge(WORLD, 1.0 / FPS)
LINKS = WORLD.layout.links


def poses(frames: int) -> Pose:
    """A body that stands in the A-pose on both feet, T frames."""
    data = mujoco.MjData(WORLD.plain)
    data.qpos[:] = WORLD.layout.home_qpos
    mujoco.mj_kinematics(WORLD.plain, data)
    pos, quat = data.xpos[1:][WORLD.layout.link_ids], data.xquat[1:][WORLD.layout.link_ids]
    touch = np.zeros((frames, len(LINKS), 1), bool)
    touch[:, GAUGE.links.ravel()] = True
    still = np.zeros((frames, len(LINKS), 3))
    return Pose(np.tile(pos, (frames, 1, 1)), np.tile(quat, (frames, 1, 1)), still, still, touch)


def moving(pose: Pose, velocity: np.ndarray) -> Pose:
    """The poses moved by velocity (T, 3) [m/s] as a whole."""
    shift = np.cumsum(velocity, axis=0)[:, None] / FPS
    return pose._replace(pos=pose.pos + shift, linvel=pose.linvel + velocity[:, None])


def rows(pose: Pose) -> Motion:
    """(T-1,) of poses (T, ...)."""
    pose = jax.tree.map(lambda x: jnp.asarray(x, bool if x.dtype == bool else jnp.float32), pose)
    first, rest = (jax.tree.map(lambda x, part=part: x[part], pose) for part in (0, slice(1, None)))
    _, found = jax.lax.scan(lambda memory, p: measure(GAUGE, memory, p), remember(GAUGE, first), rest)
    return jax.tree.map(np.asarray, found)


def test_feet_slip_as_fast_as_the_floor_passes_below_them_and_only_those_on_it() -> None:
    pose = moving(poses(40), np.tile([0.3, 0.4, 0.0], (40, 1)))
    np.testing.assert_allclose(rows(pose).slip, 0.5, rtol=1e-5)
    touch = pose.touch.copy()
    touch[20:] = False
    found = rows(pose._replace(touch=touch)).slip
    assert np.isfinite(found[:19]).all() and np.isnan(found[19:]).all()
    rising = moving(poses(40), np.tile([0.0, 0.0, 0.2], (40, 1)))
    np.testing.assert_allclose(rows(rising).slip, 0.0, atol=1e-6)


def test_a_foot_that_rolls_over_its_toes_does_not_slip() -> None:
    """The foot turns about the ground point of its front balls: v = -w x r at its origin."""
    pose, foot = poses(3), LINKS.index("left_foot")
    turn, spin = Rotation.from_rotvec([0.0, 0.1, 0.0]), np.array([0.0, 2.0, 0.0])  # [rad], [rad/s] heel up
    balls = GAUGE.points[0, 0]
    arm = turn.apply(balls[balls[:, 0].argmax()]) - [0.0, 0.0, GAUGE.radius[0, 0, 0]]
    quat, linvel, angvel, touch = pose.quat.copy(), pose.linvel.copy(), pose.angvel.copy(), np.zeros_like(pose.touch)
    quat[:, foot], angvel[:, foot], linvel[:, foot] = turn.as_quat(scalar_first=True), spin, -np.cross(spin, arm)
    touch[:, foot] = True
    assert np.linalg.norm(linvel[0, foot, :2]) > 0.1  # the ankle moves
    found = rows(Pose(pose.pos, quat, linvel, angvel, touch)).slip
    np.testing.assert_allclose(found, 0.0, atol=1e-3)


@pytest.mark.parametrize(("hertz", "least", "most"), [(8.0, 0.9, 1.0), (2.0, 0.0, 0.01)])
def test_a_tremble_at_8_hz_is_above_6_and_a_sway_at_2_is_not(hertz: float, least: float, most: float) -> None:
    time = np.arange(720) / FPS
    found = rows(moving(poses(720), np.sin(2 * np.pi * hertz * time)[:, None] * [0.1, 0.0, 0.0]))
    assert least <= found.high.sum() / found.power.sum() <= most
    np.testing.assert_allclose(found.power.mean(), 0.1**2 / 2, rtol=0.02)


def test_a_tremble_of_known_strength_is_its_share_of_a_walk() -> None:
    time = np.arange(1440) / FPS
    walk = np.stack([np.full(1440, 1.2), 0.2 * np.sin(2 * np.pi * time), 0 * time], axis=1)
    tremble = 0.3 * np.sin(2 * np.pi * 10.0 * time)[:, None] * [0.0, 0.0, 1.0]
    found = rows(moving(poses(1440), walk + tremble))
    expected = 0.045 / (1.2**2 + 0.02 + 0.045)
    assert found.high.sum() / found.power.sum() == pytest.approx(expected, rel=0.05)


def test_the_filter_is_scipys_and_settled_from_the_first_frame() -> None:
    x = np.random.default_rng(0).normal(size=(100, 2)).astype(np.float32)
    _, y = jax.lax.scan(lambda z, v: high_pass(GAUGE.sos, z, v), jnp.zeros((2, 2, 2)), jnp.asarray(x))
    np.testing.assert_allclose(y, sosfilt(GAUGE.sos, x, axis=0), atol=1e-5)
    even = rows(moving(poses(30), np.tile([1.0, 0.0, 0.0], (30, 1))))
    assert even.high.max() < 1e-6
    assert FAST < FPS / 2


def test_steps_are_counted_by_foot_and_a_chatter_is_none() -> None:
    """Left and right in turn, each 18 frames down and 18 up, feet apart by 18: 2 steps a second. Then a chatter."""
    pose, frames = poses(361), np.arange(361)
    touch = np.zeros_like(pose.touch)
    down = np.stack([frames % 36 < 18, (frames + 18) % 36 < 18])
    for foot in range(2):
        touch[:, GAUGE.links[foot]] = down[foot][:, None, None]
    found = rows(pose._replace(touch=touch))
    assert found.steps.sum() == 20
    assert found.flying.sum() == 0
    chatter = pose.touch & (frames % 3 > 0)[:, None, None]  # one frame in three off the floor
    found = rows(pose._replace(touch=chatter))
    assert found.steps.sum() == 0
    assert found.flying.mean() == pytest.approx(1 / 3, abs=0.01)


def test_scores_are_of_the_steps_before_failure_and_the_users_beside() -> None:
    error, one = np.full((72, 10), 0.1), np.ones((72, 10), np.float16)
    error[36:] = 2.0
    late = np.where(np.arange(72)[:, None] < 36, 1.0, 9.0).astype(np.float16) * one  # after the failure all is worse
    own = Motion(0.2 * late, 4 * late, 1 * late, late / 18, late - 1)
    user = Motion(0.1 * one, 4 * one, 0 * one, one / 36, 0 * one)
    tracked = Tracked(*[error] * 6, valid=error > 0, likeness=Likeness(own, user, 300 * late))
    found = scores(tracked, 0.5, 36.0)
    expected = {
        "slip_cm_s": 20, "user_slip_cm_s": 10, "fast_share": 0.25, "user_fast_share": 0, "steps_per_s": 2,
        "user_steps_per_s": 1, "steps_ratio": 2, "flying": 0, "user_flying": 0, "watt": 300,
    }  # fmt: skip
    for name, value in expected.items():
        assert getattr(found, name).value == pytest.approx(value, rel=1e-3), name


@pytest.mark.parametrize("actuation", ["torque", "pd"])
def test_mechanical_power_is_that_of_mujocos_own_torques(actuation: str) -> None:
    world = build_world(CharacterConfig(actuation=actuation))
    m, data, rng = world.plain, mujoco.MjData(world.plain), np.random.default_rng(0)
    data.qpos[:] = world.layout.home_qpos
    data.qvel[:], data.ctrl[:] = rng.normal(size=m.nv), rng.uniform(-1, 1, m.nu)
    mujoco.mj_forward(m, data)
    dofs = world.layout.joint_dofs
    expected = np.abs(data.qfrc_actuator[dofs] * data.qvel[dofs]).sum()

    class Joints:
        joint_pos, joint_vel = data.qpos[world.layout.joint_qpos], data.qvel[dofs]

    assert mechanical_power(world, data.ctrl, Joints, Joints) == pytest.approx(expected, rel=1e-5)


def test_of_a_rollout_both_bodies_are_measured_by_the_same_rules() -> None:
    tracked = follow(standing(), starts=[0, 3])
    own, user = tracked.likeness.own, tracked.likeness.user
    np.testing.assert_allclose(user.slip, 0.0, atol=1e-3)
    assert user.power.max() < 1e-6 and user.flying.max() == 0
    assert own.steps.sum() == 0 and own.flying[5:].max() == 0
    assert 0 < own.slip[5:].mean() < 0.05
    assert 0 < tracked.likeness.watt.mean() < 100
    assert TOUCHED == 5.0


def test_of_a_body_that_was_not_recorded_only_the_simulated_one_is_measured() -> None:
    likeness = follow(dataclasses.replace(standing(), body_known=False), starts=[0, 3]).likeness
    assert all(np.isnan(x).all() for x in likeness.user)
    assert np.isfinite(likeness.own.power).all()
