"""Mirroring: the reflection y -> -y about the XZ plane, which swaps a motion's left and right.

With M = diag(1, -1, 1) a point goes to M p, a frame to M R M, that is (w, x, y, z) -> (w, -x, y, -z), and an angular
velocity to -M w. A turn about an axis a becomes one about -M a by the same angle. The body is its own mirror image with
the sides swapped, and so must each piece be, about the XZ plane of its frame.
"""

import dataclasses
from dataclasses import dataclass

import mujoco
import numpy as np

from qes_jax.model.character import CharacterConfig
from qes_jax.model.scene import Piece, Scene
from qes_jax.model.world import SENSORS, World, build_world
from qes_jax.motion.clip import Clip

POINT = np.array([1.0, -1.0, 1.0])
TURN = np.array([-1.0, 1.0, -1.0])  # angular velocities, rotation vectors
QUAT = np.array([1.0, -1.0, 1.0, -1.0])
SUFFIX = "_mirror"


@dataclass(frozen=True)
class MirrorMaps:
    """Mirror x by `sign * x[..., index]`. Each map is its own inverse.

    `hinge` is in the order of ctrl: actions, torques, hinge angles and their velocities. Links and sensors only swap:
    multiply their vectors by POINT or TURN, their quaternions by QUAT.
    """

    hinge_index: np.ndarray  # (J,)
    hinge_sign: np.ndarray  # (J,)
    link_index: np.ndarray  # (L,)
    sensor_index: np.ndarray  # (3,)
    qpos_index: np.ndarray  # (nq,)
    qpos_sign: np.ndarray  # (nq,)
    qvel_index: np.ndarray  # (nv,)
    qvel_sign: np.ndarray  # (nv,)


def mirror_maps(world: World) -> MirrorMaps:
    """Index and sign vectors from the model's joint axes. Raises ValueError for a joint without a mirror image."""
    m, layout = world.plain, world.layout
    qpos_index, qpos_sign = np.arange(m.nq), np.ones(m.nq)
    qvel_index, qvel_sign = np.arange(m.nv), np.ones(m.nv)
    for joint in range(m.njnt):
        twin = _twin_joint(m, joint)
        q_sign, v_sign = _joint_signs(m, joint, twin)
        q, v = m.jnt_qposadr[joint], m.jnt_dofadr[joint]
        rows_q, rows_v = np.arange(len(q_sign)), np.arange(len(v_sign))
        qpos_index[q + rows_q], qpos_sign[q + rows_q] = m.jnt_qposadr[twin] + rows_q, q_sign
        qvel_index[v + rows_v], qvel_sign[v + rows_v] = m.jnt_dofadr[twin] + rows_v, v_sign
    dofs = layout.joint_dofs
    hinge_of_dof = {dof: j for j, dof in enumerate(dofs)}
    return MirrorMaps(
        hinge_index=np.array([hinge_of_dof[d] for d in qvel_index[dofs]]), hinge_sign=qvel_sign[dofs],
        link_index=_swap(layout.links), sensor_index=_swap(SENSORS),
        qpos_index=qpos_index, qpos_sign=qpos_sign, qvel_index=qvel_index, qvel_sign=qvel_sign,
    )  # fmt: skip


def mirror_clip(clip: Clip, world: World | None = None) -> Clip:
    """The same motion with left and right exchanged, in the mirrored scene; mirrored twice it is the clip again.

    `world` spares building one: any world of the clip's pieces, in their order.
    """
    maps = mirror_maps(world or build_world(CharacterConfig(height=clip.height), clip.scene.pieces))
    f32 = np.float32
    return dataclasses.replace(
        clip,
        name=mirror_name(clip.name),
        scene=mirror_scene(clip.scene),
        qpos=(clip.qpos[:, maps.qpos_index] * maps.qpos_sign).astype(f32),
        qvel=(clip.qvel[:, maps.qvel_index] * maps.qvel_sign).astype(f32),
        link_pos=(clip.link_pos[:, maps.link_index] * POINT).astype(f32),
        link_quat=(clip.link_quat[:, maps.link_index] * QUAT).astype(f32),
        contact=clip.contact[:, maps.link_index],
        sensor_pos=(clip.sensor_pos[:, maps.sensor_index] * POINT).astype(f32),
        sensor_quat=(clip.sensor_quat[:, maps.sensor_index] * QUAT).astype(f32),
    )


def mirror_name(name: str) -> str:
    """The name of a clip's mirror twin: "walk" -> "walk_mirror" -> "walk"."""
    return name.removesuffix(SUFFIX) if name.endswith(SUFFIX) else name + SUFFIX


def mirror_scene(scene: Scene) -> Scene:
    """The scene with every piece at its mirrored place."""
    return Scene(scene.name, tuple(_mirror_piece(p) for p in scene.pieces))


def _mirror_piece(piece: Piece) -> Piece:
    x, y, z = piece.pos
    return dataclasses.replace(piece, pos=(x, 0.0 - y, z), yaw=0.0 - piece.yaw)  # 0 - 0 is no negative zero


def _swap(names: tuple[str, ...]) -> np.ndarray:
    return np.array([names.index(other_side(n)) for n in names])


def other_side(name: str) -> str:
    """ "left_knee" -> "right_knee" and back; a name without a side stays."""
    for side, other in (("left_", "right_"), ("right_", "left_")):
        if name.startswith(side):
            return other + name.removeprefix(side)
    return name


def _twin_joint(m: mujoco.MjModel, joint: int) -> int:
    """Id of the joint on the other side. A piece's joints are called piece/joint, and only the joint has a side."""
    *path, name = m.joint(joint).name.rsplit("/", 1)
    twin = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_JOINT, "/".join([*path, other_side(name)]))
    return joint if twin < 0 else twin  # a piece may have a left door only


def _joint_signs(m: mujoco.MjModel, joint: int, twin: int) -> tuple[np.ndarray, np.ndarray]:
    """Signs of a joint's coordinates and velocities when they are taken from its twin."""
    kind, kinds = m.jnt_type[joint], mujoco.mjtJoint
    if kind == kinds.mjJNT_FREE:
        return np.concatenate([POINT, QUAT]), np.concatenate([POINT, TURN])
    if kind == kinds.mjJNT_BALL:
        return QUAT, TURN
    image = m.jnt_axis[twin] * (TURN if kind == kinds.mjJNT_HINGE else POINT)
    sign = image @ m.jnt_axis[joint]
    if abs(abs(sign) - 1) > 1e-6:
        other = f"{m.joint(twin).name!r}'s {m.jnt_axis[twin]}"
        raise ValueError(f"joint {m.joint(joint).name!r}: axis {m.jnt_axis[joint]} is no mirror image of {other}")
    return np.array([np.round(sign)]), np.array([np.round(sign)])
