"""How good a motion is: sliding feet, sinking bodies, jerky joints, lost balance. Tests bound these numbers."""

import copy
from dataclasses import asdict, dataclass

import mujoco
import numpy as np
from scipy.ndimage import label
from scipy.spatial import ConvexHull

from qes_jax.authoring.ground import push
from qes_jax.model.world import World
from qes_jax.motion.build import clip_world
from qes_jax.motion.clip import Clip

TOUCH = 0.004  # [m] a corner of the foot this near to the ground stands on it
BEYOND = 0.02  # [m] that the zero moment point may lie outside the support: soft soles, and corners not quite down
SLOW = 0.12  # [m/s] slower than this the centre of mass must be over the support


@dataclass(frozen=True)
class Quality:
    """Lengths in [cm], speeds [rad/s], accelerations [rad/s^2]; the worst over the whole motion."""

    foot_slide: float  # farthest that a corner of a foot moves while it stands
    floor_depth: float  # deepest below the floor
    object_depth: float  # deepest inside an object
    joint_speed: float
    joint_acceleration: float
    balance: float  # least margin of the centre of mass inside the support while it is slow, negative outside
    push_least: float  # least and greatest upward force of the ground that the motion needs, in body weights
    push_most: float
    push_outside: float  # frames [%] on the floor alone in which it must act more than 2 cm outside what touches it

    def __str__(self) -> str:
        return "  ".join(f"{k} {v:.2f}" for k, v in asdict(self).items())


def judge(clip: Clip) -> Quality:
    """Judge a clip in its scene."""
    return measure(clip_world(clip), clip.qpos.astype(float), clip.fps)


def measure(world: World, qpos: np.ndarray, fps: float) -> Quality:
    """Judge qpos (T, nq) of a character in its world."""
    m, layout = copy.deepcopy(world.plain), world.layout
    m.geom_margin[:], m.body_margin[:] = TOUCH, TOUCH  # contacts are then listed a little before they happen
    data = mujoco.MjData(m)
    corners = [
        g for g in range(m.ngeom) if "foot" in m.body(m.geom_bodyid[g]).name or "toes" in m.body(m.geom_bodyid[g]).name
    ]
    corners = [g for g in corners if m.geom_contype[g]]
    near, places, depths, com, margins, supports = [], [], [], [], [], []
    for q in qpos:
        data.qpos[:] = q
        mujoco.mj_fwdPosition(m, data)
        points, alone, floor, objects = _touches(m, data)
        depths.append((floor, objects))
        places.append(data.geom_xpos[corners])
        near.append([_gap(m, data, g) < TOUCH for g in corners])
        com.append(data.subtree_com[1].copy())
        margins.append(_margin(data.subtree_com[1, :2], points))
        supports.append(points if alone else None)
    force, place = push(world, qpos, fps=fps)
    outside = [_margin(p, s) < -BEYOND for p, s in zip(place, supports, strict=True) if s is not None]
    hinges = qpos[:, layout.joint_qpos]
    speed = np.linalg.norm(np.gradient(np.array(com)[:, :2], 1 / fps, axis=0), axis=1)
    slow = np.array(margins)[speed < SLOW]
    return Quality(
        foot_slide=100 * _slide(np.array(near), np.array(places)),
        floor_depth=100 * max(d[0] for d in depths),
        object_depth=100 * max(d[1] for d in depths),
        joint_speed=float(np.abs(np.diff(hinges, axis=0)).max() * fps),
        joint_acceleration=float(np.abs(np.diff(hinges, 2, axis=0)).max() * fps**2),
        balance=100 * float(slow.min()) if len(slow) else np.inf,
        push_least=float(force.min()),
        push_most=float(force.max()),
        push_outside=100 * float(np.mean(outside)) if outside else 0.0,
    )


def _touches(m: mujoco.MjModel, data: mujoco.MjData) -> tuple[np.ndarray, bool, float, float]:
    """Points of contact (C, 2), whether all are on the floor, deepest below it, deepest inside an object [m]."""
    floor = m.geom("floor").id
    contacts = [c for c in data.contact[: data.ncon] if c.dist < TOUCH]
    points = np.array([c.pos[:2] for c in contacts]).reshape(-1, 2)
    below = max((-c.dist for c in contacts if floor in c.geom.tolist()), default=0.0)
    inside = max((-c.dist for c in contacts if floor not in c.geom.tolist()), default=0.0)
    alone = all(floor in c.geom.tolist() for c in contacts)
    return points, alone, max(0.0, float(below)), max(0.0, float(inside))


def _gap(m: mujoco.MjModel, data: mujoco.MjData, geom: int) -> float:
    """Distance [m] of a corner from the floor and the objects."""
    others = [g for g in range(m.ngeom) if m.geom_contype[g] == 2 and m.geom(g).name != "floor"]
    gaps = [mujoco.mj_geomDistance(m, data, geom, g, 0.1, None) for g in others]
    return min([data.geom_xpos[geom, 2] - m.geom_size[geom, 0], *gaps])


def _slide(near: np.ndarray, places: np.ndarray) -> float:
    """Farthest horizontal way from where it first touched, of any corner in any of its phases of contact [m]."""
    worst = 0.0
    for corner in range(near.shape[1]):
        # The checker sees the count alone, which SciPy returns where it is given an `output`.
        phases, count = label(near[:, corner])  # pyright: ignore[reportGeneralTypeIssues]
        for phase in range(1, count + 1):
            spots = places[phases == phase, corner, :2]
            worst = max(worst, float(np.linalg.norm(spots - spots[0], axis=1).max()))
    return worst


def _margin(point: np.ndarray, support: np.ndarray) -> float:
    """Distance [m] of a point (2,) inside the hull of the support (C, 2), negative outside, -1 without support."""
    if len(support) == 0:
        return -1.0
    patch = 0.001 * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])  # gives two contacts in a line an area
    equations = ConvexHull((support[:, None] + patch).reshape(-1, 2)).equations
    return float(-(equations[:, :2] @ point + equations[:, 2]).max())
