"""What an environment carries from step to step, and what it is given."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from qes_jax.env.device import Device
from qes_jax.model.engine import Derived, Physics, point_velocity
from qes_jax.model.world import Layout
from qes_jax.motion.library import Reference
from qes_jax.rotations import heading, quat_conj, quat_mul, rotate


class EnvParams(NamedTuple):
    """Traced: may change between iterations without recompilation. N reference frames."""

    reference: Reference
    start_weight: jax.Array  # (N,) how often an episode starts at a frame, 0 where none may; need not sum to one
    difficulty: jax.Array  # (2, bins) failed and ended episodes by start, see curriculum.py
    mean_pose: jax.Array  # (J,) [rad] the centre of PD targets


class EnvState(NamedTuple):
    """One environment."""

    physics: Physics
    derived: Derived
    frame: jax.Array  # () int32, index into the reference: where the user is now
    age: jax.Array  # () int32 [frames] counted to max_frames; begins at random, lest all episodes end together
    start: jax.Array  # () int32, the frame where it began
    action: jax.Array  # (J,) the last one, clipped
    device: Device  # what the user wears and holds
    key: jax.Array


class Body(NamedTuple):
    """The simulated character as observation and reward read it, world axes."""

    pos: jax.Array  # (L, 3)
    quat: jax.Array  # (L, 4)
    linvel: jax.Array  # (L, 3)
    angvel: jax.Array  # (L, 3)
    joint_pos: jax.Array  # (J,)
    joint_vel: jax.Array  # (J,)
    sensor_pos: jax.Array  # (3, 3)
    sensor_quat: jax.Array  # (3, 4)
    sensor_vel: jax.Array  # (3, 3)


class Frame(NamedTuple):
    """The heading frame of the simulated root: yaw only, its origin on the floor below the root."""

    origin: jax.Array  # (3,)
    yaw: jax.Array  # (4,)

    def point(self, p: jax.Array) -> jax.Array:
        """World points (..., 3) in this frame."""
        return self.vector(p - self.origin)

    def vector(self, v: jax.Array) -> jax.Array:
        """World vectors (..., 3) in this frame."""
        return rotate(quat_conj(self.yaw), v)

    def quat(self, q: jax.Array) -> jax.Array:
        """World orientations (..., 4) in this frame."""
        return quat_mul(quat_conj(self.yaw), q)


def body_of(layout: Layout, physics: Physics, derived: Derived) -> Body:
    """The character's part of a simulation's state."""
    pos, quat, linvel, angvel = (x[layout.link_ids] for x in derived[:4])
    on = layout.site_link
    offset = jnp.asarray(layout.site_pos, jnp.float32)
    return Body(
        pos, quat, linvel, angvel,
        joint_pos=physics.qpos[layout.joint_qpos], joint_vel=physics.qvel[layout.joint_dofs],
        sensor_pos=pos[on] + rotate(quat[on], offset), sensor_quat=quat[on],
        sensor_vel=point_velocity(linvel[on], angvel[on], quat[on], offset),
    )  # fmt: skip


def heading_frame(body: Body) -> Frame:
    """The root's heading frame. The root is link 0."""
    return Frame(body.pos[0] * jnp.array([1.0, 1.0, 0.0]), heading(body.quat[0]))
