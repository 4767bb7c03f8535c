"""What a recording tells of its subject and place before any fit: height, walking on the spot."""

from dataclasses import replace

import numpy as np

from qes_jax.model.character import HEIGHT
from qes_jax.model.world import build_world
from qes_jax.motion.formats.recording import Anchor, Recording, bone_lengths
from qes_jax.motion.rig import Rig


def is_joint(anchor: Anchor) -> bool:
    """Whether an anchor is a joint of the character's limbs, and no mark or point of the trunk."""
    return not any(anchor.offset) and anchor.link != "pelvis"


def estimate_height(recording: Recording) -> float:
    """The subject's height [m]: that of the character whose bones' lengths are nearest to those recorded."""
    rig = Rig(build_world())
    body = np.array([rig.body(a.link) for a in recording.anchors])
    offset = np.array([a.offset for a in recording.anchors])
    ours = rig.poses(rig.model.qpos0[None]).points(body, offset)
    mine = replace(recording, points=np.repeat(ours, 4, axis=0))
    theirs, ours = bone_lengths(recording), bone_lengths(mine)
    return HEIGHT * float(theirs @ ours / (ours @ ours))


def moved_on(recording: Recording) -> tuple[Recording, float]:
    """A walk on the spot, as games have it, made to get along, and its speed [m/s]; others as they are, and 0.

    On the spot, feet that stand move backwards, more or less at one speed, left and right by turns, while the body
    stays, upright. Our thresholds.
    """
    places, heights = feet(recording)
    frames, lower, lowest = np.arange(len(places)), heights.argmin(axis=1), heights.min(axis=1)
    stands = lowest < np.percentile(lowest, 10) + 0.03
    velocity = np.gradient(places[..., :2], 1 / recording.fps, axis=0)[frames, lower]
    belt = velocity[stands].mean(axis=0)
    speed = float(np.linalg.norm(belt))
    spread = np.median(np.linalg.norm(velocity[stands] - belt, axis=1))
    by_turns = np.ptp(np.bincount(lower[stands] % 2, minlength=2)) < 0.5 * stands.sum()
    middle = recording.points.mean(axis=1)
    drift = np.linalg.norm((middle[-1] - middle[0])[:2]) / recording.duration
    upright = np.ptp(middle[:, 2]) < 0.35 and drift < 0.2 * speed
    if recording.pieces or speed < 0.3 or spread > 0.8 * speed or not (by_turns and upright):
        return recording, 0.0
    way = np.c_[np.outer(frames / recording.fps, -belt), np.zeros(len(frames))]
    return replace(recording, points=recording.points + way[:, None]), speed


def feet(recording: Recording, size: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Places (T, F, 3) of balls and ankles, left and right by turns, and heights (T, F), of ankles as if balls.

    `size` is the body's height over the character's.
    """
    above = {f"{side}_{link}": size * z for link, z in (("toes", 0.0), ("foot", 0.06)) for side in ("left", "right")}
    where = {a.link: i for i, a in enumerate(recording.anchors) if a.link in above and is_joint(a)}
    own = [link for link in above if link in where]
    places = recording.points[:, [where[link] for link in own]]
    return places, places[..., 2] - np.array([above[link] for link in own])
