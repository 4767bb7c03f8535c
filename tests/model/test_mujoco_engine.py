"""The C engine is a pure function of rows: of a simulation's own state and controls, whatever else is in the batch."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.model.engine import Physics, initial_state
from qes_jax.model.engines import make_engine
from qes_jax.model.mujoco_engine import MujocoEngine
from qes_jax.model.scene import SCENES
from qes_jax.model.world import World, build_world

ROWS = 9


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(pieces=SCENES["chair"].pieces)


@pytest.fixture(scope="module")
def engine(world: World) -> MujocoEngine:
    return MujocoEngine(world, threads=2)


@pytest.fixture(scope="module")
def rows(world: World, engine: MujocoEngine) -> tuple[Physics, jax.Array]:
    """A batch in the midst of a fall: bodies at odds with a chair, with a solver's warm start, and controls."""
    rng = np.random.default_rng(0)
    qpos = np.tile(world.layout.home_qpos, (ROWS, 1))
    qpos[:, :2] += rng.uniform(-0.5, 0.5, (ROWS, 2))
    state = jax.vmap(lambda q: initial_state(world, q))(qpos)
    ctrl = jnp.asarray(rng.uniform(-1, 1, (ROWS, world.plain.nu)), jnp.float32)
    for _ in range(10):
        state, derived = _step(engine, state, ctrl)
    assert jnp.abs(state.warmstart).max() > 1
    assert jnp.abs(derived.force).max() > 1
    return state, ctrl


@functools.cache
def _program(engine: MujocoEngine, n_substeps: int):
    quick = {"xla_backend_optimization_level": 0}
    return jax.jit(jax.vmap(lambda s, u: engine.step(s, u, n_substeps)), compiler_options=quick)


def _step(engine: MujocoEngine, state: Physics, ctrl: jax.Array, n_substeps: int = 3):
    return _program(engine, n_substeps)(state, ctrl)


def _same(a, b) -> None:
    jax.tree.map(np.testing.assert_array_equal, a, b)


Rows = tuple[Physics, jax.Array]


def test_same_bits_at_any_place_batch_size_and_thread_count(world: World, engine: MujocoEngine, rows: Rows) -> None:
    whole = _step(engine, *rows)
    _same(_step(MujocoEngine(world, threads=1), *rows), whole)
    order = np.array([4, 0, 8, 2])
    _same(_step(engine, *jax.tree.map(lambda x: x[order], rows)), jax.tree.map(lambda x: x[order], whole))


def test_an_engine_keeps_nothing_between_calls(engine: MujocoEngine, rows: Rows) -> None:
    first = _step(engine, *rows)
    _step(engine, first[0]._replace(warmstart=-first[0].warmstart), -rows[1])
    _same(_step(engine, *rows), first)


def test_substeps_are_steps(engine: MujocoEngine, rows: Rows) -> None:
    """Three at once or one by one, with the state rounded to float32 between, the warm start with it."""
    state, ctrl = rows
    at_once, derived = _step(engine, state, ctrl)
    for _ in range(3):
        state, last = _step(engine, state, ctrl, 1)
    np.testing.assert_allclose(state.qpos, at_once.qpos, atol=1e-5)
    np.testing.assert_allclose(state.warmstart, at_once.warmstart, rtol=1e-2, atol=0.5)
    np.testing.assert_allclose(last.force, derived.force, rtol=1e-2, atol=1.0)


def test_works_alone_and_under_two_vmaps(engine: MujocoEngine, rows: Rows) -> None:
    whole = _step(engine, *rows)
    state, derived = jax.jit(lambda s, u: engine.step(s, u, 3))(*jax.tree.map(lambda x: x[1], rows))
    _same(state, jax.tree.map(lambda x: x[1], whole[0]))
    _same(derived.force, whole[1].force[1])
    square = jax.tree.map(lambda x: x.reshape(3, 3, *x.shape[1:]), rows)
    state, derived = jax.jit(jax.vmap(jax.vmap(lambda s, u: engine.step(s, u, 3))))(*square)
    _same(state.qpos.reshape(ROWS, -1), whole[0].qpos)
    _same(derived.force.reshape(whole[1].force.shape), whole[1].force)


def test_a_failed_simulation_is_nan_and_alone(engine: MujocoEngine, rows: Rows) -> None:
    """Rows with a NaN, a speed that blows up, and a control that is no number; all others as without them."""
    state, ctrl = rows
    broken = state._replace(qvel=state.qvel.at[2].set(jnp.nan).at[5].mul(1e6))
    got, want = _step(engine, broken, ctrl.at[7, 3].set(jnp.nan)), _step(engine, state, ctrl)
    bad = np.isin(np.arange(ROWS), [2, 5, 7])
    for x in (got[0].qpos, got[0].qvel, got[1].xpos, got[1].force):
        np.testing.assert_array_equal(np.isnan(x).reshape(ROWS, -1).any(axis=1), bad)
    _same(jax.tree.map(lambda x: x[~bad], got), jax.tree.map(lambda x: x[~bad], want))


def test_unknown_engines_are_refused(world: World) -> None:
    with pytest.raises(ValueError, match="unknown engine 'bullet'"):
        make_engine(world, "bullet")


def test_warp_without_its_package_or_a_gpu_is_refused_in_a_line(world: World) -> None:
    with pytest.raises(ValueError, match=r"mjx-warp needs .*take --engine mjx"):
        make_engine(world, "mjx-warp")
