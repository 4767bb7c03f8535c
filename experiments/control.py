"""Balance, jump or walk by prioritised optimisation, no motion capture.

python experiments/control.py walk --duration 20 --style fast --html walk.html --json walk.json
python experiments/control.py balance --push 30 --body ostrich
python experiments/control.py jump --variant twist --seed 1
python experiments/control.py walk --live          # sliders in the browser, at http://127.0.0.1:8080
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from launch import explained


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


@explained
def main(argv: list[str] | None = None) -> int:
    """Exit code 0 where it ran (see `fell` for how it ended), 2 at bad input."""
    options = tyro.cli(Options, args=argv, description=__doc__)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices are slower on many threads
    from control_run import run, run_live  # only now: they import NumPy

    return run_live(options) if options.live else run(options)


if __name__ == "__main__":
    sys.exit(main())
