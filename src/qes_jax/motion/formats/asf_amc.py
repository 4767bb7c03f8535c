"""Acclaim motions: a skeleton (ASF) and its motion (AMC), as the CMU database has them.

No reader of these on the package index is kept up; the formats are small. Joint j sits where bone j begins; the ends of
the last bones become joints whose name ends in `_end`. A bone's rotation is C M C^-1, C its `axis` and M its degrees of
freedom, angles about fixed axes in the order listed. Lengths are in inches divided by the ASF's `length`, as CMU says:
0.0254 / 0.45 = 0.056444 m. The files state no frame rate; CMU's is 120 Hz.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.skeleton import SkeletonMotion, z_up

LICENCE = "CMU: free for any use, the data are not to be resold"
FPS = 120.0  # [Hz]
END = "_end"
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


def is_amc(path: str | Path) -> bool:
    """Whether the file is an AMC by its name's end or by its first words."""
    path = Path(path)
    with open(path, "rb") as file:
        head = file.read(2000).upper()
    return path.suffix.lower() == ".amc" or b":FULLY-SPECIFIED" in head


def find_asf(path: Path) -> Path:
    """The skeleton beside an AMC: of its name, of its subject's (02.asf for 02_01.amc), or the only one there."""
    there = sorted(p for p in path.parent.iterdir() if p.suffix.lower() == ".asf")
    for stem in (path.stem, path.stem.rpartition("_")[0]):
        if found := [p for p in there if p.stem == stem]:
            return found[0]
    if len(there) == 1:
        return there[0]
    raise RecordingError(f"{path}: needs its skeleton, an .asf file, beside it or named")


def read_amc(path: str | Path, skeleton: str | Path | None = None, fps: float = FPS) -> SkeletonMotion:
    """The motion of an AMC on its ASF. Raises RecordingError naming the line."""
    path = Path(path)
    acclaim = _read_asf(Path(skeleton) if skeleton else find_asf(path))
    frames = _read_frames(path, acclaim)
    names = _in_order(acclaim)
    rest_pos, parents, joints = [], [], []
    for name in names:
        above = acclaim.parents.get(name)
        joints.append(name)
        parents.append(names.index(above) if above else -1)
        rest_pos.append(_reach(acclaim.bones[above]) if above else acclaim.place)
    local = [_local(acclaim, name, frames[name]) for name in names]
    for index, name in enumerate(names):
        if name not in acclaim.parents.values():
            joints.append(name + END)
            parents.append(index)
            rest_pos.append(_reach(acclaim.bones[name]))
            local.append((np.zeros((len(local[0][0]), 3)), Rotation.identity(len(local[0][0]))))
    rest_pos = acclaim.unit * np.array(rest_pos)
    pos = rest_pos + acclaim.unit * np.stack([moved for moved, _ in local], axis=1)
    quat = np.stack([turn.as_quat(scalar_first=True) for _, turn in local], axis=1)
    unit = np.tile([1.0, 0.0, 0.0, 0.0], (len(joints), 1))
    motion = SkeletonMotion(
        path.name, LICENCE, fps, tuple(joints), tuple(parents), rest_pos, unit, pos, quat, acclaim.unit
    )
    return z_up(motion, "y")


def _reach(bone: Bone) -> np.ndarray:
    return bone.length * bone.direction


def _local(acclaim: Acclaim, name: str, values: np.ndarray) -> tuple[np.ndarray, Rotation]:
    """How far a bone is moved (T, 3) in its parent, and its rotation, from its degrees of freedom (T, D)."""
    bone = acclaim.bones[name]
    c = Rotation.from_euler(bone.order, bone.axis, degrees=acclaim.degrees)
    turn, moved = Rotation.identity(len(values)), np.zeros((len(values), 3))
    for dof, x in zip(bone.dof, values.T, strict=True):
        if dof[0] == "r":
            turn = Rotation.from_euler(dof[1], x[:, None], degrees=acclaim.degrees) * turn
        elif dof[0] == "t":
            moved[:, "xyz".index(dof[1])] += x
    return moved, c * turn * c.inv()


def _in_order(acclaim: Acclaim) -> list[str]:
    """Names of the bones, parents first."""
    names = ["root"]
    for name in names:
        names += [child for child, parent in acclaim.parents.items() if parent == name]
    return names


def _lines(path: Path) -> Iterator[Line]:
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        words = line.partition("#")[0].replace("(", " ").replace(")", " ").split()
        if words:
            yield f"{path}, line {number}", words


def _numbers(line: Line, first: int, count: int) -> np.ndarray:
    where, words = line
    try:
        numbers = np.array(words[first : first + count], np.float64)
    except ValueError:
        raise RecordingError(f"{where}: {' '.join(words)!r}: expected numbers") from None
    if len(numbers) < count or not (np.abs(numbers) < 1e9).all():
        raise RecordingError(f"{where}: {' '.join(words)!r}: expected {count} finite numbers")
    return numbers


def _read_asf(path: Path) -> Acclaim:
    if not path.is_file():
        raise RecordingError(f"{path}: no such file")
    acclaim, section, bone = Acclaim({"root": Bone("root")}, {}), "", Bone("")
    for line in _lines(path):
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
        length = _numbers(line, 1, 1)[0]
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
        acclaim.place = _numbers(line, 1, 3)
    elif key == "orientation":
        root.axis = _numbers(line, 1, 3)


def _field(bone: Bone, line: Line) -> None:
    words = line[1]
    key = words[0].lower()
    if key == "name" and len(words) > 1:
        bone.name = words[1]
    elif key == "direction":
        bone.direction = _numbers(line, 1, 3)
    elif key == "length":
        bone.length = float(_numbers(line, 1, 1)[0])
    elif key == "axis":
        bone.axis, bone.order = _numbers(line, 1, 3), _order(line, 4)
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


def _read_frames(path: Path, acclaim: Acclaim) -> dict[str, np.ndarray]:
    """Values (T, D) of each bone's degrees of freedom."""
    rows: dict[str, list[np.ndarray]] = {name: [] for name in acclaim.bones}
    count, where = 0, str(path)
    for line in _lines(path):
        where, words = line
        if words[0].startswith(":"):
            continue
        if len(words) == 1 and words[0].isdigit():
            _complete(where, acclaim, rows, count)
            count += 1
        elif words[0] not in rows or len(rows[words[0]]) != count - 1:
            raise RecordingError(f"{where}: {words[0]!r} is no bone of the skeleton, or comes twice in a frame")
        else:
            rows[words[0]].append(_numbers(line, 1, len(acclaim.bones[words[0]].dof)))
    _complete(where, acclaim, rows, count)
    if not count:
        raise RecordingError(f"{path}: no frames")
    return {name: np.array(row).reshape(count, -1) for name, row in rows.items()}


def _complete(where: str, acclaim: Acclaim, rows: dict[str, list[np.ndarray]], count: int) -> None:
    for name, row in rows.items():
        if len(row) < count:
            if acclaim.bones[name].dof:
                raise RecordingError(f"{where}: {name} is missing in frame {count}")
            row.append(np.zeros(0))
