"""Objectives and limits against integration, finite differences and other libraries."""

import mujoco
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial import ConvexHull

from qes_jax.control import constraints as con
from qes_jax.control import contact
from qes_jax.control.body import load_body
from qes_jax.control.dynamics import read_dynamics
from qes_jax.control.gait import ComPath, WalkParameters, scaled, style, sway
from qes_jax.control.objectives import minimum_torque, setpoint, target_acceleration
from qes_jax.control.support import hull, nearest, reachable


def test_a_target_is_reached_with_its_velocity() -> None:
    y0, v0, T = np.array([0.1, -2.0]), np.array([1.0, 0.5]), 0.7
    goal, speed = np.array([2.0, 3.0]), np.array([-1.0, 4.0])
    a, b = target_acceleration(y0, v0, goal, speed, T)
    t = np.linspace(0.0, T, 20001)[:, None]
    acceleration = (1 - t / T) * a + t / T * b
    gained = np.cumsum((acceleration[1:] + acceleration[:-1]) / 2 * T / 20000, axis=0)
    velocity = v0 + np.concatenate([[[0, 0]], gained])
    place = y0 + ((velocity[1:] + velocity[:-1]) / 2).sum(axis=0) * T / 20000
    np.testing.assert_allclose(velocity[-1], speed, atol=1e-9)
    np.testing.assert_allclose(place, goal, atol=1e-7)


@pytest.mark.parametrize("even", [0.0, 0.4, 1.0])
def test_the_path_of_a_step(even: float) -> None:
    """It joins its ends, its derivatives are those of its places, and where it falls it is a pendulum."""
    left = np.array([0.0, 1.0])
    path = ComPath(np.array([-0.2, 0.0]), np.array([0.3, 0.02]), np.array([0.1, 0.1]), left, 0.03, 0.6, 3.2, even)
    np.testing.assert_allclose(path(0.0)[0], path.p0, atol=1e-12)
    np.testing.assert_allclose(path(0.6)[0], path.p1, atol=1e-12)
    for t in (0.1, 0.3, 0.55):
        before, now, after = path(t - 1e-5), path(t), path(t + 1e-5)
        np.testing.assert_allclose(now[1], (after[0] - before[0]) / 2e-5, atol=1e-8)
        np.testing.assert_allclose(now[2], (after[1] - before[1]) / 2e-5, atol=1e-7)
        if even == 0.0:
            np.testing.assert_allclose(now[2][0], 3.2**2 * (now[0][0] - path.pivot[0]), atol=1e-9)


def test_sway_is_a_pendulum_between_the_feet() -> None:
    d, T, w = 0.07, 0.6, 3.2
    t = np.linspace(-T / 2, T / 2, 101)
    away = d * np.cosh(w * t) / np.cosh(w * T / 2)  # distance to the stance foot, free fall, d at both ends
    assert sway(d, T, w) == pytest.approx(d - away.min(), abs=1e-12)


def test_a_scaled_walk_has_the_same_froude_number() -> None:
    p, q = WalkParameters(), scaled(WalkParameters(), 0.5)
    speed = [x.step_length / (x.swing_duration + x.swing_delay) for x in (p, q)]
    assert speed[1] ** 2 / 0.5 == pytest.approx(speed[0] ** 2)


def test_wrong_names_and_values_are_told() -> None:
    with pytest.raises(KeyError, match="sad"):
        style("merry")
    with pytest.raises(ValueError, match="step_length is 3"):
        WalkParameters(step_length=3.0)


def test_hull_and_nearest_point() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        points, p = rng.normal(size=(8, 2)), 3 * rng.normal(size=2)
        shape = hull(points)
        assert {tuple(v) for v in shape} == {tuple(points[i]) for i in ConvexHull(points).vertices}
        best = minimize(
            lambda w, q=points, p=p: np.sum((w @ q - p) ** 2), np.full(8, 1 / 8), bounds=[(0, 1)] * 8,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1}, tol=1e-12,
        )  # fmt: skip
        np.testing.assert_allclose(nearest(shape, (p[0], p[1])), best.x @ points, atol=2e-4)


def test_reachable_keeps_what_the_soles_can_give() -> None:
    corners = np.array([[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]])
    com = np.array([0.0, 0.0, 0.9])
    small, large = np.array([0.5, -0.3, 0.2]), np.array([9.0, 0.0, 0.0])
    np.testing.assert_allclose(reachable(small, com, corners), small)
    assert reachable(large, com, corners)[0] == pytest.approx(9.81 / 0.9 * 0.1)  # its centre of pressure at x = -0.1


def test_torques_and_forces_reproduce_mujocos_motion() -> None:
    """The torque map inverts the dynamics: applying T x + t and the forces' J^T f gives back qacc."""
    body = load_body()
    data = mujoco.MjData(body.m)
    data.qpos[:] = body.rest
    data.qpos[2] += 1.0  # off the floor
    rng = np.random.default_rng(0)
    data.qvel[:] = rng.normal(size=body.m.nv)
    mujoco.mj_forward(body.m, data)
    d = read_dynamics(body, data)
    c = con.contacts(d, [con.every_corner(d, body.feet[0])])
    x = rng.normal(size=body.m.nv + c.forces.shape[1])
    first = con.equation_of_motion(d, c)
    nv = body.m.nv
    pinned = np.linalg.lstsq(first.A[:, :6], first.b - first.A[:, 6:] @ x[6:], rcond=None)[0]
    x[:6] = pinned  # the root's acceleration that these forces and joint accelerations imply
    data.qfrc_applied[:] = c.forces @ x[nv:]
    data.ctrl[:] = (c.T @ x + c.t) / body.m.actuator_gear[:, 0]
    body.m.actuator_ctrllimited[:] = False
    velocity = data.qvel.copy()
    mujoco.mj_step(body.m, data)
    np.testing.assert_allclose((data.qvel - velocity) / body.m.opt.timestep, x[:nv], rtol=1e-6, atol=1e-6)
    level = minimum_torque(c, body.arms, 4.0)
    assert np.sum((level.A @ x - level.b) ** 2) == pytest.approx(4.0 * np.sum((c.T @ x + c.t)[body.arms] ** 2))


@pytest.mark.parametrize("name", ["humanoid", "ostrich"])
def test_an_edge_in_independent_rows_asks_the_same(name: str) -> None:
    """|A qacc - b|^2 differs from that of the corners, three rows each, by what no motion changes."""
    body = load_body(name)
    data = mujoco.MjData(body.m)
    data.qpos[:] = body.rest
    rng = np.random.default_rng(0)
    data.qvel[:] = 0.3 * rng.normal(size=body.m.nv)
    mujoco.mj_forward(body.m, data)
    d, foot = read_dynamics(body, data), body.feet[0]
    for which in (foot.ball, foot.rear):
        points = con.corners(d, foot, which)
        wanted = points.value.copy()
        wanted[2::3] = 0.0
        plain = setpoint(points, wanted, contact.KP, contact.KD)
        edge, *_ = contact.edge(d, foot, which)
        assert np.linalg.matrix_rank(edge.A) == len(edge.b)
        motions = rng.normal(size=(8, body.m.nv))
        cost = [np.sum((motions @ level.A.T - level.b) ** 2, axis=1) for level in (plain, edge)]
        assert np.ptp(cost[0] - cost[1]) < 1e-9 * cost[0].max()
