"""A few numbers of a policy, quickly, while it is being trained."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from qes_jax.env.task import Task
from qes_jax.evaluate.metrics import mean_before, mean_frames, success_rate, tracked_span
from qes_jax.evaluate.rollout import Act, Tracked, make_tracker, track
from qes_jax.evaluate.starts import all_starts, continued, even_starts
from qes_jax.motion.clip import Clip
from qes_jax.motion.library import pack

THRESHOLD = 0.5  # [m] the stricter one


def make_evaluator(
    task: Task, clips: Sequence[Clip], act: Act, n_starts: int, seconds: float, mean_pose: jax.Array | None = None
) -> Callable[[Any], dict[str, float]]:
    """`policy -> summary`, from an even sample of start frames, each followed for `seconds` without randomisation.

    Compiled once, at its first call. `mean_pose` (J,) [rad] is the centre of PD targets that the policy is trained with
    (`EnvParams.mean_pose`); that of `clips` themselves if not given.
    """
    world, fps = task.engine.world, 1.0 / task.config.ctrl_dt
    longer = continued(clips, seconds)
    mean_pose = task.params(pack(clips, world)).mean_pose if mean_pose is None else mean_pose
    params = task.params(pack(longer, world))._replace(mean_pose=mean_pose)
    starts = even_starts(all_starts(clips, longer), n_starts)
    tracker, n_frames = make_tracker(task, act), round(seconds * fps)

    def evaluate(policy: Any) -> dict[str, float]:
        return summary(track(task, params, act, policy, starts, n_frames, tracker=tracker), fps)

    return evaluate


def summary(tracked: Tracked, fps: float) -> dict[str, float]:
    """Means at THRESHOLD over all episodes. Where less than 20 s were simulated, success is that to the end."""
    span, n_frames = tracked_span(tracked, THRESHOLD), len(tracked.error)
    return {
        "eval/mean_tracked_s": mean_frames(span, n_frames).value / fps,
        "eval/success_20s": success_rate(span, min(n_frames, round(20 * fps))).value,
        "eval/error_cm": 100.0 * mean_before(tracked.error, span).value,
        "eval/headset_error_cm": 100.0 * mean_before(tracked.headset, span).value,
        "eval/jerk": mean_before(tracked.jerk, span).value,
        "eval/body_error_cm": 100.0 * mean_before(tracked.body, span).value,
        "eval/contact": mean_before(tracked.contact, span).value,
        "eval/episodes": float(np.size(span.frames)),
    }
