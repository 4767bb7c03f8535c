"""Commands end a user's mistake with one line that names it, and leave nothing half written."""

import signal
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from qes_jax.assembly.settings import RunConfig
from qes_jax.assembly.trial import make_trial
from qes_jax.commands import evaluate, import_motion, train, view
from qes_jax.commands.launch import explained
from qes_jax.env.config import EnvConfig
from qes_jax.files import replacing
from qes_jax.ppo.config import PPOConfig
from qes_jax.runs.folder import create, write_json


def write_on_a_folder(folder: Path) -> None:
    with replacing(folder) as aside:
        aside.write_text("x")


def write_json_on_a_folder(folder: Path) -> None:
    write_json(folder, {})


def write_below_a_file(folder: Path) -> None:
    (folder / "file").touch()
    with replacing(folder / "file" / "a.npz"):
        pass


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (write_on_a_folder, "error: {}: Is a directory"),
        (write_json_on_a_folder, "error: {}: Is a directory"),
        (write_below_a_file, "error: {}/file: File exists"),
    ],
)
def test_a_place_that_cannot_be_written_to_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture, write: Callable[[Path], None], words: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    assert explained(lambda: write(folder))() == 2
    assert capsys.readouterr().err.startswith(words.format(folder) + "\n")
    assert list(tmp_path.iterdir()) == [folder]


def test_an_interrupted_command_says_so(capsys: pytest.CaptureFixture) -> None:
    @explained
    def main() -> int:
        raise KeyboardInterrupt

    assert main() == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_an_interrupt_that_a_callback_swallows_comes_again(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it

    class Swallows:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    @explained
    def main() -> int:
        Swallows()  # is gone at once
        time.sleep(5.0)
        return 0

    try:
        assert main() == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize(
    "words",
    ["--fps 0", "--fps nan", "--height 0", "--height nan", "--unit 0", "--unit nan", "--repeat 0", "--repeat -2",
     "--repeat 100000000"],
)  # fmt: skip
def test_importing_by_an_odd_number_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture, words: str
) -> None:
    assert import_motion.main(["walk.txt", "--out", str(tmp_path / "a.npz"), *words.split()]) == 2
    assert words.split()[0] in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_following_for_no_time_or_for_ever_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="seconds to follow"):
        make_trial(None, [], seconds)


@pytest.mark.parametrize("setting", ["samples", "evaluate_starts", "evaluate_every", "checkpoint_every"])
def test_a_count_below_its_least_is_refused(setting: str) -> None:
    with pytest.raises(ValueError, match=f"{setting} is -1: expected at least"):
        RunConfig(**{setting: -1})


@pytest.mark.parametrize(
    ("config", "setting", "value"),
    [
        (EnvConfig, "ctrl_dt", 0.0), (EnvConfig, "ctrl_dt", float("nan")), (EnvConfig, "n_substeps", 0),
        (EnvConfig, "max_frames", 0), (EnvConfig, "future", -1), (PPOConfig, "n_envs", 0), (PPOConfig, "n_steps", -4),
        (PPOConfig, "minibatch", 0), (PPOConfig, "epochs", 0), (PPOConfig, "shuffle_blocks", 0),
    ],
)  # fmt: skip
def test_a_setting_out_of_its_range_is_named(config: type, setting: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{config.__name__}.{setting} is {value}"):
        config(**{setting: value})


def test_resuming_takes_no_other_settings(tmp_path: Path) -> None:
    saved = RunConfig(seed=3)
    create(tmp_path, "cpu", saved)
    words = ["--resume", "latest", "--root", str(tmp_path)]
    assert train.parse(words).config == saved and train.parse([*words, "--tracker", "none"]).tracker == "none"
    with pytest.raises(ValueError, match="--resume goes on with the settings saved"):
        train.parse([*words, "--samples", "8"])


@pytest.mark.parametrize(
    "words",
    ["--every 0", "--every -3", "--port -1", "--port 65536", "--start nan", "--seconds inf", "--beside nan",
     "--apart inf", "--at nan"],
)  # fmt: skip
def test_viewing_by_an_odd_number_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture, words: str
) -> None:
    assert view.main(["nowhere", "--html", str(tmp_path / "a.html"), *words.split()]) == 2
    assert capsys.readouterr().err.startswith(f"error: {words}: expected")


@pytest.mark.parametrize("command", [view, evaluate])
def test_a_scene_that_would_not_be_heeded_is_refused(
    capsys: pytest.CaptureFixture, command: ModuleType
) -> None:
    assert command.main(["walk", "--scene", "couch"]) == 2
    assert capsys.readouterr().err.startswith("error: --scene couch: only for a ")


@pytest.mark.parametrize(
    "words",
    ["import_motion a.bvh --out {}", "import_motion a.bvh --json {}", "export_motion a.npz out.bvh --json {}",
     "view clip:walk --html {}", "view walk --picture {}", "retarget_table . --out {}", "make_clips walk --json {}"],
)  # fmt: skip
def test_a_folder_is_no_place_for_a_file_and_that_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, words: str
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "folder"
    folder.mkdir()
    command, *rest = words.format(folder).split()
    assert import_module(f"qes_jax.commands.{command}").main(rest) == 2
    assert f"{folder}: is a folder, expected the name of a file" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [folder]


def test_a_folder_is_no_recording(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert import_motion.main([str(tmp_path), "--out", str(tmp_path / "a.npz")]) == 2
    assert f"{tmp_path}: is a folder, expected one recording" in capsys.readouterr().err
