"""The rooms stand in layers: an import may only point to a room that its own may know."""

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[1] / "src" / "qes_jax"

BASE = {"types", "rotations", "paths", "files"}
WORLD = {*BASE, "model", "motion"}
ALLOWED: dict[str, set[str]] = {  # room -> the other rooms it may import
    "types": set(),
    "rotations": set(),
    "paths": set(),
    "files": set(),
    "model": BASE,
    "motion": {*BASE, "model"},
    "env": WORLD,
    "ppo": {"types"},
    "runs": {"types"},
    "control": {*BASE, "model"},
    "pose": WORLD,
    "authoring": {*WORLD, "control", "pose"},
    "evaluate": {*WORLD, "env", "ppo", "runs"},
    "live": {*WORLD, "env", "ppo", "runs", "evaluate"},
}
# The command line and the tracker belong to experiments/; only one file of `runs` knows how to talk to a tracker.
FOREIGN = {"argparse", "tyro", "wandb", "tensorboardX"}
MAY_IMPORT_FOREIGN = {"runs/tracker.py"}


def imported_modules(source: str, path: Path) -> set[str]:
    """Absolute dotted names that `source`, the text of `path` (relative to the package), imports anywhere in it."""
    package = ["qes_jax", *path.parent.parts]
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            head = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*head, *([node.module] if node.module else [])])
            names |= {f"{base}.{alias.name}" for alias in node.names} | {base}
    return names


def violations(source: str, path: Path) -> list[str]:
    """What `source` imports although its room may not."""
    room = path.parts[0].removesuffix(".py")
    if room not in ALLOWED:
        return [f"{path}: room {room!r} has no place in the layers; add it to ALLOWED"]
    names = imported_modules(source, path)
    others = {n.split(".")[1] for n in names if n.startswith("qes_jax.")} - {room, "__version__"}
    bad = sorted(others - ALLOWED[room])
    if path.as_posix() not in MAY_IMPORT_FOREIGN:
        bad += sorted({n.split(".")[0] for n in names} & FOREIGN)
    return [f"{path}: {room} may not import {b}" for b in bad]


def source_files() -> list[Path]:
    return sorted(p.relative_to(SRC) for p in SRC.rglob("*.py") if p != SRC / "__init__.py")


@pytest.mark.parametrize("path", source_files(), ids=str)
def test_imports_point_downwards(path: Path) -> None:
    assert violations((SRC / path).read_text(), path) == []


@pytest.mark.parametrize("path", source_files(), ids=str)
def test_only_experiments_read_the_environment(path: Path) -> None:
    tree = ast.parse((SRC / path).read_text())
    forbidden = {"environ", "getenv", "argv"}
    uses = [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr in forbidden]
    assert uses == [], f"{path}: lines {uses} read the environment or the command line"


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("ppo/loss.py", "from qes_jax.env import task"),
        ("ppo/loss.py", "def f():\n    from qes_jax import env"),
        ("env/step.py", "from ..control import qp"),
        ("types.py", "import qes_jax.rotations"),
        ("evaluate/rollout.py", "from qes_jax.authoring.gait import walk"),
        ("env/config.py", "import tyro"),
        ("attic/old.py", "import math"),
    ],
)
def test_an_upward_import_is_seen(path: str, source: str) -> None:
    assert len(violations(source, Path(path))) == 1


def test_a_downward_import_is_allowed() -> None:
    lines = ["import jax", "from qes_jax.model import engine", "from . import config", "from ..types import Obs"]
    assert violations("\n".join([*lines, "from qes_jax import env"]), Path("env/step.py")) == []
