"""A sweep's file, and the command lines that it stands for: the part of Weights & Biases' format that is used here."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

Spec = Mapping[str, Any]  # of one parameter: value, values, or a distribution with min and max

DRAWS = {  # distribution: a share u of 0 to 1, and the bounds, to a value
    "uniform": lambda u, low, high: low + u * (high - low),
    "log_uniform_values": lambda u, low, high: math.exp(math.log(low) + u * (math.log(high) - math.log(low))),
    "int_uniform": lambda u, low, high: int(low + u * (high - low + 1)),
}


@dataclass(frozen=True)
class Sweep:
    """What a sweep's file says."""

    path: Path
    method: str  # grid, random or bayes
    words: tuple[str, ...]  # of the command line, before and after those of the parameters
    parameters: Mapping[str, Spec]

    @property
    def name(self) -> str:
        return self.path.stem


def read_sweep(path: Path) -> Sweep:
    """The file's sweep. Raises ValueError that names file and field, OSError where there is no file."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not YAML: {error}") from None
    if not isinstance(data, Mapping):
        raise ValueError(f"{path}: expected the fields program, method and parameters")
    parameters = data.get("parameters")
    if not isinstance(parameters, Mapping) or not parameters:
        raise ValueError(f"{path}: parameters: expected at least one")
    if Path(str(data.get("program"))).name != "run.py":
        raise ValueError(f"{path}: program is {data.get('program')!r}: expected experiments/run.py")
    if data.get("method") not in ("grid", "random", "bayes"):
        raise ValueError(f"{path}: method is {data.get('method')!r}: expected grid, random or bayes")
    for name, spec in parameters.items():
        _check(f"{path}: parameters.{name}", spec)
    words = [str(word) for word in data.get("command") or ["${args}"]]
    if "${args}" not in words:
        raise ValueError(f"{path}: command: expected ${{args}} in it")
    return Sweep(path, data["method"], tuple(words), parameters)


def _check(where: str, spec: Any) -> None:
    if not isinstance(spec, Mapping):
        raise ValueError(f"{where}: expected value, values, or min and max; got {spec!r}")
    if "value" in spec:
        return
    if "values" in spec:
        if not isinstance(spec["values"], list) or not spec["values"]:
            raise ValueError(f"{where}.values: expected a list with something in it")
        return
    draw = spec.get("distribution", "uniform")
    if draw not in DRAWS:
        raise ValueError(f"{where}.distribution is {draw!r}: expected one of {', '.join(DRAWS)}")
    low, high = spec.get("min"), spec.get("max")
    if not (_finite(low) and _finite(high) and low <= high):
        raise ValueError(f"{where}: expected numbers min <= max, got {low!r} and {high!r}")
    if draw == "log_uniform_values" and low <= 0:
        raise ValueError(f"{where}.min is {low}: expected more than 0 for a logarithm")


def _finite(x: Any) -> bool:
    return isinstance(x, int | float) and math.isfinite(x)


def points(sweep: Sweep, count: int | None = None) -> list[dict[str, Any]]:
    """The settings in their order: all of a grid, or `count` draws, the first ones the same for every count.

    Raises ValueError where a count is missing, or given for a grid.
    """
    if sweep.method == "grid":
        if count is not None:
            raise ValueError(f"--count {count}: only for sweeps that are drawn, {sweep.path} is a grid")
        return _grid(sweep)
    if count is None or count < 1:
        raise ValueError(
            f"{sweep.path}: method is {sweep.method}: give --count, so many settings are drawn at random "
            "(only Weights & Biases chooses them by what came before)"
        )
    rng = np.random.default_rng(0)
    return [{name: _draw(spec, rng.random()) for name, spec in sweep.parameters.items()} for _ in range(count)]


def _grid(sweep: Sweep) -> list[dict[str, Any]]:
    for name, spec in sweep.parameters.items():
        if "value" not in spec and "values" not in spec:
            raise ValueError(f"{sweep.path}: parameters.{name}: a grid needs value or values")
    choices = [spec["values"] if "values" in spec else [spec["value"]] for spec in sweep.parameters.values()]
    return [dict(zip(sweep.parameters, chosen, strict=True)) for chosen in itertools.product(*choices)]


def _draw(spec: Spec, share: float) -> Any:
    if "value" in spec:
        return spec["value"]
    if "values" in spec:
        return spec["values"][int(share * len(spec["values"]))]
    return DRAWS[spec.get("distribution", "uniform")](share, spec["min"], spec["max"])


def arguments(sweep: Sweep, point: Mapping[str, Any], extra: Sequence[str] = ()) -> list[str]:
    """The words after `run.py`: the sweep's own, a `--name=value` for each parameter as the agent writes it, extra."""
    own = [f"--{name}={value}" for name, value in point.items()]
    words = [own if word == "${args}" else [word] for word in sweep.words if word == "${args}" or "${" not in word]
    return [*itertools.chain(*words), *extra]


def share(items: Sequence[Any], index: int, of: int) -> list[Any]:
    """Every `of`-th item from `index` on. Raises ValueError at an index out of range."""
    if of < 1 or not 0 <= index < of:
        raise ValueError(f"--index {index} --of {of}: expected an index of 0 to {max(of, 1) - 1}")
    return list(items[index::of])
