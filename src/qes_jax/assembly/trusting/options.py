"""What the campaign's command line says."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from qes_jax.assembly.trusting.parts import Part


@dataclass(frozen=True)
class Options:
    """Spoil files and let every reader read them; write numbers that make no sense on every command line.

    minutes: for the readers, who are tried in turn.
    only: one part alone.
    readers: some readers alone, by the names that the page has.
    again: the folder of a finding, whose files are read once more.
    """

    minutes: float = 10.0
    only: Part | None = None
    seed: int = 0
    workers: int = 2
    readers: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    out: Path = Path("runs/trust")  # findings
    json: Path | None = None  # of all that was counted
    page: Path | None = None  # of it in words
    again: Path | None = None

    def __post_init__(self) -> None:
        if not 0 < self.minutes <= 24 * 60:
            raise ValueError(f"--minutes {self.minutes}: expected more than 0, at most a day")
        if self.seed < 0:
            raise ValueError(f"--seed {self.seed}: expected at least 0")
        if not 1 <= self.workers <= 64:
            raise ValueError(f"--workers {self.workers}: expected 1 to 64")
