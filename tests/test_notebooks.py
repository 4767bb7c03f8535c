"""The notebooks are valid, carry no outputs, and call commands with options that exist."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((REPO / "notebooks").glob("*.ipynb"))


def code_cells(path: Path) -> list[str]:
    cells = json.loads(path.read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_cells_parse_and_hold_no_outputs(path):
    for cell in json.loads(path.read_text())["cells"]:
        assert not cell.get("outputs")
    for source in code_cells(path):
        ast.parse(re.sub(r"^!.*$", "pass", source, flags=re.MULTILINE))


def test_commands_and_their_options_exist():
    lines = [line for path in NOTEBOOKS for source in code_cells(path) for line in source.splitlines()]
    commands = [re.search(r"(experiments/\w+\.py)(.*)", line) for line in lines if line.startswith("!")]
    assert commands
    for script, arguments in (c.groups() for c in commands if c):
        done = subprocess.run(
            [sys.executable, str(REPO / script), "--help"], capture_output=True, text=True, check=True
        )
        for option in re.findall(r"--[\w-]+", arguments):
            assert option in done.stdout, f"{script} has no {option}"
