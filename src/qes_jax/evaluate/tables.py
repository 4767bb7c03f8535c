"""Results as plain values for JSON, and as a Markdown table."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from qes_jax.evaluate.metrics import THRESHOLDS, Estimate, Scores, scores, select
from qes_jax.evaluate.rollout import Tracked

OVERALL = "all clips"
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

Results = Mapping[float, Mapping[str, Scores]]  # threshold [m] -> clip -> scores


def results(
    tracked: Tracked, clip: np.ndarray, names: Sequence[str], fps: float, thresholds: Sequence[float] = THRESHOLDS
) -> dict[float, dict[str, Scores]]:
    """Scores per threshold, overall and of each clip that episodes (B,) belong to by `clip` (B,), an index of names."""
    groups = {OVERALL: np.ones(len(clip), bool)} | {name: clip == i for i, name in enumerate(names)}
    return {
        threshold: {name: scores(select(tracked, mask), threshold, fps) for name, mask in groups.items() if mask.any()}
        for threshold in thresholds
    }


def as_values(found: Scores) -> dict[str, Any]:
    """JSON values: each metric by its name, its interval under `intervals`; what could not be estimated is null."""
    names = [f.name for f in fields(Scores) if f.name != "n"]
    estimates = {name: [_number(x) for x in getattr(found, name)] for name in names}
    values = {name: e[0] for name, e in estimates.items()}
    return {"episodes": found.n, **values, "intervals": {name: e[1:] for name, e in estimates.items()}}


def markdown(found: Results) -> str:
    """One row a clip and threshold; in brackets the 95 % interval. Of a single clip nothing is said twice."""
    head = ["clip", "fails beyond [m]", "episodes", *(heading for heading, _, _ in COLUMNS.values())]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    names = list(next(iter(found.values())))
    for name in names[1:] if len(names) == 2 else names:
        for threshold, by_clip in found.items():
            cells = [cell(getattr(by_clip[name], field), *how[1:]) for field, how in COLUMNS.items()]
            lines.append([name, f"{threshold:g}", str(by_clip[name].n), *cells])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def cell(estimate: Estimate, factor: float, decimals: int) -> str:
    """ "93.4 (90.1 to 95.8)", or a dash."""
    value, low, high = (f"{factor * x:.{decimals}f}" for x in estimate)
    return "–" if np.isnan(estimate.value) else f"{value} ({low} to {high})"


def _number(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None
