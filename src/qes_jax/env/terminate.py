"""When an episode ends: failed (terminated) or out of time (truncated)."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from qes_jax.env.config import EnvConfig
from qes_jax.env.state import Body
from qes_jax.motion.library import Reference


class Failure(NamedTuple):
    """Why an episode failed, () bool each."""

    sensor: jax.Array  # a tracked point is too far off
    height: jax.Array  # the root is too high or too low
    speed: jax.Array  # the simulation went astray


def failure(config: EnvConfig, ref: Reference, frame: jax.Array, body: Body, qvel: jax.Array) -> Failure:
    """Compare the body (with qvel (nv,)) with the reference at `frame`. Without controllers only the headset counts."""
    limit = config.terminate
    used = slice(0, 3 if config.controllers else 1)
    off = jnp.linalg.norm(ref.sensor_pos[frame] - body.sensor_pos, axis=-1)
    return Failure(
        sensor=jnp.max(off[used]) > limit.sensor,
        height=jnp.abs(ref.link_pos[frame, 0, 2] - body.pos[0, 2]) > limit.height,
        speed=jnp.max(jnp.abs(qvel)) > limit.speed,
    )
