"""What every format of recorded joint points is read into, before it is fitted to the character."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline

from qes_jax.model.scene import Piece

ROUNDED = 1e-2  # frames by which a rate may make the last one miss its time


class RecordingError(ValueError):
    """A recording that cannot be used; the message names file, field and frame."""


@dataclass(frozen=True)
class Anchor:
    """The character's point that stands for a recorded one: fixed to a link at `offset` [m], for a body of 1.75 m."""

    link: str
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    weight: float = 1.0


@dataclass(frozen=True)
class Recording:
    """P points over T frames at a constant rate, Z up, metres. An orientation is given as points fixed to its link."""

    source: str
    licence: str
    fps: float  # [Hz]
    names: tuple[str, ...]  # P
    anchors: tuple[Anchor, ...]  # P
    points: np.ndarray  # (T, P, 3) [m]
    bones: tuple[tuple[str, str], ...]  # pairs of points whose distance tells the subject's size
    pieces: tuple[Piece, ...] = ()
    unit: float = 1.0  # [m] that one unit of the file was taken for
    up: str = "z"  # the file's own upward axis
    rebuilt: bool = False  # whether its bones were given the character's proportions
    notes: tuple[str, ...] = ()  # what was assumed, or mended, beyond what the file says

    def __post_init__(self) -> None:
        expected = (len(self.points), len(self.names), 3)
        if self.points.shape != expected or len(self.anchors) != len(self.names):
            raise RecordingError(f"{self.source}: points have shape {self.points.shape}, expected {expected}")
        if len(self.points) < 4:
            raise RecordingError(f"{self.source}: points hold {len(self.points)} frames, at least 4 are needed")
        if not (np.isfinite(self.fps) and self.fps > 0):
            raise RecordingError(f"{self.source}: fps is {self.fps}")
        bad = np.argwhere(~np.isfinite(self.points).all(axis=-1))
        if len(bad):
            frame, point = bad[0]
            raise RecordingError(f"{self.source}: points of {self.names[point]} are not finite at frame {frame}")

    @property
    def duration(self) -> float:
        """Length [s]."""
        return (len(self.points) - 1) / self.fps

    def point(self, name: str) -> np.ndarray:
        """(T, 3) course of one point."""
        return self.points[:, self.names.index(name)]


def bone_lengths(recording: Recording) -> np.ndarray:
    """(B,) median length [m] of each bone."""
    ends = [np.linalg.norm(recording.point(a) - recording.point(b), axis=-1) for a, b in recording.bones]
    return np.median(np.array(ends), axis=1)


def crop(recording: Recording, start: float, end: float | None) -> Recording:
    """The part from `start` to `end` [s]. Raises RecordingError if that is no part of it."""
    end = recording.duration if end is None else end
    if not 0 <= start < end <= recording.duration + 1e-6:
        raise RecordingError(
            f"{recording.source}: cannot cut {start} to {end} s out of a recording of {recording.duration:.2f} s"
        )
    first, last = round(start * recording.fps), round(end * recording.fps)
    return replace(recording, points=recording.points[first : last + 1])


def resample(recording: Recording, fps: float) -> Recording:
    """The same motion at another rate, through a cubic spline."""
    times = np.arange(len(recording.points)) / recording.fps
    wanted = np.arange(int(recording.duration * fps + ROUNDED) + 1) / fps
    return replace(recording, fps=fps, points=CubicSpline(times, recording.points)(wanted))


def scaled(recording: Recording, factor: float) -> Recording:
    """Everything `factor` times as large, boxes and places included (furniture has a size of its own)."""
    pieces = tuple(
        replace(
            p,
            size=None if p.size is None else tuple(factor * x for x in p.size),
            pos=tuple(factor * x for x in p.pos),
        )
        for p in recording.pieces
    )
    return replace(recording, points=factor * recording.points, pieces=pieces)
