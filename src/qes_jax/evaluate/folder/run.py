"""A folder evaluated from end to end: import, follow, report. What is done already is not done again."""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from qes_jax.evaluate.figures import by_setting
from qes_jax.evaluate.folder.follow import ByThreshold, Follower, Known, batches, follow_batch, look_at
from qes_jax.evaluate.folder.groups import by_group, labels, page
from qes_jax.evaluate.folder.recordings import Refused, find_recordings, import_all
from qes_jax.evaluate.metrics import THRESHOLDS
from qes_jax.evaluate.tables import as_values, from_values
from qes_jax.runs.folder import write_json, write_text

Tell = Callable[[str], None]  # takes a whole line
LINES = 60  # groups in a plot


@dataclass(frozen=True)
class Gathered:
    """Clips of a folder, and the files that gave none with their reasons."""

    clips: list[Known]
    refused: dict[str, str]


def gather(
    folder: Path, height: float, cache: Path, limit: int | None = None, workers: int = 1, tell: Tell = print
) -> Gathered:
    """Every recording of a folder as a clip for a body of `height` [m]. Raises ValueError where none can be read."""
    files = find_recordings(folder, limit)
    found = Gathered([], {})
    for number, one in enumerate(import_all(files, folder, height, cache, workers), 1):
        place = f"{number}/{len(files)}"
        if isinstance(one, Refused):
            found.refused[one.name] = one.reason
            tell(f"import {place} {one.name}: NOT READ: {one.reason}")
            continue
        found.clips.append(look_at(one.name, one.clip))
        if one.fresh:
            tell(f"import {place} {one.name}: {found.clips[-1].seconds:.1f} s")
    minutes = sum(c.seconds for c in found.clips) / 60
    tell(f"{len(found.clips)} recordings, {minutes:.1f} min; {len(found.refused)} files not read")
    if not found.clips:
        raise ValueError(f"{folder}: none of its {len(files)} files could be read")
    return found


def follow_all(follower: Follower, clips: Sequence[Known], kept: Path, tell: Tell = print) -> list[ByThreshold]:
    """Scores of each clip. Each batch's are kept as files in `kept`, from which a later call takes them."""
    kept = kept / settings_key(follower)
    kept.mkdir(parents=True, exist_ok=True)
    todo = [c for c in clips if _read(_file(kept, c)) is None]
    tell(f"following {len(todo)} recordings, {len(clips) - len(todo)} are done already (compiling first)")
    began, done = time.perf_counter(), 0
    for batch in batches(follower, todo):
        for clip, found in zip(batch, follow_batch(follower, batch), strict=True):
            values = {f"{t:g}": as_values(s) for t, s in found.items()}
            write_json(_file(kept, clip), {"name": clip.name, "seconds": clip.seconds, "thresholds": values})
        done += len(batch)
        left = (time.perf_counter() - began) / done * (len(todo) - done)
        tell(f"followed {done}/{len(todo)}, about {left / 60:.1f} min left")
    read = [_read(_file(kept, c)) for c in clips]
    if None in read:
        raise ValueError(f"{kept}: a result that was written cannot be read back")
    return [r for r in read if r is not None]


def settings_key(follower: Follower) -> str:
    """A short checksum of all that results depend on besides the clip: the policy, its task and body, starts, time."""
    digest = hashlib.sha256()
    for leaf in jax.tree.leaves((follower.policy, follower.mean_pose)):
        digest.update(np.asarray(leaf).tobytes())
    task = follower.task
    digest.update(repr((task.config, task.engine.world.character, follower.n_starts, follower.seconds)).encode())
    return digest.hexdigest()[:12]


def _file(kept: Path, clip: Known) -> Path:
    """By the clip's content: a recording that was changed is followed anew."""
    return (
        kept
        / f"{Path(clip.name).name}-{hashlib.sha256(clip.name.encode() + clip.path.read_bytes()).hexdigest()[:12]}.json"
    )


def _read(path: Path) -> ByThreshold | None:
    try:
        values = json.loads(path.read_text())["thresholds"]
        return {t: from_values(values[f"{t:g}"]) for t in THRESHOLDS}
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not there, or by other code: made anew


def write_report(
    out: Path, gathered: Gathered, found: Sequence[ByThreshold], how: str | None, about: dict[str, Any]
) -> str:
    """table.md, results.json and a plot for each grouping, in `out`. Returns the table. `about` goes into the JSON."""
    names = [c.name for c in gathered.clips]
    tables = {title: by_group(of, found) for title, of in labels(names, how).items()}
    text = page(tables, names, found, gathered.refused, about["seconds"])
    write_text(out / "table.md", text)
    values = {title: {g: _values(f) for g, f in groups.items()} for title, groups in tables.items()}
    recordings = {
        name: {"seconds": c.seconds, **_values(f)} for name, c, f in zip(names, gathered.clips, found, strict=True)
    }
    write_json(out / "results.json", about | {"groups": values, "recordings": recordings, "refused": gathered.refused})
    for title, groups in tables.items():
        rows = {g: {f"{t:g} m": f[t].to_end for t in THRESHOLDS} for g, f in list(groups.items())[:LINES]}
        figure = by_setting(rows, f"followed to the end [%], by {title}")
        figure.savefig(out / f"{title.replace(' ', '_')}.png", dpi=120)
    return text


def _values(found: ByThreshold) -> dict[str, Any]:
    return {f"{t:g}": as_values(s) for t, s in found.items()}
