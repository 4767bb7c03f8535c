"""The same state seen otherwise: the whole world (body, pieces, reference) turned and moved, or mirrored."""

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.env.state import EnvParams, EnvState
from qes_jax.motion.library import Reference, pack
from qes_jax.motion.mirror import POINT, QUAT, TURN, mirror_clip, mirror_maps, other_side
from qes_jax.rotations import from_yaw, quat_mul, rotate
from tests.env.standing import Lab, quick


@quick
def move_world(params: EnvParams, state: EnvState, yaw: jax.Array, shift: jax.Array) -> tuple[EnvParams, EnvState]:
    """Everything turned by `yaw` [rad] about Z, then moved by `shift` (2,) [m] on the floor."""
    turn, by = from_yaw(yaw), jnp.append(shift, 0.0)

    def point(x):
        return rotate(turn, x) + by

    def vector(x):
        return rotate(turn, x)

    def quat(q):
        return quat_mul(turn, q)

    def pose(x):
        return x.at[..., :3].set(point(x[..., :3])).at[..., 3:7].set(quat(x[..., 3:7]))

    def velocity(x):  # of a free joint: linear in world axes, angular in the body's
        return x.at[..., :3].set(vector(x[..., :3]))

    ref, physics, derived = params.reference, state.physics, state.derived
    ref = ref._replace(
        qpos=pose(ref.qpos), qvel=velocity(ref.qvel), link_pos=point(ref.link_pos), link_quat=quat(ref.link_quat),
        link_vel=vector(ref.link_vel), link_angvel=vector(ref.link_angvel), sensor_pos=point(ref.sensor_pos),
        sensor_quat=quat(ref.sensor_quat), placement=pose(ref.placement),
    )  # fmt: skip
    physics = physics._replace(
        qpos=pose(physics.qpos), qvel=velocity(physics.qvel),
        mocap_pos=point(physics.mocap_pos), mocap_quat=quat(physics.mocap_quat),
    )  # fmt: skip
    derived = derived._replace(
        xpos=point(derived.xpos), xquat=quat(derived.xquat), linvel=vector(derived.linvel),
        angvel=vector(derived.angvel), force=vector(derived.force),
    )  # fmt: skip
    return params._replace(reference=ref), state._replace(physics=physics, derived=derived)


def mirror_reference(lab: Lab) -> Reference:
    """The lab's reference with left and right exchanged."""
    return pack([mirror_clip(c, lab.world) for c in lab.clips], lab.world)


def mirror_state(lab: Lab, state: EnvState) -> EnvState:
    """Left and right exchanged."""
    maps, layout = mirror_maps(lab.world), lab.world.layout
    bodies = np.arange(len(layout.body_object))
    bodies[layout.link_ids] = layout.link_ids[maps.link_index]
    assert [other_side(n) for n in layout.links] == [layout.links[i] for i in maps.link_index]
    physics, derived = state.physics, state.derived
    f32 = np.float32
    qvel_sign = maps.qvel_sign.astype(f32)
    physics = physics._replace(
        qpos=physics.qpos[..., maps.qpos_index] * maps.qpos_sign.astype(f32),
        qvel=physics.qvel[..., maps.qvel_index] * qvel_sign,
        warmstart=physics.warmstart[..., maps.qvel_index] * qvel_sign,
        mocap_pos=physics.mocap_pos * POINT.astype(f32), mocap_quat=physics.mocap_quat * QUAT.astype(f32),
    )  # fmt: skip
    point, turn, quat = (x.astype(f32) for x in (POINT, TURN, QUAT))
    derived = derived._replace(
        xpos=derived.xpos[..., bodies, :] * point, xquat=derived.xquat[..., bodies, :] * quat,
        linvel=derived.linvel[..., bodies, :] * point, angvel=derived.angvel[..., bodies, :] * turn,
        force=derived.force[..., maps.link_index, :, :] * point,
    )  # fmt: skip
    hinges = maps.hinge_sign.astype(np.float32)
    return state._replace(physics=physics, derived=derived, action=state.action[..., maps.hinge_index] * hinges)
