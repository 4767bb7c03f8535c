"""Single steps to given places: sideways, backwards, over something; the body goes with them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qes_jax.authoring.body import LEFT, RIGHT, Body
from qes_jax.authoring.feet import Plan, Stance
from qes_jax.authoring.gait import step_targets
from qes_jax.authoring.targets import Stand, Targets
from qes_jax.authoring.timeline import Angles, clock, keyed

BEFORE, AFTER = 0.55, 0.8  # [s] to shift the weight before the first step, to settle after the last


@dataclass(frozen=True)
class Step:
    """One foot goes to a spot in `seconds`, then both feet stand for `hold` [s]. The rest as in `Stance`."""

    side: int
    spot: np.ndarray  # (4,) x, y, z of the ground below the ankle [m], yaw [rad]
    seconds: float
    hold: float = 0.12
    push: float = 0.2
    strike: float = 0.0
    lift: float = 0.05


def take(body: Body, stand: Stand, steps: Sequence[Step], lean: Angles = 0.0) -> tuple[Targets, Stand]:
    """Take the steps one after the other on level ground. Returns the targets and where one then stands."""
    plan, seconds = plan_of(stand, steps)
    t = clock(seconds)
    yaw = keyed(t, _facing(stand, steps))
    landed = Stand(np.stack([stances[-1].spot for stances in plan]))
    return step_targets(body, t, plan, yaw, stand.ground, lean), landed


def plan_of(stand: Stand, steps: Sequence[Step]) -> tuple[Plan, float]:
    """Stances of both feet through the steps, and the length of it all [s]."""
    plan: Plan = ([], [])
    begun, spots, strikes, now = [-np.inf, -np.inf], list(stand.feet), [0.0, 0.0], BEFORE
    for step in steps:
        side = step.side
        plan[side].append(Stance(begun[side], now, spots[side], strikes[side], step.push, lift=step.lift))
        begun[side], spots[side], strikes[side] = now + step.seconds, step.spot, step.strike
        now += step.seconds + step.hold
    for side in (LEFT, RIGHT):
        plan[side].append(Stance(begun[side], np.inf, spots[side], strikes[side]))
    return plan, now + AFTER


def _facing(stand: Stand, steps: Sequence[Step]) -> list[tuple[float, float]]:
    """Where the body faces [rad] at the end of each step: midway between the feet."""
    yaws, now = list(stand.feet[:, 3]), BEFORE
    keys = [(0.6 * BEFORE, stand.yaw)]
    for step in steps:
        yaws[step.side] = step.spot[3]
        now += step.seconds + step.hold
        keys.append((now, float(np.mean(yaws))))
    return keys
