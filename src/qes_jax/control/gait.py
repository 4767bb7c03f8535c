"""What a walk is made of: parameters that may change while it runs, styles, states of feet, the COM's path."""

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from math import cos, cosh, sin, sinh

import numpy as np


class FootState(Enum):
    """A foot's round; which of its corners stand."""

    SWING = "swing"  # none
    PLANT = "plant"  # the heel's
    SUPPORT = "support"  # all
    HEELOFF = "heeloff"  # the front ones


@dataclass(frozen=True)
class WalkParameters:
    """The paper's seven, then ours. Lengths are those of the 1.75 m human; other bodies scale them."""

    swing_duration: float = 0.5  # [s] 0.3 to 0.7
    step_length: float = 0.45  # [m] 0 to 0.7
    step_height: float = 0.06  # [m] 0 to 0.1
    swing_delay: float = 0.12  # [s] 0 to 0.3: both feet stand
    hip_shift: float = 0.07  # [m] 0 to 0.3: half the distance between the feet's tracks
    trunk_offset: float = 0.0  # [m] -0.3 to 0.3: the neck forward of where it rests
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
        limits = {"swing_duration": (0.2, 1.0), "step_length": (-0.4, 0.9), "step_height": (0.0, 0.3),
                  "swing_delay": (0.0, 0.5), "hip_shift": (0.0, 0.3), "trunk_offset": (-0.3, 0.3),
                  "head_heading": (-np.pi, np.pi)}  # fmt: skip
        for name, (low, high) in limits.items():
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"walk parameter {name} is {getattr(self, name)}: expected {low:g} to {high:g}")


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

    Small bodies swing arms, hips and shoulders less, of half the height not at all: they fall by it. Our choice.
    """
    time, small = size**0.5, min(max(2.0 * size - 1.0, 0.0), 1.0)
    return replace(
        p, swing_duration=min(p.swing_duration * time, 1.0), swing_delay=min(p.swing_delay * time, 0.5),
        step_length=p.step_length * size, step_height=min(p.step_height * size, 0.3),
        hip_shift=min(p.hip_shift * size, 0.3),
        arm_swing=p.arm_swing * small, hip_turn=p.hip_turn * small, shoulder_turn=p.shoulder_turn * small,
        trunk_offset=float(np.clip(p.trunk_offset * size, -0.3, 0.3)),
    )  # fmt: skip


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
