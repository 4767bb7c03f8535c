"""The room as geometry: heights and nearest surfaces of the pieces' boxes (cylinders count as their bounding boxes)."""

import jax
import jax.numpy as jnp

from qes_jax.model.engine import Derived
from qes_jax.model.world import Geoms
from qes_jax.rotations import quat_conj, quat_mul, rotate


def geom_poses(geoms: Geoms, derived: Derived) -> tuple[jax.Array, jax.Array]:
    """World positions (G, 3) and orientations (G, 4) of the pieces' geoms."""
    at, turn = derived.xpos[geoms.body], derived.xquat[geoms.body]
    quat = jnp.asarray(geoms.quat, jnp.float32)
    return at + rotate(turn, jnp.asarray(geoms.pos, jnp.float32)), quat_mul(turn, quat)


def heights(geoms: Geoms, derived: Derived, points: jax.Array) -> jax.Array:
    """(P,) height [m] of the highest surface at each floor point (P, 2): the floor's 0 or a piece's top.

    A vertical ray against each box in the box's own axes (slabs): the ray is inside slab i for |o_i + t d_i| <= size_i;
    it meets the box where the three intervals of t overlap, and leaves it upward at the least upper end.
    """
    if len(geoms.body) == 0:
        return jnp.zeros(points.shape[0], points.dtype)
    pos, quat = geom_poses(geoms, derived)
    inverse = quat_conj(quat)
    size = jnp.asarray(geoms.size, points.dtype)  # (G, 3)
    at = jnp.concatenate([points, jnp.zeros_like(points[:, :1])], axis=1)
    origin = rotate(inverse[:, None], at[None] - pos[:, None])  # (G, P, 3)
    direction = rotate(inverse, jnp.array([0.0, 0.0, 1.0], points.dtype))[:, None]  # (G, 1, 3)
    steep = jnp.where(jnp.abs(direction) < 1e-6, 1e-6, direction)
    a, b = (-size[:, None] - origin) / steep, (size[:, None] - origin) / steep
    enter, leave = jnp.minimum(a, b).max(axis=-1), jnp.maximum(a, b).min(axis=-1)
    return jnp.where(enter <= leave, leave, 0.0).max(axis=0, initial=0.0)


def nearest(geoms: Geoms, derived: Derived, points: jax.Array) -> jax.Array:
    """(P, 3) vector [m], world axes, from each point (P, 3) to the closest point of floor or pieces, 0 inside one."""
    to_floor = points * jnp.array([0.0, 0.0, -1.0], points.dtype)
    if len(geoms.body) == 0:
        return to_floor
    pos, quat = geom_poses(geoms, derived)
    size = jnp.asarray(geoms.size, points.dtype)
    local = rotate(quat_conj(quat)[:, None], points[None] - pos[:, None])  # (G, P, 3)
    offset = jnp.clip(local, -size[:, None], size[:, None]) - local
    vectors = jnp.concatenate([to_floor[None], rotate(quat[:, None], offset)])
    closest = jnp.argmin(jnp.sum(vectors**2, axis=-1), axis=0)
    return jnp.take_along_axis(vectors, closest[None, :, None], axis=0)[0]
