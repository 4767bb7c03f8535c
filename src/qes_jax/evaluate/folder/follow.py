"""Many clips followed in batches of one shape, so that their number and lengths cost no compilation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.env.state import EnvParams
from qes_jax.env.task import Task
from qes_jax.evaluate.metrics import THRESHOLDS, Scores, scores
from qes_jax.evaluate.rollout import Act, Tracker, make_tracker, select, track
from qes_jax.evaluate.starts import continued, even_starts
from qes_jax.model.scene import Scene
from qes_jax.motion.clip import Clip, load_clip
from qes_jax.motion.library import Reference, pack

CLIPS = 16  # of a batch
PER_CLIP = ("start", "length", "placement", "present", "body_known")  # fields of Reference

ByThreshold = dict[float, Scores]


@dataclass(frozen=True)
class Known:
    """What has to be known of a clip before any is followed."""

    name: str
    path: Path
    frames: int
    scene: Scene
    seconds: float


@dataclass(frozen=True)
class Follower:
    """One compiled world for batches of up to CLIPS clips and `frames` continued frames."""

    task: Task
    mean_pose: jax.Array  # (J,) [rad] the policy's centre of PD targets
    act: Act
    policy: Any
    n_starts: int  # of each clip
    seconds: float
    frames: int
    tracker: Tracker

    @property
    def fps(self) -> float:
        """Control rate [Hz]."""
        return 1.0 / self.task.config.ctrl_dt


def look_at(name: str, path: Path) -> Known:
    """What is to be known of a clip's file."""
    clip = load_clip(path)
    return Known(name, path, clip.n_frames, clip.scene, clip.duration)


def make_follower(
    task: Task, mean_pose: jax.Array, act: Act, policy: Any, clips: Sequence[Known], n_starts: int, seconds: float
) -> Follower:
    """For these clips, from up to `n_starts` even starts of each for `seconds`."""
    fps = 1.0 / task.config.ctrl_dt
    longest = [_continued(c, seconds, fps) for c in clips]
    frames = max(*longest, min(sum(longest), round(CLIPS * 45 * fps)))
    return Follower(task, mean_pose, act, policy, n_starts, seconds, frames, make_tracker(task, act))


def _continued(clip: Known, seconds: float, fps: float) -> int:
    """At most how many frames the clip has once it is continued."""
    return clip.frames + round(seconds * fps) + 3


def batches(follower: Follower, clips: Sequence[Known]) -> Iterator[list[Known]]:
    """The clips in order, in batches that fit."""
    batch: list[Known] = []
    total = 0
    for clip in clips:
        more = _continued(clip, follower.seconds, follower.fps)
        if batch and (len(batch) == CLIPS or total + more > follower.frames):
            yield batch
            batch, total = [], 0
        batch, total = [*batch, clip], total + more
    if batch:
        yield batch


def follow_batch(follower: Follower, batch: Sequence[Known]) -> list[ByThreshold]:
    """Scores of each clip at each of THRESHOLDS. `n` counts its episodes."""
    clips = [load_clip(c.path) for c in batch]
    params, starts, clip = _starts(follower, clips)
    n_frames = round(follower.seconds * follower.fps)
    full = np.pad(starts, (0, CLIPS * follower.n_starts - len(starts)), mode="edge")
    tracked = track(
        follower.task, params, follower.act, follower.policy, full, n_frames,
        chunk=len(full), tracker=follower.tracker,
    )  # fmt: skip
    tracked = select(tracked, slice(len(starts)))
    return [
        {t: scores(select(tracked, clip == i), t, follower.fps) for t in THRESHOLDS} for i in range(len(clips))
    ]  # fmt: skip


def _starts(follower: Follower, clips: Sequence[Clip]) -> tuple[EnvParams, np.ndarray, np.ndarray]:
    """Parameters of the follower's shape, start frames (B,), and the clip of each (B,)."""
    longer = continued(clips, follower.seconds)
    reference = pad_reference(pack(longer, follower.task.engine.world), follower.frames, CLIPS)
    offsets = np.cumsum([0, *(c.n_frames for c in longer)])
    starts = [o + even_starts(np.arange(c.n_frames), follower.n_starts) for o, c in zip(offsets, clips, strict=False)]
    clip = np.repeat(np.arange(len(clips)), [len(s) for s in starts])
    params = follower.task.params(reference)._replace(mean_pose=follower.mean_pose)
    return params, np.concatenate(starts).astype(np.int32), clip


def pad_reference(reference: Reference, frames: int, clips: int) -> Reference:
    """The reference with its last frame and its last clip repeated up to these numbers; nothing starts there."""

    def padded(name: str, x: jax.Array) -> jax.Array:
        missing = (clips if name in PER_CLIP else frames) - len(x)
        return jnp.concatenate([x, jnp.repeat(x[-1:], missing, axis=0)]) if missing else x

    return Reference(**{name: padded(name, x) for name, x in reference._asdict().items()})
