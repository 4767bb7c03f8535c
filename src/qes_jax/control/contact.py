"""The contact objective (setpoint): a standing foot, or the edge of it that stands, rests on the floor."""

from math import atan2, cos, sin

import numpy as np

from qes_jax.control.body import Foot
from qes_jax.control.constraints import corners, lowest
from qes_jax.control.dynamics import Dynamics
from qes_jax.control.features import Feature, orientation, points
from qes_jax.control.hierarchy import Level
from qes_jax.control.objectives import setpoint

KD = 20.0  # [1/s] what slides or sinks is slowed. Our choice, after the 2012 implementation's 10
KP = 100.0  # [1/s2] a tilted sole returns to the floor; critically damped with KD


def whole(d: Dynamics, foot: Foot) -> list[Level]:
    """Heel and ball stand: the sole rests flat."""
    return [_still(middle(d, foot, foot.sole)), _flat(d, foot.body), *_toes(d, foot)]


def edge(d: Dynamics, foot: Foot, which: np.ndarray) -> list[Level]:
    """Some corners alone stand (a mask, the heel's or the ball's): the foot may roll over them."""
    points = corners(d, foot, which)
    still = _still(points)
    return [_without_length(points.value, still) if len(still.b) == 6 else still, *_toes(d, foot)]


def _without_length(value: np.ndarray, still: Level) -> Level:
    """The same objective of two points (6,) of a rigid body in five rows: no motion changes their distance."""
    along = (value[3:] - value[:3]) / np.linalg.norm(value[3:] - value[:3])
    across = np.linalg.svd(along[None])[2][1:]  # (2, 3) two directions at right angles to it
    turn = np.concatenate([np.concatenate([np.eye(3), np.eye(3)], axis=1), np.concatenate([-across, across], axis=1)])
    return Level(0.5**0.5 * turn @ still.A, 0.5**0.5 * turn @ still.b)


def middle(d: Dynamics, foot: Foot, which: np.ndarray) -> Feature:
    """The middle of some corners of heel and ball (a mask), a point of the foot."""
    return points(d, foot.body, which @ lowest(d, foot) / np.count_nonzero(which))


def _still(p: Feature) -> Level:
    """Points keep their places on the floor, and their heights 0."""
    wanted = p.value.copy()
    wanted[2::3] = 0.0
    return setpoint(p, wanted, KP, KD)


def _flat(d: Dynamics, body: int) -> Level:
    """A body lies flat in the heading that it has."""
    turn = orientation(d, body)
    return setpoint(turn, level_frame(turn.value), KP, KD)


def _toes(d: Dynamics, foot: Foot) -> list[Level]:
    """Toes on a joint of their own lie flat: their pitch alone, the foot has the rest."""
    if foot.toe < 0:
        return []
    turn = orientation(d, foot.toe)
    full, side = setpoint(turn, level_frame(turn.value), KP, KD), turn.value[:, 1]
    return [Level((side @ full.A)[None], np.array([side @ full.b]))]


def level_frame(R: np.ndarray) -> np.ndarray:
    """The upright frame of R's heading, where its X axis points on the floor."""
    return yaw_frame(atan2(R[1, 0], R[0, 0]))


def yaw_frame(yaw: float) -> np.ndarray:
    """Rotation matrix of a turn about Z [rad]."""
    c, s = cos(yaw), sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
