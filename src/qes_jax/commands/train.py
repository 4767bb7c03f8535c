"""Train a policy: python experiments/run.py [--preset cpu] [--ablation no_contact] [--clips walk] [--resume latest]"""

import os
import sys
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import tyro

from qes_jax.assembly.settings import RunConfig, presets
from qes_jax.commands.launch import explained, prepare_jax
from qes_jax.runs.config import from_json
from qes_jax.runs.folder import RunFolder, find


class Request(NamedTuple):
    """What the command line asks for."""

    config: RunConfig
    resume: RunFolder | None  # None: a new run
    tracker: Literal["none", "wandb", "tensorboard"]
    root: Path


@explained
def main(argv: list[str] | None = None) -> int:
    """Parse the command line, then train. Exit code 0: done or stopped on request, 1: training failed, 2: bad input."""
    request = parse(sys.argv[1:] if argv is None else argv)
    prepare_jax()
    from qes_jax.assembly.training import train_run  # only now: it imports JAX

    return train_run(request.config, request.resume, request.tracker, request.root, os.environ)


def parse(argv: list[str]) -> Request:
    """Settings from the preset, changed by the command line; with --resume, those that the run was begun with."""
    start = preset_of(argv)

    def entry(
        config: Annotated[RunConfig, tyro.conf.arg(name="")] = start,
        resume: str | None = None,
        tracker: Literal["none", "wandb", "tensorboard"] = "wandb",
        root: Path = Path("runs"),
    ) -> Request:
        """Train a policy that follows headset and controllers through furnished rooms.

        Args:
            config: settings of the run.
            resume: a run folder, its name below root, or "latest": goes on with the settings saved there.
            tracker: where metrics are shown besides the run folder.
            root: where run folders lie.
        """
        if resume is None:
            if config.scene and config.clips != start.clips:
                raise ValueError("give --clips or --scene, not both: a clip has its room (import_motion --scene)")
            return Request(config, None, tracker, root)
        if config != start:
            raise ValueError("--resume goes on with the settings saved in the run: leave out all others")
        run = find(root, resume)
        return Request(from_json(RunConfig, run.read_config(), str(run.config)), run, tracker, root)

    return tyro.cli(entry, args=argv)


def preset_of(argv: list[str]) -> RunConfig:
    """The preset that the command line names, before anything else is read. Raises ValueError that lists them."""
    words = [w for i, word in enumerate(argv) if (w := _value(word, argv[i + 1 : i + 2])) is not None]
    name = words[-1] if words else "cpu"
    if name not in presets():
        raise ValueError(f"unknown preset {name!r}: expected one of {', '.join(presets())}")
    return presets()[name]


def _value(word: str, following: list[str]) -> str | None:
    if word.startswith("--preset="):
        return word.removeprefix("--preset=")
    return following[0] if word == "--preset" and following else None
