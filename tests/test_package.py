"""Importing the package is quick and changes nothing; a wheel carries the geometry."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from qes_jax import paths

REPO = Path(__file__).resolve().parents[1]


def python(code: str) -> str:
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stderr
    return out.stdout.strip()


def test_import_is_light() -> None:
    code = """
import sys, time
before, start = set(sys.modules), time.perf_counter()
import qes_jax
print(time.perf_counter() - start)
print(sorted(m for m in set(sys.modules) - before if not m.startswith("qes_jax")))
"""
    seconds, foreign = python(code).splitlines()
    assert float(seconds) < 0.2
    assert foreign == "[]"


def test_importing_every_module_leaves_jax_as_it_was() -> None:
    code = """
import importlib, os, pkgutil
import jax, jax._src.xla_bridge as bridge
def settings():
    return {k: v for k, v in jax.config.values.items()}, dict(os.environ)
before = settings()
import qes_jax
for module in pkgutil.walk_packages(qes_jax.__path__, "qes_jax."):
    importlib.import_module(module.name)
after = settings()
changed = [k for k, v in before[0].items() if after[0][k] != v]  # a library may add flags of its own
changed += [k for k in before[1].keys() | after[1].keys() if before[1].get(k) != after[1].get(k)]
print(changed, bool(bridge._backends))
"""
    assert python(code).splitlines()[-1] == "[] False"  # MJX prints that Warp is not there


def test_folders_are_those_of_the_checkout() -> None:
    assert paths.mjcf_dir() == REPO / "mjcf"
    assert paths.weights_dir() == REPO / "experiments" / "weights"


def test_installed_package_uses_its_own_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site-packages" / "qes_jax"
    (package / "mjcf").mkdir(parents=True)
    monkeypatch.setattr(paths, "__file__", str(package / "paths.py"))
    assert paths.mjcf_dir() == package / "mjcf"
    with pytest.raises(FileNotFoundError, match="weights"):
        paths.weights_dir()


@pytest.mark.slow
def test_wheel_holds_geometry_and_weights(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(REPO)]
    subprocess.run(command, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, inside in (("mjcf", "mjcf"), ("experiments/weights", "weights")):
        expected = {p.relative_to(REPO / folder) for p in (REPO / folder).rglob("*") if p.is_file()}
        assert expected, f"{folder} is empty"
        assert {f"qes_jax/{inside}/{p.as_posix()}" for p in expected} <= names
