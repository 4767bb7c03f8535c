"""Down to the floor and up again: key poses of a body whose feet roll over their toes or swing to other places.

All places are forward and left [m] of the middle between the ankles of the stand that it begins with; heights are above
the ground there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.interpolate import PchipInterpolator

from qes_jax.authoring.body import LEFT, RIGHT, SIGN, Body, arm_pose
from qes_jax.authoring.sitting import PALM, hold
from qes_jax.authoring.targets import CENTER, RELAXED, Stand, Targets, standing, wxyz
from qes_jax.authoring.timeline import clock, ease, smooth, turned

BEND, TUCK = 1.0, 1.25  # [rad] most that toes bend, pitch of a foot that stands on tucked toes
SOFT = 0.11  # [s] key poses flow into each other


@dataclass(frozen=True)
class Foot:
    """Standing on the toes: their tips so far `back` [m] of where they stood first, heel up by `pitch` [rad]."""

    back: float = 0.0
    pitch: float = 0.0


@dataclass(frozen=True)
class Key:
    """One pose, `seconds` after the one before."""

    seconds: float
    pelvis: tuple[float, float]  # forward, height [m] of the hips
    pitch: float = 0.0  # [rad] of the pelvis, nose down positive
    trunk: float = 0.03  # [rad] pitch of the chest
    head: float = 0.0  # [rad] pitch of the head
    feet: tuple[Foot, Foot] = (Foot(), Foot())
    com: tuple[float, float] | None = None  # centre of mass; None where hands or seat bear it too
    arms: tuple[float, float] = (0.0, 0.3)  # [rad] flexion of shoulder and elbow


@dataclass(frozen=True)
class Hand:
    """One hand on something from `start` to `end` [s], at a place forward, left, up [m]."""

    side: int
    start: float
    end: float
    place: tuple[float, float, float]
    firm: bool = True


def play(body: Body, stand: Stand, keys: Sequence[Key], hands: Sequence[Hand], lift: float = 0.05) -> Targets:
    """Targets through the key poses from easy standing to easy standing."""
    times = np.cumsum([0.0] + [key.seconds for key in keys])
    rest = standing(body, stand, 2)
    up = float(rest.pelvis_pos[0, 2]) - stand.ground
    first = Key(0.0, (CENTER, up), com=(CENTER, 0.0))
    poses = [first, *keys]
    t = clock(times[-1] + 0.3)
    course = _courses(t, times, poses)
    pelvis, com = _place(stand, course[:, [0, 8]], course[:, 1]), _place(stand, course[:, [7, 8]], 0.0)
    balanced = _through(t, times, [0.0 if key.com is None else 1.0 for key in poses])
    feet = [_foot(body, t, times, [key.feet[side] for key in poses], stand, side, lift) for side in (LEFT, RIGHT)]
    arms = arm_pose(**(RELAXED | {"flexion": course[:, 5], "elbow": course[:, 6]}))
    targets = standing(body, stand, len(t)).but(
        foot_pos=np.stack([f[0] for f in feet], axis=1),
        foot_quat=np.stack([wxyz(turned(stand.feet[s, 3], feet[s][1])) for s in (LEFT, RIGHT)], axis=1),
        foot_grip=np.stack([f[2] for f in feet], axis=1),
        toes=np.stack([toe_angle(f[1]) for f in feet], axis=1),
        pelvis_pos=pelvis,
        pelvis_quat=wxyz(turned(stand.yaw, course[:, 2])),
        pelvis_weight=1.0 - 0.9 * balanced,
        com=com[:, :2],
        com_weight=balanced,
        thorax_quat=wxyz(turned(stand.yaw, course[:, 3])),
        head_quat=wxyz(turned(stand.yaw, course[:, 4])),
        arms=np.repeat(arms[:, None], 2, axis=1),
    )
    for hand in hands:
        point = _place(stand, np.array([hand.place[:2]]), np.array([hand.place[2] + PALM - 0.004]))[0]
        targets = hold(targets, hand.side, point, hand.start, hand.end, 0.7, 0.7, hand.firm)
    return targets


def toe_angle(pitch: np.ndarray) -> np.ndarray:
    """Toe hinge (T,) that keeps the toes flat below a foot pitched (T,), as far as they bend."""
    return np.clip(pitch, 0.0, BEND)


def _courses(t: np.ndarray, times: np.ndarray, poses: Sequence[Key]) -> np.ndarray:
    """(T, 9) pelvis forward and up, pitches of pelvis, trunk, head, two of the arms, then the centre of mass."""
    rows = []
    for key in poses:
        com = key.com or (key.pelvis[0] + 0.1, 0.0)
        rows.append([*key.pelvis, key.pitch, key.trunk, key.head, *key.arms, *com])
    return _through(t, times, rows)


def _through(t: np.ndarray, times: np.ndarray, values: Sequence) -> np.ndarray:
    """Smooth course (T, ...) through values at times that never overshoots."""
    return smooth(PchipInterpolator(times, np.array(values))(np.clip(t, times[0], times[-1])), SOFT)


def _place(stand: Stand, flat: np.ndarray, up: np.ndarray | float) -> np.ndarray:
    """World places (N, 3) of places forward and left (N, 2), `up` above the ground."""
    ahead = np.array([np.cos(stand.yaw), np.sin(stand.yaw)])
    xy = stand.center + flat[:, :1] * ahead + flat[:, 1:] * np.array([-ahead[1], ahead[0]])
    return np.column_stack([xy, stand.ground + np.broadcast_to(up, len(flat))])


def _foot(
    body: Body, t: np.ndarray, times: np.ndarray, feet: Sequence[Foot], stand: Stand, side: int, lift: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ankle (T, 3), pitch (T,) and grip (T,) of a foot that rolls where two keys have it in one place, else swings."""
    ahead, yaw = np.array([np.cos(stand.yaw), np.sin(stand.yaw), 0.0]), stand.feet[side, 3]
    toward = np.array([np.cos(yaw), np.sin(yaw)])
    # The tips of the toes as they stand first.
    base = stand.feet[side, :3] + [*((body.toe_joint[0] + body.toe) * toward), body.sole + body.toe_joint[1]]
    tips, pitch = np.tile(base - feet[-1].back * ahead, (len(t), 1)), np.full(len(t), feet[-1].pitch)
    grip = np.ones(len(t))
    for (start, a), (end, b) in pairwise(zip(times, feet, strict=True)):
        on = (t >= start) & (t < end)
        u = (t[on] - start) / max(end - start, 1e-6)
        move = ease(u)
        tips[on] = base - (a.back + move * (b.back - a.back))[:, None] * ahead
        pitch[on] = a.pitch + move * (b.pitch - a.pitch)
        if a.back != b.back:
            bump = 16 * (u * (1 - u)) ** 2
            tips[on, 2] += lift * bump
            pitch[on] += 0.25 * bump
            grip[on] = 1 - bump
    back = _pitched(body.toe_joint, pitch) + _pitched(np.array([body.toe, 0.0]), pitch - toe_angle(pitch))
    return tips - np.column_stack([back[:, :1] * toward, back[:, 1]]), pitch, grip


def _pitched(point: np.ndarray, pitch: np.ndarray) -> np.ndarray:
    """A point (2,) forward and up, turned nose down by pitch (T,), (T, 2)."""
    x, z = point
    return np.column_stack([x * np.cos(pitch) + z * np.sin(pitch), z * np.cos(pitch) - x * np.sin(pitch)])


def hands_beside(start: float, end: float, forward: float, out: float, up: float = 0.0) -> list[Hand]:
    """Both hands at the same place of their sides."""
    return [Hand(side, start, end, (forward, SIGN[side] * out, up)) for side in (LEFT, RIGHT)]
