"""AMASS, glTF and joint points are told from their content, and read alike through the one door."""

import json
from pathlib import Path

import numpy as np
import pytest

from qes_jax.motion.formats.read import Choices, read_motion, read_recording
from qes_jax.motion.formats.recording import Recording, RecordingError
from qes_jax.motion.formats.skeleton import SkeletonMotion
from tests.motion import test_amass, test_gltf, test_points


def test_an_amass_archive_becomes_points_of_the_character(tmp_path) -> None:
    name, motion = read_motion(test_amass.save(tmp_path, **test_amass.fields()))
    assert name == "AMASS" and isinstance(motion, SkeletonMotion)
    recording = read_recording(tmp_path / "motion.npz")[1]
    assert {"hips", "head", "left_wrist", "right_ankle", "left_ball"} <= set(recording.names)


def test_a_gltf_clip_is_chosen(tmp_path) -> None:
    path = test_gltf.a_walker().save(tmp_path)
    name, motion = read_motion(path, Choices(clip="walk"))
    assert name == "glTF" and isinstance(motion, SkeletonMotion) and motion.joints[1] == "Hips"
    assert read_motion(path, Choices(clip="walk", up="z", unit=0.01))[1].up == "z"
    with pytest.raises(RecordingError, match="walk, still"):
        read_motion(path)


def test_a_joint_list_makes_points_of_any_array(tmp_path) -> None:
    np.save(tmp_path / "m.npy", test_points.motion())
    with pytest.raises(RecordingError, match="other points need a joint list"):
        read_motion(tmp_path / "m.npy")
    (tmp_path / "list.json").write_text(json.dumps(test_points.ROLES))
    name, recording = read_motion(tmp_path / "m.npy", Choices(joints=tmp_path / "list.json", fps=30.0))
    assert name == "points" and isinstance(recording, Recording) and recording.fps == 30.0
    (tmp_path / "list.json").rename(tmp_path / "m.json")
    np.testing.assert_array_equal(read_motion(tmp_path / "m.npy", Choices(fps=30.0))[1].points, recording.points)


@pytest.mark.parametrize("choice", [{"root_offset": "add"}, {"clip": "walk"}, {"skeleton": Path("a.asf")}])
def test_a_choice_that_a_format_would_not_heed_is_refused(tmp_path, choice) -> None:
    path = test_amass.save(tmp_path, **test_amass.fields())
    with pytest.raises(
        RecordingError, match=f"motion.npz: --{next(iter(choice)).replace('_', '-')} cannot be chosen for AMASS"
    ):
        read_motion(path, Choices(**choice))
    assert read_motion(path, Choices(up="y"))[1].up == "y"


def test_the_knight_is_read_whole(recordings) -> None:
    name, recording = read_recording(recordings / "kaykit" / "Knight.glb", choices=Choices(clip="Sit_Chair_Down"))
    assert name == "glTF" and recording.duration == pytest.approx(0.8)
