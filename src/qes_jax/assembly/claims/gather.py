"""What the runs of a table say together: each value over seeds, and the settings against the full one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from qes_jax.assembly.claims.measure import Found
from qes_jax.evaluate.metrics import THRESHOLDS, Estimate
from qes_jax.evaluate.seeds import Paired, holm, over_seeds, paired
from qes_jax.evaluate.tables import OVER_CLIPS, OVERALL

TESTED = ("success_20s", "success_30s")  # what the paper's claims are about, at its threshold
AT = f"{max(THRESHOLDS):g}"  # [m]
SHARES = ("success_20s", "success_30s", "contact")
ALL = "all"  # families, each with as many starts

BySeed = dict[int, float]
Measured = Mapping[tuple[str, int], Found]  # (setting, seed) -> what was measured


class Key(NamedTuple):
    """One cell of a table."""

    places: str
    threshold: str
    family: str
    setting: str


@dataclass(frozen=True)
class Comparison:
    """One setting against the full one."""

    key: Key
    metric: str
    paired: Paired
    corrected: float = np.nan  # p after Holm's correction


def by_cell(measured: Measured) -> dict[Key, dict[str, BySeed]]:
    """Cell -> metric -> value of each seed, in the order in which they were measured; what is unknown is left out."""
    cells: dict[Key, dict[str, BySeed]] = {}
    for (setting, seed), found in measured.items():
        for key, values in _cells(setting, found):
            cell = cells.setdefault(key, {})
            for metric, value in values.items():
                if isinstance(value, float):
                    cell.setdefault(metric, {})[seed] = value
    return cells


def _cells(setting: str, found: Found) -> list[tuple[Key, Mapping[str, Any]]]:
    """Cells of one run. The mean over several families is ALL; of one alone nothing is said twice."""
    cells = []
    for places, by_threshold in found.items():
        for threshold, by_family in by_threshold.items():
            names = [n for n in by_family if n not in (OVERALL, OVER_CLIPS)]
            rows = {ALL: by_family[OVERALL]} if len(names) > 1 else {}
            rows |= {n: by_family[n] for n in names}
            cells += [(Key(places, threshold, name, setting), values) for name, values in rows.items()]
    return cells


def estimate(metric: str, values: BySeed) -> Estimate:
    """Mean over seeds, with its interval."""
    return over_seeds(list(values.values()), 0.0, 1.0 if metric in SHARES else np.inf)


def compare(cells: Mapping[Key, Mapping[str, BySeed]], settings: Sequence[str]) -> list[Comparison]:
    """All settings after the first against the first, in TESTED at the threshold AT, each family and all together.

    Holm's correction is over all comparisons of ALL families together, and apart from them over those by family, so
    that the many by family do not drown the few of the whole. Our choice.
    """
    found = []
    for key, metrics in cells.items():
        if key.setting not in settings[1:] or key.threshold != AT:
            continue
        full = cells.get(key._replace(setting=settings[0]), {})
        found += [Comparison(key, m, paired(full.get(m, {}), metrics.get(m, {}))) for m in TESTED]
    return [c for whole in (True, False) for c in _corrected([c for c in found if (c.key.family == ALL) == whole])]


def _corrected(comparisons: Sequence[Comparison]) -> list[Comparison]:
    adjusted = holm([c.paired.p for c in comparisons])
    return [Comparison(c.key, c.metric, c.paired, float(p)) for c, p in zip(comparisons, adjusted, strict=True)]
