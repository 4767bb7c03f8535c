"""Rotations and headings in NumPy, for what is done to whole recordings. Quaternions are wxyz."""

import numpy as np
from scipy.spatial.transform import Rotation


def rotation(quat: np.ndarray) -> Rotation:
    """Quaternions (..., 4) as one flat row of scipy's rotations."""
    return Rotation.from_quat(np.asarray(quat, np.float64).reshape(-1, 4), scalar_first=True)


def slerp(a: np.ndarray, b: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Quaternions (T, ..., 4) on the shorter way from a to b, by share (T,)."""
    fro = rotation(a)
    way = (fro.inv() * rotation(b)).as_rotvec().reshape(len(a), -1, 3) * share[:, None, None]
    return (fro * Rotation.from_rotvec(way.reshape(-1, 3))).as_quat(scalar_first=True).reshape(a.shape)


def yaw_of(quat: np.ndarray) -> np.ndarray:
    """Heading [rad] of the X axis, (..., 4) -> (...); of the Y axis where X is steep, as in `rotations.heading`."""
    m = rotation(quat).as_matrix()
    x, y = m[:, :2, 0], m[:, :2, 1]
    steep = np.hypot(*x.T) < 0.2
    yaw = np.where(steep, np.arctan2(-y[:, 0], y[:, 1]), np.arctan2(x[:, 1], x[:, 0]))
    return yaw.reshape(np.shape(quat)[:-1])


def turn_points(points: np.ndarray, yaw: float) -> np.ndarray:
    """Points (..., 3) turned by `yaw` [rad] about Z through the origin."""
    c, s = np.cos(yaw), np.sin(yaw)
    return points @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])


def turn_quats(quat: np.ndarray, yaw: float) -> np.ndarray:
    """Quaternions (..., 4) turned by `yaw` [rad] about Z."""
    return (Rotation.from_rotvec([0.0, 0.0, yaw]) * rotation(quat)).as_quat(scalar_first=True).reshape(quat.shape)
