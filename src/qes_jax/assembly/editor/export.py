"""An authored motion as files: the clip that training reads, and BVH and GLB for other programs."""

from pathlib import Path

import numpy as np

from qes_jax.evaluate.glb import write_glb
from qes_jax.model.scene import Scene
from qes_jax.model.world import World
from qes_jax.motion.clip import Clip, save_clip
from qes_jax.motion.export import clip_skeleton
from qes_jax.motion.formats.bvh_write import write_bvh
from qes_jax.pose.editor.library import checked_name
from qes_jax.pose.editor.timeline import Timeline, timeline_clip


def save_motion(
    folder: Path, name: str, keys: Timeline, qpos: np.ndarray, scene: Scene, world: World
) -> tuple[list[Path], Clip]:  # fmt: skip
    """Write NAME.npz, .bvh and .glb of qpos (T, 39), each whole or not at all. Returns the files and the clip."""
    name = checked_name(name)
    clip = timeline_clip(keys, qpos, name, scene, world)
    npz, bvh, glb = (folder / f"{name}{ending}" for ending in (".npz", ".bvh", ".glb"))
    save_clip(npz, clip)
    write_bvh(bvh, clip_skeleton(clip))
    write_glb(glb, clip)
    return [npz, bvh, glb], clip


def touched(clip: Clip) -> str:
    """In words, how much of the time the body touches each object: where a seat has none, nobody sits on it."""
    share = clip.contact.any(axis=1).mean(axis=0)
    names = ("floor", *(p.name for p in clip.scene.pieces))
    return ", ".join(f"{name} {100 * s:.0f} %" for name, s in zip(names, share, strict=True))
