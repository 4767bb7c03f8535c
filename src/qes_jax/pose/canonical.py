"""The frame that poses are compared in: origin on the floor below the pelvis, X where the pelvis faces, feet grounded.

N poses are the last axis. A frame is a position (3, N) and a quaternion (4, N) about Z.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from qes_jax.pose.figure import Figure, frames
from qes_jax.pose.parts import Parts, conjugate, multiply, parts, rotate, total
from qes_jax.pose.skeleton import ANKLE, TOE, joint_number
from qes_jax.pose.targets import ROTATION, Targets
from qes_jax.rotations import heading

SIDES = ("left", "right")


class Ground(NamedTuple):
    """Where a pose stands in the world."""

    pos: jax.Array  # (3, N) [m]
    quat: jax.Array  # (4, N)


def ground(figure: Figure, qpos: jax.Array) -> Ground:
    """The frame of qpos (39, N). The floor is as far below the lowest foot as below a flat one on it."""
    points = frames(figure, qpos).points
    soles = [points[joint_number(f"{s}_ankle"), 2] - ANKLE for s in SIDES]
    soles += [points[joint_number(f"{s}_toes"), 2] - TOE for s in SIDES]
    floor = jnp.min(jnp.stack(soles), axis=0)
    return Ground(jnp.stack([qpos[0], qpos[1], floor]), heading(qpos[3:7].T).T)


def enter(at: Ground, qpos: jax.Array) -> jax.Array:
    """qpos (39, N) of the world, seen from the frame."""
    pos, quat = _enter_point(at, parts(qpos[:3])), multiply(conjugate(parts(at.quat)), parts(qpos[3:7]))
    return jnp.concatenate([jnp.stack(pos), jnp.stack(quat), qpos[7:]])


def leave(at: Ground, qpos: jax.Array) -> jax.Array:
    """qpos (39, N) of the frame, seen from the world: the inverse of `enter`."""
    turn = parts(at.quat)
    pos, quat = total(rotate(turn, parts(qpos[:3])), parts(at.pos)), multiply(turn, parts(qpos[3:7]))
    return jnp.concatenate([jnp.stack(pos), jnp.stack(quat), qpos[7:]])


def enter_targets(at: Ground, targets: Targets) -> Targets:
    """Targets (S, ..., N) of the world, seen from the frame."""
    value = parts(jnp.asarray(targets.value), 1)
    turned = multiply(conjugate(parts(at.quat)), value)
    point = (*_enter_point(at, value[:3]), jnp.zeros_like(value[3]))
    is_turn = jnp.asarray(targets.kind) == ROTATION
    chosen = [jnp.where(is_turn, t, p) for t, p in zip(turned, point, strict=True)]
    return targets._replace(value=jnp.stack(chosen, axis=1))


def _enter_point(at: Ground, point: Parts) -> Parts:
    away = tuple(p - o for p, o in zip(point, parts(at.pos), strict=True))
    return rotate(conjugate(parts(at.quat)), away)
