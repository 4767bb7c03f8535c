"""What a pose shall be brought to: any number of targets for joints, in a pytree of fixed shape."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jax.typing import ArrayLike

from qes_jax.pose.skeleton import JOINTS, joint_number

POSITION, ROTATION, LOOK_AT = 0, 1, 2
KINDS = ("position", "rotation", "look_at")


class Targets(NamedTuple):
    """S slots, one target each; further, leading axes are poses. NumPy or JAX arrays."""

    joint: ArrayLike  # (S,) int32 row among skeleton.JOINTS
    kind: ArrayLike  # (S,) int32 POSITION, ROTATION or LOOK_AT
    value: ArrayLike  # (S, 4) f32 x, y, z, 0 [m], or a quaternion wxyz
    weight: ArrayLike  # (S,) f32 1 holds it, less is a wish, 0 leaves the slot empty
    tolerance: ArrayLike  # (S,) f32 [m] or [rad] within which it counts as reached


@dataclass(frozen=True)
class Target:
    """What one joint shall do; several fields at once are several slots.

    `position` [m] of the joint; `rotation`, the quaternion wxyz of the link that carries it; `look_at` [m], a point
    that the link's X axis shall point to (an arm or a hand points along itself).
    """

    joint: str
    position: Sequence[float] | None = None
    rotation: Sequence[float] | None = None
    look_at: Sequence[float] | None = None
    weight: float = 1.0
    tolerance: float = 0.0  # [m] of a position, [rad] of the others


def make_targets(wanted: Sequence[Target], slots: int) -> Targets:
    """Pack targets into `slots` slots, so that what is jitted for that number serves any fewer.

    Raises ValueError that names the target: an unknown joint, no finite value, too many for the slots.
    """
    rows = [row for number, target in enumerate(wanted) for row in _rows(number, target)]
    if len(rows) > slots:
        raise ValueError(f"{len(rows)} targets do not fit into {slots} slots")
    empty = (0, POSITION, np.zeros(4), 0.0, 0.0)
    joint, kind, value, weight, tolerance = zip(*rows, *[empty] * (slots - len(rows)), strict=True)
    f32 = np.float32
    return Targets(
        np.array(joint, np.int32), np.array(kind, np.int32), np.array(value, f32),
        np.array(weight, f32), np.array(tolerance, f32),
    )  # fmt: skip


def _rows(number: int, target: Target) -> list[tuple]:
    where = f"target {number} ({target.joint})"
    joint, rows = joint_number(target.joint), []
    if JOINTS[joint] == "root":
        raise ValueError(f"{where}: the root only marks the floor below the pelvis; give the pelvis a target")
    if not (np.isfinite([target.weight, target.tolerance]).all() and min(target.weight, target.tolerance) >= 0):
        raise ValueError(f"{where}: weight {target.weight} or tolerance {target.tolerance} is negative or not finite")
    for kind, field in enumerate(KINDS):
        given = getattr(target, field)
        if given is None:
            continue
        value, count = np.asarray(given, np.float64), 4 if kind == ROTATION else 3
        if value.shape != (count,) or not np.isfinite(value).all():
            raise ValueError(f"{where}: {field} is {given}, expected {count} finite numbers")
        if kind == ROTATION and not np.linalg.norm(value) > 1e-6:
            raise ValueError(f"{where}: rotation is no quaternion: {given}")
        value = value / np.linalg.norm(value) if kind == ROTATION else np.append(value, 0.0)
        rows.append((joint, kind, value, target.weight, target.tolerance))
    if not rows:
        raise ValueError(f"{where}: gives none of {', '.join(KINDS)}")
    return rows
