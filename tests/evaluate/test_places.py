"""Furniture moved in evaluation: as far as it is said, the same for all, and nothing else."""

import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.evaluate.places import (
    RECORDED,
    TURN,
    UNSEEN,
    Moved,
    check_places,
    compare,
    furnished,
    track_moved,
    trackers,
)
from qes_jax.evaluate.rollout import Tracked, begin, evaluation_task, select, track
from qes_jax.evaluate.tables import OVER_CLIPS, OVERALL
from qes_jax.motion.library import pack
from tests.evaluate.standing import hold, no_likeness, standing, task_for

STARTS = np.arange(0, 40, 5, dtype=np.int32)


@pytest.fixture(scope="module")
def params():
    return task_for("chair").params(pack([standing(scene="chair")], task_for("chair").engine.world))


def placed(moved: Moved, params) -> list[np.ndarray]:
    """(B, O-1, 3) where pieces stand, by room."""
    rooms = trackers(task_for("chair"), hold, moved)
    return [np.asarray(room.begin(params, jnp.asarray(STARTS)).state.physics.mocap_pos) for room in rooms]


def test_pieces_are_moved_as_far_as_is_said_and_otherwise_in_each_room(params) -> None:
    recorded = np.asarray(params.reference.placement[0, :, :3])
    rooms = placed(Moved(2, 0.3), params)
    off = np.abs(np.stack(rooms) - recorded)
    assert off.max() <= 0.3 + 1e-6 and off.max() > 0.2
    assert len(np.unique(off[..., 0].round(6))) == 2 * len(STARTS)  # every episode in a place of its own
    np.testing.assert_array_equal(rooms, placed(Moved(2, 0.3), params))


def test_a_spread_of_nothing_is_the_recorded_place(params) -> None:
    task = task_for("chair")
    recorded = begin(evaluation_task(task), params, jnp.asarray(STARTS)).state.physics
    (room,) = trackers(task, hold, Moved(1, 0.0))
    moved = room.begin(params, jnp.asarray(STARTS)).state.physics
    np.testing.assert_allclose(moved.mocap_pos, recorded.mocap_pos, atol=1e-6)
    np.testing.assert_allclose(moved.qpos, recorded.qpos, atol=1e-6)


def test_the_turn_goes_with_the_distance_as_in_training() -> None:
    assert pytest.approx(0.1) == 0.08 * TURN


@pytest.mark.slow
def test_each_start_is_followed_in_each_room(params) -> None:
    task, policy = task_for("chair"), jnp.zeros(())
    still = track(task, params, hold, policy, STARTS, 8)
    moved = track_moved(task, params, hold, policy, STARTS, 8, Moved(2, 0.0))
    assert moved.error.shape == (8, 2 * len(STARTS))
    np.testing.assert_allclose(moved.error[:, : len(STARTS)], still.error, atol=1e-5)
    np.testing.assert_allclose(moved.error[:, len(STARTS) :], still.error, atol=1e-5)


def test_senseless_numbers_are_refused() -> None:
    chair, bare = [standing(scene="chair")], [standing()]
    wrong = [(chair, -1, 0.1), (chair, 1, -0.1), (chair, 1, np.nan), (bare, 1, 0.1)]
    for clips, count, spread in wrong:
        with pytest.raises(ValueError, match="place"):
            check_places(clips, Moved(count, spread))
    check_places(bare, Moved(0, 0.1))


def test_only_furniture_can_stand_elsewhere() -> None:
    assert furnished([standing(), standing(scene="chair")], np.array([0, 1, 1])).tolist() == [False, True, True]


def test_recorded_and_unseen_places_stand_side_by_side_by_clip() -> None:
    """Three starts, two of the first clip; in the second of two rooms all are lost at once."""
    error = np.full((10, 3), 0.1)
    valid, nothing = np.ones((10, 6), bool), no_likeness(np.zeros((10, 6)))
    unseen = Tracked(*[np.concatenate([error, error + 1], axis=1)] * 6, valid=valid, likeness=nothing)
    found = compare(select(unseen, slice(3)), unseen, np.array([0, 0, 1]), ["sit", "stand"], 36.0)[0.5]
    names = [f"{n}, {w}" for n in (OVERALL, OVER_CLIPS, "sit", "stand") for w in (RECORDED, UNSEEN)]
    assert list(found) == names
    assert [s.n for s in found.values()] == [3, 6, 2, 2, 2, 4, 1, 2]
    assert found[f"sit, {UNSEEN}"].to_end.value == 0.5
    assert found[f"sit, {RECORDED}"].to_end.value == 1.0
