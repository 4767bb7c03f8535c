"""MJX against MuJoCo's C engine: the same states and controls for ten control steps, field by field.

Each engine goes on from its own last state. What tells them apart is float32 against float64, which stiff contacts
amplify: measured were 5e-5 in qpos, 4e-3 in qvel and 1e-4 of a force.
"""

from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from qes_jax.model.engine import Engine, Physics, initial_state
from qes_jax.model.mjx_engine import MjxEngine
from qes_jax.model.mujoco_engine import MujocoEngine
from qes_jax.model.scene import PARKED, Piece
from qes_jax.model.world import World, build_world
from tests.model.figures import bent

SUBSTEPS, STEPS = 3, 10
BOX = Piece("box", "box", (0.6, 0.8, 0.2))
TOLERANCE = {  # absolute, and relative to the larger value
    "qpos": (1e-4, 0), "qvel": (1e-2, 0), "warmstart": (0.5, 1e-2), "mocap_pos": (0, 0), "mocap_quat": (0, 0),
    "xpos": (1e-4, 0), "xquat": (1e-4, 0), "linvel": (5e-3, 0), "angvel": (1e-2, 0), "force": (0.5, 1e-3),
}  # fmt: skip
AWAY, UNDER, BESIDE = (5.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.57, 0.0)


class Steps:
    """An engine's control step over a batch, quickly compiled; counts how often it is traced."""

    def __init__(self, engine: Engine) -> None:
        self.world, self.traces = engine.world, 0

        def step(state: Physics, ctrl: jax.Array):
            self.traces += 1
            return jax.vmap(lambda s, u: engine.step(s, u, SUBSTEPS))(state, ctrl)

        self.step: Callable = jax.jit(step, compiler_options={"xla_backend_optimization_level": 0})


@pytest.fixture(scope="module")
def box_world() -> World:
    return build_world(pieces=(BOX,))


@pytest.fixture(scope="module")
def on_c(box_world: World) -> Steps:
    return Steps(MujocoEngine(box_world))


@pytest.fixture(scope="module")
def on_mjx(box_world: World) -> Steps:
    return Steps(MjxEngine(box_world))


def start(world: World, places: list[tuple[float, float, float]], lift: list[float]) -> Physics:
    """A batch of standing bodies, one for each place of the world's piece, soles `lift` [m] above the floor."""
    qpos = np.tile(bent(world), (len(places), 1))
    qpos[:, 2] += lift
    placement = np.tile(world.placement(), (len(places), 1, 1))
    placement[:, :, :3] = np.array(places)[:, None]
    return jax.vmap(lambda q, p: initial_state(world, q, p))(qpos, placement)


def controls(world: World, rows: int) -> Iterator[jax.Array]:
    for step in range(STEPS):
        yield 0.05 * jax.random.uniform(jax.random.key(step), (rows, world.plain.nu), minval=-1, maxval=1)


def assert_same_course(c: Steps, mjx: Steps, state: Physics) -> None:
    ours = theirs = state
    for step, ctrl in enumerate(controls(c.world, len(state.qpos))):
        ours, a = c.step(ours, ctrl)
        theirs, b = mjx.step(theirs, ctrl)
        for name, (atol, rtol) in TOLERANCE.items():
            x, y = (getattr(s if hasattr(s, name) else d, name) for s, d in ((ours, a), (theirs, b)))
            np.testing.assert_allclose(y, x, rtol=rtol, atol=atol, err_msg=f"{name} at step {step}")


def test_course_beside_and_on_a_box(on_c: Steps, on_mjx: Steps) -> None:
    """Furnished: on the floor, on the box, half on the box, and on the floor close beside it."""
    half = (0.0, 0.4, 0.0)
    state = start(on_c.world, [AWAY, UNDER, half, BESIDE], [0.001, 0.2, 0.2, 0.0])
    assert_same_course(on_c, on_mjx, state)


@pytest.mark.parametrize("engine", ["on_c", "on_mjx"])
def test_placement_is_of_each_environment_and_recompiles_nothing(engine: str, request) -> None:
    steps: Steps = request.getfixturevalue(engine)
    rest = jnp.zeros((4, steps.world.plain.nu))
    for places, lift, boxed in (
        ([AWAY, UNDER, AWAY, UNDER], [0.0, 0.2, 0.0, 0.2], [1, 3]),
        ([UNDER, AWAY, AWAY, AWAY], [0.2, 0.0, 0.0, 0.0], [0]),
    ):
        state, derived = steps.step(start(steps.world, places, lift), rest)
        np.testing.assert_array_equal(state.mocap_pos[:, 0], np.float32(places))
        piece = steps.world.layout.piece_ids[0]
        np.testing.assert_allclose(derived.xpos[:, piece], places, atol=1e-6)
        up = np.asarray(derived.force[..., 2].sum(axis=1))  # (4, O)
        on_box = np.isin(np.arange(4), boxed)
        np.testing.assert_array_equal(up[:, 1] > 100, on_box)
        np.testing.assert_array_equal(up[:, 0] > 100, ~on_box)
    assert steps.traces == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["flat", "chair"])
def test_course_on_flat_ground_and_at_a_chair(kind: str) -> None:
    """The chair: away, a hand's breadth behind the body, and under it, so that the falling body lands on it."""
    world = build_world(pieces=() if kind == "flat" else (Piece("chair", "chair"),))
    places = [AWAY, (-0.5, 0.0, 0.0), (-0.4, 0.1, 0.0), (-0.7, 0.0, 0.0)]
    state = start(world, places, [0.0, 0.0, 0.0, 0.002])
    assert_same_course(Steps(MujocoEngine(world)), Steps(MjxEngine(world)), state)


@pytest.mark.slow
def test_course_of_chairs_with_joints() -> None:
    """Both turning freely at a distance; one behind the body, one under it, the other parked; both parked."""
    world = build_world(pieces=(Piece("office", "office_chair"), Piece("tilt", "tilting_chair")))
    office, tilt, at = [AWAY, (-0.5, 0.0, 0.0), PARKED[:3], PARKED[:3]], [(0.0, 5.0, 0.0), PARKED[:3]], (-0.4, 0.1, 0.0)
    state = start(world, office, [0.0, 0.0, 0.0, 0.002])
    state = state._replace(mocap_pos=state.mocap_pos.at[:, 1].set(jnp.array([*tilt, at, PARKED[:3]])))
    state = state._replace(qvel=state.qvel.at[:, world.layout.object_dofs].set(jnp.array([1.0, 0.5])))
    c, mjx = Steps(MujocoEngine(world)), Steps(MjxEngine(world))
    assert_same_course(c, mjx, state)
    after, _ = mjx.step(state, jnp.zeros((4, world.plain.nu)))
    joints = np.asarray(after.qpos[:, world.layout.object_qpos])
    np.testing.assert_array_equal(joints[[0, 3]].min(axis=0) > 1e-3, [True, True])  # where a piece stands is no matter


def test_forces_obey_newton(box_world: World) -> None:
    """In a substep from rest, contact forces and gravity sum to mass times the acceleration of the mass centre."""
    m, engine = box_world.plain, MujocoEngine(box_world)
    state = start(box_world, [AWAY, UNDER], [-0.001, 0.197])
    after, derived = jax.jit(jax.vmap(lambda s, u: engine.step(s, u, 1)))(state, next(controls(box_world, 2)))
    force = np.asarray(derived.force)  # (2, L, O, 3)
    for row in range(2):
        data, jacobian = mujoco.MjData(m), np.zeros((3, m.nv))
        data.qpos[:] = state.qpos[row]
        mujoco.mj_fwdPosition(m, data)
        mujoco.mj_jacSubtreeCom(m, data, jacobian, m.body("pelvis").id)
        gain = jacobian @ np.asarray(after.qvel[row], float) / m.opt.timestep
        wanted = m.body("pelvis").subtreemass[0] * (gain - m.opt.gravity)
        np.testing.assert_allclose(force[row].sum(axis=(0, 1)), wanted, atol=0.05)
    feet = np.array([link.endswith(("foot", "toes")) for link in box_world.layout.links])
    assert np.all(force[:, ~feet] == 0)
    assert np.all(force[0, :, 1] == 0)
    assert np.all(force[1, :, 0] == 0)
    assert np.all(force[..., 2].sum(axis=(1, 2)) > 300)
