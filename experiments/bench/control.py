"""Control ticks per second of the batched JAX solver, beside the solvers of one core, on the ticks of one jump.

    python experiments/bench/control.py [--batch 64] [--seconds 5] [--json FILE]

Machines are noisy: all solvers run in one process on the same problems, and only their ratios mean much.
"""

import time
from collections.abc import Callable
from json import dumps
from pathlib import Path

import jax
import numpy as np
import tyro

from qes_jax.control.body import load_body
from qes_jax.control.fast import Fast
from qes_jax.control.hierarchy import Hierarchy
from qes_jax.control.jump import VARIANTS, Jump
from qes_jax.control.leap import LOW
from qes_jax.control.pad import pad
from qes_jax.control.priority import SOLVERS, strict
from qes_jax.control.simulate import Stage
from qes_jax.control.solve_jax import make_solver
from qes_jax.files import replacing


def main(batch: int = 64, seconds: float = 5.0, json: str = "", body: str = "humanoid") -> int:
    """Time every solver on the same ticks and print, or write, one JSON object.

    Args:
        batch: problems solved at a time in JAX.
        seconds: for each solver, compilation apart.
        json: file to write.
        body: whose jump.
    """
    ticks = jump_ticks(body)
    problems = [ticks[i] for i in np.linspace(0, len(ticks) - 1, batch).astype(int)]
    together, solver = pad(problems), make_solver()
    start = time.perf_counter()
    found = solver(together)
    compile_s = time.perf_counter() - start
    wanted = np.array([_filled(strict(p).errors, together) for p in problems])
    fast = Fast()
    rates = {
        "jax": batch * rate(lambda: solver(together), seconds),
        "strict": batch * rate(lambda: [strict(p) for p in problems], seconds),
        "fast": batch * rate(lambda: [fast(p) for p in problems], seconds),
        "kanoun": batch * rate(lambda: [SOLVERS["kanoun"](p) for p in problems], seconds),
    }
    result = {f"{name}_ticks_per_s": value for name, value in rates.items()}
    result |= {f"jax_of_{name}": rates["jax"] / rates[name] for name in ("strict", "fast", "kanoun")}
    result |= {
        "compile_s": compile_s, "batch": batch, "unknowns": int(together.G.shape[2]),
        "inequalities": int(together.G.shape[1]), "largest_disagreement": disagreement(found.errors, wanted),
        "device": jax.devices()[0].device_kind,
    }  # fmt: skip
    text = dumps(result, indent=2)
    print(text)
    if json:
        with replacing(Path(json)) as aside:
            aside.write_text(text + "\n")
    return 0


def jump_ticks(name: str, until: float = 2.0) -> list[Hierarchy]:
    """The problems of a jump, from crouch to landing: contacts come and go."""
    body = load_body(name)
    stage = Stage(body, Jump(body, VARIANTS["up"]), Fast(), low=LOW)
    problems = []
    while stage.data.time < until * stage.controller.size**0.5:
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


if __name__ == "__main__":
    tyro.cli(main)
