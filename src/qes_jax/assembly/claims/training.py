"""The runs of a table trained: begun, resumed or left alone, as each has need."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import jax

from qes_jax.assembly.claims.grid import Run
from qes_jax.assembly.settings import RunConfig
from qes_jax.assembly.training import train_run
from qes_jax.runs.checkpoint import CheckpointStore
from qes_jax.runs.config import from_json
from qes_jax.runs.folder import RunFolder, create_at
from qes_jax.runs.tracker import TrackerName

Outcome = Literal["done", "stopped", "failed"]


def open_run(run: Run) -> RunFolder:
    """The run's folder, made where it is not there yet. Raises ValueError where it holds a run of other settings."""
    folder = RunFolder(run.folder)
    if not folder.config.is_file():
        return create_at(run.folder, run.config)
    saved = from_json(RunConfig, folder.read_config(), str(folder.config))
    if saved != run.config:
        fields = [name for name in vars(saved) if getattr(saved, name) != getattr(run.config, name)]
        raise ValueError(
            f"{folder.config}: {fields[0]} is {getattr(saved, fields[0])!r}, asked for is "
            f"{getattr(run.config, fields[0])!r}: give another --root, or the settings that it was begun with"
        )
    return folder


def finished(run: Run) -> bool:
    """Whether the run's newest good checkpoint is its last."""
    checkpoints = run.folder / "checkpoints"
    found = CheckpointStore(checkpoints).latest() if checkpoints.is_dir() else None
    return found is not None and found.meta["samples"] >= run.config.samples


def train(run: Run, tracker: TrackerName, root: Path, environment: Mapping[str, str]) -> Outcome:
    """Train a run to its end unless it has one. Raises ValueError like `open_run`."""
    folder = open_run(run)
    if finished(run):
        print(f"{folder.name}: trained already", flush=True)
        return "done"
    print(f"{folder.name}: {run.config.samples:,} samples", flush=True)
    failed = train_run(run.config, folder, tracker, root, environment) != 0
    jax.clear_caches()  # the next one compiles its own, and memory is bounded
    return "failed" if failed else "done" if finished(run) else "stopped"
