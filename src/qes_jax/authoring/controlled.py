"""Clips that a controller makes on the physics engine, not inverse kinematics: from parameters to a whole clip.

They belong to no list of training clips: physics of another version may move them in the last digits.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from qes_jax.authoring.recipe import FLAT
from qes_jax.control.clips import balance_clip, jump_clip, walk_clip
from qes_jax.control.gait import NORMAL, STYLES, WalkParameters
from qes_jax.control.jump import VARIANTS, JumpConfig
from qes_jax.motion.build import make_clip
from qes_jax.motion.clip import FPS, Clip

HEIGHT = 1.75  # [m] of the character that the controllers move
LICENCE, SOURCE = "Apache-2.0", "made by qes_jax.control"


def walk(parameters: WalkParameters = NORMAL, duration: float = 10.0, name: str = "controlled_walk") -> Clip:
    """A walk from standing, `duration` [s]. Raises RuntimeError where the body falls."""
    return _clip(name, walk_clip(parameters, duration))


def balance(duration: float = 5.0, name: str = "controlled_balance") -> Clip:
    """Standing for `duration` [s]."""
    return _clip(name, balance_clip(duration))


def jump(config: JumpConfig = VARIANTS["up"], duration: float = 3.5, name: str = "controlled_jump") -> Clip:
    """One standing jump from standing to standing. Raises RuntimeError where the body falls."""
    return _clip(name, jump_clip(config, duration))


def _clip(name: str, qpos: np.ndarray) -> Clip:
    return make_clip(name, qpos, FLAT, HEIGHT, SOURCE, LICENCE, FPS)


@dataclass(frozen=True)
class Maker:
    """How to make one named clip, and how long it is [s]."""

    make: Callable[..., Clip]
    choice: tuple[WalkParameters | JumpConfig, ...]
    seconds: float

    def __call__(self, name: str) -> Clip:
        return self.make(*self.choice, duration=self.seconds, name=name)


CONTROLLED: dict[str, Maker] = {
    **{f"controlled_walk_{name}": Maker(walk, (parameters,), 10.0) for name, parameters in STYLES.items()},
    "controlled_balance": Maker(balance, (), 5.0),
    **{f"controlled_jump_{name}": Maker(jump, (config,), 3.5) for name, config in VARIANTS.items()},
}
