"""A failure seen again: the run goes on from its checkpoint to the iteration that failed, this time watched."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from qes_jax.assembly.clips import get_clips
from qes_jax.assembly.program import environment_mesh, make_program, make_training
from qes_jax.assembly.settings import RunConfig
from qes_jax.assembly.training import begin
from qes_jax.env.state import EnvParams
from qes_jax.env.task import Task
from qes_jax.evaluate.episode import Episode, save_episode
from qes_jax.motion.build import kinematics
from qes_jax.runs.checkpoint import CheckpointStore
from qes_jax.runs.config import from_json
from qes_jax.runs.failure import read_failure
from qes_jax.runs.folder import RunFolder
from qes_jax.runs.loop import restore
from qes_jax.types import StepFn


def replay(folder: Path) -> Path:
    """Run the iteration of a failure's dump again and write the environment that failed: FOLDER/episode.npz.

    Raises ValueError where the run is past it, or where no environment failed.
    """
    failure, run = read_failure(folder), RunFolder(folder.parent)
    config = from_json(RunConfig, run.read_config(), str(run.config))
    task, params = make_training(config, get_clips(config))
    mesh, store = environment_mesh(), CheckpointStore(run.checkpoints)
    begun = config if failure["replay_from"] is None else replace(config, start_from=None)
    state, params = begin(begun, task, params, mesh, run.path.parent)
    program = make_program(config, task, None, mesh, watched(task))
    now, _ = restore(program, store, state, params)
    if now.iteration >= failure["iteration"]:
        raise ValueError(
            f"{folder}: the run is past iteration {failure['iteration']}: it has checkpoint {now.iteration}"
        )
    state, params, traces = now.train_state, now.env_params, {}
    for number in range(now.iteration + 1, failure["iteration"] + 1):
        print(f"iteration {number} of {failure['iteration']}", flush=True)
        before = params
        state, _, traces = program.iteration(state, before)
        params = program.adapt(before, traces)
    path = folder / "episode.npz"
    save_episode(path, failed_episode(task, before, jax.device_get(traces), str(folder)))
    return path


def watched(task: Task) -> StepFn:
    """The task's step, with the pose that it reached among what is kept step by step."""

    def step(params: EnvParams, state: Any, action: jax.Array) -> Any:
        after, timestep = task.step(params, state, action)
        return after, timestep._replace(metrics=timestep.metrics | {"trace/qpos": after.physics.qpos})

    return step


def failed_episode(task: Task, params: EnvParams, traces: Mapping[str, np.ndarray], where: str) -> Episode:
    """What the first environment that failed did since its episode began, or the iteration did.

    A pose that is not finite is shown as the last one that was. Raises ValueError where none failed.
    """
    bad = ~np.asarray(traces["trace/finite"]).astype(bool)
    bad |= ~np.isfinite(traces["trace/qpos"]).all(axis=-1)
    if not bad.any():
        raise ValueError(f"{where}: no environment failed, so it was the learner: see failure.json")
    step, env = (int(x) for x in np.argwhere(bad)[0])
    ended = np.asarray(traces["terminated"] + traces["truncated"])[:step, env] > 0
    first = int(np.flatnonzero(ended)[-1]) + 1 if ended.any() else 0
    rows = np.arange(first, step + 1) if step > first else np.array([step, step])
    world, reference = task.engine.world, jax.device_get(params.reference)
    frame = np.asarray(traces["trace/frame"])[rows, env].astype(int)
    clip = int(reference.clip_of_frame[frame[0]])
    qpos = held(np.asarray(traces["trace/qpos"])[rows, env], reference.qpos[frame[0]])
    force = np.zeros((len(rows), *reference.contact.shape[1:]), np.float32)
    return Episode(
        f"environment {env}, step {step}", 1.0 / task.config.ctrl_dt, world.character, world.pieces,
        bool(reference.body_known[clip]), qpos, reference.placement[clip], reference.qpos[frame],
        reference.sensor_pos[frame], reference.sensor_quat[frame], kinematics(world, qpos)[2], force,
        reference.contact[frame],
    )  # fmt: skip


def held(qpos: np.ndarray, start: np.ndarray) -> np.ndarray:
    """qpos (T, nq) whose rows that are not finite are as the last one before that was, the first as `start`."""
    qpos = qpos.copy()
    for t, row in enumerate(qpos):
        if not np.isfinite(row).all():
            qpos[t] = qpos[t - 1] if t else start
    return qpos
