"""Joint points with a list of names: spellings, units, axes, stand-ins, and what is refused."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qes_jax.motion.formats.points import is_points, read_names, read_points
from qes_jax.motion.formats.recording import RecordingError

FRAMES = 6
BODY = {  # someone upright, X forward, Z up [m]
    "hips": (0, 0, 0.95), "spine": (0, 0, 1.1), "chest": (0, 0, 1.25), "neck": (0, 0, 1.5), "head": (0.02, 0, 1.6),
    "left_shoulder": (0, 0.18, 1.42), "left_elbow": (0, 0.45, 1.42), "left_wrist": (0, 0.7, 1.42),
    "left_hip": (0, 0.09, 0.93), "left_knee": (0, 0.09, 0.5), "left_ankle": (0, 0.09, 0.08),
    "left_ball": (0.13, 0.09, 0.02),
}  # fmt: skip
BODY |= {n.replace("left", "right"): (x, -y, z) for n, (x, y, z) in BODY.items() if "left" in n}
ROLES = tuple(BODY)
MIXAMO = {
    "hips": "Hips", "spine": "Spine", "chest": "Spine2", "neck": "Neck", "head": "Head", "shoulder": "Arm",
    "elbow": "ForeArm", "wrist": "Hand", "hip": "UpLeg", "knee": "Leg", "ankle": "Foot", "ball": "ToeBase",
}  # fmt: skip


def motion(seed: int = 0) -> np.ndarray:
    """(T, P, 3): the body walks along X, each point trembling by a centimetre."""
    rng = np.random.default_rng(seed)
    steps = np.linspace(0, 0.3, FRAMES)[:, None, None] * [1.0, 0, 0]
    return np.array(list(BODY.values()))[None] + steps + rng.normal(0, 0.01, (FRAMES, len(BODY), 3))


def mixamo(role: str) -> str:
    side, _, part = role.rpartition("_")
    return "mixamorig:" + side.capitalize() + MIXAMO[part]


def unreal(role: str) -> str:
    side, _, part = role.rpartition("_")
    core = {"shoulder": "upperarm", "elbow": "lowerarm", "wrist": "hand", "hip": "thigh", "knee": "calf",
            "ankle": "foot", "hips": "pelvis", "spine": "spine_01", "chest": "spine_03", "neck": "neck_01"}  # fmt: skip
    return core.get(part, part) + (f"_{side[0]}" if side else "")


@pytest.mark.parametrize("spelling", [str, mixamo, unreal, lambda r: "".join(w.capitalize() for w in r.split("_"))])
def test_points_are_found_however_they_are_spelt(tmp_path, spelling) -> None:
    points = motion()
    np.savez(tmp_path / "m.npz", points=points, names=[spelling(r) for r in ROLES], fps=50.0)
    assert is_points(tmp_path / "m.npz")
    recording = read_points(tmp_path / "m.npz")
    assert set(recording.names) == set(ROLES) and recording.fps == 50.0
    for number, role in enumerate(ROLES):
        np.testing.assert_allclose(recording.point(role), points[:, number], atol=1e-12)


@pytest.mark.parametrize(("unit", "up"), [(0.001, "y"), (0.01, "z"), (1.0, "y")])
def test_unit_and_up_are_guessed_or_given(tmp_path, unit, up) -> None:
    points = motion() / unit
    if up == "y":
        points = np.stack([points[..., 1], points[..., 2], points[..., 0]], axis=-1)
    np.save(tmp_path / "m.npy", points)
    (tmp_path / "m.json").write_text(json.dumps(ROLES))
    for options in ({}, {"up": up, "unit": unit}):
        recording = read_points(tmp_path / "m.npy", fps=30.0, **options)
        np.testing.assert_allclose(recording.points[..., 2], motion()[..., _order(recording.names), 2], atol=1e-9)
        apart = np.linalg.norm(recording.point("left_wrist") - recording.point("right_wrist"), axis=-1)
        np.testing.assert_allclose(apart, 1.4, atol=0.06)
        assert (recording.up, recording.unit) == (up, unit)


def _order(names: tuple[str, ...]) -> list[int]:
    return [ROLES.index(n) for n in names]


def test_a_list_beside_the_file_or_given_names_the_points(tmp_path) -> None:
    np.save(tmp_path / "m.npy", motion())
    assert not is_points(tmp_path / "m.npy")
    with pytest.raises(RecordingError, match=r"m\.npy: .*give a joint list"):
        read_points(tmp_path / "m.npy", fps=30.0)
    (tmp_path / "other.txt").write_text("\r\n".join(ROLES) + "\n\n")
    assert read_names(tmp_path / "other.txt") == ROLES
    given = read_points(tmp_path / "m.npy", tmp_path / "other.txt", fps=30.0)
    (tmp_path / "m.txt").write_text("\n".join(ROLES))
    assert is_points(tmp_path / "m.npy")
    np.testing.assert_array_equal(read_points(tmp_path / "m.npy", fps=30.0).points, given.points)


def test_coco_has_neither_hips_nor_head(tmp_path) -> None:
    keep = [r for r in ROLES if r.split("_")[-1] in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")]
    points = motion()[:, [ROLES.index(r) for r in keep]]
    face = np.array([[0.12, 0, 1.62], [0.1, 0.03, 1.65], [0.1, -0.03, 1.65], [0.02, 0.07, 1.62], [0.02, -0.07, 1.62]])
    points = np.concatenate([np.tile(face, (FRAMES, 1, 1)), points], axis=1)
    names = ["nose", "left_eye", "right_eye", "left_ear", "right_ear", *keep]
    np.savez(tmp_path / "m.npz", points=points, names=names, fps=25)
    recording = read_points(tmp_path / "m.npz")
    hips = 0.5 * (recording.point("left_hip") + recording.point("right_hip"))
    np.testing.assert_allclose(recording.point("hips"), hips)
    np.testing.assert_allclose(recording.point("head"), np.tile([0.02, 0, 1.62], (FRAMES, 1)), atol=1e-12)
    assert recording.anchors[recording.names.index("head")].offset[2] > 0.1  # ears are above the neck's joint


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": ROLES[:-1]}, "17|16|points, but"),
        ({"names": ("hips",) * len(ROLES)}, "not distinct"),
        ({"names": tuple(f"p{i}" for i in range(len(ROLES)))}, "no point is known to be hips, head, left_shoulder"),
        ({"names": np.arange(len(ROLES))}, "field names is int64"),
        ({"names": np.array([{}], object)}, "field names: it holds Python objects"),
        ({"fps": -1.0}, "field fps is"),
        ({"fps": None}, "frame rate is not known"),
        ({"points": None}, "field points is missing"),
        ({"points": np.zeros((FRAMES, len(ROLES), 2))}, "expected numbers of shape"),
        ({"points": np.full((FRAMES, len(ROLES), 3), np.inf)}, "field points is not finite at frame 0"),
        ({"points": np.full((FRAMES, len(ROLES), 3), 1e12)}, r"field points is over 1e\+09 at frame 0"),
        ({"points": np.zeros((FRAMES, len(ROLES), 3))}, "m.npz"),
    ],
)
def test_an_error_names_file_and_field(tmp_path, change, message) -> None:
    arrays = {"points": motion(), "names": np.array(ROLES), "fps": 30.0} | change
    np.savez(tmp_path / "m.npz", **{k: v for k, v in arrays.items() if v is not None})
    with pytest.raises(RecordingError, match=message):
        read_points(tmp_path / "m.npz")


@settings(max_examples=60, deadline=None)
@given(at=st.integers(0, 10**5), noise=st.binary(min_size=1, max_size=30), cut=st.booleans(), text=st.binary())
def test_garbage_is_read_or_refused(tmp_path_factory, at, noise, cut, text) -> None:
    folder = tmp_path_factory.mktemp("points")
    np.save(folder / "m.npy", motion())
    (folder / "list.txt").write_text("\n".join(ROLES))
    (folder / "odd.json").write_bytes(text)
    content = bytearray((folder / "m.npy").read_bytes())
    at %= len(content)
    content[at : len(content) if cut else at + len(noise)] = noise
    (folder / "noisy.npy").write_bytes(content)
    for file, names in (("noisy.npy", "list.txt"), ("m.npy", "odd.json")):
        try:
            assert np.isfinite(read_points(folder / file, folder / names, fps=30.0).points).all()
        except RecordingError as error:
            assert file in str(error) or names in str(error)
