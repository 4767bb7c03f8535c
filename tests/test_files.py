"""Files appear whole or not at all."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from qes_jax.files import entry, replacing, save_npz


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(OSError, match="disk"), replacing(path) as aside:
        aside.write_text("ne")
        raise OSError("disk full")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_write_replaces_the_file_and_makes_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.npz"
    for value in (1, 2):
        save_npz(path, x=np.array([value]))
    with np.load(path, allow_pickle=False) as file:
        assert file.files == ["x"] and file["x"].tolist() == [2]
    assert list(path.parent.iterdir()) == [path]


def test_objects_are_not_pickled(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="allow_pickle"):
        save_npz(tmp_path / "a.npz", x=np.array([{}]))
    assert list(tmp_path.iterdir()) == []


def test_an_entry_that_is_no_array_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("qpos.npy", b"no array")
    with np.load(tmp_path / "a.npz") as file, pytest.raises(ValueError, match="entry qpos is no array"):
        entry(file, "qpos")
