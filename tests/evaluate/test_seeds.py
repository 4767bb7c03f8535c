"""Statistics over seeds against SciPy, a correction worked by hand, and what one seed cannot say."""

import numpy as np
import pytest
from scipy import stats

from qes_jax.evaluate.seeds import half_width, holm, over_seeds, paired, shown

FULL = {0: 0.81, 1: 0.77, 2: 0.90, 3: 0.84, 4: 0.79}
OTHER = {0: 0.70, 1: 0.71, 2: 0.75, 3: 0.80, 4: 0.66}


def test_the_interval_is_scipy_s() -> None:
    values = list(FULL.values())
    low, high = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert over_seeds(values) == pytest.approx((np.mean(values), low, high))


def test_three_numbers_by_hand() -> None:
    """1, 2, 3: mean 2, deviation 1, t(0.975, 2) = 4.3027, so 2 +- 4.3027 / sqrt(3)."""
    assert over_seeds([1.0, 2.0, 3.0]) == pytest.approx((2.0, 2.0 - 2.48413, 2.0 + 2.48413), abs=1e-4)


def test_one_seed_has_a_value_and_no_interval() -> None:
    value, low, high = over_seeds([0.5])
    assert value == 0.5 and np.isnan(low) and np.isnan(high)
    assert np.isnan(over_seeds([])).all()
    assert np.isnan(half_width(np.ones((1, 4)))).all()


def test_seeds_that_all_agree_have_no_interval_either() -> None:
    value, low, high = over_seeds([0.3, 0.3, 0.3])
    assert value == pytest.approx(0.3) and np.isnan(low) and np.isnan(high)


def test_no_interval_leaves_what_the_quantity_can_be() -> None:
    assert over_seeds([0.0, 0.1, 0.9], 0.0, 1.0)[1:] == (0.0, 1.0)


def test_what_a_seed_does_not_have_is_left_out() -> None:
    assert over_seeds([1.0, np.nan, 3.0]) == pytest.approx(over_seeds([1.0, 3.0]))


def test_the_interval_covers_the_mean_as_often_as_it_says() -> None:
    draws = np.random.default_rng(0).normal(3.0, 2.0, (5, 20_000))
    inside = np.abs(draws.mean(axis=0) - 3.0) <= half_width(draws)
    assert inside.mean() == pytest.approx(0.95, abs=0.005)


def test_a_comparison_is_scipy_s_paired_test() -> None:
    found = paired(FULL, OTHER)
    expected = stats.ttest_rel(list(OTHER.values()), list(FULL.values()))
    assert found.n == 5
    assert found.p == pytest.approx(expected.pvalue)
    assert found.difference[1:] == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert found.difference.value == pytest.approx(-0.098)


def test_only_seeds_that_both_have_are_paired_whatever_their_order() -> None:
    some = {4: 0.66, 1: 0.71, 7: 0.1, 3: 0.80}
    found, expected = paired(FULL, some), paired({s: FULL[s] for s in (1, 3, 4)}, OTHER)
    assert (found.n, found.p) == pytest.approx((3, expected.p))
    assert found.difference == pytest.approx(expected.difference)


def test_no_test_follows_from_one_pair_or_without_any_spread() -> None:
    one = paired({0: 0.8}, {0: 0.1})
    assert one.n == 1 and np.isnan(one.p) and np.isnan(one.difference.low)
    assert np.isnan(paired({0: 0.5, 1: 0.75}, {0: 0.25, 1: 0.5}).p)
    assert paired({0: 0.5, 1: 0.75}, {0: 0.5, 1: 0.75}).p == 1.0
    assert not shown(one.p)


def test_holm_by_hand() -> None:
    """0.005 x 4 = 0.02, 0.01 x 3 = 0.03, 0.03 x 2 = 0.06, 0.04 x 1 = 0.04 but no less than the one before: 0.06."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert [shown(p) for p in holm([0.01, 0.04, 0.03, 0.005])] == [True, False, False, True]


def test_holm_does_not_count_what_was_not_tested_and_stops_at_one() -> None:
    assert holm([np.nan, 0.02, 0.9, 0.8]) == pytest.approx([np.nan, 0.06, 1.0, 1.0], nan_ok=True)
    assert len(holm([])) == 0


def test_holm_keeps_false_alarms_to_the_level() -> None:
    """Of 2000 tables of 12 comparisons of equals, 5 % at most claim anything; uncorrected it would be 46 %."""
    p = np.random.default_rng(1).random((2000, 12))
    assert np.mean([any(shown(x) for x in holm(row)) for row in p]) < 0.065
    assert np.mean((p < 0.05).any(axis=1)) > 0.4
