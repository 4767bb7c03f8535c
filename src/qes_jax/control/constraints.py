"""What physics allows, over x = [qacc (nv), lambda (4 C)]: C corners that may push, four edges of a friction cone each.

Contact forces are f = mass V lambda, so that lambda is of the size of accelerations. MuJoCo's floor is soft: the force
found here is not quite the one that acts.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from qes_jax.control.body import Foot
from qes_jax.control.dynamics import Dynamics, once
from qes_jax.control.features import Feature, joined, points
from qes_jax.control.hierarchy import Level

FRICTION = 1.0
# Edges of the pyramid |fx| + |fy| <= mu fz, MuJoCo's own (cone="pyramidal"), columns; the floor is flat.
CONE = np.array([[FRICTION, -FRICTION, 0, 0], [0, 0, FRICTION, -FRICTION], [1.0, 1, 1, 1]])

SIDES = np.array([[-1.0], [1.0]])  # signs of lower and upper limits


class Contacts(NamedTuple):
    """C corners that may push: the generalised force per unit of lambda, and the motors' torques tau = T x + t."""

    forces: np.ndarray  # (nv, 4 C)
    T: np.ndarray  # (A, nv + 4 C)
    t: np.ndarray  # (A,)


def lowest(d: Dynamics, foot: Foot) -> np.ndarray:
    """(C, 3) [m] the lowest points of a foot's corners, spheres."""
    at = d.data.geom_xpos[foot.corners]
    at[:, 2] -= foot.radii
    return at


@once
def every_corner(d: Dynamics, foot: Foot) -> Feature:
    """The lowest points of all corners of a foot, three components each."""
    at = lowest(d, foot)
    if foot.toe < 0:
        return points(d, foot.body, at)
    return joined([points(d, foot.body, at[foot.sole]), points(d, foot.toe, at[~foot.sole])])


def corners(d: Dynamics, foot: Foot, which: np.ndarray) -> Feature:
    """Those of some corners, `which` a mask (C,)."""
    if not which.any():
        none = np.zeros(0)
        return Feature(none, none, np.zeros((0, len(d.qvel))), none)
    rows = np.repeat(which, 3)
    return Feature(*(x[rows] for x in every_corner(d, foot)))


def contacts(d: Dynamics, parts: list[Feature]) -> Contacts:
    """Contact model of some corners; where they push, M_a qacc + h_a - J_a^T f is what the motors do."""
    nv, a = len(d.qvel), d.body.dofs
    J = np.concatenate([np.zeros((0, nv)), *(p.J for p in parts)]).reshape(-1, 3, nv)
    forces = d.body.mass * (CONE.T @ J).reshape(-1, nv).T
    return Contacts(forces, np.concatenate([d.M[a], -forces[a]], axis=1), d.h[a])


def equation_of_motion(d: Dynamics, c: Contacts) -> Level:
    """The six rows that no motor drives, per unit of mass: M_r qacc + h_r = J_r^T f."""
    A = np.concatenate([d.M[:6], -c.forces[:6]], axis=1)
    return Level(A / d.body.mass, -d.h[:6] / d.body.mass)


class Limits(NamedTuple):
    """G x <= h, over all of x or over qacc alone."""

    G: np.ndarray
    h: np.ndarray


@cache
def push_only(nv: int, k: int) -> Limits:
    """lambda (k,) >= 0."""
    return Limits(-np.eye(k, nv + k, nv), np.zeros(k))


def torque_limits(d: Dynamics, c: Contacts) -> tuple[Limits, Limits]:
    """tau <= tau_max, -tau <= tau_max."""
    most = d.body.max_torque
    return Limits(c.T, most - c.t), Limits(-c.T, most + c.t)


def no_penetration(parts: list[Feature], nv: int, kd: float = 20.0) -> Limits:
    """Corners near the floor may not accelerate into it: a_z >= 0, or what stops their fall: a_z >= -kd v_z (v_z < 0).

    The paper's a >= 0 for points at rest; a point that sinks must be slowed, which the velocity's term asks.
    """
    parts = [p for p in parts if len(p.value)]
    if not parts:
        return Limits(np.zeros((0, nv)), np.zeros(0))
    p = joined(parts)
    return Limits(-p.J[2::3], p.bias[2::3] + kd * np.maximum(p.velocity[2::3], -1.0))


def joint_limits(d: Dynamics, near: float = 0.1, kp: float = 400.0) -> Limits:
    """Joints within `near` [rad] of a limit: its distance decays no faster than critically damped. A_near rows."""
    left = (SIDES * (d.body.range.T - d.data.qpos[d.body.qpos])).ravel()
    (close,) = (left < near).nonzero()
    toward = d.body.toward[close]
    return Limits(toward, kp * left[close] - 2 * kp**0.5 * (toward @ d.qvel))
