"""experiments/run.py as a user runs it: trains, saves, and after kill -9 repeats to the bit what it had lost."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]
SMALL = ["--preset", "smoke", "--samples", "6144", "--evaluate-every", "4", "--tracker", "none"]


def command(*arguments: str) -> list[str]:
    return [sys.executable, str(REPO / "experiments" / "run.py"), *arguments]


def lines(root: Path) -> list[dict]:
    """The metrics of the only run below root, without the clock's."""
    (path,) = root.glob("*/metrics.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
    return [{k: v for k, v in row.items() if not k.startswith("time/")} for row in rows]


def wait_for_lines(process: subprocess.Popen, root: Path, count: int) -> None:
    """Until the run has written `count` lines of metrics."""
    while process.poll() is None:
        files = list(root.glob("*/metrics.jsonl"))
        if files and files[0].read_text().count("\n") >= count:
            return
        time.sleep(0.02)
    raise AssertionError(f"the run ended with {process.returncode} before {count} lines")


@pytest.mark.slow
def test_killed_and_resumed_gives_the_same_metrics_to_the_bit(tmp_path):
    subprocess.run(command(*SMALL, "--root", str(tmp_path / "whole")), check=True)
    process = subprocess.Popen(command(*SMALL, "--root", str(tmp_path / "cut")))
    wait_for_lines(process, tmp_path / "cut", 6)
    process.send_signal(signal.SIGKILL)
    process.wait()
    subprocess.run(command("--resume", "latest", "--tracker", "none", "--root", str(tmp_path / "cut")), check=True)
    whole, cut = lines(tmp_path / "whole"), lines(tmp_path / "cut")
    assert len(whole) == 12
    assert cut == whole
    assert {k: v for row in whole for k, v in row.items() if k.startswith("nan/")}.keys() >= {"nan/obs", "nan/grads"}


@pytest.mark.slow
def test_several_devices_share_the_environments_and_train_as_one_does(tmp_path):
    """Same random numbers; sums in another order, so equal to float32's accuracy and no more."""
    short = [*SMALL[:2], "--samples", "512", "--evaluate-every", "0", "--tracker", "none"]
    for count in (1, 2):
        devices = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={count}"}
        subprocess.run(command(*short, "--root", str(tmp_path / str(count))), check=True, env={**os.environ, **devices})
    (one,), (two,) = (lines(tmp_path / name) for name in ("1", "2"))
    assert two.keys() == one.keys()
    for name in ("rollout/reward", "error/headset", "loss/value"):
        assert two[name] == pytest.approx(one[name], rel=1e-3), name


@pytest.mark.slow
def test_a_run_carries_on_from_what_another_has_learned(tmp_path):
    """From a run and from its exported weights alike: the first iteration starts with its statistics and its error."""
    subprocess.run(command(*SMALL, "--character.actuation", "pd", "--root", str(tmp_path / "first")), check=True)
    (first,) = (tmp_path / "first").iterdir()
    export = [sys.executable, str(REPO / "experiments" / "evaluate.py"), str(first), "--export", str(tmp_path / "out")]
    subprocess.run([*export, "--starts", "1", "--seconds", "1", "--show", "0"], check=True)
    short = ["--clips", "turn", "--samples", "512", "--evaluate-every", "0", "--tracker", "none"]
    for source, name in ((first, "run"), (tmp_path / "out", "weights")):
        subprocess.run(command("--from", str(source), *short, "--root", str(tmp_path / name)), check=True)
    (run,), (weights,) = (lines(tmp_path / name) for name in ("run", "weights"))
    assert run == weights
    saved = json.loads(next((tmp_path / "run").glob("*/config.json")).read_text())
    assert saved["character"]["actuation"] == "pd" and saved["clips"] == ["turn"] and saved["start_from"] == str(first)
    fresh = [*SMALL[:2], "--character.actuation", "pd", *short, "--root", str(tmp_path / "fresh")]
    subprocess.run(command(*fresh), check=True)
    (new,) = lines(tmp_path / "fresh")
    assert run["ppo/std"] != new["ppo/std"] and run["ppo/explained_variance"] > new["ppo/explained_variance"] + 0.2


@pytest.mark.slow
def test_sigterm_saves_and_ends_cleanly(tmp_path):
    long = [*SMALL[:2], "--samples", "10000000", "--tracker", "none"]
    process = subprocess.Popen(command(*long, "--root", str(tmp_path)))
    wait_for_lines(process, tmp_path, 2)
    process.terminate()
    assert process.wait(timeout=120) == 0
    assert list(tmp_path.glob("*/checkpoints/0*"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--preset", "huge"], "expected one of"),
        (["--resume", "nothing"], "no run"),
        (["--clips", "no_such_clip"], "built-in clips are: walk"),
        (["--scene", "castle"], "castle"),
        (["--scene", "stool", "--clips", "mine.npz"], "give --clips or --scene, not both"),
    ],
)
def test_a_wrong_word_is_one_clear_line(tmp_path, arguments, words):
    done = subprocess.run(
        command(*arguments, "--root", str(tmp_path)), capture_output=True, text=True, env={**os.environ}, check=False
    )
    assert done.returncode != 0
    assert words in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
