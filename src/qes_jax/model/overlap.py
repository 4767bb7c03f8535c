"""Which pieces of a scene stand in each other: allowed, for pieces do not touch one another, but mostly a mistake."""

from itertools import combinations

import mujoco
import numpy as np

from qes_jax.model.scene import Scene
from qes_jax.model.world import build_world

ALLOWED = 0.02  # [m] deep, as a cushion pressed against a wall


def overlaps(scene: Scene) -> list[tuple[str, str, float]]:
    """Names of any two pieces that overlap by more than ALLOWED, and how deep [m], where the scene has them stand."""
    world = build_world(pieces=scene.pieces)
    m, data = world.plain, mujoco.MjData(world.plain)
    data.qpos[:] = world.layout.home_qpos
    mujoco.mj_forward(m, data)
    geoms = {piece.name: _solid(m, piece.name) for piece in scene.pieces}
    found = []
    for a, b in combinations(geoms, 2):
        gaps = [mujoco.mj_geomDistance(m, data, i, j, 0.0, None) for i in geoms[a] for j in geoms[b]]
        if min(gaps, default=0.0) < -ALLOWED:
            found.append((a, b, -min(gaps)))
    return found


def _solid(m: mujoco.MjModel, piece: str) -> list[int]:
    """Ids of a piece's geoms that can be touched."""
    root = m.body(piece).id
    return np.flatnonzero((m.body_rootid[m.geom_bodyid] == root) & (m.geom_contype != 0)).tolist()
