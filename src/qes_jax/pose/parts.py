"""Vectors and quaternions (wxyz) as tuples of components: all arithmetic is elementwise, whatever the arrays' shape."""

from functools import reduce
from operator import add

import jax
import jax.numpy as jnp
import numpy as np

Parts = tuple[jax.Array, ...]


def parts(x: jax.Array, axis: int = 0) -> Parts:
    """The components along an axis."""
    return tuple(jax.lax.index_in_dim(x, i, axis, keepdims=False) for i in range(x.shape[axis]))


def columns(x: np.ndarray) -> Parts:
    """Components of constants (M, C), each (M, 1) to go with N poses."""
    return tuple(jnp.asarray(c)[:, None] for c in x.T)


def total(*vectors: Parts) -> Parts:
    """Sum of vectors."""
    return tuple(reduce(add, components) for components in zip(*vectors, strict=True))


def scale(v: Parts, by: jax.Array | float) -> Parts:
    """A vector times a number."""
    return tuple(x * by for x in v)


def dot(a: Parts, b: Parts) -> jax.Array:
    """Inner product."""
    return reduce(add, [x * y for x, y in zip(a, b, strict=True)])


def length(v: Parts) -> jax.Array:
    """Norm, with a gradient at zero."""
    return jnp.sqrt(dot(v, v) + 1e-20)


def cross(a: Parts, b: Parts) -> Parts:
    """a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def conjugate(q: Parts) -> Parts:
    """Inverse of a unit quaternion."""
    return q[0], -q[1], -q[2], -q[3]


def multiply(a: Parts, b: Parts) -> Parts:
    """Hamilton product: first b, then a."""
    u, v = a[1:], b[1:]
    return a[0] * b[0] - dot(u, v), *total(scale(v, a[0]), scale(u, b[0]), cross(u, v))


def rotate(q: Parts, v: Parts) -> Parts:
    """v turned by q: v + w t + u x t, t = 2 u x v, q = (w, u)."""
    t = scale(cross(q[1:], v), 2.0)
    return total(v, scale(t, q[0]), cross(q[1:], t))


def exponential(v: Parts) -> Parts:
    """Quaternion of a rotation vector [rad]."""
    angle = length(v)
    return jnp.cos(0.5 * angle), *scale(v, jnp.sin(0.5 * angle) / angle)


def logarithm(q: Parts) -> Parts:
    """Rotation vector [rad] of a unit quaternion, the shorter way."""
    q = scale(q, jnp.where(q[0] < 0, -1.0, 1.0))
    norm = length(q[1:])
    return scale(q[1:], 2.0 * jnp.arctan2(norm, q[0]) / norm)
