"""What a scene costs MJX: candidate contacts, each of which it computes at every step, and the time to compile."""

import time
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from mujoco.mjx._src.collision_driver import make_condim

from qes_jax.model.engine import initial_state
from qes_jax.model.mjx_engine import MjxEngine
from qes_jax.model.scene import Scene
from qes_jax.model.world import build_world


@dataclass(frozen=True)
class Cost:
    """Of a character in a scene."""

    pieces: int
    geoms: int  # that can be touched
    joints: int  # of pieces
    candidates: int  # contacts that MJX looks at
    compile_seconds: float | None  # of one control step of 16 environments on MJX, tracing included; None: not measured


def cost(scene: Scene, compiling: bool = False) -> Cost:
    """Count, and if `compiling` compile anew, whatever a cache holds."""
    world = build_world(pieces=scene.pieces)
    layout = world.layout
    candidates = len(make_condim(world.plain))
    seconds = compile_seconds(MjxEngine(world)) if compiling else None
    return Cost(len(scene.pieces), len(layout.geoms.body), len(layout.object_dofs), candidates, seconds)


def compile_seconds(engine: MjxEngine, rows: int = 16) -> float:
    """Seconds to trace and compile three substeps of `rows` environments."""
    state = jax.vmap(lambda _: initial_state(engine.world))(jnp.arange(rows))
    ctrl = jnp.zeros((rows, engine.world.plain.nu))
    cached = jax.config.jax_enable_compilation_cache
    jax.config.update("jax_enable_compilation_cache", False)
    try:
        began = time.perf_counter()
        jax.jit(jax.vmap(lambda s, u: engine.step(s, u, 3))).lower(state, ctrl).compile()
        return round(time.perf_counter() - began, 1)
    finally:
        jax.config.update("jax_enable_compilation_cache", cached)
