"""One jump from start to end, and its measures."""

import time as clock
from collections.abc import Callable
from typing import NamedTuple

import mujoco
import numpy as np

from qes_jax.control.balance import sole_middle
from qes_jax.control.body import Body
from qes_jax.control.dynamics import read_dynamics
from qes_jax.control.flight import heading
from qes_jax.control.jump import Jump, JumpConfig
from qes_jax.control.priority import Solver
from qes_jax.control.simulate import Record, Stage, without_gc

LOW = 0.5  # of the standing height: fallen; a crouch goes lower than walking does


class JumpResult(NamedTuple):
    fell: bool
    height: float  # [m] of the centre of mass at most over where it stands
    flight_s: float  # nothing touches the floor
    landing_error: float  # [m] on the floor, between where the soles end and where they should: `forward` ahead
    turned: float  # [rad] of the heading, left positive
    solve_ms_median: float


def perturb(body: Body, data: mujoco.MjData, seed: int, angle: float = 0.02, speed: float = 0.05) -> None:
    """Start a little off the rest: normal deviations of every joint [rad] and of every velocity [rad/s, m/s]."""
    rng = np.random.default_rng(seed)
    data.qpos[body.qpos] += angle * rng.normal(size=len(body.qpos))
    data.qvel[:] += speed * rng.normal(size=body.m.nv)


def run_jump(
    body: Body, config: JumpConfig, make_solver: Callable[[], Solver], seed: int | None = None, duration: float = 3.0
) -> tuple[JumpResult, Record]:
    """Jump once; `seed` perturbs the start, `duration` [s] is the human's."""
    jump = Jump(body, config)
    stage = Stage(body, jump, make_solver(), low=LOW)
    if seed is not None:
        perturb(body, stage.data, seed)
    return watch_jump(stage, jump, duration * jump.size**0.5)


def watch_jump(stage: Stage, jump: Jump, duration: float) -> tuple[JumpResult, Record]:
    """Run a stage that stands before its jump for `duration` [s], or until the body falls."""
    body, config = stage.body, jump.config
    start, facing = _place(stage)
    cpu, wall = clock.thread_time(), clock.perf_counter()
    air, turned, last = 0, 0.0, facing
    with without_gc():
        while stage.data.time < duration - 1e-9 and not stage.record.fell:
            stage.tick()
            air += stage.data.ncon == 0
            now = _place(stage)[1]
            turned, last = turned + (now - last + np.pi) % (2 * np.pi) - np.pi, now
    goal = start + config.forward * jump.size * np.array([np.cos(facing), np.sin(facing)])
    record = stage.record
    record.cpu_s += clock.thread_time() - cpu
    record.wall_s += clock.perf_counter() - wall
    return JumpResult(
        fell=record.fell,
        height=float(np.max(np.array(record.com)[:, 2]) - body.com_height),
        flight_s=air * record.dt,
        landing_error=float(np.linalg.norm(_place(stage)[0] - goal)),
        turned=float(turned),
        solve_ms_median=1e3 * float(np.median(record.solve_s)),
    ), record


def _place(stage: Stage) -> tuple[np.ndarray, float]:
    """(2,) [m] between the soles, and the heading [rad]."""
    mujoco.mj_kinematics(stage.body.m, stage.data)
    d = read_dynamics(stage.body, stage.data)
    return np.mean([sole_middle(d, side)[:2] for side in (0, 1)], axis=0), heading(d)
