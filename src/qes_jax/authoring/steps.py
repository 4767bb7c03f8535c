"""Stepping on and off boxes: one foot after the other, the weight over the foot that lifts the body."""

from dataclasses import dataclass

import numpy as np

from qes_jax.authoring.body import LEFT, RIGHT, SIGN, Body
from qes_jax.authoring.feet import Plan, Stance
from qes_jax.authoring.gait import SPREAD, TOE_OUT, step_targets
from qes_jax.authoring.targets import Stand, Targets
from qes_jax.authoring.timeline import clock, ramp
from qes_jax.model.scene import Piece

ON = 0.13  # [m] ankles beyond the edge that one has stepped up on
PAUSE = 0.6  # [s] before the first step
BRINK = 0.19  # [m] ankles before the edge that one steps down from, the toes just on it


def approach(height: float) -> float:
    """Ankles before an edge that one steps up, so that toes and the other leg's shin clear it [m]."""
    return 0.28 + 0.2 * height


def _off(drop: float) -> float:
    """Ankles beyond an edge that one has stepped down from, so that the shin clears it [m]."""
    return 0.11 + 0.3 * drop


@dataclass(frozen=True)
class Level:
    """A flat stretch along the way: from `near` to `far` [m] ahead of its beginning, `height` [m] above the floor."""

    near: float
    far: float
    height: float


@dataclass(frozen=True)
class Move:
    """One foot goes to a place [m] along the way and a height [m] in some seconds, and then rests for `hold` [s]."""

    side: int
    place: float
    height: float
    seconds: float
    hold: float


def levels_of(pieces: tuple[Piece, ...], start: np.ndarray) -> list[Level]:
    """Boxes across a straight way from a pose (3,), nearest first. Raises ValueError if a piece is no box."""
    ahead = np.array([np.cos(start[2]), np.sin(start[2])])
    levels = []
    for piece in pieces:
        if piece.size is None:
            raise ValueError(f"piece {piece.name!r} is no box, one cannot step on it")
        middle, half = float((np.array(piece.pos[:2]) - start[:2]) @ ahead), piece.size[0] / 2
        levels.append(Level(middle - half, middle + half, piece.pos[2] + piece.size[2]))
    return sorted(levels, key=lambda level: level.near)


def climb(
    body: Body, stand: Stand, levels: list[Level], first: int = RIGHT, pace: float = 1.0
) -> tuple[Targets, Stand]:
    """Step up and down over levels straight ahead at `pace` (1: calm). Returns targets and where one then stands."""
    moves = plan_moves(levels, first, pace)
    plan, seconds = _stances(stand, moves)
    t = clock(seconds)
    rise, lean = np.full(len(t), stand.ground), np.zeros(len(t))
    for change, begin, end in _changes(stand, moves):
        rise += change * ramp(t, begin, end)
        bow = 0.75 * max(change, 0.0) + 0.25 * max(-change, 0.0)
        lean += bow * ramp(t, begin - 0.6, begin + 0.1) * ramp(t, end + 0.5, end - 0.15)
    landed = Stand(np.stack([stances[-1].spot for stances in plan]))
    return step_targets(body, t, plan, np.full(len(t), stand.yaw), rise, lean), landed


def plan_moves(levels: list[Level], first: int, pace: float) -> list[Move]:
    """Steps over levels that begin `approach` ahead: up with `first`, the other foot beside it, along, down, and so on.

    From a level one steps straight onto the next if that lies near and higher, else to the floor.
    """
    moves: list[Move] = []
    at, height = levels[0].near - approach(levels[0].height), 0.0

    def go(place: float, to: float) -> None:
        nonlocal at, height
        if to != height or place - at > 0.1:  # no shuffling in place
            moves.extend(_pair(first, place, to, to - height, pace))
            at, height = place, to

    for level, following in zip(levels, [*levels[1:], None], strict=True):
        go(level.near + ON, level.height)
        if following is not None and following.near - level.far < 0.3:
            go(min(level.far - BRINK, following.near - approach(following.height - height)), height)
            continue
        go(level.far - BRINK, height)
        go(level.far + _off(height), 0.0)
        if following is not None:
            go(following.near - approach(following.height), 0.0)
    return moves


def _pair(first: int, place: float, height: float, change: float, pace: float) -> list[Move]:
    """One foot goes to a place, the other follows beside it; the higher the change, the slower."""
    seconds, hold = (0.5 + 0.8 * abs(change)) / pace, (0.25 + 0.55 * abs(change)) / pace
    return [Move(first, place, height, seconds, hold), Move(1 - first, place, height, seconds, hold + 0.1 / pace)]


def _times(moves: list[Move]) -> list[tuple[float, float]]:
    """When each move leaves and lands [s]."""
    times, now = [], PAUSE
    for move in moves:
        times.append((now, now + move.seconds))
        now += move.seconds + move.hold
    return times


def _stances(stand: Stand, moves: list[Move]) -> tuple[Plan, float]:
    """Stances of both feet through the moves, and the length of it all [s]."""
    plan: Plan = ([], [])
    begun, spots, strikes = [-np.inf, -np.inf], [stand.feet[LEFT], stand.feet[RIGHT]], [0.0, 0.0]
    times = _times(moves)
    for k, (move, (leave, land)) in enumerate(zip(moves, times, strict=True)):
        side, change = move.side, move.height - spots[move.side][2]
        left = Stance(begun[side], leave, spots[side], strikes[side], **_manner(move, change, trails=bool(k % 2)))
        plan[side].append(left)
        begun[side], spots[side] = land, _spot(stand, move)
        strikes[side] = -0.5 * max(-change - 0.05, 0.0)  # down a high step toes come first
    for side in (LEFT, RIGHT):
        plan[side].append(Stance(begun[side], np.inf, spots[side], strikes[side]))
    return plan, times[-1][1] + 0.8


def _manner(move: Move, change: float, trails: bool) -> dict[str, float]:
    """How a foot leaves: the heel of the leg that lets the body down rises while the other foot still goes down."""
    if trails and change < -0.05:
        return {"push": min(-2.4 * change, 1.0), "peel": 0.85 * move.seconds + move.hold, "lift": 0.075}
    lift = (0.05 if change >= 0 else 0.075) + 0.22 * max(change, 0.0)
    return {"push": min(0.2 + 0.9 * max(change, 0.0), 0.6), "lift": lift}


def _spot(stand: Stand, move: Move) -> np.ndarray:
    """(4,) where a move puts its foot."""
    ahead, left = np.array([np.cos(stand.yaw), np.sin(stand.yaw)]), np.array([-np.sin(stand.yaw), np.cos(stand.yaw)])
    xy = stand.center + move.place * ahead + SIGN[move.side] * SPREAD * left
    return np.array([*xy, move.height, stand.yaw + SIGN[move.side] * TOE_OUT])


def _changes(stand: Stand, moves: list[Move]) -> list[tuple[float, float, float]]:
    """(change [m], begin, end [s]) of each new level: the body rises once a foot is up, sinks before a foot is down."""
    changes, ground, times = [], stand.ground, _times(moves)
    for k in range(0, len(moves), 2):
        change = moves[k].height - ground
        if change > 0:
            changes.append((change, times[k][1] - 0.05, times[k + 1][1] + 0.1))
        elif change < 0:
            changes.append((change, times[k][0] - 0.1, times[k][1] + 0.25))
        ground = moves[k].height
    return changes
