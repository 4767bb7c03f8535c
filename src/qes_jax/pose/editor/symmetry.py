"""Left and right of one pose: reflections about the upright plane through the pelvis, where the pelvis faces.

As in `motion.mirror`, a point goes to M p, a rotation (w, x, y, z) to (w, -x, y, -z), seen from the plane's frame.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.model.world import World
from qes_jax.motion.mirror import POINT, QUAT, mirror_maps, other_side
from qes_jax.pose.targets import Target


class Mirror(NamedTuple):
    """Hinges of the mirror image: `sign * hinges[index]`, in the order of qpos[7:39]."""

    index: np.ndarray  # (32,)
    sign: np.ndarray  # (32,)
    left: np.ndarray  # (32,) bool, hinges of the left side
    right: np.ndarray  # (32,)


def make_mirror(world: World) -> Mirror:
    """The tables of a world's character."""
    maps, names = mirror_maps(world), world.layout.joints
    return Mirror(
        maps.hinge_index, maps.hinge_sign,
        np.array([n.startswith("left_") for n in names]), np.array([n.startswith("right_") for n in names]),
    )  # fmt: skip


def yaw_of(quat: np.ndarray) -> Rotation:
    """The turn about Z by which a frame with this quaternion faces; of one that points up or down, where Y decides."""
    matrix = Rotation.from_quat(quat, scalar_first=True).as_matrix()
    x, y = matrix[:2, 0]
    if np.hypot(x, y) < 0.2:
        x, y = matrix[1, 1], -matrix[0, 1]
    return Rotation.from_euler("z", np.arctan2(y, x))


def flip(mirror: Mirror, qpos: np.ndarray, plane: np.ndarray | None = None) -> np.ndarray:
    """The mirror image of qpos (39,) in the plane of the pose `plane`, by default its own: then its root stays."""
    plane = qpos if plane is None else plane
    hinges = mirror.sign * qpos[7:][mirror.index]
    return np.concatenate([flip_point(plane, qpos[:3]), flip_quat(plane, qpos[3:7]), hinges])


def copy_side(mirror: Mirror, qpos: np.ndarray, side: str) -> np.ndarray:
    """qpos (39,) with the arm and leg of `side` on both sides. Raises ValueError for another side."""
    if side not in ("left", "right"):
        raise ValueError(f"side is {side!r}: expected left or right")
    image = flip(mirror, qpos)
    other = mirror.right if side == "left" else mirror.left
    return np.concatenate([qpos[:7], np.where(other, image[7:], qpos[7:])])


def symmetric(mirror: Mirror, qpos: np.ndarray, plane: np.ndarray | None = None) -> np.ndarray:
    """The mean of qpos (39,) and its mirror image in a pose's plane (see `flip`), which is its own mirror image."""
    image = flip(mirror, qpos, plane)
    both = Rotation.from_quat(np.stack([qpos[3:7], image[3:7]]), scalar_first=True)
    mean = 0.5 * (qpos + image)
    return np.concatenate([mean[:3], both.mean().as_quat(scalar_first=True), mean[7:]])


def flip_point(qpos: np.ndarray, point: np.ndarray) -> np.ndarray:
    """A point (3,) [m] seen in the mirror of a pose."""
    yaw, here = yaw_of(qpos[3:7]), np.array([qpos[0], qpos[1], 0.0])
    return yaw.apply(POINT * yaw.inv().apply(np.asarray(point) - here)) + here


def flip_quat(qpos: np.ndarray, quat: np.ndarray) -> np.ndarray:
    """A rotation (4,) seen in the mirror of a pose."""
    yaw = yaw_of(qpos[3:7])
    own = (yaw.inv() * Rotation.from_quat(quat, scalar_first=True)).as_quat(scalar_first=True)
    return (yaw * Rotation.from_quat(QUAT * own, scalar_first=True)).as_quat(scalar_first=True)


def flip_target(qpos: np.ndarray, target: Target) -> Target:
    """The other side's target. One of a joint in the middle is moved into the plane."""
    other = other_side(target.joint)
    middle = other == target.joint
    changed: dict = {"joint": other}
    for kind in ("position", "look_at"):
        if (point := getattr(target, kind)) is not None:
            image = flip_point(qpos, np.asarray(point))
            changed[kind] = tuple(0.5 * (image + np.asarray(point)) if middle else image)
    if target.rotation is not None:
        image = flip_quat(qpos, np.asarray(target.rotation))
        both = Rotation.from_quat(np.stack([image, target.rotation]), scalar_first=True)
        changed["rotation"] = tuple(both.mean().as_quat(scalar_first=True) if middle else image)
    return replace(target, **changed)
