"""Time lines: eased keys, splines through points, smoothing. All at the control rate, one row a frame."""

from collections.abc import Sequence

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

from qes_jax.motion.clip import FPS

Angles = np.ndarray | float
Keys = Sequence[tuple[float, float | Sequence[float]]]  # (time [s], value), times increasing


def n_frames(seconds: float) -> int:
    """Frames that a stretch of this length has."""
    return max(2, round(seconds * FPS))


def clock(seconds: float) -> np.ndarray:
    """Times [s] of a stretch's frames, (T,)."""
    return np.arange(n_frames(seconds)) / FPS


def ease(u: np.ndarray) -> np.ndarray:
    """Minimum-jerk course from 0 to 1 while u goes from 0 to 1, still outside (Flash & Hogan 1985, eq. 3)."""
    u = np.clip(u, 0.0, 1.0)
    return u**3 * (10.0 - 15.0 * u + 6.0 * u**2)


def ramp(t: np.ndarray, start: float, end: float) -> np.ndarray:
    """`ease` from 0 at `start` to 1 at `end` [s]; falls from 1 to 0 where `end` comes first."""
    return ease((t - start) / (end - start))


def keyed(t: np.ndarray, keys: Keys) -> np.ndarray:
    """Values (T, ...) that rest at each key and move between keys with minimum jerk; constant before and after."""
    times = np.array([k[0] for k in keys])
    values = np.array([k[1] for k in keys], float)
    index = np.clip(np.searchsorted(times, t, side="right") - 1, 0, max(len(times) - 2, 0))
    if len(times) == 1:
        return np.broadcast_to(values[0], (len(t), *values.shape[1:])).copy()
    u = ease((t - times[index]) / (times[index + 1] - times[index]))
    u = u.reshape(-1, *[1] * (values.ndim - 1))
    return values[index] + u * (values[index + 1] - values[index])


def spline(t: np.ndarray, keys: Keys) -> np.ndarray:
    """Values (T, ...) on a cubic spline through the keys, at rest at both ends and constant beyond them."""
    times = np.array([k[0] for k in keys])
    values = np.array([k[1] for k in keys], float)
    return CubicSpline(times, values, bc_type="clamped")(np.clip(t, times[0], times[-1]))


def hermite(u: np.ndarray, start, end, v_start, v_end, seconds: float, brake=0.0) -> np.ndarray:
    """Quintic from start to end (D,) with these velocities [1/s], (U, D) at u in [0, 1].

    It starts without acceleration and ends with -brake (end - start) / seconds^2: 0 arrives softly, 6 as a cubic would.
    """
    start, end = np.asarray(start, float), np.asarray(end, float)
    a, b = np.asarray(v_start, float) * seconds, np.asarray(v_end, float) * seconds
    d, u = end - start, np.asarray(u)[:, None]
    h = -0.5 * brake * d
    c3, c4, c5 = 10 * d - 6 * a - 4 * b + h, -15 * d + 8 * a + 7 * b - 2 * h, 6 * d - 3 * a - 3 * b + h
    return start + u * (a + u**2 * (c3 + u * (c4 + u * c5)))


def smooth(values: np.ndarray, seconds: float) -> np.ndarray:
    """Gaussian smoothing along time (axis 0) with this standard deviation [s]."""
    return gaussian_filter1d(values, seconds * FPS, axis=0, mode="nearest")


def turned(yaw: Angles, pitch: Angles = 0.0, roll: Angles = 0.0) -> Rotation:
    """Rotations from yaw (left), then pitch (nose down), then roll (right side down) [rad] that broadcast."""
    yaw, pitch, roll = np.broadcast_arrays(yaw, pitch, roll)
    return Rotation.from_euler("ZYX", np.stack([yaw, pitch, roll], axis=-1))


def drift(t: np.ndarray, rng: np.random.Generator, period: float = 3.0) -> np.ndarray:
    """Slow aimless wandering of unit size around 0, (T,): three sines of about `period` [s]."""
    waves = [np.sin(2 * np.pi * t / (period * f) + rng.uniform(0, 2 * np.pi)) for f in rng.uniform(0.8, 2.2, 3)]
    return np.sum(waves, axis=0) / 1.7
