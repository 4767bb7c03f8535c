"""The learned prior: from a start pose and any targets, the likely pose, and how far each hinge may be from it.

One small network looks at the start pose and, for each joint and kind of target, whether there is one and what is
missing to it. It answers with a step of all 38 degrees of freedom and the deviations with which `refine` conditions on
the targets (`train.py`). Both count the less the less is missing: where nothing is, the pose stays as it is.
"""

from typing import Any, NamedTuple, cast

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax.lax import optimization_barrier as apart

from qes_jax.pose.figure import Figure, frames, move
from qes_jax.pose.refine import clip_hinges
from qes_jax.pose.residual import Slots, residual
from qes_jax.pose.skeleton import JOINTS
from qes_jax.pose.targets import KINDS

HIDDEN = (256, 256)
N_DOFS, N_START = 38, 39 + 63
STEP = 0.3  # [rad], [m] of an output of 1
SHRINK = (-1.5, 1.0)  # bounds of the logarithm by which a deviation differs from `stay`'s
MISSING = 4.0  # [1/m], [1/rad] of the network's inputs
HALF = 0.1  # [m], [rad] of the furthest target, at which the network's answer counts by half. Our choice
TRUST, SURE = 0.7, 0.5  # of step and deviations as trained: on other clips they are too bold. Chosen on validation


class PriorParams(NamedTuple):
    """What is trained."""

    mean: jax.Array  # (N_START,) of the features of a start pose
    deviation: jax.Array  # (N_START,)
    network: Any  # Flax parameters


class Network(nn.Module):
    """(N, inputs) -> (N, 76): zero at first, so that training begins at plain inverse kinematics."""

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        for size in HIDDEN:
            x = nn.relu(nn.Dense(size)(x))
        return nn.Dense(2 * N_DOFS, kernel_init=nn.initializers.zeros)(x)


def stay(figure: Figure, start: jax.Array, slots: Slots) -> tuple[jax.Array, jax.Array]:
    """The prior that knows nothing: the pose stays, every hinge may give way alike, the root least."""
    spread = jnp.full((N_DOFS, 1), 0.3).at[:3].set(0.06).at[3:6].set(0.15)
    return start, jnp.broadcast_to(spread, (N_DOFS, start.shape[1]))


def learned(
    params: PriorParams,
    figure: Figure,
    start: jax.Array,
    slots: Slots,
    trust: float = TRUST,
    sure: float = SURE,
) -> tuple[jax.Array, jax.Array]:
    """Guess (39, N) within the hinges' ranges, and its deviations (38, N), in the canonical frame."""
    now = apart(frames(figure, start))
    missing = residual(now, slots)
    inputs = apart(jnp.concatenate([_normal(params, start, now.points), target_features(missing, slots)]))
    answer, share = cast(jax.Array, Network().apply(params.network, inputs.T)).T, asked(missing, slots)
    guess = clip_hinges(figure, move(figure, start, trust * STEP * share * answer[:N_DOFS]))
    return apart((guess, stay(figure, start, slots)[1] * jnp.exp(sure * share * jnp.clip(answer[N_DOFS:], *SHRINK))))


def asked(missing: jax.Array, slots: Slots) -> jax.Array:
    """(N,) in [0, 1) by what of the furthest target is missing beyond its tolerance, of (S, 3, N)."""
    distance = jnp.sqrt(jnp.sum(missing**2, axis=1) + 1e-20)
    beyond = jnp.max(jnp.maximum(distance - jnp.asarray(slots.targets.tolerance) - 1e-6, 0.0), axis=0)
    return beyond / (beyond + HALF)


def start_features(start: jax.Array, points: jax.Array) -> jax.Array:
    """(N_START, N) of start poses (39, N) with joints (22, 3, N)."""
    return jnp.concatenate([start, points[1:].reshape(-1, start.shape[1])])


def _normal(params: PriorParams, start: jax.Array, points: jax.Array) -> jax.Array:
    return (start_features(start, points) - params.mean[:, None]) / params.deviation[:, None]


def target_features(missing: jax.Array, slots: Slots) -> jax.Array:
    """(4 x 22 x kinds, N): for each kind and joint whether there is a target, and what is missing (S, 3, N) to it."""
    there = slots.place * (jnp.asarray(slots.targets.weight) > 0)[:, None]  # (S, 22, N)
    values = jnp.concatenate([jnp.ones_like(missing[:, :1]), MISSING * missing], axis=1)
    kind = jnp.asarray(slots.targets.kind)[:, None]
    rows = [
        jnp.sum(((kind == k) * there)[:, :, None] * values[:, None], axis=0).reshape(4 * len(JOINTS), -1)
        for k in range(len(KINDS))
    ]
    return jnp.concatenate(rows)


def start_params(features: jax.Array, key: jax.Array) -> PriorParams:
    """Untrained, with the scale of start features (N_START, M)."""
    deviation = features.std(axis=1)
    inputs = jnp.zeros((1, N_START + 4 * len(JOINTS) * len(KINDS)))
    scale = jnp.where(deviation < 1e-4, 1.0, deviation)
    return PriorParams(features.mean(axis=1), scale, Network().init(key, inputs))
