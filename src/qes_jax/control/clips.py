"""Clips by control: qpos of the humanoid at the recordings' rate, from parameters alone."""

import numpy as np

from qes_jax.control.balance import Balance
from qes_jax.control.body import load_body
from qes_jax.control.fast import Fast
from qes_jax.control.gait import NORMAL, WalkParameters
from qes_jax.control.jump import VARIANTS, Jump, JumpConfig
from qes_jax.control.leap import LOW as JUMP_LOW
from qes_jax.control.simulate import LOW, Controller, Record, Stage
from qes_jax.control.stride import Walker

FPS = 36.0  # [Hz] of every clip


def walk_clip(parameters: WalkParameters = NORMAL, duration: float = 10.0) -> np.ndarray:
    """(T, nq) a walk from standing. Raises RuntimeError where the body falls."""
    body = load_body()
    return _clip(Walker(body, parameters), duration, f"walk {parameters}")


def balance_clip(duration: float = 5.0) -> np.ndarray:
    """(T, nq) standing."""
    return _clip(Balance(load_body()), duration, "balance")


def jump_clip(config: JumpConfig = VARIANTS["up"], duration: float = 3.5) -> np.ndarray:
    """(T, nq) one standing jump. Raises RuntimeError where the body falls."""
    return _clip(Jump(load_body(), config), duration, f"jump {config}", JUMP_LOW)


def _clip(controller: Controller, duration: float, what: str, low: float = LOW) -> np.ndarray:
    stage = Stage(load_body(), controller, Fast(), low=low)
    record = stage.run(duration)
    if record.fell:
        raise RuntimeError(f"the body fell after {record.time[-1]:.2f} s: {what}")
    return resample(record, FPS)


def resample(record: Record, fps: float) -> np.ndarray:
    """(T, nq) the record's nearest ticks at `fps` [Hz]; ticks are much closer than frames."""
    times = np.arange(0.0, record.time[-1], 1.0 / fps)
    return np.array(record.qpos)[np.round(times / record.dt).astype(int)]
