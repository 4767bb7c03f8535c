"""Features against finite differences along a motion, on every body."""

import mujoco
import numpy as np
import pytest

from qes_jax.control import features
from qes_jax.control.body import Body, load_body
from qes_jax.control.constraints import corner
from qes_jax.control.dynamics import Dynamics, read_dynamics
from qes_jax.control.features import Feature, rotation_error
from qes_jax.model.bodies import BODIES

STEP = 1e-6  # [s]

FEATURES = {
    "com": features.com,
    "neck": features.neck,
    "corner": lambda d: corner_at(d, d.body.feet[0].corners[-1]),
    "head": lambda d: features.orientation(d, d.body.head),
    "joints": lambda d: features.joints(d, np.arange(len(d.body.dofs))),
    "mean": lambda d: features.mean([corner_at(d, g) for g in d.body.feet[1].corners]),
}
MOMENTA = {"linear": features.linear_momentum, "angular": features.angular_momentum}


def corner_at(d: Dynamics, geom: int) -> Feature:
    """A corner's middle: a point that the body carries along."""
    return features.point(d, int(d.body.m.geom_bodyid[geom]), d.data.geom_xpos[geom].copy())


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
    lowest = min(corner(d, g).value[2] for f in body.feet for g in f.corners)
    assert abs(lowest) < 1e-9
