"""Mirror images of observations and actions about the heading frame's XZ plane, for learners that use the symmetry."""

from typing import NamedTuple

import jax
import numpy as np

from qes_jax.env.config import EnvConfig
from qes_jax.env.observe import MOVING
from qes_jax.model.world import World
from qes_jax.motion.mirror import POINT, TURN, mirror_maps

SIX_D = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])  # R -> M R M on its first two columns


class Symmetry(NamedTuple):
    """How to mirror each vector: `apply(symmetry.policy, obs.policy)`."""

    policy: "Block"
    critic: "Block"
    action: "Block"


def apply(block: "Block", x: jax.Array) -> jax.Array:
    """The mirror image of x (..., n): sign * x[..., index]."""
    index, sign = block
    return x[..., index] * sign


def symmetry(config: EnvConfig, world: World) -> Symmetry:
    """Index and sign of each entry, in the order in which observe.py lays them out."""
    maps = mirror_maps(world)
    hinge = (maps.hinge_index, maps.hinge_sign)
    links = maps.link_index
    sensors = maps.sensor_index if config.controllers else np.zeros(1, int)
    this_self = [
        _rows(links, POINT), _rows(links, SIX_D), _rows(links, POINT), _rows(np.zeros(1, int), TURN),
        hinge, hinge, hinge,
    ]  # fmt: skip
    at_time = [_rows(sensors, POINT), _rows(sensors, SIX_D), _rows(sensors, POINT)]
    user = at_time * (1 if config.future == 0 else 2) + [_rows(sensors, POINT)]
    policy = this_self + user + _scene_blocks(config, links)
    flat = np.ones(1)
    reference = [
        _rows(links, POINT), _rows(links, POINT), hinge, _rows(np.zeros(1, int), SIX_D),
        _rows(links, flat), _rows(links, flat), _rows(np.zeros(1, int), flat),
    ]  # fmt: skip
    return Symmetry(_join(policy), _join(policy + reference), hinge)


Block = tuple[np.ndarray, np.ndarray]  # index and sign within the block


def _scene_blocks(config: EnvConfig, links: np.ndarray) -> list[Block]:
    scene = config.scene_obs
    if scene.kind == "none":
        return []
    if scene.kind == "heightmap":
        grid = np.arange(scene.n_x * scene.n_y).reshape(scene.n_x, scene.n_y)[:, ::-1].ravel()
        surface = (grid, np.ones(len(grid)))
    else:
        surface = _rows(links, POINT)
    each = np.arange(MOVING)
    return [surface, *(_rows(each, sign) for sign in (POINT, SIX_D, POINT, TURN, np.ones(1)))]


def _rows(order: np.ndarray, sign: np.ndarray) -> Block:
    """A block of len(order) rows of len(sign) numbers: rows change places, numbers change sign."""
    width = len(sign)
    index = (np.asarray(order)[:, None] * width + np.arange(width)).ravel().astype(int)
    return index, np.tile(sign, len(order))


def _join(blocks: list[Block]) -> Block:
    starts = np.cumsum([0] + [len(index) for index, _ in blocks])
    index = np.concatenate([index + start for (index, _), start in zip(blocks, starts[:-1], strict=True)])
    return index, np.concatenate([sign for _, sign in blocks]).astype(np.float32)
