"""What more data would bring: the prior trained on parts of the clips, measured on the same held-out edits."""

from functools import partial
from pathlib import Path

import jax
import matplotlib.pyplot as plt
import numpy as np

from qes_jax.assembly.posing.data import get_poses, say
from qes_jax.assembly.posing.options import Train
from qes_jax.assembly.posing.table import held_out_edits
from qes_jax.files import replacing
from qes_jax.model.world import build_world
from qes_jax.pose.compare import READ, ours, target_and_joint_errors
from qes_jax.pose.data import PoseSet, with_mirror_images
from qes_jax.pose.edit import STEPS_MANY
from qes_jax.pose.figure import make_figure
from qes_jax.pose.prior import learned, stay
from qes_jax.pose.train import Schedule, train_prior
from qes_jax.runs.folder import write_json

SHARES = (0.125, 0.25, 0.5, 1.0)  # of the training clips


def learning_curve(options: Train) -> list[dict[str, float]]:
    """Train once for each share, always for as many updates, and write the errors as JSON, and a plot beside it."""
    assert options.curve
    figure, world, poses = make_figure(), build_world(), get_poses(options.poses)
    (edits, _), training = held_out_edits(figure, poses, "test", 1024), poses.part("train")
    rows = [{"clips": 0, "poses": 0, **_errors(figure, stay, edits)}]
    for share in SHARES:
        part = some_clips(training, share, options.seed)
        params = train_prior(figure, with_mirror_images(world, part), options.seed, Schedule(updates=options.steps))
        clips = len(np.unique(part.clip))
        rows.append({"clips": clips, "poses": len(part.qpos), **_errors(figure, partial(learned, params), edits)})
        say(str(rows[-1]))
    write_json(options.curve, {"updates": options.steps, "seed": options.seed, "rows": rows})
    _plot(rows, options.curve.with_suffix(".png"))
    return rows


def some_clips(poses: PoseSet, share: float, seed: int) -> PoseSet:
    """The first of the clips in a random order that together hold `share` of the poses: larger parts hold smaller."""
    clips, counts = np.unique(poses.clip, return_counts=True)
    order = np.random.default_rng(seed).permutation(len(clips))
    enough = int(np.searchsorted(np.cumsum(counts[order]), share * counts.sum() - 0.5)) + 1
    rows = np.isin(poses.clip, clips[order[:enough]])
    return PoseSet(poses.qpos[rows], poses.clip[rows], poses.sources)


def _errors(figure, prior, edits) -> dict[str, float]:
    solve = jax.jit(partial(ours, figure, prior, STEPS_MANY), static_argnums=1)
    errors = {k: target_and_joint_errors(solve(edits, name), edits, name)["joints [cm]"] for k, name in READ.items()}
    return {f"joints, k = {k} [cm]": e for k, e in errors.items()}


def _plot(rows: list[dict[str, float]], path: Path) -> None:
    fig, axes = plt.subplots(figsize=(6, 4))
    for k in READ:
        key = f"joints, k = {k} [cm]"
        line = axes.plot([r["poses"] for r in rows[1:]], [r[key] for r in rows[1:]], "o-", label=f"{k} targets")[0]
        axes.axhline(rows[0][key], ls=":", color=line.get_color())
    axes.set(xscale="log", xlabel="poses trained on (dotted: none, inverse kinematics)", ylabel="joints' error [cm]")
    axes.set_ylim(0, None)
    axes.legend()
    fig.tight_layout()
    with replacing(path, ".png") as aside:
        fig.savefig(aside, dpi=110)
    plt.close(fig)
