"""A clip of a body that stands still in the A-pose, and the task of following it under PD targets."""

import dataclasses
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.env.config import EnvConfig
from qes_jax.env.state import EnvParams
from qes_jax.env.task import Task
from qes_jax.evaluate.likeness import Likeness, Motion
from qes_jax.model.character import CharacterConfig
from qes_jax.model.engines import make_engine
from qes_jax.model.scene import get_scene
from qes_jax.model.world import build_world
from qes_jax.motion.build import make_clip
from qes_jax.motion.clip import Clip
from qes_jax.motion.library import pack, world_for

CONFIG = EnvConfig()


@cache
def standing(seconds: float = 2.0, scene: str = "flat") -> Clip:
    qpos = build_world(CharacterConfig(), get_scene(scene).pieces).layout.home_qpos
    frames = round(36 * seconds) + 1
    return make_clip("standing", np.tile(qpos, (frames, 1)), get_scene(scene), 1.75, "made for tests", "none")


def shifted(clip: Clip, name: str, seconds: float, by: float) -> Clip:
    """The clip, but from `seconds` on the user is elsewhere at once, `by` metres along X."""
    sensor_pos = clip.sensor_pos.copy()
    sensor_pos[round(36 * seconds) :, :, 0] += by
    return dataclasses.replace(clip, name=name, sensor_pos=sensor_pos)


@cache
def task_for(scene: str = "flat") -> Task:
    world = world_for([standing(scene=scene)], "pd", CONFIG.sim_dt)
    return Task(CONFIG, make_engine(world, "mujoco"))


def params_for(*clips: Clip) -> EnvParams:
    return task_for().params(pack(clips, task_for().engine.world))


def hold(policy: jax.Array, obs: jax.Array) -> jax.Array:
    """Keeps the mean pose, which is the clip's only one; `policy` () is added to every target."""
    return policy * jnp.ones(32, obs.dtype)


def no_likeness(like: np.ndarray) -> Likeness:
    """Of an array's shape, nothing known."""
    nothing = Motion(*[np.full(like.shape, np.nan, np.float16)] * 5)
    return Likeness(nothing, nothing, nothing.slip)
