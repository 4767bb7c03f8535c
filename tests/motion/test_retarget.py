"""Inverse kinematics over a clip: its parts against oracles, and motions that are known against what comes out."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from qes_jax.model.character import CharacterConfig
from qes_jax.model.world import World, build_world
from qes_jax.motion.build import kinematics
from qes_jax.motion.fit_report import report
from qes_jax.motion.formats.read import read_recording
from qes_jax.motion.formats.recording import crop
from qes_jax.motion.normal import Normal
from qes_jax.motion.retarget import Fit, retarget
from qes_jax.motion.rig import Rig
from qes_jax.motion.subject import estimate_height
from qes_jax.motion.touch import Toucher
from tests.motion.squat import BOX, everything_touches, known_motion, recorded


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(CharacterConfig(height=1.68), (BOX,))


def random_poses(world: World, frames: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    qpos = np.tile(world.layout.home_qpos, (frames, 1))
    qpos[:, :3] += rng.normal(size=(frames, 3)) * 0.3
    quat = rng.normal(size=(frames, 4))
    qpos[:, 3:7] = quat / np.linalg.norm(quat, axis=1, keepdims=True)
    low, high = world.layout.joint_range.T
    qpos[:, world.layout.joint_qpos] = low + (high - low) * rng.uniform(size=(frames, len(low)))
    return qpos


def test_jacobians_agree_with_mujoco(world: World) -> None:
    rig, qpos = Rig(world), random_poses(world, 5)
    poses = rig.poses(qpos)
    body = np.array([rig.body(n) for n in ("pelvis", "head", "left_hand", "right_toes")])
    points = poses.points(body, np.full((4, 3), 0.1))
    jac, data = rig.jacobian(poses, body, points), mujoco.MjData(rig.model)
    expected = np.zeros((3, rig.model.nv))
    for t, q in enumerate(qpos):
        data.qpos[:] = q
        mujoco.mj_kinematics(rig.model, data)
        mujoco.mj_comPos(rig.model, data)
        for i in range(4):
            mujoco.mj_jac(rig.model, data, expected, None, points[t, i], body[i])
            assert np.allclose(jac[t, i], expected[:, rig.dofs], atol=1e-10)


def test_differences_undo_moves(world: World) -> None:
    rig, qpos = Rig(world), random_poses(world, 4)
    step = np.random.default_rng(0).normal(size=(4, rig.n)) * 0.3
    moved = rig.move(qpos, step)
    pairs = np.stack([qpos, moved], axis=1)
    assert np.allclose([rig.differences(p)[0] for p in pairs], step, atol=1e-8)


def test_touches_are_all_pairs_within_reach(world: World) -> None:
    rig, qpos, reach = Rig(world), random_poses(world, 40), 0.07
    m, data, touches = rig.model, mujoco.MjData(rig.model), Toucher(rig, reach)(qpos)
    least, objects = touches.least(m.ngeom, touches.geom >= 0), np.flatnonzero(m.geom_contype == 2)
    for t, q in enumerate(qpos):
        data.qpos[:] = q
        mujoco.mj_kinematics(m, data)
        for g in np.flatnonzero(m.geom_contype == 1):
            true = min(mujoco.mj_geomDistance(m, data, g, o, 1.0, None) for o in objects)
            assert (true >= reach and least[t, g] == np.inf) or np.isclose(true, least[t, g], atol=1e-4)
    assert np.isfinite(least).sum() > 100


def test_the_banded_step_is_the_dense_one() -> None:
    rng, frames, n = np.random.default_rng(0), 6, 3
    normal = Normal(frames, n)
    rows, residuals = [], []

    def dense(blocks: dict[int, np.ndarray], residual: np.ndarray) -> None:
        row = np.zeros((len(residual), frames * n))
        for t, block in blocks.items():
            row[:, t * n : (t + 1) * n] = block
        rows.append(row)
        residuals.append(residual)

    jac, r = rng.normal(size=(frames, 4, n)), rng.normal(size=(frames, 4))
    normal.add(jac, r)
    change, weight = rng.normal(size=(frames - 1, 4)), rng.uniform(size=(frames - 1, 4))
    normal.add_changes(jac, change, weight)
    steps, sway = rng.normal(size=(frames - 1, n)), rng.uniform(size=n)
    normal.add_accelerations(steps, sway)
    normal.add_values(steps[0] * np.ones((frames, n)), 0.7)
    for t in range(frames):
        dense({t: jac[t]}, r[t])
        dense({t: 0.7 * np.eye(n)}, 0.7 * steps[0])
        if t < frames - 1:
            w = weight[t][:, None]
            dense({t: -w * jac[t], t + 1: w * jac[t + 1]}, weight[t] * change[t])
        if t < frames - 2:
            w = np.diag(sway)
            dense({t: w, t + 1: -2 * w, t + 2: w}, sway * (steps[t + 1] - steps[t]))
    j, r = np.concatenate(rows), np.concatenate(residuals)
    expected = -np.linalg.solve(j.T @ j + 0.1 * np.eye(frames * n), j.T @ r)
    assert np.allclose(normal.step(0.1).ravel(), expected)


@pytest.fixture(scope="module")
def known(world: World) -> tuple[np.ndarray, Fit]:
    qpos = known_motion(world)
    return qpos, retarget(recorded(world, qpos), "known")


def test_a_known_motion_comes_back(known) -> None:
    qpos, fit = known
    assert abs(fit.height - 1.68) < 0.002 and fit.scale == 1.0
    truth, found = kinematics(fit.world, qpos), kinematics(fit.world, fit.qpos)
    apart = np.linalg.norm(found[0] - truth[0], axis=-1)
    assert apart.mean() < 0.006 and apart.max() < 0.025
    heads = np.abs(np.einsum("tsi,tsi->ts", found[3], truth[3]))
    assert np.degrees(2 * np.arccos(heads.clip(0, 1))).max() < 12


def test_its_report(known) -> None:
    _, fit = known
    result = report(fit, everything_touches(fit))
    assert result["mean_error_cm"] < 0.5 and result["foot_skate_cm"] < 0.05
    assert result["object_penetration_cm"] < 0.5 and result["floor_penetration_cm"] == 0.0


def test_feet_come_down_to_a_floor_that_is_too_high(world: World, known) -> None:
    lifted = recorded(world, known[0])
    fit = retarget(replace(lifted, points=lifted.points + np.array([0.0, 0.0, 0.04])), "lifted")
    result = report(fit, everything_touches(fit))
    touches = Toucher(Rig(fit.world), 0.05)(fit.qpos)
    assert touches.dist.min(axis=1).max() < 0.01, "at every frame a foot stands on the box"
    assert result["object_penetration_cm"] < 1.0


def test_a_child_is_made_as_large_as_the_smallest_character(world: World, known) -> None:
    recording = recorded(world, known[0][:12])
    small = replace(recording, points=0.5 * recording.points, pieces=())
    assert abs(estimate_height(small) - 0.84) < 0.001
    fit = retarget(small, "small")
    assert fit.height == 1.4 and np.isclose(fit.scale, 1.4 / 0.84, rtol=1e-3)


@pytest.mark.parametrize(("start", "end"), [(1.5, 4.0), (6.0, 8.0)])
def test_a_real_climb(recordings, start: float, end: float) -> None:
    folder = recordings / "holosoma_climb" / "seq_0"
    recording = read_recording(next(folder.glob("*.npy")), tuple(sorted(folder.glob("*.obj"))))[1]
    fit = retarget(crop(recording, start, end), "climb")
    low, high = fit.world.layout.joint_range.T
    angles = fit.qpos[:, fit.world.layout.joint_qpos]
    result = report(fit, everything_touches(fit))
    assert 1.7 < fit.height < 1.8
    assert result["mean_error_cm"] < 3 and result["object_penetration_cm"] < 1 and result["floor_penetration_cm"] < 1
    assert (angles >= low).all() and (angles <= high).all()
    assert np.abs(np.diff(angles, axis=0)).max() * 36 < 20, "no joint flips"
