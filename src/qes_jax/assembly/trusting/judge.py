"""What comes of a spoilt file: a clear error, a sound value, or a finding."""

import dataclasses
import json
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import jax
import numpy as np

from qes_jax.motion.clip import Clip, validate_clip

Kind = Literal[
    "clear error", "sound value", "traceback", "not finite", "unclear error", "hang", "memory", "died", "written",
    "code run",
]  # fmt: skip
FINE: tuple[Kind, ...] = ("clear error", "sound value")


class Verdict(NamedTuple):
    """What came of one try. `what` tells one finding from another of its kind."""

    kind: Kind
    what: str = ""


class Hang(BaseException):
    """Raised by the alarm: nothing that a reader catches."""


def judge(read: Callable[[Path], Any], path: Path, folder: Path) -> Verdict:
    """Read a file and say what came of it. An error is clear where it names a file of `folder`.

    How long it is does not matter: `launch.explained` shortens it.
    """
    try:
        return _sound(read(path))
    except Hang:
        return Verdict("hang", "over the limit of time")
    except (ValueError, FileNotFoundError, IsADirectoryError, PermissionError) as error:
        return _clear(error, folder)
    except MemoryError as error:
        return Verdict("memory", _where(error))
    except Exception as error:
        return Verdict("traceback", f"{type(error).__name__} {_where(error)}: {str(error)[:120]}")


def _clear(error: Exception, folder: Path) -> Verdict:
    text = str(error)
    if isinstance(error, json.JSONDecodeError | UnicodeError) or not any(p.name in text for p in folder.rglob("*")):
        return Verdict("unclear error", f"{type(error).__name__} {_where(error)} names no file: {text[:120]}")
    return Verdict("clear error")


def _where(error: BaseException) -> str:
    """Where it was raised, in the code of this project if it passed through it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "qes_jax" in f.filename and "trusting" not in f.filename] or frames
    return f"in {Path(own[-1].filename).name}, {own[-1].name}" if own else ""


def _sound(value: Any) -> Verdict:
    if isinstance(value, Clip):
        validate_clip(value)
    for place, numbers in numbers_of(value):
        if not np.isfinite(numbers).all():
            return Verdict("not finite", f"{type(value).__name__}{place}")
    return Verdict("sound value")


def numbers_of(value: Any, place: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """All float arrays and numbers in a value, and where they lie in it; times may be NaN nowhere either."""
    if isinstance(value, float | np.ndarray | np.generic | jax.Array):
        array = np.asarray(value)
        if array.dtype.kind in "fc":
            yield place, array
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from numbers_of(getattr(value, field.name), f"{place}.{field.name}")
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from numbers_of(inner, f"{place}.{key}")
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from numbers_of(inner, f"{place}[]")
