"""The stage: MuJoCo's C engine steps a body while a controller is asked at its own rate."""

import gc
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import mujoco
import numpy as np

from qes_jax.control import features
from qes_jax.control.body import Body
from qes_jax.control.dynamics import Dynamics, read_dynamics
from qes_jax.control.priority import Solver
from qes_jax.control.support import GRAVITY
from qes_jax.control.tick import Outcome, Wish, solve

LOW = 0.7  # of the standing height: a body whose centre of mass is lower has fallen
Controller = Callable[[Dynamics, float], Wish]


@contextmanager
def without_gc() -> Iterator[None]:
    """No collection of cycles, which takes 10 to 20 ms now and then, far more than a tick. A tick makes no cycles."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@dataclass(frozen=True)
class Push:
    """A horizontal impulse [N s] (2,) on the trunk, spread over `duration` from `start` [s]."""

    impulse: tuple[float, float]
    start: float
    duration: float = 0.2

    def __post_init__(self) -> None:
        for name, values in (("impulse", self.impulse), ("start", [self.start]), ("duration", [self.duration])):
            if not np.all(np.isfinite(values)):
                raise ValueError(f"push: {name} is {getattr(self, name)}: expected finite numbers")
        if self.duration <= 0.0:
            raise ValueError(f"push: duration is {self.duration}: expected more than 0 s")

    def force(self, t: float) -> np.ndarray:
        """(3,) [N] at time t."""
        acts = self.start <= t < self.start + self.duration
        return np.array([*self.impulse, 0.0]) / self.duration * acts


@dataclass(frozen=True)
class Slope:
    """The floor rises [deg] towards `heading` [deg]; it tips from level to that between two times [s].

    Z stays the floor's normal and gravity is tilted: the same as a tilted floor. Raises ValueError from 45 degrees on.
    """

    degrees: float
    heading: float = 0.0
    start: float = 2.0
    end: float = 5.0

    def __post_init__(self) -> None:
        if not (-45.0 < self.degrees < 45.0 and abs(self.heading) <= 360.0):
            raise ValueError(f"slope: {self.degrees} degrees towards {self.heading}: expected -45 to 45, -360 to 360")

    def gravity(self, time: float) -> np.ndarray:
        """(3,) [m/s2] along the floor's axes."""
        tilt = np.radians(self.degrees) * np.clip((time - self.start) / (self.end - self.start), 0.0, 1.0)
        way = np.radians(self.heading)
        return -GRAVITY * np.array([np.sin(tilt) * np.cos(way), np.sin(tilt) * np.sin(way), np.cos(tilt)])


@dataclass
class Record:
    """What happened, one entry a tick."""

    dt: float  # [s] between ticks
    time: list[float] = field(default_factory=list)
    qpos: list[np.ndarray] = field(default_factory=list)
    com: list[np.ndarray] = field(default_factory=list)
    momentum: list[np.ndarray] = field(default_factory=list)
    errors: list[np.ndarray] = field(default_factory=list)  # of each level, see Outcome.names
    names: list[tuple[str, ...]] = field(default_factory=list)  # of the levels
    solve_s: list[float] = field(default_factory=list)
    feasible: list[bool] = field(default_factory=list)
    fell: bool = False
    wall_s: float = 0.0
    cpu_s: float = 0.0  # processor time of control and physics

    def error(self, level: str) -> np.ndarray:
        """(number of ticks,) |A x - b| of a level, NaN where there was none of that name."""
        pairs = zip(self.names, self.errors, strict=True)
        return np.array([e[n.index(level)] if level in n else np.nan for n, e in pairs])


class Stage:
    """A body, a controller and a solver, stepped tick by tick.

    `substeps` physics steps hold one tick's torques. A body has fallen when its centre of mass is lower than 70 % of
    where it stands.
    """

    def __init__(self, body: Body, controller: Controller, solver: Solver, substeps: int = 2, low: float = LOW) -> None:
        self.body, self.controller, self.solver, self.substeps, self.low = body, controller, solver, substeps, low
        self.data = mujoco.MjData(body.m)
        self.data.qpos[:] = body.rest
        self.pushes: list[Push] = []
        self.slope: Slope | None = None
        body.m.opt.gravity[:] = (0.0, 0.0, -GRAVITY)
        self.record = Record(substeps * body.m.opt.timestep)

    def tick(self) -> Outcome:
        """Ask the controller once, then step. Raises FloatingPointError where the simulation fails."""
        m, data = self.body.m, self.data
        if self.slope is not None:
            m.opt.gravity[:] = self.slope.gravity(data.time)
        mujoco.mj_step1(m, data)
        d = read_dynamics(self.body, data)
        wish = self.controller(d, data.time)
        start = clock.thread_time()  # processor time: what else runs on the machine is not ours
        outcome = solve(d, wish, self.solver)
        took = clock.thread_time() - start
        self._note(d, outcome, took)
        data.ctrl[:] = outcome.torque / m.actuator_gear[:, 0]
        for i in range(self.substeps):
            if i > 0:
                mujoco.mj_step1(m, data)
            data.xfrc_applied[self.body.trunk, :3] = sum((p.force(data.time) for p in self.pushes), np.zeros(3))
            mujoco.mj_step2(m, data)
        if not np.all(np.isfinite(data.qpos)):
            raise FloatingPointError(f"the simulation of {self.body.name!r} failed at {data.time:.3f} s")
        return outcome

    def run(self, duration: float) -> Record:
        """Until `duration` [s] more have passed or the body has fallen."""
        start, cpu, end = clock.perf_counter(), clock.thread_time(), self.data.time + duration
        with without_gc():
            while self.data.time < end - 1e-9 and not self.record.fell:
                self.tick()
        self.record.wall_s += clock.perf_counter() - start
        self.record.cpu_s += clock.thread_time() - cpu
        return self.record

    def _note(self, d: Dynamics, outcome: Outcome, took: float) -> None:
        r, com = self.record, d.data.subtree_com[self.body.root]
        r.time.append(d.data.time)
        r.qpos.append(d.data.qpos.copy())
        r.com.append(com.copy())
        r.momentum.append(features.angular_momentum(d).value)
        r.errors.append(outcome.solution.errors)
        r.names.append(outcome.names)
        r.solve_s.append(took)
        r.feasible.append(bool(outcome.solution.feasible))
        r.fell = bool(com[2] < self.low * self.body.com_height)
