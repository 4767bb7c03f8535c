"""Metrics of made-up errors, against answers worked out by hand and against SciPy."""

import jax
import numpy as np
import pytest
from scipy import stats

from qes_jax.evaluate.metrics import (
    bootstrap,
    mean_before,
    mean_frames,
    over_groups,
    scores,
    success_rate,
    tracked_span,
    wilson,
)
from qes_jax.evaluate.rollout import Tracked, select
from tests.evaluate.standing import no_likeness

FPS = 2.0  # 20 s are 40 steps, 30 s are 60


def tracked(error: np.ndarray, valid: np.ndarray | None = None) -> Tracked:
    valid = np.ones(error.shape, bool) if valid is None else valid
    return Tracked(error, 2 * error, error / 2, 10 * error, 3 * error, 1 - error, valid, no_likeness(error))


@pytest.fixture
def four() -> Tracked:
    """60 steps: one holds, one fails at step 10, one at step 45 (at 0.5 m only), one's clip ends after 20."""
    error, valid = np.full((60, 4), 0.1), np.ones((60, 4), bool)
    error[10:, 1] = 0.9
    error[45, 2] = 0.6
    valid[20:, 3] = False
    error[20:, 3] = 5.0  # beyond the clip: must not count
    return tracked(error, valid)


def test_span_ends_at_the_first_failure_or_at_the_clip_end(four: Tracked) -> None:
    strict, loose = tracked_span(four, 0.5), tracked_span(four, 0.8)
    assert strict.frames.tolist() == [60, 10, 45, 20]
    assert strict.failed.tolist() == [False, True, True, False]
    assert loose.frames.tolist() == [60, 10, 60, 20]
    assert loose.failed.tolist() == [False, True, False, False]


def test_an_error_at_the_threshold_is_no_failure_and_nan_or_infinity_is_one() -> None:
    error = np.full((5, 3), 0.5)
    error[1, 1], error[2, 2] = np.nan, np.inf
    span = tracked_span(tracked(error), 0.5)
    assert span.frames.tolist() == [5, 1, 2]
    assert span.failed.tolist() == [False, True, True]


def test_scores_count_only_episodes_whose_clip_was_long_enough(four: Tracked) -> None:
    strict, loose = scores(four, 0.5, FPS), scores(four, 0.8, FPS)
    assert strict.n == 4
    assert strict.success_20s.value == pytest.approx(2 / 3)
    assert strict.success_30s.value == pytest.approx(1 / 3)
    assert loose.success_30s.value == pytest.approx(2 / 3)
    assert strict.mean_frames.value == pytest.approx((60 + 10 + 45) / 3)
    assert strict.mean_tracked_s.value == pytest.approx((60 + 10 + 45) / 3 / FPS)


def test_of_thirty_seconds_nothing_is_said_where_only_twenty_were_followed(four: Tracked) -> None:
    shorter = scores(jax.tree.map(lambda x: x[:40], four), 0.5, FPS)
    assert shorter.success_20s.value == pytest.approx(2 / 3)
    assert np.isnan([shorter.success_30s.value, shorter.mean_frames.value, shorter.mean_tracked_s.value]).all()


def test_error_and_jerk_count_only_before_failure(four: Tracked) -> None:
    strict, loose = scores(four, 0.5, FPS), scores(four, 0.8, FPS)
    assert strict.error_cm.value == pytest.approx(10.0)
    assert strict.headset_error_cm.value == pytest.approx(20.0)
    assert strict.controllers_error_cm.value == pytest.approx(5.0)
    assert strict.jerk.value == pytest.approx(1.0)
    assert strict.body_error_cm.value == pytest.approx(30.0)
    assert strict.contact.value == pytest.approx(0.9)
    assert loose.error_cm.value == pytest.approx(100 * (0.1 * 149 + 0.6) / 150)  # 60 + 10 + 60 + 20 steps


def test_a_mean_leaves_nan_out_and_weights_steps_not_episodes() -> None:
    error = np.zeros((4, 2))
    error[2:, 1] = 1.0
    values = np.array([[np.nan, np.nan], [1.0, 5.0], [2.0, 7.0], [3.0, 9.0]])
    assert mean_before(values, tracked_span(tracked(error), 0.5)).value == pytest.approx((1 + 2 + 3 + 5) / 4)


def test_nothing_to_estimate_gives_nan() -> None:
    unknown = np.full((3, 2), np.nan)  # only the sensors were recorded
    assert np.isnan(scores(tracked(np.zeros((3, 2)))._replace(body=unknown), 0.5, FPS).body_error_cm.value)
    span = tracked_span(tracked(np.full((3, 2), 9.0)), 0.5)
    assert np.isnan(mean_before(np.ones((3, 2)), span).value)
    short = tracked_span(tracked(np.zeros((3, 2))), 0.5)
    assert np.isnan(success_rate(short, 10).value)
    assert np.isnan(mean_frames(short, 10).value)


@pytest.mark.parametrize(("k", "n"), [(0, 7), (3, 7), (7, 7), (180, 200)])
def test_wilson_is_scipys(k: int, n: int) -> None:
    expected = stats.binomtest(k, n).proportion_ci(method="wilson")
    assert wilson(k, n) == pytest.approx((k / n, expected.low, expected.high), abs=1e-6)


def test_bootstrap_interval_is_about_the_normal_one() -> None:
    values = np.random.default_rng(1).normal(3.0, 2.0, 400)
    half = 1.96 * values.std() / np.sqrt(len(values))
    found = bootstrap(values)
    assert found.value == pytest.approx(values.mean())
    assert found.high - found.value == pytest.approx(half, rel=0.15)
    assert found.value - found.low == pytest.approx(half, rel=0.15)


def test_bootstrap_resamples_episodes_and_not_steps() -> None:
    values, weight = np.array([0.0, 1000.0] * 20), np.full(40, 1000.0)  # 40 episodes, each of one kind throughout
    found = bootstrap(values, weight)
    assert found.value == pytest.approx(0.5)
    assert found.high - found.low == pytest.approx(2 * 1.96 * 0.5 / np.sqrt(40), rel=0.2)


def test_a_mean_over_clips_counts_each_once_and_leaves_out_what_has_none(four: Tracked) -> None:
    one, rest = (scores(select(four, np.array(i)), 0.5, FPS) for i in ([0], [1, 2]))
    found = over_groups([one, rest])
    assert found.n == 2
    assert found.success_20s.value == pytest.approx((1 + 1 / 2) / 2)
    assert np.isnan(over_groups([scores(select(four, [3]), 0.5, FPS)] * 3).success_30s.value)
    assert over_groups([one, rest, scores(select(four, [3]), 0.5, FPS)]).success_20s == found.success_20s
