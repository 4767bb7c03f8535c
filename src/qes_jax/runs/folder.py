"""The folder of one run: what lies where, how it is named, and how one is found again."""

import dataclasses
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class RunFolder:
    """One run on disk. The configuration is written once, everything else grows while the run goes on."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def config(self) -> Path:
        return self.path / "config.json"

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def results(self) -> Path:
        return self.path / "results"

    def read_config(self) -> dict[str, Any]:
        """The saved configuration as plain JSON values (`runs.config.from_json` makes it typed). Raises ValueError."""
        try:
            return json.loads(self.config.read_text())
        except (OSError, ValueError, RecursionError) as error:
            raise ValueError(f"{self.config}: not a readable configuration: {error}") from error


@contextmanager
def held(run: RunFolder) -> Iterator[None]:
    """Hold a run folder for this process alone; the system lets go of it however the process ends.

    Raises ValueError where another process holds it.
    """
    with (run.path / "lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f"{run.path}: another process trains in this run folder: end it first") from None
        yield


def create(root: Path, preset: str, config: Any, now: datetime | None = None) -> RunFolder:
    """Makes `root/YYYYmmdd-HHMMSS-preset` (with `-2`, `-3`, ... where that is taken) and saves `config` in it.

    config: a dataclass instance or a mapping of JSON values.
    """
    base = f"{now or datetime.now():%Y%m%d-%H%M%S}-{preset}"
    for attempt in range(1, 1000):
        path = root / (base if attempt == 1 else f"{base}-{attempt}")
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        return create_at(path, config)
    raise FileExistsError(f"{root}: no free name for {base}")


def create_at(path: Path, config: Any) -> RunFolder:
    """A run folder of a name of one's own; the configuration is written last, so that a run that has one is whole."""
    run = RunFolder(path)
    run.checkpoints.mkdir(parents=True, exist_ok=True)
    run.results.mkdir(exist_ok=True)
    write_json(run.config, as_json(config))
    return run


def find(root: Path, name: str = "latest") -> RunFolder:
    """The run that `name` means: a path to a run folder, a name below `root`, or `latest`.

    Raises FileNotFoundError that lists the runs there are.
    """
    runs = list_runs(root)
    if name == "latest" and runs:
        return runs[-1]
    for path in (Path(name), root / name):
        if (path / "config.json").is_file():
            return RunFolder(path)
    known = ", ".join(r.name for r in runs[-10:]) or "none"
    raise FileNotFoundError(f"no run {name!r} with a config.json; the latest runs in {root} are: {known}")


def list_runs(root: Path) -> list[RunFolder]:
    """All runs below `root`, oldest first (names begin with the time)."""
    return sorted((RunFolder(p.parent) for p in root.glob("*/config.json")), key=lambda run: run.name)


def as_json(config: Any) -> Any:
    """JSON values of a dataclass instance or a mapping; paths become strings and tuples lists."""
    if dataclasses.is_dataclass(config) and not isinstance(config, type):
        return {f.name: as_json(getattr(config, f.name)) for f in dataclasses.fields(config)}
    if isinstance(config, Mapping):
        return {str(k): as_json(v) for k, v in config.items()}
    if isinstance(config, (list, tuple)):
        return [as_json(v) for v in config]
    return str(config) if isinstance(config, Path) else config


def write_json(path: Path, data: Any) -> None:
    """Writes JSON whole or not at all."""
    write_text(path, json.dumps(data, indent=2) + "\n")


def write_text(path: Path, text: str) -> None:
    """Writes a file whole or not at all: to a temporary name beside it, to the disk, then renamed."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
