"""Training of the learned prior: a Gaussian around the likely pose, to which the targets' pose shall be likely.

An edit: a start pose, a target pose from the same second of a clip, and some targets read off the latter.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from qes_jax.pose.data import PoseSet, evened, in_chunks, pairs
from qes_jax.pose.figure import Figure, Frames, difference, frames, move
from qes_jax.pose.prior import PriorParams, learned, start_features, start_params
from qes_jax.pose.residual import look_up
from qes_jax.pose.skeleton import JOINTS, SETS, numbers
from qes_jax.pose.targets import KINDS, LOOK_AT, POSITION, ROTATION, Targets

NEAR = 0.1  # [s] between start and target of edits that ask little


@dataclass(frozen=True)
class Schedule:
    """Adam with a decaying rate. Our choice."""

    batch: int = 256
    updates: int = 5000
    rate: float = 1.5e-3
    slots: int = 6
    seconds: float = 1.0
    shifted: float = 0.2  # share of edits whose target pose stands elsewhere
    near: float = 0.2  # share of edits whose target pose is a few frames away, so that little is asked
    even: float = 0.5  # sources of n poses are drawn from n^even as often: recordings are few. Chosen on validation
    hinge_weight: float = 0.02  # [m^2 / rad^2]
    spread_weight: float = 1e-4  # [m^2]


class Edit(NamedTuple):
    """N edits."""

    start: jax.Array  # (39, N)
    end: jax.Array  # (39, N)
    points: jax.Array  # (22, 3, N) of the end
    targets: Targets  # (S, ..., N)


def train_prior(
    figure: Figure, poses: PoseSet, seed: int, schedule: Schedule = Schedule(), say: Callable[[str], None] = print
) -> PriorParams:
    """Parameters trained on poses, which should hold their mirror images too."""
    rng, key = np.random.default_rng(seed), jax.random.key(seed)
    features = jax.jit(lambda q: start_features(q, frames(figure, q).points))
    params = start_params(jnp.asarray(in_chunks(features, poses.qpos[:: max(len(poses.qpos) // 8192, 1)]).T), key)
    optimizer = optax.chain(
        optax.clip_by_global_norm(1.0), optax.adam(optax.cosine_decay_schedule(schedule.rate, schedule.updates))
    )
    state, qpos = optimizer.init(params.network), jnp.asarray(poses.qpos)
    update, network = _update(figure, params, optimizer, schedule), params.network
    chances = evened(poses, schedule.even)
    for count in range(schedule.updates):
        start, end = _pairs(poses, chances, schedule, rng)
        network, state, loss = update(network, state, qpos, start, end, jax.random.fold_in(key, count))
        if count % 250 == 249:
            say(f"update {count + 1}: loss {1e4 * float(loss):.2f} cm^2")
    return params._replace(network=network)


def _pairs(
    poses: PoseSet, chances: np.ndarray, schedule: Schedule, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of start and target poses, a share of them near to each other."""
    few = round(schedule.near * schedule.batch)
    many = schedule.batch - few
    both = pairs(poses, few, NEAR, rng, chances), pairs(poses, many, schedule.seconds, rng, chances)
    start, end = (np.concatenate(rows) for rows in zip(*both, strict=True))
    return start, end


def _update(figure: Figure, params: PriorParams, optimizer, schedule: Schedule):
    """One compiled update of the network."""

    @jax.jit
    def update(network, state, qpos: jax.Array, start: jax.Array, end: jax.Array, key: jax.Array):
        edit = make_edit(figure, qpos[start].T, qpos[end].T, key, schedule)

        def loss(network) -> jax.Array:
            return edit_loss(figure, params._replace(network=network), edit, schedule)

        value, gradient = jax.value_and_grad(loss)(network)
        change, state = optimizer.update(gradient, state, network)
        return optax.apply_updates(network, change), state, value

    return update


def edit_loss(figure: Figure, params: PriorParams, edit: Edit, schedule: Schedule) -> jax.Array:
    """Mean squared distance of the guess's joints [m^2] and of its hinges, and how unlikely the true pose is.

    The latter, sum of log s + d^2 / 2 s^2 over the degrees of freedom, teaches the deviations s alone.
    """
    guess, spread = learned(params, figure, edit.start, look_up(figure, edit.targets), trust=1.0, sure=1.0)
    joints = jnp.mean(jnp.sum((frames(figure, guess).points - edit.points) ** 2, axis=1))
    hinges = jnp.mean((guess[7:] - edit.end[7:]) ** 2)
    off = jax.lax.stop_gradient(difference(edit.end, guess))
    unlikely = jnp.mean(jnp.log(spread) + 0.5 * (off / spread) ** 2)
    return joints + schedule.hinge_weight * hinges + schedule.spread_weight * unlikely


def make_edit(figure: Figure, start: jax.Array, end: jax.Array, key: jax.Array, schedule: Schedule) -> Edit:
    """Targets read off `end` (39, N): one to all slots. Consumes the key."""
    keys = jax.random.split(key, 4)
    n = start.shape[1]
    end = _elsewhere(figure, end, keys[0], schedule.shifted)
    joint, kind = _choose(keys[1], keys[2], schedule.slots, n)
    number = jax.random.randint(keys[3], (n,), 1, schedule.slots + 1)
    weight = (jnp.arange(schedule.slots)[:, None] < number).astype(jnp.float32)
    now = frames(figure, end)
    value = read_off(figure, now, joint, kind)
    return Edit(start, end, now.points, Targets(joint, kind, value, weight, jnp.zeros_like(weight)))


def _elsewhere(figure: Figure, end: jax.Array, key: jax.Array, share: float) -> jax.Array:
    """Some of the poses moved by some 10 cm and turned by some 11 degrees, so that a pelvis may be moved too."""
    n = end.shape[1]
    random = jax.random.normal(key, (4, n))
    shift = jnp.zeros((38, n)).at[:2].set(0.1 * random[:2]).at[5].set(0.2 * random[2])
    return move(figure, end, jnp.where(jax.scipy.stats.norm.cdf(random[3]) < share, shift, 0.0))


def _choose(key: jax.Array, key_kind: jax.Array, slots: int, n: int) -> tuple[jax.Array, jax.Array]:
    """Joints and kinds (slots, N): half of the edits any, half positions of head, hands and feet, as most edits."""
    order = jnp.argsort(jax.random.uniform(key, (len(JOINTS) - 1, n)), axis=0) + 1
    five = jnp.asarray(numbers(SETS["all"]))
    last = jnp.any(order[:, None] == five[:, None], axis=1)  # here they are sorted to the front, in random order
    usual = jnp.take_along_axis(order, jnp.argsort(~last, axis=0, stable=True), axis=0)
    dice = jax.random.uniform(key_kind, (slots + 1, n))
    free, dice = dice[0] < 0.5, dice[1:]
    kind = jnp.where(free & (dice > 0.7), jnp.where(dice > 0.9, LOOK_AT, ROTATION), POSITION)
    return jnp.where(free, order[:slots], usual[:slots]), kind


def read_off(figure: Figure, now: Frames, joint: jax.Array, kind: jax.Array) -> jax.Array:
    """(S, 4, N) values of targets (S, N) that a pose meets; a look's point is a metre ahead."""
    pick = jax.vmap(lambda rows, j: rows[j], in_axes=(-1, -1), out_axes=-1)
    point, turn = pick(now.points, joint), pick(now.quat, joint)
    u, w, axis = turn[:, 1:], turn[:, :1], jnp.moveaxis(jnp.asarray(figure.look)[joint], -1, 1)
    cross = jnp.cross(u, axis, axis=1)
    ahead = point + axis + 2 * (w * cross + jnp.cross(u, cross, axis=1))
    zero = jnp.zeros_like(w)
    values = [jnp.concatenate([point, zero], 1), turn, jnp.concatenate([ahead, zero], 1)]
    return jnp.select([(kind == k)[:, None] for k in range(len(KINDS))], values)
