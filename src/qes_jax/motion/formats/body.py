"""A skeleton's motion as points of the character: joints where its roles are, and marks that show orientations.

Positions are the main thing, for rest poses and joints' axes differ from file to file. A mark is a point that moves
with a joint, some centimetres away in a direction that we know: where the body faces in the rest pose, if that is a
pose of someone upright; else where it faces on average over the motion. Without marks, a head could look anywhere, and
a foot or a hand roll freely about its own length.
"""

from dataclasses import dataclass

import numpy as np

from qes_jax.motion.formats.guess import leg_height
from qes_jax.motion.formats.maps import SIDES, Roles
from qes_jax.motion.formats.recording import Anchor, Recording
from qes_jax.motion.formats.skeleton import SkeletonMotion, forward, rest
from qes_jax.motion.frames import rotation

LIMB_BONES = (("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"), ("elbow", "wrist"))
BONES = tuple((f"{side}_{a}", f"{side}_{b}") for side in SIDES for a, b in LIMB_BONES)
HEIGHT = 1.75  # [m] of the body that anchors' offsets are for


@dataclass(frozen=True)
class Mark:
    """A point of `joint`'s role, `length` [m] away in a direction of the body: "ahead", "left" or "right"."""

    role: str
    direction: str
    length: float
    anchor: Anchor


def as_recording(motion: SkeletonMotion, roles: Roles) -> Recording:
    """The points of all roles and of the marks that can be trusted."""
    place, turn = forward(motion)
    size = leg_height(motion, roles) / HEIGHT
    used = {role: anchor for role, anchor in anchors().items() if role in roles}
    points = {role: place[:, motion.index(roles[role])] for role in used}
    for name, mark in _marks(roles).items():
        joint = motion.index(roles[mark.role])
        direction = _at_rest(motion, roles, joint, mark)
        if direction is None:
            direction = _on_average(points, turn[:, joint], mark)
        if direction is not None:
            used[name] = mark.anchor
            points[name] = place[:, joint] + size * mark.length * rotation(turn[:, joint]).apply(direction)
    rows = np.stack([points[name] for name in used], axis=1)
    return Recording(
        motion.source, motion.licence, motion.fps, tuple(used), tuple(used.values()), rows, BONES,
        unit=motion.unit, up=motion.up, notes=motion.notes,
    )  # fmt: skip


def anchors() -> dict[str, Anchor]:
    """Where each role's joint sits on the character. Collar bones move shoulders, and ours are stiff: less weight."""
    points = {
        "hips": Anchor("pelvis", weight=0.5),
        "spine": Anchor("pelvis", (-0.01, 0.0, 0.1), 0.3),
        "chest": Anchor("thorax", (-0.01, 0.0, 0.08), 0.3),
        "neck": Anchor("thorax", (-0.005, 0.0, 0.24), 0.6),
        "head": Anchor("head", (0.0, 0.0, 0.05), 0.7),
    }
    for side in SIDES:
        points |= {
            f"{side}_shoulder": Anchor(f"{side}_upper_arm", weight=0.6),
            f"{side}_elbow": Anchor(f"{side}_forearm"),
            f"{side}_wrist": Anchor(f"{side}_hand"),
            f"{side}_hand": Anchor(f"{side}_hand", (0.0, 0.0, -0.085), 0.4),
            f"{side}_index": Anchor(f"{side}_hand", (0.03, 0.0, -0.085), 0.3),
            f"{side}_pinky": Anchor(f"{side}_hand", (-0.04, 0.0, -0.075), 0.3),
            f"{side}_hip": Anchor(f"{side}_thigh"),
            f"{side}_knee": Anchor(f"{side}_shin", weight=0.8),
            f"{side}_ankle": Anchor(f"{side}_foot"),
            f"{side}_ball": Anchor(f"{side}_toes"),
        }
    return points


def _marks(roles: Roles) -> dict[str, Mark]:
    marks = {"face": Mark("head", "ahead", 0.1, Anchor("head", (0.1, 0.0, 0.05), 0.5))}
    for side, sign in zip(SIDES, (1, -1), strict=True):
        outwards = Anchor(f"{side}_foot", (0.0, sign * 0.08, 0.0), 0.4)
        marks[f"{side}_foot_edge"] = Mark(f"{side}_ankle", side, 0.08, outwards)
        if f"{side}_ball" not in roles:
            marks[f"{side}_instep"] = Mark(f"{side}_ankle", "ahead", 0.12, Anchor(f"{side}_foot", (0.12, 0.0, 0.0)))
        if f"{side}_index" not in roles:  # with arms hanging or spread, palms in or down, thumbs are ahead
            marks[f"{side}_thumb"] = Mark(f"{side}_wrist", "ahead", 0.08, Anchor(f"{side}_hand", (0.08, 0.0, 0.0), 0.2))
    return marks


def _at_rest(motion: SkeletonMotion, roles: Roles, joint: int, mark: Mark) -> np.ndarray | None:
    """(3,) the mark's direction in the joint's frame, by the rest pose if that is an upright one."""
    place, turn = rest(motion)
    body = {role: place[None, motion.index(name)] for role, name in roles.items()}
    left = _unit(body["left_hip"] - body["right_hip"])[0]
    rise = _unit(body["head"] - body["hips"])[0]
    legs = _unit(sum((body[f"{side}_hip"] - body[f"{side}_ankle"] for side in SIDES), np.zeros((1, 3))))[0]
    ahead = np.cross(left, [0.0, 0.0, 1.0])
    toes = sum(((body[f"{s}_ball"] - body[f"{s}_ankle"])[0] for s in SIDES if f"{s}_ball" in roles), np.zeros(3))
    if min(rise[2], legs[2]) < 0.85 or abs(left[2]) > 0.2 or toes @ ahead < 0:
        return None
    directions = {"ahead": ahead, "left": left, "right": -left}
    return rotation(turn[joint]).inv().apply(directions[mark.direction])[0]


def _on_average(points: dict[str, np.ndarray], turn: np.ndarray, mark: Mark) -> np.ndarray | None:
    """(3,) the same by where the shoulders face while the motion goes on, or for a foot by the floor it stands on."""
    if mark.role == "head":
        rise = (points["left_shoulder"] + points["right_shoulder"]) - (points["left_hip"] + points["right_hip"])
        way = np.cross(points["left_shoulder"] - points["right_shoulder"], rise)
    elif mark.role.endswith("ankle") and mark.role.replace("ankle", "ball") in points and mark.direction != "ahead":
        ankle = points[mark.role]
        way = np.cross([0.0, 0.0, 1.0], points[mark.role.replace("ankle", "ball")] - ankle)
        way *= 1.0 if mark.direction == "left" else -1.0
        low = ankle[:, 2] <= np.percentile(ankle[:, 2], 30)
        way, turn = way[low], turn[low]
    else:
        return None
    mean = rotation(turn).inv().apply(_unit(way)).mean(axis=0)
    return _unit(mean) if np.linalg.norm(mean) > 0.7 else None


def _unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v, axis=-1, keepdims=True).clip(1e-9)
