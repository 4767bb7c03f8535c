"""MuJoCo's C engine behind the contract: one callback a control step advances every environment on all cores."""

import os

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from mujoco.batch import Batch, SimulationError

from qes_jax.model.engine import Derived, Physics, frame_velocity
from qes_jax.model.world import World

DERIVED = ("xpos", "xquat", "cvel", "subtree_com", "sensordata")


class MujocoEngine:
    """Steps simulations with `mujoco.batch`. Bit-identical at any number of threads."""

    def __init__(self, world: World, threads: int | None = None) -> None:
        self.world = world
        self.threads = threads or len(os.sched_getaffinity(0))
        self._batches: dict[int, Batch] = {}

    def step(self, state: Physics, ctrl: jax.Array, n_substeps: int) -> tuple[Physics, Derived]:
        """See `Engine.step`."""
        m = self.world.mj
        shapes = [_row(m.nq), _row(m.nv), _row(m.nv), *self._derived_shapes()]

        def host(*rows):
            return self._host_step(n_substeps, *rows)

        qpos, qvel, warmstart, *derived = jax.pure_callback(host, shapes, *state, ctrl, vmap_method="broadcast_all")
        return state._replace(qpos=qpos, qvel=qvel, warmstart=warmstart), self._derived(*derived)

    def forward(self, state: Physics) -> Derived:
        """See `Engine.forward`."""
        derived = jax.pure_callback(
            self._host_forward, self._derived_shapes(), *state, vmap_method="broadcast_all"
        )
        return self._derived(*derived)

    def _derived_shapes(self) -> list[jax.ShapeDtypeStruct]:
        m = self.world.mj
        return [_row(m.nbody - 1, 3), _row(m.nbody - 1, 4), _row(m.nbody - 1, 6), _row(m.nbody, 3), _row(m.nsensordata)]

    def _derived(self, xpos, xquat, cvel, subtree_com, sensordata) -> Derived:
        layout = self.world.layout
        linvel, angvel = frame_velocity(self.world, xpos, cvel, subtree_com)
        force = sensordata.reshape(len(layout.links), len(layout.objects), 3)
        return Derived(xpos, xquat, linvel, angvel, force)

    def _host_step(self, n_substeps: int, *rows: np.ndarray) -> tuple[np.ndarray, ...]:
        rows = [np.asarray(r) for r in rows]
        lead = rows[0].shape[:-1]
        batch = self._load(rows[:5])
        batch.bind("ctrl")[:] = rows[5].reshape(batch.nsim, -1)
        failed = _run(lambda: batch.step(nstep=n_substeps, stage=mujoco.mjtStage.mjSTAGE_VEL))
        return self._read(batch, ("qpos", "qvel", "qacc_warmstart", *DERIVED), lead, failed)

    def _host_forward(self, *rows: np.ndarray) -> tuple[np.ndarray, ...]:
        rows = [np.asarray(r) for r in rows]
        batch = self._load(rows)
        failed = _run(lambda: batch.forward(stage=mujoco.mjtStage.mjSTAGE_VEL))
        *kinematics, sensordata = self._read(batch, DERIVED, rows[0].shape[:-1], failed)
        return *kinematics, np.zeros_like(sensordata)

    def _load(self, rows: list[np.ndarray]) -> Batch:
        """A batch as large as the rows, holding them."""
        count = int(np.prod(rows[0].shape[:-1]))
        if count not in self._batches:
            self._batches[count] = self._new_batch(count)
        batch = self._batches[count]
        for field, row in zip(("qpos", "qvel", "qacc_warmstart", "mocap_pos", "mocap_quat"), rows, strict=True):
            view = batch.bind(field)
            view[:] = row.reshape(view.shape)
        return batch

    def _new_batch(self, count: int) -> Batch:
        batch = Batch(self.world.mj, count, min(self.threads, count))
        for field in DERIVED:
            batch.bind(field)
        return batch

    def _read(self, batch: Batch, fields: tuple[str, ...], lead: tuple[int, ...], failed: np.ndarray):
        """Bound fields as float32 with the callers' leading shape, the world body dropped where the contract drops it."""
        rows = []
        for field in fields:
            value = batch.bind(field)
            value = value[:, 1:] if field in ("xpos", "xquat", "cvel") else value
            row = value.astype(np.float32)
            row[failed] = np.nan
            rows.append(row.reshape(*lead, *row.shape[1:]))
        return tuple(rows)


def _run(call) -> np.ndarray:
    """Run a batch call; the ids of the simulations that failed."""
    try:
        call()
    except SimulationError as error:
        return np.asarray(error.ids, int)
    return np.zeros(0, int)


def _row(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)
