"""Physics steps per second, from bare MuJoCo up: python experiments/bench/throughput.py [--seconds 10] [--json FILE]

Machines are noisy, so all stages run in one process, in short blocks turn by turn, and only their ratios mean much.
Every block starts from the same standing bodies with the same controls.
"""

import os
import time
from collections.abc import Callable
from json import dumps
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import tyro
from mujoco.batch import Batch

from qes_jax.assembly.bench.stages import environment, furnished_task, iteration
from qes_jax.model.engine import Engine, initial_state
from qes_jax.model.engines import make_engine
from qes_jax.model.world import World

SUBSTEPS = 3  # physics steps a control step
CONTROL_STEPS = 16  # a block of 0.44 s: bodies sway but do not yet lie


class Stage(NamedTuple):
    """Something to time. `block` runs to the end and returns how many physics steps it made, over all environments."""

    name: str
    block: Callable[[], int]


def measure(seconds: float = 10.0, json: str = "", envs: int = 512, mjx_envs: int = 32, mjx: bool = True) -> int:
    """Time every stage and print, or write, one JSON object.

    Args:
        seconds: for each stage, compilation apart.
        json: file to write.
        envs: environments on the C engine.
        mjx_envs: environments on MJX.
        mjx: also MJX, which takes minutes to compile on a CPU.
    """
    task, params = furnished_task()
    world = task.engine.world
    stages = [
        raw(world, envs),
        on_engine("engine", task.engine, envs),
        Stage("env", environment(task, params, envs, CONTROL_STEPS)),
        Stage("ppo", iteration(task, params, envs)),
    ]
    result: dict[str, float | None] = {"mjx_compile_s": None}
    if mjx:
        stages.append(on_engine("mjx", make_engine(world, "mjx"), mjx_envs, control_steps=1))
        result["mjx_compile_s"] = once(stages[-1])
    for stage in stages:
        once(stage)
    rates = interleaved(stages, seconds)
    result |= {f"{name}_steps_per_s": rate for name, rate in rates.items()}
    result |= {f"{name}_of_raw": rates[name] / rates["raw"] for name in rates if name != "raw"}
    result |= {"envs": envs, "mjx_envs": mjx_envs, "cores": len(os.sched_getaffinity(0))}
    text = dumps(result, indent=2)
    print(text)
    if json:
        write(Path(json), text)
    return 0


def raw(world: World, envs: int) -> Stage:
    """MuJoCo alone: `Batch.step` on the world's model, nothing read but its state."""
    batch = Batch(world.plain, envs, len(os.sched_getaffinity(0)))
    qpos, qvel, warm, ctrl = (batch.bind(f) for f in ("qpos", "qvel", "qacc_warmstart", "ctrl"))
    controls = draw(world, envs, CONTROL_STEPS)

    def block() -> int:
        qpos[:], qvel[:], warm[:] = world.layout.home_qpos, 0.0, 0.0
        for row in controls:
            ctrl[:] = row
            batch.step(nstep=SUBSTEPS)
        return envs * CONTROL_STEPS * SUBSTEPS

    return Stage("raw", block)


def on_engine(name: str, engine: Engine, envs: int, control_steps: int = CONTROL_STEPS) -> Stage:
    """An engine alone, under jit, vmap and scan, as an environment steps it; all derived fields are asked for."""
    start = jax.vmap(lambda q: initial_state(engine.world, q))(np.tile(engine.world.layout.home_qpos, (envs, 1)))
    controls = jnp.asarray(draw(engine.world, envs, control_steps))

    @jax.jit
    def run(state, controls):
        def control_step(state, ctrl):
            state, derived = jax.vmap(lambda s, u: engine.step(s, u, SUBSTEPS))(state, ctrl)
            return state, sum(x.sum() for x in derived)

        return jax.lax.scan(control_step, state, controls)

    def block() -> int:
        jax.block_until_ready(run(start, controls))
        return envs * control_steps * SUBSTEPS

    return Stage(name, block)


def draw(world: World, envs: int, control_steps: int) -> np.ndarray:
    """(control_steps, envs, J) small random controls."""
    shape = control_steps, envs, world.plain.nu
    return np.random.default_rng(0).uniform(-0.3, 0.3, shape).astype(np.float32)


def once(stage: Stage) -> float:
    """Run one block, which compiles at the first call; seconds."""
    start = time.perf_counter()
    stage.block()
    return time.perf_counter() - start


def interleaved(stages: list[Stage], seconds: float) -> dict[str, float]:
    """Physics steps per second of each stage, in blocks turn by turn until each has had its seconds."""
    spent, made = np.zeros(len(stages)), np.zeros(len(stages))
    while spent.min() < seconds:
        for i in np.flatnonzero(spent < seconds):
            start = time.perf_counter()
            made[i] += stages[i].block()
            spent[i] += time.perf_counter() - start
    return dict(zip([s.name for s in stages], made / spent, strict=True))


def write(path: Path, text: str) -> None:
    """Write a whole file or none."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text + "\n")
    temporary.replace(path)


def main(argv: list[str] | None = None) -> int:
    """Measure as the command line says."""
    return tyro.cli(measure, args=argv)
