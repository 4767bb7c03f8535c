"""Objectives (section 4 of the paper): what a feature's acceleration should be, as rows J qacc = a of a level."""

from functools import cache

import numpy as np

from qes_jax.control.constraints import Contacts
from qes_jax.control.features import Feature, rotation_error
from qes_jax.control.hierarchy import Level


def critical(kp: float) -> float:
    """kd [1/s] of critical damping, 2 sqrt(kp)."""
    return 2.0 * kp**0.5


def rows(feature: Feature, acceleration: np.ndarray, weight: np.ndarray | float = 1.0) -> Level:
    """sqrt(weight) (J qacc + bias - acceleration): `acceleration` (k,) is d2y/dt2 wanted. weight a number or (k,)."""
    error = acceleration - feature.bias
    if isinstance(weight, float):
        return Level(feature.J, error) if weight == 1.0 else Level(weight**0.5 * feature.J, weight**0.5 * error)
    scale = np.sqrt(weight)
    return Level(scale[:, None] * feature.J, scale * error)


def setpoint(
    feature: Feature, reference: np.ndarray, kp: np.ndarray | float, kd: np.ndarray | float,
    weight: np.ndarray | float = 1.0, velocity: np.ndarray | float = 0.0, acceleration: np.ndarray | float = 0.0,
) -> Level:  # fmt: skip
    """Hold a feature: a = kp (y_r - y) - kd dy/dt; of a moving reference kd (dy_r/dt - dy/dt) + d2y_r/dt2.

    Of an orientation y_r - y is the turn from y to y_r in the world.
    """
    is_turn = feature.value.ndim == 2
    error = rotation_error(reference, feature.value) if is_turn else reference - feature.value
    return rows(feature, kp * error + kd * (velocity - feature.velocity) + acceleration, weight)


def target_acceleration(
    y: np.ndarray, velocity: np.ndarray, goal: np.ndarray | float, goal_velocity: np.ndarray | float, time: float
) -> tuple[np.ndarray, np.ndarray]:
    """a, b of d2y/dt2 (t) = (1 - t/T) a + t/T b, which brings y to goal with goal_velocity in T = time [s]:

        [T^2/3  T^2/6] [a]   [y_T - y_0 - y_0' T]
        [T/2    T/2  ] [b] = [y_T' - y_0'       ]

    The second row integrates the acceleration once, so that it holds the difference of the velocities (the notes on the
    paper print their sum).
    """
    move, change = goal - y - velocity * time, goal_velocity - velocity
    a = (6.0 * move - 2.0 * change * time) / time**2
    return a, 2.0 * change / time - a


def target(
    feature: Feature, goal: np.ndarray, goal_velocity: np.ndarray | float, time: float, weight: float = 1.0
) -> Level:
    """Move a feature to a goal far away within `time` [s]: the acceleration wanted is a of `target_acceleration`."""
    now, _ = target_acceleration(feature.value, feature.velocity, goal, goal_velocity, time)
    return rows(feature, now, weight)


def momentum(feature: Feature, reference: np.ndarray | float, kp: float, weight: float = 1.0) -> Level:
    """Bring a momentum to its reference: dL/dt = kp (L_r - L). Needs no centre of pressure and no contact force."""
    return rows(feature, kp * (reference - feature.value), weight)


def minimum_torque(c: Contacts, which: np.ndarray, weight: float = 1.0) -> Level:
    """|tau|^2 of some actuated joints."""
    scale = weight**0.5
    return Level(scale * c.T[which], -scale * c.t[which])


@cache
def smallest(nv: int, acceleration: float, n: int, force: float) -> Level:
    """The sum of acceleration qacc^2 (nv) and force lambda^2, n in all: what decides where nothing else does."""
    weight = np.repeat([acceleration, force], [nv, n - nv])
    return Level(np.diag(np.sqrt(weight)), np.zeros(n))
