"""More ways to go than straight on at one speed: guides for `gait.follow` with changing speed, backwards, sideways."""

from itertools import pairwise

import numpy as np

from qes_jax.authoring.body import LEFT, RIGHT, SIGN
from qes_jax.authoring.footsteps import Step
from qes_jax.authoring.gait import SLOWEST, WALK_RATIO, Guide, course
from qes_jax.authoring.targets import Stand
from qes_jax.authoring.timeline import clock, ease, smooth


def pace_guide(start: np.ndarray, points: list[tuple[float, float]], speeds: list[float]) -> Guide:
    """From a pose (3,) along a smooth curve through points [m], towards each point at its own speed [m/s]."""
    curve, fine, arc = course(start, points)
    knots = np.cumsum([0.0, *(float(np.linalg.norm(np.subtract(b, a))) for a, b in pairwise([start[:2], *points]))])
    at = np.interp(knots, fine, arc)  # arc length at each point
    wanted = np.array(speeds)[np.clip(np.searchsorted(at, arc, side="right") - 1, 0, len(speeds) - 1)]
    seconds = np.concatenate([[0.0], np.cumsum(np.diff(arc) / wanted[1:])])
    t = clock(seconds[-1])
    v = smooth(np.interp(t, seconds, wanted), 0.5)
    v = v * ease(t / 0.9) * ease((t[-1] - t) / 0.9)
    s = np.interp(np.cumsum(v) / np.sum(v) * arc[-1], arc, fine)
    tangent = curve(s, 1)
    yaw = np.unwrap(np.arctan2(tangent[:, 1], tangent[:, 0]))
    return Guide(np.column_stack([curve(s), yaw]), np.maximum(np.sqrt(v / WALK_RATIO), SLOWEST))


def back_guide(start: np.ndarray, length: float, bend: float, speed: float) -> Guide:
    """Backwards from a pose (3,) by `length` [m] at `speed` [m/s], turning by `bend` [rad] on the way."""
    t = clock(length / speed + 0.8)
    v = ease(t / 0.8) * ease((t[-1] - t) / 0.8)
    way = np.cumsum(v) / np.sum(v)
    yaw = start[2] + bend * way
    step = np.diff(length * way, prepend=0.0)
    x, y = start[0] - np.cumsum(step * np.cos(yaw)), start[1] - np.cumsum(step * np.sin(yaw))
    return Guide(np.column_stack([x, y, yaw]), np.full(len(t), 1.25 + 0.6 * speed))


def side_steps(stand: Stand, count: float, stride: float, pace: float) -> list[Step]:
    """`count` side steps of `stride` [m], left where positive: the leading foot goes, the other comes after it."""
    lead = LEFT if count > 0 else RIGHT
    left = np.array([-np.sin(stand.yaw), np.cos(stand.yaw), 0.0, 0.0])
    spots, steps = [foot.copy() for foot in stand.feet], []
    for _ in range(abs(round(count))):
        for side in (lead, 1 - lead):
            spots[side] = spots[side] + SIGN[lead] * stride * left
            steps.append(Step(side, spots[side], 0.42 / pace, 0.14 / pace, push=0.12, lift=0.03))
    return steps
