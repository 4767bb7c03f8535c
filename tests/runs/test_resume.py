"""A run that is killed and resumed writes the metrics of a run that never was."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np
import pytest

from qes_jax.runs.checkpoint import CheckpointStore
from qes_jax.runs.folder import RunFolder
from qes_jax.runs.metrics import comparable, read_metrics
from tests.runs.toy import CONFIG, toy_run

REPO = Path(__file__).resolve().parents[2]


def lines(folder: Path) -> list[dict]:
    return [comparable(row) for row in read_metrics(RunFolder(folder).metrics)]


def start(folder: Path, seconds: float = 0.005) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.runs.toy", str(folder), str(seconds)]
    environ = os.environ | {"PYTHONPATH": f"{REPO}:{REPO / 'src'}"}
    return subprocess.Popen(command, cwd=REPO, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, f"ended too early: {process.communicate()}"
        assert time.monotonic() < deadline
        time.sleep(0.0005)


def n_bytes(folder: Path) -> int:
    path = RunFolder(folder).metrics
    return path.stat().st_size if path.exists() else 0


def saving(folder: Path) -> bool:
    return any("tmp" in p.name for p in RunFolder(folder).checkpoints.glob("*"))


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("uninterrupted")
    assert toy_run(folder).reason == "done"
    return folder


def assert_same_run(folder: Path, reference: Path) -> None:
    assert lines(folder) == lines(reference)
    assert [row["iteration"] for row in lines(folder)] == list(range(1, CONFIG.iterations + 1))


def kill_while(folder: Path, condition: Callable[[], bool]) -> None:
    process = start(folder)
    wait_until(condition, process)
    process.kill()
    process.communicate()


def test_kill_between_and_during_checkpoints(tmp_path: Path, uninterrupted: Path) -> None:
    kill_while(tmp_path, lambda: n_bytes(tmp_path) > 900)
    before = n_bytes(tmp_path)
    assert before > 0
    kill_while(tmp_path, lambda: saving(tmp_path))
    assert len(lines(tmp_path)) < CONFIG.iterations
    assert toy_run(tmp_path).reason == "done"
    assert_same_run(tmp_path, uninterrupted)


@pytest.mark.slow
def test_kill_at_ten_random_moments(tmp_path: Path, uninterrupted: Path) -> None:
    chance = random.Random(0)
    for _ in range(10):
        process = start(tmp_path, 0.02)
        done = n_bytes(tmp_path)
        wait_until(lambda done=done: n_bytes(tmp_path) != done, process)  # it has begun: cut back, or written on
        time.sleep(chance.uniform(0, 0.15))
        process.kill()
        process.communicate()
    assert toy_run(tmp_path).reason == "done"
    assert_same_run(tmp_path, uninterrupted)


def test_sigterm_saves_and_ends_cleanly(tmp_path: Path, uninterrupted: Path) -> None:
    process = start(tmp_path, 0.05)
    wait_until(lambda: n_bytes(tmp_path) > 0, process)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    reason, iteration = out.split()
    assert reason == "stopped"
    assert CheckpointStore(tmp_path / "checkpoints").numbers()[-1] == int(iteration) == len(lines(tmp_path))
    toy_run(tmp_path)
    assert_same_run(tmp_path, uninterrupted)


def test_resume_from_an_older_checkpoint_when_the_newest_is_broken(tmp_path: Path, uninterrupted: Path) -> None:
    toy_run(tmp_path)
    newest = tmp_path / "checkpoints" / f"{CheckpointStore(tmp_path / 'checkpoints').numbers()[-1]:08d}"
    for file in newest.glob("state/**/*"):
        if file.is_file():
            os.truncate(file, file.stat().st_size // 2)
    toy_run(tmp_path)
    assert_same_run(tmp_path, uninterrupted)


def test_resumed_end_state_is_equal_to_the_bit(tmp_path: Path, uninterrupted: Path) -> None:
    first = toy_run(tmp_path)
    again = toy_run(uninterrupted)  # has nothing left to do: what comes back is the checkpoint
    for a, b in zip(jax.tree.leaves(first[:2]), jax.tree.leaves(again[:2]), strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
