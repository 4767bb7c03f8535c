"""The built-in clips: their names, their bounds, the same bits each time."""

import numpy as np
import pytest

from qes_jax.authoring.catalogue import RECIPES, build_qpos, get_recipe, names
from qes_jax.authoring.quality import measure
from qes_jax.authoring.steps import levels_of
from qes_jax.model.scene import Piece
from qes_jax.model.world import build_world
from qes_jax.motion.clip import FPS

QUICK = ("walk_curves", "test_squat", "test_box_18")


def check(name: str) -> None:
    qpos = build_qpos(name)
    quality = measure(build_world(pieces=get_recipe(name).scene.pieces), qpos, FPS)
    assert 8.0 <= len(qpos) / FPS <= 40.0
    assert quality.foot_slide < 2.0
    assert quality.floor_depth < 1.0 and quality.object_depth < 1.0
    assert quality.joint_speed < 13.0 and quality.joint_acceleration < 500.0
    assert quality.balance > -9.0  # stepping down from 45 cm one leans ahead of the toes for a moment
    assert quality.push_outside < 6.0 and quality.push_least > 0.4 and quality.push_most < 2.0


@pytest.mark.parametrize("name", QUICK)
def test_a_clip_keeps_its_bounds(name: str) -> None:
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in RECIPES if n not in QUICK])
def test_every_clip_keeps_its_bounds(name: str) -> None:
    check(name)


def test_a_clip_is_the_same_bit_for_bit() -> None:
    assert np.array_equal(build_qpos("test_squat"), build_qpos("test_squat"))


def test_training_and_held_out_clips_are_apart() -> None:
    assert set(names(True)) | set(names(False)) == set(names())
    assert not set(names(True)) & set(names(False))
    seeds = [(recipe.seed, recipe.tell) for recipe in RECIPES.values()]
    assert len({seed for seed, _ in seeds}) == len(seeds)


def test_sitting_touches_the_seat_with_pelvis_and_thighs() -> None:
    import mujoco

    qpos = build_qpos("test_stool")
    world = build_world(pieces=get_recipe("test_stool").scene.pieces)
    data, seat = mujoco.MjData(world.plain), world.plain.geom("stool/seat").id
    data.qpos[:] = qpos[np.argmin(qpos[:, 2])]
    mujoco.mj_kinematics(world.plain, data)
    for part in ("pelvis", "left_thigh", "right_thigh"):
        gap = mujoco.mj_geomDistance(world.plain, data, world.plain.geom(part).id, seat, 0.5, None)
        assert -0.01 < gap < 0.01


def test_unknown_names_and_wrong_pieces_are_told() -> None:
    with pytest.raises(KeyError, match="unknown built-in clip 'dance': expected one of walk"):
        build_qpos("dance")
    with pytest.raises(ValueError, match="piece 'stool' is no box"):
        levels_of((Piece("stool", "stool"),), np.zeros(3))
