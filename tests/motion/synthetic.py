"""Made-up clips for the tests: a body that moves every joint smoothly, in any scene."""

import numpy as np

from qes_jax.model.character import CharacterConfig
from qes_jax.model.scene import Scene
from qes_jax.model.world import build_world
from qes_jax.motion.build import kinematics, velocities
from qes_jax.motion.clip import Clip


def wobble(
    scene: Scene, frames: int = 12, height: float = 1.75, seed: int = 0, fps: float = 36.0, name: str = "wobble"
) -> Clip:
    """A clip whose root drifts and turns and whose hinges and object joints all swing within their ranges."""
    world = build_world(CharacterConfig(height=height), scene.pieces)
    rng, layout = np.random.default_rng(seed), world.layout
    t = np.arange(frames)[:, None] / fps
    qpos = np.tile(layout.home_qpos, (frames, 1))
    qpos[:, :3] += 0.3 * np.sin(t + rng.uniform(-3, 3, 3))
    angle, axis = 0.8 * np.sin(1.3 * t + rng.uniform(-3, 3)), rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    qpos[:, 3:7] = np.concatenate([np.cos(angle / 2), axis * np.sin(angle / 2)], axis=1)
    low, high = layout.joint_range.T
    phase = rng.uniform(-3, 3, len(low))
    qpos[:, layout.joint_qpos] = low + (high - low) * (0.5 + 0.4 * np.sin(t + phase))
    qpos[:, layout.object_qpos] += 0.2 * np.sin(t + rng.uniform(-3, 3, len(layout.object_qpos)))
    link_pos, link_quat, sensor_pos, sensor_quat = kinematics(world, qpos)
    contact = rng.integers(0, 2, (frames, len(layout.links), len(layout.objects))).astype(np.uint8)
    qvel = velocities(world.plain, qpos, fps).astype(np.float32)
    return Clip(
        name, "made up", "none", fps, height, scene, qpos.astype(np.float32), qvel, link_pos, link_quat, contact,
        sensor_pos, sensor_quat,
    )  # fmt: skip
