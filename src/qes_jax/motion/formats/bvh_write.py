"""Skeleton motions written as BVH, for other programs: Y up, centimetres, as those expect."""

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.files import replacing
from qes_jax.motion.formats.skeleton import SkeletonMotion, rest_aligned, y_up
from qes_jax.motion.frames import rotation

END = "_end"
PLACE, TURN = "Xposition Yposition Zposition", "Zrotation Yrotation Xrotation"


def write_bvh(path: str | Path, motion: SkeletonMotion, unit: float = 0.01) -> None:
    """Write a motion with lengths in units of `unit` [m]. A leaf called `PARENT_end` that never turns is an end site.

    Only roots, and joints that move in their parents, get position channels. A joint's frame is turned so that it lies
    along the world's in the rest pose, which BVH cannot state otherwise.
    """
    motion = rest_aligned(y_up(motion))
    pos, offset = motion.pos / unit, motion.rest_pos / unit
    moving = np.array([p < 0 for p in motion.parents]) | (np.ptp(pos, axis=0).max(axis=1) > 1e-4)
    moving |= np.abs(pos - offset).max(axis=(0, 2)) > 1e-4
    ends = [_is_end(motion, joint) and not moving[joint] for joint in range(len(motion.joints))]
    columns, lines = [], ["HIERARCHY"]
    for root in (j for j, parent in enumerate(motion.parents) if parent < 0):
        _block(motion, root, 0, offset, moving, ends, lines, order := [])
        columns += [c for joint in order for c in _columns(pos[:, joint], motion.quat[:, joint], moving[joint])]
    lines += ["MOTION", f"Frames: {len(pos)}", f"Frame Time: {1 / motion.fps:.9f}"]
    lines += [" ".join(f"{x:.6f}" for x in row) for row in np.stack(columns, axis=1)]
    with replacing(Path(path)) as aside:
        aside.write_text("\n".join(lines) + "\n")


def _is_end(motion: SkeletonMotion, joint: int) -> bool:
    parent = motion.parents[joint]
    named = parent >= 0 and motion.joints[joint] == motion.joints[parent] + END
    return named and not motion.children(joint) and np.ptp(motion.quat[:, joint], axis=0).max() < 1e-6


def _block(
    motion: SkeletonMotion, joint: int, depth: int, offset: np.ndarray, moving: np.ndarray, ends: list[bool],
    lines: list[str], order: list[int],
) -> None:  # fmt: skip
    """Append a joint's lines and those below it, and the joints in the order of their channels."""
    tab = "\t" * depth
    head = "End Site" if ends[joint] else f"{'JOINT' if depth else 'ROOT'} {motion.joints[joint]}"
    lines += [tab + head, tab + "{", tab + "\tOFFSET " + " ".join(f"{x:.6f}" for x in offset[joint])]
    if not ends[joint]:
        order.append(joint)
        lines.append(f"{tab}\tCHANNELS " + (f"6 {PLACE} {TURN}" if moving[joint] else f"3 {TURN}"))
        for child in motion.children(joint):
            _block(motion, child, depth + 1, offset, moving, ends, lines, order)
        if not motion.children(joint):
            lines += [tab + "\tEnd Site", tab + "\t{", tab + "\t\tOFFSET 0.0 0.0 0.0", tab + "\t}"]
    lines.append(tab + "}")


def _columns(pos: np.ndarray, quat: np.ndarray, moving: bool) -> list[np.ndarray]:
    angles = _euler(rotation(quat))
    return [*(pos.T if moving else ()), *angles.T]


def _euler(turn: Rotation) -> np.ndarray:
    """(T, 3) angles [degrees] about Z, Y', X'', without scipy's warning where two axes fall together."""
    x, y, z = np.moveaxis(turn.as_matrix(), -1, 0)  # columns
    cos = np.hypot(x[:, 0], x[:, 1])
    locked = cos < 1e-9
    about_z = np.where(locked, np.arctan2(-y[:, 0], y[:, 1]), np.arctan2(x[:, 1], x[:, 0]))
    about_x = np.where(locked, 0.0, np.arctan2(y[:, 2], z[:, 2]))
    return np.degrees(np.stack([about_z, np.arctan2(-x[:, 2], cos), about_x], axis=1))
