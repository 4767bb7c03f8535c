"""Results as plain values for JSON, and as a Markdown table."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from qes_jax.evaluate.metrics import FEW, THRESHOLDS, Estimate, Scores, over_groups, scores
from qes_jax.evaluate.rollout import Tracked, select

OVERALL = "all clips"
OVER_CLIPS = "mean over clips"
COLUMNS = {  # field of Scores -> heading, factor, decimals
    "success_20s": ("success 20 s [%]", 100.0, 1),
    "success_30s": ("success 30 s [%]", 100.0, 1),
    "mean_tracked_s": ("tracked of 30 s [s]", 1.0, 1),
    "mean_frames": ("frames in 30 s", 1.0, 0),
    "error_cm": ("error [cm]", 1.0, 1),
    "headset_error_cm": ("headset [cm]", 1.0, 1),
    "controllers_error_cm": ("controllers [cm]", 1.0, 1),
    "jerk": ("jerk [m/s³]", 1.0, 0),
    "body_error_cm": ("whole body [cm]", 1.0, 1),
    "contact": ("contacts [%]", 100.0, 0),
}
LIKENESS = {
    "slip_cm_s": ("feet slip [cm/s]", 1.0, 1),
    "user_slip_cm_s": ("the user's", 1.0, 1),
    "fast_share": ("motion above 6 Hz [%]", 100.0, 1),
    "user_fast_share": ("the user's", 100.0, 1),
    "steps_per_s": ("steps/s", 1.0, 2),
    "user_steps_per_s": ("the user's", 1.0, 2),
    "steps_ratio": ("steps, of the user's", 1.0, 2),
    "flying": ("no foot down [%]", 100.0, 1),
    "user_flying": ("the user's", 100.0, 1),
    "watt": ("power [W]", 1.0, 0),
}

Columns = Mapping[str, tuple[str, float, int]]
Results = Mapping[float, Mapping[str, Scores]]  # threshold [m] -> clip -> scores


def results(
    tracked: Tracked, clip: np.ndarray, names: Sequence[str], fps: float, thresholds: Sequence[float] = THRESHOLDS
) -> dict[float, dict[str, Scores]]:
    """Scores per threshold, overall and of each clip that episodes (B,) belong to by `clip` (B,), an index of names.

    Of several clips also the mean over them: overall, a long clip counts for more, as more episodes start in it.
    """
    return {t: _at_threshold(tracked, clip, names, fps, t) for t in thresholds}


def _at_threshold(
    tracked: Tracked, clip: np.ndarray, names: Sequence[str], fps: float, threshold: float
) -> dict[str, Scores]:
    by_clip = {
        name: scores(select(tracked, clip == i), threshold, fps) for i, name in enumerate(names) if (clip == i).any()
    }
    mean = {OVER_CLIPS: over_groups(by_clip.values())} if len(by_clip) > 1 else {}
    return {OVERALL: scores(tracked, threshold, fps)} | mean | by_clip


def as_values(found: Scores) -> dict[str, Any]:
    """JSON values: each metric by its name, its interval under `intervals`; what could not be estimated is null."""
    names = [f.name for f in fields(Scores) if f.name != "n"]
    estimates = {name: [_number(x) for x in getattr(found, name)] for name in names}
    values = {name: e[0] for name, e in estimates.items()}
    intervals = {name: e[1:] for name, e in estimates.items()}
    return {"episodes": found.n, "too_few": found.n < FEW, **values, "intervals": intervals}


def from_values(values: Mapping[str, Any]) -> Scores:
    """`as_values` read back."""

    def number(x: float | None) -> float:
        return np.nan if x is None else x

    names = [f.name for f in fields(Scores) if f.name != "n"]
    estimates = {name: Estimate(*map(number, (values[name], *values["intervals"][name]))) for name in names}
    return Scores(values["episodes"], **estimates)


def markdown(found: Results) -> str:
    """Two tables, of following and of likeness, each with a row a clip and threshold; in brackets the 95 % interval.

    Where it is of fewer than FEW episodes (or clips, in the mean over them) the row says so, and gives no interval.
    Of a single clip nothing is said twice.
    """
    return _table(found, COLUMNS) + "\n" + _table(found, LIKENESS)


def _table(found: Results, columns: Columns) -> str:
    head = ["clip", "fails beyond [m]", "episodes", *(heading for heading, _, _ in columns.values())]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    names = list(next(iter(found.values())))
    for name in names[1:] if len(names) == 2 else names:
        for threshold, by_clip in found.items():
            lines.append([name, f"{threshold:g}", *row(by_clip[name], columns, "clips" if name == OVER_CLIPS else "")])
    return lines_of(lines)


def row(found: Scores, columns: Columns, unit: str = "") -> list[str]:
    """Cells: how many episodes (or other `unit`), or that they are too few, then the columns."""
    few = found.n < FEW
    count = f"{found.n} {unit}".strip() + (", too few" if few else "")
    return [count, *(cell(getattr(found, field), *how[1:], interval=not few) for field, how in columns.items())]


def lines_of(lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table of rows of cells."""
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def cell(estimate: Estimate, factor: float, decimals: int, interval: bool = True) -> str:
    """ "93.4 (90.1 to 95.8)", or the value alone, or a dash."""
    value, low, high = (f"{factor * x:.{decimals}f}" for x in estimate)
    if np.isnan(estimate.value):
        return "–"
    return f"{value} ({low} to {high})" if interval else value


def _number(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None
