"""The loop: what it counts, evaluates, keeps, and how it fails."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.runs.checkpoint import CheckpointStore
from qes_jax.runs.failure import TrainingFailed, bad_metrics, read_failure
from qes_jax.runs.folder import RunFolder
from qes_jax.runs.loop import LoopConfig, Outcome, Program, train_loop
from qes_jax.runs.metrics import read_metrics
from qes_jax.runs.progress import Silent
from qes_jax.runs.stop import StopFlag
from tests.runs.toy import CONFIG, toy_params, toy_program, toy_run, toy_state


def run_loop(folder: Path, program: Program, config: LoopConfig = CONFIG) -> Outcome:
    run = RunFolder(folder)
    run.checkpoints.mkdir(exist_ok=True)
    return train_loop(program, toy_state(), toy_params(), run, config)


def test_counts_samples_and_evaluates_when_due(tmp_path: Path) -> None:
    outcome = toy_run(tmp_path)
    rows = read_metrics(RunFolder(tmp_path).metrics)
    assert (outcome.reason, outcome.iteration) == ("done", 30)
    assert [row["samples"] for row in rows] == list(range(10, 301, 10))
    assert [row["iteration"] for row in rows if "eval/score" in row] == [7, 14, 21, 28, 30]
    assert all(a["time/wall_s"] < b["time/wall_s"] for a, b in pairwise(rows))
    assert CheckpointStore(tmp_path / "checkpoints").numbers() == [28, 30]


def test_total_is_rounded_up_to_whole_iterations() -> None:
    assert LoopConfig(total_samples=31, samples_per_iteration=10).iterations == 4
    assert LoopConfig(total_samples=30, samples_per_iteration=10).iterations == 3


def test_a_finished_run_goes_on_to_a_larger_total(tmp_path: Path) -> None:
    short = tmp_path / "short"
    short.mkdir()
    run_loop(short, toy_program(), replace(CONFIG, total_samples=70))
    assert toy_run(short).iteration == 30
    (tmp_path / "whole").mkdir()
    toy_run(tmp_path / "whole")
    values = [[r["loss/value"] for r in read_metrics(tmp_path / name / "metrics.jsonl")] for name in ("short", "whole")]
    assert values[0] == values[1]


def test_best_checkpoint_is_kept(tmp_path: Path) -> None:
    scores = {7: 1.0, 14: 5.0, 21: 2.0, 28: 3.0, 30: 0.0}
    program = replace(toy_program(), evaluate=lambda state, params, n: {"eval/score": scores[n]})
    run_loop(tmp_path, program, replace(CONFIG, checkpoint_every=7, keep_last=1, best="eval/score"))
    assert CheckpointStore(tmp_path / "checkpoints").numbers() == [14, 30]


def fails_at(number: int, program: Program, fail: Any) -> Program:
    count = [0]

    def iteration(state: Any, env_params: Any) -> Any:
        count[0] += 1
        state, metrics, traces = program.iteration(state, env_params)
        return fail(state, metrics, traces) if count[0] == number else (state, metrics, traces)

    return replace(program, iteration=iteration)


def test_counted_nan_stops_loudly_with_a_dump(tmp_path: Path) -> None:
    def spoil(state: Any, metrics: Any, traces: Any) -> Any:
        return state._replace(w=state.w.at[0, 0].set(jnp.nan)), metrics | {"nan/params": 1}, traces

    def note(folder: Path, state: Any, env_params: Any, metrics: Any, traces: Any) -> str:
        (folder / "replay.txt").write_text("more")
        return "environment 3, step 5, term contact"

    program = replace(fails_at(6, toy_program(), spoil), on_failure=note)
    with pytest.raises(TrainingFailed, match=r"iteration 6 .*nan/params = 1; environment 3, step 5, term contact"):
        run_loop(tmp_path, program)
    folder = tmp_path / "failure-00000006"
    found = read_failure(folder)
    assert (found["iteration"], found["replay_from"]) == (6, 4)
    assert (folder / "replay.txt").read_text() == "more"
    assert np.isnan(np.load(folder / "state.npz")["w"][0, 0])
    assert np.load(folder / "traces.npz")["seen"].shape == (3, 4)
    assert len(read_metrics(tmp_path / "metrics.jsonl")) == 5
    assert CheckpointStore(tmp_path / "checkpoints").numbers() == [4]  # nothing spoilt was saved


def test_an_iteration_that_raises_is_dumped_and_its_cause_kept(tmp_path: Path) -> None:
    def fail(*_: Any) -> Any:
        raise FloatingPointError("simulation of environment 7 failed")

    with pytest.raises(TrainingFailed, match=r"iteration 2 failed: simulation of environment 7") as caught:
        run_loop(tmp_path, fails_at(2, toy_program(), fail))
    assert isinstance(caught.value.__cause__, FloatingPointError)
    assert read_failure(tmp_path / "failure-00000002")["replay_from"] is None
    assert not (tmp_path / "failure-00000002" / "state.npz").exists()  # was used up


def test_a_failing_dump_does_not_hide_the_failure(tmp_path: Path) -> None:
    def spoil(state: Any, metrics: Any, traces: Any) -> Any:
        return state, metrics | {"nan/params": 2}, traces

    with pytest.raises(TrainingFailed, match=r"nan/params = 2; .*no such term"):
        run_loop(tmp_path, replace(fails_at(1, toy_program(), spoil), on_failure=lambda *_: {}["no such term"]))


def test_bad_metrics() -> None:
    metrics = {"nan/obs": 0, "nan/reward": 3.0, "nan/action": float("nan"), "loss/value": float("nan")}
    assert bad_metrics(metrics, ("nan/",)).keys() == {"nan/reward", "nan/action"}
    assert bad_metrics(metrics, ("loss/",)).keys() == {"loss/value"}


def test_stop_before_the_first_iteration_writes_nothing(tmp_path: Path) -> None:
    class Stopped(StopFlag):
        requested = True  # type: ignore[assignment]

    outcome = toy_run(tmp_path, stop=Stopped())
    assert (outcome.reason, outcome.iteration) == ("stopped", 0)
    assert CheckpointStore(tmp_path / "checkpoints").numbers() == []
    assert toy_run(tmp_path).reason == "done"


def test_the_display_is_closed_when_training_fails(tmp_path: Path) -> None:
    class Watched(Silent):
        closed = False

        def close(self) -> None:
            self.closed = True

    display = Watched()
    program = replace(toy_program(), iteration=lambda *_: {}["boom"])
    (tmp_path / "checkpoints").mkdir()
    with pytest.raises(TrainingFailed, match="boom"):
        train_loop(program, toy_state(), toy_params(), RunFolder(tmp_path), CONFIG, display=display)
    assert display.closed
