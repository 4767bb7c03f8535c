"""The gait's parts: footsteps, feet that stay where they stand, a body that obeys the pendulum."""

import numpy as np
import pytest

from qes_jax.authoring.balance import GRAVITY, load, pendulum
from qes_jax.authoring.body import LEFT, RIGHT, Body, make_body
from qes_jax.authoring.feet import Stance, foot_course, rolled_ankle
from qes_jax.authoring.gait import TOE_OUT, follow, guide_stand, plan_steps, stand_pose, turn_guide, walk_guide
from qes_jax.authoring.targets import STRAIGHT, reach_height
from qes_jax.authoring.timeline import turned
from qes_jax.motion.clip import FPS


@pytest.fixture(scope="module")
def body() -> Body:
    return make_body()


def test_pendulum_obeys_its_equation() -> None:
    rng = np.random.default_rng(0)
    pressure = np.cumsum(rng.normal(0, 0.01, (200, 2)), axis=0)
    com = pendulum(pressure, np.full(200, 0.95))
    acceleration = np.diff(com, 2, axis=0) * FPS**2
    assert acceleration == pytest.approx(GRAVITY / 0.95 * (com - pressure)[1:-1], abs=1e-8)
    assert com[[0, -1]] == pytest.approx(pressure[[0, -1]])


@pytest.mark.parametrize("speed", [0.6, 1.1, 1.6])
def test_pelvis_goes_no_higher_than_legs_reach(body: Body, speed: float) -> None:
    stand = guide_stand(np.zeros(3))
    targets, _ = follow(body, stand, walk_guide(stand_pose(stand), [(4.0, 0.0)], speed))
    reach = reach_height(body, targets.foot_pos, targets.com, np.zeros(targets.n_frames))
    over = targets.pelvis_pos[:, 2] - reach
    assert over.max() < (1 - STRAIGHT) * body.leg + 0.001  # what soft knees have to spare
    lift = np.diff(targets.pelvis_pos[:, 2], 2) * FPS**2
    assert np.abs(lift).max() < 0.35 * GRAVITY


@pytest.mark.parametrize("pitch", [-0.3, 0.0, 0.2])
def test_a_rolling_foot_keeps_its_pivot(body: Body, pitch: float) -> None:
    spot = np.array([1.0, 2.0, 0.3, 0.8])
    ankle = rolled_ankle(body, spot, np.array([pitch]))[0]
    if pitch <= 0:
        local = np.array([body.heel[0], 0.0, body.heel[1]])
        pivot = ankle + turned(spot[3], pitch).apply(local)
        flat = np.array([1.0, 2.0, 0.3 + body.sole]) + turned(spot[3]).apply(local)
        assert pivot == pytest.approx(flat)
    else:
        assert ankle[2] > 0.3 + body.sole  # the heel is up


def test_a_foot_stands_still_between_steps(body: Body) -> None:
    stances = [Stance(-np.inf, 1.0, np.zeros(4)), Stance(1.5, np.inf, np.array([0.5, 0.0, 0.2, 0.3]))]
    t = np.arange(90) / FPS
    ankle, _, _, yaw = foot_course(body, t, stances)
    assert ankle[t > 1.8] == pytest.approx(np.tile([0.5, 0.0, 0.2 + body.sole], (int((t > 1.8).sum()), 1)))
    assert yaw[-1] == 0.3
    assert ankle[:, 2].max() > 0.3  # it goes over the edge, not through it
    assert np.abs(np.diff(ankle, axis=0)).max() * FPS < 4.0


def test_load_is_shared_in_standing_and_whole_in_single_support() -> None:
    left = [Stance(-np.inf, np.inf, np.zeros(4))]
    right = [Stance(-np.inf, 1.0, np.zeros(4)), Stance(1.6, np.inf, np.zeros(4))]
    t = np.array([0.0, 1.3, 3.0])
    assert load(t, right, left) == pytest.approx([1, 0, 1])
    assert load(t, left, right) == pytest.approx([1, 1, 1])


def test_footsteps_follow_the_guide_and_alternate() -> None:
    stand = guide_stand(np.zeros(3))
    guide = walk_guide(np.zeros(3), [(2.0, 0.0), (4.0, 1.0)], 1.1)
    plan = plan_steps(stand, guide, RIGHT, 0.5)
    lands = sorted([(s.start, side) for side in (LEFT, RIGHT) for s in plan[side][1:]])
    assert [side for _, side in lands] == [(k + 1) % 2 for k in range(len(lands))]
    for stances in plan:
        for stance in stances:
            off = np.linalg.norm(guide.pose[:, :2] - stance.spot[:2], axis=1).min()
            assert off < 0.08  # half the width of a step


@pytest.mark.parametrize("rate", [0.8, 1.2, 1.7])
@pytest.mark.parametrize("angle", [0.4, -1.6, 3.1])
def test_turns_on_the_spot_are_within_what_people_do(angle: float, rate: float) -> None:
    guide = turn_guide(np.zeros(3), angle, rate=rate)
    assert guide.pose[-1, 2] == pytest.approx(angle)
    assert np.abs(np.diff(guide.pose[:, 2])).max() * FPS < np.radians(100)
    plan = plan_steps(guide_stand(np.zeros(3)), guide, LEFT if angle > 0 else RIGHT, 0.5)
    yaws = [[stance.spot[3] for stance in stances] for stances in plan]
    assert max(np.abs(np.diff(yaw)).max() for yaw in yaws) < np.radians(90)  # of one foot in one step
    assert yaws[LEFT][-1] - yaws[RIGHT][-1] == pytest.approx(2 * TOE_OUT)  # in the end they stand as they stood


def test_walking_and_turning_end_where_they_should(body: Body) -> None:
    stand = guide_stand(np.zeros(3))
    _, there = follow(body, stand, walk_guide(np.zeros(3), [(2.0, 0.5)], 1.0, final_yaw=1.0))
    assert stand_pose(there) == pytest.approx([2.0, 0.5, 1.0], abs=1e-6)
    _, around = follow(body, there, turn_guide(stand_pose(there), np.pi))
    assert around.center == pytest.approx([2.0, 0.5], abs=1e-6)
    assert np.cos(around.yaw - 1.0) == pytest.approx(-1.0)
