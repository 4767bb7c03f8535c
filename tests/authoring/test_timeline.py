"""Time lines against what defines them: minimum jerk, end conditions, SciPy's rotations."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from qes_jax.authoring.timeline import ease, hermite, keyed, ramp, spline, turned


def test_ease_starts_and_ends_at_rest_without_acceleration() -> None:
    u = np.linspace(0, 1, 2001)
    speed = np.gradient(ease(u), u)
    acceleration = np.gradient(speed, u)
    assert ease(np.array([-1.0, 0.0, 0.5, 1.0, 2.0])) == pytest.approx([0, 0, 0.5, 1, 1])
    assert np.abs(speed[[0, -1]]).max() < 1e-4
    assert np.abs(acceleration[[1, -2]]).max() < 0.1
    assert speed.max() == pytest.approx(1.875, abs=1e-3)  # 15 / 8, Flash & Hogan 1985


def test_a_ramp_falls_where_its_end_comes_first() -> None:
    assert ramp(np.array([0.0, 1.0, 2.0, 3.0]), 2.0, 1.0) == pytest.approx([1, 1, 0, 0])


def test_keys_are_met_and_held() -> None:
    keys = [(1.0, (0.0, 1.0)), (2.0, (3.0, -1.0)), (4.0, (5.0, 5.0))]
    for course in (keyed, spline):
        values = course(np.array([0.0, 1.0, 2.0, 4.0, 9.0]), keys)
        assert values == pytest.approx(np.array([[0, 1], [0, 1], [3, -1], [5, 5], [5, 5]], float))


def test_hermite_meets_positions_velocities_and_brake() -> None:
    u, seconds = np.linspace(0, 1, 4001), 0.5
    course = hermite(u, [0.0], [2.0], [1.0], [-3.0], seconds, brake=6.0)[:, 0]
    speed = np.gradient(course, u * seconds, edge_order=2)
    acceleration = np.gradient(speed, u * seconds, edge_order=2)
    assert (course[0], course[-1]) == (0.0, pytest.approx(2.0))
    assert (speed[0], speed[-1]) == (pytest.approx(1.0, abs=1e-3), pytest.approx(-3.0, abs=1e-3))
    assert acceleration[1] == pytest.approx(0.0, abs=0.3)  # of up to 48
    assert acceleration[-2] == pytest.approx(-6.0 * 2.0 / seconds**2, abs=0.3)


def test_turned_is_yaw_then_pitch_then_roll() -> None:
    one = turned(0.3, 0.2, -0.1)
    other = Rotation.from_rotvec([0, 0, 0.3]) * Rotation.from_rotvec([0, 0.2, 0]) * Rotation.from_rotvec([-0.1, 0, 0])
    assert (one.inv() * other).magnitude() < 1e-12
