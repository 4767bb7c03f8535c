"""Pieces that stand in each other are told, and how deep."""

import pytest

from qes_jax.model.overlap import overlaps
from qes_jax.model.scene import SCENES, Piece, Scene


def test_two_boxes_and_a_chair() -> None:
    desk = Piece("desk", "box", (1.4, 0.7, 0.74))
    beside = Piece("beside", "box", (0.5, 0.5, 0.5), (0.9, 0.0, 0.0))  # 5 cm into the desk
    on_top = Piece("on_top", "box", (0.3, 0.3, 0.3), (0.0, 0.0, 0.74))
    far = Piece("far", "chair", None, (5.0, 0.0, 0.0))
    (found,) = overlaps(Scene("room", (desk, beside, on_top, far)))
    assert found[:2] == ("desk", "beside")
    assert found[2] == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize("name", SCENES)
def test_our_own_scenes_have_none(name: str) -> None:
    assert overlaps(SCENES[name]) == []
