"""The library: named variants, the same each time, within the bounds of a plausible motion."""

import numpy as np
import pytest

from qes_jax.authoring.catalogue import build_qpos, get_recipe
from qes_jax.authoring.library import FAMILIES, LIBRARY, library_names
from qes_jax.authoring.quality import measure
from qes_jax.model.world import build_world
from qes_jax.motion.clip import FPS


def check(name: str) -> None:
    qpos = build_qpos(name)
    quality = measure(build_world(pieces=get_recipe(name).scene.pieces), qpos, FPS)
    assert 5.0 <= len(qpos) / FPS <= 90.0
    assert quality.foot_slide < 2.0, name
    assert quality.floor_depth < 1.0 and quality.object_depth < 1.0, name
    assert quality.joint_speed < 15.0 and quality.joint_acceleration < 500.0, name
    assert quality.balance > -9.0, name


@pytest.mark.parametrize("name", ["walk_side_05", "walk_bends_06"])
def test_a_clip_keeps_its_bounds(name: str) -> None:
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(LIBRARY))
def test_every_clip_keeps_its_bounds(name: str) -> None:
    check(name)


def test_a_clip_is_the_same_bit_for_bit() -> None:
    assert np.array_equal(build_qpos("stand_write_00"), build_qpos("stand_write_00"))


def test_variants_differ_and_do_not_depend_on_other_families() -> None:
    family = next(f for f in FAMILIES if f.name == "walk_line")
    first, again, other = family.recipe(0), family.recipe(0), family.recipe(1)
    assert first.tell.keywords == again.tell.keywords != other.tell.keywords
    assert len({recipe.seed for recipe in (first, other)}) == 2


def test_training_and_held_out_clips_are_apart() -> None:
    train, held = set(library_names(False)), set(library_names(True))
    assert train | held == set(LIBRARY) and not train & held
    assert all(name.startswith("test_") for name in held)
    assert all(get_recipe(name).held_out for name in list(held)[:5])
    assert {LIBRARY[n][0].category for n in held} == {f.category for f in FAMILIES}
