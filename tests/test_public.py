"""The public interface: every name is there, says what it does, and its example runs."""

import doctest
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import qes_jax
from qes_jax.assembly.clips import find_clips
from qes_jax.motion.export import clip_skeleton
from qes_jax.motion.formats.bvh_write import write_bvh

REPO = Path(__file__).resolve().parents[1]
SLOW = {"StreamTracker", "evaluate_policy", "label_contacts", "read_motion", "solve_pose", "train"}  # compile for long


def example(name: str) -> str:
    """The docstring of a public name."""
    return inspect.getdoc(getattr(qes_jax, name)) or ""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in qes_jax.__all__]
)  # fmt: skip
def test_the_example_of_a_public_name_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if name == "read_motion":
        write_bvh(tmp_path / "walk.bvh", clip_skeleton(find_clips(["walk"])[0]))
    names = {n: getattr(qes_jax, n) for n in qes_jax.__all__}
    found = doctest.DocTestParser().get_doctest(example(name), names, name, None, 0)
    assert found.examples, f"{name} has no example"
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(found, out=said.append)
    assert not said, "".join(said)


def test_asking_for_a_name_imports_it_and_an_unknown_one_is_told() -> None:
    assert set(qes_jax.__all__) <= set(dir(qes_jax))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = qes_jax.nonsense


def test_no_public_name_is_hidden_by_a_room_of_that_name() -> None:
    assert not {p.stem for p in Path(qes_jax.__file__).parent.iterdir()} & set(qes_jax.__all__)


def test_types_of_public_names_are_known_without_importing_them() -> None:
    source = Path(qes_jax.__file__).read_text()
    for name in qes_jax.__all__:
        assert source.count(f"{name},") + source.count(f"import {name}\n") >= 1, f"{name} is not imported for types"


def test_the_page_names_them_all() -> None:
    page = (REPO / "docs" / "library_api.md").read_text()
    assert [n for n in qes_jax.__all__ if f"`{n}" not in page] == []
    assert f"## {qes_jax.__version__}" in (REPO / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("words", [["--help"], ["train", "--help"], ["scenes", "chair"], ["nonsense"]])
def test_all_commands_in_one(words: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", "qes_jax", *words], capture_output=True, text=True, check=False)
    assert done.returncode == (2 if words == ["nonsense"] else 0), done.stderr
    expected = {"--help": "evaluate", "train": "usage: qes_jax train", "scenes": "chair", "nonsense": "unknown command"}
    assert expected[words[0]] in done.stdout + done.stderr


@pytest.mark.slow
def test_a_wheel_brings_all_that_its_commands_need(tmp_path: Path) -> None:
    wheel = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]
    if subprocess.run([*wheel, str(REPO)], check=False).returncode:
        wheel.remove("--no-build-isolation")
        subprocess.run([*wheel, str(REPO)], check=True)
    (built,) = tmp_path.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    subprocess.run([sys.executable, "-m", "zipfile", "-e", str(built), str(site)], check=True)
    (site / "others.pth").write_text(next(p for p in sys.path if p.endswith("site-packages")) + "\n")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    def run(*words: str) -> str:
        command = [str(tmp_path / "venv" / "bin" / "python"), *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert str(site) in run("-c", "import qes_jax; print(qes_jax.__file__)")
    assert "evaluate" in run("-m", "qes_jax", "--help")
    assert str(site / "qes_jax" / "mjcf") in run("-c", "from qes_jax.paths import mjcf_dir; print(mjcf_dir())")
    assert run("-c", "import qes_jax; print(qes_jax.load_policy('walk').config.preset)").strip().endswith("cpu")
    assert "chair" in run("-m", "qes_jax", "scenes", "chair")
    run("-m", "qes_jax", "view", "clip:walk", "--html", "walk.html", "--every", "12")
    assert (tmp_path / "walk.html").stat().st_size > 1e5
