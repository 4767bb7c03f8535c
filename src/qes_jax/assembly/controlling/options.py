"""What to simulate, and what to keep of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro


@dataclass(frozen=True)
class Options:
    """What to simulate, and what to keep of it."""

    motion: tyro.conf.Positional[Literal["balance", "jump", "walk"]]
    duration: float = 10.0
    """[s] to simulate."""
    style: str = "normal"
    """Of the walk: normal, fast, slow, sad."""
    variant: str = "up"
    """Of the jump: up, twist, kick, split, forward."""
    body: str = "humanoid"
    """humanoid, humanoid_limbs2, infant, ostrich, dinosaur."""
    push: float = 0.0
    """[N s] against the trunk, once, at `push_time`."""
    push_angle: float = 90.0
    """[degrees] where the push goes: 0 forward, 90 to the left."""
    push_time: float = 3.0
    """[s] when."""
    slope: float = 0.0
    """[degrees] the floor rises towards `slope_heading`; it tips from level to that between 2 and 5 s."""
    slope_heading: float = 0.0
    """[degrees] 0 uphill, 90 the hill to the left, 180 downhill."""
    solver: Literal["strict", "kanoun", "weighted", "algorithm1"] = "strict"
    """strict is the fast one; algorithm1 is the paper's, to the letter and slow."""
    seed: int | None = None
    """Start from a pose disturbed at random, rather than from rest."""
    live: bool = False
    """Walk in the browser, with sliders, until Ctrl-C."""
    port: int = 8080
    """Of the browser's page."""
    json: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Where the metrics go."""
    html: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Where a 3-D playback goes."""
    plots: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Where a figure of COM, momentum and tracking errors goes (.png, .pdf, .svg)."""
    qpos: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Where the motion goes, an npz: qpos (T, nq) and fps."""
