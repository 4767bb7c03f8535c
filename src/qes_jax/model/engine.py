"""The contract between an environment and whatever simulates it.

An engine's `step` and `forward` are pure functions of one simulation's state row (and controls), to be used under
jit and one vmap. L links, O objects (floor first), K bodies but the world.
"""

from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp

from qes_jax.model.kinematics import Tree, poses
from qes_jax.model.world import World
from qes_jax.rotations import rotate


class Physics(NamedTuple):
    """The state row of one simulation: all that the next step depends on. Float32."""

    qpos: jax.Array  # (nq,)
    qvel: jax.Array  # (nv,)
    warmstart: jax.Array  # (nv,) the last acceleration, where the contact solver starts
    mocap_pos: jax.Array  # (O-1, 3) placement of the pieces [m]
    mocap_quat: jax.Array  # (O-1, 4)


class Derived(NamedTuple):
    """What follows from a state: poses and velocities of every body, contact forces of the substep that led here."""

    xpos: jax.Array  # (K, 3) [m]
    xquat: jax.Array  # (K, 4)
    linvel: jax.Array  # (K, 3) of the body frame's origin, world axes [m/s]
    angvel: jax.Array  # (K, 3) world axes [rad/s]
    force: jax.Array  # (L, O, 3) net contact force on a link from an object, world axes [N]; zero after `forward`


class Engine(Protocol):
    """What an environment needs of a simulator."""

    world: World

    def step(self, state: Physics, ctrl: jax.Array, n_substeps: int) -> tuple[Physics, Derived]:
        """Hold ctrl (nu,) for n_substeps physics steps. A simulation that fails comes back as NaN."""
        ...

    def forward(self, state: Physics) -> Derived:
        """Kinematics of a state that no step led to (a reset). Contact forces are zero."""
        ...


def initial_state(world: World, qpos: jax.Array | None = None, placement: jax.Array | None = None) -> Physics:
    """A state at rest: qpos (nq,) or the A-pose, pieces at placement (O-1, 7) or where they were modelled."""
    qpos = jnp.asarray(world.layout.home_qpos if qpos is None else qpos, jnp.float32)
    placement = jnp.asarray(world.placement() if placement is None else placement, jnp.float32)
    zero = jnp.zeros(world.plain.nv, jnp.float32)
    return Physics(qpos, zero, zero, placement[:, :3], placement[:, 3:])


def derive(tree: Tree, state: Physics, force: jax.Array) -> Derived:
    """Poses and velocities of a state by forward kinematics, beside the contact forces (L, O, 3) that led to it."""
    return Derived(*poses(tree, state.qpos, state.qvel, state.mocap_pos, state.mocap_quat), force)


def no_force(world: World) -> jax.Array:
    """(L, O, 3) contact forces of a state that no step led to."""
    return jnp.zeros((len(world.layout.links), len(world.layout.objects), 3), jnp.float32)


def point_velocity(linvel: jax.Array, angvel: jax.Array, quat: jax.Array, offset: jax.Array) -> jax.Array:
    """Velocity of a point at `offset` in a body's frame: v + w x (R offset)."""
    return linvel + jnp.cross(angvel, rotate(quat, offset))
