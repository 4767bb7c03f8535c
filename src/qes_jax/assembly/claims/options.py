"""Which table, how much of it, and where it lies."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from qes_jax.assembly.claims.grid import COMMON
from qes_jax.runs.tracker import TrackerName


@dataclass(frozen=True)
class Options:
    """Train what a table of the paper lacks, evaluate it, write the table. What is there and finished is not redone."""

    table: tyro.conf.Positional[Literal[2, 3, 4]]
    """2: the full setting by family. 3: without contact reward, sight of the scene, randomisation. 4: sensors."""
    seeds: int = 5
    """Trainings of each setting; one alone gives no interval."""
    samples: int | None = None
    """Of each training; the preset's (20 million) if not given."""
    families: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME ...")] = COMMON
    """Families of motions to train and report on."""
    clips: Annotated[tuple[str, ...], tyro.conf.arg(metavar="FILE ...")] = ()
    """Recordings of climbs, made into clips by import_motion: one more family."""
    test_clips: Annotated[tuple[str, ...], tyro.conf.arg(metavar="FILE ...")] = ()
    """Climbs held out from training. Without any, the family is evaluated on those it was trained on."""
    preset: Literal["rooms", "cpu", "paper"] = "rooms"
    """Settings of the learner: two cores (large or small network), or the paper's for a GPU."""
    starts: int = 32
    """Start frames of each family, an even sample."""
    places: int = 4
    """From each start, in how many other places of the furniture."""
    place_spread: float = 0.08
    """How far the furniture is moved there, at most [m]."""
    index: int = 0
    """Which part of the runs to do here: --index I --of N, I from 0."""
    of: int = 1
    """Into how many parts the runs are divided."""
    train: bool = True
    """--no-train: only gather what is there."""
    smoke: bool = False
    """Tiny networks, a few thousand samples, two seeds, one family: to see that all works."""
    tracker: TrackerName = "wandb"
    """Where metrics are shown besides the run folders."""
    root: Path = Path("runs/tables")
    """Where the runs lie, each in a folder named by what it is."""
    out: Path | None = None
    """Folder of the table, its JSON and plots; root if not given."""
