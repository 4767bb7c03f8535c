"""Tables of made-up measurements: cells, comparisons, and the words under them."""

import json

import numpy as np
import pytest

from qes_jax.assembly.claims.gather import ALL, Key, by_cell, compare, estimate
from qes_jax.assembly.claims.measure import protocol
from qes_jax.assembly.claims.report import values
from qes_jax.assembly.claims.text import page, place_table, verdict
from qes_jax.evaluate.figures import by_setting
from qes_jax.evaluate.metrics import Estimate
from qes_jax.evaluate.tables import OVER_CLIPS, OVERALL

SETTINGS = ("full", "no_contact", "no_scene_obs")
SUCCESS = {  # of five seeds: far less without contact in the chair, everything else alike
    "full": [0.90, 0.85, 0.92, 0.88, 0.90],
    "no_contact": [0.40, 0.37, 0.41, 0.39, 0.38],
    "no_scene_obs": [0.91, 0.83, 0.93, 0.90, 0.86],
}


def found(success: float, families: tuple[str, ...] = ("chair", "couch")) -> dict:
    """What `measure` keeps of one run."""
    values = {"episodes": 8, "success_20s": success, "success_30s": success - 0.05, "error_cm": 3.0, "jerk": None}
    rows = {OVERALL: values, OVER_CLIPS: values} | dict.fromkeys(families, values)
    return {"recorded places": {"0.8": rows, "0.5": rows}}


def measured(seeds: int) -> dict:
    return {(name, seed): found(SUCCESS[name][seed]) for seed in range(seeds) for name in SETTINGS}


def test_a_cell_has_each_seed_s_value_and_nothing_that_is_unknown() -> None:
    cells = by_cell(measured(5))
    cell = cells[Key("recorded places", "0.8", "chair", "no_contact")]
    assert cell["success_20s"] == dict(enumerate(SUCCESS["no_contact"]))
    assert "jerk" not in cell
    assert {key.family for key in cells} == {ALL, "chair", "couch"}
    alone = by_cell({("full", 0): found(0.9, ("chair",))})
    assert {key.family for key in alone} == {"chair"}


def test_a_share_s_interval_stays_below_one() -> None:
    assert estimate("success_20s", {0: 1.0, 1: 0.9}).high == 1.0
    assert estimate("error_cm", {0: 1.0, 1: 0.9}).high > 1.0


def test_what_differs_is_shown_and_what_does_not_is_named_as_such() -> None:
    comparisons = compare(by_cell(measured(5)), SETTINGS)
    assert len(comparisons) == 2 * 3 * 2  # settings, families and all, metrics; at the paper's threshold alone
    said = verdict(comparisons)
    sure, unsure = said.split("**Not significant, so nothing is claimed of:**")
    assert "no_contact, chair" in sure and "no_scene_obs" not in sure
    assert "no_scene_obs, all" in unsure and "no_contact" not in unsure


def test_the_whole_is_corrected_apart_from_the_families() -> None:
    comparisons = compare(by_cell(measured(5)), SETTINGS)
    least = min((c for c in comparisons if c.key.family == ALL), key=lambda c: c.paired.p)
    assert least.corrected == pytest.approx(4 * least.paired.p)
    least = min((c for c in comparisons if c.key.family != ALL), key=lambda c: c.paired.p)
    assert least.corrected == pytest.approx(8 * least.paired.p)


def test_one_seed_gives_values_without_interval_and_says_that_nothing_follows() -> None:
    cells = by_cell(measured(1))
    comparisons = compare(cells, SETTINGS)
    text = page(3, cells, comparisons, ["How."])
    assert all(np.isnan(c.corrected) for c in comparisons)
    assert "No comparison can be tested: that takes two seeds" in text
    assert "| chair | 0.8 | full | 1 | 90.0 | 85.0 |" in text
    assert " to " not in place_table(cells, "recorded places")


def test_rows_go_by_family_then_threshold_then_setting() -> None:
    lines = place_table(by_cell(measured(2)), "recorded places").splitlines()[2:]
    firsts = [tuple(cell.strip() for cell in line.strip("|").split("|")[:3]) for line in lines]
    assert firsts == [(f, t, s) for f in (ALL, "chair", "couch") for t in ("0.8", "0.5") for s in SETTINGS]


def test_a_page_of_the_full_setting_alone_compares_nothing() -> None:
    cells = by_cell({("full", s): found(x) for s, x in enumerate(SUCCESS["full"])})
    assert compare(cells, ("full",)) == []
    assert "Against the full setting" not in page(2, cells, [], [])


def test_success_is_plotted_with_its_intervals_where_there_are_some() -> None:
    rows = {"chair": {"full": Estimate(0.9, 0.8, 1.0), "no_contact": Estimate(0.4, np.nan, np.nan)}, "couch": {}}
    figure = by_setting(rows, "success")
    (ax,) = figure.axes
    assert ax.get_legend_handles_labels()[1] == ["full", "no_contact"]
    bars = [c.lines[2][0].get_segments()[0][:, 0] for c in ax.containers]
    assert bars[0] == pytest.approx([80.0, 100.0])


def test_values_are_json() -> None:
    cells = by_cell(measured(1))
    data = values(3, protocol({}, 8, 0, 0.0), [], cells, compare(cells, SETTINGS))
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["rows"][0]["metrics"]["success_20s"]["estimate"] == [0.9, None, None]
