"""Whether what touches an object in a recording still does so in the motion made of it.

A recording has joints, no skin. Hand, foot or knee touch a box in it where one of their points is as near to the box as
it lies to its own skin, and slow, for a tenth of a second; two touches that are less than that apart are one. Those
distances are our choice, 1.5 cm more than in anatomy. A hand that is recorded without fingers is too far away mostly.
"""

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from qes_jax.model.scene import Piece
from qes_jax.motion.contacts import NEAR
from qes_jax.motion.frames import turn_points
from qes_jax.motion.retarget import Fit
from qes_jax.motion.rig import Rig
from qes_jax.motion.touch import Toucher

SLOW = 0.2  # [m/s]
SHORTEST = 4  # frames of a touch, and between two


@dataclass(frozen=True)
class Part:
    """A part of the body: points with anchors on `link`, no farther than `skin` [m] from what it touches."""

    link: str
    skin: float
    touching: tuple[str, ...]  # links that may touch in its place


PARTS = tuple(
    Part(f"{side}_{link}", skin, tuple(f"{side}_{name}" for name in others))
    for side in ("left", "right")
    for link, skin, others in (("toes", 0.045, ("toes", "foot")), ("hand", 0.04, ("hand",)), ("shin", 0.07, ("shin",)))
)


def kept_touches(fit: Fit) -> dict[str, float]:
    """`touches`: how many the recording has with boxes; `touches_kept`: the share of their frames that have them still.

    A touch is there still where a link of that part is within NEAR of the same box. Empty without boxes.
    """
    boxes = [(fit.world.layout.objects.index(p.name), p) for p in fit.recording.pieces if p.kind == "box"]
    if not boxes:
        return {}
    there = [(part, number, recorded_touch(fit, part, box)) for part in PARTS for number, box in boxes]
    pairs = [(on, _touching(fit, part, number)) for part, number, on in there if on.any()]
    frames = sum(int(on.sum()) for on, _ in pairs)
    count = sum(len(runs(on)) for on, _ in pairs)
    kept = sum(int((on & still).sum()) for on, still in pairs)
    return {"touches": count, "touches_kept": kept / frames if frames else 1.0}


def recorded_touch(fit: Fit, part: Part, box: Piece) -> np.ndarray:
    """(T,) whether a part of the recorded body touches a box."""
    recording = fit.recording
    mine = [i for i, a in enumerate(recording.anchors) if a.link == part.link]
    if not mine:
        return np.zeros(len(recording.points), bool)
    points = recording.points[:, mine]
    speed = np.linalg.norm(np.gradient(points, 1 / recording.fps, axis=0), axis=-1)
    touching = (box_distance(points, box) <= part.skin) & (speed <= SLOW)
    ends = SHORTEST  # beyond which nothing touches
    joined = ndimage.binary_closing(np.pad(touching.any(axis=1), ends), np.ones(SHORTEST))[ends:-ends]
    return ndimage.binary_opening(joined, np.ones(SHORTEST))


def box_distance(points: np.ndarray, box: Piece) -> np.ndarray:
    """(...) signed distance [m] of points (..., 3) from a box's surface, negative inside."""
    half = 0.5 * np.array(box.size)
    local = turn_points(points - np.array(box.pos), -box.yaw) - [0.0, 0.0, half[2]]
    beyond = np.abs(local) - half
    return np.linalg.norm(beyond.clip(0.0), axis=-1) + beyond.max(axis=-1).clip(max=0.0)


def _touching(fit: Fit, part: Part, number: int) -> np.ndarray:
    """(T,) whether a link of the part is near object `number`."""
    rig = Rig(fit.world)
    touches = Toucher(rig, NEAR)(fit.qpos)
    bodies = [rig.body(link) for link in part.touching]
    return (np.isin(touches.body, bodies) & (touches.object == number) & (touches.dist <= NEAR)).any(axis=1)


def runs(on: np.ndarray) -> list[tuple[int, int]]:
    """First and one past the last index of each run of True in (T,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], on.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]
