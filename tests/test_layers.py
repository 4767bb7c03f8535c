"""The rooms stand in layers: an import may only point to a room that its own may know."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]
SRC = REPO / "src" / "qes_jax"

BASE = {"types", "rotations", "paths", "files"}
WORLD = {*BASE, "model", "motion"}
JOINED = {*WORLD, "env", "ppo", "runs", "control", "pose", "authoring", "evaluate", "live"}
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
    "assembly": JOINED,
    "commands": {*JOINED, "assembly"},
    "__main__": {"commands"},
}
# Command lines belong to `commands`, their options to files of `assembly` called so; one file knows the trackers.
FOREIGN = {"argparse", "tyro", "wandb", "tensorboardX"}
MAY_IMPORT_FOREIGN = {"runs/tracker.py": {"wandb", "tensorboardX"}}
COMMAND_LAYER = ("commands", "__main__.py")


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
    bad += sorted(({n.split(".")[0] for n in names} & FOREIGN) - may_import_foreign(path))
    return [f"{path}: {room} may not import {b}" for b in bad]


def may_import_foreign(path: Path) -> set[str]:
    """Which of FOREIGN a file may import."""
    options = path.parts[0] == "commands" or (path.parts[0] == "assembly" and path.name == "options.py")
    return {"tyro"} if options else MAY_IMPORT_FOREIGN.get(path.as_posix(), set())


def import_graph(folder: Path, package: str = "") -> dict[str, set[str]]:
    """Each module below `folder` and those that it imports anywhere, in functions and for types too."""
    files = {p.relative_to(folder) for p in folder.rglob("*.py")}
    modules = {".".join((*([package] if package else []), *p.with_suffix("").parts)): p for p in files}
    modules = {name.removesuffix(".__init__"): p for name, p in modules.items()}
    found = {name: imported_modules((folder / p).read_text(), p) for name, p in modules.items()}
    return {name: (names & modules.keys()) - {name} for name, names in found.items()}


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in turn, or none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def source_files() -> list[Path]:
    return sorted(p.relative_to(SRC) for p in SRC.rglob("*.py") if p != SRC / "__init__.py")


@pytest.mark.parametrize("path", source_files(), ids=str)
def test_imports_point_downwards(path: Path) -> None:
    assert violations((SRC / path).read_text(), path) == []


@pytest.mark.parametrize("path", source_files(), ids=str)
def test_only_commands_read_the_environment(path: Path) -> None:
    if path.parts[0] in COMMAND_LAYER:
        return
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
        ("assembly/trial.py", "from qes_jax.commands.view import main"),
        ("assembly/trial.py", "import tyro"),
        ("commands/view.py", "import wandb"),
        ("attic/old.py", "import math"),
    ],
)
def test_an_upward_import_is_seen(path: str, source: str) -> None:
    assert len(violations(source, Path(path))) == 1


def test_a_downward_import_is_allowed() -> None:
    lines = ["import jax", "from qes_jax.model import engine", "from . import config", "from ..types import Obs"]
    assert violations("\n".join([*lines, "from qes_jax import env"]), Path("env/step.py")) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = import_graph(SRC, "qes_jax")
    assert len(graph) > 150 and graph["qes_jax.model.engines"] >= {"qes_jax.model.engine", "qes_jax.model.mjx_engine"}
    assert circle(graph) == []


def test_a_circle_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import b")
    (tmp_path / "b.py").write_text("def f():\n    from a import g")
    (tmp_path / "c.py").write_text("import a")
    assert set(circle(import_graph(tmp_path))) == {"a", "b"}


EXPERIMENTS = sorted((REPO / "experiments").rglob("*.py"))


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda p: p.stem)
def test_experiments_are_commands_of_the_package_and_no_more(path: Path) -> None:
    words, imported, run = ast.parse(path.read_text()).body
    assert isinstance(words, ast.Expr) and isinstance(words.value, ast.Constant)
    assert isinstance(imported, ast.ImportFrom) and imported.module.startswith("qes_jax.commands.")
    assert [alias.name for alias in imported.names] == ["main"]
    assert ast.unparse(run) == "if __name__ == '__main__':\n    raise SystemExit(main())"
