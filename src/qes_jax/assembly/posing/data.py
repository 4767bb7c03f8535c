"""A set of poses from recordings and clips: pose.py data."""

from pathlib import Path

import numpy as np

from qes_jax.assembly.clips import built_in
from qes_jax.assembly.posing.options import POSES, Data
from qes_jax.authoring.catalogue import RECIPES
from qes_jax.authoring.library import LIBRARY
from qes_jax.motion.clip import load_clip
from qes_jax.motion.formats.read import read_recording
from qes_jax.motion.retarget import retarget
from qes_jax.pose.data import FPS, PARTS, PoseSet, Source, join, load_poses, part_of, save_poses, standard_poses
from qes_jax.pose.figure import Figure, make_figure
from qes_jax.runs.folder import write_json

KINDS = (".npz", ".npy", ".txt", ".json", ".bvh", ".amc", ".glb", ".gltf")


def make_data(options: Data) -> PoseSet:
    """Read what can be read, say what cannot, write the set, report counts."""
    figure, found = make_figure(), []
    for path in files(options.folders):
        try:
            found.append(_poses_of(figure, options, *_motion(path)))
        except (ValueError, KeyError) as error:
            print(f"skipped {path.name}: {error}", flush=True)
            continue
        print(f"{found[-1][0].poses:6} poses  {found[-1][0].part:10}  {path.name}", flush=True)
    if options.folders and not found:
        raise ValueError(f"{', '.join(map(str, options.folders))}: none of the files could be read as a motion")
    names = {source.name for source, _ in found}
    for name in [n for n in RECIPES if options.builtin and n not in names]:
        clip = built_in(name)
        found.append(_poses_of(figure, options, clip.name, clip.source, clip.licence, clip.qpos, clip.fps))
        print(f"{found[-1][0].poses:6} poses  {found[-1][0].part:10}  {name}", flush=True)
    poses = join(found)
    _all_known(options, poses)
    save_poses(options.out, poses)
    _report(poses, options.json)
    print(f"written to {options.out}")
    return poses


def get_poses(path: Path) -> PoseSet:
    """The set in a file; where the usual one is not there yet it is made of the built-in clips, which is said."""
    if path == POSES and not path.exists():
        print(f"{path}: no set of poses yet; making one of the built-in clips (of recordings: pose.py data FOLDER)")
        make_data(Data())
    return load_poses(path)


def files(folders: tuple[Path, ...]) -> list[Path]:
    """Files in the order of their names. Raises FileNotFoundError, or ValueError at a folder without any."""
    found = []
    for folder in folders:
        if not folder.exists():
            raise FileNotFoundError(f"{folder}: no such file or folder")
        here = [folder] if folder.is_file() else sorted(f for f in folder.rglob("*") if f.suffix.lower() in KINDS)
        if not here:
            raise ValueError(f"{folder}: no recordings or clips in it, which end in {', '.join(KINDS)}")
        found += here
    return found


def is_own(name: str) -> bool:
    """Whether a clip of that name is of this project's own making."""
    return name in RECIPES or name in LIBRARY


def _motion(path: Path) -> tuple[str, str, str, np.ndarray, float]:
    """Name, source, licence, qpos and rate of a clip, or of a recording that is first fitted to the character."""
    if path.suffix == ".npz":
        clip = load_clip(path)
        return clip.name, clip.source, clip.licence, clip.qpos, clip.fps
    _, recording = read_recording(path)
    fit = retarget(recording, path.stem, fps=FPS)
    return path.stem, recording.source, recording.licence, fit.qpos, FPS


def _poses_of(
    figure: Figure, options: Data, name: str, source: str, licence: str, qpos: np.ndarray, fps: float
) -> tuple[Source, np.ndarray]:
    chosen = {**dict.fromkeys(options.validation, "validation"), **dict.fromkeys(options.test, "test")}
    by_name = part_of(name, is_own(name) or bool(chosen))
    poses = standard_poses(figure, qpos, fps)
    return Source(name, source, licence, chosen.get(name, by_name), len(poses)), poses


def _all_known(options: Data, poses: PoseSet) -> None:
    """Raises ValueError where a clip that is to be held out was not found: it would be trained on unnoticed."""
    names = {s.name for s in poses.sources}
    if missing := [n for n in (*options.validation, *options.test) if n not in names]:
        raise ValueError(f"to be held out but not found: {', '.join(missing)}; there are {', '.join(sorted(names))}")


def _report(poses: PoseSet, path: Path | None) -> None:
    clips = {part: sorted(s.name for s in poses.sources if s.part == part) for part in PARTS}
    counts = {part: sum(s.poses for s in poses.sources if s.part == part) for part in PARTS}
    for part in PARTS:
        print(f"{part:10} {counts[part]:7} poses of {len(clips[part])} clips: {', '.join(clips[part])}")
    if path:
        write_json(path, {"poses": counts, "clips": clips})


def say(line: str) -> None:
    """Print at once."""
    print(line, flush=True)
