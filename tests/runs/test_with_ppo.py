"""The loop with this project's PPO: a run cut in two is the same as a whole one."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from qes_jax.ppo.config import PPOConfig
from qes_jax.ppo.train import init, make_iteration
from qes_jax.runs.folder import RunFolder
from qes_jax.runs.loop import LoopConfig, Outcome, Program, train_loop
from qes_jax.runs.metrics import comparable, read_metrics
from qes_jax.types import Obs, Timestep

PPO = PPOConfig(n_envs=8, n_steps=4, minibatch=16, epochs=2, actor_hidden=(8,), critic_hidden=(8,))


def reset(env_params: Any, key: jax.Array) -> tuple[jax.Array, Obs]:
    x = env_params["spread"] * jax.random.normal(key, (2,))
    return x, Obs(x, x)


def step(env_params: Any, x: jax.Array, action: jax.Array) -> tuple[jax.Array, Timestep]:
    x = x + 0.1 * action
    out = (jnp.abs(x).max() > 2.0).astype(jnp.float32)
    return x, Timestep(Obs(x, x), -jnp.sum(x**2), out, jnp.float32(0), {"trace/x": x[0]})


def train(folder: Path, iterations: int) -> Outcome:
    run = RunFolder(folder)
    run.checkpoints.mkdir(parents=True, exist_ok=True)
    env_params = {"spread": jnp.float32(1.0)}
    program = Program(
        iteration=make_iteration(PPO, reset, step),
        adapt=lambda p, traces: {"spread": 0.5 * p["spread"] + jnp.mean(jnp.abs(traces["trace/x"]))},
        adaptive=lambda p: p,
        with_adaptive=lambda _, part: part,
    )
    state = init(PPO, reset, step, env_params, jax.random.key(0), n_act=2)
    config = LoopConfig(total_samples=iterations * PPO.n_samples, samples_per_iteration=PPO.n_samples)
    return train_loop(program, state, env_params, run, config)


def test_a_run_in_two_parts_equals_a_whole_one(tmp_path: Path) -> None:
    train(tmp_path / "parts", 3)
    parts, whole = train(tmp_path / "parts", 6), train(tmp_path / "whole", 6)
    rows = [[comparable(r) for r in read_metrics(tmp_path / name / "metrics.jsonl")] for name in ("parts", "whole")]
    assert len(rows[0]) == 6
    assert rows[0] == rows[1]
    for a, b in zip(jax.tree.leaves(parts[:2]), jax.tree.leaves(whole[:2]), strict=True):
        assert a.tobytes() == b.tobytes()
