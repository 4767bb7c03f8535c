"""A box as a Wavefront OBJ mesh: read, checked to be an upright box, and made a piece of a scene."""

from pathlib import Path

import numpy as np

from qes_jax.model.scene import Piece
from qes_jax.motion.formats.arrays import LARGEST
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.text import read_text

TOLERANCE = 1e-3  # [m] by which a corner may miss the box


def read_box(path: str | Path, name: str | None = None) -> Piece:
    """The mesh of eight corners in `path`, Z up and metres, as a Piece named after the file.

    Raises RecordingError if it is not a box that stands upright on some horizontal face.
    """
    path = Path(path)
    corners = np.unique(np.round(_vertices(path), 7), axis=0)
    if len(corners) != 8:
        raise RecordingError(f"{path}: not a box: {len(corners)} distinct vertices, expected 8")
    low, high = corners[:, 2].min(), corners[:, 2].max()
    lower = corners[np.abs(corners[:, 2] - low) < TOLERANCE]
    if len(lower) != 4:
        raise RecordingError(
            f"{path}: not an upright box: {len(lower)} of 8 vertices are at its lowest height, expected 4"
        )
    middle = lower[:, :2].mean(axis=0)
    size, yaw = _footprint(lower[:, :2] - middle)
    expected = _corners(size, yaw, high - low) + np.array([*middle, low])
    miss = np.linalg.norm(corners[:, None] - expected, axis=-1).min(axis=1).max()
    if miss > TOLERANCE:
        raise RecordingError(
            f"{path}: not an upright box: a vertex is {100 * miss:.2f} cm away from where a box has it"
        )
    return Piece(
        name or path.stem, "box", (*size, float(high - low)), (float(middle[0]), float(middle[1]), float(low)), yaw
    )


def _vertices(path: Path) -> np.ndarray:
    rows = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        words = line.split()
        if words[:1] == ["v"]:
            try:
                rows.append([float(w) for w in words[1:4]])
            except ValueError:
                raise RecordingError(f"{path}, line {number}: not a vertex: {line.strip()!r}") from None
            if len(rows[-1]) != 3 or not (np.abs(rows[-1]) < LARGEST).all():
                raise RecordingError(f"{path}, line {number}: a vertex needs three numbers: {line.strip()!r}")
    if not rows:
        raise RecordingError(f"{path}: no vertices; is it an OBJ mesh?")
    return np.array(rows)


def _footprint(corners: np.ndarray) -> tuple[tuple[float, float], float]:
    """Extents [m] and yaw [rad], in (-pi/4, pi/4], of a rectangle's corners (4, 2) about its middle."""
    ring = corners[np.argsort(np.arctan2(corners[:, 1], corners[:, 0]))]
    sides = np.roll(ring, -1, axis=0) - ring
    lengths = np.linalg.norm(sides, axis=1)
    along = int(np.argmin([abs(_fold(np.arctan2(s[1], s[0]))) if abs(s[0]) >= abs(s[1]) else np.inf for s in sides]))
    yaw = _fold(float(np.arctan2(sides[along][1], sides[along][0])))
    return (float(lengths[along]), float(lengths[(along + 1) % 4])), yaw


def _fold(angle: float) -> float:
    """The same line's direction in (-pi/2, pi/2]."""
    return float(np.arctan(np.tan(angle)))


def _corners(size: tuple[float, float], yaw: float, height: float) -> np.ndarray:
    c, s = np.cos(yaw), np.sin(yaw)
    signs = np.array([[x, y] for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
    flat = (signs * size) @ np.array([[c, s], [-s, c]])
    return np.concatenate([np.c_[flat, np.zeros(4)], np.c_[flat, np.full(4, height)]])
