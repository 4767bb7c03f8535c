"""NumPy's rotations of whole recordings against scipy and against the JAX ones."""

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from qes_jax import rotations
from qes_jax.motion.frames import slerp, turn_points, turn_quats, yaw_of


def test_slerp_against_scipy():
    rng = np.random.default_rng(0)
    a, b = (Rotation.random(10, rng).as_quat(scalar_first=True) for _ in range(2))
    share = rng.uniform(size=10)
    for got, p, q, x in zip(slerp(a[:, None], b[:, None], share)[:, 0], a, b, share, strict=True):
        expected = Slerp([0, 1], Rotation.from_quat([p, q], scalar_first=True))(x).as_quat(scalar_first=True)
        np.testing.assert_allclose(np.abs(got @ expected), 1, atol=1e-12)


def test_heading_is_the_one_of_the_environment():
    quat = Rotation.random(200, np.random.default_rng(1)).as_quat(scalar_first=True)
    quat = np.concatenate([quat, [[np.sqrt(0.5), 0, np.sqrt(0.5), 0], [1.0, 0, 0, 0]]])
    expected = np.asarray(rotations.heading(quat.astype(np.float32)))
    got = yaw_of(quat)
    np.testing.assert_allclose(
        np.abs(expected[:, 0] * np.cos(got / 2) + expected[:, 3] * np.sin(got / 2)), 1, atol=1e-5
    )


def test_turns_against_scipy():
    by, point = Rotation.from_euler("z", 0.7), np.array([1.0, -2.0, 3.0])
    np.testing.assert_allclose(turn_points(point, 0.7), by.apply(point), atol=1e-12)
    quat = Rotation.random(5, np.random.default_rng(2))
    got = turn_quats(quat.as_quat(scalar_first=True), 0.7)
    np.testing.assert_allclose((by * quat).approx_equal(Rotation.from_quat(got, scalar_first=True)), True)
