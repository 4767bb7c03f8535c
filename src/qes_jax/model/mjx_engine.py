"""MJX behind the contract: physics inside the jitted, vmapped step, on CPU, GPU or TPU."""

import copy
from typing import Literal

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from mujoco import mjx

from qes_jax.model.engine import Derived, Physics, derive, no_force
from qes_jax.model.kinematics import make_tree
from qes_jax.model.world import MAX_CONTACTS, World

# Every box costs MJX 37 candidate contacts, and its solver as many whether they touch or not. A body touches nothing
# at more than 37 points, and one that sits with its feet on the floor at about 30 in all.
N_CONTACTS = 64


class MjxEngine:
    """Steps simulations with MJX. `impl` "jax" runs anywhere; "warp" (MuJoCo-Warp) is the fast path on NVIDIA GPUs."""

    def __init__(self, world: World, impl: Literal["jax", "warp"] = "jax") -> None:
        self.world, self.impl = world, impl
        # MJX matches contact sensors by geom only, so forces are summed here from its contacts. Warp fills the sensors.
        self._mj = _limited(world.plain) if impl == "jax" else world.mj
        self._model = mjx.put_model(self._mj, impl=impl)
        self._tree = make_tree(world.plain)
        self._body_link = np.full(self._mj.nbody, -1)
        self._body_link[world.layout.link_ids + 1] = np.arange(len(world.layout.links))

    def step(self, state: Physics, ctrl: jax.Array, n_substeps: int) -> tuple[Physics, Derived]:
        """See `Engine.step`."""

        model = self._placed(state)

        def substep(data: mjx.Data, _) -> tuple[mjx.Data, None]:
            return mjx.step(model, data), None

        data = jax.lax.scan(substep, self._data(state).replace(ctrl=ctrl), length=n_substeps)[0]
        force = self._forces(data)
        state = state._replace(qpos=data.qpos, qvel=data.qvel, warmstart=data.qacc_warmstart)
        return state, derive(self._tree, state, force)

    def forward(self, state: Physics) -> Derived:
        """See `Engine.forward`."""
        return derive(self._tree, state, no_force(self.world))

    def _placed(self, state: Physics) -> mjx.Model:
        """The model with the pieces where the state has them.

        MJX 3.17 moves a mocap body only after the bodies below it, which thus hang on where the model has it.
        """
        layout = self.world.layout
        if self.impl == "warp" or _rigid(self._mj):
            return self._model
        roots, quat = layout.piece_ids + 1, state.mocap_quat
        quat = quat / jnp.linalg.norm(quat, axis=-1, keepdims=True)
        pos, turn = self._model.body_pos.at[roots].set(state.mocap_pos), self._model.body_quat.at[roots].set(quat)
        return self._model.replace(body_pos=pos, body_quat=turn)

    def _data(self, state: Physics) -> mjx.Data:
        return mjx.make_data(self._mj, impl=self.impl).replace(
            qpos=state.qpos,
            qvel=state.qvel,
            qacc_warmstart=state.warmstart,
            mocap_pos=state.mocap_pos,
            mocap_quat=state.mocap_quat,
        )

    def _forces(self, data: mjx.Data) -> jax.Array:
        """(L, O, 3) contact forces by link and object of the last substep."""
        layout = self.world.layout
        shape = len(layout.links), len(layout.objects), 3
        if self.impl == "warp":
            return data.sensordata.reshape(shape)
        contact = data._impl.contact
        if contact.geom.shape[0] == 0:
            return jnp.zeros(shape, data.qpos.dtype)
        # The normal points from the first geom to the second, and the force acts on the second.
        bodies = jnp.asarray(self._mj.geom_bodyid)[contact.geom]  # (C, 2)
        links = jnp.asarray(self._body_link)[bodies]  # -1 where it is no link
        second = links[:, 1] >= 0
        link = links.max(axis=1)
        owner = jnp.asarray(np.append(0, layout.body_object))[jnp.where(second, bodies[:, 0], bodies[:, 1])]
        force = _world_forces(contact, data._impl.efc_force)
        force = jnp.where(second, 1.0, -1.0)[:, None] * force * (link >= 0)[:, None]
        return jnp.zeros(shape, force.dtype).at[link, owner].add(force)


def _rigid(m: mujoco.MjModel) -> bool:
    """Whether nothing hangs on the mocap bodies."""
    return not (m.body_mocapid[m.body_parentid] >= 0).any()


def _limited(m: mujoco.MjModel) -> mujoco.MjModel:
    """A copy of a model of which MJX solves for the N_CONTACTS deepest contacts only, of the many that could be."""
    m = copy.copy(m)
    m.numeric_data[m.numeric_adr[m.numeric(MAX_CONTACTS).id]] = N_CONTACTS
    return m


def _world_forces(contact, efc_force: jax.Array) -> jax.Array:
    """(C, 3) force of each frictional pyramidal contact (condim 3) in world axes.

    A pyramid's four edges are n +- mu_i t_i with weights f: normal sum(f), tangents mu_i (f_2i - f_2i+1).
    """
    edges = efc_force[contact.efc_address[:, None] + jnp.arange(4)]  # (C, 4)
    edges = edges * (contact.efc_address >= 0)[:, None]
    mu = contact.friction[:, :2]
    local = jnp.stack(
        [edges.sum(axis=1), mu[:, 0] * (edges[:, 0] - edges[:, 1]), mu[:, 1] * (edges[:, 2] - edges[:, 3])], axis=1
    )
    return jnp.einsum("ci,cij->cj", local, contact.frame)
