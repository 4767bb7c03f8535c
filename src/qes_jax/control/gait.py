"""What a walk is made of: parameters that may change while it runs, styles, states of feet, the COM's path."""

from dataclasses import asdict, dataclass, replace
from enum import Enum
from functools import cached_property
from math import cos, cosh, sin, sinh
from numbers import Real
from typing import NamedTuple

import numpy as np


class FootState(Enum):
    """A foot's round; which of its corners stand."""

    SWING = "swing"  # none
    PLANT = "plant"  # the heel's
    SUPPORT = "support"  # all
    HEELOFF = "heeloff"  # the front ones


class Range(NamedTuple):
    """What a parameter may be, and how fast it follows a change."""

    low: float
    high: float
    rate: float  # [1/s] of the parameter's unit
    unit: str = ""

    def check(self, name: str, value: object) -> None:
        """Raises ValueError where the value is no number within the range; NaN is none."""
        if not (isinstance(value, Real) and self.low <= value <= self.high):
            raise ValueError(
                f"walk parameter {name} is {value}: expected {self.low:.4g} to {self.high:.4g} {self.unit}".rstrip()
            )


# The paper's seven as it has them; the rest, and all rates, by trial.
RANGES = {
    "swing_duration": Range(0.4, 0.7, 0.3, "s"), "step_length": Range(0.0, 0.7, 0.4, "m"),
    "step_height": Range(0.0, 0.1, 0.1, "m"), "swing_delay": Range(0.0, 0.3, 0.2, "s"),
    "hip_shift": Range(0.0, 0.2, 0.1, "m"), "trunk_offset": Range(-0.15, 0.15, 0.2, "m"),
    "head_heading": Range(-np.pi, np.pi, 2.0, "rad"), "heading": Range(-np.pi, np.pi, 0.7, "rad"),
    "height": Range(0.88, 0.99, 0.1), "knee": Range(-0.2, 0.6, 0.5, "rad"), "head_pitch": Range(-0.8, 0.8, 1.0, "rad"),
    "elbow": Range(-0.2, 1.5, 2.0, "rad"), "arms": Range(0.0, 2.0, 2.0), "arm_swing": Range(0.0, 1.2, 1.0),
    "hip_turn": Range(-0.5, 1.0, 0.5), "shoulder_turn": Range(-0.5, 1.0, 0.5),
}  # fmt: skip
FASTEST, SWIFTEST = 1.2, 1.34  # [m/s] of the human; of step length over swing duration: longer steps are cut
TURNS = ("heading", "head_heading")  # which go the shortest way round


@dataclass(frozen=True)
class WalkParameters:
    """The paper's seven, then ours. Lengths are those of the 1.75 m human; other bodies scale them.

    Raises ValueError that names a parameter outside its range in `RANGES`, and the range.
    """

    swing_duration: float = 0.5  # [s]
    step_length: float = 0.45  # [m]
    step_height: float = 0.06  # [m]
    swing_delay: float = 0.12  # [s] both feet stand
    hip_shift: float = 0.07  # [m] half the distance between the feet's tracks
    trunk_offset: float = 0.0  # [m] the neck forward of where it rests
    head_heading: float = 0.0  # [rad] to the left of the walk's
    heading: float = 0.0  # [rad] of the walk
    height: float = 0.985  # of the centre of mass, over that of the rest pose
    knee: float = 0.0  # [rad] more bend of both knees
    head_pitch: float = 0.0  # [rad] forward
    elbow: float = 0.0  # [rad] more bend of both elbows
    arms: float = 0.3  # stiffness of the arms in the pose, as a share: 0 swings by torque's least alone
    arm_swing: float = 0.6  # [rad] of each shoulder with the other leg, per radian of the hips' half difference
    hip_turn: float = 0.2  # [rad] of the pelvis to the side of the hind leg, per radian of the same
    shoulder_turn: float = 0.2  # [rad] of the thorax to the other side, per radian of the same

    def __post_init__(self) -> None:
        for name, allowed in RANGES.items():
            allowed.check(name, getattr(self, name))


class Scaled(WalkParameters):
    """Those of a body that is higher or lower than the human: outside of the human's ranges, too."""

    def __post_init__(self) -> None:
        pass


def approached(now: WalkParameters, wanted: WalkParameters, elapsed: float) -> WalkParameters:
    """What `now` becomes in `elapsed` [s] on its way to `wanted`: a sudden change would throw the body over."""
    if now == wanted:
        return wanted
    changed = {}
    for name, allowed in RANGES.items():
        value, most = getattr(now, name), allowed.rate * elapsed
        way, is_turn = getattr(wanted, name) - value, name in TURNS
        new = value + min(max(wrapped(way) if is_turn else way, -most), most)
        changed[name] = wrapped(new) if is_turn else new
    return replace(now, **changed) if changed != asdict(wanted) else wanted


def wrapped(angle: float) -> float:
    """The same angle [rad] from -pi to pi."""
    return (angle + np.pi) % (2 * np.pi) - np.pi


NORMAL = WalkParameters()
STYLES = {
    "normal": NORMAL,
    "fast": WalkParameters(
        swing_duration=0.45, step_length=0.6, swing_delay=0.06, height=0.94, trunk_offset=0.03, elbow=0.5,
    ),
    "slow": WalkParameters(swing_duration=0.65, step_length=0.28, swing_delay=0.2, step_height=0.05),
    "sad": WalkParameters(
        swing_duration=0.6, step_length=0.26, swing_delay=0.18, step_height=0.04, trunk_offset=0.06, height=0.96,
        knee=0.15, head_pitch=0.6, arms=1.0,
    ),
}  # fmt: skip


def style(name: str) -> WalkParameters:
    """A style by name. Raises KeyError that lists them."""
    if name not in STYLES:
        raise KeyError(f"unknown style {name!r}: expected one of {sorted(STYLES)}")
    return STYLES[name]


def scaled(p: WalkParameters, size: float) -> WalkParameters:
    """The same walk of a body `size` times as high: lengths by size, times by its root (equal Froude number).

    Steps too long for their time are cut. Small bodies swing arms, hips and shoulders less, of half the height not at
    all: they fall by it. Our choice.
    """
    time, small = size**0.5, min(max(2.0 * size - 1.0, 0.0), 1.0)
    length = min(p.step_length, FASTEST * (p.swing_duration + p.swing_delay), SWIFTEST * p.swing_duration)
    return Scaled(**asdict(p) | {
        "swing_duration": p.swing_duration * time, "swing_delay": p.swing_delay * time,
        "step_length": length * size, "step_height": p.step_height * size, "hip_shift": p.hip_shift * size,
        "arm_swing": p.arm_swing * small, "hip_turn": p.hip_turn * small, "shoulder_turn": p.shoulder_turn * small,
        "trunk_offset": p.trunk_offset * size,
    })  # fmt: skip


@dataclass(frozen=True)
class ComPath:
    """The centre of mass over one step of `duration` [s], on the floor, from p0 to p1 (2,) [m].

    The paper's is straight at even speed with a sine to the side of the stance foot, which only the weight's shift
    before the first step is here. At even speed the centre of pressure would travel with the body, farther than a sole
    is long, so that only a share `even` (0 to 1) of the way ahead is even; the rest, and all that is sideways, is the
    fall of an inverted pendulum over the stance foot `pivot`, frequency omega [1/s].
    """

    p0: np.ndarray
    p1: np.ndarray
    pivot: np.ndarray
    side: np.ndarray  # (2,) horizontal, across the walk, to the left
    sway: float  # [m] to the left, at the middle, besides
    duration: float
    omega: float
    even: float

    def __call__(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position, velocity and acceleration (2,) at `time` [s]; after the end the straight part goes on."""
        T, w, phase = self.duration, self.omega, np.pi / self.duration
        t, late = min(time, T), max(time - T, 0.0)
        up, down, sine = sinh(w * t), sinh(w * (T - t)), sin(phase * t)
        y, v, a = np.array([
            [1.0, t, up, down, sine],
            [0.0, 1.0, w * cosh(w * t), -w * cosh(w * (T - t)), phase * cos(phase * t)],
            [0.0, 0.0, w**2 * up, w**2 * down, -(phase**2) * sine],
        ]) @ self._shares  # fmt: skip
        return y + late * v, v, a * (late == 0.0)

    @cached_property
    def _shares(self) -> np.ndarray:
        """(5, 2) of 1, t, sinh w t, sinh w (T - t) and a sine."""
        even = self.even * (np.eye(2) - np.outer(self.side, self.side))
        fall, s = np.eye(2) - even, np.sinh(self.omega * self.duration)
        return np.array([
            fall @ self.pivot + even @ self.p0, even @ (self.p1 - self.p0) / self.duration,
            fall @ (self.p1 - self.pivot) / s, fall @ (self.p0 - self.pivot) / s, self.sway * self.side,
        ])  # fmt: skip


def sway(hip_shift: float, duration: float, omega: float) -> float:
    """[m] how far an inverted pendulum sways to the stance foot's side when it starts and ends between the feet."""
    return hip_shift * (1.0 - 1.0 / np.cosh(0.5 * omega * duration))
