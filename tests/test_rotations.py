"""Rotations against SciPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from qes_jax import rotations as r

RNG = np.random.default_rng(0)
TURNS = Rotation.random(64, random_state=1)
OTHERS = Rotation.random(64, random_state=2)
VECTORS = RNG.normal(size=(64, 3)).astype(np.float32)


def wxyz(turns: Rotation) -> jax.Array:
    return jnp.asarray(turns.as_quat(scalar_first=True), jnp.float32)


def same_turn(a, b, atol=1e-5) -> None:
    """Equal up to sign."""
    np.testing.assert_allclose(np.abs(np.sum(np.asarray(a) * np.asarray(b), axis=-1)), 1.0, atol=atol)


def test_product_rotation_and_matrix_are_scipys():
    same_turn(r.quat_mul(wxyz(TURNS), wxyz(OTHERS)), wxyz(TURNS * OTHERS))
    same_turn(r.quat_conj(wxyz(TURNS)), wxyz(TURNS.inv()))
    np.testing.assert_allclose(r.rotate(wxyz(TURNS), VECTORS), TURNS.apply(VECTORS), atol=1e-5)
    np.testing.assert_allclose(r.to_matrix(wxyz(TURNS)), TURNS.as_matrix(), atol=1e-5)


def test_six_d_is_the_first_two_columns():
    m = TURNS.as_matrix()
    np.testing.assert_allclose(r.six_d(wxyz(TURNS)), np.concatenate([m[..., 0], m[..., 1]], axis=-1), atol=1e-5)


def test_rotation_vectors_go_there_and_back():
    vectors = TURNS.as_rotvec()
    np.testing.assert_allclose(r.rotation_vector(wxyz(TURNS)), vectors, atol=2e-4)
    same_turn(r.from_rotation_vector(jnp.asarray(vectors, jnp.float32)), wxyz(TURNS))
    same_turn(r.axis_angle(jnp.array([0.0, 1.0, 0.0]), jnp.float32(0.7)), wxyz(Rotation.from_euler("y", 0.7)))


def test_the_identity_has_finite_gradients():
    identity = jnp.array([1.0, 0.0, 0.0, 0.0])
    assert np.all(np.isfinite(jax.jacobian(r.rotation_vector)(identity)))
    assert np.all(np.isfinite(jax.jacobian(r.from_rotation_vector)(jnp.zeros(3))))


def test_angle_between_is_scipys_magnitude():
    np.testing.assert_allclose(
        r.angle_between(wxyz(TURNS), wxyz(OTHERS)), (TURNS.inv() * OTHERS).magnitude(), atol=2e-4
    )


@settings(deadline=None, max_examples=40)
@given(yaw=st.floats(-3.1, 3.1), pitch=st.floats(-1.3, 1.3), roll=st.floats(-3.1, 3.1))
def test_heading_of_a_turn_is_its_yaw(yaw, pitch, roll):
    turn = Rotation.from_euler("ZYX", [yaw, pitch, roll])
    same_turn(r.heading(wxyz(turn)), r.from_yaw(jnp.float32(yaw)), atol=1e-4)


@pytest.mark.parametrize("pitch", [-np.pi / 2, np.pi / 2])
def test_heading_of_a_lying_body_does_not_jump_by_noise(pitch):
    lying = [wxyz(Rotation.from_euler("ZYX", [0.4, pitch + noise, 0.0])) for noise in (-1e-3, 1e-3)]
    same_turn(r.heading(lying[0]), r.heading(lying[1]), atol=1e-4)
