"""Readers of foreign recordings: boxes, joint points, DeepMimic; what they make of good files and of broken ones."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qes_jax.motion.formats.boxes import read_box
from qes_jax.motion.formats.deepmimic import WIDTH, read_deepmimic
from qes_jax.motion.formats.holosoma import JOINTS, read_holosoma
from qes_jax.motion.formats.read import Choices, read_recording
from qes_jax.motion.formats.recording import RecordingError, crop, resample, scaled
from qes_jax.motion.formats.skeleton import forward


def corners(size: tuple[float, float, float], pos: np.ndarray, yaw: float) -> np.ndarray:
    """(8, 3) corners of a box that stands on `pos`."""
    signs = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (0.0, 1.0)])
    turn = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
    return (signs * size) @ turn.T + pos


def write_obj(path: Path, vertices: np.ndarray) -> Path:
    path.write_text("# a box\n" + "".join(f"v {x:.8f} {y:.8f} {z:.8f}\n" for x, y, z in vertices) + "f 1 2 3\n")
    return path


@settings(max_examples=60, deadline=None)
@given(
    size=st.tuples(*[st.floats(0.1, 2.0)] * 3), yaw=st.floats(-3.2, 3.2), seed=st.integers(0, 99), lift=st.floats(0, 1)
)
def test_a_box_comes_back_as_the_same_solid(tmp_path_factory, size, yaw, seed, lift) -> None:
    rng = np.random.default_rng(seed)
    vertices = corners(size, np.array([*rng.uniform(-2, 2, 2), lift]), yaw)
    piece = read_box(write_obj(tmp_path_factory.mktemp("obj") / "crate.obj", rng.permutation(vertices)))
    again = corners(piece.size, np.array(piece.pos), piece.yaw)
    apart = np.linalg.norm(vertices[:, None] - again, axis=-1)
    assert apart.min(axis=0).max() < 1e-5 and apart.min(axis=1).max() < 1e-5
    assert piece.name == "crate" and abs(piece.yaw) <= np.pi / 4 + 1e-6


def tilted(vertices: np.ndarray) -> np.ndarray:
    c, s = np.cos(0.2), np.sin(0.2)
    return vertices @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v[:7], "7 distinct vertices"),
        (lambda v: np.concatenate([v, v + 1]), "16 distinct vertices"),
        (tilted, "at its lowest height"),
        (lambda v: v + 0.2 * v[:, [1]] * [1, 0, 0], "cm away"),
        (lambda v: v * np.where(v[:, [2]] > 0.1, 0.8, 1.0), "cm away"),
        (lambda v: v[:0], "no vertices"),
    ],
)
def test_what_is_no_upright_box_is_refused(tmp_path, change, message) -> None:
    vertices = change(corners((1.0, 0.6, 0.4), np.zeros(3), 0.3))
    with pytest.raises(RecordingError, match=rf"a\.obj: .*{message}"):
        read_box(write_obj(tmp_path / "a.obj", vertices))


def test_a_broken_vertex_names_its_line(tmp_path) -> None:
    path = tmp_path / "a.obj"
    path.write_text("v 0 0 0\nv 1 x 0\n")
    with pytest.raises(RecordingError, match=r"a\.obj, line 2"):
        read_box(path)


def test_the_climbs_boxes(recordings: Path) -> None:
    boxes = [read_box(p) for p in sorted((recordings / "holosoma_climb" / "seq_0").glob("*.obj"))]
    assert [round(b.size[2], 3) for b in boxes] == [0.95, 0.47, 0.18]
    assert np.allclose(sorted(boxes[0].size[:2]), [0.48, 1.6], atol=1e-3) and abs(boxes[0].yaw) > 0.05


def test_joint_points_of_a_wrong_shape_or_not_finite(tmp_path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.zeros((10, 52, 3), np.float32))
    with pytest.raises(RecordingError, match=r"a\.npy: .*\(10, 52, 3\)"):
        read_holosoma(path)
    points = np.zeros((10, len(JOINTS), 3), np.float32)
    points[7, JOINTS.index("Head"), 1] = np.nan
    np.save(path, points)
    with pytest.raises(RecordingError, match=r"a\.npy: points of Head are not finite at frame 7"):
        read_holosoma(path)
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(RecordingError, match=r"a\.npy: not a readable"):
        read_holosoma(path)


def deepmimic_rows(frames: int = 6) -> list[list[float]]:
    """The skeleton at rest, walking forward 0.1 m a frame."""
    unit = [1.0, 0.0, 0.0, 0.0]
    pose = [*unit * 3, *unit, 0.0, *unit, *unit, 0.0, *unit, 0.0, *unit, *unit, 0.0]
    return [[1 / 30, 0.1 * t, 0.9, 0.0, *pose] for t in range(frames)]


def write_deepmimic(path: Path, rows: list, loop: str = "wrap") -> Path:
    path.write_text(json.dumps({"Loop": loop, "Frames": rows}))
    return path


def test_the_deepmimic_skeleton_at_rest(tmp_path) -> None:
    assert len(deepmimic_rows()[0]) == WIDTH
    motion = read_deepmimic(write_deepmimic(tmp_path / "a.txt", deepmimic_rows()))
    place = forward(motion)[0]
    ankle, head = place[0, motion.index("left_ankle")], place[0, motion.index("neck")]
    assert np.allclose(ankle, [0.0, 0.084887, 0.9 - 0.421546 - 0.40987])  # Z up, left is +Y
    assert np.allclose(head, [0.0, 0.0, 0.9 + 0.236151 + 0.223894])
    assert np.isclose(motion.fps, 30) and np.allclose(place[:, 0, 0], 0.1 * np.arange(6))


def test_a_knee_bends_backwards_and_a_root_turns(tmp_path) -> None:
    rows = deepmimic_rows()
    knee = 1 + 3 + 4 * 4 + 1 - 1  # after duration, root position, and the root's, chest's, neck's and hip's quaternions
    for row in rows:
        row[knee + 0] = -np.pi / 2
        row[4:8] = [np.cos(np.pi / 4), 0, np.sin(np.pi / 4), 0]  # a quarter turn about Y (up) to the left
    motion = read_deepmimic(write_deepmimic(tmp_path / "a.txt", rows))
    place = forward(motion)[0]
    shin = place[0, motion.index("right_ankle")] - place[0, motion.index("right_knee")]
    assert np.allclose(shin, [0.0, -0.40987, 0.0], atol=1e-9)  # behind a body that faces +Y


def test_a_cycle_goes_on_where_it_ended(tmp_path) -> None:
    recording = read_recording(write_deepmimic(tmp_path / "a.txt", deepmimic_rows()), choices=Choices(repeat=3))[1]
    assert np.allclose(recording.point("head")[:, 0], 0.1 * np.arange(16))
    with pytest.raises(RecordingError, match="not cyclic"):
        read_recording(write_deepmimic(tmp_path / "b.txt", deepmimic_rows(), "none"), choices=Choices(repeat=2))


def test_broken_deepmimic_files_name_field_and_frame(tmp_path) -> None:
    whole = write_deepmimic(tmp_path / "a.txt", deepmimic_rows())
    (tmp_path / "cut.txt").write_text(whole.read_text()[:-40])
    rows = deepmimic_rows()
    rows[4][9] = float("nan")
    cases = {
        tmp_path / "cut.txt": "JSON",
        write_deepmimic(tmp_path / "nan.txt", rows): "Frames, frame 4",
        write_deepmimic(tmp_path / "short.txt", [*deepmimic_rows()[:3], [0.1] * 5]): "frame 3: 5 numbers, expected 44",
        write_deepmimic(tmp_path / "still.txt", [[0.0, *r[1:]] for r in deepmimic_rows()]): "frame 0: its duration",
    }
    for path, message in cases.items():
        with pytest.raises(RecordingError, match=rf"{path.name}: .*{message}"):
            read_recording(path)


def test_an_unknown_format_is_named(tmp_path) -> None:
    (tmp_path / "a.xyz").write_text("hello")
    with pytest.raises(RecordingError, match=r"a\.xyz: unknown format, expected one of"):
        read_recording(tmp_path / "a.xyz")
    with pytest.raises(RecordingError, match="no such file"):
        read_recording(tmp_path / "b.npy")


HEADS = [
    *(b"", b"HIERARCHY\nROOT a\n{\n", b":FULLY-SPECIFIED\n", b"glTF\x02\0\0\0"),
    *(b'{"Frames": ', b"\x93NUMPY", b"PK\x03\x04"),
]


@settings(max_examples=150, deadline=None)
@given(
    head=st.sampled_from(HEADS),
    content=st.binary(max_size=200),
    ending=st.sampled_from([".bvh", ".amc", ".asf", ".glb", ".gltf", ".npz", ".npy", ".json", ".txt", ""]),
)
def test_garbage_of_any_kind_is_refused(tmp_path_factory, head, content, ending) -> None:
    path = tmp_path_factory.mktemp("any") / f"a{ending}"
    path.write_bytes(head + content)
    with pytest.raises(RecordingError, match="a"):
        read_recording(path)


def test_crop_resample_scale(tmp_path) -> None:
    recording = read_recording(write_deepmimic(tmp_path / "a.txt", deepmimic_rows(31)))[1]
    part = crop(recording, 0.5, 0.9)
    assert np.allclose(part.point("hips")[[0, -1], 0], [1.5, 2.7])
    assert np.allclose(resample(part, 36).point("hips")[:, 0], 1.5 + np.arange(15) / 36 * 3)
    assert np.allclose(scaled(part, 2.0).points, 2 * part.points)
    with pytest.raises(RecordingError, match=r"cannot cut 0\.5 to 9 s"):
        crop(recording, 0.5, 9)


def test_all_recordings_of_these_formats_are_read(recordings: Path) -> None:
    motions = [p for p in (recordings / "deepmimic").glob("humanoid3d_*.txt") if "skeleton" not in p.name]
    for path in motions:
        kind, recording = read_recording(path)
        feet = recording.points[:, [i for i, n in enumerate(recording.names) if "ball" in n], 2]
        assert kind == "DeepMimic" and -0.1 < feet.min() < 0.1, path.name
    climbs = sorted((recordings / "holosoma_climb").glob("*/*.npy"))
    for path in climbs:
        kind, recording = read_recording(path)
        assert kind == "holosoma_climb" and recording.fps == 120 and 23 < recording.duration < 26
