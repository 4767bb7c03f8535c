"""A user's samples, which arrive late, unevenly and on a clock of their own, as one pose for each control step."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from qes_jax.live.wire import IDLE, RECENTRED, Sample
from qes_jax.motion.formats.device import HOLD
from qes_jax.motion.frames import slerp

KEPT = 1.0  # [s] of samples
WINDOW = 5.0  # [s] over which delays are measured
LEAST, MOST = 0.005, 0.12  # [s] of the margin
RESYNC = 0.5  # [s] of nothing but samples from the past, after which the clock is taken to have been set back
AHEAD = 1.0  # [s] that a clock may jump ahead of ours


@dataclass(frozen=True)
class Seen:
    """The three points at one moment, (3, ...), in the device's space. `age` [s] is how long each has not been seen."""

    pos: np.ndarray
    quat: np.ndarray
    age: np.ndarray
    visible: bool


class Clock:
    """The device's clock by ours. The quickest message tells the offset; the margin covers all but the slowest 2 %."""

    def __init__(self) -> None:
        self._delays: deque[tuple[float, float]] = deque()  # arrival, arrival - t
        self.offset = self.margin = 0.0

    def add(self, t: float, arrival: float) -> None:
        """A message with the device's time `t` arrived."""
        self._delays.append((arrival, arrival - t))
        while arrival - self._delays[0][0] > WINDOW:
            self._delays.popleft()
        delays = np.array(self._delays)
        self.offset = delays[:, 1].min()
        spacing = np.median(np.diff(delays[:, 0])) if len(delays) > 2 else 0.0
        late = np.percentile(delays[:, 1] - self.offset, 98)
        wanted = float(np.clip(late + spacing, LEAST, MOST))
        self.margin = max(wanted, self.margin - 0.0005)  # grows at once, shrinks by half a millisecond a message

    def at(self, now: float) -> float:
        """The device's time to show at our time `now`."""
        return now - self.offset - self.margin


class Incoming:
    """Takes samples, gives the user's poses. Counts what it leaves out, by reason; `recentred` until it is put out."""

    def __init__(self) -> None:
        self.left_out = {"late": 0, "clock": 0, "bad": 0}
        self.restart()

    def restart(self) -> None:
        """Forget all that came: another device, or another clock."""
        self.clock = Clock()
        self._points: list[deque[tuple[float, np.ndarray, np.ndarray]]] = [deque() for _ in range(3)]
        self._last: tuple[float, float] | None = None  # time and arrival of the newest
        self.visible = self.recentred = False
        self._flag = False

    @property
    def arrival(self) -> float | None:
        """When the newest sample came, by our clock; None before any."""
        return self._last and self._last[1]

    def take(self, sample: Sample, arrival: float) -> None:
        """A sample that arrived at `arrival` [s] by our clock. Older than one before it: left out."""
        if self._last is not None:
            since, waited = sample.t - self._last[0], arrival - self._last[1]
            if since <= 0 and waited < RESYNC:
                self.left_out["late"] += 1
                return
            if since <= 0 or since > waited + AHEAD:
                self.left_out["clock"] += 1
                self.restart()
        self._last = sample.t, arrival
        self.clock.add(sample.t, arrival)
        self.visible = sample.visible
        self._recentre(bool(sample.buttons & RECENTRED))
        for point, tracked, pos, quat in zip(self._points, sample.tracked, sample.pos, sample.quat, strict=True):
            if tracked:
                point.append((sample.t, pos, quat))
            while len(point) > 1 and sample.t - point[0][0] > KEPT:
                point.popleft()

    def _recentre(self, flag: bool) -> None:
        """The first sample that says so begins a new space: nothing is interpolated across."""
        if flag and not self._flag:
            self.recentred = True
            for point in self._points:
                point.clear()
        self._flag = flag

    def at(self, now: float) -> Seen:
        """The points at our time `now`: between samples up to HOLD apart, else as last seen; never seen, at age inf."""
        t = self.clock.at(now)
        pos, quat, age = zip(*(_between(point, t) for point in self._points), strict=True)
        return Seen(np.stack(pos), np.stack(quat), np.array(age), self.visible)


def _between(samples: deque, t: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Pose and age at time t of one point's samples (time, pos, quat), oldest first."""
    if not samples:
        return np.zeros(3), IDLE, np.inf
    after = None
    for sample in reversed(samples):
        if sample[0] <= t:
            break
        after = sample
    else:
        return sample[1], sample[2], 0.0  # the oldest is still to come
    time, pos, quat = sample
    if after is None or after[0] - time > HOLD:
        return pos, quat, max(t - time, 0.0)
    share = (t - time) / (after[0] - time)
    turn = slerp(quat[None, None], after[2][None, None], np.array([share]))[0, 0]
    return pos + share * (after[1] - pos), turn, 0.0
