"""Follow a user from given start frames without randomisation, and record how far off the body is.

An episode is not reset when it fails: the first failure at any threshold is found afterwards, from the recorded errors.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.env.config import EnvConfig, RandomizeConfig, TerminateConfig
from qes_jax.env.observe import clip_bounds
from qes_jax.env.reward import contact_overlap
from qes_jax.env.state import Body, EnvParams, EnvState, body_of
from qes_jax.env.task import Task
from qes_jax.evaluate.likeness import (
    Likeness,
    Memory,
    Motion,
    make_gauge,
    measure,
    mechanical_power,
    own_pose,
    remember,
    user_pose,
)
from qes_jax.motion.library import Reference

SEGMENT = 36  # [frames] of one compiled call, after which the host looks whether any episode still goes on
CHUNK = 512  # environments at a time
LOST = 0.8  # [m] the mean error beyond which an episode has failed at every threshold in use

Array = Any  # JAX's while it is simulated, then NumPy's
Act = Callable[[Any, jax.Array], jax.Array]  # (policy, obs (..., n_policy)) -> action (..., J)
Progress = Callable[[int, int], None]  # (environment steps done, in all)


class Tracked(NamedTuple):
    """Errors of B episodes over T control steps; row t is the state after step t+1.

    NaN where nothing was simulated, infinite where the simulation went astray.
    """

    error: Array  # (T, B) [m] mean distance of headset and controllers from the user's
    headset: Array  # (T, B) [m]
    controllers: Array  # (T, B) [m] mean of the two
    jerk: Array  # (T, B) [m/s^3] mean over links; NaN in row 0, which has no second difference yet
    body: Array  # (T, B) [m] mean distance of the links from the reference's; NaN where only sensors were recorded
    contact: Array  # (T, B) in [0, 1], agreement of contacts with their labels (`reward.contact_overlap`); NaN likewise
    valid: Array  # (T, B) bool: the clip has this frame, and the episode was simulated up to it
    likeness: Likeness  # of (T, B) each, NaN where nothing was simulated


class Carry(NamedTuple):
    """One episode between two steps."""

    state: EnvState
    start: EnvState
    before: jax.Array  # (2, L, 3) link velocities of the last two frames, oldest first; NaN before the start
    own: Memory
    user: Memory


class Tracker(NamedTuple):
    """Compiled: the start of episodes, and SEGMENT steps of them."""

    begin: Callable[[EnvParams, jax.Array], Carry]
    segment: Callable[[EnvParams, Any, Carry], tuple[Carry, Tracked]]


def evaluation_config(config: EnvConfig) -> EnvConfig:
    """The same task and observation, without randomisation, pushes, thresholds or a time limit.

    The guard against a simulation that goes astray stays: such an episode has failed, whatever it does afterwards.
    """
    still = RandomizeConfig(place=0.0, yaw=0.0, joint_pos=0.0, joint_vel=0.0, push=0.0)
    never = TerminateConfig(sensor=np.inf, height=np.inf, speed=config.terminate.speed)
    return replace(config, randomize=still, terminate=never, max_frames=np.iinfo(np.int32).max)


def evaluation_task(task: Task) -> Task:
    """The task in `evaluation_config`, on the same engine."""
    return replace(task, config=evaluation_config(task.config))


def make_tracker(task: Task, act: Act) -> Tracker:
    """Compiles tracking in `evaluation_task(task)`, for any policy and starts."""
    task = evaluation_task(task)

    def segment(params: EnvParams, policy: Any, carry: Carry) -> tuple[Carry, Tracked]:
        step = jax.vmap(partial(track_step, task, act, params, policy))
        return jax.lax.scan(lambda carry, _: step(carry), carry, length=SEGMENT)

    return Tracker(jax.jit(partial(begin, task)), jax.jit(segment))


def track(
    task: Task, params: EnvParams, act: Act, policy: Any, starts: np.ndarray, n_frames: int, *,
    chunk: int = CHUNK, progress: Progress | None = None, tracker: Tracker | None = None,
) -> Tracked:  # fmt: skip
    """Track `n_frames` control steps from every start frame (B,), with the mean action and no randomisation.

    Memory is bounded by `chunk` environments at a time. An episode ends where its clip does (`valid`); a chunk all of
    whose episodes are beyond LOST is left early. Give the `tracker` that `make_tracker` made to compile only once.
    """
    tracker = tracker or make_tracker(task, act)
    starts = np.asarray(starts, np.int32)
    width, total = min(chunk, len(starts)), len(starts) * n_frames
    parts = []
    for first in range(0, len(starts), width):
        part = starts[first : first + width]
        padded = np.pad(part, (0, width - len(part)), mode="edge")
        tell = _teller(progress, first * n_frames, len(part), total)
        tracked = track_chunk(tracker, params, policy, padded, n_frames, tell)
        parts.append(select(tracked, slice(len(part))))
    return jax.tree.map(lambda *x: np.concatenate(x, axis=1), *parts)


def select(tracked: Tracked, episodes: np.ndarray | slice) -> Tracked:
    """Some of the episodes, by index, mask (B,) or slice."""
    return jax.tree.map(lambda x: x[:, episodes], tracked)


def track_chunk(
    tracker: Tracker, params: EnvParams, policy: Any, starts: np.ndarray, n_frames: int, tell: Callable[[int], None]
) -> Tracked:
    """`track` of one chunk, segment by segment."""
    carry = tracker.begin(params, jnp.asarray(starts))
    rows: list[Tracked] = []
    over = np.zeros(len(starts), bool)
    for done in range(0, n_frames, SEGMENT):
        if over.all():
            break
        carry, row = tracker.segment(params, policy, carry)
        rows.append(jax.device_get(row))
        over |= ((rows[-1].error > LOST) | ~rows[-1].valid).any(axis=0)
        tell(min(done + SEGMENT, n_frames))
    tell(n_frames)
    return _pad(jax.tree.map(lambda *x: np.concatenate(x)[:n_frames], *rows), n_frames)


def begin(task: Task, params: EnvParams, starts: jax.Array, key: jax.Array | None = None) -> Carry:
    """Episodes (B,) at their start frames, exactly as in the reference where `task` is one of `evaluation_task`.

    Where it is not, a key draws for each of them what its config randomises at a reset.
    """
    keys = jax.random.split(jax.random.PRNGKey(0) if key is None else key, len(starts))
    gauge, layout = make_gauge(task.engine.world, task.config.ctrl_dt), task.engine.world.layout

    def one(frame: jax.Array, key: jax.Array) -> Carry:
        state, _ = task.reset_at(params, frame, key)
        own, user = own_pose(layout, state), user_pose(params.reference, frame)
        before = jnp.stack([jnp.full_like(own.linvel, jnp.nan), own.linvel])
        return Carry(state, state, before, remember(gauge, own), remember(gauge, user))

    return jax.vmap(one)(starts, keys)


def track_step(task: Task, act: Act, params: EnvParams, policy: Any, carry: Carry) -> tuple[Carry, Tracked]:
    """One control step of one episode. `task` is one of `evaluation_task`."""
    action = act(policy, task.observe(params, carry.state).policy)
    state, timestep = task.step(params, carry.state, action)
    body = body_of(task.engine.world.layout, state.physics, state.derived)
    off = jnp.linalg.norm(params.reference.sensor_pos[state.frame] - body.sensor_pos, axis=-1)
    astray = (timestep.metrics["fail/speed"] > 0) | ~jnp.isfinite(state.physics.qpos).all() | ~jnp.isfinite(off).all()
    off: Array = jnp.where(astray, jnp.inf, off)
    second = body.linvel - 2.0 * carry.before[1] + carry.before[0]
    jerk = jnp.linalg.norm(second, axis=-1).mean() / task.config.ctrl_dt**2
    _, last = clip_bounds(params.reference, carry.start.frame)
    unseen = _unseen(params.reference, state.frame, body, state.derived.force)
    own, user, likeness = _likeness(task, params, carry, state)
    row = Tracked(off.mean(), off[0], off[1:].mean(), jerk, unseen[0], unseen[1], state.frame <= last, likeness)
    # An episode whose simulation went astray has failed; it goes on from its start so as not to trouble the engine.
    again = carry.start._replace(frame=state.frame)
    state = jax.tree.map(lambda a, b: jnp.where(astray, a, b), again, state)
    return Carry(state, carry.start, jnp.stack([carry.before[1], body.linvel]), own, user), row


def _likeness(task: Task, params: EnvParams, carry: Carry, state: EnvState) -> tuple[Memory, Memory, Likeness]:
    world, reference = task.engine.world, params.reference
    gauge = make_gauge(world, task.config.ctrl_dt)
    own, mine = measure(gauge, carry.own, own_pose(world.layout, state))
    user, theirs = measure(gauge, carry.user, user_pose(reference, state.frame))
    bodies = (body_of(world.layout, s.physics, s.derived) for s in (carry.state, state))
    watt = mechanical_power(world, task._ctrl(params, state.action), *bodies)
    known = reference.body_known[reference.clip_of_frame[state.frame]]
    theirs = Motion(*(jnp.where(known, x, jnp.nan) for x in theirs))
    return own, user, jax.tree.map(lambda x: x.astype(jnp.float16), Likeness(mine, theirs, watt))


def _unseen(reference: Reference, frame: jax.Array, body: Body, force: jax.Array) -> Array:
    """(2,) `Tracked.body` and `Tracked.contact`: what the policy is not told, and should get right all the same."""
    distance = jnp.linalg.norm(reference.link_pos[frame] - body.pos, axis=-1)
    known = reference.body_known[reference.clip_of_frame[frame]]
    overlap = contact_overlap(reference.contact[frame], force)
    return jnp.where(known, jnp.stack([distance.mean(), overlap]), jnp.nan)


def _pad(tracked: Tracked, n_frames: int) -> Tracked:
    missing = ((0, n_frames - len(tracked.error)), (0, 0))

    def pad(x: np.ndarray) -> np.ndarray:
        return np.pad(x, missing, constant_values=False if x.dtype == bool else np.nan)

    return jax.tree.map(pad, tracked)


def _teller(progress: Progress | None, before: int, width: int, total: int) -> Callable[[int], None]:
    def tell(frames: int) -> None:
        if progress:
            progress(before + width * frames, total)

    return tell
