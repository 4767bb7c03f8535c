"""Rotations and frames in JAX. Quaternions are wxyz, of unit length; `...` are any leading dimensions."""

import jax
import jax.numpy as jnp


def quat_mul(a: jax.Array, b: jax.Array) -> jax.Array:
    """Hamilton product a b: first b, then a. (..., 4), (..., 4) -> (..., 4)."""
    aw, ax, ay, az = jnp.moveaxis(a, -1, 0)
    bw, bx, by, bz = jnp.moveaxis(b, -1, 0)
    return jnp.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def quat_conj(q: jax.Array) -> jax.Array:
    """Inverse of a unit quaternion."""
    return q * jnp.array([1.0, -1.0, -1.0, -1.0], q.dtype)


def rotate(q: jax.Array, v: jax.Array) -> jax.Array:
    """Vector v (..., 3) turned by q (..., 4): v + w t + u x t, t = 2 u x v, q = (w, u).

    Written out by component: on a CPU XLA makes one loop of it, where `jnp.cross` costs twice as much.
    """
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    a, b, c = v[..., 0], v[..., 1], v[..., 2]
    i, j, k = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    return jnp.stack([a + w * i + y * k - z * j, b + w * j + z * i - x * k, c + w * k + x * j - y * i], axis=-1)


def to_matrix(q: jax.Array) -> jax.Array:
    """Rotation matrix (..., 3, 3), columns are the turned axes."""
    w, x, y, z = jnp.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return jnp.stack([jnp.stack(r, axis=-1) for r in rows], axis=-2)


def six_d(q: jax.Array) -> jax.Array:
    """The first two columns of the rotation matrix, (..., 6): a continuous representation (Zhou et al. 2019)."""
    m = to_matrix(q)
    return jnp.concatenate([m[..., 0], m[..., 1]], axis=-1)


def axis_angle(axis: jax.Array, angle: jax.Array) -> jax.Array:
    """Quaternion of `angle` [rad] (...) about the unit `axis` (..., 3)."""
    half = 0.5 * angle[..., None]
    return jnp.concatenate([jnp.cos(half), axis * jnp.sin(half)], axis=-1)


def from_yaw(yaw: jax.Array) -> jax.Array:
    """Quaternion of a turn [rad] about Z. (...) -> (..., 4)."""
    zero = jnp.zeros_like(yaw)
    return jnp.stack([jnp.cos(yaw / 2), zero, zero, jnp.sin(yaw / 2)], axis=-1)


def rotation_vector(q: jax.Array) -> jax.Array:
    """Logarithm of q, (..., 3) [rad], the shorter way, finite with finite gradients at the identity."""
    q = jnp.where(q[..., :1] < 0, -q, q)
    square = jnp.sum(q[..., 1:] ** 2, axis=-1, keepdims=True)
    tiny = square < 1e-14
    norm = jnp.sqrt(jnp.where(tiny, 1.0, square))
    scale = jnp.where(tiny, 2.0, 2.0 * jnp.arctan2(norm, q[..., :1]) / norm)
    return scale * q[..., 1:]


def from_rotation_vector(v: jax.Array) -> jax.Array:
    """Exponential of v (..., 3) [rad], inverse of `rotation_vector`."""
    square = jnp.sum(v * v, axis=-1, keepdims=True)
    tiny = square < 1e-14
    angle = jnp.sqrt(jnp.where(tiny, 1.0, square))
    scale = jnp.where(tiny, 0.5, jnp.sin(angle / 2) / angle)
    return jnp.concatenate([jnp.where(tiny, 1.0, jnp.cos(angle / 2)), scale * v], axis=-1)


def angle_between(a: jax.Array, b: jax.Array) -> jax.Array:
    """Angle [rad] of the turn from a to b, in [0, pi]. (..., 4), (..., 4) -> (...)."""
    d = quat_mul(quat_conj(a), b)
    return 2.0 * jnp.arctan2(jnp.linalg.norm(d[..., 1:], axis=-1), jnp.abs(d[..., 0]))


def heading(q: jax.Array) -> jax.Array:
    """Yaw-only part of q (..., 4): where the X axis points on the floor.

    A body that points straight up or down has no such direction; there the Y axis decides, so that a lying
    body's heading never jumps by noise alone.
    """
    m = to_matrix(q)
    forward, left = m[..., :2, 0], m[..., :2, 1]
    from_left = jnp.stack([left[..., 1], -left[..., 0]], axis=-1)
    steep = jnp.sum(forward**2, axis=-1, keepdims=True) < 0.04
    direction = jnp.where(steep, from_left, forward)
    return from_yaw(jnp.arctan2(direction[..., 1], direction[..., 0]))
