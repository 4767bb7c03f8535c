"""Clips in another room: moved with their furniture, kinematics kept, and only where they pass through nothing."""

import dataclasses

import numpy as np
import pytest

from qes_jax.model.scene import SCENES, Piece, Scene
from qes_jax.model.world import build_world
from qes_jax.motion.build import kinematics
from qes_jax.motion.place import clips_in_room, matches
from tests.motion.synthetic import wobble

OFFICE = Scene("office", (Piece("office", "office_chair", None, (0.2, 0.1, 0.0), 0.4),))
ROOM = Scene(
    "room",
    (
        Piece("tilting", "tilting_chair", None, (9.0, 9.0, 0.0)),
        Piece("near", "office_chair", None, (3.0, -2.0, 0.0), 2.0),
        Piece("far", "office_chair", None, (-4.0, 1.0, 0.0), -1.0),
    ),
)


def test_a_clip_is_moved_to_each_piece_of_its_kind() -> None:
    clip = wobble(OFFICE, 9, name="turn")
    found = clips_in_room([clip, wobble(SCENES["flat"], 5)], ROOM)
    assert [c.name for c in found] == ["turn@near", "turn@far"]
    world = build_world(pieces=ROOM.pieces)
    for moved, column, unused in zip(found, (40, 41), (41, 40), strict=True):
        assert moved.scene == ROOM
        np.testing.assert_allclose(moved.qpos[:, column], clip.qpos[:, 39], atol=1e-6)
        np.testing.assert_array_equal(moved.qpos[:, [39, unused]], 0.0)
        link_pos, link_quat, sensor_pos, sensor_quat = kinematics(world, moved.qpos.astype(float))
        np.testing.assert_allclose(moved.link_pos, link_pos, atol=1e-5)
        np.testing.assert_allclose(moved.sensor_pos, sensor_pos, atol=1e-5)
        np.testing.assert_allclose(np.abs((moved.link_quat * link_quat).sum(axis=-1)), 1.0, atol=1e-6)
        np.testing.assert_allclose(np.abs((moved.sensor_quat * sensor_quat).sum(axis=-1)), 1.0, atol=1e-6)
        np.testing.assert_array_equal(moved.contact[:, :, [0, column - 38]], clip.contact)
        assert moved.contact.sum() == clip.contact.sum()


def test_the_body_keeps_its_place_relative_to_the_piece() -> None:
    clip = wobble(OFFICE, 5)
    moved = clips_in_room([clip], ROOM)[0]

    def seen(c, piece):
        apart = c.qpos[:, :2] - np.array(piece.pos[:2])
        return apart @ np.array([[np.cos(piece.yaw), -np.sin(piece.yaw)], [np.sin(piece.yaw), np.cos(piece.yaw)]])

    np.testing.assert_allclose(seen(moved, ROOM.pieces[1]), seen(clip, OFFICE.pieces[0]), atol=1e-5)
    np.testing.assert_allclose(moved.qpos[:, 2], clip.qpos[:, 2], atol=1e-6)


def test_a_clip_that_would_pass_through_other_furniture_is_left_out() -> None:
    clip = wobble(OFFICE, 5)
    x, y, _ = clips_in_room([clip], ROOM)[0].qpos[0, :3]
    crowded = dataclasses.replace(ROOM, pieces=(*ROOM.pieces, Piece("post", "box", (0.2, 0.2, 2.0), (x, y, 0.0))))
    assert [c.name for c in clips_in_room([clip], crowded)] == ["wobble@far"]


@pytest.mark.parametrize(("gap", "count"), [(0.8, 1), (0.85, 0)])
def test_several_pieces_have_to_stand_alike(gap: float, count: int) -> None:
    low, high = SCENES["boxes"].pieces
    room = Scene(
        "room", (dataclasses.replace(high, pos=(0.0, gap, 0.0), yaw=np.pi / 2),
                 dataclasses.replace(low, pos=(0.0, 0.0, 0.0), yaw=-1.5 * np.pi)),
    )  # fmt: skip
    found = list(matches(SCENES["boxes"], room))
    assert len(found) == count
    if count:
        assert found[0][0] == [1, 0]


def test_the_living_room_has_a_place_for_the_boxes() -> None:
    assert [m[0] for m in matches(SCENES["boxes"], SCENES["living_room"])] == [[3, 4]]
