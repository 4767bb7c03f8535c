"""What a session does with a user who comes, moves, is lost, leaps, leaves and comes back. No physics here."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from qes_jax.live.session import Live
from qes_jax.live.wire import RECENTRED
from qes_jax.motion.frames import turn_points, turn_quats, yaw_of
from tests.live.people import DT, FIGURE, puppet_room, sample, user


class Stage:
    """A session with a device that sends two samples a tick. `now` [s]."""

    def __init__(self, folder: Path) -> None:
        self.live, self.now, self.n = Live(puppet_room(), folder), 0.0, 0
        self.user = user()

    def run(self, seconds: float, where: Callable | None = None, **more) -> list[str]:
        """The phases of each tick while the user is at `where(time since)`; `more` goes into the samples."""
        phases = []
        for tick in range(round(seconds / DT)):
            for half in (0.0, DT / 2):
                pos, quat = self.user if where is None else where(tick * DT + half)
                self.n += 1
                self.live.take(sample(self.n, self.now + half + 50.0, pos, quat, **more), self.now + half + 0.004)
            self.now += DT
            self.live.tick(self.now)
            phases.append(self.live.phase)
        return phases

    def silent(self, seconds: float) -> None:
        for _ in range(round(seconds / DT)):
            self.now += DT
            self.live.tick(self.now)

    @property
    def body(self) -> np.ndarray:
        """Where the body was last told that headset and hands are."""
        return self.live.room.follower.steps[-1][0]  # type: ignore[attr-defined]

    @property
    def resets(self) -> int:
        return len(self.live.room.follower.resets) - 1  # type: ignore[attr-defined]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


@pytest.fixture
def following(stage: Stage) -> Stage:
    assert stage.run(2.0)[-1] == "live"
    return stage


def test_a_user_who_stands_still_gets_a_body_of_their_own_size(stage: Stage) -> None:
    stage.user = user(scale=0.9, yaw=2.0, at=(4.0, -1.0))
    phases = stage.run(2.0)
    assert phases[3] == "still" and phases[-1] == "live"
    np.testing.assert_allclose(stage.body[0], [0, 0, FIGURE.eye_height], atol=0.01)
    np.testing.assert_allclose(stage.body[1], FIGURE.pos[1] - [FIGURE.pos[0, 0], 0, 0], atol=0.02)


def test_who_keeps_walking_is_asked_to_stand_still(stage: Stage) -> None:
    pos, quat = user()
    stage.run(2.0, lambda t: (pos + np.array([t, 0, 0]), quat))
    assert stage.live.phase == "still"
    assert "still" in stage.live.status()["say"]


def test_a_lost_hand_is_held_then_sinks_and_glides_back(following: Stage) -> None:
    raised = [p.copy() for p in following.user]
    raised[0][1] += [0.2, 0.0, 0.5]
    following.user = tuple(raised)
    following.run(1.0)
    high = following.body[1, 2]
    following.run(0.7, tracked=(1, 0, 1))
    assert following.body[1, 2] == pytest.approx(high, abs=0.01)
    assert following.live.status()["held"] == ["left controller"]
    following.run(2.0, tracked=(1, 0, 1))
    low = FIGURE.rest_pos[1, 2] - FIGURE.rest_pos[0, 2] + following.body[0, 2]
    assert following.body[1, 2] == pytest.approx(low, abs=0.02)
    before = following.body[1].copy()
    following.run(2 * DT)
    assert 0 < np.linalg.norm(following.body[1] - before) < 2.6 * 2 * DT
    following.run(1.0)
    assert following.body[1, 2] == pytest.approx(high, abs=0.01)
    assert following.live.status()["held"] == []
    assert following.resets == 1


def test_no_hand_moves_faster_than_it_may_where_it_leaps(following: Stage) -> None:
    pos, quat = (x.copy() for x in following.user)
    pos[2] += [0.4, 0.5, 0.6]
    following.run(1.0, lambda t: (pos, quat))
    path = np.array([p[2] for p, _ in following.live.room.follower.steps])  # type: ignore[attr-defined]
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).max() <= 2.5 * DT + 1e-6
    np.testing.assert_allclose(path[-1] - path[0], [0.4, 0.5, 0.6], atol=0.01)


@pytest.mark.parametrize("told", [True, False])
def test_the_body_stays_where_a_device_moves_its_origin(following: Stage, told: bool) -> None:
    before = following.body.copy()
    pos, quat = following.user
    following.user = turn_points(pos, 1.0) + np.array([1.0, 0.5, 0]), turn_quats(quat, 1.0)
    following.run(DT, buttons=RECENTRED if told else 0)
    following.run(1.0)
    assert following.live.count.recentred == 1
    np.testing.assert_allclose(following.body, before, atol=0.02)
    assert following.resets == 1


def test_a_small_move_of_the_origin_is_known_where_it_is_told(following: Stage) -> None:
    before = following.body.copy()
    following.user = following.user[0] + np.array([0.3, 0, 0]), following.user[1]
    following.run(DT, buttons=RECENTRED)
    following.run(1.0)
    np.testing.assert_allclose(following.body, before, atol=0.01)


def test_a_headset_that_leaps_alone_is_waited_for(following: Stage) -> None:
    before = following.body.copy()
    odd = following.user[0].copy()
    odd[0] += [2.0, 0, 0]
    assert following.run(3 * DT, lambda t: (odd, following.user[1]))[-1] == "live"
    np.testing.assert_allclose(following.body, before, atol=0.01)
    following.run(0.5)
    np.testing.assert_allclose(following.body, before, atol=0.01)
    assert "still" in following.run(0.7, lambda t: (odd, following.user[1]))


@pytest.mark.parametrize("how", [{"visible": False}, {"tracked": (0, 1, 1)}])
def test_a_headset_that_is_taken_off_pauses_and_comes_back(following: Stage, how: dict) -> None:
    assert following.run(2.0, **how)[-1] == "away"
    steps = len(following.live.room.follower.steps)  # type: ignore[attr-defined]
    following.run(1.0, **how)
    assert len(following.live.room.follower.steps) == steps  # type: ignore[attr-defined]
    assert following.run(0.3)[-1] == "live"
    assert following.resets == 1
    following.run(2.0, **how)
    following.user = following.user[0] + np.array([1.5, 0, 0]), following.user[1]
    assert following.run(2.0)[-1] == "live"
    assert following.resets == 2  # too far away: it stands anew


def test_silence_is_an_absence(following: Stage) -> None:
    following.silent(2.0)
    assert following.live.phase == "away"
    assert following.run(0.3)[-1] == "live"


def test_a_fallen_body_stands_again_where_the_user_is(following: Stage) -> None:
    following.live.room.follower.off = 0.9  # type: ignore[attr-defined]
    assert "fallen" in following.run(1.0)
    following.live.room.follower.off = 0.0  # type: ignore[attr-defined]
    away = following.user[0] + np.array([0.5, 0.2, 0])
    assert following.run(2.0, lambda t: (away, following.user[1]))[-1] == "live"
    assert following.live.count.falls == 1
    np.testing.assert_allclose(following.body[0, :2], [0.5, 0.2], atol=0.02)


def test_who_lies_down_is_asked_to_stand_up(following: Stage) -> None:
    following.live.room.follower.off = np.inf  # type: ignore[attr-defined]
    low = following.user[0] * [1, 1, 0.5]
    following.run(2.5, lambda t: (low, following.user[1]))
    assert "stand up" in following.live.status()["say"]


def test_three_seconds_measure_a_user(following: Stage, tmp_path: Path) -> None:
    following.user = user(arms=1.1)
    following.run(0.2)
    following.live.command({"do": "calibrate", "name": "anna"}, following.now)
    assert following.run(1.0)[-1] == "calibrating"
    following.run(4.0)
    assert following.live.phase == "live"
    assert following.live.person.arms == pytest.approx(1.1, abs=0.02)
    assert (tmp_path / "anna.json").is_file()
    following.live.person = replace(following.live.person, arms=1.0)
    following.live.command({"do": "person", "name": "anna"}, following.now)
    assert following.live.person.arms == pytest.approx(1.1, abs=0.02)


def test_a_measure_without_controllers_says_why_not(following: Stage) -> None:
    following.live.command({"do": "calibrate"}, following.now)
    following.run(4.5, tracked=(1, 1, 0))
    assert "controller is not seen" in following.live.note
    assert following.live.phase == "live"


def test_recentring_puts_the_user_at_the_origin(following: Stage) -> None:
    walked = following.user[0] + np.array([1.0, 0.6, 0])
    following.run(1.5, lambda t: (following.user[0] + min(t, 1) * np.array([1.0, 0.6, 0]), following.user[1]))
    assert following.body[0, 0] == pytest.approx(1.0, abs=0.05)
    following.live.command({"do": "recentre"}, following.now)
    following.run(1.5, lambda t: (walked, following.user[1]))
    np.testing.assert_allclose(following.body[0, :2], 0, atol=0.01)
    assert float(yaw_of(following.live.points[1][0])) == pytest.approx(0, abs=1e-6)


def test_the_floor_is_where_a_controller_lies(following: Stage) -> None:
    laid = following.user[0].copy()
    laid[2, 2] = -0.17
    following.run(1.0, lambda t: (laid, following.user[1]))
    following.live.command({"do": "floor"}, following.now)
    assert following.live.person.floor == pytest.approx(-0.2, abs=0.01)
    following.run(1.5)
    assert following.live.person.eye_height == pytest.approx(FIGURE.eye_height + 0.2, abs=0.01)


def test_a_pause_holds_the_body(following: Stage) -> None:
    following.live.command({"do": "pause"}, following.now)
    steps = len(following.live.room.follower.steps)  # type: ignore[attr-defined]
    following.run(1.0)
    assert len(following.live.room.follower.steps) == steps  # type: ignore[attr-defined]
    following.live.command({"do": "pause"}, following.now)
    assert following.run(1.5)[-1] == "live"


@pytest.mark.parametrize(
    "words",
    [{}, {"do": 3}, {"do": "fly"}, {"do": "calibrate", "name": "../x"}, {"do": "person", "name": "nobody"},
     {"do": "move", "piece": "couch", "x": 0, "y": 0, "yaw": 0}, {"do": "move"}],
)  # fmt: skip
def test_what_cannot_be_done_is_refused(following: Stage, words: dict) -> None:
    with pytest.raises((ValueError, KeyError, OSError)):
        following.live.command(words, following.now)
    assert following.run(0.2)[-1] == "live"


def test_absurd_samples_change_nothing(following: Stage) -> None:
    before = following.body.copy()
    odd = np.full((3, 3), 1e9)
    following.run(0.2, lambda t: (odd, following.user[1]), tracked=(0, 0, 0))
    np.testing.assert_allclose(following.body, before, atol=0.01)
    assert following.live.phase == "live"
