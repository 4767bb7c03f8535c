"""The standard skeleton of pose edition: a root on the floor and 21 joints, each a point fixed to a link.

Names and order follow the 22 points of the published data (Holden et al. 2016's skeleton): the root is the pelvis
projected onto the floor. A bone leads from a joint to its parent; the way from the root to the pelvis is none, for it
changes its length.
"""

from typing import NamedTuple

import numpy as np

from qes_jax.motion.mirror import other_side


class Joint(NamedTuple):
    """A point of the skeleton: `offset` [m] in the link's frame, for a character of 1.75 m."""

    name: str
    parent: str | None
    link: str
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)


def _leg(side: str) -> tuple[Joint, ...]:
    return (
        Joint(f"{side}_hip", "pelvis", f"{side}_thigh"),
        Joint(f"{side}_knee", f"{side}_hip", f"{side}_shin"),
        Joint(f"{side}_ankle", f"{side}_knee", f"{side}_foot"),
        Joint(f"{side}_toes", f"{side}_ankle", f"{side}_toes"),
    )


def _arm(side: str) -> tuple[Joint, ...]:
    return (
        Joint(f"{side}_shoulder", "spine2", f"{side}_upper_arm"),
        Joint(f"{side}_elbow", f"{side}_shoulder", f"{side}_forearm"),
        Joint(f"{side}_wrist", f"{side}_elbow", f"{side}_hand"),
        Joint(f"{side}_fingers", f"{side}_wrist", f"{side}_hand", (0.0, 0.0, -0.085)),
    )


SKELETON = (
    Joint("root", None, "pelvis"),
    Joint("pelvis", "root", "pelvis"),
    *_leg("left"),
    *_leg("right"),
    Joint("spine1", "pelvis", "lumbar"),
    Joint("spine2", "spine1", "thorax"),
    Joint("neck", "spine2", "head"),
    Joint("head", "neck", "head", (0.02, 0.0, 0.19)),
    *_arm("left"),
    *_arm("right"),
)
JOINTS = tuple(j.name for j in SKELETON)  # 22, a parent always before its children
PARENTS = tuple(JOINTS.index(j.parent) if j.parent else -1 for j in SKELETON)
BONES = tuple((child, parent) for child, parent in enumerate(PARENTS) if parent > 0)  # 20 of constant length
MIRROR = tuple(JOINTS.index(other_side(name)) for name in JOINTS)
# The sets that the published solvers move. Our choice of which joint is meant by a hand and a foot.
HANDS, FEET, HEAD = ("left_wrist", "right_wrist"), ("left_ankle", "right_ankle"), ("head",)
SETS = {"hands": HANDS, "feet": FEET, "head": HEAD, "all": (*HANDS, *FEET, *HEAD)}
ANKLE, TOE = 0.08, 0.02  # [m] of ankle and toes' hinge above the sole of a flat foot


def joint_number(name: str) -> int:
    """Row of a joint among the 22. Raises ValueError that lists the names."""
    if name not in JOINTS:
        raise ValueError(f"unknown joint {name!r}: expected one of {', '.join(JOINTS)}")
    return JOINTS.index(name)


def numbers(names: tuple[str, ...]) -> np.ndarray:
    """Rows of several joints."""
    return np.array([joint_number(name) for name in names])
