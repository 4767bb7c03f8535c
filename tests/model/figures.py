"""Poses, and a servo, that the tests of the model share."""

import mujoco
import numpy as np

from qes_jax.model.character import HEIGHT, STIFFNESS, joint_kind
from qes_jax.model.world import World


def pose(world: World, **angles: float) -> np.ndarray:
    """(nq,) the A-pose with joints at other angles [rad], a kind ("knee") meaning both sides, soles at z = 0."""
    qpos = world.layout.home_qpos.copy()
    for joint, at in zip(world.layout.joints, world.layout.joint_qpos, strict=True):
        qpos[at] = angles.get(joint_kind(joint), qpos[at])
    qpos[2] -= lowest(world.plain, qpos)
    return qpos


def bent(world: World) -> np.ndarray:
    """(nq,) standing with slightly bent knees, feet flat on z = 0."""
    return pose(world, hip_pitch=0.15, knee=0.3, ankle_pitch=0.15)


def seated(world: World) -> np.ndarray:
    """(nq,) seated upright, feet flat on z = 0."""
    return pose(world, hip_pitch=1.5, knee=1.5)


def soles(m: mujoco.MjModel) -> list[int]:
    """The geoms that a standing body stands on."""
    return [g for g in range(m.ngeom) if m.geom(g).name.endswith(("_in", "_out"))]


def lowest(m: mujoco.MjModel, qpos: np.ndarray) -> float:
    """Height [m] of the lowest point of the soles."""
    data = mujoco.MjData(m)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(m, data)
    return min(data.geom_xpos[g, 2] - m.geom_size[g, 0] for g in soles(m))


def torque_servo(world: World, angles: np.ndarray, qpos: np.ndarray) -> np.ndarray:
    """(..., J) ctrl of torque motors that pull the hinges to `angles` (J,), beside the joints' own damping."""
    layout = world.layout
    kp = np.array([STIFFNESS[joint_kind(j)] for j in layout.joints]) * (world.character.height / HEIGHT) ** 4
    return np.clip(kp * (angles - qpos[..., layout.joint_qpos]) / layout.max_torque, -1, 1)


def balanced(world: World, data: mujoco.MjData, target: np.ndarray) -> np.ndarray:
    """(J,) angles of a target pose (nq,) with the ankles bent to keep the centre of mass 3 cm before them (at 1.75 m).

    Joints held by springs alone topple: the body is an inverted pendulum on ankle, knee, hip and spine in series.
    """
    s = world.character.height / HEIGHT
    feet = 0.5 * (data.body("left_foot").xpos[0] + data.body("right_foot").xpos[0])
    mujoco.mj_subtreeVel(world.plain, data)
    off, rate = data.subtree_com[1, 0] - feet - 0.03 * s, data.subtree_linvel[1, 0]
    angles = target[world.layout.joint_qpos].copy()
    angles[[j.endswith("ankle_pitch") for j in world.layout.joints]] -= 2.0 * off / s + 0.5 * rate / s**0.5
    return angles
