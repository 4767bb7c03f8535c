"""Acclaim skeletons (ASF): bones in sections of a text file, each with direction, length, axis and degrees of freedom.

Lengths are in inches divided by the file's `length`, as CMU says: 0.0254 / 0.45 = 0.056444 m.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.text import read_text

DOF = re.compile("[rt][xyz]|l")


@dataclass
class Bone:
    """A bone as the ASF gives it; the root is one of no length."""

    name: str
    direction: np.ndarray = field(default_factory=lambda: np.zeros(3))
    length: float = 0.0
    axis: np.ndarray = field(default_factory=lambda: np.zeros(3))  # angles
    order: str = "xyz"
    dof: list[str] = field(default_factory=list)


@dataclass
class Acclaim:
    """An ASF: bones, root first, and the parent's name of each."""

    bones: dict[str, Bone]
    parents: dict[str, str]
    degrees: bool = True
    unit: float = 0.0254  # [m]
    place: np.ndarray = field(default_factory=lambda: np.zeros(3))


Line = tuple[str, list[str]]  # where, words


def lines(path: Path) -> Iterator[Line]:
    """Place and words of each line that has any, comments and brackets left out."""
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = line.partition("#")[0].replace("(", " ").replace(")", " ").split()
        if words:
            yield f"{path}, line {number}", words


def numbers(line: Line, first: int, count: int) -> np.ndarray:
    """`count` words of a line from the `first` on, as finite numbers (count,). Raises RecordingError."""
    where, words = line
    try:
        found = np.array(words[first : first + count], np.float64)
    except ValueError:
        raise RecordingError(f"{where}: {' '.join(words)!r}: expected numbers") from None
    if len(found) < count or not (np.abs(found) < 1e9).all():
        raise RecordingError(f"{where}: {' '.join(words)!r}: expected {count} finite numbers")
    return found


def read_asf(path: Path) -> Acclaim:
    """The skeleton of an ASF. Raises RecordingError naming the line."""
    if not path.is_file():
        raise RecordingError(f"{path}: no such file")
    acclaim, section, bone = Acclaim({"root": Bone("root")}, {}), "", Bone("")
    for line in lines(path):
        where, words = line
        key = words[0].lower()
        if key.startswith(":"):
            section = key
        elif section == ":units":
            _unit(acclaim, line)
        elif section == ":root":
            _root(acclaim, line)
        elif section == ":bonedata":
            if key == "begin":
                bone = Bone("")
            elif key == "end":
                _add(acclaim, where, bone)
            else:
                _field(bone, line)
        elif section == ":hierarchy" and key not in ("begin", "end"):
            _link(acclaim, line)
    if not acclaim.parents:
        raise RecordingError(f"{path}: no hierarchy of bones, is it an ASF?")
    return acclaim


def _unit(acclaim: Acclaim, line: Line) -> None:
    if line[1][0].lower() == "length":
        length = numbers(line, 1, 1)[0]
        if not 1e-6 < length < 1e6:
            raise RecordingError(f"{line[0]}: length is {length}")
        acclaim.unit = 0.0254 / length
    elif line[1][0].lower() == "angle":
        acclaim.degrees = "".join(line[1][1:]).lower().startswith("deg")


def _root(acclaim: Acclaim, line: Line) -> None:
    root, key = acclaim.bones["root"], line[1][0].lower()
    if key == "order":
        root.dof = _dofs(line)
    elif key == "axis":
        root.order = _order(line, 1)
    elif key == "position":
        acclaim.place = numbers(line, 1, 3)
    elif key == "orientation":
        root.axis = numbers(line, 1, 3)


def _field(bone: Bone, line: Line) -> None:
    words = line[1]
    key = words[0].lower()
    if key == "name" and len(words) > 1:
        bone.name = words[1]
    elif key == "direction":
        bone.direction = numbers(line, 1, 3)
    elif key == "length":
        bone.length = float(numbers(line, 1, 1)[0])
    elif key == "axis":
        bone.axis, bone.order = numbers(line, 1, 3), _order(line, 4)
    elif key == "dof":
        bone.dof = _dofs(line)


def _dofs(line: Line) -> list[str]:
    dofs = [w.lower() for w in line[1][1:]]
    if not all(DOF.fullmatch(d) for d in dofs):
        raise RecordingError(f"{line[0]}: {' '.join(line[1])!r}: expected rx, ry, rz, tx, ty, tz or l")
    return dofs


def _order(line: Line, place: int) -> str:
    order = line[1][place].lower() if len(line[1]) > place else "xyz"
    if sorted(order) != ["x", "y", "z"]:
        raise RecordingError(f"{line[0]}: {order!r} is no order of axes")
    return order


def _add(acclaim: Acclaim, where: str, bone: Bone) -> None:
    if not bone.name or bone.name in acclaim.bones:
        raise RecordingError(f"{where}: a bone without a name of its own: {bone.name!r}")
    acclaim.bones[bone.name] = bone


def _link(acclaim: Acclaim, line: Line) -> None:
    where, words = line
    for name in words:
        if name not in acclaim.bones:
            raise RecordingError(f"{where}: no bone is called {name!r}")
    for child in words[1:]:
        if child in acclaim.parents or child == "root":
            raise RecordingError(f"{where}: {child} has two parents")
        acclaim.parents[child] = words[0]
