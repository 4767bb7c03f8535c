"""Train a policy: python experiments/run.py [--preset cpu] [--ablation no_contact] [--clips walk] [--resume latest]"""

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import tyro

from qes_jax.assembly.settings import RunConfig, presets
from qes_jax.commands.launch import explained, prepare_jax
from qes_jax.runs.config import from_json
from qes_jax.runs.folder import RunFolder, find

ADAPT = 2_000_000  # [samples] of a run that carries on, unless said


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
    from qes_jax.assembly.training import train_run  # only now: they import JAX
    from qes_jax.runs.failure import TrainingFailed

    try:
        train_run(request.config, request.resume, request.tracker, request.root, os.environ)
    except TrainingFailed as error:
        print(error, flush=True)
        return 1
    return 0


def parse(argv: list[str]) -> Request:
    """Settings from the preset, changed by the command line; with --resume, those that the run was begun with."""
    start = start_of(argv)

    def entry(
        config: Annotated[RunConfig, tyro.conf.arg(name="")] = start,
        from_: Annotated[str | None, tyro.conf.arg(name="from")] = None,
        resume: str | None = None,
        tracker: Literal["none", "wandb", "tensorboard"] = "wandb",
        root: Path = Path("runs"),
    ) -> Request:
        """Train a policy that follows headset and controllers through furnished rooms.

        Args:
            config: settings of the run.
            from_: a run folder, its name below root or shipped weights: a new run with its settings that carries on
                from what it has learned, on clips of yours (--clips). Body, observation and network stay.
            resume: a run folder, its name below root, or "latest": goes on with the settings saved there.
            tracker: where metrics are shown besides the run folder.
            root: where run folders lie.
        """
        if resume is None:
            config = replace(config, start_from=from_)
            if config.scene and config.clips != start.clips:
                raise ValueError("give --clips or --scene, not both: a clip has its room (import_motion --scene)")
            return Request(config, None, tracker, root)
        if config != start:
            raise ValueError("--resume goes on with the settings saved in the run: leave out all others")
        run = find(root, resume)
        return Request(from_json(RunConfig, run.read_config(), str(run.config)), run, tracker, root)

    return tyro.cli(entry, args=argv)


def start_of(argv: list[str]) -> RunConfig:
    """The settings that others on the command line change: those of what --from names, else of the preset."""
    source = word_after("--from", argv)
    if source is None:
        return preset_of(argv)
    if word_after("--preset", argv) is not None:
        raise ValueError("give --from or --preset, not both: a run carries on with the settings of what it is from")
    prepare_jax()
    from qes_jax.assembly.trained import find_trained  # only now: it imports JAX

    folder = find_trained(Path(word_after("--root", argv) or "runs"), source)
    found = from_json(RunConfig, folder.read_config(), str(folder.config))
    return replace(found, samples=ADAPT, evaluate_every=40, checkpoint_every=40, evaluate_starts=64)


def preset_of(argv: list[str]) -> RunConfig:
    """The preset that the command line names, before anything else is read. Raises ValueError that lists them."""
    name = word_after("--preset", argv) or "cpu"
    if name not in presets():
        raise ValueError(f"unknown preset {name!r}: expected one of {', '.join(presets())}")
    return presets()[name]


def word_after(option: str, argv: list[str]) -> str | None:
    """What the last `option VALUE` or `option=VALUE` on the command line says; None where there is none."""
    found = None
    for i, word in enumerate(argv):
        if word.startswith(f"{option}="):
            found = word.removeprefix(f"{option}=")
        elif word == option and argv[i + 1 : i + 2]:
            found = argv[i + 1]
    return found
