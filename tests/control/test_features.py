"""Features against finite differences along a motion, on every body."""

import mujoco
import numpy as np
import pytest

from qes_jax.control import features
from qes_jax.control.body import Body, Foot, load_body
from qes_jax.control.constraints import every_corner, lowest
from qes_jax.control.dynamics import Dynamics, read_dynamics
from qes_jax.control.features import Feature, rotation_error
from qes_jax.model.bodies import BODIES

STEP = 1e-6  # [s]

FEATURES = {
    "com": features.com,
    "neck": features.neck,
    "corners": lambda d: corners_of(d, d.body.feet[0]),
    "head": lambda d: features.orientation(d, d.body.head),
    "joints": lambda d: features.joints(d),
    "point": lambda d: features.points(d, d.body.trunk, d.data.xipos[d.body.trunk].copy()),
}
MOMENTA = {"linear": features.linear_momentum, "angular": features.angular_momentum}


def corners_of(d: Dynamics, foot: Foot) -> Feature:
    """The middles of a foot's corners on one body, points that it carries along."""
    return features.points(d, foot.body, d.data.geom_xpos[foot.corners[foot.sole]])


def state(body: Body, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A pose away from every symmetry, its velocity and an acceleration."""
    rng = np.random.default_rng(seed)
    qpos = body.rest.copy()
    mujoco.mj_integratePos(body.m, qpos, rng.normal(size=body.m.nv), 0.3)
    return qpos, rng.normal(size=body.m.nv), rng.normal(size=body.m.nv)


def dynamics(body: Body, qpos: np.ndarray, qvel: np.ndarray) -> Dynamics:
    data = mujoco.MjData(body.m)
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_forward(body.m, data)
    return read_dynamics(body, data)


def around(body: Body, dt: float) -> Dynamics:
    """The state after `dt` of constant acceleration."""
    qpos, qvel, qacc = state(body)
    mujoco.mj_integratePos(body.m, qpos, qvel + 0.5 * dt * qacc, dt)
    return dynamics(body, qpos, qvel + dt * qacc)


@pytest.fixture(scope="module", params=BODIES)
def body(request: pytest.FixtureRequest) -> Body:
    return load_body(request.param)


@pytest.mark.parametrize("name", FEATURES)
def test_velocity_and_acceleration(body: Body, name: str) -> None:
    before, now, after = (FEATURES[name](around(body, dt)) for dt in (-STEP, 0.0, STEP))
    if now.value.ndim == 2:
        moved = rotation_error(after.value, before.value)
    else:
        moved = after.value - before.value
    np.testing.assert_allclose(now.velocity, moved / (2 * STEP), atol=1e-6)
    _, qvel, qacc = state(body)
    np.testing.assert_allclose(now.velocity, now.J @ qvel, atol=1e-12)
    rate = (after.velocity - before.velocity) / (2 * STEP)
    np.testing.assert_allclose(now.J @ qacc + now.bias, rate, atol=2e-6 * max(1, np.abs(rate).max()))


@pytest.mark.parametrize("name", MOMENTA)
def test_momentum_and_its_rate(body: Body, name: str) -> None:
    before, now, after = (MOMENTA[name](around(body, dt)) for dt in (-STEP, 0.0, STEP))
    data = around(body, 0.0).data
    mujoco.mj_subtreeVel(body.m, data)
    oracle = {"linear": body.mass * data.subtree_linvel[body.root], "angular": data.subtree_angmom[body.root]}[name]
    np.testing.assert_allclose(now.value, oracle, atol=1e-9)
    rate = (after.value - before.value) / (2 * STEP)
    np.testing.assert_allclose(now.J @ state(body)[2] + now.bias, rate, atol=2e-6 * max(1, np.abs(rate).max()))


def test_inertia_and_bias_give_the_motion_that_mujoco_steps(body: Body) -> None:
    """M and h are those of the implicit step: without contact and with motors still, M qacc + h = 0 after one step."""
    qpos, qvel, _ = state(body)
    qpos[2] += 5.0
    qpos[body.qpos] = np.clip(qpos[body.qpos], *np.add(body.range.T, [[0.05], [-0.05]]))
    d = dynamics(body, qpos, qvel)
    mujoco.mj_step(body.m, d.data)
    acceleration = (d.data.qvel - qvel) / body.m.opt.timestep
    residual = d.M @ acceleration + d.h
    assert np.abs(residual).max() < 1e-6 * np.abs(d.h).max()


def test_a_corner_is_the_lowest_point_of_its_sphere(body: Body) -> None:
    d = dynamics(body, body.rest, np.zeros(body.m.nv))
    for foot in body.feet:
        np.testing.assert_array_equal(every_corner(d, foot).value.reshape(-1, 3), lowest(d, foot))
    assert abs(min(lowest(d, foot)[:, 2].min() for foot in body.feet)) < 1e-9
