"""Whether a pose could stand: what of it sinks into the floor or the furniture, and whether it is in balance.

Distances are those of MuJoCo's collision detection, between the character and everything else. Nothing here changes a
pose.
"""

import copy
from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.spatial import ConvexHull

from qes_jax.model.world import World
from qes_jax.pose.editor.state import NQ

TOUCH = 0.02  # [m] nearer than this it carries weight, as contact labels have it (motion/contacts.py)
SUNK = 0.01  # [m] deeper than this is told: flesh and cushions give way by as much. Our choice
UPWARDS = 0.5  # least upward part of a contact's normal that carries weight


@dataclass(frozen=True, eq=False)
class Verdict:
    """What was found in one pose."""

    depth: np.ndarray  # (L,) [m] by which each link is inside something at its deepest point
    into: tuple[str, ...]  # L, the object that it is deepest in, "" where none
    com: np.ndarray  # (3,) centre of mass [m]
    support: np.ndarray  # (C, 2) corners of what carries the pose, counterclockwise [m]; none: in the air
    margin: float  # [m] of the centre of mass inside the support, negative outside; nan in the air

    def sunk(self) -> np.ndarray:
        """(L,) bool: the links that are too deep in something."""
        return self.depth > SUNK


class Checker:
    """Judges poses of a world's character among its pieces, which rest."""

    def __init__(self, world: World):
        """Tables once; `check` then takes a tenth of a millisecond."""
        self._model, self._layout = copy.deepcopy(world.plain), world.layout
        self._model.geom_margin[:] = TOUCH  # contacts are listed a little before they happen
        self._model.body_margin[:] = TOUCH
        self._data = mujoco.MjData(self._model)
        self._data.qpos[:] = world.layout.home_qpos
        self._link = np.full(self._model.nbody, -1)
        self._link[world.layout.link_ids + 1] = np.arange(len(world.layout.links))
        self._object = np.append([0], world.layout.body_object)

    def check(self, qpos: np.ndarray) -> Verdict:
        """Judge qpos (39,)."""
        m, data, names = self._model, self._data, self._layout.objects
        data.qpos[:NQ] = qpos
        mujoco.mj_kinematics(m, data)
        mujoco.mj_comPos(m, data)
        mujoco.mj_collision(m, data)
        depth, into, points = np.zeros(len(self._layout.links)), [""] * len(self._layout.links), []
        for contact in data.contact[: data.ncon]:
            one, two = m.geom_bodyid[contact.geom]
            link, other = (self._link[one], two) if self._link[one] >= 0 else (self._link[two], one)
            if link < 0 or self._link[other] >= 0:
                continue
            if -contact.dist > depth[link]:
                depth[link], into[link] = -contact.dist, names[self._object[other]]
            if contact.dist < TOUCH and abs(contact.frame[2]) > UPWARDS:
                points.append(contact.pos[:2].copy())
        com = data.subtree_com[1].copy()
        support, margin = support_of(np.array(points).reshape(-1, 2), com[:2])
        return Verdict(depth, tuple(into), com, support, margin)

    def above_floor(self, qpos: np.ndarray) -> float:
        """[m] from the floor to the lowest point of qpos (39,); negative where it sinks into it."""
        m, data = self._model, self._data
        data.qpos[:NQ] = qpos
        mujoco.mj_kinematics(m, data)
        own = (self._link[m.geom_bodyid] >= 0) & (m.geom_contype > 0)
        half = np.where(m.geom_type == mujoco.mjtGeom.mjGEOM_CAPSULE, m.geom_size[:, 1], 0.0)
        low = data.geom_xpos[:, 2] - half * np.abs(data.geom_xmat[:, 8]) - m.geom_size[:, 0]
        return float(low[own].min())


def support_of(points: np.ndarray, com: np.ndarray) -> tuple[np.ndarray, float]:
    """Corners of the hull of points (C, 2), and how far com (2,) is inside: distance [m] to the nearest edge's line."""
    if len(points) == 0:
        return points, float("nan")
    patch = 0.001 * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])  # gives two points in a line an area
    hull = ConvexHull((points[:, None] + patch).reshape(-1, 2))
    margin = -(hull.equations[:, :2] @ com + hull.equations[:, 2]).max()
    return hull.points[hull.vertices], float(margin)


def in_words(verdict: Verdict, links: tuple[str, ...]) -> str:
    """One line: the deepest link, and the balance."""
    deepest = int(np.argmax(verdict.depth))
    words = "touches nothing too deeply"
    if verdict.sunk()[deepest]:
        others = int(verdict.sunk().sum()) - 1
        more = f", {others} more" if others else ""
        name, where = links[deepest].replace("_", " "), verdict.into[deepest]
        words = f"{name} {100 * verdict.depth[deepest]:.1f} cm in {where}{more}"
    if np.isnan(verdict.margin):
        return f"{words}; in the air"
    side = "inside" if verdict.margin >= 0 else "outside"
    return f"{words}; balance {100 * abs(verdict.margin):.0f} cm {side} the support"
