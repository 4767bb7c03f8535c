"""Figures built otherwise given the character's proportions, their bones' directions kept.

A cartoon's short legs and wide trunk cannot be matched point by point, nor the arms and legs of a game's rig that
belong to people of different sizes. Where a figure's bones are out of proportion by
more than LIMIT, each is made as long as the character's, for a character with legs as long as the figure's; so feet
stay where they stand. Lengths of feet differ much among usual skeletons: they are changed, but do not decide.
"""

from dataclasses import replace

import numpy as np

from qes_jax.model.character import HEIGHT
from qes_jax.model.world import build_world
from qes_jax.motion.formats.body import anchors
from qes_jax.motion.formats.guess import leg_height
from qes_jax.motion.formats.maps import SIDES, Roles
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.skeleton import SkeletonMotion, snapshots
from qes_jax.motion.formats.structure import ancestry
from qes_jax.motion.rig import Rig

LIMIT = 1.33  # people's bones differ by 1.2 from the character's, and so do the places where rigs put their joints
LIMBS = (("hip", "knee"), ("knee", "ankle"), ("ankle", "ball"), ("shoulder", "elbow"), ("elbow", "wrist"))
BONES = (("hips", "head"), *((f"{side}_{a}", f"{side}_{b}") for side in SIDES for a, b in LIMBS))
WIDTHS = (("hip", "hips"), ("shoulder", "chest"))  # a pair, and the joint that carries it


def factors(motion: SkeletonMotion, roles: Roles) -> dict[str, float]:
    """How many times too short each bone is, by the role at its end; widths by the pair's left one."""
    place = snapshots(motion, 20)  # not the rest pose, which no one may ever have looked at
    theirs = {role: place[:, motion.index(name)] for role, name in roles.items()}
    ours = _ours()
    size = leg_height(motion, roles) / HEIGHT
    ends = [*_bones(roles), *((f"right_{pair}", f"left_{pair}") for pair, _ in WIDTHS)]
    return {b: size * _distance(ours, a, b) / max(_distance(theirs, a, b), 1e-6) for a, b in ends}


def proportioned(motion: SkeletonMotion, roles: Roles) -> tuple[SkeletonMotion, bool]:
    """The motion on a figure of the character's proportions, and whether that was needed."""
    needed = factors(motion, roles)
    if min(needed.values()) <= 0:  # the size of the legs is the measure of all
        raise RecordingError(f"{motion.source}: its legs have no length")
    if max(max(f, 1 / f) for role, f in needed.items() if not role.endswith("_ball")) < LIMIT:
        return motion, False
    scale = np.ones(len(motion.joints))
    for above, below in _bones(roles):
        for joint in _path(motion, roles[above], roles[below]):
            scale[joint] = needed[below]
    trunk = {motion.index(roles["head"]), *ancestry(motion, motion.index(roles["head"]))}
    for pair, _ in WIDTHS:
        for side in SIDES:
            joint = motion.index(roles[f"{side}_{pair}"])
            for j in [joint, *ancestry(motion, joint)]:
                if j in trunk or motion.parents[j] < 0:
                    break
                scale[j] = needed[f"left_{pair}"]
    pos = motion.pos * scale[:, None]
    return replace(motion, rest_pos=motion.rest_pos * scale[:, None], pos=pos), True


def _bones(roles: Roles) -> list[tuple[str, str]]:
    """Those of BONES that a figure has: not all have balls of the feet."""
    return [bone for bone in BONES if all(role in roles for role in bone)]


def _path(motion: SkeletonMotion, above: str, below: str) -> list[int]:
    """Joints after `above` down to `below`."""
    joint = motion.index(below)
    line = [joint, *ancestry(motion, joint)]
    return line[: line.index(motion.index(above))] if motion.index(above) in line else []


def _ours() -> dict[str, np.ndarray]:
    """Where the roles' anchors are on the character at rest."""
    rig, points = Rig(build_world()), anchors()
    body = np.array([rig.body(a.link) for a in points.values()])
    offset = np.array([a.offset for a in points.values()])
    return dict(zip(points, rig.poses(rig.model.qpos0[None]).points(body, offset)[0], strict=True))


def _distance(places: dict[str, np.ndarray], a: str, b: str) -> float:
    return float(np.linalg.norm(places[a] - places[b], axis=-1).mean())
