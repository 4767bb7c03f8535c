"""Every sweep names real settings with values that the command line takes."""

import itertools
from pathlib import Path

import pytest

from qes_jax.commands.train import parse

yaml = pytest.importorskip("yaml")
EXPERIMENTS = Path(__file__).resolve().parents[1] / "experiments"
SWEEPS = sorted((EXPERIMENTS / "sweeps").glob("*.yaml"))


def test_there_are_sweeps():
    assert SWEEPS


@pytest.mark.parametrize("path", SWEEPS, ids=lambda p: p.stem)
def test_every_value_is_taken_and_arrives(path, tmp_path):
    parameters = yaml.safe_load(path.read_text())["parameters"]
    for name, spec in parameters.items():
        values = spec.get("values") or [spec[key] for key in ("value", "min", "max") if key in spec]
        assert values, f"{name} has no values"
        for value in values:
            config = parse([f"--{name}", str(value), "--root", str(tmp_path)]).config
            assert _at(config, name) == value


def _at(config, name):
    for part in name.replace("-", "_").split("."):
        config = getattr(config, part)
    return config


def test_the_ablation_sweep_covers_all_ablations():
    from qes_jax.env.config import ABLATIONS

    sweep = yaml.safe_load((EXPERIMENTS / "sweeps" / "ablations.yaml").read_text())["parameters"]
    assert sorted(sweep["ablation"]["values"]) == sorted(ABLATIONS)
    grid = [spec["values"] for spec in sweep.values() if "values" in spec]
    assert len(list(itertools.product(*grid))) == 3 * len(ABLATIONS)


@pytest.mark.parametrize("path", SWEEPS, ids=lambda p: p.stem)
def test_the_command_s_own_options_are_taken(path, tmp_path):
    command = yaml.safe_load(path.read_text())["command"]
    own = [str(word) for word in command if not str(word).startswith("${")]
    config = parse([*own, "--root", str(tmp_path)]).config
    assert config.scene == tuple(own[1:])
