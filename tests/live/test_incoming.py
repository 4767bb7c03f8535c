"""Samples on another clock, late, doubled, lost: what comes of them at each control step."""

import numpy as np
import pytest

from qes_jax.live.incoming import Incoming
from qes_jax.live.wire import Sample
from tests.live.people import sample, user

POS, QUAT = user()


def moving(n: int, t: float, **more) -> Sample:
    """Someone who walks at 1 m/s along X."""
    return sample(n, t, POS + np.array([t, 0, 0]), QUAT, **more)


def fed(rate: float = 72.0, seconds: float = 2.0, skew: float = 1000.0, delay=lambda i: 0.01) -> tuple[Incoming, float]:
    """Samples of a device whose clock is `skew` ahead, which arrive `delay(i)` late; and the time of the last."""
    incoming, arrival = Incoming(), 0.0
    for i in range(int(rate * seconds)):
        t = i / rate
        arrival = max(arrival, t + delay(i))
        incoming.take(moving(i, t + skew), arrival)
    return incoming, arrival


@pytest.mark.parametrize("skew", [1000.0, -5.0, 1e6])
def test_poses_are_interpolated_at_the_users_own_time(skew: float) -> None:
    incoming, now = fed(skew=skew)
    a, b = (incoming.at(now + dt) for dt in (-0.2, -0.1))
    np.testing.assert_allclose(b.pos[:, 0] - a.pos[:, 0], 0.1, atol=1e-6)
    assert (a.age == 0).all() and a.visible
    lag = now + skew - (incoming.at(now).pos[0, 0] - POS[0, 0])
    assert 0.01 < lag < 0.05


def test_uneven_delays_widen_the_margin_and_motion_stays_even() -> None:
    rng = np.random.default_rng(0)
    wild, now = fed(delay=lambda i: 0.01 + 0.05 * rng.random())
    calm, _ = fed()
    assert wild.clock.margin > calm.clock.margin + 0.03
    path = [wild.at(t).pos[0, 0] for t in np.arange(now - 0.4, now - 0.02, 1 / 36)]
    np.testing.assert_allclose(np.diff(path), 1 / 36, atol=1e-6)


def test_a_late_or_doubled_sample_is_left_out() -> None:
    incoming, now = fed()
    incoming.take(moving(1, 1000.5), now + 0.01)
    incoming.take(moving(1, 1000.5), now + 0.01)
    assert incoming.left_out["late"] == 2


def test_a_clock_that_was_set_back_is_followed_after_half_a_second() -> None:
    incoming, now = fed()
    for i in range(72):
        incoming.take(moving(i, i / 72), now + i / 72)
    assert incoming.left_out["clock"] == 1
    assert incoming.left_out["late"] == pytest.approx(36, abs=2)
    assert incoming.at(now + 1.0).pos[0, 0] == pytest.approx(POS[0, 0] + 1.0, abs=0.05)


def test_a_clock_far_ahead_is_followed_at_once() -> None:
    incoming, now = fed()
    incoming.take(moving(0, 5000.0), now + 0.01)
    assert incoming.left_out["clock"] == 1
    assert incoming.at(now + 0.03).pos[0, 0] == pytest.approx(POS[0, 0] + 5000.0)


def test_a_lost_point_keeps_its_last_pose_and_ages() -> None:
    incoming, now = fed()
    for i in range(36):
        incoming.take(moving(i, 1002 + i / 72, tracked=(1, 0, 1)), now + i / 72)
    seen = incoming.at(now + 0.5)
    assert seen.age[1] == pytest.approx(0.5, abs=0.06)
    assert seen.age[0] < 0.05 and seen.age[2] < 0.05
    assert seen.pos[1, 0] < seen.pos[0, 0] - 0.3


def test_what_was_never_seen_has_no_age() -> None:
    assert np.isinf(Incoming().at(3.0).age).all()
