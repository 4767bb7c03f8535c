"""From a trajectory of qpos to a whole clip: velocities, link poses, sensors and contact labels."""

import mujoco
import numpy as np

from qes_jax.model.character import CharacterConfig
from qes_jax.model.scene import Scene
from qes_jax.model.world import SENSORS, World, build_world
from qes_jax.motion.clip import FPS, Clip, ClipError, validate_clip
from qes_jax.motion.contacts import label_contacts


def make_clip(
    name: str, qpos: np.ndarray, scene: Scene, height: float, source: str, licence: str, fps: float = FPS
) -> Clip:
    """Complete qpos (T, nq) of a character of `height` [m] in a scene into a validated clip."""
    world = build_world(CharacterConfig(height=height), scene.pieces)
    qpos = np.asarray(qpos, np.float64)
    link_pos, link_quat, sensor_pos, sensor_quat = kinematics(world, qpos)
    clip = Clip(
        name, source, licence, fps, height, scene,
        qpos=qpos.astype(np.float32),
        qvel=velocities(world.plain, qpos, fps).astype(np.float32),
        link_pos=link_pos, link_quat=link_quat, sensor_pos=sensor_pos, sensor_quat=sensor_quat,
        contact=label_contacts(world, qpos, fps=fps),
    )  # fmt: skip
    validate_clip(clip)
    return clip


def clip_world(clip: Clip, alone: bool = False) -> World:
    """The character and the pieces of a clip, or the character `alone`. Raises ClipError where another body moves."""
    world = build_world(CharacterConfig(height=clip.height), clip.scene.pieces)
    links, known = clip.link_pos.shape[1], len(world.layout.links)
    if links != known:
        raise ClipError(f"clip {clip.name!r}: {links} links, the character has {known}")
    if clip.qpos.shape[1] != world.plain.nq:
        raise ClipError(
            f"clip {clip.name!r}: qpos has {clip.qpos.shape[1]} columns, the character in its scene {world.plain.nq}"
        )
    return build_world(CharacterConfig(height=clip.height)) if alone else world


def velocities(m: mujoco.MjModel, qpos: np.ndarray, fps: float) -> np.ndarray:
    """(T, nv) forward differences of qpos (T, nq) on its manifold; the last frame repeats the one before."""
    qvel = np.zeros((len(qpos), m.nv))
    for t in range(len(qpos) - 1):
        mujoco.mj_differentiatePos(m, qvel[t], 1.0 / fps, qpos[t], qpos[t + 1])
    qvel[-1] = qvel[-2]
    return qvel


def kinematics(world: World, qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Links (T, L, 3) and (T, L, 4), sensors (T, 3, 3) and (T, 3, 4): positions and quaternions, float32."""
    m, links = world.plain, world.layout.link_ids + 1
    data = mujoco.MjData(m)
    sites = [m.site(s).id for s in SENSORS]
    owners = m.site_bodyid[sites]  # a sensor's axes are those of the link that carries it
    rows = []
    for q in qpos:
        data.qpos[:] = q
        mujoco.mj_kinematics(m, data)
        rows.append((data.xpos[links], data.xquat[links], data.site_xpos[sites], data.xquat[owners]))  # all copies
    link_pos, link_quat, sensor_pos, sensor_quat = (np.stack(c).astype(np.float32) for c in zip(*rows, strict=True))
    return link_pos, link_quat, sensor_pos, sensor_quat
