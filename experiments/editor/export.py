"""An authored motion as files: the clip that training reads, and BVH and GLB for other programs."""

from pathlib import Path

import numpy as np

from qes_jax.evaluate.glb import write_glb
from qes_jax.model.scene import Scene
from qes_jax.model.world import World
from qes_jax.motion.clip import save_clip
from qes_jax.motion.export import clip_skeleton
from qes_jax.motion.formats.bvh_write import write_bvh
from qes_jax.pose.editor.library import checked_name
from qes_jax.pose.editor.timeline import Timeline, timeline_clip


def save_motion(folder: Path, name: str, keys: Timeline, qpos: np.ndarray, scene: Scene, world: World) -> list[Path]:
    """Write NAME.npz, .bvh and .glb of qpos (T, 39); each is written whole or not at all. Returns the files."""
    name = checked_name(name)
    clip = timeline_clip(keys, qpos, name, scene, world)
    npz, bvh, glb = (folder / f"{name}{ending}" for ending in (".npz", ".bvh", ".glb"))
    save_clip(npz, clip)
    write_bvh(bvh, clip_skeleton(clip))
    write_glb(glb, clip)
    return [npz, bvh, glb]
