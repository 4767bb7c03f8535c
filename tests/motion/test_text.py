"""Text in other encodings, with comments before it, and frame times as programs write them: read, or told of."""

from pathlib import Path

import numpy as np
import pytest

from qes_jax.motion.formats.bvh import is_bvh, read_bvh
from qes_jax.motion.formats.deepmimic import is_deepmimic, read_deepmimic
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.text import encoding, read_start, read_text
from qes_jax.motion.sensors import read_device
from tests.motion.test_bvh import MIXED
from tests.motion.test_devices import table, write_csv

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_motion_in_any_encoding(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.bvh").write_text(MIXED)
    (tmp_path / "b.bvh").write_bytes(("\r\n" + MIXED).encode(name))
    assert is_bvh(tmp_path / "b.bvh")
    plain, other = read_bvh(tmp_path / "a.bvh"), read_bvh(tmp_path / "b.bvh")
    assert plain.joints == other.joints
    np.testing.assert_array_equal(plain.quat, other.quat)


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_session_in_any_encoding(tmp_path: Path, name: str) -> None:
    path = write_csv(tmp_path / "a.csv", table())
    text = "# made by a recorder\n\n" + path.read_text()
    path.write_bytes(text.encode(name))
    assert len(read_device(path).streams[0].time) == 40
    path.write_bytes(text.replace("right_rot_w", "w").encode(name))
    with pytest.raises(RecordingError, match="line 3: no column right_rot_w"):
        read_device(path)


def test_json_in_utf_16(recordings: Path, tmp_path: Path) -> None:
    walk, other = recordings / "deepmimic" / "humanoid3d_walk.txt", tmp_path / "a.txt"
    other.write_bytes(walk.read_text().encode("utf-16"))
    assert is_deepmimic(other) and len(read_deepmimic(other).quat) == len(read_deepmimic(walk).quat)


def test_names_in_an_older_encoding_and_what_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("ROOT Hüfte".encode("latin-1"))
    assert read_text(tmp_path / "a") == "ROOT Hüfte" and encoding(b"") == "utf-8"
    (tmp_path / "b.bvh").write_bytes(b"HIERARCHY\n\0\0\0")
    with pytest.raises(RecordingError, match=r"b\.bvh: holds zero bytes"):
        read_bvh(tmp_path / "b.bvh")


@pytest.mark.parametrize("before", ["# exported\n", "\n\n  \n", "// by a tool\n; version 2\n\n", "\ufeff\n"])
def test_comments_and_blank_lines_come_first(tmp_path: Path, before: str) -> None:
    (tmp_path / "a.bvh").write_text(before + MIXED)
    assert is_bvh(tmp_path / "a.bvh") and len(read_bvh(tmp_path / "a.bvh").quat) > 0
    assert read_start(tmp_path / "a.bvh").startswith("HIERARCHY")


@pytest.mark.parametrize(
    ("word", "rate"),
    [("3.333333E-02", 30), ("3.33333e-02", 30), ("0.033", 30), ("0.03", 30), ("8.3333e-3", 120), ("0.008", 120),
     ("0.017", 60), ("0.0417", 24), ("0.0166666", 60), ("1.111111E-02", 90), ("3.3366700E-2", 29.97)],
)  # fmt: skip
def test_frame_times_stand_for_usual_rates(tmp_path: Path, word: str, rate: float) -> None:
    (tmp_path / "a.bvh").write_text(MIXED.replace("0.033333", word))
    assert read_bvh(tmp_path / "a.bvh").fps == rate
