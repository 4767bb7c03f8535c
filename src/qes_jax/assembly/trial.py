"""What a policy is tried on: clips and recordings, continued, in a world that can furnish them all."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jax
import numpy as np

from qes_jax.assembly.clips import of_height
from qes_jax.assembly.program import make_task
from qes_jax.assembly.settings import RunConfig
from qes_jax.assembly.trained import Trained
from qes_jax.env.state import EnvParams
from qes_jax.env.task import Task
from qes_jax.evaluate.episode import Episode, episodes
from qes_jax.evaluate.recording import record
from qes_jax.evaluate.starts import continued
from qes_jax.model.scene_file import find_scene
from qes_jax.motion.clip import FPS, Clip
from qes_jax.motion.sensors import load_track, make_track, read_device, scale_track, sensor_clip


@dataclass(frozen=True)
class Trial:
    """Clips, and the task of following them."""

    clips: list[Clip]
    longer: list[Clip]  # the same, continued
    task: Task
    params: EnvParams  # of the continued clips, with the policy's own centre of PD targets
    fps: float


def make_trial(trained: Trained, clips: list[Clip], seconds: float) -> Trial:
    """Clips that can be followed for `seconds` from any of their frames."""
    if not 1.0 / FPS <= seconds < math.inf:
        raise ValueError(f"{seconds} seconds to follow: expected at least a frame's, {1.0 / FPS:.3f}")
    clips = of_height(clips, trained.config.character.height)
    longer = continued(clips, seconds)
    task, params = make_task(trained.config, longer)
    check_sight(trained, task, params)
    return Trial(clips, longer, task, params._replace(mean_pose=trained.mean_pose), 1.0 / task.config.ctrl_dt)


def check_sight(trained: Trained, task: Task, params: EnvParams) -> None:
    """Raises ValueError where the policy does not see what there is to be seen."""
    _, seen = jax.eval_shape(task.reset, params, jax.random.key(0))
    given, known = seen.policy.shape[0], trained.policy.mean.shape[0]
    if given != known:
        raise ValueError(f"{trained.folder.path}: the policy sees {known} numbers, here there are {given} to be seen")


def read_recording(path: Path, config: RunConfig, scene: str) -> Clip:
    """A device recording, or a track made of one, as a clip whose body is a stand-in in the A-pose.

    A track that was made for another height is scaled, which is said.
    """
    height = config.character.height
    track = load_track(path) if path.suffix == ".npz" else make_track(read_device(path), height)
    if track.height != height:
        print(f"{path}: scaled from a body of {track.height:g} m to {height:g} m", file=sys.stderr, flush=True)
        track = scale_track(track, height)
    return sensor_clip(track, find_scene(scene), name=path.stem)


def follow_clips(trained: Trained, trial: Trial, count: int, seconds: float, start: float = 0.0) -> list[Episode]:
    """One episode of each of the first `count` clips from `start` [s] on, as long as the longest of these clips."""
    starts = np.cumsum([0, *(c.n_frames for c in trial.longer)])[: len(trial.clips)][:count] + round(start * trial.fps)
    if len(starts) == 0:
        return []
    frames = round(min(seconds, max(c.duration for c in trial.clips[:count]) - start) * trial.fps)
    recording = record(trial.task, trial.params, trained.act, trained.policy, starts, frames)
    return episodes(trial.task, trial.params, recording, names(trial.clips))


def names(clips: Sequence[Clip]) -> list[str]:
    """The clips' names."""
    return [c.name for c in clips]
