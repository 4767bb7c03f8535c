"""The built-in clips by name."""

from collections.abc import Callable

import numpy as np

from qes_jax.authoring.body import Body, make_body
from qes_jax.authoring.gait import follow, guide_stand, walk_guide
from qes_jax.authoring.ik import solve
from qes_jax.authoring.targets import Targets, join, standing
from qes_jax.authoring.timeline import n_frames
from qes_jax.model.scene import Scene
from qes_jax.motion.build import make_clip
from qes_jax.motion.clip import Clip

LICENCE = "Apache-2.0"
SOURCE = "made by qes_jax.authoring"
HEIGHT = 1.75

Recipe = Callable[[Body], tuple[Targets, Scene]]


def _walk_loop(body: Body) -> tuple[Targets, Scene]:
    points = [(3.0, 0.0), (4.6, 1.2), (3.4, 2.6), (1.0, 2.4), (-1.0, 1.0), (-3.0, -0.6), (-5.0, 0.2), (-4.6, 2.2), (-2.4, 2.4)]
    points += [(-0.4, 1.0), (1.0, -1.0), (3.0, -1.8), (4.4, -0.4), (3.0, 0.9), (0.6, 0.2)]
    stand = guide_stand(np.zeros(3))
    parts = [standing(body, stand, n_frames(0.5))]
    walk, stand = follow(body, stand, walk_guide(np.zeros(3), points, 1.1))
    return join([*parts, walk, standing(body, stand, n_frames(0.5))]), Scene("flat")


RECIPES: dict[str, Recipe] = {"walk": _walk_loop}


def build(name: str) -> Clip:
    """One built-in clip. Raises KeyError that lists the valid names."""
    if name not in RECIPES:
        raise KeyError(f"unknown clip {name!r}: expected one of {sorted(RECIPES)}")
    body = make_body(HEIGHT)
    targets, scene = RECIPES[name](body)
    return make_clip(name, solve(body, targets), scene, HEIGHT, SOURCE, LICENCE)
