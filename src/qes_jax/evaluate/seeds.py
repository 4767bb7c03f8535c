"""What several seeds say together: means with intervals, paired comparisons, and Holm's correction for many of them.

One seed is one training, and trainings differ: an interval over the episodes of a single one says nothing of the next.
Here each seed counts as one number. Intervals are Student's at 95 %, over seeds; a bootstrap of three to five numbers
would be too narrow. Comparisons are paired by seed (t test on the differences, two-sided): a rank test of five pairs
can never fall below p = 0.06.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from qes_jax.evaluate.metrics import NOTHING, Estimate

LEVEL = 0.05  # of a corrected p below which a difference counts as shown


class Paired(NamedTuple):
    """One setting against another, over the seeds that both have."""

    n: int  # seeds
    difference: Estimate  # the other's mean minus the first's
    p: float  # two-sided; NaN where no test follows


def half_width(values: Any) -> np.ndarray:
    """Half the interval of the mean of values (S, ...) over S seeds: t(0.975, S-1) s / sqrt(S). NaN for one seed."""
    values = np.asarray(values, float)
    if len(values) < 2:
        return np.full(values.shape[1:], np.nan)
    return stats.t.ppf(0.975, len(values) - 1) * values.std(axis=0, ddof=1) / np.sqrt(len(values))


def over_seeds(values: Sequence[float], least: float = -np.inf, most: float = np.inf) -> Estimate:
    """Mean over seeds, with its interval within what the quantity can be.

    No interval follows from one seed, nor from seeds that all agree: nothing tells how far others would be.
    """
    known = np.array([x for x in values if np.isfinite(x)], float)
    if len(known) == 0:
        return NOTHING
    mean, half = float(known.mean()), float(half_width(known))
    if not half > 1e-12 * abs(mean):
        return NOTHING._replace(value=mean)
    return Estimate(mean, max(mean - half, least), min(mean + half, most))


def paired(first: Mapping[int, float], other: Mapping[int, float]) -> Paired:
    """Compare values by seed. No test follows (p is NaN) from fewer than two pairs, nor where all differ by the same
    amount, which has no spread to judge it by; differences that are all 0 have p = 1.
    """
    seeds = [s for s in first if s in other and np.isfinite(first[s]) and np.isfinite(other[s])]
    differences = np.array([other[s] - first[s] for s in seeds], float)
    return Paired(len(seeds), over_seeds(differences), _p_value(differences))


def _p_value(differences: np.ndarray) -> float:
    if len(differences) < 2:
        return np.nan
    if np.ptp(differences) <= 1e-12 * np.abs(differences).max():
        return np.nan if differences.any() else 1.0
    return float(stats.ttest_1samp(differences, 0.0).pvalue)


def holm(p: Sequence[float]) -> np.ndarray:
    """p values adjusted for m comparisons (Holm 1979): of the k-th smallest max over i <= k of (m - i + 1) p_i, at
    most 1. NaN stays NaN and is not counted.
    """
    p = np.asarray(p, float)
    adjusted = np.full(len(p), np.nan)
    order = [i for i in np.argsort(p) if np.isfinite(p[i])]
    steps = p[order] * (len(order) - np.arange(len(order)))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def shown(corrected: float) -> bool:
    """Whether a corrected p is below LEVEL. NaN is not."""
    return bool(corrected < LEVEL)
