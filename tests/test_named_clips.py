"""What --clips and --scene mean: names of our own clips, families, categories and scenes."""

import sys
from pathlib import Path

import pytest

from qes_jax.authoring.catalogue import get_recipe
from qes_jax.model.scene_file import read_scene

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))
from clips import own_clips, room_clips, scene_clips, scenes_for_rooms
from settings import presets


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


@pytest.mark.slow
def test_the_room_of_the_docs_has_clips(tmp_path: Path) -> None:
    page = Path(__file__).resolve().parents[1] / "docs" / "scenes.md"
    (tmp_path / "study.toml").write_text(page.read_text().partition("```toml\n")[2].partition("```")[0])
    shelf = '<body name="shelf"><geom type="box" size=".2 .4 .9" pos="0 0 .9"/></body>'
    (tmp_path / "shelf.xml").write_text(f"<mujoco><worldbody>{shelf}</worldbody></mujoco>")
    clips = room_clips(read_scene(tmp_path / "study.toml"), "study")
    assert clips and all(c.name.endswith("@seat") and len(c.scene.pieces) == 3 for c in clips)
