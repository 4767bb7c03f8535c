"""AMASS archives: the joints against SMPL's own chain of transforms, and what broken files are told."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from qes_jax.motion.formats.amass import JOINTS, PELVIS, UPRIGHT, is_amass, read_amass
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.skeleton import forward, rest

FRAMES = 5


def fields(seed: int = 0, width: int = 156) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    poses, trans = rng.normal(0.0, 0.7, (FRAMES, width)), rng.normal(0.0, 1.0, (FRAMES, 3))
    return {"poses": poses, "trans": trans, "mocap_framerate": np.array(120.0)}


def save(folder, **arrays):
    np.savez(folder / "motion.npz", **arrays)
    return folder / "motion.npz"


def smpl_joints(poses: np.ndarray, trans: np.ndarray) -> np.ndarray:
    """(T, 22, 3) by the model's definition: 4x4 transforms down the tree about the joints at rest, then `trans`."""
    names = [name for name, *_ in JOINTS]
    result = np.zeros((len(poses), len(names), 3))
    for t, pose in enumerate(poses):
        chain = {}
        for j, (name, parent, offset) in enumerate(JOINTS):
            here = np.eye(4)
            here[:3, :3] = Rotation.from_rotvec(pose[3 * j : 3 * j + 3]).as_matrix()
            here[:3, 3] = PELVIS if parent is None else offset
            chain[name] = here if parent is None else chain[parent] @ here
            result[t, j] = chain[name][:3, 3] + trans[t]
    return result


@pytest.mark.parametrize("width", [72, 156, 165])
def test_joints_stand_where_the_model_puts_them(tmp_path, width) -> None:
    arrays = fields(width=width)
    motion = read_amass(save(tmp_path, **arrays))
    expected = smpl_joints(arrays["poses"], arrays["trans"])
    np.testing.assert_allclose(forward(motion)[0], expected, atol=1e-9)
    assert motion.fps == 120.0 and motion.duration == (FRAMES - 1) / 120


def test_both_spellings_of_fields_read_alike(tmp_path) -> None:
    arrays = fields()
    old = read_amass(save(tmp_path, **arrays))
    poses = arrays["poses"]
    new = {"root_orient": poses[:, :3], "pose_body": poses[:, 3:66], "trans": arrays["trans"]}
    path = save(tmp_path, **new, mocap_frame_rate=np.array([60]), labels=np.array([{}, "an object"], object))
    assert is_amass(path)
    motion = read_amass(path)
    np.testing.assert_allclose(motion.quat, old.quat)
    assert motion.fps == 60.0 and read_amass(path, fps=30.0).fps == 30.0


def test_another_upward_axis_turns_the_motion_and_not_the_rest_pose(tmp_path) -> None:
    arrays = fields()
    path = save(tmp_path, **arrays)
    motion = read_amass(path, up="y")
    x, y, z = np.moveaxis(smpl_joints(arrays["poses"], arrays["trans"]), -1, 0)
    np.testing.assert_allclose(forward(motion)[0], np.stack([x, -z, y], axis=-1), atol=1e-9)
    np.testing.assert_array_equal(rest(motion)[0], rest(read_amass(path))[0])


def test_the_body_rests_upright_with_its_arms_out(tmp_path) -> None:
    place = dict(zip((n for n, *_ in JOINTS), rest(read_amass(save(tmp_path, **fields())))[0], strict=True))
    assert 1.4 < place["head"][2] - place["left_foot"][2] < 1.6
    assert place["left_wrist"][1] > 0.6 and place["right_wrist"][1] < -0.6  # left is +Y
    assert place["left_foot"][0] - place["left_ankle"][0] > 0.1  # toes point to +X
    assert np.isclose(np.linalg.norm(UPRIGHT), 1.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trans": None}, "field trans is missing"),
        ({"poses": None}, "field root_orient is missing"),
        ({"mocap_framerate": None}, "field mocap_framerate"),
        ({"mocap_framerate": np.array("fast")}, "field mocap_framerate"),
        ({"mocap_framerate": np.array(0.0)}, "expected a rate"),
        ({"poses": np.zeros((FRAMES, 60))}, "field poses has 60 columns"),
        ({"poses": np.tile([1.0, 0, 0, 0], (FRAMES, 52))}, "field poses has 208 columns.*52 quaternions"),
        ({"poses": np.full((FRAMES, 72), 40.0)}, "field poses turns by up to 69.3 rad; is it in degrees"),
        ({"betas": np.full(16, np.nan)}, "field betas is"),
        ({"poses": np.zeros((FRAMES + 1, 156))}, "field trans holds 5 frames"),
        ({"poses": np.array([{}] * FRAMES, object)}, "field poses: it holds Python objects"),
        ({"trans": np.zeros((FRAMES, 2))}, "field trans is float64 of shape"),
        ({"trans": np.full((FRAMES, 3), np.nan)}, "field trans is not finite at frame 0"),
        ({"trans": np.zeros((FRAMES, 3), "U3")}, "field trans is <U3"),
    ],
)
def test_an_error_names_file_and_field(tmp_path, change, message) -> None:
    arrays = {k: v for k, v in (fields() | change).items() if v is not None}
    with pytest.raises(RecordingError, match=message) as caught:
        read_amass(save(tmp_path, **arrays))
    assert "motion.npz" in str(caught.value)


@settings(max_examples=60, deadline=None)
@given(at=st.integers(0, 10**6), noise=st.binary(min_size=1, max_size=40), cut=st.booleans())
def test_garbage_is_read_or_refused(tmp_path_factory, at, noise, cut) -> None:
    path = save(tmp_path_factory.mktemp("amass"), **fields())
    content = bytearray(path.read_bytes())
    at %= len(content)
    content[at : len(content) if cut else at + len(noise)] = noise
    path.write_bytes(content)
    is_amass(path)
    try:
        assert read_amass(path).quat.shape == (FRAMES, 22, 4)
    except RecordingError as error:
        assert "motion.npz" in str(error)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"{}", b"\x93NUMPY"])
def test_another_file_is_not_taken_for_one(tmp_path, content) -> None:
    path = tmp_path / "other.npz"
    path.write_bytes(content)
    assert not is_amass(path)
    with pytest.raises(RecordingError, match=r"other\.npz"):
        read_amass(path)
