"""Chairs that move and hands that help, against what they should do."""

import numpy as np
import pytest

from qes_jax.authoring.body import LEFT, Body, make_body
from qes_jax.authoring.floor import TUCK, Foot, Key, play
from qes_jax.authoring.furniture import Visit, seat_of, sit
from qes_jax.authoring.gait import guide_stand
from qes_jax.authoring.sitting import give_way, hold, recline
from qes_jax.authoring.swivel import PUSH, pushes, swivel
from qes_jax.authoring.timeline import turned
from qes_jax.model.scene import Piece


@pytest.fixture(scope="module")
def body() -> Body:
    return make_body()


def test_body_and_feet_go_around_with_the_chair(body: Body) -> None:
    seat, visit = seat_of(Piece("chair", "office_chair", pos=(1.0, 2.0, 0.0), yaw=0.4)), Visit(seated=9.0)
    plan = pushes(visit, [1.3, -0.5], 0.5)
    assert all(abs(push.by) <= PUSH for push in plan) and sum(p.by for p in plan) == pytest.approx(0.8)
    still = sit(body, seat, visit)
    moved = swivel(body, still, seat, visit, plan)
    assert moved.objects[[0, -1], 0] == pytest.approx([0.0, 0.8])
    turn, center = turned(np.array([0.8])), np.array([*seat.xy, 0.0])
    for field in ("foot_pos", "pelvis_pos"):
        before, after = getattr(still, field)[-1], getattr(moved, field)[-1]
        assert after == pytest.approx(center + turn.apply(before - center).reshape(after.shape), abs=1e-6)


def test_a_backrest_gives_way_until_it_touches_the_chest(body: Body) -> None:
    seat, visit = seat_of(Piece("chair", "tilting_chair")), Visit(seated=9.0)
    targets = recline(body, sit(body, seat, visit), seat, 2.5, 9.0, 0.26, 0.25)
    tilt = give_way(targets, seat, (0.25, 0.42), 0.02, 0.49)
    assert tilt[0] == tilt[-1] == 0.0
    assert 0.1 < tilt.max() <= 0.49 and np.argmax(tilt) / 36 == pytest.approx(6.0, abs=2.5)


def test_a_hand_that_cannot_reach_lets_go(body: Body) -> None:
    targets = sit(body, seat_of(Piece("stool", "stool")), Visit())
    far = hold(targets, LEFT, np.array([0.0, 3.0, 0.5]), 3.0, 5.0)
    assert np.array_equal(far.hand_weight, targets.hand_weight)
    firm = hold(targets, LEFT, np.array([0.0, 3.0, 0.5]), 3.0, 5.0, firm=True)
    assert firm.hand_weight[4 * 36, LEFT] == 1.0 and firm.hand_pos[4 * 36, LEFT] == pytest.approx([0.0, 3.0, 0.5])


def test_a_foot_rolls_about_the_tips_of_its_toes(body: Body) -> None:
    stand = guide_stand(np.zeros(3))
    keys = [Key(1.0, (0.0, 0.8), feet=(Foot(0.0, TUCK), Foot())), Key(1.0, (0.055, 0.9))]
    targets = play(body, stand, keys, [])
    middle = 36  # frames: the heel is up
    flat = turned(stand.feet[LEFT, 3]).apply([body.toe_joint[0] + body.toe, 0.0, body.toe_joint[1]])
    pitch = TUCK
    hinge = targets.foot_pos[middle, LEFT] + turned(stand.feet[LEFT, 3], pitch).apply(
        [body.toe_joint[0], 0.0, body.toe_joint[1]]
    )
    tips = hinge + turned(stand.feet[LEFT, 3], pitch - targets.toes[middle, LEFT]).apply([body.toe, 0.0, 0.0])
    assert tips == pytest.approx(targets.foot_pos[0, LEFT] + flat, abs=1e-6)
