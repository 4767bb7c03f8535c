"""How far targets are from being met, and how the degrees of freedom bring them nearer. N poses are the last axis."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from qes_jax.pose.figure import Figure, Frames
from qes_jax.pose.parts import Parts, conjugate, cross, dot, length, logarithm, multiply, parts, rotate, scale, total
from qes_jax.pose.targets import LOOK_AT, ROTATION, Targets


class Slots(NamedTuple):
    """Targets of N poses with what depends on the joint alone, looked up once."""

    targets: Targets  # (S, ..., N)
    place: jax.Array  # (S, 22, N) 1 at the slot's joint
    moves: jax.Array  # (S, 38, N) of Figure, times 0 in an empty slot
    look: jax.Array  # (S, 3, N) of Figure


def look_up(figure: Figure, targets: Targets) -> Slots:
    """Targets whose last axis are poses, made ready."""
    joint, used = jnp.asarray(targets.joint), jnp.asarray(targets.weight) > 0
    place = (joint[:, None] == jnp.arange(len(figure.link))[:, None]).astype(jnp.float32)
    moves = jnp.moveaxis(jnp.asarray(figure.moves)[joint], -1, 1) * used[:, None]
    return Slots(targets, place, moves, jnp.moveaxis(jnp.asarray(figure.look)[joint], -1, 1))


def residual(now: Frames, slots: Slots) -> jax.Array:
    """(S, 3, N) what is missing: a way [m] for a position, a turn [rad] for the others."""
    here, turn = _at(slots, now)
    missing, value = _missing(slots, here, turn), slots.targets
    return jnp.stack(missing, axis=1) * (jnp.asarray(value.weight) > 0)[:, None]


def jacobian(now: Frames, slots: Slots) -> jax.Array:
    """(S, 3, 38, N) how each degree of freedom changes minus the residual.

    Of a position: an axis a through c turns a point p by a x (p - c). Of a rotation: the axis. Of a look along f
    towards d at distance r: the part of the axis across f, and f x (change of d) with the sign that moves f to d.
    """
    here, turn = _at(slots, now)
    point = tuple(x[:, None] for x in here)
    axis, anchor = parts(now.axis, 1), parts(now.anchor, 1)
    shape = (slots.moves.shape[0], *now.axis.shape[::2])
    still = jnp.zeros((shape[0], 3, shape[2]))
    spin = tuple(jnp.concatenate([still, jnp.broadcast_to(a, shape)], axis=1) for a in axis)
    swing = cross(axis, total(point, scale(anchor, -1.0)))
    unit = jnp.broadcast_to(jnp.eye(3)[:, None, :, None], (3, shape[0], 3, shape[2]))
    shift = tuple(jnp.concatenate([u, s], axis=1) for u, s in zip(unit, swing, strict=True))
    kind = jnp.asarray(slots.targets.kind)[:, None]
    gaze = _gaze(slots, here, turn, spin, shift)
    rows = [
        jnp.where(kind == LOOK_AT, g, jnp.where(kind == ROTATION, a, s))
        for g, a, s in zip(gaze, spin, shift, strict=True)
    ]
    return jnp.stack(rows, axis=1) * slots.moves[:, None]


def _at(slots: Slots, now: Frames) -> tuple[Parts, Parts]:
    """Point and quaternion of each slot's joint, components (S, N)."""
    here = jnp.sum(slots.place[:, :, None] * now.points, axis=1)
    turn = jnp.sum(slots.place[:, :, None] * now.quat, axis=1)
    return parts(here, 1), parts(turn, 1)


def _missing(slots: Slots, here: Parts, turn: Parts) -> Parts:
    value, kind = parts(jnp.asarray(slots.targets.value), 1), jnp.asarray(slots.targets.kind)
    way = total(value[:3], scale(here, -1.0))
    turned = logarithm(multiply(value, conjugate(turn)))
    forward, ahead = rotate(turn, parts(slots.look, 1)), scale(way, 1.0 / (length(way) + 1e-6))
    across = cross(forward, ahead)
    sine = length(across)
    gaze = scale(across, jnp.arctan2(sine, dot(forward, ahead)) / sine)
    return tuple(
        jnp.where(kind == LOOK_AT, g, jnp.where(kind == ROTATION, t, w))
        for g, t, w in zip(gaze, turned, way, strict=True)
    )


def _gaze(slots: Slots, here: Parts, turn: Parts, spin: Parts, shift: Parts) -> Parts:
    """Rows of looks, components (S, 38, N)."""
    value = parts(jnp.asarray(slots.targets.value), 1)[:3]
    way = total(value, scale(here, -1.0))
    near = 1.0 / (length(way) + 1e-6)
    ahead = tuple(x[:, None] for x in scale(way, near))
    forward = tuple(x[:, None] for x in rotate(turn, parts(slots.look, 1)))
    turning = total(spin, scale(forward, -dot(forward, spin)))
    sliding = scale(total(shift, scale(ahead, -dot(ahead, shift))), near[:, None])
    return total(turning, cross(forward, sliding))
