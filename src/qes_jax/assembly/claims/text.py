"""The page of a table: Markdown with what was measured, what differs, and in words what does not."""

from collections.abc import Mapping, Sequence

import numpy as np

from qes_jax.assembly.claims.gather import AT, BySeed, Comparison, Key, estimate
from qes_jax.evaluate.seeds import LEVEL, shown
from qes_jax.evaluate.tables import COLUMNS as ALL_COLUMNS
from qes_jax.evaluate.tables import cell, lines_of

COLUMNS = {
    n: ALL_COLUMNS[n] for n in ("success_20s", "success_30s", "mean_frames", "error_cm", "jerk", "contact")
}  # fmt: skip
TITLES = {2: "The full setting, by family", 3: "What the parts are for", 4: "Less to go by"}

Cells = Mapping[Key, Mapping[str, BySeed]]


def page(table: int, cells: Cells, comparisons: Sequence[Comparison], facts: Sequence[str]) -> str:
    """The whole page. `facts` are sentences on how it was measured, and what is missing."""
    text = [f"# Table {table}: {TITLES[table]}\n", *(f"{fact}\n" for fact in facts)]
    text += [f"## {places[0].upper()}{places[1:]}\n\n{place_table(cells, places)}" for places in _places(cells)]
    if table != 2:
        text.append(f"## Against the full setting\n\n{verdict(comparisons)}\n\n{comparison_table(comparisons)}")
    return "\n".join(text)


def _places(cells: Cells) -> list[str]:
    return list(dict.fromkeys(key.places for key in cells))


def place_table(cells: Cells, places: str) -> str:
    """A row for each family, threshold and setting; mean over seeds, in brackets its interval where there is one."""
    head = ["family", "fails beyond [m]", "setting", "seeds", *(heading for heading, _, _ in COLUMNS.values())]
    lines = [head, ["---", "---:", "---", *["---:"] * (len(head) - 3)]]
    keys = [key for key in cells if key.places == places]
    order = {name: i for i, name in enumerate(dict.fromkeys(key.family for key in keys))}
    for key in sorted(keys, key=lambda k: (order[k.family], k.threshold != AT)):
        lines.append([key.family, key.threshold, key.setting, *row(cells[key])])
    return lines_of(lines)


def row(metrics: Mapping[str, BySeed]) -> list[str]:
    """How many seeds, then the columns."""
    found = {name: estimate(name, metrics.get(name, {})) for name in COLUMNS}
    values = [cell(e, *COLUMNS[name][1:], interval=bool(np.isfinite(e.low))) for name, e in found.items()]
    return [str(max((len(v) for v in metrics.values()), default=0)), *values]


def verdict(comparisons: Sequence[Comparison]) -> str:
    """In words: what is shown, what is not, and where no test follows."""
    tested = [c for c in comparisons if np.isfinite(c.corrected)]
    if not tested:
        return "No comparison can be tested: that takes two seeds of both settings, and differences that vary."
    sure = [c for c in tested if shown(c.corrected)]
    unsure = [c for c in tested if not shown(c.corrected)]
    words = [f"{len(tested)} comparisons, paired by seed (t test), with Holm's correction at {100 * LEVEL:g} %."]
    words += [f"Shown: {_named(sure)}." if sure else "None is shown."]
    if unsure:
        words.append(f"**Not significant, so nothing is claimed of:** {_named(unsure)}.")
    if len(tested) < len(comparisons):
        words.append(f"No test follows of {len(comparisons) - len(tested)} others (one pair, or no spread at all).")
    return " ".join(words)


def _named(comparisons: Sequence[Comparison]) -> str:
    return "; ".join(f"{c.key.setting}, {c.key.family}, {c.key.places}, {_what(c)}" for c in comparisons)


def _what(c: Comparison) -> str:
    return COLUMNS[c.metric][0].partition(" [")[0]


def comparison_table(comparisons: Sequence[Comparison]) -> str:
    """A row a comparison: the difference from the full setting in percentage points, and both p."""
    lines = [["setting", "family", "furniture", f"at {AT} m", "pairs", "difference [points]", "p", "p, Holm", ""]]
    lines.append(["---"] * 4 + ["---:"] * 4 + ["---"])
    for c in comparisons:
        _, factor, decimals = COLUMNS[c.metric]
        difference = cell(c.paired.difference, factor, decimals, bool(np.isfinite(c.paired.difference.low)))
        said = "no test" if np.isnan(c.corrected) else "shown" if shown(c.corrected) else "not significant"
        what = [c.key.setting, c.key.family, c.key.places, _what(c), str(c.paired.n)]
        lines.append([*what, difference, _p(c.paired.p), _p(c.corrected), said])
    return lines_of(lines)


def _p(p: float) -> str:
    return "–" if np.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"
