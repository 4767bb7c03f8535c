"""Settings of the four parts of pose work."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from qes_jax.paths import cache_dir, weights_dir

POSES = cache_dir() / "poses.npz"
WEIGHTS = weights_dir() / "pose"


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
    out: Path = Path("experiments/weights/pose")
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
