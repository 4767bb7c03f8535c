"""Metrics of a run as JSON lines, one an iteration.

A line holds only what the run computed, so that two runs of one seed write the same lines; what the clock says stands
under keys that begin with `time/`, which `comparable` leaves out.
"""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CLOCK = "time/"


class MetricsWriter:
    """Appends lines to a file. Opened at `lines`, it first drops whatever was written after that line.

    A run killed and resumed from a checkpoint thus repeats the lines that came after the checkpoint, and never twice.
    Raises ValueError where the file holds fewer than `lines` whole lines.
    """

    def __init__(self, path: Path, lines: int = 0) -> None:
        self.lines = lines
        path.touch()
        truncate_lines(path, lines)
        self._file = path.open("a", encoding="utf-8")

    def write(self, metrics: Mapping[str, float]) -> None:
        """Writes one line. Numbers that are not finite become null (JSON has none)."""
        self._file.write(json.dumps({k: _number(v) for k, v in metrics.items()}) + "\n")
        self._file.flush()
        self.lines += 1

    def sync(self) -> None:
        """Forces the lines to the disk: to be called before the checkpoint that counts on them."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def truncate_lines(path: Path, lines: int) -> None:
    """Cuts the file after its first `lines` lines. Raises ValueError where it has fewer whole ones."""
    data = path.read_bytes()
    end = 0
    for i in range(lines):
        end = data.find(b"\n", end) + 1
        if end == 0:
            raise ValueError(f"{path}: the checkpoint counts on {lines} lines, the file has {i} whole ones")
    os.truncate(path, end)


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """All whole lines. A last line without its end (the run was killed as it wrote) is left out.

    Raises ValueError that names the line which is not JSON.
    """
    try:
        *lines, _ = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not text: {error}") from None
    rows = []
    for i, line in enumerate(lines, start=1):
        try:
            rows.append(json.loads(line, parse_constant=_refuse, parse_float=_finite))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}: line {i} is not JSON: {error}") from error
    return rows


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


def _refuse(text: str) -> float:
    raise ValueError(f"{text} is not finite, and such numbers are written as null")


def comparable(row: Mapping[str, Any]) -> dict[str, Any]:
    """A line without what the clock said: equal for two runs of the same seed."""
    return {k: v for k, v in row.items() if not k.startswith(CLOCK)}


def _number(x: float) -> float | int | None:
    if isinstance(x, int):
        return x
    return float(x) if math.isfinite(x) else None
