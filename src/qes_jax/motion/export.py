"""A clip of the character as a skeleton that other programs know: usual names of joints, resting in a T-pose."""

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.model.character import HEIGHT
from qes_jax.motion.build import clip_world
from qes_jax.motion.clip import Clip
from qes_jax.motion.formats.skeleton import SkeletonMotion, localised
from qes_jax.motion.rig import Rig

TRUNK = {"pelvis": "Hips", "lumbar": "Spine", "thorax": "Spine1", "head": "Head"}
LIMBS = {"upper_arm": "Arm", "forearm": "ForeArm", "hand": "Hand", "thigh": "UpLeg", "shin": "Leg", "foot": "Foot",
         "toes": "ToeBase"}  # fmt: skip
# Where bones end that no joint follows, in the link's frame at 1.75 m [m]: crown, finger tips, toe tips. Our choice.
ENDS = {"head": (0.02, 0.0, 0.295), "hand": (0.0, 0.0, -0.17), "toes": (0.07, 0.0, 0.0)}


def joint_name(link: str) -> str:
    """The usual name (HumanIK's, Mixamo's) of a link's joint: left_forearm -> LeftForeArm; a strange link's own."""
    side, _, part = link.partition("_")
    return TRUNK.get(link) or (side.capitalize() + LIMBS[part] if part in LIMBS else link)


def clip_skeleton(clip: Clip) -> SkeletonMotion:
    """The character's links as joints, with a still `NAME_end` where a bone ends that no joint follows."""
    world = clip_world(clip, alone=True)
    rig, layout = Rig(world), world.layout
    bodies = layout.link_ids + 1
    number = {int(body): joint for joint, body in enumerate(bodies)}
    parents = tuple(number.get(int(p), -1) for p in world.plain.body_parentid[bodies])
    resting = rig.poses(layout.key_qpos["t_pose"][None])
    rest_pos, rest_quat = localised(parents, resting.xpos[:, bodies], quats(resting.xmat[:, bodies]))
    pos, quat = localised(parents, clip.link_pos.astype(np.float64), clip.link_quat.astype(np.float64))
    names = tuple(joint_name(link) for link in layout.links)
    motion = SkeletonMotion(
        clip.name, clip.licence, clip.fps, names, parents, rest_pos[0], rest_quat[0],
        np.concatenate([pos[:, :1], np.repeat(rest_pos[:, 1:], len(pos), axis=0)], axis=1), quat,
    )  # fmt: skip
    ends = {k: np.array(v) * clip.height / HEIGHT for k, v in ENDS.items()}
    tips = [(j, ends[part]) for j, link in enumerate(layout.links) if (part := link.split("_")[-1]) in ends]
    return with_ends(motion, tips)


def with_ends(motion: SkeletonMotion, tips: list[tuple[int, np.ndarray]]) -> SkeletonMotion:
    """The skeleton with a still joint `NAME_end` at each place (3,) [m] in the frame of a joint."""
    frames, at = len(motion.quat), np.array([place for _, place in tips])
    still = np.tile([1.0, 0.0, 0.0, 0.0], (len(tips), 1))
    return SkeletonMotion(
        motion.source, motion.licence, motion.fps,
        motion.joints + tuple(f"{motion.joints[j]}_end" for j, _ in tips), motion.parents + tuple(j for j, _ in tips),
        np.concatenate([motion.rest_pos, at]), np.concatenate([motion.rest_quat, still]),
        np.concatenate([motion.pos, np.tile(at, (frames, 1, 1))], axis=1),
        np.concatenate([motion.quat, np.tile(still, (frames, 1, 1))], axis=1), motion.unit, motion.up,
    )  # fmt: skip


def quats(mat: np.ndarray) -> np.ndarray:
    """Quaternions (..., 4) of rotation matrices (..., 3, 3)."""
    flat = Rotation.from_matrix(mat.reshape(-1, 3, 3)).as_quat(scalar_first=True)
    return flat.reshape(*mat.shape[:-2], 4)
