"""The work behind pose.py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from clips import built_in

from qes_jax.authoring.catalogue import RECIPES
from qes_jax.files import replacing
from qes_jax.motion.clip import load_clip
from qes_jax.motion.formats.read import read_recording
from qes_jax.motion.retarget import retarget
from qes_jax.pose.data import PoseSet, Source, is_held_out, join, save_poses, standard_poses
from qes_jax.pose.figure import Figure, make_figure
from qes_jax.runs.folder import write_json

if TYPE_CHECKING:
    from pose import Data


def make_data(options: Data) -> PoseSet:
    """Read what can be read, say what cannot, write the set, report counts."""
    figure, found = make_figure(), []
    for path in _files(options.folders):
        try:
            found.append(_poses_of(figure, *_motion(path)))
        except (ValueError, KeyError) as error:
            print(f"skipped {path.name}: {error}")
            continue
        print(f"{found[-1][0].poses:6} poses  {path.name}", flush=True)
    names = {source.name for source, _ in found}
    for name in [n for n in RECIPES if options.builtin and n not in names]:
        clip = built_in(name)
        found.append(_poses_of(figure, clip.name, clip.source, clip.licence, clip.qpos, clip.fps))
    poses = join(found)
    save_poses(options.out, poses)
    _report(poses, options.json)
    return poses


def _files(folders: tuple[Path, ...]) -> list[Path]:
    """Files in the order of their names. Raises FileNotFoundError."""
    for folder in folders:
        if not folder.exists():
            raise FileNotFoundError(f"{folder}: no such file or folder")
    kinds = {".npz", ".npy", ".txt", ".json", ".bvh", ".amc"}
    return [f for p in folders for f in ([p] if p.is_file() else sorted(p.rglob("*"))) if f.suffix.lower() in kinds]


def _motion(path: Path) -> tuple[str, str, str, np.ndarray, float]:
    """Name, source, licence, qpos and rate of a clip, or of a recording that is first fitted to the character."""
    if path.suffix == ".npz":
        clip = load_clip(path)
        return clip.name, clip.source, clip.licence, clip.qpos, clip.fps
    _, recording = read_recording(path)
    fit = retarget(recording, path.stem, fps=30.0)
    return path.stem, recording.source, recording.licence, fit.qpos, 30.0


def _poses_of(
    figure: Figure, name: str, source: str, licence: str, qpos: np.ndarray, fps: float
) -> tuple[Source, np.ndarray]:
    poses = standard_poses(figure, qpos, fps)
    return Source(name, source, licence, is_held_out(name), len(poses)), poses


def _report(poses: PoseSet, path: Path | None) -> None:
    counts = {part: sum(s.poses for s in poses.sources if s.held_out == (part == "held_out")) for part in PARTS}
    clips = {part: sorted(s.name for s in poses.sources if s.held_out == (part == "held_out")) for part in PARTS}
    for part in PARTS:
        print(f"{part:9} {counts[part]:7} poses of {len(clips[part])} clips: {', '.join(clips[part])}")
    if path:
        write_json(path, {"poses": counts, "clips": clips})


PARTS = ("training", "held_out")
