"""Which sweep to run or to gather, and where."""

from dataclasses import dataclass
from pathlib import Path

import tyro


@dataclass(frozen=True)
class Options:
    """Run a sweep's settings one after the other, without an account; or gather what runs came to.

    A run that is there already is not done again, one that was stopped goes on. What follows `--` is added to each
    run's command line.
    """

    file: tyro.conf.Positional[Path | None] = None
    """The sweep (.yaml), as `wandb sweep` reads it."""
    gather: Path | None = None
    """Run nothing: table of all runs in this folder and below, whoever started them."""
    workers: int = 1
    """Runs at a time."""
    index: int = 0
    """Which share of the sweep this machine does, from 0 ..."""
    of: int = 1
    """... of how many shares."""
    count: int | None = None
    """How many settings to draw (always the same ones) where the sweep is not a grid."""
    dry: bool = False
    """Only print the command lines."""
    root: Path = Path("runs")
    """Where run folders go."""
    json: Path | None = None
    """Where the table goes too, as data."""
    plot: Path | None = None
    """Where the learning curves go (.png)."""
    metric: str = "eval/mean_tracked_s"
    """What the learning curves show."""
