"""Pose edition: python experiments/pose.py data FOLDER ... | train | table [--json FILE]

data   makes a set of poses of recordings, of clips and of the built-in clips, and reports counts
train  trains the prior, and the published networks that it is compared with
table  measures all methods on the same held-out poses and targets, on one core
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from launch import cache_dir, explained, prepare_jax

POSES = cache_dir() / "poses.npz"


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


@dataclass(frozen=True)
class Train:
    """Train the prior and the published networks."""

    poses: Path = POSES
    out: Path = Path("experiments/weights/pose")
    what: tuple[str, ...] = ("prior", "paper")
    steps: int = 4000
    """Of the prior's training, 512 edits each."""
    curve: Path | None = None
    """Train on parts of the data instead, and write the learning curve (JSON, and a plot beside it)."""
    seed: int = 0


@dataclass(frozen=True)
class Table:
    """Measure all methods in one run."""

    poses: Path = POSES
    weights: Path = Path("experiments/weights/pose")
    json: Path | None = None
    count: int = 512
    """Held-out edits."""


@explained
def main(argv: list[str] | None = None) -> int:
    """Do one of the three. Exit code 2 at bad input."""
    options = tyro.cli(Data | Train | Table, description=__doc__, args=argv)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if isinstance(options, Table):
        one_core()
    prepare_jax()
    import pose_work  # only now: it imports JAX

    work = {Data: "make_data", Train: "train", Table: "table"}[type(options)]
    getattr(pose_work, work)(options)
    return 0


def one_core() -> None:
    """Measure on one core, where the system lets us say so; else XLA's own threads are at least switched off."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"


if __name__ == "__main__":
    sys.exit(main())
