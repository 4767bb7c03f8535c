"""One instant of a body's dynamics: the matrices of the equation of motion, and Jacobians of its points.

    M qacc + h = S^T tau + sum_c J_c^T f_c

Everything is read from MuJoCo's data after `mj_step1` or `mj_forward`, in float64. The step is implicit in the
joints' damping, so M is what that step inverts: inertia + armature + dt damping.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import mujoco
import numpy as np

from qes_jax.control.body import Body

Function = TypeVar("Function", bound=Callable)
# v @ SKEW is the matrix [v]x of the cross product with v, row by row.
SKEW = np.array([[0, 0, 0, 0, 0, -1, 0, 1, 0], [0, 0, 1, 0, 0, 0, -1, 0, 0], [0, -1, 0, 1, 0, 0, 0, 0, 0]], float)


@dataclass(frozen=True)
class Dynamics:
    """What the controllers read of one state. nv velocities."""

    body: Body
    data: mujoco.MjData
    M: np.ndarray  # (nv, nv)
    h: np.ndarray  # (nv,) Coriolis, centrifugal, gravity less passive forces
    bias: np.ndarray  # (nv,) the same without passive forces
    qvel: np.ndarray  # (nv,)
    known: dict[Hashable, Any] = field(default_factory=dict)  # what functions `once` have computed


def once(function: Function) -> Function:
    """Compute a function of a Dynamics and of hashable arguments once an instant; nobody may write into its result."""

    def known(d: Dynamics, *args: Hashable) -> Any:
        key = (function, *args)
        if key not in d.known:
            d.known[key] = function(d, *args)
        return d.known[key]

    known.__doc__ = function.__doc__
    return known  # type: ignore[return-value]


@once
def twists(d: Dynamics) -> np.ndarray:
    """(nbody, 6, nv + 2) of all bodies, angular, then linear of the body's point at the centre of mass, world axes.

    Columns: the Jacobian, the velocity, and the spatial acceleration at qacc = 0. All bodies at once cost less than the
    few that are asked for, one by one.
    """
    moved, nv, data = d.body.moved, len(d.qvel), d.data
    found = np.empty((len(moved), 6, nv + 2))
    np.multiply(moved[:, None], data.cdof.T, out=found[:, :, :nv])
    found[:, :, nv] = data.cvel
    found[:, :, nv + 1] = (moved * d.qvel) @ data.cdof_dot
    return found


def read_dynamics(body: Body, data: mujoco.MjData) -> Dynamics:
    """Of data whose positions and velocities are up to date (`mj_step1`, `mj_forward`)."""
    m = body.m
    M, bias = np.zeros((m.nv, m.nv)), data.qfrc_bias.copy()
    mujoco.mj_fullM(m, data, M)
    M.flat[:: m.nv + 1] += m.opt.timestep * m.dof_damping
    return Dynamics(body, data, M, bias - data.qfrc_passive, bias, data.qvel.copy())


def skew(v: np.ndarray) -> np.ndarray:
    """[v]x, so that skew(v) @ u is the cross product; of k vectors (k, 3) the k matrices below each other (3 k, 3)."""
    return (v @ SKEW).reshape(-1, 3)
