"""Sweeps name real settings, are run on one machine without an account, and are gathered from the run folders."""

import json
import math
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from qes_jax.assembly.settings import RunConfig, presets
from qes_jax.assembly.sweeping import run as running
from qes_jax.assembly.sweeping.gather import by_setting, curves, markdown, read_runs, summarise
from qes_jax.assembly.sweeping.grid import arguments, points, read_sweep, share
from qes_jax.assembly.sweeping.options import Options
from qes_jax.commands.sweep import main
from qes_jax.commands.train import parse
from qes_jax.env.config import ABLATIONS
from qes_jax.runs.folder import create

EXPERIMENTS = Path(__file__).resolve().parents[1] / "experiments"
FOLDER = EXPERIMENTS / "sweeps"
SWEEPS = sorted(FOLDER.glob("*.yaml"))
GRID = """
program: experiments/run.py
method: grid
parameters:
  preset: {value: smoke}
  ablation: {values: [full, no_contact]}
  seed: {values: [0, 1]}
"""


def meaning(words):
    return parse(words).config


def all_points(sweep):
    return points(sweep) if sweep.method == "grid" else points(sweep, 40)


def test_there_are_sweeps():
    assert SWEEPS


@pytest.mark.parametrize("path", SWEEPS, ids=lambda p: p.stem)
def test_every_setting_is_taken_and_arrives(path):
    sweep = read_sweep(path)
    for point in all_points(sweep):
        config = meaning(arguments(sweep, point))
        for name, value in point.items():
            assert _at(config, name) == value


@pytest.mark.parametrize("path", SWEEPS, ids=lambda p: p.stem)
def test_the_words_of_the_command_arrive(path):
    sweep = read_sweep(path)
    own = [word for word in sweep.words if "${" not in word]
    assert meaning(arguments(sweep, all_points(sweep)[0])).scene == tuple(own[1:])


def _at(config, name):
    for part in name.replace("-", "_").split("."):
        config = getattr(config, part)
    return config


def test_the_ablation_sweep_covers_all_ablations_with_three_seeds():
    found = points(read_sweep(FOLDER / "ablations.yaml"))
    assert {(p["ablation"], p["seed"]) for p in found} == {(a, s) for a in ABLATIONS for s in range(3)}
    assert len(found) == 3 * len(ABLATIONS)


def test_draws_stay_in_their_bounds_and_are_always_the_same():
    sweep = read_sweep(FOLDER / "learning.yaml")
    drawn = points(sweep, 50)
    assert drawn[:7] == points(sweep, 7)
    rates = [p["ppo.lr"] for p in drawn]
    assert 0.0001 <= min(rates) < 0.0003 and 0.0008 < max(rates) <= 0.002
    assert {p["ppo.epochs"] for p in drawn} == {2, 3, 5}


def test_shares_are_disjoint_and_whole():
    parts = [share(range(18), i, 5) for i in range(5)]
    assert sorted(x for part in parts for x in part) == list(range(18))
    with pytest.raises(ValueError, match="--index 5 --of 5"):
        share(range(18), 5, 5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "not YAML"),
        ("- 1", "expected the fields"),
        (GRID.replace("run.py", "walk.py"), "program is 'experiments/walk.py'"),
        (GRID.replace("grid", "hill"), "method is 'hill'"),
        (GRID.replace("[0, 1]", "[]"), r"parameters.seed.values: expected a list"),
        (GRID.replace("{values: [0, 1]}", "{min: 3, max: 1}"), r"parameters.seed: expected numbers min <= max"),
        (GRID.replace("{values: [0, 1]}", "{min: 0, max: 3}"), r"parameters.seed: a grid needs value or values"),
        (GRID + "command: [python]", "command: expected"),
    ],
)
def test_a_bad_file_is_named_with_its_field(text, words, tmp_path, capsys):
    (tmp_path / "bad.yaml").write_text(text)
    assert main([str(tmp_path / "bad.yaml"), "--root", str(tmp_path)]) == 2
    with pytest.raises(ValueError, match=words) as raised:
        points(read_sweep(tmp_path / "bad.yaml"))
    assert "bad.yaml" in str(raised.value) and "bad.yaml" in capsys.readouterr().err


def test_a_draw_needs_a_count_and_a_grid_has_none(tmp_path, capsys):
    assert main([str(FOLDER / "learning.yaml"), "--root", str(tmp_path)]) == 2
    assert "give --count" in capsys.readouterr().err
    assert main([str(FOLDER / "ablations.yaml"), "--count", "3", "--root", str(tmp_path)]) == 2
    assert main([]) == 2


@pytest.fixture
def sweep(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(GRID)
    return path


def finish(root, config, value=1.0, samples=None):
    """A run folder as a training leaves it, but for what is in the checkpoint."""
    folder = create(root, config.preset, config)
    done = config.samples if samples is None else samples
    iterations = math.ceil(done / config.ppo.n_samples)
    (folder.checkpoints / f"{iterations:08d}").mkdir()
    rows = [{"samples": s, "eval/mean_tracked_s": value} for s in (done // 2, done)]
    folder.metrics.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_runs_are_told_by_their_settings_and_only_what_is_left_is_run(sweep, tmp_path, monkeypatch):
    root, smoke = tmp_path / "runs", presets()["smoke"]
    finish(root, smoke)
    begun = finish(root, replace(smoke, seed=1), samples=4096)
    finish(root, replace(smoke, seed=7))
    started = []

    class Process:
        returncode = 0

        def __init__(self, words, **_):
            started.append(words[4:])

        def poll(self):
            return 0

    monkeypatch.setattr(running.subprocess, "Popen", Process)
    assert running.run_sweep(Options(sweep, root=root), ["--tracker", "none"], meaning) == 0
    resumed, *new = started
    assert resumed == ["--tracker", "none", "--resume", str(begun.path), "--root", str(root)]
    assert [words[1:3] for words in new] == [["--ablation=no_contact", f"--seed={seed}"] for seed in (0, 1)]
    assert parse(new[0]).config == replace(smoke, ablation="no_contact")
    assert parse(resumed).config == replace(smoke, seed=1)


def test_a_failed_run_is_told_and_the_others_are_run(sweep, tmp_path, monkeypatch, capsys):
    lines = iter([1, 0, 0, 0])
    monkeypatch.setattr(
        running, "command", lambda job, root: [sys.executable, "-c", f"raise SystemExit({next(lines)})"]
    )
    assert running.run_sweep(Options(sweep, root=tmp_path, workers=2), [], meaning) == 1
    assert "failed: 0;" in capsys.readouterr().err
    assert sorted(p.name for p in (tmp_path / "logs").iterdir()) == ["0000.log", "0001.log", "0002.log", "0003.log"]


def test_settings_are_grouped_over_seeds(tmp_path):
    smoke = presets()["smoke"]
    for ablation, values in {"full": (4.0, 6.0), "no_contact": (1.0, 2.0)}.items():
        for seed, value in enumerate(values):
            finish(tmp_path / ablation, replace(smoke, ablation=ablation, seed=seed), value)
    runs = read_runs(tmp_path)
    assert {k: len(v) for k, v in by_setting(runs).items()} == {"full": 2, "no_contact": 2}
    best, worst = summarise(runs)
    assert best["setting"] == "full" and best["seeds"] == [0, 1] and worst["setting"] == "no_contact"
    found = best["eval/mean_tracked_s"]
    assert found["mean"] == 5.0 and found["half"] == pytest.approx(12.706, abs=1e-3)  # t of one degree of freedom
    assert "| full | 2 | 0.01 M | 5 ± 13 |" in markdown([best])
    assert len(curves(runs).axes[0].lines) == 2


def test_a_setting_in_a_branch_is_named_by_its_path(tmp_path):
    smoke = presets()["smoke"]
    for rate in (0.001, 0.002):
        finish(tmp_path, replace(smoke, ppo=replace(smoke.ppo, lr=rate)))
    assert sorted(by_setting(read_runs(tmp_path))) == ["ppo.lr=0.001", "ppo.lr=0.002"]


def test_what_cannot_be_read_is_left_out_and_said(tmp_path, capsys):
    finish(tmp_path, RunConfig())
    broken = finish(tmp_path, RunConfig(seed=1))
    broken.config.write_text('{"warp_drive": 1}')
    assert main(["--gather", str(tmp_path), "--json", str(tmp_path / "t.json"), "--plot", str(tmp_path / "t.png")]) == 0
    said = capsys.readouterr()
    assert "warp_drive" in said.err and "| cpu | 1 |" in said.out
    assert json.loads((tmp_path / "t.json").read_text())[0]["seeds"] == [0] and (tmp_path / "t.png").stat().st_size
    assert main(["--gather", str(tmp_path / "nothing")]) == 2


@pytest.mark.slow
def test_a_sweep_is_stopped_goes_on_and_is_done(sweep, tmp_path):
    root = tmp_path / "runs"
    words = [sys.executable, str(EXPERIMENTS / "sweep.py"), str(sweep), "--root", str(root)]
    words += ["--index", "1", "--of", "4", "--", "--samples", "20480", "--tracker", "none", "--evaluate-every", "0"]
    with subprocess.Popen(words) as process:
        wait_for(lambda: any(p.stat().st_size for p in root.glob("*/metrics.jsonl")))
        process.terminate()
        assert process.wait() == 130
    (run,) = read_runs(root)
    assert 0 < run.last("samples") < 20480
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "1 runs, 0 of them done" in done.stdout and "| smoke | 1 | 0.02 M |" in done.stdout
    again = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "1 runs, 1 of them done" in again.stdout
    (run,) = read_runs(root)
    assert [row["iteration"] for row in run.rows] == list(range(1, 41))


def wait_for(true, seconds=900):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


ARRAY = FOLDER / "array.sh"


LINE = "python experiments/sweep.py a.yaml"
TASK = {"SLURM_ARRAY_TASK_ID": "13", "SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_COUNT": "8"}
AGENT = "wandb agent --forward-signals me/qes/abc123"


@pytest.mark.parametrize(
    ("words", "environment", "expected"),
    [
        (["a.yaml", "2", "9"], {}, f"{LINE} --index 2 --of 9"),
        (["a.yaml", "2", "9", "--samples", "5"], {}, f"{LINE} --index 2 --of 9 -- --samples 5"),
        (["a.yaml", "--samples", "5"], TASK, f"{LINE} --index 3 --of 8 -- --samples 5"),
        (["me/qes/abc123"], TASK, AGENT),
        (["me/qes/abc123"], {}, AGENT),
    ],
)
def test_the_script_of_a_job_array(words, environment, expected, tmp_path):
    for name in ("python", "wandb"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho {name} "$@"\n')
        (tmp_path / name).chmod(0o755)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_")}
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", str(ARRAY), *words], env=clean | environment | {"PATH": path, "PYTHON": "python"},
        cwd=EXPERIMENTS.parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == expected


def test_the_script_says_what_it_needs():
    for words in ([], ["a.yaml"], ["a.yaml", "x", "3"]):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_")}
        done = subprocess.run(["bash", str(ARRAY), *words], env=clean, capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "array.sh" in done.stderr
