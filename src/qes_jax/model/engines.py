"""Engines by name."""

from importlib.util import find_spec
from typing import Literal

import jax

from qes_jax.model.engine import Engine
from qes_jax.model.mjx_engine import MjxEngine
from qes_jax.model.mujoco_engine import MujocoEngine
from qes_jax.model.world import World

EngineName = Literal["auto", "mujoco", "mjx", "mjx-warp"]


def make_engine(world: World, name: EngineName = "auto") -> Engine:
    """The engine by name. "auto" takes mjx on an accelerator and MuJoCo's C engine on a CPU."""
    if name == "auto":
        name = "mujoco" if jax.default_backend() == "cpu" else "mjx"
    if name == "mujoco":
        return MujocoEngine(world)
    if name == "mjx-warp":
        _check_warp()
    if name in ("mjx", "mjx-warp"):
        return MjxEngine(world, "warp" if name == "mjx-warp" else "jax")
    raise ValueError(f"unknown engine {name!r}: expected auto, mujoco, mjx or mjx-warp")


def _check_warp() -> None:
    """Raise ValueError where MuJoCo-Warp cannot run."""
    if find_spec("warp") is None:
        raise ValueError("engine mjx-warp needs warp-lang: pip install 'qes_jax[warp]', or take --engine mjx")
    if (device := jax.default_backend()) != "gpu":
        raise ValueError(f"engine mjx-warp needs an NVIDIA GPU, and JAX sees a {device}: take --engine mjx")
