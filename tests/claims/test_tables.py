"""experiments/tables.py: which runs a table takes, how they are shared out, and the whole of it once, tiny."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from qes_jax.assembly.claims.grid import CLIMBING, COMMON, FAMILIES, SETTINGS, base_config, choose, runs
from qes_jax.assembly.claims.measure import measured, protocol
from qes_jax.assembly.claims.training import finished, open_run
from qes_jax.assembly.clips import own_clips
from qes_jax.authoring.catalogue import get_recipe
from qes_jax.commands import tables
from qes_jax.env.config import ABLATIONS

BASE = base_config("rooms", choose(COMMON), 1000)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_trained_on_own_clips_and_measured_on_held_out_ones(name: str) -> None:
    family = FAMILIES[name]
    trained = {clip for word in family.train for clip in own_clips(word)}
    assert trained and family.test
    assert all(own_clips(word) for word in family.train)
    assert not any(get_recipe(clip).held_out for clip in trained)
    assert all(get_recipe(clip).held_out for clip in family.test)


def test_the_tables_cover_all_ablations_and_begin_with_the_full_setting() -> None:
    assert {a for settings in SETTINGS.values() for a in settings} == set(ABLATIONS)
    assert all(settings[0] == "full" for settings in SETTINGS.values())


def test_tables_share_the_runs_of_the_full_setting() -> None:
    folders = {table: {r.folder for r in runs(table, BASE, 5, Path("runs"))} for table in SETTINGS}
    assert [len(f) for f in folders.values()] == [5, 20, 15]
    assert folders[2] < folders[3] and folders[2] < folders[4]
    assert Path("runs/no_contact_seed3_0.001M") in folders[3]


def test_recorded_climbs_are_a_family_of_their_own() -> None:
    assert choose(["stool"], ["a.npz", "b.npz"])[CLIMBING].test == ("a.npz", "b.npz")
    assert choose([], ["a.npz"], ["c.npz"])[CLIMBING].test == ("c.npz",)


def test_a_run_of_other_settings_is_not_mixed_in(tmp_path: Path) -> None:
    (run,) = runs(2, BASE, 1, tmp_path)
    assert open_run(run).config.is_file() and open_run(run).path == run.folder and not finished(run)
    other = replace(run, config=replace(run.config, mirror=True))
    with pytest.raises(ValueError, match="mirror is False, asked for is True: give another --root"):
        open_run(other)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("3 --families castle", "unknown family 'castle': expected some of flat, stool"),
        ("3 --index 2 --of 2", "--index 2 --of 2: expected an index"),
        ("3 --seeds 0", "seeds is 0: expected at least 1"),
        ("3 --samples 0", "--samples 0: expected at least 1"),
        ("3 --starts 0", "--starts 0: expected at least 1"),
        ("3 --place-spread nan", "--place-spread nan: expected"),
        ("2 --test-clips a.npz", "--test-clips without --clips"),
    ],
)  # fmt: skip
def test_an_odd_wish_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture, words: str, said: str) -> None:
    assert tables.main([*words.split(), "--root", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"error: {said}")
    assert not list(tmp_path.iterdir())


def test_gathering_where_nothing_is_measured_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert tables.main(["4", "--no-train", "--root", str(tmp_path)]) == 0
    assert "nothing measured yet of 15 runs" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_tiny_table_in_two_parts(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Table 4 by two machines one after the other; the second finds the first one's runs and trains none again."""
    words = ["4", "--smoke", "--tracker", "none", "--root", str(tmp_path)]
    assert tables.main([*words, "--index", "0", "--of", "2"]) == 0
    out = tmp_path / "smoke"
    assert "**Missing: 3 of 6 runs**" in (out / "table4.md").read_text()
    written = {p: p.stat().st_mtime_ns for p in out.glob("*/metrics.jsonl")}
    assert len(written) == 3
    assert tables.main([*words, "--index", "1", "--of", "2"]) == 0
    assert {p: p.stat().st_mtime_ns for p in written} == written
    text = (out / "table4.md").read_text()
    assert "Missing" not in text and "## Against the full setting" in text
    data = json.loads((out / "table4.json").read_text())
    assert {row["setting"] for row in data["rows"]} == {"full", "real_time", "headset_only"}
    assert all(len(row["metrics"]["error_cm"]["seeds"]) == 2 for row in data["rows"])
    assert {p.name for p in out.glob("*.png")} == {
        "table4_mean_tracked_s.png", "table4_error_cm.png", "table4_success.png"
    }  # fmt: skip
    capsys.readouterr()
    assert tables.main([*words]) == 0
    assert capsys.readouterr().out.count("trained already") == 6
    assert measured(out / "full_seed0_0.004096M", protocol({}, 1, 0, 0.0)) is None  # measured otherwise
