"""Readers of headset recordings: conversions against scipy and geometry, faults as devices make them, and garbage."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from qes_jax.motion.formats.aframe import from_three, read_aframe
from qes_jax.motion.formats.device import make_stream
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.vive_csv import COLUMNS, from_unity, read_vive_csv
from qes_jax.motion.sensors import read_device

QUIET = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def table(rows: int = 40) -> np.ndarray:
    """Samples at 90 Hz in Unity's frame: the person walks along Unity's Z, the right hand to the right."""
    time = np.arange(rows) / 90
    cells = np.zeros((rows, 22))
    cells[:, 0] = time
    for n, (x, y) in enumerate([(0.0, 1.7), (-0.3, 1.0), (0.3, 1.0)]):
        cells[:, 1 + 7 * n : 4 + 7 * n] = np.stack([np.full(rows, x), np.full(rows, y), 0.5 + time], axis=1)
        cells[:, 7 + 7 * n] = 1.0
    return cells


def write_csv(path: Path, cells, header=COLUMNS) -> Path:
    path.write_text("\n".join([",".join(header), *(",".join(str(c) for c in row) for row in cells)]) + "\n")
    return path


def avatar(rows: int = 40) -> dict:
    """The same in A-Frame's form: three.js's frame, milliseconds, degrees."""
    return {
        key: {
            "poses": [
                {
                    "position": {"x": x, "y": y, "z": -0.5 - t / 90},
                    "rotation": {"x": 0.0, "y": 0.0, "z": roll},
                    "timestamp": 5000 + 1000 * t / 90,
                }
                for t in range(rows)
            ]
        }
        for key, x, y, roll in (("camera", 0.0, 1.7, 0.0), ("left", -0.3, 1.0, 90.0), ("right", 0.3, 1.0, -90.0))
    }


def write_json(path: Path, data) -> Path:
    path.write_text(json.dumps(data))
    return path


def test_both_formats_tell_the_same(tmp_path):
    unity = read_device(write_csv(tmp_path / "a.csv", table()))
    three = read_device(write_json(tmp_path / "a.JSON", avatar()))
    for a, b in zip(unity.streams, three.streams, strict=True):
        np.testing.assert_allclose(a.pos, b.pos, atol=1e-9)
        np.testing.assert_allclose(a.quat, b.quat, atol=1e-9)
        np.testing.assert_allclose(a.time, b.time - 5, atol=1e-9)
    head, left, right = unity.streams
    assert head.pos[0].tolist() == [0.5, 0.0, 1.7] and left.pos[0, 1] == 0.3 and right.pos[0, 1] == -0.3
    assert unity.streams[0].rate == pytest.approx(90) and unity.eye_height() == pytest.approx(1.7)


def test_unity_quaternions_turn_unity_vectors():
    """Unity turns a vector by a right-handed quaternion's formula, applied to left-handed coordinates."""
    rng = np.random.default_rng(0)
    xyzw, vectors = Rotation.random(20, rng).as_quat(), rng.normal(size=(20, 3))
    turned = Rotation.from_quat(xyzw).apply(vectors)

    def ours(v):
        return np.stack([v[:, 2], -v[:, 0], v[:, 1]], axis=1)

    got = Rotation.from_quat(from_unity(xyzw), scalar_first=True).apply(ours(vectors))
    np.testing.assert_allclose(got, ours(turned), atol=1e-12)


def test_looking_left_in_unity_is_looking_left_here():
    """A positive turn about Unity's Y goes to the right; one about X dips the nose."""
    half = np.radians(30) / 2
    left, down = from_unity(np.array([[0, np.sin(-half), 0, np.cos(half)], [np.sin(half), 0, 0, np.cos(half)]]))
    assert Rotation.from_quat(left, scalar_first=True).apply([1, 0, 0])[1] == pytest.approx(0.5)
    assert Rotation.from_quat(down, scalar_first=True).apply([1, 0, 0])[2] == pytest.approx(-0.5)


def test_three_angles_are_yaw_then_pitch_then_roll():
    """In three.js a positive y turns left, a positive x looks up, and a positive z lowers the left side."""
    for angles, expected in (
        (
            [30.0, 40.0, 0.0],
            [np.cos(np.radians(30)) * np.cos(np.radians(40)), np.cos(np.radians(30)) * np.sin(np.radians(40)), 0.5],
        ),
        ([0.0, -90.0, 20.0], [0.0, -1.0, 0.0]),
    ):
        turn = Rotation.from_quat(from_three(np.array([angles])), scalar_first=True)
        np.testing.assert_allclose(turn.apply([1.0, 0, 0])[0], expected, atol=1e-12)
    assert Rotation.from_quat(from_three(np.array([[0, 0, 20.0]])), scalar_first=True).apply([0, 1.0, 0])[0, 2] < 0


def test_what_a_device_leaves_out_is_left_out(tmp_path):
    """An all-zero first frame, repeated timestamps and lost samples, as recorded."""
    cells = table()
    cells[0, 1:] = 0
    cells[1:4, 0] = 0.0
    cells[10, 8:15] = 0
    text = [list(row) for row in cells]
    text[20][1] = ""
    text[21][1] = "nan"
    head, left, right = read_device(write_csv(tmp_path / "a.csv", text)).streams
    assert (head.lost, left.lost, right.lost) == (3, 2, 1) and head.repeated == 2
    np.testing.assert_array_equal(head.pos[0], [cells[3, 3], 0, 1.7])  # the newest of the three
    assert (np.diff(left.time) > 0).all() and len(left.time) == 40 - 4


def test_columns_in_any_order_among_others(tmp_path):
    cells, shuffle = table(), np.random.default_rng(0).permutation(22)
    cells = np.concatenate([np.full((40, 1), 7.0), cells[:, shuffle]], axis=1)
    path = write_csv(tmp_path / "a.csv", cells, ["battery", *(COLUMNS[i] for i in shuffle)])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n\r\n"))
    plain = read_device(write_csv(tmp_path / "b.csv", table()))
    for a, b in zip(read_device(path).streams, plain.streams, strict=True):
        np.testing.assert_array_equal(a.pos, b.pos)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda c: c.__setitem__((7, 0), -1.0), r"headset, line 9: time runs backwards"),
        (lambda c: c.__setitem__((7, 0), np.nan), r"headset, line 9: time is nan"),
        (lambda c: c.__setitem__((7, 8), 1700.0), r"left controller, line 9: position .* metres"),
        (lambda c: c.__setitem__((7, 21), 3.0), r"right controller, line 9: quaternion"),
        (lambda c: c.__setitem__((slice(1, None), slice(1, 8)), 0.0), r"headset: 1 of 40 samples"),
        (lambda c: c.__setitem__((slice(None), 0), c[:, 0] * 1e2), r"headset: time steps by 1.11111"),
    ],
)
def test_faults_of_a_session_name_device_and_line(tmp_path, spoil, message):
    cells = table()
    spoil(cells)
    with pytest.raises(RecordingError, match=rf"a\.csv: {message}"):
        read_vive_csv(write_csv(tmp_path / "a.csv", cells))


def test_faults_of_a_table_name_column_and_line(tmp_path):
    rows = [[str(x) for x in row] for row in table()]
    rows[5][8] = "left"
    with pytest.raises(RecordingError, match=r"a\.csv: line 7: left_pos_x is 'left'"):
        read_vive_csv(write_csv(tmp_path / "a.csv", rows))
    with pytest.raises(RecordingError, match=r"line 3: 20 cells"):
        read_vive_csv(write_csv(tmp_path / "a.csv", [rows[0], rows[1][:20]]))
    with pytest.raises(RecordingError, match="no column right_rot_w"):
        read_vive_csv(write_csv(tmp_path / "a.csv", [r[:21] for r in rows], COLUMNS[:21]))
    with pytest.raises(RecordingError, match="no samples"):
        read_vive_csv(write_csv(tmp_path / "a.csv", []))


def test_hands_go_by_name_then_by_gamepad(tmp_path):
    data = avatar()
    plain = read_aframe(write_json(tmp_path / "a.json", data))
    data["left"]["gamepad"] = {"hand": "right"}  # seen in a real file; the name counts
    named = read_aframe(write_json(tmp_path / "b.json", data))
    ids = {
        "camera": data["camera"],
        "one": data["right"] | {"gamepad": {"hand": "right"}},
        "two": data["left"] | {"gamepad": {"hand": "left"}},
    }
    told = read_aframe(write_json(tmp_path / "c.json", ids))
    for other in (named, told):
        for a, b in zip(plain.streams, other.streams, strict=True):
            np.testing.assert_array_equal(a.pos, b.pos)


def test_the_roll_of_hand_models_is_taken_back_only_where_it_is(tmp_path):
    rolled, bare = avatar(), avatar()
    for key in ("left", "right"):
        for pose in bare[key]["poses"]:
            pose["rotation"]["z"] = 0.0
    for a, b in zip(*(read_aframe(write_json(tmp_path / "a.json", d)).streams for d in (rolled, bare)), strict=True):
        np.testing.assert_allclose(np.abs(np.sum(a.quat * b.quat, axis=1)), 1)
    mixed = avatar()
    for t, pose in enumerate(mixed["left"]["poses"]):
        pose["rotation"]["z"] = 90.0 + 120.0 * np.cos(t)  # beyond 180 at times
    left = read_aframe(write_json(tmp_path / "a.json", mixed)).streams[1]
    np.testing.assert_allclose(np.degrees(2 * np.arctan2(left.quat[0, 1], left.quat[0, 0])), -120, atol=1e-6)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: d.pop("camera"), "0 entities for camera"),
        (lambda d: d.pop("left"), r"0 entities for left.*right"),
        (lambda d: d.update(left2=d["left"]), "2 entities for left"),
        (lambda d: d["left"].update(poses=[]), "left: no list of poses"),
        (lambda d: d["left"]["poses"].__setitem__(3, None), r"left\.poses\[3\]: holds a NoneType"),
        (lambda d: d["left"]["poses"][3].pop("rotation"), r"left\.poses\[3\]: rotation"),
        (lambda d: d["left"]["poses"][3]["position"].update(y="1"), r"left\.poses\[3\]: position\.y is '1'"),
        (lambda d: d["left"]["poses"][3].update(timestamp=0), r"left controller, poses\[3\]: time runs backwards"),
    ],
)
def test_faults_of_an_avatar_name_entity_and_pose(tmp_path, spoil, message):
    data = avatar()
    spoil(data)
    with pytest.raises(RecordingError, match=rf"a\.json: {message}"):
        read_aframe(write_json(tmp_path / "a.json", data))


def test_unknown_endings_and_absent_files(tmp_path):
    with pytest.raises(RecordingError, match=r"\.csv"):
        read_device(tmp_path / "a.fbx")
    for name in ("a.csv", "a.json"):
        with pytest.raises(FileNotFoundError):
            read_device(tmp_path / name)


NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


@QUIET
@given(st.binary(max_size=300))
def test_random_bytes_make_one_clear_error(tmp_path, data):
    for name in ("a.csv", "a.json"):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(RecordingError, match=rf"a\.{name[2:]}: "):
            read_device(tmp_path / name)


@QUIET
@given(st.integers(0, 39), st.integers(0, 21), st.one_of(NUMBERS.map(str), st.text(max_size=5)))
def test_a_spoilt_cell_is_refused_or_left_out(tmp_path, row, column, cell):
    rows = [[str(x) for x in r] for r in table()]
    rows[row][column] = '"' + cell.replace('"', '""') + '"'
    check(write_csv(tmp_path / "a.csv", rows))


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3), lambda x: st.lists(x, max_size=2)
)


@QUIET
@given(
    st.sampled_from(["camera", "left", "right"]),
    st.integers(0, 39),
    st.sampled_from(["timestamp", "position", "rotation", "x"]),
    JSON,
)
def test_a_spoilt_pose_is_refused_or_left_out(tmp_path, entity, index, field, value):
    data = avatar()
    pose = data[entity]["poses"][index]
    (pose["rotation"] if field == "x" else pose)[field] = value
    check(write_json(tmp_path / "a.json", data))


def check(path: Path) -> None:
    """A reader gives clean streams or one error that names the file."""
    try:
        recording = read_device(path)
    except RecordingError as error:
        assert str(path) in str(error) and "\n" not in str(error)
        return
    for stream in recording.streams:
        assert (np.diff(stream.time) > 0).all() and np.isfinite(stream.pos).all()
        np.testing.assert_allclose(np.linalg.norm(stream.quat, axis=1), 1)


def test_huge_numbers_do_not_overflow():
    pos, quat = np.full((3, 3), 1e300), np.tile([1e200, 0, 0, 0], (3, 1))
    with pytest.raises(RecordingError):
        make_stream(np.arange(3.0), pos, quat, "x", str)


@pytest.mark.parametrize(
    ("name", "rate", "seconds"),
    [
        ("aframe_grab_left.json", 89, 12.7),
        ("aframe_tracked_recording.json", 88.7, 29.2),
        ("vivepro2_unity.csv", 90.9, 310.3),
    ],
)
def test_real_recordings(recordings, name, rate, seconds):
    """Rate, length, and that heads are level, hands lie before them, the left one to the left of the right."""
    recording = read_device(recordings / "vr" / name)
    head, left, right = recording.streams
    assert head.rate == pytest.approx(rate, abs=0.2) and recording.duration == pytest.approx(seconds, abs=0.1)
    assert 1.55 < recording.eye_height() < 1.85
    axes = Rotation.from_quat(head.quat, scalar_first=True)
    assert np.degrees(np.median(np.abs(np.arcsin(axes.apply([0, 1, 0])[:, 2])))) < 10
    side = [np.median(axes.inv().apply(s.pos - head.pos), axis=0) for s in (left, right)]
    assert side[0][1] > side[1][1] and min(s[0] for s in side) > 0
    lost = 1 if name.endswith("csv") else 0
    assert [s.lost for s in recording.streams] == [lost] * 3 and head.repeated == 2 * lost
