"""Training of the prior and the published networks, with what was trained on written beside the weights."""

import hashlib
import time
from importlib.metadata import version

from qes_jax.assembly.posing.data import get_poses, say
from qes_jax.assembly.posing.options import Train
from qes_jax.model.world import build_world
from qes_jax.pose.data import PARTS, PoseSet, points_of, with_mirror_images
from qes_jax.pose.figure import Figure, make_figure
from qes_jax.pose.paper_train import train_paper
from qes_jax.pose.train import Schedule, train_prior
from qes_jax.pose.weights import save_tree
from qes_jax.runs.folder import write_json


def train(options: Train, command: str) -> None:
    """Train what is asked for on the training clips and their mirror images; write weights, and by which command."""
    every = get_poses(options.poses)
    poses = with_mirror_images(build_world(), every.part("train"))
    print(f"{len(poses.qpos)} poses, mirror images among them", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    figure = make_figure()
    for what in options.what:
        began, spent = time.perf_counter(), time.process_time()
        save_tree(options.out / f"{what}.npz", _train_one(what, figure, poses, options))
        seconds = {"wall": round(time.perf_counter() - began), "processor": round(time.process_time() - spent)}
        write_json(options.out / f"{what}.json", {**_provenance(options, command, every), "seconds": seconds})
        print(f"written to {options.out / what}.npz, .json: {seconds['wall']} s")


def _train_one(what: str, figure: Figure, poses: PoseSet, options: Train):
    if what == "paper":
        return train_paper(points_of(figure, poses.qpos), poses, options.seed, say=say)
    return train_prior(figure, poses, options.seed, Schedule(updates=options.steps, even=options.even), say=say)


def _provenance(options: Train, command: str, poses: PoseSet) -> dict:
    """How weights came about: command, seed, versions, the poses by part and source."""
    of_part = {part: [s for s in poses.sources if s.part == part] for part in PARTS}
    kinds = sorted({(s.source, s.licence) for s in of_part["train"]})
    return {
        "command": command,
        "seed": options.seed,
        "updates of the prior": options.steps,
        "versions": {name: version(name) for name in ("qes_jax", "jax", "flax", "optax")},
        "poses": {part: sum(s.poses for s in found) for part, found in of_part.items()},
        "sha256 of the poses": hashlib.sha256(poses.qpos.tobytes()).hexdigest(),
        "trained on": [
            {"source": source, "licence": licence, "poses": sum(s.poses for s in same), "clips": [s.name for s in same]}
            for source, licence in kinds
            for same in [[s for s in of_part["train"] if (s.source, s.licence) == (source, licence)]]
        ],
        "held out": {part: [s.name for s in of_part[part]] for part in PARTS[1:]},
    }
