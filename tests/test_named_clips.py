"""What --clips and --scene mean: names of our own clips, families, categories and scenes."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from qes_jax.assembly.clips import (
    find_clips,
    held_out_names,
    of_height,
    own_clips,
    room_clips,
    scene_clips,
    scenes_for_rooms,
)
from qes_jax.assembly.settings import RunConfig, presets
from qes_jax.assembly.trained import STAND_INS, find_trained, load_trained
from qes_jax.assembly.trial import read_recording
from qes_jax.authoring.catalogue import get_recipe
from qes_jax.model.scene_file import read_scene
from qes_jax.motion.clip import ClipError
from qes_jax.motion.sensors import make_track, read_device, save_track


def test_a_name_wins_over_a_category_and_a_family_gives_its_training_clips() -> None:
    assert own_clips("walk") == ["walk"]
    assert own_clips("test_walk_line_02") == ["test_walk_line_02"]
    family = own_clips("walk_line")
    assert len(family) == 8
    assert not any(get_recipe(name).held_out for name in family)
    assert set(own_clips("office chair")) == {f"turn_office_0{i}" for i in (0, 1, 3, 4)}
    assert own_clips("no such thing") == []


def test_a_scene_without_built_in_clips_takes_the_librarys() -> None:
    assert scene_clips(["chair", "stool"]) == ["chair", "chair_side", "stool", "stool_side"]
    for held_out in (False, True):
        found = scene_clips(["office_chair"], held_out)
        assert found
        assert {(get_recipe(n).scene.name, get_recipe(n).held_out) for n in found} == {("office_chair", held_out)}
    with pytest.raises(ValueError, match=r"castle.*office_chair"):
        scene_clips(["castle"])


def test_rooms_take_the_librarys_clips_of_furniture_that_no_built_in_one_uses() -> None:
    scenes = scenes_for_rooms()
    assert {"stool", "box_18", "turn_office_00", "lean_tilting_00", "sit_couch_00"} <= set(scenes)
    assert not {"sit_stool_00", "turn_office_02", "test_turn_office_02", "test_stool"} & set(scenes)


def test_the_rooms_preset_trains_on_clips_of_flat_ground_stool_and_chair_alone() -> None:
    found = [name for word in presets()["rooms"].clips for name in own_clips(word)]
    assert len(found) == len(set(found)) > 50
    assert {(get_recipe(n).scene.name, get_recipe(n).held_out) for n in found} == {
        (scene, False) for scene in ("flat", "stool", "chair")
    }


def test_a_recording_given_as_a_clip_is_told_of_the_importer(tmp_path: Path) -> None:
    (tmp_path / "dance.bvh").write_text("HIERARCHY")
    with pytest.raises(ValueError, match=r"dance\.bvh: not a clip file; .*import_motion"):
        find_clips([str(tmp_path / "dance.bvh")])


def test_a_recording_and_the_track_made_of_it_are_followed_alike(recordings: Path, tmp_path: Path) -> None:
    file, config = recordings / "vr" / "aframe_grab_left.json", presets()["cpu"]
    track = make_track(read_device(file), config.character.height)
    save_track(tmp_path / "t.npz", track)
    ours, theirs = (read_recording(path, config, "flat") for path in (tmp_path / "t.npz", file))
    assert np.array_equal(ours.qpos, theirs.qpos) and np.array_equal(ours.sensor_pos, theirs.sensor_pos)
    save_track(tmp_path / "t.npz", dataclasses.replace(track, height=1.5))
    scaled = read_recording(tmp_path / "t.npz", config, "flat")
    assert scaled.height == config.character.height
    np.testing.assert_allclose(scaled.sensor_pos, ours.sensor_pos * config.character.height / 1.5, rtol=1e-5)


def test_a_clip_of_another_height_is_scaled_and_that_is_said(capsys: pytest.CaptureFixture) -> None:
    clip = find_clips(["walk"])[0]
    tall = of_height([clip], 1.9)[0]
    assert tall.height == 1.9 and "walk: scaled from a person of 1.75 m to 1.9 m" in capsys.readouterr().err
    np.testing.assert_allclose(tall.qpos[:, :3], clip.qpos[:, :3] * 1.9 / 1.75, rtol=1e-6)
    assert of_height([clip], 1.75)[0] is clip and not capsys.readouterr().err


def test_furniture_comes_in_one_size_so_its_clips_are_not_scaled() -> None:
    with pytest.raises(ClipError, match=r"chair.*--height 1.9 .*--character.height 1.75"):
        of_height(find_clips(["chair"]), 1.9)


def test_weights_whose_clips_do_not_ship_can_be_tried_on_our_own(capsys: pytest.CaptureFixture) -> None:
    climb = load_trained(find_trained(Path("runs"), "climb"))
    assert not climb.has_clips()
    assert [c.name for c in climb.own_clips()] == list(STAND_INS)
    assert "climb: its own clips (climb0_047.npz" in capsys.readouterr().err
    assert load_trained(find_trained(Path("runs"), "walk")).has_clips()


def test_held_out_are_clips_of_the_same_kinds_that_training_never_sees() -> None:
    found = held_out_names(presets()["rooms"])
    assert {"test_turn", "test_chair", "test_walk_side_02", "test_sit_stool_02"} <= set(found)
    assert not [n for n in found if any(w in n for w in ("box", "couch", "high", "floor", "office"))]
    assert all(get_recipe(n).held_out for n in found)
    assert held_out_names(RunConfig(scene=("office_chair",))) == ["test_turn_office_02"]
    with pytest.raises(ValueError, match="--clips"):
        held_out_names(RunConfig(clips=("own.npz",)))


@pytest.mark.slow
def test_the_room_of_the_docs_has_clips(tmp_path: Path) -> None:
    page = Path(__file__).resolve().parents[1] / "docs" / "scenes.md"
    (tmp_path / "study.toml").write_text(page.read_text().partition("```toml\n")[2].partition("```")[0])
    shelf = '<body name="shelf"><geom type="box" size=".2 .4 .9" pos="0 0 .9"/></body>'
    (tmp_path / "shelf.xml").write_text(f"<mujoco><worldbody>{shelf}</worldbody></mujoco>")
    clips = room_clips(read_scene(tmp_path / "study.toml"), "study")
    assert clips and all(c.name.endswith("@seat") and len(c.scene.pieces) == 3 for c in clips)
