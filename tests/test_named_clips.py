"""What --clips and --scene mean: names of our own clips, families, categories and scenes."""

import sys
from pathlib import Path

import pytest

from qes_jax.authoring.catalogue import get_recipe

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))
from clips import own_clips, scene_clips


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
