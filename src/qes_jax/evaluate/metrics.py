"""The paper's metrics, from recorded errors: pure functions of arrays (T, B), T control steps of B episodes.

An episode has failed at the first step whose mean error over headset and controllers exceeds a threshold (0.8 m in the
paper, 0.5 m besides, as others in the field use). L is the number of steps before that, or before the clip ends:

- success after s seconds: share of episodes with L >= s fps;
- tracked time: mean of min(L, 30 fps), in frames (the paper's success [frame]) and in seconds;
- error and jerk: means over the steps before failure, of all episodes together;
- so are two of our own, of what the policy is not told: the mean distance of all links from the user's (which the field
  calls MPJPE), and the agreement of contacts with the labels, 1 where the same links touch the same things;
- and so are the measures of likeness (likeness.py), the user's over the same steps beside those of the simulated body.

An episode whose clip ends before the s or 30 seconds without a failure tells nothing of them and is left out there;
where none was followed that long nothing is said, for the failed ones alone would be.

Intervals are at 95 %: Wilson's for shares, a bootstrap over episodes for means. Neighbouring start frames see much the
same motion: episodes are not independent, and both are too narrow as a statement about other motions. Means over clips
(`over_groups`) count each clip once however long it is, and resample clips. Of fewer than FEW episodes, or clips, an
interval says nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from qes_jax.evaluate.likeness import Likeness
from qes_jax.evaluate.rollout import Tracked

THRESHOLDS = (0.8, 0.5)  # [m]
FEW = 8  # episodes below which no interval is given, our choice
SHARES = ("success_20s", "success_30s", "to_end")  # fields of Scores that are shares of episodes
Z95 = 1.959964
AT_ONCE = 1_000_000  # counts that a bootstrap draws at once


class Estimate(NamedTuple):
    """A value with its 95 % interval. NaN where there is nothing to estimate it from."""

    value: float
    low: float
    high: float


NOTHING = Estimate(np.nan, np.nan, np.nan)


@dataclass(frozen=True)
class Scores:
    """What the results table says of a set of episodes at one threshold."""

    n: int  # episodes
    success_20s: Estimate
    success_30s: Estimate
    to_end: Estimate  # success to the end of what was followed, however long that is
    mean_tracked_s: Estimate  # of at most 30 s
    mean_frames: Estimate  # the same in frames
    error_cm: Estimate
    headset_error_cm: Estimate
    controllers_error_cm: Estimate
    jerk: Estimate  # [m/s^3]
    body_error_cm: Estimate
    contact: Estimate  # in [0, 1]
    slip_cm_s: Estimate  # of feet on the floor
    user_slip_cm_s: Estimate
    fast_share: Estimate  # of the links' motion above 6 Hz, in [0, 1]
    user_fast_share: Estimate
    steps_per_s: Estimate
    user_steps_per_s: Estimate
    steps_ratio: Estimate  # the body's over the user's
    flying: Estimate  # share of the time without a foot on anything, in [0, 1]
    user_flying: Estimate
    watt: Estimate  # [W] mean mechanical power of all joints


class Span(NamedTuple):
    """How long each of B episodes was tracked."""

    frames: np.ndarray  # (B,) int steps before failure or the clip's end
    failed: np.ndarray  # (B,) bool: it ended by failure


def tracked_span(tracked: Tracked, threshold: float) -> Span:
    """Steps before the first error above `threshold` [m]. A NaN error within the clip counts as a failure."""
    lost = ~(tracked.error <= threshold) & tracked.valid
    over = lost | ~tracked.valid
    n_frames = len(over)
    first = np.where(over.any(axis=0), over.argmax(axis=0), n_frames)
    failed = (first < n_frames) & lost[np.minimum(first, n_frames - 1), np.arange(over.shape[1])]
    return Span(first, failed)


def success_rate(span: Span, frames: int) -> Estimate:
    """Share of episodes tracked for at least `frames` steps, of those that failed or whose clip is that long."""
    known = span.failed | (span.frames >= frames)
    return wilson(int((span.frames[known] >= frames).sum()), int(known.sum()))


def mean_frames(span: Span, frames: int) -> Estimate:
    """Mean of min(L, frames) over the episodes that last this long or failed."""
    known = span.failed | (span.frames >= frames)
    return bootstrap(np.minimum(span.frames[known], frames))


def mean_before(values: np.ndarray, span: Span) -> Estimate:
    """Mean of values (T, B) over all steps before failure, NaN left out; the bootstrap resamples episodes."""
    return share_before(values, np.ones_like(values), span)


def share_before(values: np.ndarray, whole: np.ndarray, span: Span) -> Estimate:
    """Sum of values (T, B) over that of `whole` (T, B), of steps before failure where both are numbers; likewise."""
    used = (np.arange(len(values))[:, None] < span.frames) & np.isfinite(values) & np.isfinite(whole)
    total, weight = (np.where(used, x, 0.0).sum(axis=0, dtype=np.float64) for x in (values, whole))
    return bootstrap(total, weight)


def scores(tracked: Tracked, threshold: float, fps: float) -> Scores:
    """All metrics of a set of episodes at one threshold [m]."""
    span, longest = tracked_span(tracked, threshold), len(tracked.error)
    in_20s, in_30s = round(20 * fps), round(30 * fps)
    frames = mean_frames(span, in_30s) if longest >= in_30s else NOTHING
    return Scores(
        n=tracked.error.shape[1],
        success_20s=success_rate(span, in_20s) if longest >= in_20s else NOTHING,
        success_30s=success_rate(span, in_30s) if longest >= in_30s else NOTHING,
        to_end=success_rate(span, longest),
        mean_tracked_s=times(frames, 1.0 / fps),
        mean_frames=frames,
        error_cm=times(mean_before(tracked.error, span), 100.0),
        headset_error_cm=times(mean_before(tracked.headset, span), 100.0),
        controllers_error_cm=times(mean_before(tracked.controllers, span), 100.0),
        jerk=mean_before(tracked.jerk, span),
        body_error_cm=times(mean_before(tracked.body, span), 100.0),
        contact=mean_before(tracked.contact, span),
        **likeness_scores(tracked.likeness, span, fps),
    )


def likeness_scores(found: Likeness, span: Span, fps: float) -> dict[str, Estimate]:
    """The fields of `Scores` that likeness.py measures."""
    own, user = found.own, found.user
    return {
        "slip_cm_s": times(mean_before(own.slip, span), 100.0),
        "user_slip_cm_s": times(mean_before(user.slip, span), 100.0),
        "fast_share": share_before(own.high, own.power, span),
        "user_fast_share": share_before(user.high, user.power, span),
        "steps_per_s": times(mean_before(own.steps, span), fps),
        "user_steps_per_s": times(mean_before(user.steps, span), fps),
        "steps_ratio": share_before(own.steps, user.steps, span),
        "flying": mean_before(own.flying, span),
        "user_flying": mean_before(user.flying, span),
        "watt": mean_before(found.watt, span),
    }


def over_groups(groups: Iterable[Scores]) -> Scores:
    """Each metric's mean over groups of episodes (clips, say), of those that have it; `n` is the number of groups.

    Intervals are of groups: a bootstrap, and for shares of episodes Wilson's with as many trials as there are groups,
    as if all of a group's episodes ended alike.
    """
    groups = list(groups)
    found = {}
    for name in (f.name for f in fields(Scores) if f.name != "n"):
        values = np.array([getattr(g, name).value for g in groups])
        values = values[np.isfinite(values)]
        found[name] = wilson(values.sum(), len(values)) if name in SHARES else bootstrap(values)
    return Scores(len(groups), **found)


def times(estimate: Estimate, factor: float) -> Estimate:
    """The estimate in another unit."""
    return Estimate(*(factor * x for x in estimate))


def wilson(successes: float, n: int) -> Estimate:
    """Share with Wilson's score interval (Wilson 1927): (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)."""
    if n == 0:
        return NOTHING
    p, w = successes / n, Z95**2 / n
    half = Z95 * np.sqrt(p * (1 - p) / n + w / (4 * n))
    low, high = (p + w / 2 - half) / (1 + w), (p + w / 2 + half) / (1 + w)
    return Estimate(p, max(0.0, float(low)), min(1.0, float(high)))


def bootstrap(values: np.ndarray, weight: np.ndarray | None = None, draws: int = 1000) -> Estimate:
    """sum(values) / sum(weight) over episodes (B,), weight 1 if not given, with a percentile bootstrap over episodes.

    The draws are Poisson(1) counts of each episode (Poisson bootstrap), from a fixed seed.
    """
    weight = np.ones(len(values)) if weight is None else weight
    if len(values) == 0 or weight.sum() == 0:
        return NOTHING
    rng, both = np.random.default_rng(0), np.stack([values, weight], axis=1).astype(np.float64)
    at_once = max(1, AT_ONCE // len(values))
    sums = [rng.poisson(1.0, (min(at_once, draws - k), len(values))) @ both for k in range(0, draws, at_once)]
    total, weights = np.concatenate(sums).T
    means = total[weights > 0] / weights[weights > 0]
    low, high = np.percentile(means, [2.5, 97.5]) if len(means) else (np.nan, np.nan)
    return Estimate(float(values.sum() / weight.sum()), float(low), float(high))
