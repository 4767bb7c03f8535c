"""Inverse kinematics finds poses that are known to exist, and stays within the ranges where none does."""

import mujoco
import numpy as np
import pytest

from qes_jax.authoring.body import SIDES, Body, make_body
from qes_jax.authoring.gait import guide_stand
from qes_jax.authoring.ik import solve
from qes_jax.authoring.targets import Targets, standing


@pytest.fixture(scope="module")
def body() -> Body:
    return make_body()


def _reached(body: Body, qpos: np.ndarray) -> mujoco.MjData:
    data = mujoco.MjData(body.model)
    data.qpos[:] = qpos
    mujoco.mj_forward(body.model, data)
    return data


def test_standing_meets_feet_and_balance(body: Body) -> None:
    targets = standing(body, guide_stand(np.array([0.4, -0.3, 0.7])), 2)
    data = _reached(body, solve(body, targets)[-1])
    for side, name in enumerate(SIDES):
        assert np.linalg.norm(data.body(f"{name}_foot").xpos - targets.foot_pos[-1, side]) < 5e-4
    assert np.linalg.norm(data.subtree_com[1, :2] - targets.com[-1]) < 2e-3


def test_a_hand_reaches_a_point_without_moving_the_feet(body: Body) -> None:
    targets = standing(body, guide_stand(np.zeros(3)), 2)
    point = np.array([0.4, -0.2, 1.25])
    pos, weight = targets.hand_pos.copy(), targets.hand_weight.copy()
    pos[:, 1], weight[:, 1] = point, 1.0
    targets = targets.but(hand_pos=pos, hand_weight=weight)
    data = _reached(body, solve(body, targets)[-1])
    assert np.linalg.norm(data.site("right_controller").xpos - point) < 0.01
    assert np.linalg.norm(data.body("left_foot").xpos - targets.foot_pos[-1, 0]) < 5e-4


def test_out_of_reach_stays_within_the_ranges(body: Body) -> None:
    targets = standing(body, guide_stand(np.zeros(3)), 3)
    low = targets.pelvis_pos - np.array([0.0, 0.0, 0.75])
    qpos = solve(body, targets.but(pelvis_pos=low, com=targets.com + 0.6))
    hinges, ranges = qpos[:, body.world.layout.joint_qpos], body.world.layout.joint_range
    assert np.isfinite(qpos).all()
    assert (hinges >= ranges[:, 0] - 1e-6).all() and (hinges <= ranges[:, 1] + 1e-6).all()


def test_each_frame_costs_the_least(body: Body) -> None:
    """No small change of any hinge or of the root makes the residuals smaller."""
    from qes_jax.authoring.ik import _Problem

    targets: Targets = standing(body, guide_stand(np.zeros(3)), 2)
    problem, qpos = _Problem(body, body.world, solid=False), solve(body, targets)[-1]
    cost = np.sum(problem.linearize(qpos, targets, 1)[0] ** 2)
    for dof in range(body.model.nv):
        for sign in (1, -1):
            step = np.zeros(body.model.nv)
            step[dof] = sign * 0.003
            other = qpos.copy()
            mujoco.mj_integratePos(body.model, other, step, 1.0)
            assert np.sum(problem.linearize(other, targets, 1)[0] ** 2) > cost
