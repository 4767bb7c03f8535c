"""Walking in all its ways: along lines and bends, faster and slower, with stops, on the spot, backwards, sideways."""

from functools import partial

import numpy as np

from qes_jax.authoring.body import Body
from qes_jax.authoring.families.style import Style, draw_style, styled
from qes_jax.authoring.recipe import Recipe
from qes_jax.authoring.story import Story
from qes_jax.authoring.targets import Targets

Points = list[tuple[float, float]]
SLOW, FAST = 0.45, 1.45  # [m/s]


def walk_line(rng: np.random.Generator, level: float) -> Recipe:
    """Almost straight on, from a stroll to a hurry."""
    speed = SLOW + (FAST - SLOW) * level
    length = float(np.clip(7.5 * speed, 4.0, 9.0))
    points = [(length * k / 3, float(rng.uniform(-0.35, 0.35))) for k in (1, 2, 3)]
    return Recipe(partial(_walks, legs=[(points, speed, None)], style=draw_style(rng)))


def walk_bends(rng: np.random.Generator, level: float) -> Recipe:
    """Left and right in bends that get tighter with the level, the slower the tighter."""
    radius, side = 2.0 - 1.3 * level, rng.choice([-1.0, 1.0])
    points, spot, yaw = [], np.zeros(2), 0.0
    for bend in range(4):
        turn = side * (-1) ** bend * rng.uniform(0.9, 1.5)
        for _ in range(2):
            yaw += turn / 2
            spot = spot + radius * abs(turn) / 2 * np.array([np.cos(yaw - turn / 4), np.sin(yaw - turn / 4)])
            points.append(tuple(spot))
    speed = float(rng.uniform(0.85, 1.0)) * (1.15 - 0.45 * level)
    return Recipe(partial(_walks, legs=[(points, speed, None)], style=draw_style(rng)))


def walk_pace(rng: np.random.Generator, level: float) -> Recipe:
    """One way, the speed changing on it."""
    slow, fast = 0.55 + 0.2 * rng.random(), 1.0 + 0.5 * level
    speeds = [fast, slow, fast] if rng.random() < 0.5 else [slow, fast, slow]
    points = [(3.2 * k, float(rng.uniform(-0.5, 0.5))) for k in (1, 2, 3)]
    return Recipe(partial(_pace, points=points, speeds=speeds, style=draw_style(rng)))


def walk_stop(rng: np.random.Generator, level: float) -> Recipe:
    """Start, stop, turn to face elsewhere, start again."""
    legs, spot, yaw = [], np.zeros(2), 0.0
    for _ in range(3):
        length, bend = rng.uniform(1.6, 3.0), rng.uniform(-0.4, 0.4)
        spot = spot + length * np.array([np.cos(yaw + bend), np.sin(yaw + bend)])
        yaw += bend + rng.uniform(0.4, 1.6) * rng.choice([-1.0, 1.0])
        legs.append(([tuple(spot)], 0.7 + 0.6 * level, yaw))
    return Recipe(partial(_walks, legs=legs, pause=float(rng.uniform(0.3, 1.2)), style=draw_style(rng)))


def walk_wander(rng: np.random.Generator, level: float) -> Recipe:
    """About half a minute through a large room."""
    angle = np.linspace(0, 2 * np.pi, 9)[1:] + rng.uniform(-0.15, 0.15, 8)
    radius = rng.uniform(1.6, 3.4, 8)
    side = rng.choice([-1.0, 1.0])
    points = [(float(r * np.sin(a)), float(side * (2.6 - r * np.cos(a)))) for a, r in zip(angle, radius, strict=True)]
    return Recipe(partial(_walks, legs=[(points, 0.7 + 0.45 * level, None)], style=draw_style(rng)))


def walk_turns(rng: np.random.Generator, level: float) -> Recipe:
    """Turns on the spot by all angles, calm to quick."""
    angles = [float(a) for a in rng.uniform(0.5, 3.1, 4) * rng.choice([-1.0, 1.0], 4)]
    return Recipe(partial(_turns, angles=angles, rate=0.9 + 0.8 * level, style=draw_style(rng)))


def walk_back(rng: np.random.Generator, level: float) -> Recipe:
    """Forward a little, then backwards in a slight bend, and once more."""
    ways = [(float(rng.uniform(1.2, 2.4)), float(rng.uniform(-0.5, 0.5))) for _ in range(2)]
    return Recipe(partial(_back, ways=ways, speed=0.4 + 0.35 * level, style=draw_style(rng)))


def walk_side(rng: np.random.Generator, level: float) -> Recipe:
    """Side steps to one side and to the other."""
    counts = [int(n) for n in rng.integers(2, 6, 3)]
    first = float(rng.choice([-1.0, 1.0]))
    ways = [(first * (-1) ** k * count, 0.22 + 0.2 * rng.random()) for k, count in enumerate(counts)]
    return Recipe(partial(_side, ways=ways, pace=0.85 + 0.5 * level, style=draw_style(rng)))


def _walks(body: Body, rng: np.random.Generator, legs, style: Style, pause: float = 0.5) -> Targets:
    story = Story(body).wait(0.5)
    for points, speed, final_yaw in legs:
        story.walk(*points, speed=speed, final_yaw=final_yaw).wait(pause)
    return styled(story.told(), style, rng)


def _pace(body: Body, rng: np.random.Generator, points: Points, speeds: list[float], style: Style) -> Targets:
    return styled(Story(body).wait(0.5).pace(points, speeds).wait(0.5).told(), style, rng)


def _turns(body: Body, rng: np.random.Generator, angles: list[float], rate: float, style: Style) -> Targets:
    story = Story(body).wait(0.5)
    for angle in angles:
        story.turn(angle, rate).wait(0.4)
    return styled(story.told(), style, rng)


def _back(body: Body, rng: np.random.Generator, ways, speed: float, style: Style) -> Targets:
    story = Story(body).wait(0.5)
    for length, bend in ways:
        x, y, yaw = story.pose
        story.walk((x + 0.8 * np.cos(yaw), y + 0.8 * np.sin(yaw)), speed=0.8).wait(0.3)
        story.back(length, bend, speed).wait(0.4)
    return styled(story.told(), style, rng)


def _side(body: Body, rng: np.random.Generator, ways, pace: float, style: Style) -> Targets:
    story = Story(body).wait(0.5)
    for count, stride in ways:
        story.aside(count, stride, pace).wait(0.4)
    return styled(story.told(), style, rng)
