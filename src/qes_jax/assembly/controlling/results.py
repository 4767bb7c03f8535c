"""The rows of the page of results: which there are, and each measured once and kept."""

import hashlib
import json
import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from qes_jax.assembly.controlling import measure
from qes_jax.files import replacing
from qes_jax.paths import mjcf_dir

STYLES = ("normal", "fast", "slow", "sad")
BODIES = ("humanoid_arms2", "infant", "ostrich", "dinosaur", "humanoid_legs2", "humanoid_limbs2")
WALKING = (3.0, 3.3)  # [s] when a walker is pushed: half a step apart
DOUBLED = ("humanoid_arms2", "humanoid_legs2", "humanoid_limbs2")
OTHER_JUMPS = ("twist", "split", "forward")
SLOPES = [(size, way) for size in (4.0, 8.0) for way in (0, 90, 180, 270)]  # [degrees]
Task = tuple[str, str, tuple]  # a row's name, the function of measure.py, its arguments


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
    found += [(f"slope/{size:g}/{way}", "slope", (size, way, 6.0 if quick else 20.0)) for size, way in SLOPES]
    return found + [_push("walk", size, at, quick) for size in (10.0, 30.0) for at in WALKING if not quick]


def _push(motion: str, size: float, start: float, quick: bool) -> Task:
    """Watched for 3 s."""
    return f"push/{motion}/{size:g}/{start:g}", "pushes", (motion, size, start, 2 if quick else 8, 3.0)


def checksum() -> str:
    """Of all that decides a row."""
    package = Path(__file__).resolve().parents[2]
    files = [*(package / "control").glob("*.py"), *mjcf_dir().rglob("*.xml")]
    files += [package / "model" / name for name in ("bodies.py", "character.py")]
    files.append(Path(__file__).with_name("measure.py"))
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def measure_row(task: Task, path: Path) -> dict[str, Any]:
    """One row, kept in `path`."""
    name, function, arguments = task
    row = {"name": name, **getattr(measure, function)(*arguments)}
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
