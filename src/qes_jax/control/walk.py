"""The walking controller: states of the walk and of its feet; `stride` turns them into objectives."""

from dataclasses import dataclass, field
from math import cos, sin

import numpy as np

from qes_jax.control import features
from qes_jax.control.balance import sole_middle
from qes_jax.control.body import Body
from qes_jax.control.constraints import lowest
from qes_jax.control.dynamics import Dynamics
from qes_jax.control.gait import NORMAL, ComPath, FootState, WalkParameters, scaled, sway

HUMAN = 0.95  # [m] height of the human's centre of mass, which the parameters' lengths belong to
TOUCH = 0.004  # [m] a corner so low touches
EARLIEST = 0.6  # of the swing: before that a touch is a scuff
PLANTING = 0.1  # [s] after which a planted foot counts as flat
EVEN = 0.2  # of the sole, before and behind its middle, that the centre of pressure travels by plan
LONGER = 0.15  # [m] of the human: at most so much longer than the last step
SHIFT = 0.6  # [s] the shift of weight before the first step


@dataclass
class Step:
    """The step in progress. Feet are numbers, 0 left, 1 right."""

    stance: int
    start: float  # [s]
    parameters: WalkParameters  # scaled to the body
    path: ComPath
    forward: np.ndarray  # (2,) the walk's direction
    landing: np.ndarray  # (2,) where the swing foot is planned to land
    is_shift: bool = False  # both feet stand, before the first step
    capture: np.ndarray = field(default_factory=lambda: np.zeros(2))  # (2,) the capture point planned at the end
    place: np.ndarray = field(default_factory=lambda: np.zeros(2))  # (2,) where it will land by what is known now
    end: float = 0.0  # [s] when it will

    @property
    def swing(self) -> int:
        return 1 - self.stance

    @property
    def lift_off(self) -> float:
        """[s] when the swing begins: earlier, too, where the step is hurried."""
        return self.end - (self.end - self.start) * self.parameters.swing_duration / self.path.duration

    @property
    def planned_end(self) -> float:
        """[s] when the swing foot lands if nothing disturbs."""
        return self.start + self.path.duration

    def done(self, time: float) -> float:
        """Share of the swing."""
        return (time - self.lift_off) / max(self.end - self.lift_off, 1e-6)


class Walk:
    """Where the walk stands. `parameters` may be exchanged at any time, a step's plan follows at the next step."""

    def __init__(self, body: Body, parameters: WalkParameters = NORMAL) -> None:
        self.body, self.parameters = body, parameters
        self.size = body.com_height / HUMAN
        self.omega = float(np.sqrt(9.81 / body.com_height))
        self.step: Step | None = None
        self.states = [FootState.SUPPORT, FootState.SUPPORT]
        self.since = [0.0, 0.0]  # [s] when each foot came into its state
        self.steps = 0
        self.length = 0.0  # [m] of the step in progress

    def advance(self, d: Dynamics, time: float) -> Step:
        """Bring the states up to date; the step in progress."""
        step = self.step or self._shift(d, time)
        if step.is_shift:
            if time >= step.end:
                step = self._next(d, time, step.stance)
        elif self.states[step.swing] is FootState.SWING:
            if step.done(time) > EARLIEST and touches(d, step.swing):
                self._enter(step.swing, FootState.PLANT, time)
                step = self._next(d, time, step.swing)
        elif time >= step.lift_off:
            self._enter(step.swing, FootState.SWING, time)
        self._settle(d, time)
        self.step = step
        return step

    def _settle(self, d: Dynamics, time: float) -> None:
        """A planted foot becomes a support once it lies flat, or has had its time."""
        for side, state in enumerate(self.states):
            if state is FootState.PLANT:
                foot = self.body.feet[side]
                flat = np.all(lowest(d, foot)[foot.ball, 2] < TOUCH)
                if flat or time - self.since[side] > PLANTING:
                    self._enter(side, FootState.SUPPORT, time)

    def _enter(self, side: int, state: FootState, time: float) -> None:
        self.states[side], self.since[side] = state, time

    def _next(self, d: Dynamics, time: float, stance: int) -> Step:
        """The step that begins now, on `stance`."""
        p = scaled(self.parameters, self.size)
        self._enter(1 - stance, FootState.HEELOFF, time)
        self.steps += 1
        self.length = min(p.step_length, self.length + LONGER * self.size)
        forward, left = directions(p.heading)
        at, out = sole_middle(d, stance)[:2], 1.0 if stance == 1 else -1.0  # out: to the swing foot's side
        com = features.weight(d).value[:2]
        path = self._path(com, at, 0.5 * self.length * forward, p, out, EVEN * sole_length(d, stance))
        following = min(p.step_length, self.length + LONGER * self.size) * forward
        across = p.hip_shift * out * left
        # Where the capture point would lie from the next foot if the next step began between the feet.
        between = -0.5 * following - across
        ahead = self._path(between, np.zeros(2), 0.5 * following, p, -out, EVEN * sole_length(d, stance))
        offset = capture(*ahead(0.0)[:2], self.omega)
        end = capture(*path(path.duration)[:2], self.omega)
        landing = end - offset
        return Step(stance, time, p, path, forward, landing, False, end, landing, time + path.duration)

    def _path(
        self, start: np.ndarray, at: np.ndarray, reach: np.ndarray, p: WalkParameters, out: float, sole: float
    ) -> ComPath:
        """From `start` to `reach` ahead of a stance foot `at`, beside it by half the tracks' distance."""
        _, left = directions(p.heading)
        end, duration = at + reach + p.hip_shift * out * left, p.swing_delay + p.swing_duration
        even = min(1.0, sole / max(float(np.linalg.norm(reach)), 1e-6))
        return ComPath(start, end, at, left, 0.0, duration, self.omega, even)

    def _shift(self, d: Dynamics, time: float) -> Step:
        """Before the first step: sway to the foot that will swing, so that the body comes back at the gait's speed."""
        p = scaled(self.parameters, self.size)
        forward, left = directions(p.heading)
        feet = [sole_middle(d, i)[:2] for i in (0, 1)]
        middle, stance = 0.5 * (feet[0] + feet[1]), 1
        duration, gait = SHIFT * self.size**0.5, p.swing_delay + p.swing_duration
        swing = sway(p.hip_shift, gait, self.omega) * duration / gait
        path = ComPath(middle, middle, middle, left, swing, duration, self.omega, 1.0)
        return Step(stance, time, p, path, forward, feet[0], is_shift=True, end=time + duration)


def directions(heading: float) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors (2,) forward and to the left."""
    c, s = cos(heading), sin(heading)
    return np.array([c, s]), np.array([-s, c])


def touches(d: Dynamics, side: int) -> bool:
    """Whether any corner of a foot is on the floor."""
    return bool(np.any(lowest(d, d.body.feet[side])[:, 2] < TOUCH))


def sole_length(d: Dynamics, side: int) -> float:
    """[m] from heel to ball."""
    foot, at = d.body.feet[side], d.data.geom_xpos
    return float(np.linalg.norm(at[foot.corners[foot.ball]].mean(axis=0) - at[foot.corners[foot.rear]].mean(axis=0)))


def capture_point(d: Dynamics, omega: float) -> np.ndarray:
    """(2,) where a foot would have to stand for an inverted pendulum to come to rest over it (Pratt et al. 2006)."""
    com = features.weight(d)
    return capture(com.value[:2], com.velocity[:2], omega)


def capture(place: np.ndarray, velocity: np.ndarray, omega: float) -> np.ndarray:
    """The same of a place and a velocity."""
    return place + velocity / omega
