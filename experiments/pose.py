"""Pose edition: python experiments/pose.py data FOLDER ... | train | tune | table [--json FILE]

data   makes a set of poses of recordings, of clips and of the built-in clips, and reports counts
train  trains the prior, and the published networks that it is compared with
tune   measures settings of the solver on the validation clips
table  measures all methods on the same test poses and targets, on one core
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from launch import cache_dir, explained, prepare_jax

POSES = cache_dir() / "poses.npz"
WEIGHTS = Path("experiments/weights/pose")


@dataclass(frozen=True)
class Data:
    """Make a set of poses and report how many."""

    folders: Annotated[tuple[Path, ...], tyro.conf.Positional] = ()
    """Recordings and clips, or folders of them."""
    out: Path = POSES
    json: Path | None = None
    """Where the report goes."""
    builtin: bool = True
    """The built-in clips too; they are built where the cache has none."""
    validation: tuple[str, ...] = ()
    """Names of clips and recordings to choose settings on, beside our own: then chance holds out no others."""
    test: tuple[str, ...] = ()
    """Names of those that are only for the table."""


@dataclass(frozen=True)
class Train:
    """Train the prior and the published networks."""

    poses: Path = POSES
    out: Path = WEIGHTS
    what: tuple[Literal["prior", "paper"], ...] = ("prior", "paper")
    steps: int = 5000
    """Of the prior's training, 256 edits each."""
    even: float = 0.5
    """A source of n poses gives n^even of the edits, in proportion: 1 as they come, 0 all sources alike."""
    curve: Path | None = None
    """Train on parts of the data instead, and write the learning curve (JSON, and a plot beside it)."""
    seed: int = 0


@dataclass(frozen=True)
class Table:
    """Measure all methods in one run."""

    poses: Path = POSES
    weights: Path = WEIGHTS
    json: Path | None = None
    """Where the table goes, and as Markdown beside it."""
    count: int = 1024
    """Edits."""
    part: Literal["test", "validation"] = "test"
    seeds: tuple[Path, ...] = ()
    """Priors (.npz) trained with other seeds: mean and deviation with the first."""


@dataclass(frozen=True)
class Tune:
    """Measure settings of the solver on the validation clips."""

    poses: Path = POSES
    weights: Path = WEIGHTS
    json: Path | None = None
    count: int = 512
    damping: tuple[float, ...] = (0.1, 0.2, 0.4)
    back: tuple[float, ...] = (0.1, 0.2, 0.4)
    steps: tuple[int, ...] = (5,)


@explained
def main(argv: list[str] | None = None) -> int:
    """Do one of them. Exit code 2 at bad input."""
    options = tyro.cli(Data | Train | Table | Tune, description=__doc__, args=argv)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if isinstance(options, Table):
        one_core()
    prepare_jax()
    if path := getattr(options, "json", None):
        path.parent.mkdir(parents=True, exist_ok=True)
    do(options)
    return 0


def do(options: Data | Train | Table | Tune) -> None:
    """The work, whose modules import JAX."""
    if isinstance(options, Data):
        from pose_data import make_data

        make_data(options)
    elif isinstance(options, Train):
        from pose_work import train

        train(options)
    else:
        from pose_table import table, tune

        table(options) if isinstance(options, Table) else tune(options)


def one_core() -> None:
    """Measure on one core, where the system lets us say so; else XLA's own threads are at least switched off."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"


if __name__ == "__main__":
    sys.exit(main())
