"""What the policy sees, s = (s_sim, s_user, s_scene), and what the critic sees besides, in the root's heading frame."""

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.env.config import EnvConfig, SceneObsConfig
from qes_jax.env.device import shown
from qes_jax.env.state import Body, EnvParams, EnvState, Frame, body_of, heading_frame
from qes_jax.env.surfaces import heights, nearest
from qes_jax.model.engine import Derived
from qes_jax.model.scene import PARKED
from qes_jax.model.world import Layout
from qes_jax.motion.library import Reference
from qes_jax.rotations import six_d
from qes_jax.types import Obs

MOVING = 2  # moving bodies that are seen at most, our choice: a chair's seat or back, and one more


def observe(config: EnvConfig, layout: Layout, params: EnvParams, state: EnvState) -> Obs:
    """Observation of a state. Changes nothing and consumes no key."""
    body = body_of(layout, state.physics, state.derived)
    frame = heading_frame(body)
    policy = jnp.concatenate(
        [
            see_self(body, frame, state.action),
            see_user(config, params.reference, state, body, frame),
            see_scene(config.scene_obs, layout, state.derived, body, frame),
        ]
    )
    critic = jnp.concatenate([policy, see_reference(layout, params.reference, state, body, frame)])
    return Obs(policy, critic)


def see_self(body: Body, frame: Frame, action: jax.Array) -> jax.Array:
    """s_sim: link positions, 6-D orientations and velocities, joint angles and velocities, the last action."""
    return jnp.concatenate(
        [
            frame.point(body.pos).ravel(),
            six_d(frame.quat(body.quat)).ravel(),
            frame.vector(body.linvel).ravel(),
            frame.vector(body.angvel[:1]).ravel(),
            body.joint_pos,
            body.joint_vel,
            action,
        ]
    )


def see_user(config: EnvConfig, reference: Reference, state: EnvState, body: Body, frame: Frame) -> jax.Array:
    """s_user: headset and controllers now and, unless in real time, once more `config.future` frames ahead.

    For each: position, orientation, offset from the simulated one's. Then their velocity over the last frame.
    """
    used, now = slice(0, 3 if config.controllers else 1), state.frame
    first, last = clip_bounds(reference, now)

    def show(time: jax.Array) -> tuple[jax.Array, jax.Array]:
        pos, quat = shown(config.randomize, reference, state.device, time, state.key)
        return pos[used], quat[used]

    times = [now] if config.future == 0 else [now, jnp.minimum(now + config.future, last)]
    parts = []
    for pos, quat in map(show, times):
        parts += [frame.point(pos), six_d(frame.quat(quat)), frame.vector(pos - body.sensor_pos[used])]
    velocity = (show(now)[0] - show(jnp.maximum(now - 1, first))[0]) / config.ctrl_dt
    return jnp.concatenate([p.ravel() for p in [*parts, frame.vector(velocity)]])


def see_scene(config: SceneObsConfig, layout: Layout, derived: Derived, body: Body, frame: Frame) -> jax.Array:
    """s_scene: surfaces around the body by the config's kind, then what moves by joints of its own (`see_moving`)."""
    if config.kind == "none":
        return jnp.zeros(0, jnp.float32)
    if config.kind == "heightmap":
        points = map_points(config, body.pos[0, :2], frame.yaw)
        surface = heights(layout.geoms, derived, points)
    else:
        surface = frame.vector(nearest(layout.geoms, derived, body.pos)).ravel()
    return jnp.concatenate([surface, see_moving(layout, derived, frame)])


def see_moving(layout: Layout, derived: Derived, frame: Frame) -> jax.Array:
    """Pose and velocity of the MOVING bodies nearest to the root that move by joints of their own, nearest first.

    (16 MOVING,): place, 6-D orientation, velocity, angular velocity, and 1; zeros where there is none, so that a policy
    sees as many numbers in any room.
    """
    rows = nearest_moving(layout, derived, frame)
    present = derived.xpos[rows, 2:] > PARKED[2] / 2 if len(rows) else jnp.zeros((0, 1), bool)
    parts = [frame.point(derived.xpos[rows]), six_d(frame.quat(derived.xquat[rows]))]
    parts += [frame.vector(derived.linvel[rows]), frame.vector(derived.angvel[rows])]
    parts += [jnp.ones((len(rows), 1))]
    missing = ((0, MOVING - len(rows)), (0, 0))
    return jnp.concatenate([jnp.pad(jnp.where(present, p, 0.0), missing).ravel() for p in parts])


def nearest_moving(layout: Layout, derived: Derived, frame: Frame) -> jax.Array:
    """Rows of at most MOVING moving bodies, by their distance from the root; those parked are far."""
    moving = jnp.asarray(layout.moving_ids, jnp.int32)
    if len(layout.moving_ids) <= 1:
        return moving
    away = jnp.linalg.norm(derived.xpos[moving] - frame.origin, axis=-1)
    return moving[jnp.argsort(away)[:MOVING]]


def map_points(config: SceneObsConfig, at: jax.Array, yaw: jax.Array) -> jax.Array:
    """(P, 2) points of the height map in the world [m], around a root at (2,) with a heading of yaw (4,)."""
    x, y = jnp.asarray(height_grid(config)).T
    return at + jnp.stack([x * _cos(yaw) - y * _sin(yaw), x * _sin(yaw) + y * _cos(yaw)], axis=1)


def height_grid(config: SceneObsConfig) -> np.ndarray:
    """(P, 2) points of the height map in the heading frame [m], float32."""
    x = (np.arange(config.n_x) - (config.n_x - 1) / 2) * config.spacing + config.ahead
    y = (np.arange(config.n_y) - (config.n_y - 1) / 2) * config.spacing
    return np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2).astype(np.float32)


def see_reference(layout: Layout, reference: Reference, state: EnvState, body: Body, frame: Frame) -> jax.Array:
    """The critic's privilege: how far the body is from the reference, contacts as they are and should be, time left."""
    now = state.frame
    _, last = clip_bounds(reference, now)
    touching = jnp.linalg.norm(state.derived.force.sum(axis=1), axis=-1)  # (L,)
    return jnp.concatenate(
        [
            frame.vector(reference.link_pos[now] - body.pos).ravel(),
            frame.vector(reference.link_vel[now] - body.linvel).ravel(),
            reference.qpos[now][layout.joint_qpos] - body.joint_pos,
            six_d(frame.quat(reference.link_quat[now, 0])),
            reference.contact[now].max(axis=1),
            jnp.tanh(touching / 200.0),
            jnp.minimum((last - now) / 72.0, 1.0)[None],
        ]
    )


def clip_bounds(reference: Reference, frame: jax.Array) -> tuple[jax.Array, jax.Array]:
    """First and last frame of the clip that a frame belongs to."""
    clip = reference.clip_of_frame[frame]
    first = reference.start[clip]
    return first, first + reference.length[clip] - 1


def _cos(yaw: jax.Array) -> jax.Array:
    return yaw[0] ** 2 - yaw[3] ** 2


def _sin(yaw: jax.Array) -> jax.Array:
    return 2.0 * yaw[0] * yaw[3]
