"""Solvers of one control tick side by side, and ticks per second of the batched JAX solver.

    python experiments/bench/control.py [--motion walk|jump] [--batch 64] [--seconds 5] [--json FILE]

Machines are noisy: all solvers run in one process on the same ticks, turn by turn, and only their ratios mean much. Set
OPENBLAS_NUM_THREADS=1: threads only slow down matrices this small.
"""

import time
from collections.abc import Callable
from json import dumps
from pathlib import Path
from typing import Literal

import daqp
import jax
import numpy as np
import tyro

from qes_jax.control.body import load_body
from qes_jax.control.fast import Fast
from qes_jax.control.hierarchy import Hierarchy, Solution, errors
from qes_jax.control.jump import VARIANTS, Jump
from qes_jax.control.leap import LOW
from qes_jax.control.pad import pad
from qes_jax.control.priority import FREE, Solver, kanoun, strict
from qes_jax.control.simulate import Stage, without_gc
from qes_jax.control.solve_jax import make_solver
from qes_jax.control.stride import Walker
from qes_jax.files import replacing


def measure(
    batch: int = 64, seconds: float = 5.0, json: str = "", body: str = "humanoid",
    motion: Literal["walk", "jump"] = "walk",
) -> int:  # fmt: skip
    """Time every solver on the same ticks and print, or write, one JSON object.

    Args:
        batch: problems solved at a time in JAX.
        seconds: for the batched solver, compilation apart.
        json: file to write.
        body: whose motion.
        motion: what it does.
    """
    ticks = (walk_ticks if motion == "walk" else jump_ticks)(body)
    result = {"motion": motion, "body": body, "ticks": len(ticks)} | one_by_one(ticks)
    result |= batched([ticks[i] for i in np.linspace(0, len(ticks) - 1, batch).astype(int)], seconds)
    text = dumps(result, indent=2)
    print(text)
    if json:
        with replacing(Path(json)) as aside:
            aside.write_text(text + "\n")
    return 0


def one_by_one(ticks: list[Hierarchy]) -> dict[str, float]:
    """Processor time [ms] of each solver on every tick, and how far its levels' errors are from Algorithm 1's."""
    solvers: dict[str, Solver] = {"algorithm1": strict, "fast": Fast(), "daqp_native": native, "kanoun": kanoun}
    took: dict[str, list[float]] = {name: [] for name in solvers}
    off: dict[str, float] = dict.fromkeys(solvers, 0.0)
    with without_gc():
        for tick in ticks:
            wanted = strict(tick).errors
            for name, solver in solvers.items():
                start = time.thread_time()
                found = solver(tick)
                took[name].append(1e3 * (time.thread_time() - start))
                off[name] = max(off[name], disagreement(found.errors, wanted))
    rows = {f"{name}_ms_median": float(np.median(t)) for name, t in took.items()}
    rows |= {f"{name}_ms_p99": float(np.percentile(t, 99)) for name, t in took.items()}
    return rows | {f"{name}_disagreement": off[name] for name in solvers if name != "algorithm1"}


def native(problem: Hierarchy) -> Solution:
    """DAQP's own strict hierarchy: `break_points` end each priority's rows, the inequalities first."""
    rows, free = [problem.G, *(level.A for level in problem.levels)], np.full(len(problem.h), -FREE)
    wanted = [level.b for level in problem.levels]
    upper, lower = np.concatenate([problem.h, *wanted]), np.concatenate([free, *wanted])
    ends = np.cumsum([len(r) for r in rows]).astype(np.int32)
    n, kind = problem.G.shape[1], np.zeros(len(upper), np.int32)
    A = np.ascontiguousarray(np.concatenate(rows))
    x, _, flag, _ = daqp.solve(np.eye(n), np.zeros(n), A, upper, lower, kind, break_points=ends)
    return Solution(x, errors(problem, x), flag > 0)


def batched(problems: list[Hierarchy], seconds: float) -> dict[str, float | int | str]:
    """Ticks per second in JAX, and how far the levels' errors are from Algorithm 1's."""
    together, solver = pad(problems), make_solver()
    start = time.perf_counter()
    found = solver(together)
    compile_s = time.perf_counter() - start
    wanted = np.array([_filled(strict(p).errors, together) for p in problems])
    return {
        "jax_ticks_per_s": len(problems) * rate(lambda: solver(together), seconds),
        "jax_compile_s": compile_s, "jax_disagreement": disagreement(found.errors, wanted), "batch": len(problems),
        "unknowns": int(together.G.shape[2]), "inequalities": int(together.G.shape[1]),
        "device": jax.devices()[0].device_kind,
    }  # fmt: skip


def walk_ticks(name: str, until: float = 3.0) -> list[Hierarchy]:
    """The problems of a walk from its second second on, several steps."""
    body = load_body(name)
    return recorded(Stage(body, Walker(body), Fast()), until)


def jump_ticks(name: str, until: float = 2.0) -> list[Hierarchy]:
    """The problems of a jump, from crouch to landing: contacts come and go."""
    body = load_body(name)
    jump = Jump(body, VARIANTS["up"])
    return recorded(Stage(body, jump, Fast(), low=LOW), until * jump.size**0.5)


def recorded(stage: Stage, until: float) -> list[Hierarchy]:
    """The problems that a stage solves until a time [s], but the first quarter."""
    problems = []
    while stage.data.time < until:
        problems.append(stage.tick().problem)
    return problems[len(problems) // 4 :]


def rate(run: Callable[[], object], seconds: float) -> float:
    """Calls per second."""
    count, start = 0, time.perf_counter()
    while (took := time.perf_counter() - start) < seconds:
        run()
        count += 1
    return count / took


def disagreement(found: np.ndarray, wanted: np.ndarray) -> float:
    """The largest difference of any level's error, relative to one plus the error."""
    return float(np.max(np.abs(np.asarray(found) - wanted) / (1 + np.abs(wanted))))


def _filled(errors: np.ndarray, together: Hierarchy) -> np.ndarray:
    """Errors with zeros for the levels that `pad` put before the last."""
    return np.concatenate([errors[:-1], np.zeros(len(together.levels) - len(errors)), errors[-1:]])


def main(argv: list[str] | None = None) -> int:
    """Measure as the command line says."""
    return tyro.cli(measure, args=argv)
