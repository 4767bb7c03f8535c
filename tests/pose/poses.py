"""Poses for tests: random ones within the hinges' ranges, anywhere in the world."""

import numpy as np

from qes_jax.model.world import build_world
from qes_jax.pose.figure import make_figure

WORLD = build_world()
FIGURE = make_figure(WORLD)


def random_poses(count: int, seed: int = 0, bend: float = 1.0) -> np.ndarray:
    """(count, 39) f32; `bend` is the share of the ranges that is used, around their middles."""
    rng = np.random.default_rng(seed)
    quat = rng.normal(size=(count, 4))
    low, high = FIGURE.range.T
    hinges = 0.5 * (low + high) + bend * rng.uniform(-0.5, 0.5, (count, len(low))) * (high - low)
    pos = rng.normal(size=(count, 3))
    return np.concatenate([pos, quat / np.linalg.norm(quat, axis=1, keepdims=True), hinges], axis=1).astype(np.float32)
