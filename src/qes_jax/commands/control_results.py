"""Measure the controllers and write the page of results: python experiments/control_results.py [--quick] [--workers N]

Walks of every style and body, jumps, strict against weighted priorities, pushes. Writes control.md and control.json
to --out. Each row is kept in --scratch, named by a checksum of the controllers, so that a run that was stopped goes on
where it was, and a changed controller is measured anew.
"""

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

import tyro

from qes_jax.commands.launch import explained
from qes_jax.files import replacing
from qes_jax.paths import cache_dir


@dataclass(frozen=True)
class Options:
    """How much to measure, and where to put it."""

    quick: bool = False
    """Seconds instead of a minute, fewer seeds and pushes: to see that all works."""
    workers: int = 2
    """Processes."""
    minutes: float | None = None
    """After this only finish what is begun or queued; the page says what is missing, the next run goes on."""
    only: str = ""
    """Only rows whose name begins so; no page is written."""
    out: Path = Path("experiments/results")
    """Folder for control.md and control.json."""
    scratch: Path = cache_dir() / "control_results"
    """Folder that keeps the rows."""


@explained
def main(argv: list[str] | None = None) -> int:
    """Measure what is not kept, then write the page."""
    options, start = tyro.cli(Options, args=argv, description=__doc__), time.perf_counter()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # for the workers: small matrices, one core each
    from qes_jax.assembly.controlling.results import checksum, measured, tasks  # only now: they import NumPy
    from qes_jax.assembly.controlling.text import page

    code = checksum()
    todo = [task for task in tasks(options.quick) if task[0].startswith(options.only)]
    if not todo:
        raise ValueError(f"no row begins with {options.only!r}: they are " + ", ".join(t[0] for t in tasks(True)))
    rows = {}
    for row in measured(todo, options.scratch / (code + "-quick" * options.quick), options.workers, options.minutes):
        rows[row["name"]] = row
        numbers = [f"{k} {v:.3g}" for k, v in row.items() if isinstance(v, int | float)]
        print(f"{len(rows):3}/{len(todo)} {row['name']:28} {'  '.join(numbers)}", flush=True)
    if options.only:
        return 0
    ordered, missing = [rows[t[0]] for t in todo if t[0] in rows], [t[0] for t in todo if t[0] not in rows]
    content = {"quick": options.quick, "controllers": code, "missing": missing, "rows": ordered}
    _write(options.out / "control.json", json.dumps(content, indent=1))
    _write(options.out / "control.md", page(rows, missing, options.quick))
    print(f"{options.out / 'control.md'}, in {(time.perf_counter() - start) / 60:.1f} min")
    return 0


def _write(path: Path, text: str) -> None:
    with replacing(path) as aside:
        aside.write_text(text.rstrip() + "\n", encoding="utf-8")
