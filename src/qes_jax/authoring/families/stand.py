"""On the spot: easy standing, gestures, writing in the air, squats, reaching high, low and across."""

from functools import partial

import numpy as np

from qes_jax.authoring.body import RIGHT, Body
from qes_jax.authoring.families.hands import both, draw_shape, gesture, trace
from qes_jax.authoring.gestures import look, reach, shift, squat
from qes_jax.authoring.recipe import Recipe
from qes_jax.authoring.story import Story
from qes_jax.authoring.targets import Targets, standing
from qes_jax.authoring.timeline import n_frames

GESTURES = ("wave", "point", "talk", "hips", "clap", "scratch", "raise", "watch", "offer")


def stand_idle(rng: np.random.Generator, level: float) -> Recipe:
    """The weight goes from leg to leg, eyes wander, a small turn or side step between."""
    shares = [float(s) for s in rng.uniform(0.45, 0.85, 3)]
    return Recipe(partial(_idle, shares=shares, first=int(rng.integers(2)), length=4.5 - 1.5 * level))


def stand_gesture(rng: np.random.Generator, level: float) -> Recipe:
    """Three gestures one after the other."""
    kinds = [str(k) for k in rng.choice(GESTURES, 3, replace=False)]
    sides = [int(s) for s in rng.integers(0, 2, 3)]
    return Recipe(partial(_gestures, kinds=kinds, sides=sides, tempo=0.8 + 0.5 * level))


def stand_write(rng: np.random.Generator, level: float) -> Recipe:
    """Writing and drawing in the air, small to large."""
    shapes = [draw_shape(rng) for _ in range(2)]
    sides = [RIGHT, int(rng.integers(2))]
    return Recipe(partial(_writes, shapes=shapes, sides=sides, size=0.08 + 0.1 * level))


def stand_squat(rng: np.random.Generator, level: float) -> Recipe:
    """Squats, deeper with the level; quick or slow."""
    depths = [float(np.clip(0.14 + 0.26 * level + d, 0.1, 0.42)) for d in rng.uniform(-0.05, 0.05, 3)]
    seconds, hold = rng.uniform([1.1, 0.2], [1.9, 1.0])
    return Recipe(partial(_squats, depths=depths, seconds=float(seconds), hold=float(hold)))


def stand_reach(rng: np.random.Generator, level: float) -> Recipe:
    """Reach high, low and across, with one hand or both."""
    order = [str(k) for k in rng.permutation(["high", "low", "across", "ahead"])]
    return Recipe(partial(_reaches, order=order, first=int(rng.integers(2)), far=0.85 + 0.15 * level))


def _idle(body: Body, rng: np.random.Generator, shares: list[float], first: int, length: float) -> Targets:
    story = Story(body).wait(0.4)
    for k, share in enumerate(shares):
        seen = [(1.0, (float(rng.uniform(-0.8, 0.8)), float(rng.uniform(0, 0.3)))), (2.4, (0.0, 0.1))]
        story.add(look(shift(body, story.stand, length, (first + k) % 2, share), seen))
        if k == 0:
            story.turn(float(rng.uniform(0.2, 0.7)) * (1 - 2 * first), 0.8)
        elif k == 1:
            story.aside(1 - 2 * first, 0.2)
    return story.told()


def _gestures(body: Body, rng: np.random.Generator, kinds: list[str], sides: list[int], tempo: float) -> Targets:
    story = Story(body).wait(0.4)
    for kind, side in zip(kinds, sides, strict=True):
        story.add(gesture(partial(standing, body, story.stand), kind, side, tempo, rng))
        story.add(shift(body, story.stand, 3.0, 1 - side, 0.5))
    return story.told()


def _writes(body: Body, rng: np.random.Generator, shapes, sides: list[int], size: float) -> Targets:
    story = Story(body).wait(0.3)
    for shape, side in zip(shapes, sides, strict=True):
        path = trace(shape, size, start=1.2)
        story.add(reach(standing(body, story.stand, n_frames(path[-1][0] + 1.6)), side, path))
    return story.told()


def _squats(body: Body, rng: np.random.Generator, depths: list[float], seconds: float, hold: float) -> Targets:
    story = Story(body).wait(0.4)
    for depth in depths:
        story.add(squat(body, story.stand, depth, seconds, hold)).wait(0.4)
    return story.told()


def _reaches(body: Body, rng: np.random.Generator, order: list[str], first: int, far: float) -> Targets:
    story = Story(body).wait(0.4)
    for k, kind in enumerate(order):
        side = (first + k) % 2
        story.add(_reach(body, story, kind, side, far, rng))
    return story.told()


def _reach(body: Body, story: Story, kind: str, side: int, far: float, rng: np.random.Generator) -> Targets:
    """One of them; places are forward, outward, up from the hips [m], `far` is the share of what the arm reaches."""
    j = 0.05 * rng.uniform(-1, 1, 3)
    sign = 1 - 2 * side
    if kind == "high":
        tip = (0.38 * far + j[0], 0.2 + j[1], 0.95 * far + j[2])
        return look(both(standing(body, story.stand, n_frames(4.8)), side, tip, rng), [(1.4, (0.15 * sign, -0.5))])
    if kind == "low":
        depth = 0.36 * far
        low = squat(body, story.stand, depth, 1.6, 1.2)
        ground = 0.12 + 0.1 * rng.random() - float(low.pelvis_pos[n_frames(1.6), 2])
        return reach(low, side, [(1.6, (0.48, 0.12 + j[1], ground + 0.06)), (2.6, (0.5, 0.05, ground))])
    if kind == "across":
        tip = (0.42 * far, -0.28 + j[1], 0.25 + 2 * j[2])
        path = [(1.3, tip), (2.4, (tip[0], tip[1] - 0.05, tip[2] + 0.05))]
        return look(reach(standing(body, story.stand, n_frames(4.4)), side, path), [(1.4, (-0.7 * sign, 0.2))])
    tip = (0.68 * far, 0.1 + j[1], 0.35 + 2 * j[2])
    return both(standing(body, story.stand, n_frames(4.4)), side, tip, rng)
