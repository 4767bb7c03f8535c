"""FABRIK for a whole skeleton with any number of targets, and its backward pass alone, which restores bone lengths.

Forward and backward reaching inverse kinematics (Aristidou & Lasenby 2011), its form for several chains: reaching
forward from the targets, a joint where chains meet goes to the mean of what they propose; reaching backward from the
pelvis, each joint goes along the line to where it was, at its bone's length. Positions only: no limits, no twist. N
poses are the last axis.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from qes_jax.pose.skeleton import JOINTS, PARENTS

PELVIS = 1
TOLERANCE = 1e-3  # [m]
SWEEPS = 100  # at most


def bone_lengths(points: jax.Array) -> jax.Array:
    """(22, N) distance [m] of each joint of (22, 3, N) to its parent; meaningless for root and pelvis."""
    return jnp.linalg.norm(points - points[np.maximum(PARENTS, 0)], axis=1)


def restore_lengths(points: jax.Array, lengths: jax.Array) -> jax.Array:
    """Points (22, 3, N) with bones of `lengths` (22, N), from parent to child: nothing of a wrong length remains.

    FABRIK's backward pass, as the published post-process. The root stays below the pelvis.
    """

    def place(joint: jax.Array, points: jax.Array) -> jax.Array:
        parent = points[jnp.asarray(PARENTS)[joint]]
        return points.at[joint].set(_towards(parent, points[joint], lengths[joint]))

    points = jax.lax.fori_loop(PELVIS + 1, len(JOINTS), place, points)
    return points.at[0].set(points[PELVIS] * jnp.array([1.0, 1.0, 0.0])[:, None])


def fabrik(
    points: jax.Array, goal: jax.Array, wanted: ArrayLike, sweeps: int = SWEEPS, tolerance: float = TOLERANCE
) -> jax.Array:
    """Points (22, 3, N) brought to `goal` (22, 3, N) where `wanted` (22, N) is true.

    Sweeps until every target of every pose is within `tolerance` [m], at most `sweeps` times. 1 is the published form.
    """
    wanted, lengths = jnp.asarray(wanted), bone_lengths(points)
    base = jnp.where(wanted[PELVIS], goal[PELVIS], points[PELVIS])

    def far(state: tuple[jax.Array, jax.Array]) -> jax.Array:
        count, points = state
        error = jnp.linalg.norm(points - goal, axis=1) * wanted
        return (count < sweeps) & (jnp.max(error) > tolerance)

    def sweep(state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        count, points = state
        reached = _forward(points, goal, wanted, lengths).at[PELVIS].set(base)
        return count + 1, restore_lengths(reached, lengths)

    return jax.lax.while_loop(far, sweep, (jnp.array(0), points))[1]


def _forward(points: jax.Array, goal: jax.Array, wanted: jax.Array, lengths: jax.Array) -> jax.Array:
    """From the leaves to the pelvis. What lies on no way to a target stays."""

    def place(step: jax.Array, state: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
        points, proposed, votes = state  # proposed (22, 3, N): sums of what the children propose
        joint = len(JOINTS) - 1 - step
        parent = jnp.asarray(PARENTS)[joint]
        met = jnp.where(votes[joint] > 0, proposed[joint] / jnp.maximum(votes[joint], 1.0), points[joint])
        here = jnp.where(wanted[joint], goal[joint], met)
        active = wanted[joint] | (votes[joint] > 0)
        there = _towards(here, points[parent], lengths[joint])
        return (
            points.at[joint].set(here),
            proposed.at[parent].add(jnp.where(active, there, 0.0)),
            votes.at[parent].add(active.astype(points.dtype)),
        )

    state = points, jnp.zeros_like(points), jnp.zeros_like(lengths)
    return jax.lax.fori_loop(0, len(JOINTS) - 1 - PELVIS, place, state)[0]


def _towards(start: jax.Array, end: jax.Array, length: jax.Array) -> jax.Array:
    """The point at `length` (N,) from start (3, N) on the line to end."""
    way = end - start
    return start + way * (length / jnp.maximum(jnp.linalg.norm(way, axis=0), 1e-9))
