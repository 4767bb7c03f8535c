"""BVH read and written: against pybvh, against matrices by hand, there and back, and what is no BVH."""

import warnings
from pathlib import Path

import numpy as np
import pybvh
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from qes_jax.motion.formats.bvh import is_bvh, read_bvh
from qes_jax.motion.formats.bvh_write import write_bvh
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.skeleton import SkeletonMotion, chain, forward, rest, rest_aligned
from qes_jax.motion.frames import rotation

MIXED = """HIERARCHY\r
ROOT mixamorig:Hips {\r
\tOFFSET 1.0 2e0 -.5\r
\tCHANNELS 6 Yrotation Xposition Xrotation Zposition Zrotation Yposition\r
\tJOINT Bip01 L Thigh\r
\t{\r
\t\tOFFSET 0 -4.0E-1 0\r
\t\tCHANNELS 0\r
\t\tJOINT knee { OFFSET 0 -0.4 0.1\r
\t\t\tchannels 2 Zrotation Xrotation\r
\t\t\tEnd Site\r
\t\t\t{\r
\t\t\t\tOFFSET 0 0 0.2\r
\t\t\t}\r
\t\t}\r
\t}\r
\tJOINT moved\r
\t{\r
\t\tOFFSET 0 0.5 0\r
\t\tCHANNELS 4 Yposition Xposition Zposition Yrotation\r
\t\tEnd Site { OFFSET 0 0 0 }\r
\t}\r
}\r
\r
MOTION\r
Frames: 2\r
Frame Time:\t0.033333\r
10 1.5 20 2.5 -30 3.5  40 -50  0.6 0.1 0 15\r
-5 1E0 25 2 35 3\t-45 55 0.7 0.2 0.1 -15 \r
"""


def put(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "a.bvh"
    path.write_bytes(text.encode())
    return path


def homogeneous(place: list[float], axes: str, angles: list[float]) -> np.ndarray:
    """(4, 4) of a place and of turns that multiply from left to right."""
    m = np.eye(4)
    m[:3, 3] = place
    for axis, angle in zip(axes, np.radians(angles), strict=True):
        i, j = {"X": (1, 2), "Y": (2, 0), "Z": (0, 1)}[axis]
        turn = np.eye(4)
        turn[[i, j], [i, j]], turn[i, j], turn[j, i] = np.cos(angle), -np.sin(angle), np.sin(angle)
        m = m @ turn
    return m


def test_mixed_channels_against_matrices(tmp_path: Path) -> None:
    motion = read_bvh(put(tmp_path, MIXED), unit=1.0, up="z")
    assert motion.joints == ("mixamorig:Hips", "Bip01 L Thigh", "knee", "knee_end", "moved") and motion.fps == 30
    root = homogeneous([1.5, 3.5, 2.5], "YXZ", [10, 20, -30])
    knee = root @ homogeneous([0, -0.4, 0], "", []) @ homogeneous([0, -0.4, 0.1], "ZX", [40, -50])
    end, moved = knee @ homogeneous([0, 0, 0.2], "", []), root @ homogeneous([0.1, 0.6, 0], "Y", [15])
    pos, quat = forward(motion)
    for joint, expected in (("mixamorig:Hips", root), ("knee", knee), ("knee_end", end), ("moved", moved)):
        i = motion.index(joint)
        assert np.allclose(pos[0, i], expected[:3, 3]), joint
        assert np.allclose(rotation(quat[0, i]).as_matrix()[0], expected[:3, :3]), joint


def test_positions_about_zero_are_added_to_the_offset(tmp_path: Path) -> None:
    text = MIXED.replace(" 0.6 0.1 0 15", " 0.01 0 0 15").replace("0.7 0.2 0.1 -15", "0 0 0 -15")
    motion = read_bvh(put(tmp_path, text), unit=1.0, up="z")
    assert np.allclose(motion.pos[:, motion.index("moved")], [[0, 0.51, 0], [0, 0.5, 0]])


@pytest.mark.parametrize("name", ["cmu/131_01.bvh", "cmu_iclone_rig/007_01.bvh"])
def test_real_files_against_pybvh(recordings: Path, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = pybvh.read_bvh_file(recordings / name, world_up="+y")
    ours = read_bvh(recordings / name, unit=1.0, up="y")
    nodes = {node.name: i for i, node in enumerate(theirs.nodes)}
    expected = theirs.node_positions()[:, [nodes[j] for j in ours.joints if j in nodes]]
    place = forward(ours)[0][:, [j in nodes for j in ours.joints]]
    assert expected.shape[1] > 30 and np.isclose(1 / theirs.frame_time, ours.fps)
    assert np.allclose(place, np.stack([expected[..., 0], -expected[..., 2], expected[..., 1]], axis=-1), atol=1e-6)


def test_unit_and_axis_of_real_files(recordings: Path) -> None:
    cmu, game = (read_bvh(recordings / n) for n in ("cmu/131_01.bvh", "cmu_iclone_rig/007_01.bvh"))
    assert (cmu.fps, cmu.up, round(cmu.unit, 6)) == (120, "y", 0.056444)
    assert (game.fps, game.up, game.unit) == (60, "y", 0.01)
    for motion in (cmu, game):
        low, high = forward(motion)[0][..., 2].min(axis=1), forward(motion)[0][..., 2].max(axis=1)
        assert np.abs(np.median(low)) < 0.08 and 1.3 < np.median(high) < 1.9


@pytest.mark.parametrize(
    ("word", "rate"),
    [("0.0083333", 120), (".008333", 120), ("0.016667", 60), ("0.0333", 30), ("0.033367", 29.97), ("0.04", 25),
     ("4e-2", 25), ("0.041708", 23.976), ("0.0057", 1 / 0.0057)],
)  # fmt: skip
def test_rounded_frame_times(tmp_path: Path, word: str, rate: float) -> None:
    assert np.isclose(read_bvh(put(tmp_path, MIXED.replace("0.033333", word))).fps, rate, rtol=3e-3)


@st.composite
def motions(draw: st.DrawFn) -> SkeletonMotion:
    """Any tree, any rest pose, turns anywhere up to the poles, and some joints that move."""
    count, frames = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    parents = tuple(-1 if j == 0 else int(rng.integers(0, j)) for j in range(count))
    rest_pos, rest_quat = rng.normal(size=(count, 3)), rng.normal(size=(count, 4))
    quat = rng.normal(size=(frames, count, 4))
    if draw(st.booleans()):
        quat[0] = Rotation.from_euler("ZYX", [0.3, np.pi / 2, 0.2]).as_quat(scalar_first=True)
    pos = np.tile(rest_pos, (frames, 1, 1))
    pos[:, 0] += rng.normal(size=(frames, 3))
    if draw(st.booleans()):
        pos[:, -1] = 1.2 * pos[:, -1] + 0.01 * rng.normal(size=(frames, 3))
    names = tuple(f"joint {j}" if j % 2 else f"a:{j}" for j in range(count))
    rest_quat, quat = (q / np.linalg.norm(q, axis=-1, keepdims=True) for q in (rest_quat, quat))
    fps = draw(st.sampled_from([24.0, 29.97, 30.0, 36.0, 60.0, 120.0]))
    return SkeletonMotion("a", "none", fps, names, parents, rest_pos, rest_quat, pos, quat)


@settings(max_examples=100, deadline=None)
@given(motion=motions())
def test_there_and_back(tmp_path_factory: pytest.TempPathFactory, motion: SkeletonMotion) -> None:
    path = tmp_path_factory.mktemp("bvh") / "a.bvh"
    write_bvh(path, motion)
    again = read_bvh(path, unit=0.01, up="y")
    order = [again.index(name) for name in motion.joints]
    assert set(again.joints) == set(motion.joints) and np.isclose(again.fps, motion.fps)
    assert np.allclose(forward(again)[0][:, order], forward(motion)[0], atol=1e-6)
    assert np.allclose(rest(again)[0][order], rest(motion)[0], atol=1e-6)
    for frame in range(len(motion.quat)):  # what a joint has turned since the rest pose is the same
        turns = [rotation(forward(m)[1][frame]) * rotation(rest(m)[1]).inv() for m in (motion, again)]
        apart = turns[0].inv() * turns[1][order]
        assert apart.magnitude().max() < 1e-5
    write_bvh(path, again)
    assert np.allclose(read_bvh(path, unit=0.01, up="y").quat, again.quat, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(motion=motions())
def test_frames_along_the_world_at_rest_change_nothing_else(motion: SkeletonMotion) -> None:
    aligned = rest_aligned(motion)
    assert np.allclose(forward(aligned)[0], forward(motion)[0])
    assert np.allclose(chain(aligned.parents, aligned.rest_pos[None], aligned.rest_quat[None])[0][0], rest(motion)[0])


def test_a_real_file_there_and_back(recordings: Path, tmp_path: Path) -> None:
    motion = read_bvh(recordings / "cmu_iclone_rig" / "007_01.bvh")
    write_bvh(tmp_path / "a.bvh", motion)
    again = read_bvh(tmp_path / "a.bvh")
    assert again.joints == motion.joints and (again.up, again.unit) == ("y", 0.01)
    assert np.allclose(forward(again)[0], forward(motion)[0], atol=1e-6)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\tOFFSET 1.0 2e0 -.5", "\tOFFSET 1.0 two -.5", "line 3: OFFSET: 'two' is not a number"),
        ("\tOFFSET 1.0 2e0 -.5", "\tOFFSET 1.0 2", "line 3: OFFSET of mixamorig:Hips has 2 numbers"),
        ("\tOFFSET 1.0 2e0 -.5", "", "line 2: mixamorig:Hips has no OFFSET"),
        ("CHANNELS 6", "CHANNELS 5", "line 4: CHANNELS of mixamorig:Hips announces"),
        ("channels 2 Zrotation", "channels 2 Wrotation", "line 10: CHANNELS of knee: wrotation"),
        ("channels 2 Zrotation", "channels 2 Xrotation", "line 10: CHANNELS of knee: one twice"),
        ("}\r\n\r\nMOTION", "MOTION", "MOTION before the last }"),
        ("Frames: 2", "Frames: 3", "2 frames follow, Frames says 3"),
        ("Frames: 2", "Frames:", "line 26: expected 'Frames: COUNT'"),
        ("0.033333", "0", "line 27: Frame Time is 0.0 s"),
        ("55 0.7", "55", "line 29: 11 numbers, the channels are 12"),
        ("55 0.7", "55 nan", "line 29: frame: nan is out of bounds"),
        ("55 0.7", "55 0,7", "line 29: frame: '0,7' is not a number"),
        ("MOTION", "", "unknown word 'Frames:'"),
        ("JOINT knee {", "JOINT {", "JOINT without a name"),
        ("JOINT moved", "JOINT knee", "knee is the name of the joint in line 9 too"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert MIXED.count(old) == 1
    with pytest.raises(RecordingError, match=r"a\.bvh, line \d+: ") as caught:
        read_bvh(put(tmp_path, MIXED.replace(old, new)))
    assert message in str(caught.value)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_a_spoilt_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    text = MIXED.encode()
    for _ in range(data.draw(st.integers(1, 3))):
        first = data.draw(st.integers(0, len(text)))
        last = data.draw(st.integers(first, min(len(text), first + 40)))
        new = data.draw(st.binary(max_size=6) | st.sampled_from([b"{", b"}", b"-1", b"\n"]))
        text = text[:first] + new + text[last:]
    path = tmp_path_factory.mktemp("bvh") / "a.bvh"
    path.write_bytes(text)
    try:
        assert len(read_bvh(path).quat) > 0
    except RecordingError as error:
        assert "a.bvh" in str(error)


@settings(max_examples=50, deadline=None)
@given(content=st.binary(max_size=300))
def test_garbage_is_no_bvh(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("bvh") / "a.bvh"
    path.write_bytes(content)
    assert is_bvh(path) == content.lstrip().upper().startswith(b"HIERARCHY")
    with pytest.raises(RecordingError, match=r"a\.bvh"):
        read_bvh(path)
