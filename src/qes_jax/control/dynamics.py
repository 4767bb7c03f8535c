"""One instant of a body's dynamics: the matrices of the equation of motion, and Jacobians of its points.

    M qacc + h = S^T tau + sum_c J_c^T f_c

Everything is read from MuJoCo's data after `mj_step1` or `mj_forward`, in float64. The step is implicit in the
joints' damping, so M is what that step inverts: inertia + armature + dt damping.
"""

from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from qes_jax.control.body import Body


@dataclass(frozen=True)
class Dynamics:
    """What the controllers read of one state. nv velocities."""

    body: Body
    data: mujoco.MjData
    M: np.ndarray  # (nv, nv)
    h: np.ndarray  # (nv,) Coriolis, centrifugal, gravity less passive forces
    bias: np.ndarray  # (nv,) the same without passive forces
    qvel: np.ndarray  # (nv,)
    _jac: dict[int, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    corners: dict[int, Any] = field(default_factory=dict)  # what `constraints.corner` has computed

    def jac(self, body: int) -> tuple[np.ndarray, np.ndarray]:
        """J (6, nv) of a body frame's velocity (linear, angular, world axes), and dJ/dt qvel (6,)."""
        if body not in self._jac:
            nv = len(self.qvel)
            J, rate = np.zeros((2, 3, nv)), np.zeros((2, 3, nv))
            point = self.data.xpos[body]
            mujoco.mj_jac(self.body.m, self.data, J[0], J[1], point, body)
            mujoco.mj_jacDot(self.body.m, self.data, rate[0], rate[1], point, body)
            self._jac[body] = J.reshape(6, nv), rate.reshape(6, nv) @ self.qvel
        return self._jac[body]


def read_dynamics(body: Body, data: mujoco.MjData) -> Dynamics:
    """Of data whose positions and velocities are up to date (`mj_step1`, `mj_forward`)."""
    m = body.m
    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, data, M)
    M[np.diag_indices(m.nv)] += m.opt.timestep * m.dof_damping
    return Dynamics(body, data, M, data.qfrc_bias - data.qfrc_passive, data.qfrc_bias.copy(), data.qvel.copy())


def skew(v: np.ndarray) -> np.ndarray:
    """[v]x, so that skew(v) @ u is the cross product."""
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
