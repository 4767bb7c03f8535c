"""A figure that steps to and fro on the floor, to be written with whatever fault."""

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.motion.formats.skeleton import SkeletonMotion

LEG = 0.42  # [m] of thigh and of shin
ANKLE = 0.08  # [m] over the floor
SIDES = (("left", 1.0), ("right", -1.0))
JOINTS = (
    ("hips", None, (0.0, 0.0, 2 * LEG + ANKLE)),
    ("spine", "hips", (0.0, 0.0, 0.25)),
    ("neck", "spine", (0.0, 0.0, 0.25)),
    ("head", "neck", (0.0, 0.0, 0.1)),
    *(j for side, s in SIDES for j in (
        (f"{side}_hip", "hips", (0.0, 0.09 * s, 0.0)),
        (f"{side}_knee", f"{side}_hip", (0.0, 0.0, -LEG)),
        (f"{side}_ankle", f"{side}_knee", (0.0, 0.0, -LEG)),
        (f"{side}_toe", f"{side}_ankle", (0.14, 0.0, -0.06)),
        (f"{side}_shoulder", "spine", (0.0, 0.18 * s, 0.2)),
        (f"{side}_elbow", f"{side}_shoulder", (0.0, 0.28 * s, 0.0)),
        (f"{side}_wrist", f"{side}_elbow", (0.0, 0.26 * s, 0.0)),
    )),
)  # fmt: skip


def stepper(frames: int = 60, fps: float = 30.0) -> SkeletonMotion:
    """Z up, X ahead: the hips sway over feet that stand, one knee after the other bends."""
    names = [name for name, *_ in JOINTS]
    parents = tuple(-1 if p is None else names.index(p) for _, p, _ in JOINTS)
    offset = np.array([place for *_, place in JOINTS])
    time, quat = np.arange(frames) / fps, np.tile([1.0, 0.0, 0.0, 0.0], (frames, len(names), 1))
    pos = np.tile(offset, (frames, 1, 1))
    bent = np.full(frames, 0.3)
    lean = 0.12 * np.sin(2 * np.pi * 0.5 * time)
    lifted = {
        "left": 0.5 * np.maximum(0, np.sin(2 * np.pi * time)),
        "right": 0.5 * np.maximum(0, -np.sin(2 * np.pi * time)),
    }
    pos[:, 0, 2] += 2 * LEG * (np.cos(bent) * np.cos(lean) - 1)
    pos[:, 0, 0] += 2 * LEG * np.cos(bent) * np.sin(lean)
    for side, _ in SIDES:
        thigh, shin = lean - bent - lifted[side], lean + bent + lifted[side]
        for part, angle in (("hip", thigh), ("knee", shin - thigh), ("ankle", -shin)):
            turn = Rotation.from_rotvec(np.outer(angle, [0.0, 1.0, 0.0]))
            quat[:, names.index(f"{side}_{part}")] = turn.as_quat(scalar_first=True)
    quat_rest = np.tile([1.0, 0.0, 0.0, 0.0], (len(names), 1))
    return SkeletonMotion("stepper", "none", fps, tuple(names), parents, offset, quat_rest, pos, quat)
