"""Stepping on and off boxes: one foot after the other, the weight over the foot that lifts the body."""

from dataclasses import dataclass

import numpy as np

from qes_jax.authoring.body import LEFT, RIGHT, SIGN, Body
from qes_jax.authoring.gait import SPREAD, TOE_OUT, Plan, Stance, step_targets
from qes_jax.authoring.targets import Stand, Targets
from qes_jax.authoring.timeline import clock, ramp
from qes_jax.model.scene import Piece

ON = 0.13  # [m] ankles beyond the edge that one has stepped up on
BRINK = 0.19  # [m] ankles before the edge that one steps down from, the toes just on it


def approach(height: float) -> float:
    """Ankles before an edge that one steps up, so that toes and the other leg's shin clear it [m]."""
    return 0.28 + 0.2 * height


def _off(drop: float) -> float:
    """Ankles beyond an edge that one has stepped down from, so that the shin clears it [m]."""
    return 0.11 + 0.3 * drop


@dataclass(frozen=True)
class Level:
    """A flat stretch along the way: from `near` to `far` [m] ahead of where the way begins, `height` [m] above the floor."""

    near: float
    far: float
    height: float


@dataclass(frozen=True)
class Move:
    """One foot goes to a place [m] along the way, at a height [m], in so many seconds, and rests there for `hold` [s]."""

    side: int
    place: float
    height: float
    seconds: float
    hold: float


def levels_of(pieces: tuple[Piece, ...], start: np.ndarray) -> list[Level]:
    """Boxes across a straight way from a pose (3,), nearest first."""
    ahead = np.array([np.cos(start[2]), np.sin(start[2])])
    middles = [(np.array(p.pos[:2]) - start[:2]) @ ahead for p in pieces]
    levels = [Level(m - p.size[0] / 2, m + p.size[0] / 2, p.pos[2] + p.size[2]) for m, p in zip(middles, pieces, strict=True)]
    return sorted(levels, key=lambda level: level.near)


def climb(body: Body, stand: Stand, levels: list[Level], first: int = RIGHT, pace: float = 1.0) -> tuple[Targets, Stand]:
    """Step up and down over levels straight ahead of a stand at `pace` (1: calm). Returns targets and where one then stands."""
    moves = plan_moves(levels, first, pace)
    plan, seconds = _stances(stand, moves, pause=0.6)
    t = clock(seconds)
    rise, lean = np.full(len(t), stand.ground), np.zeros(len(t))
    for k, (height, begin, end) in enumerate(_changes(stand, moves, 0.6)):
        change = height - (stand.ground if k == 0 else _changes(stand, moves, 0.6)[k - 1][0])
        rise += change * ramp(t, begin, end)
        bow = 0.75 * max(change, 0.0) + 0.25 * max(-change, 0.0)
        lean += bow * ramp(t, begin - 0.6, begin + 0.1) * ramp(t, end + 0.5, end - 0.15)
    landed = Stand(np.stack([stances[-1].spot for stances in plan]))
    return step_targets(body, t, plan, np.full(len(t), stand.yaw), rise, lean), landed


def plan_moves(levels: list[Level], first: int, pace: float) -> list[Move]:
    """Steps over levels that begin `approach` ahead: up with `first`, the other foot beside it, along the top, down, and so on."""
    moves: list[Move] = []
    other = 1 - first
    at, height = levels[0].near - approach(levels[0].height), 0.0
    for k, level in enumerate(levels):
        following = levels[k + 1] if k + 1 < len(levels) else None
        moves += _pair(first, other, level.near + ON, level.height, level.height - height, pace)
        at, height = level.near + ON, level.height
        joined = following is not None and following.near - level.far < 0.05 and following.height > height
        brink = following.near - approach(following.height - height) if joined else level.far - BRINK
        if brink - at > 0.1:
            moves += _pair(first, other, brink, height, 0.0, pace)
        if following is None or (not joined and following.near - level.far > 0.7):
            moves += _pair(first, other, level.far + _off(height), 0.0, -height, pace)
            at, height = level.far + _off(height), 0.0
            if following is not None and following.near - approach(following.height - height) - at > 0.1:
                moves += _pair(first, other, following.near - approach(following.height - height), 0.0, 0.0, pace)
    return moves


def _pair(first: int, other: int, place: float, height: float, change: float, pace: float) -> list[Move]:
    """One foot goes to a place, the other follows beside it; the higher the change, the slower."""
    seconds, hold = (0.5 + 0.8 * abs(change)) / pace, (0.25 + 0.55 * abs(change)) / pace
    return [Move(first, place, height, seconds, hold), Move(other, place, height, seconds, hold + 0.1 / pace)]


def _times(moves: list[Move], pause: float) -> list[tuple[float, float]]:
    """When each move leaves and lands [s]."""
    times, now = [], pause
    for move in moves:
        times.append((now, now + move.seconds))
        now += move.seconds + move.hold
    return times


def _stances(stand: Stand, moves: list[Move], pause: float) -> tuple[Plan, float]:
    """Stances of both feet through the moves, and the length of it all [s]."""
    plan: Plan = ([], [])
    begun, spots = [-np.inf, -np.inf], [stand.feet[LEFT], stand.feet[RIGHT]]
    strikes = [0.0, 0.0]
    ahead, left = np.array([np.cos(stand.yaw), np.sin(stand.yaw)]), np.array([-np.sin(stand.yaw), np.cos(stand.yaw)])
    times = _times(moves, pause)
    for move, (leave, land) in zip(moves, times, strict=True):
        side = move.side
        xy = stand.center + move.place * ahead + SIGN[side] * SPREAD * left
        spot = np.array([*xy, move.height, stand.yaw + SIGN[side] * TOE_OUT])
        change = move.height - spots[side][2]
        trails = bool(moves.index(move) % 2)
        down = trails and change < -0.05  # its heel rises while the other foot goes down
        push = min(2.4 * -change, 1.0) if down else min(0.2 + 0.9 * max(change, 0.0), 0.6)
        peel = 0.85 * move.seconds + move.hold if down else None
        lift = (0.05 if change >= 0 else 0.075) + 0.22 * max(change, 0.0)
        plan[side].append(Stance(begun[side], leave, spots[side], strikes[side], push, peel, lift))
        begun[side], spots[side] = land, spot
        strikes[side] = -0.5 * max(-change - 0.05, 0.0)  # down a high step toes come first
    for side in (LEFT, RIGHT):
        plan[side].append(Stance(begun[side], np.inf, spots[side], strikes[side]))
    return plan, times[-1][1] + 0.8


def _changes(stand: Stand, moves: list[Move], pause: float) -> list[tuple[float, float, float]]:
    """(height [m], begin, end [s]) of each change of level: the body rises once a foot is up, and sinks before a foot is down."""
    changes, ground = [], stand.ground
    times = _times(moves, pause)
    for k in range(0, len(moves), 2):
        up = moves[k].height - ground
        if up > 0:
            changes.append((moves[k].height, times[k][1] - 0.05, times[k + 1][1] + 0.1))
        elif up < 0:
            changes.append((moves[k].height, times[k][0] - 0.1, times[k][1] + 0.25))
        ground = moves[k].height
    return changes
