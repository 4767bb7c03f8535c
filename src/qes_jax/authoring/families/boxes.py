"""Boxes: onto one and down again, stairs of them up and down, over low obstacles."""

from functools import partial

import numpy as np

from qes_jax.authoring.body import SIGN, Body
from qes_jax.authoring.families.style import Style, draw_style, styled
from qes_jax.authoring.footsteps import Step
from qes_jax.authoring.gait import SPREAD, TOE_OUT
from qes_jax.authoring.recipe import Recipe
from qes_jax.authoring.steps import approach, levels_of
from qes_jax.authoring.story import Story
from qes_jax.authoring.targets import Targets
from qes_jax.model.scene import Piece, Scene

LOWEST, HIGHEST = 0.08, 0.48  # [m]
BEFORE, BEHIND = 0.31, 0.17  # [m] ankles before and behind an obstacle that they step over


def box_step(rng: np.random.Generator, level: float) -> Recipe:
    """Onto one box and down on its other side; the box grows with the level."""
    return _recipe(rng, [LOWEST + (HIGHEST - LOWEST) * level], gap=0.0)


def box_stairs(rng: np.random.Generator, level: float) -> Recipe:
    """Two or three boxes one behind the other, rising, falling or both, close together or apart."""
    tall = 0.2 + 0.25 * level
    heights = {0: [0.5 * tall, tall], 1: [tall, 0.5 * tall], 2: [0.5 * tall, tall, 0.45 * tall]}[int(rng.integers(3))]
    return _recipe(rng, heights, gap=float(rng.choice([0.02, 0.2, 0.9])))


def box_over(rng: np.random.Generator, level: float) -> Recipe:
    """Over three obstacles without stepping on them."""
    x, pieces = 1.5, []
    for k in range(3):
        height = float(np.clip(0.06 + 0.2 * level + rng.uniform(-0.03, 0.03), 0.05, 0.27))
        pieces.append(Piece(f"bar{k}", "box", (float(rng.uniform(0.08, 0.2)), 1.2, height), (x, 0.0, 0.0)))
        x += float(rng.uniform(1.2, 2.0))
    firsts = [int(f) for f in rng.integers(0, 2, 3)]
    tell = partial(_over, pieces=tuple(pieces), firsts=firsts, pace=float(rng.uniform(0.9, 1.2)), style=draw_style(rng))
    return Recipe(tell, Scene("obstacles", tuple(pieces)))


def _recipe(rng: np.random.Generator, heights: list[float], gap: float) -> Recipe:
    x, depth = float(rng.uniform(1.4, 2.2)), float(rng.uniform(0.55, 0.75))
    pieces = tuple(
        Piece(f"box{k}", "box", (depth, 0.8, round(height, 3)), (x + k * (depth + gap), 0.0, 0.0))
        for k, height in enumerate(heights)
    )
    tell = partial(
        climbs, pieces=pieces, speed=float(rng.uniform(0.75, 1.05)), first=int(rng.integers(2)),
        pace=float(rng.uniform(0.9, 1.06)), end=float(rng.uniform(-0.5, 0.5)), style=draw_style(rng),
    )  # fmt: skip
    return Recipe(tell, Scene("boxes", pieces))


def climbs(
    body: Body, rng: np.random.Generator, pieces: tuple[Piece, ...], speed: float, first: int, pace: float, end: float,
    style: Style,
) -> Targets:  # fmt: skip
    """Walk up to the boxes straight ahead, over them, and on."""
    levels = levels_of(pieces, np.zeros(3))
    before = levels[0].near - approach(levels[0].height)
    story = Story(body).wait(0.4).walk((before, 0.0), speed=speed).climb(pieces, first, pace)
    return styled(story.walk((levels[-1].far + 1.5, end), speed=speed).wait(0.4).told(), style, rng)


def _over(
    body: Body, rng: np.random.Generator, pieces: tuple[Piece, ...], firsts: list[int], pace: float, style: Style
) -> Targets:
    story = Story(body).wait(0.4)
    for level, first in zip(levels_of(pieces, np.zeros(3)), firsts, strict=True):
        story.walk((level.near - BEFORE, 0.0), speed=0.85)
        story.step(over(story.pose, level.near, level.far, level.height, first, pace), lean=0.08)
    end = (pieces[-1].pos[0] + 1.4, float(rng.uniform(-0.4, 0.4)))
    return styled(story.walk(end, speed=0.9).wait(0.4).told(), style, rng)


def over(pose: np.ndarray, near: float, far: float, height: float, first: int, pace: float) -> list[Step]:
    """One foot, then the other, over an obstacle that begins `near` and ends `far` [m] along X of the world."""
    yaw, steps = float(pose[2]), []
    for side in (first, 1 - first):
        ahead = far + BEHIND + (0.18 if side == first else 0.0)
        spot = np.array([ahead, pose[1] + SIGN[side] * SPREAD, 0.0, yaw + SIGN[side] * TOE_OUT])
        steps.append(Step(side, spot, (0.7 + 0.5 * height) / pace, 0.25 / pace, 0.35, lift=height + 0.13))
    return steps
