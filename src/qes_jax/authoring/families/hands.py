"""What hands do: gestures by name, shapes drawn in the air. Places are forward, outward, up from the hips [m]."""

from collections.abc import Callable

import numpy as np

from qes_jax.authoring.gestures import look, point_at, reach, wave
from qes_jax.authoring.targets import Targets
from qes_jax.authoring.timeline import n_frames

Shape = Callable[[np.ndarray], np.ndarray]  # along the line (N,) in [0, 1] -> across and up (N, 2) in [-1, 1]
HAND_SPEED = 0.75  # [m/s] of writing in the air, our choice


def gesture(here: Callable[[int], Targets], kind: str, side: int, tempo: float, rng: np.random.Generator) -> Targets:
    """One gesture over what `here` makes of a number of frames. Raises KeyError for a kind that is not known."""
    j = 0.03 * rng.uniform(-1, 1, 3)
    if kind == "wave":
        times = int(rng.integers(3, 6))
        return wave(here(n_frames(3.0 + 0.6 * times)), side, 1.2, times)
    if kind == "point":
        return point_at(here(n_frames(4.6)), side, 1.3, float(rng.uniform(0.0, 0.9)), hold=1.4)
    seconds = 1.2 + PATHS[kind][-1][0] / tempo
    return overlay(here(n_frames(seconds + 1.6)), kind, side, 1.2, tempo, j)


def overlay(targets: Targets, kind: str, side: int, start: float, tempo: float, jitter: np.ndarray) -> Targets:
    """One of PATHS laid over what goes on, first place at `start` [s], all places moved by a jitter (3,)."""
    path = [(start + s / tempo, (f + jitter[0], o + jitter[1], u + jitter[2])) for s, (f, o, u) in PATHS[kind]]
    targets = reach(targets, side, path)
    if kind in TWO_HANDED:
        targets = reach(targets, 1 - side, [(s + (0.15 if kind == "talk" else 0.0), p) for s, p in path])
    return look(targets, [(start + 0.2, (0.0, 0.35))]) if kind in ("watch", "clap") else targets


TWO_HANDED = ("talk", "hips", "clap", "raise", "offer")
PATHS: dict[str, list[tuple[float, tuple[float, float, float]]]] = {
    "talk": [(0.45 * k, (0.34 + 0.05 * (-1) ** k, 0.2 + 0.06 * (k // 2 % 2), 0.2 + 0.06 * (k % 2))) for k in range(7)],
    "hips": [(0.0, (0.02, 0.24, 0.12)), (2.2, (0.02, 0.24, 0.12))],
    "clap": [(0.32 * k, (0.36, 0.045 + 0.11 * (k % 2), 0.33)) for k in range(9)],
    "scratch": [(0.3 * k, (0.16, 0.09 + 0.03 * (k % 2), 0.72)) for k in range(7)],
    "raise": [(0.0, (0.2, 0.3, 0.6)), (0.9, (0.12, 0.24, 1.02)), (1.9, (0.12, 0.24, 1.02)), (2.6, (0.25, 0.3, 0.6))],
    "watch": [(0.0, (0.3, 0.02, 0.34)), (1.6, (0.3, 0.02, 0.35))],
    "offer": [(0.0, (0.42, 0.16, 0.22)), (0.8, (0.5, 0.14, 0.25)), (2.0, (0.48, 0.16, 0.24))],
}  # seconds from the first at tempo 1


def both(targets: Targets, side: int, tip: tuple[float, float, float], rng: np.random.Generator) -> Targets:
    """Reach a tip with one hand, or half of the time with both."""
    path = [(1.5, tip), (2.7, (tip[0], tip[1] + 0.05, tip[2]))]
    targets = reach(targets, side, path, 1.2, 1.2)
    return targets if rng.random() < 0.5 else reach(targets, 1 - side, path, 1.2, 1.2)


def draw_shape(rng: np.random.Generator) -> Shape:
    """One of the shapes that people draw, at random, some times over."""
    turns = int(rng.integers(2, 4))
    kind = rng.integers(4)
    if kind == 0:  # circles
        return lambda s: np.column_stack([np.cos(2 * np.pi * turns * s), np.sin(2 * np.pi * turns * s)])
    if kind == 1:  # eights
        return lambda s: np.column_stack([np.sin(2 * np.pi * turns * s), np.sin(4 * np.pi * turns * s)])
    if kind == 2:  # a line of loops, as in handwriting
        loops = 2 * turns
        return lambda s: np.column_stack(
            [2 * s - 1 + 0.22 * np.sin(2 * np.pi * loops * s), 0.8 * np.cos(2 * np.pi * loops * s)]
        )
    corners = np.column_stack([np.linspace(-1, 1, 7), rng.uniform(0.4, 1.0, 7) * (-1) ** np.arange(7)])  # letters
    knots = np.linspace(0, 1, 7)
    return lambda s: np.column_stack([np.interp(s, knots, column) for column in corners.T])


def trace(shape: Shape, size: float, start: float) -> list[tuple[float, tuple[float, float, float]]]:
    """A path of the hand along a shape of half the width `size` [m] in front of the chest, at an even speed."""
    fine = np.linspace(0.0, 1.0, 400)
    points = size * shape(fine)
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    count = max(6, int(way[-1] / HAND_SPEED / 0.16))
    keys = np.interp(np.linspace(0, way[-1], count), way, fine)
    return [
        (start + k * way[-1] / HAND_SPEED / (count - 1), (0.42, 0.1 - float(a), 0.42 + float(u)))
        for k, (a, u) in enumerate(size * shape(keys))
    ]
