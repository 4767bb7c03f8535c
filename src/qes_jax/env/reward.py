"""Reward = imitation + contact + regularisation, each term named."""

from dataclasses import fields

import jax
import jax.numpy as jnp

from qes_jax.env.config import RewardConfig
from qes_jax.env.state import Body
from qes_jax.model.world import Layout
from qes_jax.motion.library import Reference
from qes_jax.rotations import angle_between

SMOOTH = 0.1  # of a contact, our choice: in flight, where there should be none, a faint touch costs little
TOUCH = 5.0  # [N] a force that counts as 63 % of a contact, our choice: well below any weight that is carried


def reward_terms(
    config: RewardConfig, layout: Layout, ref: Reference, frame: jax.Array, body: Body,
    force: jax.Array, action: jax.Array, last_action: jax.Array,
) -> dict[str, jax.Array]:  # fmt: skip
    """Weighted terms by the names of the config's fields; the reward is their sum.

    force (L, O, 3) [N], action and last_action (J,). Imitation: w exp(-k mean square error) at the reference's `frame`.
    """
    errors = {
        "joint_pos": ref.qpos[frame][layout.joint_qpos] - body.joint_pos,
        "joint_vel": ref.qvel[frame][layout.joint_dofs] - body.joint_vel,
        "link_pos": jnp.sqrt(3.0) * (ref.link_pos[frame] - body.pos),
        "link_vel": jnp.sqrt(3.0) * (ref.link_vel[frame] - body.linvel),
        "sensor_pos": jnp.sqrt(3.0) * (ref.sensor_pos[frame] - body.sensor_pos),
        "sensor_rot": angle_between(ref.sensor_quat[frame], body.sensor_quat),
        "root_rot": angle_between(ref.link_quat[frame, 0], body.quat[0]),
    }
    terms = {}
    for name, error in errors.items():
        weight, k = getattr(config, name)
        terms[name] = weight * jnp.exp(-k * jnp.mean(error**2))
    terms["contact"] = config.contact * contact_overlap(ref.contact[frame], force)
    terms["effort"] = -config.effort * jnp.sum(action**2)
    terms["jerk"] = -config.jerk * jnp.sum((action - last_action) ** 2)
    return terms


def contact_overlap(label: jax.Array, force: jax.Array) -> jax.Array:
    """How well contacts match their labels, in [0, 1]: intersection over union of the two sets. Our choice.

    label (L, O) 0 or 1, force (L, O, 3) [N]. A force f counts as a contact by the degree 1 - exp(-|f| / TOUCH).
    """
    touch = 1.0 - jnp.exp(-jnp.linalg.norm(force, axis=-1) / TOUCH)
    both, either = jnp.sum(jnp.minimum(label, touch)), jnp.sum(jnp.maximum(label, touch))
    return (both + SMOOTH) / (either + SMOOTH)


def names() -> list[str]:
    """The terms' names, in order."""
    return [f.name for f in fields(RewardConfig)]
