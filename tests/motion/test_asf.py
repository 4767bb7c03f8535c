"""ASF/AMC: against the definition by matrices, on real walks, and what is broken."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qes_jax.motion.formats.asf_amc import find_asf, is_amc, read_amc
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.skeleton import forward

ASF = """# made up
:version 1.10
:units
  mass 1.0
  length 0.5
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name thigh
    direction 0 -1 0
    length 8
    axis 10 20 30 XYZ
    dof rx ry rz
    limits (-160.0 20.0)
           (-70.0 70.0)
           (-60.0 70.0)
  end
  begin
    id 2
    name shin
    direction 0 0 1
    length 7
    axis 0 0 40 ZXY
    dof rz rx
  end
:hierarchy
  begin
    root thigh
    thigh shin
  end
"""
AMC = """#!OML
:FULLY-SPECIFIED
:DEGREES
1
root 1 2 3 15 25 35
thigh 5 -10 20
shin 30 12
2
root 1 2 3 0 0 0
thigh 0 0 0
shin 0 0
"""


def put(folder: Path, asf: str = ASF, amc: str = AMC) -> Path:
    (folder / "a.asf").write_text(asf)
    (folder / "a.amc").write_text(amc)
    return folder / "a.amc"


def about(axis: str, angle: float) -> np.ndarray:
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    m = np.eye(3)
    m[i, i], m[j, j], m[i, j], m[j, i] = c, c, -s, s
    return m


def in_turn(axes: str, angles: list[float]) -> np.ndarray:
    """About fixed axes, one after the other."""
    m = np.eye(3)
    for axis, angle in zip(axes, angles, strict=True):
        m = about(axis, angle) @ m
    return m


def test_against_matrices(tmp_path: Path) -> None:
    motion = read_amc(put(tmp_path))
    inch = 0.0254 / 0.5
    root = in_turn("xyz", [15, 25, 35])
    c = in_turn("xyz", [10, 20, 30])
    thigh = root @ c @ in_turn("xyz", [5, -10, 20]) @ c.T
    c = in_turn("zxy", [0, 0, 40])
    shin = thigh @ c @ in_turn("zx", [30, 12]) @ c.T
    knee = np.array([1, 2, 3]) + thigh @ [0, -8, 0]
    expected = inch * np.array([[1, 2, 3], [1, 2, 3], knee, knee + shin @ [0, 0, 7]])
    turned = np.stack([expected[:, 0], -expected[:, 2], expected[:, 1]], axis=1)
    assert motion.joints == ("root", "thigh", "shin", "shin_end") and motion.fps == 120
    assert np.allclose(forward(motion)[0][0], turned)


def test_another_axis_and_unit_than_the_formats_own(tmp_path: Path) -> None:
    path = put(tmp_path)
    own, told = forward(read_amc(path))[0], read_amc(path, up="z", unit=0.01)
    assert (told.up, told.unit) == ("z", 0.01)
    file = own[..., [0, 2, 1]] * [1, 1, -1] / (0.0254 / 0.5)
    assert np.allclose(forward(told)[0], 0.01 * file)


def test_real_walks(recordings: Path) -> None:
    folder = recordings / "cmu"
    for name in ("02_01", "02_04", "03_01"):
        motion = read_amc(folder / f"{name}.amc")
        place, words = forward(motion)[0], (folder / f"{name}.amc").read_text().split("\n")
        assert len(place) == max(int(w) for w in words if w.strip().isdigit())
        assert np.isclose(motion.unit, 0.056444, atol=1e-6)
        head = place[:, motion.index("head_end"), 2] - place[..., 2].min(axis=1)
        assert 1.4 < np.median(head) < 1.85
        thigh = np.linalg.norm(place[:, motion.index("lfemur")] - place[:, motion.index("ltibia")], axis=1)
        assert 0.4 < thigh.mean() < 0.45 and np.ptp(thigh) < 1e-9
    walk = read_amc(folder / "02_01.amc")
    place = forward(walk)[0]
    assert 0.8 < np.linalg.norm(np.ptp(place[:, 0, :2], axis=0)) / walk.duration < 1.8  # [m/s]
    across = (place[:, walk.index("lfemur")] - place[:, walk.index("rfemur")]).mean(axis=0)
    ahead = place[-1, 0] - place[0, 0]
    assert ahead[0] * across[1] - ahead[1] * across[0] > 0  # the left leg is on the left


def test_the_skeleton_beside(tmp_path: Path) -> None:
    for name in ("02.asf", "03.asf", "02_01.asf"):
        (tmp_path / name).write_text(ASF)
    assert find_asf(tmp_path / "02_04.amc").name == "02.asf" and find_asf(tmp_path / "02_01.amc").name == "02_01.asf"
    with pytest.raises(RecordingError, match=r"04_01\.amc: needs its skeleton.* --skeleton"):
        find_asf(tmp_path / "04_01.amc")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("direction 0 -1 0", "direction 0 -1", r"a\.asf, line 16: 'direction 0 -1': expected 3 finite numbers"),
        ("length 7", "length seven", r"a\.asf, line 28: 'length seven': expected numbers"),
        ("length 0.5", "length 0", r"a\.asf, line 5: length is 0"),
        ("40 ZXY", "40 ZZY", r"a\.asf, line 29: 'zzy' is no order of axes"),
        ("dof rz rx", "dof rz rw", r"a\.asf, line 30: 'dof rz rw'"),
        ("name shin", "name thigh", r"a\.asf, line 31: a bone without a name of its own: 'thigh'"),
        ("thigh shin", "thigh foot", r"a\.asf, line 35: no bone is called 'foot'"),
        ("thigh shin", "shin thigh", r"a\.asf, line 35: thigh has two parents"),
        ("shin 30 12", "shin 30", r"a\.amc, line 7: 'shin 30': expected 2 finite numbers"),
        ("shin 30 12", "", r"a\.amc, line 8: shin is missing in frame 1"),
        ("shin 30 12", "foot 30 12", r"a\.amc, line 7: 'foot' is no bone"),
        ("shin 0 0", "shin 0 nan", r"a\.amc, line 11: 'shin 0 nan'"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert (ASF + AMC).count(old) == 1
    with pytest.raises(RecordingError, match=message):
        read_amc(put(tmp_path, ASF.replace(old, new), AMC.replace(old, new)))


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_spoilt_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    texts = [ASF.encode(), AMC.encode()]
    which = data.draw(st.integers(0, 1))
    first = data.draw(st.integers(0, len(texts[which])))
    last = data.draw(st.integers(first, min(len(texts[which]), first + 60)))
    texts[which] = texts[which][:first] + data.draw(st.binary(max_size=6)) + texts[which][last:]
    folder = tmp_path_factory.mktemp("asf")
    for name, text in zip(("a.asf", "a.amc"), texts, strict=True):
        (folder / name).write_bytes(text)
    try:
        is_amc(folder / "a.amc")
        assert len(read_amc(folder / "a.amc").quat) > 0
    except RecordingError as error:
        assert "a.a" in str(error)
