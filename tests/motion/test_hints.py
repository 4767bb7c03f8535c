"""Files that are no recordings of a body: one line says what they are."""

import zipfile
from pathlib import Path

import pytest

from qes_jax.authoring.catalogue import build
from qes_jax.motion.clip import save_clip
from qes_jax.motion.formats.read import read_motion
from qes_jax.motion.formats.recording import RecordingError


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.bvh", b"", "the file is empty"),
        ("a.asf", b":version 1.10\n:name x\n", "give the .amc"),
        ("a.gz", b"\x1f\x8b\x08rest", "unpack it first"),
        ("a.json", b'{"camera":{"poses":[]}}', "import_sensors.py"),
        ("a.csv", b"time_s,head_pos_x,head_pos_y\n0,1,2\n", "import_sensors.py"),
        ("a.doc", b"Dear Sir", "unknown format, expected one of: BVH"),
    ],
)
def test_a_file_of_another_kind_is_told(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=rf"^{path}: .*{message}"):
        read_motion(path)


def test_archives_and_our_own_clips(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "walks.zip", "w") as file:
        file.writestr("walk.bvh", "HIERARCHY")
    with pytest.raises(RecordingError, match="unpack it first"):
        read_motion(tmp_path / "walks.zip")
    save_clip(tmp_path / "clip.npz", build("test_turn"))
    with pytest.raises(RecordingError, match=r"a clip of ours already.*--clips"):
        read_motion(tmp_path / "clip.npz")


def test_real_headset_recordings_are_told(recordings: Path) -> None:
    for path in (*(recordings / "vr").glob("*.json"), *(recordings / "vr").glob("*.csv")):
        with pytest.raises(RecordingError, match="import_sensors"):
            read_motion(path)
