"""Headset sessions as CSV: time_s [s], and for head_, left_, right_ pos_x..z [m] and rot_x..w, in Unity's frame.

Unity is left-handed: X to the right, Y up, Z ahead. Columns may stand in any order, among others; an empty cell is a
lost sample.
"""

import csv
from pathlib import Path

import numpy as np

from qes_jax.motion.formats.device import SENSORS, DeviceRecording, make_stream
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.text import is_comment, read_text
from qes_jax.motion.session import LEVEL, upright

PREFIXES = ("head", "left", "right")
COLUMNS = (
    "time_s",
    *(f"{p}_{c}" for p in PREFIXES for c in ("pos_x", "pos_y", "pos_z", "rot_x", "rot_y", "rot_z", "rot_w")),
)


def read_vive_csv(path: str | Path) -> DeviceRecording:
    """Read a session. Raises RecordingError that names file, column and line."""
    lines, table = _read_table(Path(path))
    order, notes = _order(table[:, 4:8])
    streams = []
    for n, name in enumerate(SENSORS):
        pos, xyzw = table[:, 1 + 7 * n : 4 + 7 * n], table[:, 4 + 7 * n : 8 + 7 * n][:, order]
        streams.append(
            make_stream(table[:, 0], to_ours(pos), from_unity(xyzw), f"{path}: {name}", lambda i: f"line {lines[i]}")
        )
    return DeviceRecording(str(path), "unity", (streams[0], streams[1], streams[2]), notes)


def _order(head: np.ndarray) -> tuple[list[int], tuple[str, ...]]:
    """Which columns of a quaternion hold x, y, z, w, told from the headset's (N, 4), and what is to be said of it.

    As they are called, unless that has the headset hang upside down or lie on its side, and w first has it upright.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        length = np.linalg.norm(head, axis=1)
    sound = head[np.isfinite(length) & (np.abs(length - 1) < 0.1)]
    first, usual = [1, 2, 3, 0], [0, 1, 2, 3]
    if len(sound) and upright(from_unity(sound)) < LEVEL and upright(from_unity(sound[:, first])) > LEVEL:
        return first, ("quaternions have w before x, y, z, whatever the columns say: only so is the headset up",)
    return usual, ()


def from_unity(xyzw: np.ndarray) -> np.ndarray:
    """Quaternions xyzw (N, 4) of Unity as wxyz in our axes. Their length is kept.

    The change of axes M is a reflection, which makes a turn about u one about M u by the opposite angle: (w, -M u).
    """
    return np.concatenate([xyzw[:, 3:], -to_ours(xyzw[:, :3])], axis=1)


def to_ours(vectors: np.ndarray) -> np.ndarray:
    """Vectors (N, 3) of Unity in our axes."""
    return vectors[:, [2, 0, 1]] * [1.0, -1.0, 1.0]


def _read_table(path: Path) -> tuple[list[int], np.ndarray]:
    """Line numbers (N,) and values (N, 22) in the order of COLUMNS."""
    lines = read_text(path).splitlines(keepends=True)
    skipped = next((i for i, line in enumerate(lines) if line.strip() and not is_comment(line)), 0)
    reader = csv.reader(lines[skipped:])
    try:
        header = [h.strip() for h in next(reader, [])]
        missing = [c for c in COLUMNS if c not in header]
        if missing:
            raise RecordingError(f"{path}: line {skipped + 1}: no column {', '.join(missing)}")
        where = [header.index(c) for c in COLUMNS]
        rows = [(skipped + reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise RecordingError(f"{path}: not a readable CSV file ({error})") from None
    if not rows:
        raise RecordingError(f"{path}: no samples below the header")
    return [n for n, _ in rows], np.array([_numbers(path, n, row, where) for n, row in rows])


def _numbers(path: Path, line: int, row: list[str], where: list[int]) -> list[float]:
    if len(row) <= max(where):
        raise RecordingError(f"{path}: line {line}: {len(row)} cells, at least {max(where) + 1} are needed")
    values = []
    for column, i in zip(COLUMNS, where, strict=True):
        try:
            values.append(float(row[i]) if row[i].strip() else float("nan"))
        except ValueError:
            raise RecordingError(f"{path}: line {line}: {column} is {row[i][:40]!r}, not a number") from None
    return values
