"""Features y = f(q): value, velocity J qvel, Jacobian J, and bias b with d2y/dt2 = J qacc + b. World axes, SI.

The momentum features come from the root's six rows of the equation of motion (one tree, a free joint without armature):
M_r, h_r their inertia and bias, R, p the root's pose, c the centre of mass.
"""

from math import atan2, hypot
from typing import NamedTuple

import mujoco
import numpy as np

from qes_jax.control.dynamics import Dynamics, once, skew, twists


class Feature(NamedTuple):
    """k components. Of an orientation, `value` is a rotation matrix and the velocity the angular one."""

    value: np.ndarray  # (k,) or (3, 3)
    velocity: np.ndarray  # (k,)
    J: np.ndarray  # (k, nv)
    bias: np.ndarray  # (k,)


@once
def com(d: Dynamics) -> Feature:
    """Centre of mass [m]: J = M_lin / m, bias = (h_lin + m g) / m."""
    mass, gravity = d.body.mass, d.body.m.opt.gravity
    J = d.M[:3] / mass
    return Feature(d.data.subtree_com[d.body.root].copy(), J @ d.qvel, J, d.bias[:3] / mass + gravity)


@once
def weight(d: Dynamics) -> Feature:
    """The centre of mass, its place on the floor taken along gravity: on a slope that is not below it along Z.

    Z is the floor's normal, and a slope tilts gravity: the pendulum c'' = g_z / h (c - p) + g_xy is
    c'' = g_z / h (c + h g_xy / g_z - p).
    """
    at, (gx, gy, gz) = com(d), d.body.m.opt.gravity
    return at._replace(value=at.value - at.value[2] / gz * np.array([gx, gy, 0.0]))


def linear_momentum(d: Dynamics) -> Feature:
    """P = m dc/dt [kg m/s]. Its `value` is P, and dP/dt = J qacc + bias; `velocity` repeats P."""
    J = d.M[:3]
    P = J @ d.qvel
    return Feature(P, P, J, d.bias[:3] + d.body.mass * d.body.m.opt.gravity)


@once
def angular_momentum(d: Dynamics) -> Feature:
    """L about the centre of mass [kg m2/s]: J = R M_ang - [c - p]x M_lin. Its `value` is L; dL/dt = J qacc + bias."""
    R, arm = root_rotation(d), skew(d.data.subtree_com[d.body.root] - d.data.xpos[d.body.root])
    J = R @ d.M[3:6] - arm @ d.M[:3]
    L = J @ d.qvel
    return Feature(L, L, J, R @ d.bias[3:6] - arm @ d.bias[:3])


def points(d: Dynamics, body: int, at: np.ndarray) -> Feature:
    """Some points of a body [m], three components each, given where they are now (k, 3) or (3,) in the world."""
    frame, arm = twists(d)[body], skew(at - d.data.subtree_com[d.body.root])
    moved = (frame[3:] - (arm @ frame[:3]).reshape(-1, 3, frame.shape[1])).reshape(-1, frame.shape[1])
    inward = moved[:, -2].reshape(-1, 3) @ skew(frame[:3, -2]).T  # angular velocity x velocity
    return Feature(at.ravel(), moved[:, -2], moved[:, :-2], moved[:, -1] + inward.ravel())


@once
def orientation(d: Dynamics, body: int) -> Feature:
    """A body's rotation matrix, and its angular velocity [rad/s]."""
    turn = twists(d)[body, :3]
    return Feature(d.data.xmat[body].reshape(3, 3).copy(), turn[:, -2], turn[:, :-2], turn[:, -1])


def joints(d: Dynamics) -> Feature:
    """Angles [rad] of the actuated joints."""
    b = d.body
    return Feature(d.data.qpos[b.qpos], d.qvel[b.dofs], b.selection, np.zeros(len(b.dofs)))


def neck(d: Dynamics) -> Feature:
    """Where the neck begins, relative to the centre of mass [m]."""
    return difference(points(d, d.body.neck, d.data.xpos[d.body.neck].copy()), com(d))


def difference(a: Feature, b: Feature) -> Feature:
    """a - b of two features in the same space."""
    return Feature(*map(np.subtract, a, b))


def joined(parts: list[Feature]) -> Feature:
    """The components of one or more features as one."""
    return parts[0] if len(parts) == 1 else Feature(*map(np.concatenate, zip(*parts, strict=True)))


def root_rotation(d: Dynamics) -> np.ndarray:
    """R (3, 3) of the root."""
    return d.data.xmat[d.body.root].reshape(3, 3)


def rotation_error(target: np.ndarray, value: np.ndarray) -> np.ndarray:
    """(3,) [rad] the turn in the world that brings `value` to `target`, both rotation matrices."""
    a, b, c, d, e, f, g, h, i = (target @ value.T).ravel().tolist()
    x, y, z = h - f, c - g, d - b  # twice the axis times the sine
    sine, cosine = 0.5 * hypot(x, y, z), 0.5 * (a + e + i - 1.0)
    if cosine < -0.9:  # near half a turn, where the sine says little
        return _half_turn(target @ value.T)
    scale = 0.5 * atan2(sine, cosine) / sine if sine > 1e-9 else 0.5
    return np.array([scale * x, scale * y, scale * z])


def _half_turn(R: np.ndarray) -> np.ndarray:
    """(3,) [rad] of any rotation matrix."""
    quat, vec = np.zeros(4), np.zeros(3)
    mujoco.mju_mat2Quat(quat, R.ravel())
    mujoco.mju_quat2Vel(vec, quat, 1.0)
    return vec
