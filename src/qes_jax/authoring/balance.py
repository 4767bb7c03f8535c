"""Balance: which foot bears the weight, where the ground pushes, and how the body moves over it."""

import numpy as np
from scipy.linalg import solve_banded

from qes_jax.authoring.body import Body
from qes_jax.authoring.feet import Plan, Stance, peel_time
from qes_jax.authoring.targets import CENTER, STRAIGHT, reach_height
from qes_jax.authoring.timeline import Angles
from qes_jax.motion.clip import FPS

SHIFT = 0.45  # [s] to bring the weight over from easy standing
GRAVITY = 9.81  # [m/s^2]
LOW, FLOAT = 4, 8  # half the windows [frames] of the pelvis's height, our choice


def load(t: np.ndarray, stances: list[Stance], others: list[Stance]) -> np.ndarray:
    """Share of weight (T,) a foot can take: 0 in the air, 1 once it stands; it changes while both feet stand."""
    total = np.zeros(len(t))
    for stance in stances:
        leaving = min((o.end for o in others if o.end > stance.start), default=np.inf)  # the other foot, after we land
        landed = max((o.start for o in others if o.start < stance.end), default=-np.inf)  # and before we leave
        take, give = (float(np.clip(gap, 0.08, SHIFT)) for gap in (leaving - stance.start, stance.end - landed))
        ready = _blend(t, stance.start, take) * (1 - _blend(t, stance.end - give, give))
        total = np.where((t >= stance.start) & (t <= stance.end), ready, total)
    return total


def _blend(t: np.ndarray, start: float, seconds: float) -> np.ndarray:
    u = np.clip((t - start) / seconds, 0.0, 1.0)  # from -inf on it is 1, until inf 0
    return u * u * (3 - 2 * u)


def pressure_point(body: Body, t: np.ndarray, plan: Plan, loads: np.ndarray) -> np.ndarray:
    """Where the ground pushes (T, 3): from heel to toes below each foot, and from foot to foot with the load."""
    points = np.zeros((len(t), 2, 3))
    for side, stances in enumerate(plan):
        for stance in stances:
            on = (t >= stance.start) & (t <= stance.end)
            forward = _forward(body, stance, t[on])
            x, y, z, yaw = stance.spot
            course = x + forward * np.cos(yaw), y + forward * np.sin(yaw), np.full(len(forward), z)
            points[on, side] = np.stack(course, axis=-1)
    total = np.maximum(loads.sum(axis=1, keepdims=True), 1e-6)
    return np.einsum("ts,tsd->td", loads / total, points)


def _forward(body: Body, stance: Stance, t: np.ndarray) -> np.ndarray:
    """How far ahead of the ankle (T,) one foot bears: near the heel it lands on, on its toes once the heel is up."""
    settle, peel = min(0.5 * (stance.end - stance.start), 0.3), peel_time(stance)
    roll = float(np.clip(stance.end - peel - stance.start - settle, 1e-6, 0.3))  # to the ball, before the heel rises
    landed, rolled, peeled = (
        np.clip(1 - left / seconds, 0.0, 1.0)
        for left, seconds in ((t - stance.start, settle), (stance.end - peel - t, roll), (stance.end - t, peel))
    )
    return CENTER - 0.06 * landed + (body.toe_joint[0] - CENTER) * rolled + 0.4 * body.toe * peeled


def pendulum(pressure: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Centre of mass (T, 2) over a pressure point (T, 2): x'' = g / h (x - p), at rest over it at both ends.

    The linear inverted pendulum (Kajita et al. 2001). Central differences make one tridiagonal system of it.
    """
    a = height / GRAVITY * FPS**2
    bands = np.stack([-a, 1 + 2 * a, -a])
    bands[1, [0, -1]], bands[0], bands[2] = 1.0, np.roll(-a, 1), np.roll(-a, -1)
    bands[0, 1] = bands[2, -2] = 0.0
    return solve_banded((1, 1), bands, pressure)


def pelvis_height(
    body: Body, ankles: np.ndarray, pelvis_xy: np.ndarray, yaw: np.ndarray, rise: Angles = 0.0
) -> np.ndarray:
    """Height (T,) of the pelvis: as both legs reach, no higher than standing on ground at `rise` [m], smooth.

    Legs reach least when both stand. A body that followed them at once would fall and be thrown up again at each step.
    In the hollows the mean over the longer window lies up to 7 mm above the reach, which soft knees have to spare.
    """
    reach = np.minimum(reach_height(body, ankles, pelvis_xy, yaw), body.sole + STRAIGHT * body.leg + rise)
    padded = np.pad(reach, LOW, mode="edge")
    low = np.lib.stride_tricks.sliding_window_view(padded, 2 * LOW + 1).min(axis=-1)
    window = np.hanning(2 * FLOAT + 3)[1:-1]
    return np.convolve(np.pad(low, FLOAT, mode="edge"), window / window.sum(), mode="valid")
