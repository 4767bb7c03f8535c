"""The library: named variants, the same each time, within the bounds of a plausible motion."""

import numpy as np
import pytest

from qes_jax.authoring.catalogue import build, build_qpos, by_category, find_names, get_recipe, table
from qes_jax.authoring.library import FAMILIES, LIBRARY, library_names
from qes_jax.authoring.quality import measure
from qes_jax.model.world import build_world
from qes_jax.motion.clip import FPS, save_clip


def check(name: str) -> None:
    qpos = build_qpos(name)
    quality = measure(build_world(pieces=get_recipe(name).scene.pieces), qpos, FPS)
    on_points = LIBRARY[name][0].category == "get up from the floor"  # knees and toes are points to the measure
    assert 5.0 <= len(qpos) / FPS <= 90.0
    assert quality.foot_slide < 2.0
    assert quality.floor_depth < 1.0 and quality.object_depth < 1.0
    assert quality.joint_speed < 15.0 and quality.joint_acceleration < 500.0
    assert quality.balance > (-13.0 if on_points else -9.0)
    assert quality.push_outside < (20.0 if on_points else 6.0)
    assert quality.push_least > 0.4 and quality.push_most < 2.0


@pytest.mark.parametrize("name", ["walk_side_04", "stand_write_00"])
def test_a_clip_keeps_its_bounds(name: str) -> None:
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(LIBRARY))
def test_every_clip_keeps_its_bounds(name: str) -> None:
    check(name)


def test_a_clip_is_the_same_bit_for_bit() -> None:
    assert np.array_equal(build_qpos("stand_write_00"), build_qpos("stand_write_00"))


@pytest.mark.slow
def test_a_clip_file_is_the_same_bit_for_bit(tmp_path) -> None:
    for copy in ("a", "b"):
        save_clip(tmp_path / f"{copy}.npz", build("stand_write_00"))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_variants_differ_and_do_not_depend_on_other_families() -> None:
    family = next(f for f in FAMILIES if f.name == "walk_line")
    first, again, other = family.recipe(0), family.recipe(0), family.recipe(1)
    assert first.seed == again.seed != other.seed
    assert first.tell.keywords == again.tell.keywords != other.tell.keywords  # type: ignore[attr-defined]


def test_training_and_held_out_clips_are_apart() -> None:
    train, held = set(library_names(False)), set(library_names(True))
    assert train | held == set(LIBRARY) and not train & held
    assert all(name.startswith("test_") and get_recipe(name).held_out for name in held)
    assert {LIBRARY[n][0].category for n in held} == {f.category for f in FAMILIES}
    places = {name: get_recipe(name).scene.pieces for name in LIBRARY if get_recipe(name).scene.pieces}
    assert not {places[n] for n in places if n in held} & {places[n] for n in places if n in train}


def test_words_find_clips_families_and_categories() -> None:
    assert find_names(["walk_line_00"]) == ["walk_line_00"]
    assert find_names(["walk"]) == ["walk"]  # the built-in clip, not the category of the same name
    assert len(find_names(["office chair"])) == len(find_names(["turn_office"])) > 3
    assert set(find_names([])) == set(find_names(["builtin", "library"])) > set(LIBRARY)
    with pytest.raises(KeyError, match="unknown built-in clip 'dance'"):
        find_names(["dance"])


def test_table_counts_clips_and_minutes() -> None:
    names = ["walk_side_04", "test_squat"]
    rows = [line.split("|") for line in table(names)[2:]]
    assert [row[1].strip() for row in rows] == [*by_category(names), "all"]
    assert float(rows[0][3]) * 60 == pytest.approx(len(build_qpos("walk_side_04")) / FPS, abs=4.0)  # to 0.1 min
    assert rows[-1][2].strip() == "2"
