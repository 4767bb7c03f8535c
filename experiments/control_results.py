"""Measure the controllers and write the page of results: python experiments/control_results.py [--quick] [--workers N]

Walks of every style and body, jumps, strict against weighted priorities, pushes. Writes control.md and control.json
to --out. Each row is kept in --scratch, named by a checksum of the controllers, so that a run that was stopped goes on
where it was, and a changed controller is measured anew.
"""

import hashlib
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro
from launch import cache_dir, explained

from qes_jax.files import replacing

ROOT = Path(__file__).resolve().parents[1]
STYLES = ("normal", "fast", "slow", "sad")
BODIES = ("humanoid_arms2", "infant", "ostrich", "dinosaur", "humanoid_legs2", "humanoid_limbs2")
WALKING = (3.0, 3.3)  # [s] when a walker is pushed: half a step apart
DOUBLED = ("humanoid_arms2", "humanoid_legs2", "humanoid_limbs2")
OTHER_JUMPS = ("twist", "split", "forward")
Task = tuple[str, str, tuple]  # a row's name, the function of control_measure, its arguments


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
    out: Path = ROOT / "experiments" / "results"
    """Folder for control.md and control.json."""
    scratch: Path = cache_dir() / "control_results"
    """Folder that keeps the rows."""


def tasks(quick: bool) -> list[Task]:
    """All rows, in the order in which they are begun."""
    seconds, seeds, few, compared = (3.0, 2, 1, 4.5) if quick else (60.0, 20, 5, 6.0)
    found: list[Task] = [(f"walk/humanoid/{s}", "walk", ("humanoid", s, seconds)) for s in STYLES]
    found += [(f"compare/walk/{s}", "walk", ("humanoid", "normal", compared, s)) for s in ("weighted", "strict")]
    found += [(f"compare/jump/{s}", "jump", ("up", 0, s)) for s in ("weighted", "strict")]
    found += [(f"jump/{v}/{seed}", "jump", (v, seed)) for v in ("up", "kick") for seed in range(seeds)]
    found += [_push("walk", 20.0, at, quick) for at in ((3.0,) if quick else WALKING)]
    found += [_push("balance", size, 1.0, quick) for size in ((20.0,) if quick else (10.0, 15.0, 20.0, 30.0))]
    found += [(f"jump/{v}/{seed}", "jump", (v, seed)) for v in OTHER_JUMPS for seed in range(few)]
    found += [(f"jump/up {b}/{seed}", "jump", ("up", seed, "strict", b)) for b in DOUBLED for seed in range(few)]
    found += [(f"walk/{b}/normal", "walk", (b, "normal", seconds)) for b in BODIES]
    return found + [_push("walk", size, at, quick) for size in (10.0, 30.0) for at in WALKING if not quick]


def _push(motion: str, size: float, start: float, quick: bool) -> Task:
    """Watched for 3 s."""
    return f"push/{motion}/{size:g}/{start:g}", "pushes", (motion, size, start, 2 if quick else 8, 3.0)


def checksum() -> str:
    """Of all that decides a row."""
    files = [*(ROOT / "src/qes_jax/control").glob("*.py"), *(ROOT / "mjcf").rglob("*.xml")]
    files += [ROOT / "src/qes_jax/model" / name for name in ("bodies.py", "character.py")]
    files.append(Path(__file__).with_name("control_measure.py"))
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def measure_row(task: Task, path: Path) -> dict[str, Any]:
    """One row, kept in `path`."""
    import control_measure  # only now: it imports NumPy, in a process of its own

    name, function, arguments = task
    row = {"name": name, **getattr(control_measure, function)(*arguments)}
    with replacing(path) as aside:
        aside.write_text(json.dumps(row))
    return row


def measured(todo: list[Task], folder: Path, workers: int, minutes: float | None) -> Iterator[dict[str, Any]]:
    """Rows as they are done, those that are kept first; after `minutes` the rest is cancelled."""
    paths = {task[0]: folder / (task[0].replace("/", "-") + ".json") for task in todo}
    kept = [task for task in todo if paths[task[0]].exists()]
    yield from (json.loads(paths[task[0]].read_text()) for task in kept)
    new = [task for task in todo if task not in kept]
    if not new or minutes == 0:
        return
    end = float("inf") if minutes is None else time.perf_counter() + 60 * minutes
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        running = {pool.submit(measure_row, task, paths[task[0]]) for task in new}
        for done in as_completed(list(running)):
            running.discard(done)
            yield done.result()
            if time.perf_counter() > end:
                break
        yield from (f.result() for f in as_completed([f for f in running if not f.cancel()]))


@explained
def main(argv: list[str] | None = None) -> int:
    """Measure what is not kept, then write the page."""
    options, start = tyro.cli(Options, args=argv, description=__doc__), time.perf_counter()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # for the workers: small matrices, one core each
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
    from control_text import page

    ordered, missing = [rows[t[0]] for t in todo if t[0] in rows], [t[0] for t in todo if t[0] not in rows]
    content = {"quick": options.quick, "controllers": code, "missing": missing, "rows": ordered}
    _write(options.out / "control.json", json.dumps(content, indent=1))
    _write(options.out / "control.md", page(rows, missing, options.quick))
    print(f"{options.out / 'control.md'}, in {(time.perf_counter() - start) / 60:.1f} min")
    return 0


def _write(path: Path, text: str) -> None:
    with replacing(path) as aside:
        aside.write_text(text.rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
