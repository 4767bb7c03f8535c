"""Acclaim motions: a skeleton (ASF) and its motion (AMC), as the CMU database has them.

No reader of these on the package index is kept up; the formats are small. Joint j sits where bone j begins; the ends of
the last bones become joints whose name ends in `_end`. A bone's rotation is C M C^-1, C its `axis` and M its degrees of
freedom, angles about fixed axes in the order listed. The files state no frame rate; CMU's is 120 Hz.
"""

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.motion.formats.asf import Acclaim, Bone, lines, numbers, read_asf
from qes_jax.motion.formats.guess import settle_stated
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.skeleton import SkeletonMotion
from qes_jax.motion.formats.text import read_start

LICENCE = "CMU: free for any use, the data are not to be resold"
FPS = 120.0  # [Hz]
END = "_end"


def is_amc(path: str | Path) -> bool:
    """Whether the file is an AMC by its name's end or by its first words."""
    path = Path(path)
    return path.suffix.lower() == ".amc" or ":FULLY-SPECIFIED" in read_start(path).upper()


def find_asf(path: Path) -> Path:
    """The skeleton beside an AMC: of its name, of its subject's (02.asf for 02_01.amc), or the only one there."""
    there = sorted(p for p in path.parent.iterdir() if p.suffix.lower() == ".asf")
    for stem in (path.stem, path.stem.rpartition("_")[0]):
        if found := [p for p in there if p.stem == stem]:
            return found[0]
    if len(there) == 1:
        return there[0]
    raise RecordingError(f"{path}: needs its skeleton, an .asf file, beside it or given as --skeleton")


def read_amc(
    path: str | Path, skeleton: str | Path | None = None, up: str | None = None, unit: float | None = None
) -> SkeletonMotion:
    """The motion of an AMC on its ASF; `up` instead of Y, `unit` [m] instead of the ASF's.

    Raises RecordingError naming the line.
    """
    path = Path(path)
    acclaim = read_asf(Path(skeleton) if skeleton else find_asf(path))
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
    rest_pos = np.array(rest_pos)
    pos = rest_pos + np.stack([moved for moved, _ in local], axis=1)
    quat = np.stack([turn.as_quat(scalar_first=True) for _, turn in local], axis=1)
    rest_quat = np.tile([1.0, 0.0, 0.0, 0.0], (len(joints), 1))
    motion = SkeletonMotion(path.name, LICENCE, FPS, tuple(joints), tuple(parents), rest_pos, rest_quat, pos, quat)
    return settle_stated(motion, unit, up, acclaim.unit)


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


def _read_frames(path: Path, acclaim: Acclaim) -> dict[str, np.ndarray]:
    """Values (T, D) of each bone's degrees of freedom."""
    rows: dict[str, list[np.ndarray]] = {name: [] for name in acclaim.bones}
    count, where = 0, str(path)
    for line in lines(path):
        where, words = line
        if words[0].startswith(":"):
            continue
        if len(words) == 1 and words[0].isdigit():
            _complete(where, acclaim, rows, count)
            count += 1
        elif words[0] not in rows or len(rows[words[0]]) != count - 1:
            raise RecordingError(f"{where}: {words[0]!r} is no bone of the skeleton, or comes twice in a frame")
        else:
            rows[words[0]].append(numbers(line, 1, len(acclaim.bones[words[0]].dof)))
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
