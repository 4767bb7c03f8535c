"""Pieces that stand in each other are warned of, and how deep; those that touch are not."""

import warnings

import pytest

from qes_jax.model.scene import SCENES, Piece, Scene
from qes_jax.model.scene_check import SceneWarning, check_scene

DESK = Piece("desk", "box", (1.4, 0.7, 0.74))


def test_a_box_in_a_desk_is_named_with_its_depth() -> None:
    beside = Piece("beside", "box", (0.5, 0.5, 0.5), (0.9, 0.0, 0.0))  # 5 cm into the desk
    with pytest.warns(SceneWarning, match="'desk' and 'beside' overlap by 5 cm"):
        check_scene(Scene("room", (DESK, beside)))


def test_what_stands_on_another_or_touches_it_is_not() -> None:
    on_top = Piece("on_top", "box", (0.3, 0.3, 0.3), (0.0, 0.0, 0.74))
    next_to = Piece("next_to", "box", (0.5, 0.5, 0.5), (0.95, 0.0, 0.0))
    with warnings.catch_warnings(action="error"):
        check_scene(Scene("room", (DESK, on_top, next_to, Piece("far", "chair", None, (5.0, 0.0, 0.0)))))


@pytest.mark.parametrize("name", SCENES)
def test_our_own_scenes_are_sensible(name: str) -> None:
    with warnings.catch_warnings(action="error"):
        check_scene(SCENES[name])
