"""What physics allows, over x = [qacc (nv), lambda (4 C)]: C corners that may push, four edges of a friction cone each.

Contact forces are f = mass V lambda, so that lambda is of the size of accelerations. MuJoCo's floor is soft: the force
found here is not quite the one that acts.
"""

from typing import NamedTuple

import numpy as np

from qes_jax.control.dynamics import Dynamics
from qes_jax.control.features import Feature, point
from qes_jax.control.hierarchy import Level

FRICTION = 1.0
# Edges of the pyramid |fx| + |fy| <= mu fz, MuJoCo's own (cone="pyramidal"), columns; the floor is flat.
CONE = np.array([[FRICTION, -FRICTION, 0, 0], [0, 0, FRICTION, -FRICTION], [1.0, 1, 1, 1]])


class Contacts(NamedTuple):
    """Corners that may push. C of them; `points` are their lowest points."""

    points: tuple[Feature, ...]  # C features of three components
    forces: np.ndarray  # (nv, 4 C) generalised force per unit of lambda


def corner(d: Dynamics, geom: int) -> Feature:
    """The lowest point of a foot's corner, a sphere."""
    if geom in d.corners:
        return d.corners[geom]
    at = d.data.geom_xpos[geom].copy()
    at[2] -= d.body.m.geom_size[geom, 0]
    d.corners[geom] = point(d, int(d.body.m.geom_bodyid[geom]), at)
    return d.corners[geom]


def contacts(d: Dynamics, geoms: list[int]) -> Contacts:
    """Contact model of some corners."""
    points = tuple(corner(d, g) for g in geoms)
    if not points:
        return Contacts((), np.zeros((len(d.qvel), 0)))
    J = np.concatenate([p.J for p in points])
    columns = [J[3 * i : 3 * i + 3].T @ CONE for i in range(len(points))]
    return Contacts(points, d.body.mass * np.concatenate(columns, axis=1))


def equation_of_motion(d: Dynamics, c: Contacts) -> Level:
    """The six rows that no motor drives, per unit of mass: M_r qacc + h_r = J_r^T f."""
    A = np.concatenate([d.M[:6], -c.forces[:6]], axis=1)
    return Level(A / d.body.mass, -d.h[:6] / d.body.mass)


def torque_map(d: Dynamics, c: Contacts) -> tuple[np.ndarray, np.ndarray]:
    """T (A, n), t (A,): the motors' torques are tau = M_a qacc + h_a - J_a^T f = T x + t."""
    a = d.body.dofs
    return np.concatenate([d.M[a], -c.forces[a]], axis=1), d.h[a]


class Limits(NamedTuple):
    """G x <= h."""

    G: np.ndarray
    h: np.ndarray


def push_only(d: Dynamics, c: Contacts) -> Limits:
    """lambda >= 0."""
    nv, k = len(d.qvel), c.forces.shape[1]
    return Limits(np.concatenate([np.zeros((k, nv)), -np.eye(k)], axis=1), np.zeros(k))


def torque_limits(d: Dynamics, torque: tuple[np.ndarray, np.ndarray]) -> Limits:
    """|tau| <= tau_max."""
    (T, t), most = torque, d.body.max_torque
    return Limits(np.concatenate([T, -T]), np.concatenate([most - t, most + t]))


def no_penetration(points: list[Feature], n: int, kd: float = 20.0) -> Limits:
    """Corners near the floor may not accelerate into it: a_z >= 0, or what stops their fall: a_z >= -kd v_z (v_z < 0).

    The paper's a >= 0 for points at rest; a point that sinks must be slowed, which the velocity's term asks.
    """
    G, h = np.zeros((len(points), n)), np.zeros(len(points))
    for i, p in enumerate(points):
        G[i, : p.J.shape[1]] = -p.J[2]
        h[i] = p.bias[2] + kd * max(p.velocity[2], -1.0)
    return Limits(G, h)


def joint_limits(d: Dynamics, n: int, near: float = 0.1, kp: float = 400.0) -> Limits:
    """Joints within `near` [rad] of a limit: its distance decays no faster than critically damped. A_near rows."""
    q, dofs = d.data.qpos[d.body.qpos], d.body.dofs
    v, (low, high), kd = d.qvel[dofs], d.body.range.T, 2 * kp**0.5
    at_high, at_low = np.flatnonzero(q > high - near), np.flatnonzero(q < low + near)
    G = np.zeros((len(at_high) + len(at_low), n))
    G[np.arange(len(at_high)), dofs[at_high]] = 1.0
    G[len(at_high) + np.arange(len(at_low)), dofs[at_low]] = -1.0
    h = np.concatenate([(kp * (high - q) - kd * v)[at_high], (kp * (q - low) + kd * v)[at_low]])
    return Limits(G, h)


def together(parts: list[Limits]) -> Limits:
    """All of them."""
    return Limits(np.concatenate([p.G for p in parts]), np.concatenate([p.h for p in parts]))
