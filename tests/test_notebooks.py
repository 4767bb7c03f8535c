"""The notebooks run from the first cell to the last, carry no outputs, and call commands with options that exist."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from qes_jax.__main__ import COMMANDS

REPO = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((REPO / "notebooks").glob("*.ipynb"))
PICTURES = {"controllers": 4, "own_motion": 2, "pose": 2, "sweep": 3, "train": 3}  # at least


def cells(path: Path, kind: str) -> list[str]:
    """The texts of a notebook's cells of a kind."""
    return ["".join(c["source"]) for c in json.loads(path.read_text())["cells"] if c["cell_type"] == kind]


def test_there_are_notebooks():
    assert {p.stem for p in NOTEBOOKS} == PICTURES.keys()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_cells_parse_and_hold_no_outputs(path):
    assert not any(cell.get("outputs") for cell in json.loads(path.read_text())["cells"])
    for source in cells(path, "code"):
        ast.parse(re.sub(r"^(\s*)[!%].*$", r"\1pass", source, flags=re.MULTILINE))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_each_installs_itself_and_says_how_long_it_takes(path):
    assert cells(path, "code")[0] == cells(NOTEBOOKS[0], "code")[0]
    words = cells(path, "markdown")[0]
    assert "**How long:**" in words and "CPU" in words and "GPU" in words


def test_commands_and_their_options_exist():
    lines = [line.strip() for path in NOTEBOOKS for source in cells(path, "code") for line in source.splitlines()]
    calls = [re.search(r"-m qes_jax ([\w-]+)(.*)", line) for line in lines if line.startswith("!")]
    assert calls and all(calls)
    options: dict[str, set[str]] = {}
    for command, arguments in (c.groups() for c in calls if c):
        assert command in COMMANDS
        options.setdefault(command, set()).update(re.findall(r"--[a-z][\w-]+", arguments.partition(" -- ")[0]))
    for command, used in options.items():
        words = [sys.executable, "-m", "qes_jax", command, "--help"]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        assert used <= set(re.findall(r"--[a-z][\w-]+", said)), command


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_it_runs_from_first_cell_to_last(path, tmp_path, monkeypatch):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    for name, value in {"QES_SMOKE": "1", "QES_WORK": str(tmp_path), "JUPYTER_PLATFORM_DIRS": "1"}.items():
        monkeypatch.setenv(name, value)
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    nbclient.NotebookClient(notebook, timeout=1800, kernel_name="python3", resources=resources).execute()
    keep(notebook, path.stem)
    outputs = [out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs]
    text = "".join(out.text for out in outputs if out.output_type == "stream")
    assert "error:" not in text, text
    assert sum("image/png" in out.get("data", {}) for out in outputs) >= PICTURES[path.stem], text


def keep(notebook, name):
    """The notebook with its outputs, where $QES_KEEP names a folder to look at it."""
    if folder := os.environ.get("QES_KEEP"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / f"{name}.ipynb").write_text(json.dumps(notebook))
