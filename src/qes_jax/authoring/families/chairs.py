"""Chairs that move: turning with the office chair, leaning back in the tilting chair."""

from functools import partial

import numpy as np

from qes_jax.authoring.body import LEFT, RIGHT, Body
from qes_jax.authoring.families.hands import overlay
from qes_jax.authoring.families.sit import place, spot_on
from qes_jax.authoring.furniture import Seat, Visit
from qes_jax.authoring.gestures import look
from qes_jax.authoring.recipe import Recipe
from qes_jax.authoring.sitting import give_way, recline, support
from qes_jax.authoring.story import Story
from qes_jax.authoring.swivel import Push, pushes, seconds_needed, swivel
from qes_jax.authoring.targets import Targets
from qes_jax.model.scene import Scene

EDGE = (0.0, 0.225, 0.0)  # hands at the edge of a seat, from below the hips [m]
PIVOT, THICK, STOP = (0.25, 0.42), 0.02, np.radians(28.0)  # of the tilting chair's backrest (mjcf/scenes)


def turn_office(rng: np.random.Generator, level: float) -> Recipe:
    """To one side and to the other in the office chair, as far as half a circle."""
    piece = place(rng, "office_chair")
    side = float(rng.choice([-1.0, 1.0]))
    turns = [side * (0.5 + 1.6 * level), -side * float(rng.uniform(0.6, 1.8)), side * float(rng.uniform(0.3, 0.9))]
    visit = Visit(float(rng.uniform(1.7, 2.3)), seconds_needed(turns, 1.1), float(rng.uniform(1.8, 2.4)))
    plan = pushes(visit, turns, 1.1)
    tell = partial(_office, seat=spot_on(piece, rng), visit=visit, plan=plan, away=float(rng.uniform(-1, 1)))
    return Recipe(tell, Scene("office_chair", (piece,)))


def lean_tilting(rng: np.random.Generator, level: float) -> Recipe:
    """Two or three times back in the tilting chair, further with the level."""
    piece = place(rng, "tilting_chair")
    angles = [float(np.clip(0.12 + 0.22 * level + a, 0.1, 0.36)) for a in rng.uniform(-0.04, 0.04, 3)]
    holds = [float(h) for h in rng.uniform(1.0, 2.2, int(rng.integers(2, 4)))]
    seated = 4.5 + sum(holds) + 3.2 * len(holds)
    visit = Visit(float(rng.uniform(1.7, 2.3)), seated, float(rng.uniform(1.8, 2.4)), 0.21)
    tell = partial(
        _tilting, seat=spot_on(piece, rng), visit=visit, angles=angles, holds=holds, away=float(rng.uniform(-1, 1))
    )
    return Recipe(tell, Scene("tilting_chair", (piece,)))


def turning(
    targets: Targets, body: Body, seat: Seat, visit: Visit, plan: list[Push], rng: np.random.Generator, base=0.0
) -> Targets:
    """Seated in the office chair: hands at its edge to sit down and up, a look about, the turns."""
    last = plan[-1].end
    targets = look(targets, [(plan[0].start + 1.0, (float(rng.uniform(-0.4, 0.4)), 0.15)), (last, (0.0, 0.1))])
    targets = support(targets, seat, visit, {LEFT: EDGE, RIGHT: EDGE})
    return swivel(body, targets, seat, visit, plan, base)


def leaning(
    targets: Targets, body: Body, seat: Seat, visit: Visit, angles: list[float], holds: list[float], rng
) -> Targets:
    """Seated in the tilting chair: hips to the back, then leaning back again and again, the backrest with the trunk."""
    targets = recline(body, targets, seat, visit.down + 0.3, visit.rise - 1.0, 0.24, 0.06)
    now = visit.down + 1.6
    for angle, held in zip(angles, holds, strict=False):
        targets = recline(body, targets, seat, now, now + held + 2.6, 0.0, angle)
        now += held + 3.2
    if rng.random() < 0.6:
        targets = overlay(targets, "offer", int(rng.integers(2)), visit.down + 3.0, 1.0, 0.03 * rng.uniform(-1, 1, 3))
    targets = support(targets, seat, visit, {LEFT: EDGE, RIGHT: EDGE})
    return targets.but(objects=give_way(targets, seat, PIVOT, THICK, STOP)[:, None])


def _office(body: Body, rng, seat: Seat, visit: Visit, plan: list[Push], away: float) -> Targets:
    busy = partial(turning, body=body, seat=seat, visit=visit, plan=plan, rng=rng)
    story = Story(body, joints=1).wait(0.4).walk(tuple(seat.point(seat.hips + 0.5)), speed=0.9)
    return _leave(story.sit(seat, visit, busy, sum(push.by for push in plan)), away)


def _tilting(body: Body, rng, seat: Seat, visit: Visit, angles, holds, away: float) -> Targets:
    busy = partial(leaning, body=body, seat=seat, visit=visit, angles=angles, holds=holds, rng=rng)
    story = Story(body, joints=1).wait(0.4).walk(tuple(seat.point(seat.hips + 0.5)), speed=0.9)
    return _leave(story.sit(seat, visit, busy), away)


def _leave(story: Story, away: float) -> Targets:
    """A few steps away from a seat, turning by `away` [rad]."""
    x, y, yaw = story.pose
    middle = (x + 0.3 * np.cos(yaw), y + 0.3 * np.sin(yaw))
    return story.walk((middle[0] + np.cos(yaw + away), middle[1] + np.sin(yaw + away)), speed=0.9).wait(0.4).told()
