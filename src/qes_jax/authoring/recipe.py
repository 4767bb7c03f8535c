"""A recipe: how to make one clip, in which scene, and whether training may see it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from qes_jax.authoring.body import Body
from qes_jax.authoring.targets import Targets
from qes_jax.model.scene import Scene

FLAT = Scene("flat")


@dataclass(frozen=True)
class Recipe:
    """How to make one clip."""

    tell: Callable[[Body, np.random.Generator], Targets]
    scene: Scene = FLAT
    held_out: bool = False
    seed: int | tuple[int, ...] = 0
    solid: bool = False  # inverse kinematics keeps the body out of floor and furniture
