"""The author's measures and arm angles against MuJoCo's kinematics."""

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from qes_jax.authoring.body import SIDES, SIGN, Body, arm_pose, make_body


@pytest.fixture(scope="module")
def body() -> Body:
    return make_body()


@pytest.mark.parametrize("angles", [(0.0, 0.0, 0.0), (0.7, 0.2, 0.3), (-0.4, 0.5, -0.2), (1.2, 0.1, 0.8)])
def test_arm_angles_turn_the_upper_arm_as_named(body: Body, angles: tuple[float, float, float]) -> None:
    flexion, abduction, twist = angles
    data = mujoco.MjData(body.model)
    hinges = np.zeros(len(body.world.layout.joints))
    hinges[body.arm_joints] = arm_pose(flexion, abduction, twist)
    data.qpos[body.world.layout.joint_qpos] = hinges
    mujoco.mj_kinematics(body.model, data)
    for side, sign in zip(SIDES, SIGN, strict=True):
        expected = (
            Rotation.from_rotvec([0, -flexion, 0])
            * Rotation.from_rotvec([sign * abduction, 0, 0])
            * Rotation.from_rotvec([0, 0, -sign * twist])
        )
        found = Rotation.from_quat(data.body(f"{side}_upper_arm").xquat, scalar_first=True)
        assert (expected.inv() * found).magnitude() < 1e-9


def test_measures_are_those_of_the_model(body: Body) -> None:
    data = body.data
    assert body.leg == pytest.approx(0.85)
    assert body.sole == pytest.approx(data.body("left_foot").xpos[2] - data.geom("left_heel_in").xpos[2] + 0.02)
    for pitch in (-0.3, 0.0, 0.4):
        turned = mujoco.MjData(body.model)
        turned.qpos[2], turned.qpos[3:7] = 1.0, [np.cos(pitch / 2), 0, np.sin(pitch / 2), 0]
        mujoco.mj_kinematics(body.model, turned)
        lowest = turned.geom("pelvis").xpos[2] - body.model.geom("pelvis").size[0]
        assert float(body.seat_depth(pitch)) == pytest.approx(1.0 - lowest)


def test_measures_scale_with_height() -> None:
    assert make_body(1.5).leg == pytest.approx(0.85 * 1.5 / 1.75)
