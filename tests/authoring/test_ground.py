"""What a motion asks of the ground, against rigid motions worked out by hand, and of our own walks."""

import numpy as np
import pytest

from qes_jax.authoring.balance import GRAVITY
from qes_jax.authoring.body import Body, make_body
from qes_jax.authoring.catalogue import get_recipe
from qes_jax.authoring.ground import push, steady
from qes_jax.authoring.ik import solve
from qes_jax.authoring.targets import stretch
from qes_jax.motion.clip import FPS

T = np.arange(144) / FPS
INNER = slice(18, -18)


@pytest.fixture(scope="module")
def body() -> Body:
    return make_body()


def _moved(body: Body, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The stiff body moved as a whole, qpos (T, nq)."""
    rows = np.tile(body.world.layout.home_qpos, (len(T), 1))
    rows[:, 0] += x
    rows[:, 2] += z
    return rows


def test_a_body_at_rest_weighs_itself_below_its_centre(body: Body) -> None:
    force, place = push(body.world, _moved(body, 0 * T, 0 * T))
    assert force == pytest.approx(1.0)
    assert np.ptp(place, axis=0) == pytest.approx(0.0, abs=1e-9)


def test_bouncing_changes_the_force_and_swaying_its_place(body: Body) -> None:
    rate, size = 2 * np.pi * 0.5, 0.1
    wave = size * np.sin(rate * T)
    still = push(body.world, _moved(body, 0 * T, 0 * T))[1][0]
    force, _ = push(body.world, _moved(body, 0 * T, wave))
    assert force[INNER] == pytest.approx((1 - rate**2 * wave / GRAVITY)[INNER], abs=0.003)
    _, place = push(body.world, _moved(body, wave, 0 * T))
    _, higher = push(body.world, _moved(body, wave, 0 * T), ground=-0.5)
    far = np.flatnonzero(np.abs(wave) > 0.07)[5:-5]
    height = ((place[far, 0] - still[0]) / wave[far] - 1) * GRAVITY / rate**2  # x'' = g / h (x - p)
    assert height == pytest.approx(height.mean(), abs=0.02)
    assert 0.85 < height.mean() < 1.05
    assert (higher - place)[INNER, 0] == pytest.approx((0.5 * rate**2 * wave / GRAVITY)[INNER], abs=0.002)


def test_a_falling_body_needs_no_ground(body: Body) -> None:
    force, _ = push(body.world, _moved(body, 0 * T, -0.5 * GRAVITY * T**2))
    assert force[INNER] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("name", ["walk", "walk_fast"])
def test_our_walks_push_where_their_steps_planned(body: Body, name: str) -> None:
    recipe = get_recipe(name)
    targets = stretch(recipe.tell(body, np.random.default_rng(recipe.seed)), 0, 360)
    error = {}
    for key, made in (("steady", steady(body, targets)), ("pendulum alone", targets)):
        force, place = push(body.world, solve(body, made))
        known = np.isfinite(targets.pressure[:, 0])
        error[key] = np.linalg.norm((place - targets.pressure[:, :2])[known][5:-5], axis=1)
    assert error["steady"].mean() < 0.04
    assert error["steady"].mean() < 0.3 * error["pendulum alone"].mean()
    assert force.min() > 0.5 and force.max() < 1.7
