"""Run folders, and configuration through JSON."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import pytest

from qes_jax.runs import folder
from qes_jax.runs.config import from_json

NOW = datetime(2025, 3, 1, 12, 30, 5)


@dataclass(frozen=True)
class Inner:
    rate: float = 3e-4
    sizes: tuple[int, ...] = (8, 8)


@dataclass(frozen=True)
class Outer:
    name: str
    inner: Inner = Inner()
    mode: Literal["pd", "torque"] = "torque"
    limit: float | None = None
    weights: dict[str, float] = field(default_factory=dict)
    clips: tuple[Path, ...] = ()
    pair: tuple[int, str] = (1, "a")
    flag: bool = False


def test_config_comes_back_from_its_file(tmp_path: Path) -> None:
    config = Outer("a", Inner(1.0, (4,)), "pd", 2.0, {"contact": 0.5}, (Path("x/y.npz"),), (2, "b"), True)
    run = folder.create(tmp_path, "cpu", config, NOW)
    assert run.name == "20250301-123005-cpu"
    assert from_json(Outer, folder.find(tmp_path).read_config()) == config
    assert from_json(Outer, {"name": "b"}) == Outer("b")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"inner": {"rat": 1.0}}, r"config.inner.rat: .* rate, sizes"),
        ({"inner": {"sizes": [1, "2"]}}, r"config.inner.sizes\[1\]: expected int, got '2'"),
        ({"mode": "pid"}, r"config.mode: .*'pd', 'torque'.* got 'pid'"),
        ({"limit": "high"}, r"config.limit: expected float.* or config.limit: expected null"),
        ({"weights": {"contact": []}}, "config.weights.contact: expected float"),
        ({"pair": [1]}, "config.pair: expected a list of 2"),
        ({"flag": 1}, "config.flag: expected bool"),
        ({"name": None}, "config.name: expected str"),
    ],
)
def test_wrong_config_is_an_error_that_names_the_field(change: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        from_json(Outer, {"name": "a"} | change)


def test_missing_required_field() -> None:
    with pytest.raises(ValueError, match="name"):
        from_json(Outer, {})


def test_names_are_never_shared_and_the_latest_is_found(tmp_path: Path) -> None:
    first, second = (folder.create(tmp_path, "cpu", {}, NOW) for _ in range(2))
    assert second.name == f"{first.name}-2"
    later = folder.create(tmp_path, "a", {}, NOW.replace(day=2))
    (tmp_path / "99999999-not-a-run").mkdir()
    assert folder.find(tmp_path) == later
    assert folder.find(tmp_path, first.name) == first
    assert folder.find(tmp_path / "elsewhere", str(first.path)) == first


def test_unknown_run_lists_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="none"):
        folder.find(tmp_path)
    run = folder.create(tmp_path, "cpu", {}, NOW)
    with pytest.raises(FileNotFoundError, match=run.name):
        folder.find(tmp_path, "nope")


def test_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    folder.write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        folder.write_json(path, {"a": object()})
    with pytest.raises(UnicodeEncodeError):
        folder.write_text(path, "\ud800")
    assert folder.RunFolder(tmp_path).read_config() == {"a": 1}


def test_unreadable_config_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"a": ')
    with pytest.raises(ValueError, match=r"config\.json"):
        folder.RunFolder(tmp_path).read_config()
