"""Feet: how they stand, roll from heel to toe, and swing to the next place."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from qes_jax.authoring.body import Body
from qes_jax.authoring.timeline import ease, hermite

TOE_BEND = 0.5  # [rad] toes never bend more
TOUCHDOWN = 0.15  # [m/s] at which a foot comes down


@dataclass(frozen=True)
class Stance:
    """One foot on the ground from `start` to `end` [s]; `spot` is x, y, z of the ground below the ankle, and yaw."""

    start: float
    end: float
    spot: np.ndarray  # (4,)
    strike: float = 0.0  # [rad] toes up when it lands
    push: float = 0.0  # [rad] heel up when it leaves
    peel: float | None = None  # [s] for which the heel comes up before it leaves; by itself longer the higher it gets
    lift: float = 0.03  # [m] how much the ankle rises above the straight course in the swing that follows


Plan = tuple[list[Stance], list[Stance]]  # the stances of the left and of the right foot


def foot_course(
    body: Body, t: np.ndarray, stances: list[Stance]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Ankle (T, 3), pitch (T,) (toes down positive), toe hinge (T,) and yaw (T,) of one foot through its stances."""
    ankle, (pitch, toes, yaw) = np.zeros((len(t), 3)), np.zeros((3, len(t)))
    for stance in stances:
        on = (t >= stance.start - 1e-9) & (t <= stance.end + 1e-9)
        pitch[on] = stance_pitch(stance, t[on])
        ankle[on], yaw[on] = rolled_ankle(body, stance.spot, pitch[on]), stance.spot[3]
        toes[on] = toe_bend(pitch[on])
    for a, b in pairwise(stances):
        air = (t > a.end + 1e-9) & (t < b.start - 1e-9)
        u, seconds = (t[air] - a.end) / (b.start - a.end), b.start - a.end
        ends = stance_pitch(a, np.array([a.end - 1e-3, a.end])), stance_pitch(b, np.array([b.start, b.start + 1e-3]))
        calm = min(1.0, 0.4 / seconds)  # a long swing would overshoot
        rates = [calm * float(np.diff(e)[0]) / 1e-3 for e in ends]
        points = rolled_ankle(body, a.spot, ends[0]), rolled_ankle(body, b.spot, ends[1])
        speeds = [np.diff(p, axis=0)[0] / 1e-3 for p in points]
        speeds[1][2] -= TOUCHDOWN
        pitch[air] = hermite(u, [ends[0][1]], [ends[1][0]], [rates[0]], [rates[1]], seconds)[:, 0]
        ankle[air] = _swing(u, points, speeds, seconds)
        ankle[air, 2] += a.lift * 16 * (u * (1 - u)) ** 2
        toes[air] = toe_bend(ends[0][1]) * (1 - ease(u / 0.7)) + toe_bend(ends[1][0]) * ease((u - 0.3) / 0.7)
        yaw[air] = a.spot[3] + ease(u) * (b.spot[3] - a.spot[3])
    return ankle, pitch, toes, yaw


def _swing(u: np.ndarray, points: Sequence[np.ndarray], speeds: Sequence[np.ndarray], seconds: float) -> np.ndarray:
    """Ankle (U, 3) in the air. It goes up before it goes ahead, and ahead before it goes down."""
    start, end = points[0][1], points[1][0]
    rise = float(end[2] - start[2])
    bend = 1 + min((3.5 if rise > 0 else 1.2) * max(abs(rise) - 0.05, 0.0), 1.2)
    early, late = 1 - (1 - u) ** bend, u**bend
    flat, up = (late, early) if rise > 0 else (early, late)
    back = 0.35 * max(rise, 0.0) * u * (1 - u) ** 3 / 0.105  # heels go to the buttocks before they go up
    ahead = hermite(flat, start[:2], end[:2], speeds[0][:2], speeds[1][:2], seconds, 6.0 if bend == 1 else 0.0)
    ahead -= back[:, None] * (end - start)[:2] / max(np.linalg.norm((end - start)[:2]), 1e-6)
    return np.column_stack([ahead, hermite(up, start[2:], end[2:], speeds[0][2:], speeds[1][2:], seconds)])


def stance_pitch(stance: Stance, t: np.ndarray) -> np.ndarray:
    """Pitch [rad] of a standing foot, toes down positive: first the sole slaps down, at the end the heel peels off."""
    length = stance.end - stance.start
    slap = min(0.16, 0.25 * length)
    down = np.clip(1 - (t - stance.start) / slap, 0.0, 1.0) ** 2
    up = np.clip(1 - (stance.end - t) / peel_time(stance), 0.0, 1.0) ** 2
    return stance.push * up - stance.strike * down


def peel_time(stance: Stance) -> float:
    """For how long [s] the heel is up at the end of a stance."""
    length = stance.end - stance.start
    return min(0.15 + 0.25 * stance.push, 0.5 * length) if stance.peel is None else stance.peel


def toe_bend(pitch: np.ndarray) -> np.ndarray:
    """Toe hinge (T,) of a foot that stands with this pitch (T,): toes stay flat at first, then roll onto their tips."""
    return TOE_BEND * np.tanh(np.maximum(pitch, 0.0) / TOE_BEND)


def rolled_ankle(body: Body, spot: np.ndarray, pitch: np.ndarray) -> np.ndarray:
    """Ankle (T, 3) of a foot at a spot, pitched (T,) about its heel (toes up) or about its toes (heel up)."""
    up = pitch > 0
    pivot = np.where(up[:, None], body.toe_joint, body.heel)  # (T, 2) forward, up
    tipped = np.where(up, pitch - toe_bend(pitch), 0.0)  # the toes' own pitch, about their tips
    moved = pivot - _pitched(pivot, pitch) + [body.toe, 0.0] - _pitched(np.array([body.toe, 0.0]), tipped)
    x, y, ground, yaw = spot
    return np.stack(
        [x + moved[:, 0] * np.cos(yaw), y + moved[:, 0] * np.sin(yaw), ground + body.sole + moved[:, 1]], axis=-1
    )


def _pitched(point: np.ndarray, pitch: np.ndarray) -> np.ndarray:
    """Points (..., 2) forward and up, turned nose down by pitch (T,), (T, 2)."""
    x, z = np.moveaxis(point, -1, 0)
    return np.stack([x * np.cos(pitch) + z * np.sin(pitch), z * np.cos(pitch) - x * np.sin(pitch)], axis=-1)


def grip(t: np.ndarray, stances: list[Stance]) -> np.ndarray:
    """1 (T,) where the foot stands, 0 in the middle of its swings."""
    near = np.min([np.maximum(np.maximum(s.start - t, t - s.end), 0.0) for s in stances], axis=0)
    return 1 - ease(near / 0.1)
