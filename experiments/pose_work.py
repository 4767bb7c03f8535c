"""The work behind pose.py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from clips import built_in

from qes_jax.authoring.catalogue import RECIPES
from qes_jax.files import replacing
from qes_jax.model.world import build_world
from qes_jax.motion.clip import load_clip
from qes_jax.motion.formats.read import read_recording
from qes_jax.motion.retarget import retarget
from qes_jax.pose.compare import Edits, as_markdown, measure, methods
from qes_jax.pose.data import (
    PoseSet,
    Source,
    is_held_out,
    join,
    load_poses,
    pairs,
    points_of,
    save_poses,
    standard_poses,
    with_mirror_images,
)
from qes_jax.pose.figure import Figure, make_figure
from qes_jax.pose.paper_train import train_paper
from qes_jax.pose.train import Schedule, train_prior
from qes_jax.pose.weights import load_paper, load_prior, save_tree
from qes_jax.runs.folder import write_json

if TYPE_CHECKING:
    from pose import Data, Table, Train

PARTS = ("training", "held_out")


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


def train(options: Train) -> None:
    """Train what is asked for on the training clips and their mirror images, and write it."""
    if options.curve:
        from pose_curve import learning_curve  # it builds on this file

        learning_curve(options)
        return
    figure, poses = make_figure(), with_mirror_images(build_world(), load_poses(options.poses).part(held_out=False))
    print(f"{len(poses.qpos)} poses, mirror images among them", flush=True)
    if "prior" in options.what:
        params = train_prior(figure, poses, options.seed, Schedule(updates=options.steps), say=_say)
        save_tree(options.out / "prior.npz", params)
    if "paper" in options.what:
        save_tree(options.out / "paper.npz", train_paper(points_of(figure, poses.qpos), poses, options.seed, say=_say))
    print(f"written to {options.out}")


def table(options: Table) -> dict[str, dict[str, float]]:
    """Every method on the same held-out edits."""
    figure = make_figure()
    edits = held_out_edits(figure, load_poses(options.poses), options.count)
    paper, prior = load_paper(options.weights / "paper.npz"), load_prior(options.weights / "prior.npz")
    results = {}
    for method in methods(figure, paper, prior):
        results[method.name] = measure(method, edits)
        print(f"measured: {method.name}", flush=True)
    print("\n" + as_markdown(results))
    if options.json:
        write_json(options.json, {"edits": options.count, "methods": results})
        with replacing(options.json.with_suffix(".md")) as aside:
            aside.write_text(as_markdown(results))
    return results


def held_out_edits(figure: Figure, poses: PoseSet, count: int) -> Edits:
    """Edits within a second of held-out clips, always the same ones, every clip as often."""
    held = poses.part(held_out=True)
    rng = np.random.default_rng(0)
    start, end = pairs(held, 40 * count, 1.0, rng)
    by_clip = np.argsort(held.clip[start], kind="stable")
    clips = held.clip[start][by_clip]
    rank = np.arange(len(clips)) - np.searchsorted(clips, clips)  # the first of every clip, then the second, ...
    rows = by_clip[np.argsort(rank, kind="stable")[:count]]
    starts, ends = held.qpos[start[rows]], held.qpos[end[rows]]
    columns = starts, points_of(figure, starts), points_of(figure, ends)
    return Edits(*(jnp.asarray(np.moveaxis(x, 0, -1)) for x in columns))


def _say(line: str) -> None:
    print(line, flush=True)
