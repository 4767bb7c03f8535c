"""Train a policy: python experiments/run.py [--preset cpu] [--ablation no_contact] [--clips walk chair] [--resume latest] ..."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import tyro
from launch import prepare_jax
from settings import RunConfig, presets

from qes_jax.runs.folder import RunFolder, create, find

ROOT = Path("runs")


def main(argv: list[str] | None = None) -> int:
    """Parse the command line, then train. Exit code 0 when done or stopped on request, 1 when training failed."""
    run, config, tracker = parse(sys.argv[1:] if argv is None else argv)
    prepare_jax()
    from train_run import train_run  # only now: it imports JAX

    return train_run(run, config, tracker)


def parse(argv: list[str]) -> tuple[RunFolder, RunConfig, str]:
    """The run folder (a new one, or the one to resume), its settings, and the tracker's name."""
    start = preset_of(argv)

    def entry(
        config: Annotated[RunConfig, tyro.conf.arg(name="")] = start,
        resume: str | None = None,
        tracker: Literal["none", "wandb", "tensorboard"] = "wandb",
        root: Path = ROOT,
    ) -> tuple[RunFolder, RunConfig, str]:
        """Train a policy that follows headset and controllers through furnished rooms.

        Args:
            config: settings of the run.
            resume: a run folder, its name below root, or "latest": goes on with the settings saved there.
            tracker: where metrics are shown besides the run folder.
            root: where run folders lie.
        """
        if resume is None:
            return create(root, config.preset, config), config, tracker
        from qes_jax.runs.config import from_json

        run = find(root, resume)
        return run, from_json(RunConfig, run.read_config(), str(run.config)), tracker

    return tyro.cli(entry, args=argv)


def preset_of(argv: list[str]) -> RunConfig:
    """The preset that the command line names, before anything else of it is read."""
    known = presets()
    for i, word in enumerate(argv):
        name = word.removeprefix("--preset=") if word.startswith("--preset=") else None
        if word == "--preset" and i + 1 < len(argv):
            name = argv[i + 1]
        if name is not None:
            if name not in known:
                raise SystemExit(f"unknown preset {name!r}: expected one of {', '.join(known)}")
            return known[name]
    return known["cpu"]


if __name__ == "__main__":
    raise SystemExit(main())
