"""One training run, from settings to its last checkpoint."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import jax
from jax.sharding import Mesh

from qes_jax.assembly.clips import get_clips
from qes_jax.assembly.program import environment_mesh, initial_state, make_program, make_training
from qes_jax.assembly.settings import RunConfig
from qes_jax.assembly.trained import find_trained, load_learned
from qes_jax.env.state import EnvParams
from qes_jax.env.task import Task
from qes_jax.evaluate.summary import make_evaluator
from qes_jax.motion.clip import Clip
from qes_jax.ppo.inference import policy, policy_params
from qes_jax.ppo.learner import carry_on, learner_of
from qes_jax.ppo.train import TrainState
from qes_jax.runs.folder import RunFolder, create
from qes_jax.runs.loop import LoopConfig, train_loop
from qes_jax.runs.progress import make_display
from qes_jax.runs.stop import StopFlag
from qes_jax.runs.tracker import TrackerName, make_tracker


def train_run(
    config: RunConfig, resume: RunFolder | None, tracker: TrackerName, root: Path, environment: Mapping[str, str]
) -> RunFolder:
    """Train until config.samples, in a new run folder or on from a run's newest checkpoint.

    `environment` is where trackers look for keys. Raises TrainingFailed where numbers are no longer finite.
    """
    clips = get_clips(config)
    print(f"{len(clips)} clips, {sum(c.duration for c in clips):.0f} s: {', '.join(c.name for c in clips)}", flush=True)
    task, params = make_training(config, clips)
    mesh = environment_mesh()
    state, params = begin(config if resume is None else replace(config, start_from=None), task, params, mesh, root)
    program = make_program(config, task, evaluator(config, task, params, clips), mesh)
    loop = LoopConfig(
        total_samples=config.samples,
        samples_per_iteration=config.ppo.n_samples,
        checkpoint_every=config.checkpoint_every,
        evaluate_every=config.evaluate_every,
        best="eval/mean_tracked_s",
    )
    run = resume or create(root, config.preset, config)
    print(f"run folder: {run.path}  (device: {jax.devices()[0].device_kind}, {jax.device_count()} of it)", flush=True)
    with StopFlag() as stop:
        outcome = train_loop(
            program, state, params, run, loop,
            tracker=make_tracker(tracker, run, config, environment), display=make_display(config.samples), stop=stop,
        )  # fmt: skip
    print(f"{outcome.reason} after {outcome.iteration} iterations")
    print(f"evaluate it: python experiments/evaluate.py {run.path}")
    return run


def begin(
    config: RunConfig, task: Task, params: EnvParams, mesh: Mesh | None, root: Path
) -> tuple[TrainState, EnvParams]:
    """A fresh learner, or one that carries on from what `config.start_from` has learned, on its PD targets' centre.

    Raises ValueError where that is of another body, observation or network.
    """
    state = initial_state(config, task, params, mesh)
    if config.start_from is None:
        return state, params
    learner, mean_pose = load_learned(find_trained(root, config.start_from), learner_of(state), params.mean_pose)
    print(f"carrying on from {config.start_from}", flush=True)
    return carry_on(state, learner), params._replace(mean_pose=mean_pose)


def evaluator(config: RunConfig, task: Task, params: EnvParams, clips: list[Clip]) -> Callable | None:
    """What the loop calls to see how well the policy does on its clips, 20 s from even starts; None where never."""
    if config.evaluate_every == 0:
        return None
    act = partial(policy, config.ppo)
    evaluate = make_evaluator(task, clips, act, config.evaluate_starts, seconds=20.0, mean_pose=params.mean_pose)
    return lambda state, params, iteration: evaluate(policy_params(state))
