"""Plots of training and evaluation. Each function returns a Matplotlib figure; nothing global is touched."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from qes_jax.evaluate.episode import Episode
from qes_jax.evaluate.likeness import TOUCHED
from qes_jax.evaluate.metrics import NOTHING, THRESHOLDS, Estimate, tracked_span
from qes_jax.evaluate.rollout import Tracked
from qes_jax.evaluate.seeds import half_width

BOTH, ONLY_SIMULATED, ONLY_LABELLED = "#4a9d5b", "#e08a3c", "#8fb4e0"

Rows = Sequence[Mapping[str, Any]]  # one run's lines of metrics


def learning_curves(runs: Mapping[str, Sequence[Rows]], metric: str, label: str, x: str = "samples") -> Figure:
    """`metric` against `samples` (millions) or `time/wall_s` (minutes): mean and 95 % interval over a setting's seeds.

    runs: setting -> one list of rows a seed. Seeds are interpolated to the points of the first; the interval of the
    mean is Student's. One seed gives its line alone.
    """
    figure = Figure(figsize=(7, 4), layout="constrained")
    ax = figure.subplots()
    scale, unit = (1 / 60, "wall time [min]") if x.startswith("time/") else (1e-6, "samples [millions]")
    for setting, seeds in runs.items():
        at, values = _aligned(seeds, metric, x)
        mean = values.mean(axis=0)
        (line,) = ax.plot(scale * at, mean, label=f"{setting} ({len(seeds)} seeds)" if len(seeds) > 1 else setting)
        if len(seeds) > 1:
            half = half_width(values)
            ax.fill_between(scale * at, mean - half, mean + half, color=line.get_color(), alpha=0.2, linewidth=0)
    _finish(ax, unit, label)
    return figure


def _aligned(seeds: Sequence[Rows], metric: str, x: str) -> tuple[np.ndarray, np.ndarray]:
    """Where (P,) and what (seeds, P), over the stretch that every seed has."""
    curves = [np.array([(r[x], r[metric]) for r in rows if r.get(metric) is not None], float) for rows in seeds]
    if any(len(c) == 0 for c in curves):
        raise ValueError(f"metric {metric!r}: a run has no value of it")
    at = curves[0][:, 0]
    at = at[at <= min(c[-1, 0] for c in curves)]
    return at, np.stack([np.interp(at, c[:, 0], c[:, 1]) for c in curves])


def by_setting(rows: Mapping[str, Mapping[str, Estimate]], label: str) -> Figure:
    """rows: line -> setting -> a share of at most 1. A dot with its interval for each setting (colour), from above.

    An estimate without interval is a dot alone, one that is not there leaves a gap.
    """
    settings = list(dict.fromkeys(s for estimates in rows.values() for s in estimates))
    figure = Figure(figsize=(7, 1.4 + 0.16 * len(rows) * (1 + len(settings))), layout="constrained")
    ax = figure.subplots()
    for i, setting in enumerate(settings):
        at = np.arange(len(rows)) + 0.7 * ((i + 0.5) / len(settings) - 0.5)
        value, low, high = 100.0 * np.array([e.get(setting, NOTHING) for e in rows.values()]).T
        error = np.maximum(np.nan_to_num([value - low, high - value]), 0.0)  # an end may be off by a rounding
        ax.errorbar(value, at, xerr=error, fmt="o", markersize=4, elinewidth=1.2, capsize=2, label=setting)
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(-2, 102)
    ax.set_xlabel(label)
    ax.grid(alpha=0.3, axis="x")
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=max(len(settings), 1), frameon=False, fontsize=9)
    return figure


def error_over_time(tracked: Tracked, fps: float, thresholds: Sequence[float] = THRESHOLDS) -> Figure:
    """Above: error of the episodes not failed yet at the first threshold. Below: the share not failed yet."""
    figure = Figure(figsize=(7, 5.5), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    time = (1 + np.arange(len(tracked.error))) / fps
    alive = np.arange(len(time))[:, None] < tracked_span(tracked, thresholds[0]).frames
    some = alive.any(axis=1)
    error = 100 * np.where(alive, tracked.error, np.nan)[some]
    for low, high, alpha in ((10, 90, 0.15), (25, 75, 0.3)):
        band = np.nanpercentile(error, [low, high], axis=1)
        upper.fill_between(time[some], *band, color="C0", alpha=alpha, linewidth=0, label=f"{low} to {high} %")
    upper.plot(time[some], np.nanmedian(error, axis=1), color="C0", label="median")
    _finish(upper, "", "mean error [cm]")
    upper.set_ylim(0)
    for threshold in thresholds:
        span = tracked_span(tracked, threshold)
        known = span.failed | (span.frames > np.arange(len(time))[:, None])  # a clip that has ended tells nothing
        share = (span.frames > np.arange(len(time))[:, None]).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        lower.plot(time, 100 * share, label=f"fails beyond {threshold:g} m")
    _finish(lower, "time since the start [s]", "episodes not failed [%]")
    lower.set_ylim(0, 105)
    return figure


def contact_timeline(episode: Episode) -> Figure:
    """When each link touches each object, as simulated and as labelled; pairs that never meet are left out."""
    world = episode.world()
    touch, label = episode.force > TOUCHED, episode.label > 0.5
    pairs = np.argwhere((touch | label).any(axis=0))
    pairs = pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]  # by object, then from the root outwards
    figure = Figure(figsize=(9, 1.6 + 0.28 * max(len(pairs), 1)), layout="constrained")
    ax = figure.subplots()
    for row, (link, obj) in enumerate(pairs):
        a, b = touch[:, link, obj], label[:, link, obj]
        for mask, color in ((a & b, BOTH), (a & ~b, ONLY_SIMULATED), (b & ~a, ONLY_LABELLED)):
            ax.broken_barh(_stretches(mask, episode.fps), (row - 0.4, 0.8), color=color, linewidth=0)
    names = [f"{world.layout.links[i]} – {world.layout.objects[o]}" for i, o in pairs]
    ax.set_yticks(range(len(pairs)), [n.replace("_", " ") for n in names])
    ax.invert_yaxis()
    ax.set_xlim(0, len(touch) / episode.fps)
    ax.set_xlabel("time since the start [s]")
    ax.set_title(f"contacts: {episode.name}", loc="left", fontsize=11)
    kinds = {"simulated and labelled": BOTH, "simulated only": ONLY_SIMULATED, "labelled only": ONLY_LABELLED}
    handles = [Patch(color=color, label=kind) for kind, color in kinds.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def _stretches(mask: np.ndarray, fps: float) -> list[tuple[float, float]]:
    """(start, length) [s] of each run of True in mask (T,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(int), [0]])))
    return [(a / fps, (b - a) / fps) for a, b in edges.reshape(-1, 2)]


def _finish(ax: Axes, x: str, y: str) -> None:
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.01)
    ax.legend(frameon=False, fontsize=9)
