"""The comparison behind pose.py table, and the choice of the refinement's settings behind pose.py tune."""

from functools import partial
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.assembly.posing.data import get_poses, is_own, say
from qes_jax.assembly.posing.options import Table, Tune
from qes_jax.files import replacing
from qes_jax.pose.compare import (
    READ,
    Edits,
    as_markdown,
    measure,
    methods,
    our_method,
    ours,
    target_and_joint_errors,
)
from qes_jax.pose.data import PoseSet, pairs, points_of
from qes_jax.pose.figure import Figure, make_figure
from qes_jax.pose.weights import load_paper, load_prior
from qes_jax.runs.folder import write_json

Column = dict[str, float]
TIMES = ("batched [ms/pose]", "single [ms]")


def table(options: Table) -> dict[str, Column]:
    """Every method on the same held-out edits."""
    figure, poses = make_figure(), get_poses(options.poses)
    paper, prior = load_paper(options.weights / "paper.npz"), load_prior(options.weights / "prior.npz")
    more = [load_prior(path) for path in options.seeds]
    edits, groups = held_out_edits(figure, poses, options.part, options.count)
    results = {}
    for method in methods(figure, paper, prior):
        results[method.name] = measure(method, edits, groups)
        say(f"measured: {method.name}")
    if more:
        every = [results["ours"], *(measure(our_method(figure, other), edits, groups) for other in more)]
        results |= over_seeds(every)
    print("\n" + as_markdown(results))
    if options.json:
        _write(options, results, {name: int(rows.sum()) for name, rows in groups.items()})
    return results


def over_seeds(columns: list[Column]) -> dict[str, Column]:
    """Mean and standard deviation over trainings with several seeds."""
    keys = [k for k in columns[0] if k not in TIMES]
    values = {k: [c[k] for c in columns] for k in keys}
    return {
        f"ours, mean of {len(columns)} seeds": {k: float(np.mean(v)) for k, v in values.items()},
        "deviation": {k: float(np.std(v, ddof=1)) for k, v in values.items()},
    }


def _write(options: Table, results: dict[str, Column], groups: dict[str, int]) -> None:
    assert options.json
    write_json(options.json, {"part": options.part, "edits": options.count, **groups, "methods": results})
    with replacing(options.json.with_suffix(".md")) as aside:
        aside.write_text(as_markdown(results))


def held_out_edits(figure: Figure, poses: PoseSet, part: str, count: int) -> tuple[Edits, dict[str, np.ndarray]]:
    """Edits within a second of a part's clips, always the same ones, and which are of recordings.

    Half are of recordings and half of our own clips, where there are both; among those every clip as often.
    """
    held = poses.part(part)
    own = np.array([is_own(s.name) for s in held.sources])[held.clip]
    halves = [np.flatnonzero(rows) for rows in (~own, own) if rows.any()]
    rng = np.random.default_rng(0)
    chosen = [
        _edits_of(PoseSet(held.qpos[rows], held.clip[rows], held.sources), count // len(halves), rng)
        for rows in halves
    ]
    starts, ends, names = (np.concatenate(x) for x in zip(*chosen, strict=True))
    columns = starts, points_of(figure, starts), points_of(figure, ends)
    recorded = np.array([not is_own(name) for name in names])
    groups = {"recordings": recorded} if 0 < recorded.sum() < len(recorded) else {}
    return Edits(*(jnp.asarray(np.moveaxis(x, 0, -1)) for x in columns)), groups


def _edits_of(poses: PoseSet, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Starts (count, 39), ends (count, 39) and the names of their clips, every clip as often."""
    start, end = pairs(poses, 100 * count, 1.0, rng)
    by_clip = np.argsort(poses.clip[start], kind="stable")
    clips = poses.clip[start][by_clip]
    rank = np.arange(len(clips)) - np.searchsorted(clips, clips)  # the first of every clip, then the second, ...
    rows = by_clip[np.argsort(rank, kind="stable")[:count]]
    return poses.qpos[start[rows]], poses.qpos[end[rows]], [poses.sources[c].name for c in poses.clip[start[rows]]]


def tune(options: Tune) -> list[Column]:
    """Errors on the validation clips for each choice of the refinement's settings, best first by the joints'."""
    figure, prior = make_figure(), load_prior(options.weights / "prior.npz")
    edits, _ = held_out_edits(figure, get_poses(options.poses), "validation", options.count)
    solve, rows = jax.jit(partial(ours, figure, prior), static_argnums=(0, 2)), []
    for steps, damping, back in product(options.steps, options.damping, options.back):
        settings = {"damping": damping, "back": back}
        errors = {k: target_and_joint_errors(solve(steps, edits, n, **settings), edits, n) for k, n in READ.items()}
        joints = {f"joints, k = {k} [cm]": e["joints [cm]"] for k, e in errors.items()}
        rows.append({**settings, "steps": steps, "target after [cm]": errors[5]["target after [cm]"], **joints})
        say("  ".join(f"{name} {value:.3g}" for name, value in rows[-1].items()))
    rows.sort(key=lambda row: sum(row[f"joints, k = {k} [cm]"] for k in READ))
    if options.json:
        write_json(options.json, rows)
    return rows
