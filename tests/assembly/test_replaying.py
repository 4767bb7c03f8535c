"""A run whose physics, observation or reward turns to NaN ends within that iteration, and is seen again."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.assembly import training
from qes_jax.assembly.program import make_task
from qes_jax.assembly.replaying import failed_episode, replay
from qes_jax.assembly.settings import RunConfig, presets
from qes_jax.assembly.trusting.motions import FRAMES, swaying
from qes_jax.env.task import Task
from qes_jax.evaluate.episode import load_episode
from qes_jax.runs.failure import TrainingFailed, read_failure


def test_the_first_environment_that_failed_is_found_since_its_episode_began() -> None:
    task, params = make_task(RunConfig(), [swaying()])
    qpos = np.tile(swaying().qpos[:, None], (1, 3, 1))
    qpos[6, 1, 4] = np.nan
    finite, ended = np.ones((FRAMES, 3), bool), np.zeros((FRAMES, 3))
    finite[7, 2], ended[2, 1] = False, 1.0
    traces = {"trace/finite": finite, "trace/qpos": qpos, "terminated": ended, "truncated": 0 * ended}
    traces["trace/frame"] = np.tile(np.arange(FRAMES)[:, None], (1, 3))
    found = failed_episode(task, params, traces, "here")
    assert found.name == "environment 1, step 6" and len(found.qpos) == 4
    np.testing.assert_array_equal(found.qpos, swaying().qpos[[3, 4, 5, 5]])
    traces["trace/finite"], traces["trace/qpos"] = np.ones_like(finite), np.zeros_like(qpos)
    with pytest.raises(ValueError, match="here: no environment failed"):
        failed_episode(task, params, traces, "here")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"iteration": "1", "replay_from": 1}'])
def test_a_folder_that_is_no_dump_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "failure.json").write_text(text)
    with pytest.raises(ValueError, match=r"failure\.json: not the dump"):
        read_failure(tmp_path)


def poisoned(where: str) -> Callable[..., Any]:
    """The task's step, in which those at some frames of the clip are struck."""
    step = Task.step

    def struck(self: Task, params: Any, state: Any, action: jax.Array) -> Any:
        after, timestep = step(self, params, state, action)
        bad = jnp.where(after.frame % 40 == 21, jnp.nan, 0.0)
        if where == "physics":
            after = after._replace(physics=after.physics._replace(qpos=after.physics.qpos + bad))
        elif where == "observation":
            timestep = timestep._replace(obs=jax.tree.map(lambda x: x + bad, timestep.obs))
        else:
            timestep = timestep._replace(reward=timestep.reward + bad)
        return after, timestep._replace(metrics=timestep.metrics | {"trace/finite": bad == 0.0})

    return struck


@pytest.mark.slow
@pytest.mark.parametrize("where", ["physics", "observation", "reward"])
def test_a_run_that_is_struck_ends_at_once_and_is_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    config = replace(presets()["smoke"], evaluate_every=0, checkpoint_every=1)
    monkeypatch.setattr(Task, "step", poisoned(where))
    with pytest.raises(TrainingFailed, match=r"(?s)iteration 1 failed: .*experiments/replay\.py"):
        training.train_run(config, None, "none", tmp_path, {})
    (folder,) = tmp_path.glob("*/failure-*")
    episode = load_episode(replay(folder))
    assert np.isfinite(episode.qpos).all() and "environment" in episode.name
    assert read_failure(folder)["iteration"] == 1
