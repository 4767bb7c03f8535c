"""Trackers show a run and never stop it."""

import logging
from pathlib import Path
from typing import Any

import pytest

from qes_jax.runs import tracker
from qes_jax.runs.folder import RunFolder, create
from qes_jax.runs.metrics import read_metrics
from qes_jax.runs.tracker import Guarded, NoTracker, make_tracker, wandb_mode
from tests.runs.toy import CONFIG, toy_run

NO_KEY = {"HOME": "/nonexistent"}


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return create(tmp_path, "toy", {"seed": 1})


@pytest.mark.parametrize("name", ["none", "tensorboard"])
def test_training_with_a_tracker(name: Any, run: RunFolder) -> None:
    toy_run(run.path, tracker=make_tracker(name, run, {}, NO_KEY))
    assert len(read_metrics(run.metrics)) == CONFIG.iterations


def test_tensorboard_holds_the_metrics(run: RunFolder) -> None:
    toy_run(run.path, tracker=make_tracker("tensorboard", run, {}, NO_KEY))
    (events,) = (run.path / "tensorboard").glob("events*")
    assert b"loss/value" in events.read_bytes()
    assert b"eval/score" in events.read_bytes()


def test_wandb_offline_keeps_one_id_over_a_resume(run: RunFolder, caplog: pytest.LogCaptureFixture) -> None:
    for step in (10, 20):
        shown = make_tracker("wandb", run, {"seed": 1}, NO_KEY)
        shown.log({"loss/value": 1.0}, step)
        shown.close()
    assert caplog.records == []
    segments = sorted(p.name for p in (run.path / "wandb").glob("offline-run-*"))
    assert len(segments) == 2
    run_id = (run.path / "wandb_id").read_text().strip()
    assert all(name.endswith(f"-{run_id}") for name in segments)


def test_unknown_tracker_lists_those_there_are(run: RunFolder) -> None:
    with pytest.raises(ValueError, match="none, wandb, tensorboard"):
        make_tracker("excel", run, {}, NO_KEY)  # type: ignore[arg-type]


class Broken(NoTracker):
    calls = 0

    def log(self, metrics: Any, step: int) -> None:
        self.calls += 1
        raise ConnectionError("no network")


def test_a_broken_tracker_warns_once_and_training_goes_on(run: RunFolder, caplog: pytest.LogCaptureFixture) -> None:
    broken = Broken()
    assert toy_run(run.path, tracker=Guarded(lambda: broken, "broken")).reason == "done"
    assert broken.calls == 1
    assert [r.levelno for r in caplog.records] == [logging.WARNING]
    assert "no network" in caplog.text


def test_a_tracker_that_cannot_start_is_none(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> Any:
        raise OSError("disk full")

    shown = Guarded(fail, "x")
    shown.log({}, 1)
    shown.close()
    assert len(caplog.records) == 1


def test_unreachable_server_falls_back_to_offline(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    modes = []

    def fake(run: RunFolder, config: Any, mode: str, project: str) -> NoTracker:
        modes.append(mode)
        if mode == "online":
            raise TimeoutError("no answer")
        return NoTracker()

    monkeypatch.setattr(tracker, "WandbTracker", fake)
    make_tracker("wandb", run, {}, {"WANDB_API_KEY": "k"}).log({}, 1)
    assert modes == ["online", "offline"]
    assert len(caplog.records) == 1


def test_wandb_mode(tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_text("machine api.wandb.ai\n  login user\n  password key\n")
    (tmp_path / "other").write_text("machine example.com login a password b\n")
    (tmp_path / "broken").write_text("what is this\n")
    home = {"HOME": str(tmp_path)}
    assert wandb_mode(NO_KEY) == "offline"
    assert wandb_mode(NO_KEY | {"WANDB_API_KEY": "k"}) == "online"
    assert wandb_mode(home) == "online"
    assert wandb_mode(home | {"WANDB_BASE_URL": "https://own.example:8080"}) == "offline"
    assert wandb_mode(home | {"NETRC": str(tmp_path / "other")}) == "offline"
    assert wandb_mode(home | {"NETRC": str(tmp_path / "broken")}) == "offline"
    assert wandb_mode(home | {"WANDB_MODE": "disabled"}) == "disabled"
