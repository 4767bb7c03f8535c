"""What a person sees while a run goes on: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


class Shown(NamedTuple):
    """A metric that stands beside the bar. `keys`: the first of them that has been seen yet is taken."""

    label: str
    keys: tuple[str, ...]
    form: str = "{:.2f}"


SHOWN = (
    Shown("reward", ("rollout/reward",)),
    Shown("tracked", ("eval/mean_tracked_s", "tracked_s"), "{:.1f} s"),
    Shown("error", ("eval/error_cm", "error_cm"), "{:.1f} cm"),
)


class Display(Protocol):
    """What the loop tells whoever shows it."""

    def busy(self, what: str) -> None:
        """Something that takes long begins, such as compiling; the next `update` ends it."""
        ...

    def update(self, samples: int, metrics: Mapping[str, float]) -> None: ...

    def close(self) -> None: ...


class Rate:
    """Samples, or another `unit`, per second, a mean over some 20 updates, and the seconds left at this rate."""

    def __init__(self, total: int, samples: int, unit: str = "samples") -> None:
        self.total, self.samples, self.unit = total, samples, unit
        self.per_s = 0.0
        self._last: float | None = None

    def update(self, samples: int, now: float) -> None:
        if self._last is not None and now > self._last:  # the first iteration holds the compilation
            rate = (samples - self.samples) / (now - self._last)
            self.per_s = rate if self.per_s == 0.0 else 0.95 * self.per_s + 0.05 * rate
        self.samples, self._last = samples, now

    @property
    def seconds_left(self) -> float | None:
        return max(self.total - self.samples, 0) / self.per_s if self.per_s else None


def summary(rate: Rate, metrics: Mapping[str, float], shown: Sequence[Shown] = SHOWN) -> str:
    """One line such as `1.2 M of 4.0 M samples, 15400/s, 3:02 left, tracked 7.3 s`."""
    parts = [f"{_count(rate.samples)} of {_count(rate.total)} {rate.unit}", f"{rate.per_s:.0f}/s"]
    if rate.seconds_left is not None:
        parts.append(f"{clock(rate.seconds_left)} left")
    for item in shown:
        values = [metrics[k] for k in item.keys if k in metrics]
        parts += [f"{item.label} {item.form.format(values[0])}"] if values else []
    return ", ".join(parts)


def clock(seconds: float) -> str:
    """`3:02` or `1:03:02`."""
    minutes, s = divmod(round(seconds), 60)
    hours, m = divmod(minutes, 60)
    return f"{hours}:{m:02d}:{s:02d}" if hours else f"{m}:{s:02d}"


class Bar:
    """A bar that moves, for terminals. Its own thread keeps the clock going while XLA compiles."""

    def __init__(
        self, total: int, samples: int, shown: Sequence[Shown] = SHOWN, console: Console | None = None,
        unit: str = "samples",
    ) -> None:  # fmt: skip
        self._rate, self._shown, self._seen = Rate(total, samples, unit), shown, {}
        columns = (SpinnerColumn(), BarColumn(24), TextColumn("{task.description}"), TimeElapsedColumn())
        self._progress = Progress(*columns, console=console or Console(stderr=True))
        self._task = self._progress.add_task("starting", total=total, completed=samples)
        self._progress.start()

    def busy(self, what: str) -> None:
        self._progress.update(self._task, description=f"{what} ...")

    def update(self, samples: int, metrics: Mapping[str, float]) -> None:
        self._rate.update(samples, time.monotonic())
        self._seen |= metrics  # evaluations come rarely: the last one stays in sight
        self._progress.update(self._task, completed=samples, description=summary(self._rate, self._seen, self._shown))

    def close(self) -> None:
        self._progress.stop()


class Lines:
    """A line every `every` seconds, for files and pipes."""

    def __init__(
        self, total: int, samples: int, shown: Sequence[Shown] = SHOWN, out: TextIO | None = None, every: float = 10.0,
        unit: str = "samples",
    ) -> None:  # fmt: skip
        self._rate, self._shown, self._seen = Rate(total, samples, unit), shown, {}
        self._out, self._every = out or sys.stderr, every
        self._busy: tuple[str, float] | None = None
        self._next = 0.0

    def busy(self, what: str) -> None:
        self._busy = (what, time.monotonic())
        self._print(f"{what} ...")

    def update(self, samples: int, metrics: Mapping[str, float]) -> None:
        now = time.monotonic()
        self._rate.update(samples, now)
        self._seen |= metrics
        if self._busy:
            what, since = self._busy
            self._print(f"{what} took {now - since:.1f} s")
            self._busy = None
        if now >= self._next:
            self._print(summary(self._rate, self._seen, self._shown))
            self._next = now + self._every

    def close(self) -> None:
        self._print(summary(self._rate, self._seen, self._shown))

    def _print(self, text: str) -> None:
        print(text, file=self._out, flush=True)


class Silent:
    """Shows nothing."""

    def busy(self, what: str) -> None:
        pass

    def update(self, samples: int, metrics: Mapping[str, float]) -> None:
        pass

    def close(self) -> None:
        pass


def make_display(
    total: int, samples: int = 0, shown: Sequence[Shown] = SHOWN, unit: str = "samples"
) -> Display:  # fmt: skip
    """A bar where the error output is a terminal, else whole lines."""
    kind = Bar if sys.stderr.isatty() else Lines
    return kind(total, samples, shown, unit=unit)


def _count(n: int) -> str:
    return f"{n / 1e6:.2f} M" if n >= 1e5 else str(n)
