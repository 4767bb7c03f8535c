"""Tables of made-up scores."""

import json

import jax
import numpy as np
import pytest

from qes_jax.evaluate.metrics import Estimate
from qes_jax.evaluate.rollout import Tracked, select
from qes_jax.evaluate.tables import OVER_CLIPS, OVERALL, as_values, cell, markdown, results, row
from tests.evaluate.standing import no_likeness

FPS = 2.0


@pytest.fixture
def tracked() -> Tracked:
    """Three episodes of 60 steps: two of the first clip, one of which fails at step 20, and one of the second."""
    error = np.full((60, 3), 0.1)
    error[20:, 1] = 0.6
    return Tracked(error, error, error, 100 * error, error, error, np.ones(error.shape, bool), no_likeness(error))


def test_results_are_by_threshold_and_clip(tracked: Tracked) -> None:
    found = results(tracked, np.array([0, 0, 1]), ["walk", "stool"], FPS)
    assert list(found) == [0.8, 0.5]
    assert list(found[0.5]) == [OVERALL, OVER_CLIPS, "walk", "stool"]
    assert [found[0.5][name].n for name in found[0.5]] == [3, 2, 2, 1]
    assert found[0.5]["walk"].success_20s.value == 0.5
    assert found[0.8]["walk"].success_20s.value == 1.0
    assert found[0.5]["stool"].success_30s.value == 1.0


def test_a_clip_without_episodes_has_no_row(tracked: Tracked) -> None:
    assert list(results(tracked, np.zeros(3, int), ["walk", "stool"], FPS)[0.8]) == [OVERALL, "walk"]


def test_values_are_json_and_the_unknown_is_null(tracked: Tracked) -> None:
    short = jax.tree.map(lambda x: x[:30], tracked)
    values = as_values(results(short, np.zeros(3, int), ["walk"], FPS)[0.8]["walk"])
    assert values == json.loads(json.dumps(values, allow_nan=False))
    assert values["episodes"] == 3
    assert values["success_30s"] is None
    assert values["error_cm"] == pytest.approx(100 * (0.1 * 80 + 0.6 * 10) / 90)
    assert values["intervals"]["error_cm"][0] <= values["error_cm"] <= values["intervals"]["error_cm"][1]


def test_a_table_has_a_row_for_each_clip_and_threshold(tracked: Tracked) -> None:
    found = results(tracked, np.array([0, 0, 1]), ["walk", "stool"], FPS)
    for table in markdown(found).split("\n\n"):
        rows = [line.split(" | ") for line in table.strip().splitlines()]
        assert len({len(row) for row in rows}) == 1
        names = [OVERALL] * 2 + [OVER_CLIPS] * 2 + ["walk"] * 2 + ["stool"] * 2
        assert [row[0].strip("| ") for row in rows[2:]] == names
    rows = [line.split(" | ") for line in markdown(found).splitlines()]
    assert rows[7][3] == "50.0"
    alone = markdown(results(tracked, np.zeros(3, int), ["walk"], FPS))
    assert OVERALL not in alone and OVER_CLIPS not in alone


def test_a_row_of_few_episodes_says_so_and_gives_no_interval(tracked: Tracked) -> None:
    many = select(tracked, np.repeat([0, 1], 4))
    few = {"success_20s": ("success", 100.0, 0)}
    scored = results(many, np.zeros(8, int), ["walk"], FPS)[0.5]["walk"]
    assert row(scored, few) == ["8", "50 (22 to 78)"]
    assert not as_values(scored)["too_few"]
    scored = results(tracked, np.zeros(3, int), ["walk"], FPS)[0.5]["walk"]
    assert row(scored, few) == ["3, too few", "67"]
    assert as_values(scored)["too_few"]
    mean = results(tracked, np.array([0, 0, 1]), ["walk", "stool"], FPS)[0.5][OVER_CLIPS]
    assert row(mean, few, "clips") == ["2 clips, too few", "75"]


def test_a_cell_scales_value_and_interval() -> None:
    assert cell(Estimate(0.934, 0.901, 0.958), 100.0, 1) == "93.4 (90.1 to 95.8)"
    assert cell(Estimate(np.nan, np.nan, np.nan), 100.0, 1) == "–"
