"""Where the character is near an object, at each frame: distances, directions and points, for fitting and for reports.

MuJoCo's C code answers here: unlike MJX it tells distances between geoms that do not overlap, without compiling.
"""

import copy
from dataclasses import dataclass

import mujoco
import numpy as np

from qes_jax.motion.rig import Rig


@dataclass(frozen=True)
class Touches:
    """Up to C pairs a frame of a geom of the character and one of an object. Empty places have body -1 and dist inf."""

    dist: np.ndarray  # (T, C) [m], negative where they overlap
    normal: np.ndarray  # (T, C, 3) away from the object
    point: np.ndarray  # (T, C, 3)
    geom: np.ndarray  # (T, C) of the character, -1 for none
    body: np.ndarray  # (T, C) that carries it
    object: np.ndarray  # (T, C) index among the layout's objects

    def least(self, n_geoms: int, usable: np.ndarray) -> np.ndarray:
        """(T, G) least distance of each geom over its usable (T, C) touches, inf where there is none."""
        least = np.full((len(self.dist), n_geoms + 1), np.inf)  # the last column takes the empty places
        frames = np.broadcast_to(np.arange(len(self.dist))[:, None], self.dist.shape)
        np.minimum.at(least, (frames, self.geom), np.where(usable, self.dist, np.inf))
        return least[:, :-1]

    def depth(self, floor: bool) -> float:
        """Deepest overlap [m] with the floor, or with any other object."""
        mine = (self.geom >= 0) & ((self.object == 0) == floor)
        return float(max(0.0, -self.dist[mine].min(initial=0.0)))


class Toucher:
    """Finds touches within `reach` [m]."""

    def __init__(self, rig: Rig, reach: float) -> None:
        self.model = copy.copy(rig.model)
        self.mine = self.model.geom_contype == 1
        self.model.geom_margin[self.mine] = reach
        self.model.body_margin[self.model.geom_bodyid[self.mine]] = reach  # the broad phase reads this one
        owner = np.concatenate([[0], rig.world.layout.body_object])
        self.object = owner[self.model.geom_bodyid]
        self.reach = reach

    def __call__(self, qpos: np.ndarray) -> Touches:
        """Touches of qpos (T, nq), the pieces where the world has them."""
        data, frames = mujoco.MjData(self.model), []
        for q in qpos:
            data.qpos[:] = q
            mujoco.mj_kinematics(self.model, data)
            mujoco.mj_collision(self.model, data)
            contact = data.contact
            frames.append((contact.dist.copy(), contact.frame[:, :3].copy(), contact.pos.copy(), contact.geom.copy()))
        return self._padded(frames)

    def _padded(self, frames: list[tuple[np.ndarray, ...]]) -> Touches:
        size = (len(frames), max(1, *(len(f[0]) for f in frames)))
        dist, normal, point = np.full(size, np.inf), np.zeros((*size, 3)), np.zeros((*size, 3))
        geom, other = np.full(size, -1), np.zeros(size, int)
        for t, (d, n, p, pair) in enumerate(frames):
            k = len(d)
            first = self.mine[pair[:, 0]]
            dist[t, :k], point[t, :k] = d, p
            normal[t, :k] = np.where(first[:, None], -n, n)
            geom[t, :k], other[t, :k] = np.where(first, *pair.T), np.where(first, *pair.T[::-1])
        body = np.where(geom >= 0, self.model.geom_bodyid[geom], -1)
        return Touches(dist, normal, point, geom, body, self.object[other])
