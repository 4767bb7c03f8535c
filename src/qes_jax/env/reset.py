"""A new episode: a frame of the reference, the room as recorded or nearly so, the body there with a little noise."""

import jax
import jax.numpy as jnp

from qes_jax.env.config import EnvConfig, RandomizeConfig
from qes_jax.env.device import draw_device
from qes_jax.env.state import EnvParams, EnvState
from qes_jax.model.engine import Engine, Physics
from qes_jax.model.world import Layout
from qes_jax.rotations import from_yaw, quat_mul


def reset(config: EnvConfig, engine: Engine, params: EnvParams, key: jax.Array) -> EnvState:
    """Start at a frame drawn by params.start_weight. Consumes key."""
    k_frame, k_place, k_pose, k_age, k_next = jax.random.split(key, 5)
    frame = draw_frame(params.start_weight, k_frame)
    state = reset_at(config, engine, params, frame, k_place, k_pose)
    return state._replace(key=k_next, age=jax.random.randint(k_age, (), 0, config.max_frames // 2))


def reset_at(
    config: EnvConfig, engine: Engine, params: EnvParams, frame: jax.Array, k_place: jax.Array, k_pose: jax.Array
) -> EnvState:
    """Start at a given frame. Consumes both keys."""
    layout, ref = engine.world.layout, params.reference
    clip = ref.clip_of_frame[frame]
    placement = perturb(config.randomize, ref.placement[clip], k_place)
    k_pos, k_vel, k_device, k_next = jax.random.split(k_pose, 4)
    noise = config.randomize
    qpos, qvel = ref.qpos[frame], ref.qvel[frame]
    qpos = qpos.at[:3].add(follow_piece(ref.contact[frame], placement - ref.placement[clip]))
    qpos = qpos.at[layout.joint_qpos].add(_noise(k_pos, layout, noise.joint_pos))
    qvel = qvel.at[layout.joint_dofs].add(_noise(k_vel, layout, noise.joint_vel))
    physics = Physics(qpos, qvel, jnp.zeros_like(qvel), placement[:, :3], placement[:, 3:])
    return EnvState(
        physics, engine.forward(physics), frame=frame, age=jnp.zeros((), jnp.int32), start=frame,
        action=jnp.zeros(len(layout.joints), jnp.float32), device=draw_device(noise, k_device), key=k_next,
    )  # fmt: skip


def draw_frame(weight: jax.Array, key: jax.Array) -> jax.Array:
    """A frame drawn with probability in proportion to weight (N,), by its inverse cumulative sum. Consumes key."""
    total = cumulative(weight)
    draw = jax.random.uniform(key, (), weight.dtype) * total[-1]
    return jnp.clip(jnp.searchsorted(total, draw, side="right"), 0, weight.shape[0] - 1).astype(jnp.int32)


def cumulative(weight: jax.Array) -> jax.Array:
    """Cumulative sum of weight (N,), never falling, and exactly level where a weight is 0.

    A parallel sum alone is neither: it rounds differently at each place, so frames of weight 0 would be drawn at times.
    """
    return jax.lax.cummax(jnp.where(weight > 0, jnp.cumsum(weight), 0.0))


def perturb(config: RandomizeConfig, placement: jax.Array, key: jax.Array) -> jax.Array:
    """Placement (O-1, 7), each piece moved by up to config.place [m] along each axis, turned by up to config.yaw [rad].

    Consumes key.
    """
    k_move, k_turn = jax.random.split(key)
    n = placement.shape[0]
    move = jax.random.uniform(k_move, (n, 3), minval=-config.place, maxval=config.place)
    turn = jax.random.uniform(k_turn, (n,), minval=-config.yaw, maxval=config.yaw)
    quat = quat_mul(from_yaw(turn), placement[:, 3:])
    return jnp.concatenate([placement[:, :3] + move, quat], axis=1)


def follow_piece(contact: jax.Array, moved: jax.Array) -> jax.Array:
    """(3,) how far the body starts from its recorded place: with the piece that it touches most, never downward.

    Our choice: a body that starts seated would else start inside a seat that was moved up. contact (L, O), moved
    (O-1, >=3) [m].
    """
    if moved.shape[0] == 0:
        return jnp.zeros(3, jnp.float32)
    touched = contact[:, 1:].sum(axis=0)
    shift = moved[jnp.argmax(touched), :3]
    shift = shift.at[2].max(0.0)
    return jnp.where(touched.max() > 0, shift, 0.0)


def _noise(key: jax.Array, layout: Layout, scale: float) -> jax.Array:
    return scale * jax.random.normal(key, (len(layout.joints),))
