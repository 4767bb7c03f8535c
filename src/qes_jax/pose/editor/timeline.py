"""Key poses at times, and the motion through them."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation

from qes_jax.model.scene import Scene
from qes_jax.model.world import World
from qes_jax.motion.build import make_clip
from qes_jax.motion.clip import FPS, Clip
from qes_jax.pose.edit import Solver
from qes_jax.pose.editor.state import NQ
from qes_jax.pose.skeleton import numbers
from qes_jax.pose.targets import POSITION, ROTATION, Targets

BLOCK = 64  # frames that are solved for at once, so that it compiles once for motions of any length
GAP = 0.1  # [s] that key poses are at least apart
LONGEST = 120.0  # [s]
STANDS = ("left_ankle", "right_ankle", "left_toes", "right_toes", "left_wrist", "right_wrist")
STILL, TURNED = 0.02, np.radians(8.0)  # a hand or foot that moves and turns less from key to key stays in between


@dataclass(frozen=True, eq=False)
class Key:
    """A pose at a time."""

    time: float  # [s]
    qpos: np.ndarray  # (39,)


Timeline = tuple[Key, ...]  # by time


def with_key(keys: Timeline, key: Key) -> Timeline:
    """The time line with a key, in place of one that is nearer than GAP. Raises ValueError at a bad time."""
    if not (np.isfinite(key.time) and 0 <= key.time <= LONGEST):
        raise ValueError(f"time is {key.time} s: expected 0 to {LONGEST:g} s")
    others = [k for k in keys if abs(k.time - key.time) >= GAP - 1e-9]
    return tuple(sorted([*others, key], key=lambda k: k.time))


def without_key(keys: Timeline, number: int) -> Timeline:
    """The time line without one of its keys."""
    return keys[:number] + keys[number + 1 :]


def moved_key(keys: Timeline, number: int, time: float) -> Timeline:
    """The time line with one key at another time."""
    return with_key(without_key(keys, number), Key(time, keys[number].qpos))


def tangents(times: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Slopes (K, D) at K times of data that changes by `steps` (K - 1, D).

    Zero at both ends and where the direction changes, else the weighted harmonic mean of both sides (Fritsch & Butland
    1984): a cubic with them does not overshoot, so hinges stay within their ranges.
    """
    h = np.diff(times)[:, None]
    slope = steps / h
    out = np.zeros((len(times), steps.shape[1]))
    before, after, w1, w2 = slope[:-1], slope[1:], 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    same = before * after > 0
    divided = w1 / np.where(same, before, 1.0) + w2 / np.where(same, after, 1.0)
    out[1:-1] = np.where(same, (w1 + w2) / divided, 0.0)
    return out


def interpolate(keys: Timeline, fps: float = FPS) -> np.ndarray:
    """qpos (T, 39) from the first key to the last. Raises ValueError for fewer than two keys."""
    if len(keys) < 2:
        raise ValueError(f"a motion needs at least two key poses, there are {len(keys)}")
    knots, qpos = np.array([k.time for k in keys]), np.stack([k.qpos for k in keys])
    times = knots[0] + np.arange(int(np.floor((knots[-1] - knots[0]) * fps + 1e-6)) + 1) / fps
    flat = np.delete(qpos, np.s_[3:7], axis=1)
    flat = CubicHermiteSpline(knots, flat, tangents(knots, np.diff(flat, axis=0)))(times)
    return np.concatenate([flat[:, :3], _turns(knots, qpos[:, 3:7], times), flat[:, 3:]], axis=1)


def _turns(knots: np.ndarray, quats: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Quaternions (T, 4): cumulative cubic Bezier curves of rotations (Kim, Kim & Shin 1995); of two, an eased slerp.

    The control rotations a third of the way follow from the angular velocities at the keys, made as other slopes are.
    """
    at = _rotation(quats)
    steps = (at[1:] * at[:-1].inv()).as_rotvec()  # in world axes
    rate = tangents(knots, steps)
    part = _parts(knots, times)
    h = np.diff(knots)[part]
    u = ((times - knots[part]) / h)[:, None]
    first, last = (rate[part + i] * h[:, None] / 3 for i in (0, 1))
    start, end = _rotation(quats[part]), _rotation(quats[part + 1])
    middle = (_turn(-last) * end * start.inv() * _turn(-first)).as_rotvec()
    whole = _turn(last * u**3) * _turn(middle * (3 * u**2 - 2 * u**3)) * _turn(first * (1 - (1 - u) ** 3)) * start
    return whole.as_quat(scalar_first=True)


def _rotation(quats: np.ndarray) -> Rotation:
    return Rotation.from_quat(quats, scalar_first=True)


def _turn(vectors: np.ndarray) -> Rotation:
    return Rotation.from_rotvec(vectors)


def _parts(knots: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(T,) between which knots each time lies."""
    return np.clip(np.searchsorted(knots, times, side="right") - 1, 0, len(knots) - 2)


def planted(keys: Timeline, qpos: np.ndarray, solver: Solver, fps: float = FPS) -> np.ndarray:
    """qpos (T, 39) of `interpolate`, with hands and feet held that stay from one key to the next.

    The solver is to be one without a trained prior, which leaves be what already meets its targets.
    """
    targets = standing(keys, len(qpos), solver, fps)
    out = []
    for start in range(0, len(qpos), BLOCK):
        rows = np.minimum(np.arange(start, start + BLOCK), len(qpos) - 1)
        some = Targets(*(np.asarray(x)[rows] for x in targets))
        out.append(np.asarray(solver.solve_many(jnp.asarray(qpos[rows], jnp.float32), some), np.float64))
    return np.concatenate(out)[: len(qpos)]


def standing(keys: Timeline, frames: int, solver: Solver, fps: float) -> Targets:
    """For each of T frames targets of all STANDS, (T, S, ...): of weight 1 where one stays, else 0."""
    rows, knots = numbers(STANDS), np.array([k.time for k in keys])
    times = knots[0] + np.arange(frames) / fps
    part = _parts(knots, times)
    u = ((times - knots[part]) / np.diff(knots)[part])[:, None, None]
    places = [solver.points(jnp.asarray(k.qpos)) for k in keys]
    points, quats = (np.stack(x)[:, rows] for x in zip(*places, strict=True))
    near = np.linalg.norm(np.diff(points, axis=0), axis=-1) < STILL
    alike = 2 * np.arccos(np.clip(np.abs(np.sum(quats[:-1] * quats[1:], axis=-1)), 0, 1)) < TURNED
    place = points[part] + u * (points[part + 1] - points[part])
    turn = quats[part] + u * (_along(quats) - quats[:-1])[part]
    turn /= np.linalg.norm(turn, axis=-1, keepdims=True)
    held = np.concatenate([near[part], (near & alike)[part]], axis=1).astype(np.float32)
    value = np.concatenate([np.pad(place, ((0, 0), (0, 0), (0, 1))), turn], axis=1).astype(np.float32)
    kind = np.repeat([POSITION, ROTATION], len(rows)).astype(np.int32)
    joint = np.tile(rows, 2).astype(np.int32)
    joint, kind = (np.broadcast_to(x, held.shape) for x in (joint, kind))
    return Targets(joint, kind, value, held, np.zeros_like(held))


def _along(quats: np.ndarray) -> np.ndarray:
    """The quaternion after each (K, S, 4) but the last, on the same half of the sphere."""
    sign = np.where(np.sum(quats[:-1] * quats[1:], axis=-1, keepdims=True) < 0, -1.0, 1.0)
    return quats[1:] * sign


def timeline_clip(keys: Timeline, qpos: np.ndarray, name: str, scene: Scene, world: World, fps: float = FPS) -> Clip:
    """A clip of qpos (T, 39) in a scene whose own joints rest."""
    rest = np.tile(world.layout.home_qpos[NQ:], (len(qpos), 1))
    source = f"authored in the pose editor from {len(keys)} key poses"
    whole = np.concatenate([qpos, rest], axis=1)
    return make_clip(name, whole, scene, world.character.height, source, "the author's own", fps)
