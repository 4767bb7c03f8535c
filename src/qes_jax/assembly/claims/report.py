"""What is written of a table: Markdown, every number as JSON, learning curves and success as plots."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qes_jax.assembly.claims.gather import AT, BySeed, Comparison, Measured, by_cell, compare, estimate
from qes_jax.assembly.claims.grid import SETTINGS, Run
from qes_jax.assembly.claims.measure import Protocol
from qes_jax.assembly.claims.text import COLUMNS, Cells, page
from qes_jax.assembly.claims.training import finished
from qes_jax.evaluate import figures
from qes_jax.runs.folder import as_json, write_json, write_text
from qes_jax.runs.metrics import read_metrics

CURVES = {"eval/mean_tracked_s": "tracked of 20 s, at 0.5 m [s]", "eval/error_cm": "error before failure [cm]"}
PLOTTED = "success_30s"


def write(out: Path, table: int, todo: Sequence[Run], how: Protocol, there: Measured) -> None:
    """The table of what is there: Markdown, JSON, plots; nothing where there is nothing."""
    lacking = [run.folder.name for run in todo if (run.setting, run.config.seed) not in there]
    if not there:
        print(f"nothing measured yet of {len(todo)} runs", flush=True)
        return
    out.mkdir(parents=True, exist_ok=True)
    cells = by_cell(there)
    comparisons = compare(cells, SETTINGS[table])
    name = f"table{table}"
    write_text(out / f"{name}.md", page(table, cells, comparisons, facts(todo, how, lacking)))
    write_json(out / f"{name}.json", values(table, how, lacking, cells, comparisons))
    plot(out, name, [r for r in todo if finished(r)], cells)
    print((out / f"{name}.md").read_text(), flush=True)
    print(f"written to {out}", flush=True)


def facts(todo: Sequence[Run], how: Protocol, lacking: Sequence[str]) -> list[str]:
    """Sentences on how it was measured."""
    config, seeds = todo[0].config, len({r.config.seed for r in todo})
    trained_on = [n for n, words in how.families.items() if set(words) <= set(config.clips)]
    found = [
        f"{seeds} seeds of {config.samples:,} samples each, preset `{config.preset}`, on all families together; "
        f"up to {how.starts} even starts of each family, followed for {how.seconds:g} s. Values are means over seeds, "
        "in brackets the 95 % interval over seeds (Student's t), where there are several and they differ.",
    ]
    found.append("Evaluated on clips held out from training.")
    if trained_on:
        found.append(f"Of {', '.join(trained_on)} none is held out: evaluated on the very clips of the training.")
    if seeds == 1:
        found.append("**One seed: no interval and no test follows.**")
    if lacking:
        found.append(f"**Missing: {len(lacking)} of {len(todo)} runs**, {', '.join(lacking)}.")
    return found


def values(
    table: int, how: Protocol, lacking: Sequence[str], cells: Cells, comparisons: Sequence[Comparison]
) -> dict[str, Any]:
    """What the JSON holds: every metric of every seed, not only those of the page. NaN is null."""
    rows = [
        {**key._asdict(), "metrics": {metric: _metric(metric, of_seed) for metric, of_seed in metrics.items()}}
        for key, metrics in cells.items()
    ]
    compared = [
        {
            **c.key._asdict(), "metric": c.metric, "pairs": c.paired.n, "difference": _json(c.paired.difference),
            "p": _number(c.paired.p), "p_holm": _number(c.corrected),
        }
        for c in comparisons
    ]  # fmt: skip
    return {
        "table": table, "protocol": as_json(how), "missing": list(lacking), "rows": rows,
        "comparisons": compared,
    }  # fmt: skip


def _metric(metric: str, of_seed: BySeed) -> dict[str, Any]:
    return {"seeds": {str(s): x for s, x in of_seed.items()}, "estimate": _json(estimate(metric, of_seed))}


def _json(estimate: Sequence[float]) -> list[float | None]:
    return [_number(x) for x in estimate]


def _number(x: float) -> float | None:
    return x if x == x else None


def plot(out: Path, name: str, trained: Sequence[Run], cells: Cells) -> None:
    """Learning curves of each setting with a band over seeds, and success by family with intervals."""
    rows: dict[str, list] = {}
    for run in trained:
        rows.setdefault(run.setting, []).append(read_metrics(run.folder / "metrics.jsonl"))
    for metric, label in CURVES.items():
        if rows and all(any(r.get(metric) is not None for r in seed) for seeds in rows.values() for seed in seeds):
            figure = figures.learning_curves(rows, metric, label)
            figure.savefig(out / f"{name}_{metric.removeprefix('eval/')}.png", dpi=130)
    heading, _, _ = COLUMNS[PLOTTED]
    found: dict[str, dict] = {}
    for key, metrics in cells.items():
        if key.threshold == AT:
            line = f"{key.family}, {key.places}"
            found.setdefault(line, {})[key.setting] = estimate(PLOTTED, metrics.get(PLOTTED, {}))
    figures.by_setting(found, f"{heading}, fails beyond {AT} m").savefig(out / f"{name}_success.png", dpi=130)
