"""A learner small enough to be killed often: `python -m tests.runs.toy FOLDER [SECONDS_AN_ITERATION]`."""

import sys
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from qes_jax.runs.folder import RunFolder
from qes_jax.runs.loop import LoopConfig, Outcome, Program, train_loop
from qes_jax.runs.stop import StopFlag

CONFIG = LoopConfig(total_samples=300, samples_per_iteration=10, checkpoint_every=4, evaluate_every=7, keep_last=2)


class ToyState(NamedTuple):
    w: jax.Array  # (3, 3)
    key: jax.Array  # (2,) uint32
    empty: jax.Array  # (0, 3)


def toy_state() -> ToyState:
    return ToyState(jnp.eye(3), jax.random.PRNGKey(5), jnp.zeros((0, 3)))


def toy_params() -> dict[str, jax.Array]:
    return {"weights": jnp.ones(4), "fixed": jnp.arange(3.0)}


@partial(jax.jit, donate_argnums=0)
def toy_step(state: ToyState, env_params: Any) -> tuple[ToyState, dict[str, jax.Array], dict[str, jax.Array]]:
    key, sub = jax.random.split(state.key)
    x = jax.random.normal(sub, (3, 4)) * env_params["weights"]
    w = state.w + 0.01 * jnp.tanh(state.w @ x @ x.T) + env_params["fixed"]
    metrics = {"loss/value": jnp.mean(w**2), "nan/params": jnp.sum(~jnp.isfinite(w))}
    return ToyState(w, key, state.empty), metrics, {"seen": x}


def toy_program(seconds: float = 0.0) -> Program:
    def iteration(state: ToyState, env_params: Any) -> Any:
        time.sleep(seconds)
        return toy_step(state, env_params)

    return Program(
        iteration=iteration,
        adapt=lambda p, traces: p | {"weights": 0.9 * p["weights"] + 0.1 * jnp.abs(traces["seen"]).mean(0)},
        adaptive=lambda p: p["weights"],
        with_adaptive=lambda p, weights: p | {"weights": weights},
        evaluate=lambda state, p, number: {"eval/score": jnp.sum(state.w) * number},
    )


def toy_run(folder: Path, seconds: float = 0.0, stop: StopFlag | None = None, **more: Any) -> Outcome:
    """Trains, or goes on training, in `folder`."""
    run = RunFolder(folder)
    run.checkpoints.mkdir(parents=True, exist_ok=True)
    return train_loop(toy_program(seconds), toy_state(), toy_params(), run, CONFIG, stop=stop, **more)


if __name__ == "__main__":
    with StopFlag() as flag:
        outcome = toy_run(Path(sys.argv[1]), float(sys.argv[2]), flag)
    print(outcome.reason, outcome.iteration)
