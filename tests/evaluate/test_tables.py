"""Tables of made-up scores."""

import json

import numpy as np
import pytest

from qes_jax.evaluate.metrics import Estimate
from qes_jax.evaluate.rollout import Tracked
from qes_jax.evaluate.tables import OVERALL, as_values, cell, markdown, results

FPS = 2.0


@pytest.fixture
def tracked() -> Tracked:
    """Three episodes of 60 steps: two of the first clip, one of which fails at step 20, and one of the second."""
    error = np.full((60, 3), 0.1)
    error[20:, 1] = 0.6
    return Tracked(error, error, error, 100 * error, error, error, np.ones(error.shape, bool))


def test_results_are_by_threshold_and_clip(tracked: Tracked) -> None:
    found = results(tracked, np.array([0, 0, 1]), ["walk", "stool"], FPS)
    assert list(found) == [0.8, 0.5]
    assert list(found[0.5]) == [OVERALL, "walk", "stool"]
    assert [found[0.5][name].n for name in found[0.5]] == [3, 2, 1]
    assert found[0.5]["walk"].success_20s.value == 0.5
    assert found[0.8]["walk"].success_20s.value == 1.0
    assert found[0.5]["stool"].success_30s.value == 1.0


def test_a_clip_without_episodes_has_no_row(tracked: Tracked) -> None:
    assert list(results(tracked, np.zeros(3, int), ["walk", "stool"], FPS)[0.8]) == [OVERALL, "walk"]


def test_values_are_json_and_the_unknown_is_null(tracked: Tracked) -> None:
    short = Tracked(*(x[:30] for x in tracked))
    values = as_values(results(short, np.zeros(3, int), ["walk"], FPS)[0.8]["walk"])
    assert values == json.loads(json.dumps(values, allow_nan=False))
    assert values["episodes"] == 3
    assert values["success_30s"] is None
    assert values["error_cm"] == pytest.approx(100 * (0.1 * 80 + 0.6 * 10) / 90)
    assert values["intervals"]["error_cm"][0] <= values["error_cm"] <= values["intervals"]["error_cm"][1]


def test_a_table_has_a_row_for_each_clip_and_threshold(tracked: Tracked) -> None:
    found = results(tracked, np.array([0, 0, 1]), ["walk", "stool"], FPS)
    rows = [line.split(" | ") for line in markdown(found).strip().splitlines()]
    assert len({len(row) for row in rows}) == 1
    assert [row[0].strip("| ") for row in rows[2:]] == [OVERALL] * 2 + ["walk"] * 2 + ["stool"] * 2
    assert rows[5][3].startswith("50.0 (")
    alone = markdown(results(tracked, np.zeros(3, int), ["walk"], FPS))
    assert OVERALL not in alone


def test_a_cell_scales_value_and_interval() -> None:
    assert cell(Estimate(0.934, 0.901, 0.958), 100.0, 1) == "93.4 (90.1 to 95.8)"
    assert cell(Estimate(np.nan, np.nan, np.nan), 100.0, 1) == "–"
