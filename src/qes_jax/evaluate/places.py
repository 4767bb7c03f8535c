"""The same users among furniture that stands elsewhere than it was recorded.

Every piece is moved along each axis, height included, and turned about Z, by amounts drawn for each episode; what the
user does stays as it was, as when a virtual room does not quite match the real one. The draws are those of training
(`env.reset.perturb`) from keys of their own, and the same for every policy: comparisons are made in equal rooms.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import numpy as np

from qes_jax.env.config import RandomizeConfig
from qes_jax.env.state import EnvParams
from qes_jax.env.task import Task
from qes_jax.evaluate.rollout import Act, Progress, Tracked, Tracker, begin, evaluation_task, make_tracker, track
from qes_jax.evaluate.tables import Results, results
from qes_jax.motion.clip import Clip

SEED = 20_000  # of the draws, so that no training has drawn them
TURN = RandomizeConfig.yaw / RandomizeConfig.place  # [rad/m] turned as far, for how far it is moved, as in training
RECORDED, UNSEEN = "recorded places", "unseen places"


@dataclass(frozen=True)
class Moved:
    """In how many other places each start is followed."""

    count: int
    spread: float  # [m] at most, along each axis


def track_moved(
    task: Task, params: EnvParams, act: Act, policy: Any, starts: np.ndarray, n_frames: int, moved: Moved, *,
    progress: Progress | None = None,
) -> Tracked:  # fmt: skip
    """`rollout.track` from all starts (B,) in `moved.count` rooms each: episodes (count B,), room by room."""
    parts, steps = [], len(starts) * n_frames
    for room, tracker in enumerate(trackers(task, act, moved)):
        tell = _later(progress, room * steps, moved.count * steps)
        parts.append(track(task, params, act, policy, starts, n_frames, tracker=tracker, progress=tell))
    return jax.tree.map(lambda *x: np.concatenate(x, axis=1), *parts)


def _later(progress: Progress | None, before: int, total: int) -> Progress:
    return lambda done, _: progress(before + done, total) if progress else None


def trackers(task: Task, act: Act, moved: Moved) -> Iterator[Tracker]:
    """One for each room, compiled once for all."""
    start, segment = jax.jit(partial(begin, moved_task(task, moved.spread))), make_tracker(task, act).segment
    for room in range(moved.count):
        yield Tracker(partial(start, key=jax.random.PRNGKey(SEED + room)), segment)


def moved_task(task: Task, spread: float) -> Task:
    """The task of evaluation, but that a reset moves the furniture by up to `spread` [m] along each axis."""
    still = evaluation_task(task)
    config = replace(still.config, randomize=replace(still.config.randomize, place=spread, yaw=TURN * spread))
    return replace(still, config=config)


def check_places(clips: Sequence[Clip], moved: Moved) -> None:
    """Raises ValueError where so many places (0 for none) of such a spread make no sense for these clips."""
    if moved.count < 0:
        raise ValueError(f"{moved.count} places: expected at least 0")
    if not 0 <= moved.spread < np.inf:
        raise ValueError(f"a place spread of {moved.spread} m: expected a number from 0")
    if moved.count and not any(c.scene.pieces for c in clips):
        raise ValueError("unseen places are for furniture, and none of these clips has any")


def furnished(clips: Sequence[Clip], clip: np.ndarray) -> np.ndarray:
    """(B,) bool: whether the clip of each episode, an index (B,), has pieces that could stand elsewhere."""
    return np.array([bool(c.scene.pieces) for c in clips])[clip]


def compare(recorded: Tracked, unseen: Tracked, clip: np.ndarray, names: Sequence[str], fps: float) -> Results:
    """Scores with two rows for all and for each clip: in recorded places, and in unseen ones.

    recorded (T, B), unseen (T, count B) as `track_moved` gives it, clip (B,) an index of names. One start in several
    places makes no independent episodes: intervals are too narrow.
    """
    both = {RECORDED: (recorded, clip), UNSEEN: (unseen, np.tile(clip, unseen.error.shape[1] // len(clip)))}
    found = {where: results(tracked, of, names, fps) for where, (tracked, of) in both.items()}
    return {
        threshold: {f"{name}, {where}": found[where][threshold][name] for name in rows for where in both}
        for threshold, rows in found[RECORDED].items()
    }
