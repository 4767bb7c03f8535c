"""What can be laid over sitting down and getting up: hands that push on the seat, leaning back, backrests that give."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.authoring.body import SIGN, Body
from qes_jax.authoring.furniture import SINK, SLUMP, Seat, Visit
from qes_jax.authoring.gestures import turned_by
from qes_jax.authoring.targets import Targets
from qes_jax.authoring.timeline import ramp, smooth
from qes_jax.motion.clip import FPS

PALM = 0.044  # [m] of the controller above what the hand rests on
TRUNK = 0.39  # [m] from the hips to the middle of the chest
REACH = 0.68  # [m] from shoulder to controller, somewhat more than an arm is long
CHEST = 0.115  # [m] from there to the skin of the back

Busy = Callable[[Targets], Targets]


def hold(
    targets: Targets, side: int, point: np.ndarray, start: float, end: float, into=0.5, out=0.6, firm=False
) -> Targets:
    """One hand rests at a point (3,) or (T, 3) from `start` to `end` [s], coming `into` it and `out` of it [s].

    Unless it is `firm` it lets go where the arm would get straight.
    """
    t = np.arange(targets.n_frames) / FPS
    amount = ramp(t, start - into, start) * ramp(t, end + out, end)
    if not firm:
        amount = amount * _within_reach(targets, side, point)
    pos, weight = targets.hand_pos.copy(), targets.hand_weight.copy()
    rest = weight[:, side].copy()
    blend = amount / np.maximum(amount + rest * (1 - amount), 1e-9)
    there = pos[:, side] + blend[:, None] * (point - pos[:, side])
    pos[:, side] = np.where(rest[:, None] > 0, there, point)
    weight[:, side] = np.maximum(amount, rest)
    return targets.but(hand_pos=pos, hand_weight=weight)


def _within_reach(targets: Targets, side: int, point: np.ndarray) -> np.ndarray:
    """1 (T,) where an arm reaches the point, falling to 0 where it does not: hands let go before arms get straight."""
    pelvis, thorax = (Rotation.from_quat(q, scalar_first=True) for q in (targets.pelvis_quat, targets.thorax_quat))
    lumbar = 0.12 * (pelvis.apply([0.0, 0.0, 1.0]) + thorax.apply([0.0, 0.0, 1.0]))
    shoulder = targets.pelvis_pos + lumbar + thorax.apply([0.0, SIGN[side] * 0.18, 0.25])
    return ramp(np.linalg.norm(point - shoulder, axis=-1), REACH, 0.65 * REACH)


def support(targets: Targets, seat: Seat, visit: Visit, places: dict[int, tuple[float, float, float]]) -> Targets:
    """Hands help to sit down and to get up, each at a place forward, outward, up [m] from the seat below the hips."""
    touch, leave = 0.78 * visit.down, visit.rise + 0.36 * visit.up
    for side, (forward, outward, up) in places.items():
        point = np.array([*seat.point(seat.hips + forward, SIGN[side] * outward), seat.height + up + PALM])
        targets = hold(targets, side, point, touch - 0.25, visit.down + 0.35, 0.55, 0.8)
        targets = hold(targets, side, point, leave - 0.75, leave + 0.3, 0.7, 0.5)
    return targets


def recline(body: Body, targets: Targets, seat: Seat, begin: float, end: float, back: float, angle: float) -> Targets:
    """From `begin` to `end` [s] the hips are `back` [m] deeper in the seat, the trunk leans back by `angle` [rad]."""
    t = np.arange(targets.n_frames) / FPS
    shifted = ramp(t, begin, begin + 0.9) * ramp(t, end, end - 0.9)
    leant = ramp(t, begin + 0.5, begin + 1.6) * ramp(t, end - 0.4, end - 1.5)
    hop = 4 * shifted * (1 - shifted) * min(back / 0.15, 1.0)  # hips get lighter to move
    pitch = -0.6 * angle * leant
    move = -back * shifted[:, None] * np.array([*seat.ahead, 0.0])
    low = seat.height + float(body.seat_depth(SLUMP)) - SINK  # a pelvis deep in the seat lies on it
    settle = (low - targets.pelvis_pos[:, 2]) * shifted if back > 0 else 0.0
    up = settle + 0.003 * hop + body.seat_depth(SLUMP + pitch) - body.seat_depth(SLUMP)
    still = np.zeros_like(t)
    return targets.but(
        pelvis_pos=targets.pelvis_pos + move + up[:, None] * np.array([0.0, 0.0, 1.0]),
        pelvis_quat=turned_by(targets.pelvis_quat, still, pitch + 0.1 * hop),
        thorax_quat=turned_by(targets.thorax_quat, still, 0.3 * hop - angle * leant),
        head_quat=turned_by(targets.head_quat, still, -0.3 * angle * leant),
        hand_pos=targets.hand_pos + move[:, None, :],
    )


def give_way(targets: Targets, seat: Seat, pivot: tuple[float, float], thick: float, limit: float) -> np.ndarray:
    """Angle (T,) [rad] in [0, limit] of a backrest hinged at `pivot`, backward and up [m], that rests on the chest.

    The pivot is measured from the seat's middle and the floor; `thick` is from the hinge's plane to the front [m].
    """
    lean = -np.arcsin(np.clip(_pitch_sine(targets.thorax_quat), -1, 1))
    hips = (targets.pelvis_pos[:, :2] - seat.xy) @ seat.ahead
    x = hips - TRUNK * np.sin(lean) + pivot[0]
    z = targets.pelvis_pos[:, 2] + TRUNK * np.cos(lean) - pivot[1]
    # The plane tilted by a has the normal (cos a, sin a), and x cos a + z sin a = |x, z| sin(a + atan2(x, z)).
    angle = np.arcsin(np.clip((thick + CHEST) / np.hypot(x, z), -1, 1)) - np.arctan2(x, z)
    return smooth(np.clip(angle, 0.0, limit), 0.05)


def _pitch_sine(quat: np.ndarray) -> np.ndarray:
    """Sine (T,) of the pitch, nose down positive, of quaternions (T, 4)."""
    w, x, y, z = quat.T
    return 2 * (w * y - x * z)


def at(seat: Seat, left: float = 0.0, hips: float | None = None) -> Seat:
    """A place on a wide seat: `left` of its middle, the hips so far ahead of it [m]."""
    return replace(seat, xy=seat.point(0.0, left), hips=seat.hips if hips is None else hips)
