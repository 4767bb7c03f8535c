"""The standing jump: flights by the laws of falling, states in order, landings near where they should be."""

from dataclasses import replace

import numpy as np
import pytest

from qes_jax.control.body import load_body
from qes_jax.control.fast import Fast
from qes_jax.control.flight import Flight, airtime, catch_time, standing_offsets
from qes_jax.control.jump import VARIANTS, Jump, State
from qes_jax.control.leap import LOW, run_jump
from qes_jax.control.simulate import Stage


def test_airtime_obeys_the_law_of_falling() -> None:
    for speed, fall in ((2.0, 0.0), (1.5, 0.1), (2.2, -0.05)):
        t = airtime(speed, fall)
        assert speed * t - 0.5 * 9.81 * t**2 == pytest.approx(-fall, abs=1e-9)
        assert speed - 9.81 * t < 0


def test_a_pendulum_caught_at_the_capture_point_comes_to_rest() -> None:
    height, x, v, dt = 0.9, 0.0, 0.6, 1e-4
    foot = v * catch_time(height)
    for _ in range(int(1.2 / dt)):
        v += dt * 9.81 / height * (x - foot)
        x += dt * v
    assert abs(v) < 0.02 and abs(x - foot) < 0.01


def test_offsets_go_from_leaving_to_landing_and_turn_in_between() -> None:
    left = np.array([[0.0, 0.1, -0.9], [0.0, -0.1, -0.9]])
    land = left + np.array([0.05, 0.0, 0.1])
    flight = Flight(1.0, 0.0, 0.0, 0.4, left, land, spread=0.5, swing=(0.8, 0.0))
    for side in (0, 1):
        np.testing.assert_allclose(flight.offset(side, 1.0), left[side])
        np.testing.assert_allclose(flight.offset(side, 1.4), land[side], atol=1e-12)
    middle = np.array([flight.offset(side, 1.2) for side in (0, 1)])
    assert middle[0, 1] > 0.3 and middle[1, 1] < -0.4  # both outwards, the swung one less
    assert middle[0, 0] > 0.4 and abs(middle[1, 0]) < 0.05  # the left one forwards
    np.testing.assert_allclose(np.linalg.norm(middle, axis=1), np.linalg.norm(0.5 * (left + land), axis=1))


def test_ankles_stand_beside_each_other_below_the_centre_of_mass() -> None:
    left, right = standing_offsets(load_body())
    np.testing.assert_allclose(left * [1, -1, 1], right, atol=1e-6)
    assert left[2] < -0.8


@pytest.mark.slow
def test_the_states_follow_each_other() -> None:
    body = load_body("infant")
    jump = Jump(body, replace(VARIANTS["up"], stand_time=0.1))
    stage, seen = Stage(body, jump, Fast(), low=LOW), [State.STAND]
    while stage.data.time < 2.0 and not (seen[-1] is State.STAND and len(seen) > 1):
        stage.tick()
        if jump.state is not seen[-1]:
            seen.append(jump.state)
    assert seen == [*State, State.STAND]


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_lands(variant: str) -> None:
    result, _ = run_jump(load_body(), VARIANTS[variant], Fast, seed=0)
    assert not result.fell
    assert result.height > 0.15 and result.flight_s > 0.35
    assert result.landing_error < 0.05
    if variant == "twist":
        assert result.turned > 0.7


@pytest.mark.slow
def test_a_leg_that_kicks_does_not_turn_the_way_the_feet_land() -> None:
    """From this start the body fell as long as the ankles followed the root's heading, which answers the kick."""
    result, _ = run_jump(load_body(), VARIANTS["kick"], Fast, seed=3)
    assert not result.fell
    assert abs(result.turned) < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["infant", "ostrich", "dinosaur"])
def test_other_bodies_jump_with_the_same_controller(name: str) -> None:
    body = load_body(name)
    result, _ = run_jump(body, VARIANTS["up"], Fast)
    assert not result.fell
    assert result.height > 0.1 * body.com_height
    assert result.landing_error < 0.1 * body.com_height


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), [("humanoid_arms2", 4), ("humanoid_legs2", 0), ("humanoid_limbs2", 0)])
def test_doubled_limbs_land_where_they_left(name: str, seed: int) -> None:
    """Hands that reached the floor in the crouch, or hips at their stops, threw these bodies 30 to 80 cm off."""
    result, _ = run_jump(load_body(name), VARIANTS["up"], Fast, seed=seed)
    assert not result.fell
    assert result.height > 0.1
    assert result.landing_error < 0.08
