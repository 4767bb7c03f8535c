"""What many runs came to: one row a setting, over its seeds, from the run folders alone."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from qes_jax.assembly.settings import RunConfig
from qes_jax.assembly.sweeping.options import Options
from qes_jax.evaluate.figures import learning_curves
from qes_jax.evaluate.seeds import half_width
from qes_jax.files import check_target, replacing
from qes_jax.runs.config import from_json
from qes_jax.runs.folder import RunFolder, as_json, write_json
from qes_jax.runs.metrics import read_metrics

COLUMNS = {  # metric: the table's heading
    "eval/mean_tracked_s": "tracked of 20 s [s]",
    "eval/success_20s": "success at 20 s",
    "eval/error_cm": "error [cm]",
    "eval/body_error_cm": "whole body [cm]",
    "eval/contact": "contacts agree",
    "eval/jerk": "jerk",
}
NO_SETTING = ("seed", "preset")


@dataclass(frozen=True)
class Run:
    """One run as its folder tells of it."""

    folder: RunFolder
    config: RunConfig
    rows: tuple[Mapping[str, Any], ...]  # lines of metrics

    @staticmethod
    def read(folder: RunFolder | None) -> "Run | None":
        """The run in a folder; None where it has none that this version can read, which is said."""
        if folder is None:
            return None
        try:
            config = from_json(RunConfig, folder.read_config(), str(folder.config))
            return Run(folder, config, tuple(read_metrics(folder.metrics)) if folder.metrics.is_file() else ())
        except ValueError as error:
            print(f"left out: {error}", file=sys.stderr)
            return None

    def last(self, metric: str) -> float:
        """The last value of a metric, NaN where there is none."""
        values = [row[metric] for row in self.rows if row.get(metric) is not None]
        return float(values[-1]) if values else float("nan")


def read_runs(folder: Path) -> list[Run]:
    """All runs in a folder, at any depth, oldest first (their names begin with the time)."""
    paths = sorted((p.parent for p in folder.rglob("config.json")), key=lambda p: (p.name, str(p)))
    return [run for p in paths if (p / "checkpoints").is_dir() and (run := Run.read(RunFolder(p)))]


def by_setting(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Runs that differ in no more than their seeds, under the words for what they do not share with all the others."""
    columns = varied(runs)
    groups: dict[str, list[Run]] = {}
    for number, run in enumerate(runs):
        values = {name: _word(column[number]) for name, column in columns.items()}
        words = [value if name == "ablation" else f"{name}={value}" for name, value in values.items()]
        groups.setdefault(", ".join(words) or run.config.preset, []).append(run)
    return groups


def varied(runs: Sequence[Run]) -> dict[str, list[Any]]:
    """Settings, beside the seed, in which runs differ: name -> the value of each run."""
    flat = [flatten(as_json(run.config)) for run in runs]
    names = list(dict.fromkeys(name for settings in flat for name in settings if name not in NO_SETTING))
    columns = {name: [settings.get(name) for settings in flat] for name in names}
    return {name: column for name, column in columns.items() if len({_word(value) for value in column}) > 1}


def flatten(tree: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """A tree of settings as `ppo.lr` -> value."""
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        flat |= flatten(value, f"{before}{name}.") if isinstance(value, Mapping) else {f"{before}{name}": value}
    return flat


def _word(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def summarise(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """A row for each setting, the longest tracked first: seeds, samples, and of each metric mean and half-interval.

    The interval is Student's, 95 % of the mean over seeds; NaN for a single one.
    """
    rows = []
    for setting, members in by_setting(runs).items():
        metrics = {name: _mean([run.last(name) for run in members]) for name in COLUMNS}
        samples = [run.last("samples") for run in members]
        row = {"setting": setting, "seeds": sorted(run.config.seed for run in members), "samples": min(samples)}
        rows.append(row | {name: {"mean": mean, "half": half} for name, (mean, half) in metrics.items()})
    first = next(iter(COLUMNS))
    return sorted(rows, key=lambda row: -np.nan_to_num(row[first]["mean"], nan=-1.0))


def _mean(values: Sequence[float]) -> tuple[float, float]:
    good = np.array(values)[np.isfinite(values)]
    if len(good) < 2:
        return (float(good[0]) if len(good) else float("nan")), float("nan")
    return float(good.mean()), float(half_width(good))


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as a Markdown table."""
    lines = [f"| setting | seeds | samples | {' | '.join(COLUMNS.values())} |", "|---" * (3 + len(COLUMNS)) + "|"]
    for row in rows:
        cells = [_cell(**row[name]) for name in COLUMNS]
        lines.append(f"| {row['setting']} | {len(row['seeds'])} | {row['samples'] / 1e6:.2f} M | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(mean: float, half: float) -> str:
    if np.isnan(mean):
        return "–"
    return f"{mean:.3g}" if np.isnan(half) else f"{mean:.3g} ± {half:.2g}"


def curves(runs: Sequence[Run], metric: str = "eval/mean_tracked_s") -> Figure:
    """Learning curves of each setting over its seeds. Raises ValueError where no run has the metric."""
    groups = {
        setting: [run.rows for run in members if np.isfinite(run.last(metric))]
        for setting, members in by_setting(runs).items()
    }
    groups = {setting: rows for setting, rows in groups.items() if rows}
    if not groups:
        raise ValueError(f"no run has a value of {metric!r}")
    return learning_curves(groups, metric, COLUMNS.get(metric, metric))


def print_table(runs: Sequence[Run], options: Options) -> None:
    """Print the table of runs, and write what else was asked for."""
    rows = summarise(runs)
    print(markdown(rows), flush=True)
    if options.json:
        check_target(options.json)
        write_json(options.json, rows)
    if options.plot:
        with replacing(options.plot, options.plot.suffix) as aside:
            curves(runs, options.metric).savefig(aside, dpi=130)


def gather(options: Options) -> None:
    """The table of all runs in a folder. Raises ValueError where there is none."""
    assert options.gather is not None
    runs = read_runs(options.gather)
    if not runs:
        raise ValueError(f"{options.gather}: no run folders in it")
    print_table(runs, options)
