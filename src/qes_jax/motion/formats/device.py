"""What every format of headset recording is read into: three streams of samples, each with its own clock.

A reader gives each stream's samples as the device wrote them, in our axes; `make_stream` then does what all formats
need. A sample with a number that is not finite, a position of exactly zero or a zero quaternion means that tracking
was lost, and is left out; of samples with one timestamp the last, being the newest, is kept. Time that runs backwards
is an error: two sessions in one file, most likely, which no order would make one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.session import CLOCKS, clock_unit, sides_swapped

SENSORS = ("headset", "left controller", "right controller")
SWAPPED = "left and right controllers were swapped, by their sides of the headset: put right"
FAR = 100.0  # [m] a position beyond this is not in metres
HOLD = 0.25  # [s] a longer gap between samples is not interpolated, our choice: an arm's reach takes about twice that


@dataclass(frozen=True)
class Stream:
    """N samples of one device in order of time, in its own space turned to our axes (Z up, X ahead, Y left)."""

    time: np.ndarray  # (N,) [s], strictly increasing
    pos: np.ndarray  # (N, 3) [m]
    quat: np.ndarray  # (N, 4) wxyz, the device's X axis points ahead, its Z axis up
    lost: int  # samples left out because tracking was lost
    repeated: int  # samples left out because a later one has the same time
    notes: tuple[str, ...] = ()  # what was decided about it

    @property
    def rate(self) -> float:
        """Median rate of the samples [Hz], 0 of a single one."""
        return float(1.0 / np.median(np.diff(self.time))) if len(self.time) > 1 else 0.0

    def gaps(self) -> np.ndarray:
        """Starts and lengths [s] of the stretches longer than HOLD without a sample, (G, 2)."""
        length = np.diff(self.time)
        long = length > HOLD
        return np.stack([self.time[:-1][long], length[long]], axis=1)


@dataclass(frozen=True)
class DeviceRecording:
    """A session with a headset and two controllers. `kind` names its controllers' grip (`sensors.GRIPS`)."""

    source: str
    kind: str
    streams: tuple[Stream, Stream, Stream]  # in the order of SENSORS
    notes: tuple[str, ...] = ()  # what was found wrong with it, and what was done about it

    @property
    def duration(self) -> float:
        """From the headset's first to its last sample [s]."""
        return float(self.streams[0].time[-1] - self.streams[0].time[0])

    def eye_height(self) -> float:
        """Height of the headset while the person stands [m]: its 95th percentile, which a hop does not move."""
        return float(np.percentile(self.streams[0].pos[:, 2], 95))


def make_stream(
    time: np.ndarray, pos: np.ndarray, quat: np.ndarray, where: str, place: Callable[[int], str], clock: float = 1.0
) -> Stream:  # fmt: skip
    """Check and clean samples: time (N,), pos (N, 3) [m], quat (N, 4) wxyz.

    `clock` [s] is the unit of time that the format has; another one is taken where the samples' rate tells so.
    `place(i)` says where sample i stands in the file. Raises RecordingError that names `where`, place and field.
    """

    def refuse(bad: np.ndarray, complaint: Callable[[int], str]) -> None:
        if bad.any():
            i = int(np.argmax(bad))
            raise RecordingError(f"{where}, {place(i)}: {complaint(i)}")

    refuse(~np.isfinite(time), lambda i: f"time is {time[i]}")
    backwards = np.append(False, np.diff(time) < 0)
    refuse(backwards, lambda i: f"time runs backwards, from {time[i - 1]:.4f} to {time[i]:.4f}")
    with np.errstate(over="ignore", invalid="ignore"):
        norm, reach = np.linalg.norm(quat, axis=1), np.abs(pos).max(axis=1, initial=0)
    tracked = np.isfinite(norm) & np.isfinite(reach) & (norm > 0) & (reach > 0)
    refuse(tracked & (reach > FAR), lambda i: f"position {pos[i]} is beyond {FAR:.0f} m; is it in metres?")
    refuse(tracked & (np.abs(norm - 1) > 0.1), lambda i: f"quaternion {quat[i]} is not of unit length")
    newest = np.append(np.diff(time[tracked]) > 0, True) if tracked.any() else np.zeros(0, bool)
    keep = np.flatnonzero(tracked)[newest]
    if len(keep) < 2:
        raise RecordingError(
            f"{where}: {len(keep)} of {len(time)} samples are tracked and distinct in time, 2 are needed"
        )
    unit = clock_unit(time[keep], clock)
    if unit is None:
        step = np.median(np.diff(time[keep]))
        raise RecordingError(f"{where}: time steps by {step:g} from sample to sample, of no unit that makes a rate")
    notes = () if unit == clock else (f"{where.rpartition(': ')[2]}: time is in {CLOCKS[unit]}, by the samples' rate",)
    return Stream(
        unit * time[keep], pos[keep], quat[keep] / norm[keep, None],
        lost=int((~tracked).sum()), repeated=int(tracked.sum() - len(keep)), notes=notes,
    )  # fmt: skip


def places(stream: Stream, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N, 3) [m] where a device is at `time` (N,) [s], and (N,) whether samples around tell."""
    pos = np.stack([np.interp(time, stream.time, x) for x in stream.pos.T], axis=1)
    if len(stream.time) < 2:
        return pos, time == stream.time
    after = np.clip(np.searchsorted(stream.time, time), 1, len(stream.time) - 1)
    inside = (time >= stream.time[0]) & (time <= stream.time[-1])
    return pos, inside & (stream.time[after] - stream.time[after - 1] <= HOLD)


def swapped(streams: tuple[Stream, Stream, Stream]) -> bool:
    """Whether what is called the left controller is the right one."""
    head, *hands = streams
    (left, first), (right, second) = (places(hand, head.time) for hand in hands)
    there = first & second
    return bool(there.any()) and sides_swapped(head.pos[there], head.quat[there], left[there], right[there])
