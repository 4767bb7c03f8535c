"""BVH motions.

Read by our own code: pybvh, the best kept of the readers (our tests hold this one against it), wants one root and three
rotations in every joint, and drops joints' positions; files from game engines and retargeting tools have none, one, two
or six channels. What the format leaves open is decided as most programs do: a joint's position channels replace its
OFFSET, unless they are near zero where the OFFSET is not, or a root's feet stand on the floor only with both; rotations
multiply in the order of the channels.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.motion.formats.guess import settle
from qes_jax.motion.formats.maps import complete, find_roles
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.skeleton import SkeletonMotion, snapshots
from qes_jax.motion.formats.text import is_comment, read_start, read_text

LICENCE = "unknown"
CLEAR, SUNKEN = 0.1, 1.5  # [m]; by how much a depth counts for more than a height
END = "_end"  # of the names of end sites
# [Hz] that a rounded frame time may stand for: at first the ones that most motions have, then those of films, then any.
USUAL = (10, 12, 15, 20, 24, 25, 30, 40, 48, 50, 60, 72, 75, 80, 90, 96, 100, 120, 144, 150, 180, 200, 240, 250, 300)
RATES = (USUAL, (23.976, 29.97, 59.94, 62.5, 119.88), tuple(range(1, 1001)))


@dataclass
class Node:
    """A joint as its block is read. `channels` are pairs of axis 0..2 and whether it is a rotation."""

    name: str
    parent: int
    line: int
    offset: tuple[float, float, float] | None = None
    channels: list[tuple[int, bool]] = field(default_factory=list)
    end: bool = False


def is_bvh(path: str | Path) -> bool:
    """Whether the file begins as a BVH does."""
    return read_start(Path(path)).upper().startswith("HIERARCHY")


def read_bvh(
    path: str | Path, unit: float | None = None, up: str | None = None, root_offset: str | None = None
) -> SkeletonMotion:  # fmt: skip
    """The motion of a BVH file. End sites away from their joint become joints whose name ends in `_end`.

    `unit` [m] and `up` ("x", "y", "z") are guessed where not given, see `guess.settle`; `root_offset` ("add", "ignore")
    says whether a root's positions come on top of its OFFSET, see `_nearer_floor`. Raises RecordingError naming the
    line.
    """
    path = Path(path)
    lines = ["" if is_comment(line) else line for line in read_text(path).splitlines()]
    nodes, start = _hierarchy(path, lines)
    rate, rows = _motion(path, lines, start, sum(len(n.channels) for n in nodes))
    keep = [i for i, n in enumerate(nodes) if not n.end or np.any(n.offset)]
    pos, quat = _local(nodes, keep, rows)
    added = np.array([nodes[i].offset if nodes[i].parent < 0 else (0, 0, 0) for i in keep], np.float64)
    added *= _moved_axes(nodes, keep)
    rest = np.array([nodes[i].offset for i in keep], np.float64)
    motion = SkeletonMotion(
        path.name, LICENCE, rate, _distinct([nodes[i].name for i in keep]),
        tuple(keep.index(nodes[i].parent) if nodes[i].parent >= 0 else -1 for i in keep),
        rest, np.tile([1.0, 0.0, 0.0, 0.0], (len(keep), 1)), pos, quat,
    )  # fmt: skip
    settled = settle(motion, unit, up)
    if not added.any():
        return settled
    other = settle(replace(motion, pos=pos + added), unit, up)
    add = root_offset == "add" if root_offset else _nearer_floor(other, settled)
    how = "added to" if add else "not added to"
    why = "as told" if root_offset else "by where the feet then stand; --root-offset overrules"
    note = f"the root's OFFSET is {how} its positions, {why}"
    return replace(other if add else settled, notes=(*settled.notes, note))


def _moved_axes(nodes: list[Node], keep: list[int]) -> np.ndarray:
    """(J, 3) 1 where a joint's position channels give an axis."""
    return np.array([[float((axis, False) in nodes[i].channels) for axis in range(3)] for i in keep])


def _nearer_floor(other: SkeletonMotion, plain: SkeletonMotion) -> bool:
    """Whether one motion's lowest joints are clearly nearer to height zero than another's, if it is a body's.

    Below it counts for more: files have steps to stand on, and no pits.
    """
    if not complete(find_roles(plain)[0]):
        return False
    lows = [float(np.percentile(snapshots(m)[..., 2].min(axis=1), 5)) for m in (other, plain)]
    added, ignored = (max(low, -SUNKEN * low) for low in lows)
    return added < ignored - CLEAR


def _statements(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Line number and words of each statement of the hierarchy; a brace is one of its own, wherever it stands."""
    for number, line in enumerate(lines, 1):
        for part in re.split(r"([{}])", line):
            if words := part.split():
                yield number, words


def _hierarchy(path: Path, lines: list[str]) -> tuple[list[Node], int]:
    """All joints and end sites in their order, and the number of the line MOTION."""
    nodes: list[Node] = []
    waiting: Node | None = None  # named, its block not yet open
    open_blocks: list[int] = []
    for number, words in _statements(lines):
        key, where = words[0].upper(), f"{path}, line {number}"
        if waiting is not None and key != "{":
            raise RecordingError(f"{where}: expected {{ after {waiting.name}, found {words[0]!r}")
        if key in ("ROOT", "JOINT", "END"):
            waiting = _named(where, number, words, nodes, open_blocks)
        elif key == "{":
            if waiting is None:
                raise RecordingError(f"{where}: a {{ that belongs to no joint")
            open_blocks.append(len(nodes))
            nodes.append(waiting)
            waiting = None
        elif key == "}":
            if not open_blocks:
                raise RecordingError(f"{where}: a }} too many")
            _closed(path, nodes[open_blocks.pop()])
        elif key in ("OFFSET", "CHANNELS"):
            if not open_blocks:
                raise RecordingError(f"{where}: {key} outside of a joint")
            _fill(where, nodes[open_blocks[-1]], words)
        elif key == "MOTION":
            if open_blocks or not nodes:
                raise RecordingError(f"{where}: MOTION before " + ("the last }" if open_blocks else "any joint"))
            return nodes, number
        elif key != "HIERARCHY":
            raise RecordingError(f"{where}: unknown word {words[0]!r}")
    raise RecordingError(f"{path}, line {len(lines)}: the file ends without MOTION")


def _named(where: str, number: int, words: list[str], nodes: list[Node], open_blocks: list[int]) -> Node:
    key = words[0].upper()
    if (key == "ROOT") == bool(open_blocks):
        raise RecordingError(f"{where}: {words[0]} " + ("inside of another joint" if open_blocks else "outside a ROOT"))
    parent = open_blocks[-1] if open_blocks else -1
    if key == "END":
        return Node(nodes[parent].name + END, parent, number, end=True)
    if len(words) < 2:
        raise RecordingError(f"{where}: {words[0]} without a name")
    name = " ".join(words[1:])
    if first := next((node for node in nodes if node.name == name and not node.end), None):
        raise RecordingError(f"{where}: {name} is the name of the joint in line {first.line} too")
    return Node(name, parent, number)


def _closed(path: Path, node: Node) -> None:
    if node.offset is None:
        raise RecordingError(f"{path}, line {node.line}: {node.name} has no OFFSET")


def _fill(where: str, node: Node, words: list[str]) -> None:
    if words[0].upper() == "OFFSET":
        offset = _numbers(where, "OFFSET", words[1:])
        if len(offset) != 3:
            raise RecordingError(f"{where}: OFFSET of {node.name} has {len(offset)} numbers, expected 3")
        node.offset = (offset[0], offset[1], offset[2])
        return
    names = [w.lower() for w in words[2:]]
    if words[1:2] != [str(len(names))]:
        raise RecordingError(f"{where}: CHANNELS of {node.name} announces {words[1:2]} and lists {len(names)}")
    wrong = [w for w in names if not re.fullmatch("[xyz](position|rotation)", w)]
    if wrong or len(set(names)) < len(names):
        raise RecordingError(f"{where}: CHANNELS of {node.name}: {wrong[0] if wrong else 'one twice'}")
    node.channels = [("xyz".index(w[0]), w.endswith("rotation")) for w in names]


def _numbers(where: str, what: str, words: list[str]) -> np.ndarray:
    try:
        numbers = np.array(words, np.float64)
    except ValueError:
        bad = next(w for w in words if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", w))
        raise RecordingError(f"{where}: {what}: {bad!r} is not a number") from None
    if not np.isfinite(numbers).all() or np.abs(numbers).max(initial=0.0) > 1e9:
        raise RecordingError(f"{where}: {what}: {words[int(np.argmax(~(np.abs(numbers) <= 1e9)))]} is out of bounds")
    return numbers


def _motion(path: Path, lines: list[str], start: int, width: int) -> tuple[float, np.ndarray]:
    """Frame rate [Hz] and the numbers (T, width) after the line MOTION."""
    rows = [(i, line) for i, line in enumerate(lines[start:], start + 1) if line.strip()]
    frames = re.fullmatch(r"\s*frames\s*:?\s*(\d+)\s*", rows[0][1], re.IGNORECASE) if rows else None
    step = re.fullmatch(r"\s*frame\s*time\s*:?\s*(\S+)\s*", rows[1][1], re.IGNORECASE) if len(rows) > 1 else None
    for found, place, what in ((frames, 0, "Frames: COUNT"), (step, 1, "Frame Time: SECONDS")):
        if found is None:
            number = rows[place][0] if len(rows) > place else len(lines)
            raise RecordingError(f"{path}, line {number}: expected {what!r}")
    assert frames and step
    rate = _rate(f"{path}, line {rows[1][0]}", step[1])
    count, rows = int(frames[1]), rows[2:]
    if not 0 < count == len(rows):
        raise RecordingError(f"{path}, line {len(lines)}: {len(rows)} frames follow, Frames says {count}")
    table = []
    for number, line in rows:
        table.append(_numbers(f"{path}, line {number}", "frame", line.split()))
        if len(table[-1]) != width:
            raise RecordingError(f"{path}, line {number}: {len(table[-1])} numbers, the channels are {width}")
    return rate, np.array(table).reshape(count, width)


def _rate(where: str, word: str) -> float:
    """[Hz] the usual rate that a frame time stands for, as it was rounded to its digits, else the one it says."""
    seconds = float(_numbers(where, "Frame Time", [word])[0])
    if not 1e-4 <= seconds <= 10:
        raise RecordingError(f"{where}: Frame Time is {seconds} s")
    last = 10.0 ** int(Decimal(word).as_tuple().exponent)  # what the last digit counts, 0.0333 or 3.33e-2
    usual, films, whole = (np.array(rates) for rates in RATES)
    cut = last if last < 2e-4 else 0.5 * last  # some programs drop digits instead of rounding
    for rates, off in ((usual, 0.5 * last), (films, 0.5 * last), (usual, cut), (whole, 0.5 * last)):
        near = rates[np.abs(1 / rates - seconds) <= 1.0002 * off]
        if len(near):
            return float(near[np.argmin(np.abs(1 / near - seconds))])
    return 1 / seconds


def _local(nodes: list[Node], keep: list[int], rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions (T, J, 3) and quaternions (T, J, 4) of the joints to keep, in their parents."""
    pos, quat, column = [], [], 0
    for i, node in enumerate(nodes):
        numbers = rows[:, column : column + len(node.channels)]
        column += len(node.channels)
        if i in keep:
            pos.append(_place(node, numbers))
            turns = [(axis, x) for (axis, turn), x in zip(node.channels, numbers.T, strict=True) if turn]
            order = "".join("XYZ"[axis] for axis, _ in turns)
            angles = np.stack([x for _, x in turns], axis=1) if turns else np.zeros((len(rows), 1))
            turned = Rotation.from_euler(order or "X", angles, degrees=True)
            quat.append(turned.as_quat(scalar_first=True))
    return np.stack(pos, axis=1), np.stack(quat, axis=1)


def _place(node: Node, numbers: np.ndarray) -> np.ndarray:
    """(T, 3) of one joint in its parent, see the head of this file."""
    place = np.tile(np.array(node.offset, np.float64), (len(numbers), 1))
    given = [(axis, x) for (axis, turn), x in zip(node.channels, numbers.T, strict=True) if not turn]
    moves = np.zeros_like(place)
    for axis, x in given:
        moves[:, axis] = x
    if node.parent >= 0 and np.linalg.norm(moves, axis=1).mean() < 0.5 * np.linalg.norm(place[0]):
        return place + moves
    for axis, x in given:
        place[:, axis] = x
    return place


def _distinct(names: list[str]) -> tuple[str, ...]:
    """Names of which none comes twice: a number is put behind those that do."""
    seen: dict[str, None] = {}
    for name in names:
        new, number = name, 2
        while new in seen:
            new, number = f"{name}_{number}", number + 1
        seen[new] = None
    return tuple(seen)
