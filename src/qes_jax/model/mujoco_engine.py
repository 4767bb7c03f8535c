"""MuJoCo's C engine behind the contract: one callback a control step advances every environment on all cores."""

import copy
import os
import threading

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from jax.experimental.buffer_callback import buffer_callback
from mujoco.batch import Batch, SimulationError

from qes_jax.model.engine import Derived, Physics, derive, no_force
from qes_jax.model.kinematics import make_tree
from qes_jax.model.world import World

STATE = ("qpos", "qvel", "qacc_warmstart", "mocap_pos", "mocap_quat")


class MujocoEngine:
    """Steps simulations with `mujoco.batch`: a row gives the same bits at any place, batch size and thread count."""

    def __init__(self, world: World, threads: int | None = None) -> None:
        self.world = world
        self.threads = threads or len(os.sched_getaffinity(0))
        self._tree = make_tree(world.plain)
        self._silent = copy.copy(world.mj)  # sensors cost a tenth of a substep, and only the last substep's are read
        self._silent.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_SENSOR)
        self._batches: dict[int, Batch] = {}
        self._lock = threading.Lock()  # programs on several host devices call back at once

    def step(self, state: Physics, ctrl: jax.Array, n_substeps: int) -> tuple[Physics, Derived]:
        """See `Engine.step`."""
        m, layout = self.world.mj, self.world.layout
        shapes = [_row(m.nq), _row(m.nv), _row(m.nv), _row(len(layout.links), len(layout.objects), 3)]

        def advance(out: list[np.ndarray], *rows: np.ndarray) -> None:
            with self._lock:
                self._advance(n_substeps, out, rows)

        qpos, qvel, warmstart, force = _call_host(advance, shapes, *state, ctrl)
        state = state._replace(qpos=qpos, qvel=qvel, warmstart=warmstart)
        return state, derive(self._tree, state, force)

    def forward(self, state: Physics) -> Derived:
        """See `Engine.forward`."""
        return derive(self._tree, state, no_force(self.world))

    def _advance(self, n_substeps: int, out: list[np.ndarray], rows: tuple[np.ndarray, ...]) -> None:
        """Step simulations from `rows` (state and ctrl, any leading dimensions) and write their outcome into `out`."""
        batch = self._batch(int(np.prod(rows[0].shape[:-1])))
        for field, row in zip((*STATE, "ctrl"), rows, strict=True):
            view = batch.bind(field)
            view[:] = row.reshape(view.shape)
        failed = _step(batch, self._silent, n_substeps - 1) if n_substeps > 1 else []
        failed = [*failed, *_step(batch, self.world.mj, 1), *np.flatnonzero(_broken(batch))]
        for field, to in zip((*STATE[:3], "sensordata"), out, strict=True):
            value = batch.bind(field)
            to = to.reshape(value.shape)
            # A sensor gives the force on the object, the contract that on the link.
            copied = np.negative if field == "sensordata" else np.positive
            with np.errstate(over="ignore"):
                copied(value, out=to, casting="unsafe")
            to[failed] = np.nan

    def _batch(self, count: int) -> Batch:
        if count not in self._batches:
            self._batches[count] = Batch(self.world.mj, count, min(self.threads, count))
            self._batches[count].bind("sensordata")
        return self._batches[count]


def _step(batch: Batch, model: mujoco.MjModel, n_substeps: int) -> list[int]:
    """Step a batch on a model; the ids of the simulations that failed."""
    batch.set_models(model)
    try:
        batch.step(nstep=n_substeps)
    except SimulationError as error:
        return list(error.ids)
    return []


def _broken(batch: Batch) -> np.ndarray:
    """(nsim,) where MuJoCo calls a simulation unstable, or a control is no number (which it ignores)."""
    fastest = np.maximum(np.abs(batch.bind("qvel")).max(axis=1), np.abs(batch.bind("qacc_warmstart")).max(axis=1))
    return ~(fastest < mujoco.mjMAXVAL) | ~np.isfinite(batch.bind("ctrl")).all(axis=1)


def _call_host(write, shapes: list[jax.ShapeDtypeStruct], *args: jax.Array) -> list[jax.Array]:
    """Call `write(outputs, *args)` on NumPy arrays, once for a whole batch.

    On a CPU it sees XLA's own buffers: no copies, and no wait for a thread that XLA may itself keep busy, which
    `pure_callback` needs for its copies. Elsewhere the arrays travel to the host and back.
    """
    if jax.default_backend() == "cpu":

        def in_place(_, out, *buffers) -> None:
            write([np.asarray(o) for o in out], *(np.asarray(b) for b in buffers))

        return buffer_callback(in_place, shapes, vmap_method="broadcast_all")(*args)

    def copied(*arrays):
        arrays = [np.asarray(a) for a in arrays]
        out = [np.empty(arrays[0].shape[:-1] + s.shape, s.dtype) for s in shapes]
        write(out, *arrays)
        return out

    return jax.pure_callback(copied, shapes, *args, vmap_method="broadcast_all")


def _row(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)
