"""A headset and two controllers as they are in use: each held in its own way, noisy, lost from sight at times.

Training alone draws this; what is not drawn costs nothing. The kinds of fault are those of real headset play (RPM,
arXiv 2504.05265); their sizes are our choice, see `RandomizeConfig`.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.env.config import RandomizeConfig
from qes_jax.motion.library import Reference
from qes_jax.rotations import from_rotation_vector, quat_mul, rotate

TRACKED = np.iinfo(np.int32).max  # `lost_at` of a device that is seen


class Device(NamedTuple):
    """How one episode's user wears and holds the three devices."""

    pos: jax.Array  # (3, 3) [m] of the device in the frame of the reference's sensor
    quat: jax.Array  # (3, 4)
    lost_at: jax.Array  # (3,) int32, the frame whose pose a lost device keeps showing


def draw_device(config: RandomizeConfig, key: jax.Array) -> Device:
    """An episode's devices, all of them seen. Consumes key."""
    k_pos, k_turn = jax.random.split(key)
    place, turn = jnp.array([config.mount, config.grip, config.grip]).T[..., None]  # (3, 1) each
    return Device(
        place * jax.random.normal(k_pos, (3, 3)),
        from_rotation_vector(turn * jax.random.normal(k_turn, (3, 3))),
        jnp.full(3, TRACKED, jnp.int32),
    )


def lose_and_find(config: RandomizeConfig, dt: float, device: Device, frame: jax.Array, key: jax.Array) -> Device:
    """The devices one frame of `dt` [s] on: a controller is lost config.lost[0] times a second, for config.lost[1] [s].

    Both in the mean. Consumes key.
    """
    rate, seconds = config.lost
    if rate == 0.0:
        return device
    k_lose, k_find = jax.random.split(key)
    loses = jax.random.uniform(k_lose, (3,)) < jnp.array([0.0, rate * dt, rate * dt])
    finds = jax.random.uniform(k_find, (3,)) < dt / seconds
    lost = device.lost_at < TRACKED
    lost_at = jnp.where(lost, jnp.where(finds, TRACKED, device.lost_at), jnp.where(loses, frame, TRACKED))
    return device._replace(lost_at=lost_at.astype(jnp.int32))


def shown(
    config: RandomizeConfig, reference: Reference, device: Device, time: jax.Array, key: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Positions (3, 3) [m] and orientations (3, 4) that the devices show at frame `time`.

    The noise of a frame is a function of `key` and `time`: `key` is not consumed.
    """
    row, each = jnp.minimum(time, device.lost_at), jnp.arange(3)
    sensor_pos, sensor_quat = reference.sensor_pos[row, each], reference.sensor_quat[row, each]
    pos, quat = sensor_pos + rotate(sensor_quat, device.pos), quat_mul(sensor_quat, device.quat)
    if config.noise == (0.0, 0.0):
        return pos, quat
    k_pos, k_turn = jax.random.split(jax.random.fold_in(key, time))
    turn = from_rotation_vector(config.noise[1] * jax.random.normal(k_turn, (3, 3)))
    return pos + config.noise[0] * jax.random.normal(k_pos, (3, 3)), quat_mul(quat, turn)
