"""Furniture moved in evaluation: as far as it is said, the same for all, and nothing else."""

import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.evaluate.places import TURN, Moved, track_moved, trackers
from qes_jax.evaluate.rollout import begin, evaluation_task, track
from qes_jax.motion.library import pack
from tests.evaluate.standing import hold, standing, task_for

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
