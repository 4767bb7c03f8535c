"""From settings to the things themselves: clips, world, engine, task, and a trained policy back from its run folder."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from qes_jax.assembly.clips import of_height
from qes_jax.assembly.settings import RunConfig, effective_env
from qes_jax.env.curriculum import adapt_starts
from qes_jax.env.state import EnvParams
from qes_jax.env.symmetry import apply, symmetry
from qes_jax.env.task import Task
from qes_jax.evaluate.starts import all_starts, continued
from qes_jax.files import save_npz
from qes_jax.model.engines import make_engine
from qes_jax.model.scene import Scene
from qes_jax.motion.clip import Clip
from qes_jax.motion.library import pack, world_for
from qes_jax.ppo import train
from qes_jax.ppo.inference import PolicyParams
from qes_jax.ppo.loss import Mirror
from qes_jax.runs.loop import Program
from qes_jax.types import StepFn

ADAPTIVE = ("start_weight", "difficulty", "mean_pose")  # what a run has of its own beyond its clips
Act = Callable[[PolicyParams, jax.Array], jax.Array]


def make_training(config: RunConfig, clips: list[Clip]) -> tuple[Task, EnvParams]:
    """The task on clips that go on for one episode beyond their end, as they do in evaluation.

    Episodes start in the clips themselves, but in no last second of the continued ones.
    """
    clips = of_height(clips, config.character.height)
    longer = continued(clips, config.env.max_frames * config.env.ctrl_dt)
    task, params = make_task(config, longer)
    own = jnp.zeros_like(params.start_weight).at[all_starts(clips, longer)].set(1.0)
    return task, params._replace(start_weight=params.start_weight * own)


def make_task(config: RunConfig, clips: list[Clip], also: Sequence[Scene] = ()) -> tuple[Task, EnvParams]:
    """The task in a world that can furnish every clip's scene and those of `also`, and its parameters."""
    env = effective_env(config)
    world = world_for(clips, config.character.actuation, env.sim_dt, also)
    task = Task(env, make_engine(world, config.engine))
    return task, task.params(pack(clips, world))


def environment_mesh() -> Mesh | None:
    """All devices on one axis, for the environments to be spread over; None where there is but one."""
    return Mesh(np.array(jax.devices()), (train.AXIS,)) if jax.device_count() > 1 else None


def initial_state(config: RunConfig, task: Task, params: EnvParams, mesh: Mesh | None = None) -> train.TrainState:
    """A fresh learner, on the devices of `mesh` where one is given."""
    key = jax.random.PRNGKey(config.seed)
    state = train.init(config.ppo, task.reset, task.step, params, key, task.n_actions)
    return state if mesh is None else train.shard(state, mesh)


def make_program(
    config: RunConfig, task: Task, evaluate: Callable | None, mesh: Mesh | None = None, step: StepFn | None = None
) -> Program:
    """What the training loop runs, on the devices of `mesh` where one is given. `step` stands for the task's own."""
    mirror = Mirror(*(partial(apply, block) for block in symmetry(task.config, task.engine.world)))
    adapt = jax.jit(adapt_starts) if config.start_by_failure else lambda params, traces: params
    return Program(
        iteration=train.make_iteration(config.ppo, task.reset, step or task.step, mesh, mirror),
        adapt=adapt,
        adaptive=lambda params: {name: getattr(params, name) for name in ADAPTIVE},
        with_adaptive=lambda params, part: params._replace(**part),
        evaluate=evaluate,
        on_failure=name_failure,
    )


def name_failure(folder: Path, state: train.TrainState, params: EnvParams, metrics: dict, traces: dict) -> str:
    """Which environment failed first, at which step, and which terms; its state goes into `folder`/environment.npz."""
    terms = ", ".join(k for k, v in metrics.items() if not np.isfinite(v)) or "none of the metrics"
    bad = ~np.asarray(traces.get("trace/finite", np.ones((1, 1), bool)))
    if not bad.any():
        return f"not finite: {terms}"
    step, env = (int(x) for x in np.argwhere(bad)[0])
    physics = jax.tree.map(lambda x: np.asarray(x)[env], state.env_state.physics)
    save_npz(folder / "environment.npz", **physics._asdict())
    return f"environment {env} first, at step {step} of the iteration; not finite: {terms}"
