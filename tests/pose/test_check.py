"""What sinks and what stands, against places that can be worked out by hand."""

import numpy as np
import pytest

from qes_jax.model.scene import Piece
from qes_jax.model.world import build_world
from qes_jax.pose.editor.check import SUNK, Checker, in_words, support_of

BOX = Piece("box", "box", size=(0.4, 0.4, 0.5))


@pytest.fixture(scope="module")
def world():
    return build_world()


@pytest.fixture(scope="module")
def checker(world):
    return Checker(world)


@pytest.fixture
def standing(world, checker) -> np.ndarray:
    """The A-pose whose lowest point touches the floor."""
    qpos = world.layout.home_qpos[:39].copy()
    qpos[2] -= checker.above_floor(qpos)
    return qpos


def test_a_stander_is_in_balance_over_both_feet(world, checker, standing) -> None:
    verdict = checker.check(standing)
    assert not verdict.sunk().any() and 0.02 < verdict.margin < 0.2
    np.testing.assert_allclose(verdict.com[1], 0.0, atol=1e-3)
    low, high = verdict.support.min(axis=0), verdict.support.max(axis=0)
    assert (low < verdict.com[:2]).all() and (verdict.com[:2] < high).all()
    assert in_words(verdict, world.layout.links).endswith("inside the support")


def test_lowered_it_sinks_by_as_much_and_raised_it_is_in_the_air(world, checker, standing) -> None:
    standing[2] -= 0.05
    assert checker.above_floor(standing) == pytest.approx(-0.05, abs=1e-6)
    verdict = checker.check(standing)
    deepest = int(np.argmax(verdict.depth))
    assert verdict.depth[deepest] == pytest.approx(0.05, abs=1e-4) and verdict.into[deepest] == "floor"
    names = {world.layout.links[i] for i in np.flatnonzero(verdict.sunk())}
    assert {"left_foot", "right_foot"} <= names and "pelvis" not in names
    standing[2] += 0.15
    verdict = checker.check(standing)
    assert np.isnan(verdict.margin) and not verdict.depth.any()
    assert in_words(verdict, world.layout.links).endswith("in the air")


def test_leaning_beyond_the_toes_is_out_of_balance(world, checker, standing) -> None:
    lean = standing.copy()
    lean[3:7] = [np.cos(0.15), 0.0, np.sin(0.15), 0.0]  # 17 degrees about the pelvis
    lean[2] -= checker.above_floor(lean)
    assert checker.check(lean).margin < 0


def test_what_is_in_a_piece_is_told_with_its_name(standing) -> None:
    room = build_world(pieces=(BOX,))
    verdict = Checker(room).check(standing)
    inside = [room.layout.links[i] for i in np.flatnonzero(verdict.depth > SUNK)]
    assert "left_shin" in inside and "head" not in inside
    assert verdict.into[room.layout.links.index("left_shin")] == "box"


def test_the_margin_is_the_distance_to_the_nearest_edge() -> None:
    square = np.array([[0.0, 0.0], [0.4, 0.0], [0.4, 0.2], [0.0, 0.2]])
    corners, margin = support_of(square, np.array([0.1, 0.05]))
    assert len(corners) >= 4 and margin == pytest.approx(0.051, abs=1e-6)
    assert support_of(square, np.array([0.5, 0.1]))[1] == pytest.approx(-0.099, abs=1e-6)
    assert support_of(square[:1], np.array([0.0, 0.0]))[1] > 0
