"""The figure against MuJoCo's own kinematics and Jacobians."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

from qes_jax.pose.canonical import enter, ground, leave
from qes_jax.pose.figure import difference, frames, move
from qes_jax.pose.residual import jacobian, look_up, residual
from qes_jax.pose.skeleton import BONES, JOINTS, MIRROR, PARENTS, SETS, SKELETON
from qes_jax.pose.targets import Targets
from tests.pose.poses import FIGURE, WORLD, random_poses

QPOS = random_poses(16)


def test_the_skeleton_is_a_root_and_21_joints() -> None:
    assert len(JOINTS) == 22 and len(set(JOINTS)) == 22 and len(BONES) == 20
    assert all(parent < child for child, parent in enumerate(PARENTS))
    assert [MIRROR[m] for m in MIRROR] == list(range(22)) and sum(m != i for i, m in enumerate(MIRROR)) == 16
    assert set(SETS["all"]) <= set(JOINTS)


def test_points_and_quaternions_are_mujocos() -> None:
    now = frames(FIGURE, jnp.asarray(QPOS.T))
    data = mujoco.MjData(WORLD.plain)
    for n, qpos in enumerate(QPOS):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(WORLD.plain, data)
        for row, joint in enumerate(SKELETON[1:], start=1):
            body = data.body(joint.link)
            point = body.xpos + body.xmat.reshape(3, 3) @ np.array(joint.offset)
            np.testing.assert_allclose(now.points[row, :, n], point, atol=3e-6)
            assert abs(abs(body.xquat @ now.quat[row, :, n]) - 1) < 1e-5
        np.testing.assert_allclose(now.points[0, :, n], [*qpos[:2], 0.0], atol=1e-6)


def test_difference_is_what_move_needs() -> None:
    start, end = jnp.asarray(QPOS.T), jnp.asarray(random_poses(16, seed=1).T)
    there = move(FIGURE, start, difference(end, start))
    flip = jnp.sign(jnp.sum(there[3:7] * end[3:7], axis=0))
    np.testing.assert_allclose(there.at[3:7].multiply(flip), end, atol=2e-5)


def test_jacobian_is_the_residuals_derivative() -> None:
    """Central differences in double precision, near the targets, where the three kinds' formulas are exact."""
    with jax.enable_x64(True):
        rng = np.random.default_rng(3)
        qpos = jnp.asarray(QPOS[:4].T.astype(np.float64))
        qpos = qpos.at[3:7].divide(jnp.linalg.norm(qpos[3:7], axis=0))
        joint = np.tile([[18], [8], [13]], (1, 4))
        kind = np.tile([[0], [1], [2]], (1, 4))
        now = frames(FIGURE, qpos)
        forward = np.stack([_matrix(now.quat[13, :, n])[:, 0] for n in range(4)], axis=-1)
        ahead = now.points[13] + 0.8 * forward
        value = np.stack([np.r_[now.points[18], np.zeros((1, 4))], now.quat[8], np.r_[ahead, np.zeros((1, 4))]])
        value[0, :3] += 0.1 * rng.normal(size=(3, 4))
        one = np.ones((3, 4))
        slots = look_up(FIGURE, Targets(joint, kind, value, one, 0 * one))
        jac, step = np.asarray(jacobian(now, slots)), 1e-6
        for dof in range(38):
            way = jnp.zeros((38, 4)).at[dof].set(step)
            ends = [residual(frames(FIGURE, move(FIGURE, qpos, s * way)), slots) for s in (1.0, -1.0)]
            np.testing.assert_allclose(jac[:, :, dof], (ends[1] - ends[0]) / (2 * step), atol=2e-5)


def test_the_canonical_frame_faces_forward_and_stands_on_the_floor() -> None:
    qpos = random_poses(8, seed=4, bend=0.2)
    upright = np.tile([1.0, 0.05, 0.1, 0.0], (8, 1)) + np.c_[np.zeros((8, 3)), np.linspace(-2, 2, 8)]
    qpos[:, 3:7] = upright / np.linalg.norm(upright, axis=1, keepdims=True)
    world = jnp.asarray(qpos.T)
    at = ground(FIGURE, world)
    seen = enter(at, world)
    now = frames(FIGURE, seen)
    np.testing.assert_allclose(seen[:2], 0.0, atol=1e-6)
    forward = np.stack([_matrix(q)[:, 0] for q in np.asarray(now.quat[1].T)])
    np.testing.assert_allclose(forward[:, 1], 0.0, atol=1e-5)
    assert (forward[:, 0] > 0).all()
    soles = np.asarray(now.points)[[4, 5, 8, 9], 2] - np.array([0.08, 0.02, 0.08, 0.02])[:, None]
    np.testing.assert_allclose(soles.min(axis=0), 0.0, atol=1e-5)
    np.testing.assert_allclose(leave(at, seen), world, atol=1e-5)


def _matrix(quat) -> np.ndarray:
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(quat, np.float64))
    return matrix.reshape(3, 3)
