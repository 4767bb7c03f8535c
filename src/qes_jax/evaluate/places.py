"""The same users among furniture that stands elsewhere than it was recorded.

Every piece is moved along each axis, height included, and turned about Z, by amounts drawn for each episode; what the
user does stays as it was, as when a virtual room does not quite match the real one. The draws are those of training
(`env.reset.perturb`) from keys of their own, and the same for every policy: comparisons are made in equal rooms.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import numpy as np

from qes_jax.env.config import RandomizeConfig
from qes_jax.env.state import EnvParams
from qes_jax.env.task import Task
from qes_jax.evaluate.rollout import Act, Tracked, Tracker, begin, evaluation_task, make_tracker, track

SEED = 20_000  # of the draws, so that no training has drawn them
TURN = RandomizeConfig.yaw / RandomizeConfig.place  # [rad/m] turned as far, for how far it is moved, as in training


@dataclass(frozen=True)
class Moved:
    """In how many other places each start is followed."""

    count: int
    spread: float  # [m] at most, along each axis


def track_moved(
    task: Task, params: EnvParams, act: Act, policy: Any, starts: np.ndarray, n_frames: int, moved: Moved
) -> Tracked:
    """`rollout.track` from all starts (B,) in `moved.count` rooms each: episodes (count B,), room by room."""
    parts = [
        track(task, params, act, policy, starts, n_frames, tracker=tracker) for tracker in trackers(task, act, moved)
    ]
    return jax.tree.map(lambda *x: np.concatenate(x, axis=1), *parts)


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
