"""The room as geometry: heights and nearest surfaces of the pieces' boxes (cylinders count as their bounding boxes)."""

import jax
import jax.numpy as jnp

from qes_jax.model.engine import Derived
from qes_jax.model.world import Geoms
from qes_jax.rotations import quat_conj, quat_mul, rotate, to_matrix


def geom_poses(geoms: Geoms, derived: Derived) -> tuple[jax.Array, jax.Array]:
    """World positions (G, 3) and orientations (G, 4) of the pieces' geoms."""
    at, turn = derived.xpos[geoms.body], derived.xquat[geoms.body]
    quat = jnp.asarray(geoms.quat, jnp.float32)
    return at + rotate(turn, jnp.asarray(geoms.pos, jnp.float32)), quat_mul(turn, quat)


def heights(geoms: Geoms, derived: Derived, points: jax.Array) -> jax.Array:
    """(P,) height [m] of the highest surface at each floor point (P, 2): the floor's 0 or a piece's top.

    A vertical ray against each box by its slabs: along axis u_i of a box of half size s_i at c, the ray p + t z is
    inside for |u_i . (p - c) + t u_iz| <= s_i, an interval of t whose middle is linear in p and whose length is the
    same for all p. The ray meets the box where the three intervals overlap, and leaves it at their least upper end.
    """
    if len(geoms.body) == 0:
        return jnp.zeros(points.shape[0], points.dtype)
    pos, quat = geom_poses(geoms, derived)
    axes = jnp.swapaxes(to_matrix(quat), 1, 2)  # (G, 3 axes, 3)
    rise = jnp.where(jnp.abs(axes[:, :, 2]) < 1e-6, 1e-6, axes[:, :, 2])
    slope = -axes / rise[:, :, None]
    x, y = points.T
    middle = slope[:, :, :1] * x + slope[:, :, 1:2] * y - jnp.sum(slope * pos[:, None], axis=-1)[:, :, None]
    half = (jnp.asarray(geoms.size, points.dtype) / jnp.abs(rise))[:, :, None]
    enter, leave = (middle - half).max(axis=1), (middle + half).min(axis=1)  # (G, P)
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
